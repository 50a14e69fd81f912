"""State of a session: values with a name, kept from step to step, never shown to the model by themselves.

``define_state`` stands at a module's top and gives a handle. The handle finds the running session by itself,
in tools, hooks, resolvers and memory handlers. Source: eve 0.80.1, ``public/definitions/state``.

Where Python differs: eve takes what JavaScript can serialise and notices a bad value when the step ends.
Here a value is made of dict, list, str, int, float, bool, None, and also datetime, set and bytes; anything
else is refused at ``update``, and the old value stays. A thread or a ``threading.Timer`` does not inherit
the session that is running; a task or a ``loop.call_later`` does.
"""

from __future__ import annotations

import copy
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

from evelab.errors import OptionError, StateError, StateLayoutError, StateNameError, StateValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")

RESERVED_PREFIXES = ("eve.", "eve:mount.")
MOUNT_PREFIX = "eve:mount.v1:"
LAYOUT_KEY = "eve.stateLayout"
LAYOUT = 1

_PLAIN = (str, int, float, bool, type(None), datetime, bytes)
_DEFINED: set[str] = set()


class StateContainer:
    """The state of one session while a step runs.

    Attributes:
        values: name -> value, for every state that has been read or written.
    """

    __slots__ = ("values",)

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self.values: dict[str, Any] = {} if values is None else copy.deepcopy(dict(values))

    def checkpoint(self) -> dict[str, Any]:
        """A copy of every value, to begin the next step from.

        Raises:
            StateValueError: a value was changed in place into something that cannot be kept.
        """
        for name, value in self.values.items():
            check_value(name, value)
        return copy.deepcopy(self.values)

    @contextmanager
    def active(self) -> Iterator[StateContainer]:
        """Make this the running session's state, for the code inside the ``with``."""
        token = _CONTAINER.set(self)
        try:
            yield self
        finally:
            _CONTAINER.reset(token)


_CONTAINER: ContextVar[StateContainer] = ContextVar("evelab.state")


class State(Generic[T]):
    """A handle on one named value. Handles with the same name share the value."""

    __slots__ = ("_initial", "name")

    def __init__(self, name: str, initial: Callable[[], T]) -> None:
        self.name = name
        self._initial = initial

    def get(self) -> T:
        """The value itself, made by ``initial`` at first use. A change inside it is kept too.

        Raises:
            StateError: no session is running here.
            StateValueError: ``initial`` made something that cannot be kept.
        """
        values = _running().values
        if self.name not in values:
            first = self._initial()
            check_value(self.name, first)
            values[self.name] = first
        value: T = values[self.name]
        return value

    def update(self, change: Callable[[T], T]) -> None:
        """Keep what ``change`` makes of the value. If it raises, the value stays.

        Raises:
            StateError: no session is running here.
            StateValueError: the new value cannot be kept.
        """
        container = _running()
        value = change(self.get())
        check_value(self.name, value)
        container.values[self.name] = value


def define_state(name: str, initial: Callable[[], T]) -> State[T]:
    """A named value of each session: eve's ``defineState``.

    Args:
        name: shared by every handle that uses it. Names that begin with ``eve.`` or ``eve:mount.`` are eve's.
        initial: makes the first value, in each session once.

    Raises:
        StateNameError: the name is reserved.
        OptionError: it is not a string.
    """
    if not isinstance(name, str):
        raise OptionError(f"A state's name must be a string, not {type(name).__name__}.", place="name")
    for prefix in RESERVED_PREFIXES:
        if name.startswith(prefix):
            raise StateNameError(
                f'The state name "{name}" begins with "{prefix}", which is reserved for eve. Use a name of your own.',
                name=name,
            )
    _DEFINED.add(name)
    return State(name, initial)


def mounted_state_key(mount_id: str, name: str) -> str:
    """The name under which an extension's state is kept, apart from the application's own.

    >>> mounted_state_key("extensions/crm", "requests")
    'eve:mount.v1:extensions%2Fcrm:requests'
    """
    return MOUNT_PREFIX + ":".join(quote(part, safe="-_.!~*'()") for part in (mount_id, name))


def define_mounted_state(mount_id: str, name: str, initial: Callable[[], T]) -> State[T]:
    """A state of an extension: any name, kept under ``mounted_state_key``."""
    key = mounted_state_key(mount_id, name)
    _DEFINED.add(key)
    return State(key, initial)


def dump_state(values: Mapping[str, Any]) -> dict[str, Any]:
    """State as it is saved: with the layout's number when an extension's state is in it."""
    mounted = any(name.startswith(MOUNT_PREFIX) for name in values)
    return {**values, LAYOUT_KEY: LAYOUT} if mounted else dict(values)


def load_state(saved: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Saved state, and the names that were dropped because no ``define_state`` of them has run here.

    Raises:
        StateLayoutError: it was saved in another layout.
    """
    layout = saved.get(LAYOUT_KEY, LAYOUT)
    if layout != LAYOUT:
        raise StateLayoutError(layout)
    values = {name: value for name, value in saved.items() if name in _DEFINED}
    dropped = tuple(name for name in saved if name not in _DEFINED and name != LAYOUT_KEY)
    return values, dropped


def check_value(name: str, value: object) -> None:
    """Check that a value can be kept.

    Raises:
        StateValueError: something in it cannot; the error says what and where.
    """
    _check(name, value, name, ())


def _check(name: str, value: object, path: str, around: tuple[int, ...]) -> None:
    kind = type(value)
    if kind in _PLAIN:
        return
    if id(value) in around:
        raise _refused(name, path, kind, "holds itself")
    inside = (*around, id(value))
    if isinstance(value, dict) and kind is dict:
        for key, item in value.items():
            if type(key) is not str:
                raise _refused(name, f"{path}[{key!r}]", type(key), "has a key that is not a string")
            _check(name, item, f"{path}[{key!r}]", inside)
    elif isinstance(value, list) and kind is list:
        for index, item in enumerate(value):
            _check(name, item, f"{path}[{index}]", inside)
    elif isinstance(value, set) and kind is set:
        for item in value:
            if type(item) not in _PLAIN:
                raise _refused(name, f"{path}{{...}}", type(item), f"holds a {type(item).__name__}")
    else:
        raise _refused(name, path, kind, f"is a {kind.__name__}")


def _refused(name: str, path: str, kind: type, what: str) -> StateValueError:
    return StateValueError(
        f"State cannot keep {path}: it {what}. Use dict, list, str, int, float, bool, None, datetime, set or bytes.",
        name=name,
        path=path,
        type_name=kind.__name__,
    )


def _running() -> StateContainer:
    try:
        return _CONTAINER.get()
    except LookupError:
        raise StateError(
            "No session is running here. Use state in tools, hooks, resolvers and memory handlers."
        ) from None
