"""The contract between eve and a memory provider, and the definition of a slot.

eve decides when memory is read and written, and under which key. A provider decides how it is kept and
found. Source: eve 0.80.1, ``public/memory``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from evelab.errors import DefinitionError
from evelab.signal import AbortSignal
from evelab.text import is_blank

if TYPE_CHECKING:
    from collections.abc import Callable

    from evelab.auth import Auth
    from evelab.keys import MemoryScope
    from evelab.message import Message, TurnInfo

RECALL_PHASES = ("turn.started", "compaction.completed")
CAPTURE_PHASES = ("turn.completed", "compaction.requested")
VISIBILITIES = ("scope", "session")
OPERATION_TAG = "eve-memory-operation-v1"

Handler: TypeAlias = "Callable[[Any], Any]"


class Default(Enum):
    """A field that is left to eve."""

    NAMESPACE = "default namespace"


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """Which memory an operation is about.

    Attributes:
        scope: key, namespace and raw value.
        slot: the slot's name.
    """

    scope: MemoryScope
    slot: str


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """The session as a provider sees it."""

    id: str
    auth: Auth
    turn: TurnInfo | None = None
    parent: str | None = None
    schedule: str | None = None
    predecessor: str | None = None


@dataclass(frozen=True, slots=True)
class CompactionInfo:
    """The compaction that an operation belongs to.

    Attributes:
        model_id: the model that summarises.
        usage_input_tokens: the estimate of the prompt, when the compaction is requested; it may have a
            fraction. None when it is completed.
    """

    model_id: str
    usage_input_tokens: float | None = None


@dataclass(frozen=True, slots=True)
class OperationContext:
    """The argument of a recall or capture handler.

    Attributes:
        memory: scope and slot. Partition by ``memory.scope.key``.
        messages: the conversation as this operation may see it.
        operation_id: the same for the same session, turn, phase and slot: an idempotency key.
        session: the session's id and authentication.
        turn: the turn's id, input and sequence.
        compaction: the model and the estimate, in the two compaction phases.
        abort_signal: whether the turn has been cancelled.
    """

    memory: MemoryContext
    messages: tuple[Message, ...]
    operation_id: str
    session: SessionInfo
    turn: TurnInfo | None
    compaction: CompactionInfo | None = None
    abort_signal: AbortSignal = field(default_factory=AbortSignal)


@dataclass(frozen=True, slots=True)
class ToolsContext:
    """The argument of a provider's ``tools``: bound to the scope that the turn has locked."""

    memory: MemoryContext
    messages: tuple[Message, ...]
    session: SessionInfo
    turn: TurnInfo


@dataclass(frozen=True, slots=True)
class MemoryProvider:
    """How memories are kept and found.

    Attributes:
        recall: phase -> handler; ``"turn.started"`` is required.
        capture: phase -> handler.
        tools: ``ToolsContext`` -> dict of tools, or None.
    """

    recall: Mapping[str, Handler]
    capture: Mapping[str, Handler] = field(default_factory=dict)
    tools: Handler | None = None


@dataclass(frozen=True, slots=True)
class MemoryDefinition:
    """A memory slot, without its name.

    Attributes:
        provider: how memories are kept.
        scope: who shares them: a string, None, or a resolver.
        namespace: in which domain: a string, None, a resolver, or the default.
        description: stands before the descriptions of the slot's tools.
        visibility: ``"scope"`` hides what was recalled under another scope, ``"session"`` does not.
    """

    provider: MemoryProvider
    scope: str | Handler | None
    namespace: str | Handler | Default | None = Default.NAMESPACE
    description: str | None = None
    visibility: str = "scope"


def define_memory_provider(
    *,
    recall: Mapping[str, Handler],
    capture: Mapping[str, Handler] | None = None,
    tools: Handler | None = None,
) -> MemoryProvider:
    """A memory provider.

    Args:
        recall: ``{"turn.started": f}``, and ``"compaction.completed"`` if wanted. ``f(ctx)`` returns
            ``{"messages": [{"content": ..., "id": ...}, ...]}`` or None.
        capture: ``"turn.completed"`` and ``"compaction.requested"``, both optional.
        tools: ``f(ctx)`` returns a dict of tools, or None.

    Raises:
        DefinitionError: an unknown phase, a missing ``turn.started``, or something that is not a function.
    """
    _check_handlers("recall", recall, RECALL_PHASES)
    if "turn.started" not in recall:
        raise DefinitionError('A provider must have recall["turn.started"].', place='recall["turn.started"]')
    _check_handlers("capture", {} if capture is None else capture, CAPTURE_PHASES)
    if tools is not None and not callable(tools):
        raise DefinitionError("A provider's tools must be a function.", place="tools")
    return MemoryProvider(dict(recall), dict(capture or {}), tools)


def _check_handlers(name: str, handlers: object, phases: tuple[str, ...]) -> None:
    if not isinstance(handlers, dict):
        raise DefinitionError(f"A provider's {name} must be a dict of phases.", place=name)
    for phase, handler in handlers.items():
        if phase not in phases:
            raise DefinitionError(
                f"{phase!r} is not a phase of {name}; the phases are {' and '.join(phases)}.", place=name
            )
        if not callable(handler):
            raise DefinitionError(f'{name}["{phase}"] must be a function.', place=f'{name}["{phase}"]')


def define_memory(
    *,
    provider: MemoryProvider,
    scope: str | Handler | None,
    namespace: str | Handler | Default | None = Default.NAMESPACE,
    description: str | None = None,
    visibility: str = "scope",
) -> MemoryDefinition:
    """A memory slot: which provider, shared by whom, in which domain.

    Args:
        provider: made with ``define_memory_provider``, or ``file_memory()``.
        scope: a string that everyone shares, None (the slot is off), or a resolver: ``f(ctx)`` returns a
            string, a tuple of strings, or None. A literal tuple is refused, as in eve.
        namespace: a string, None (off), or a resolver; left out, the default namespace.
        description: what belongs into this slot, for the model.
        visibility: ``"scope"`` or ``"session"``.

    Raises:
        DefinitionError: a field of a wrong kind. A blank string passes here and fails at the first turn.
    """
    if description is not None and (not isinstance(description, str) or is_blank(description)):
        raise DefinitionError("A memory's description must be a text that is not blank.", place="description")
    if not (namespace is None or isinstance(namespace, str | Default) or callable(namespace)):
        raise DefinitionError("A memory's namespace must be a string, a function or None.", place="namespace")
    if isinstance(scope, list | tuple):
        raise DefinitionError(
            "A memory's scope cannot be a literal tuple; use a resolver that returns it: scope=lambda ctx: (...).",
            place="scope",
        )
    if not (scope is None or isinstance(scope, str) or callable(scope)):
        raise DefinitionError("A memory's scope must be a string, a function or None.", place="scope")
    if not isinstance(provider, MemoryProvider):
        raise DefinitionError(
            "A memory's provider must be made with define_memory_provider() or file_memory().",
            place="provider",
        )
    if visibility not in VISIBILITIES:
        raise DefinitionError('A memory\'s visibility must be "scope" or "session".', place="visibility")
    return MemoryDefinition(provider, scope, namespace, description, visibility)


def provider_of(fields: object) -> MemoryProvider:
    """A provider from a mapping of eve's fields: ``recall``, ``capture`` and ``tools``.

    For definitions that come as data. A field that is there must be whole: None is not "left out".

    Raises:
        DefinitionError: an unknown field, or what ``define_memory_provider`` refuses.
    """
    if not isinstance(fields, Mapping):
        raise DefinitionError("A memory's provider must be a mapping of its fields.", place="provider")
    _check_fields("provider", fields, ("recall", "capture", "tools"))
    for name in ("capture", "tools"):
        if name in fields and fields[name] is None:
            raise DefinitionError(f"A provider's {name} cannot be None; leave it out.", place=name)
    return define_memory_provider(
        recall=fields.get("recall"),  # type: ignore[arg-type]
        capture=fields.get("capture"),
        tools=fields.get("tools"),
    )


def memory_of(fields: Mapping[str, Any]) -> MemoryDefinition:
    """A memory slot from a mapping of eve's fields, its provider a mapping too or made already.

    Raises:
        DefinitionError: an unknown field, or what ``define_memory`` refuses.
    """
    _check_fields("memory", fields, ("description", "namespace", "provider", "scope", "visibility"))
    if fields.get("description", "") is None:
        raise DefinitionError("A memory's description cannot be None; leave it out.", place="description")
    if "scope" not in fields:
        raise DefinitionError("A memory must have a scope; None turns the slot off.", place="scope")
    provider = fields.get("provider")
    given = dict(fields)
    given["provider"] = _LATER if isinstance(provider, Mapping) else provider
    definition = define_memory(**given)
    return replace(definition, provider=provider_of(provider)) if isinstance(provider, Mapping) else definition


def _check_fields(name: str, fields: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for field_name in fields:
        if field_name not in known:
            raise DefinitionError(
                f"{field_name!r} is not a field of a {name}; the fields are {', '.join(known)}.", place=str(field_name)
            )


_LATER = MemoryProvider({})
