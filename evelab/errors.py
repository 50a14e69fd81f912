"""The errors of evelab: one tree, each member carrying the values a caller needs.

``eve_name`` is the name that eve gives an error of the same kind. A failing tool call shows it to the
model (``RangeError: Memory would exceed ...``), and the comparison with the real package uses it.

No message holds a raw scope value: messages reach logs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evelab.discovery import Diagnostic


class EvelabError(Exception):
    """Every error that evelab raises on purpose."""

    eve_name: ClassVar[str] = "Error"


class ScopeError(EvelabError, ValueError):
    """A namespace or a scope that cannot become a key (eve 0.80.1, rule order of ``create_lock``).

    Attributes:
        place: what is wrong: ``"namespace"``, ``"scope"``, ``"scope[1]"`` or ``"namespace and scope"``.
        limit: the limit that was passed, or None where the value is missing, blank or of a wrong type.
        actual: the measured value, in the unit of the limit, or None.
        slot: the memory slot, where it is known.
    """

    def __init__(
        self,
        message: str,
        *,
        place: str,
        limit: int | None = None,
        actual: int | None = None,
        slot: str | None = None,
    ) -> None:
        super().__init__(message)
        self.place = place
        self.limit = limit
        self.actual = actual
        self.slot = slot


class NamespaceTypeError(ScopeError, TypeError):
    """A namespace that is not a string. eve fails with a TypeError here, not with its own sentence."""

    eve_name = "TypeError"


class DefinitionError(EvelabError, ValueError):
    """A memory slot, provider, tool or agent that is put together wrongly.

    Attributes:
        place: the field that is wrong, such as ``"scope"`` or ``'recall["turn.started"]'``.
    """

    def __init__(self, message: str, *, place: str) -> None:
        super().__init__(message)
        self.place = place


class FolderError(EvelabError, ValueError):
    """A folder from which no agent can be made.

    Attributes:
        diagnostics: everything that is wrong with it.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("\n".join(f"{one.code}: {one.message}" for one in diagnostics))
        self.diagnostics = tuple(diagnostics)


class OptionError(DefinitionError):
    """An option whose value is out of its range, such as ``max_characters=0``."""

    eve_name = "TypeError"


class RecallError(EvelabError, ValueError):
    """A recall result that is not ``{"messages": [...]}`` or None, or a replay that changed.

    Attributes:
        slot: the memory slot whose provider returned it; None for a replay.
    """

    def __init__(self, message: str, *, slot: str | None) -> None:
        super().__init__(message)
        self.slot = slot


class HistoryError(EvelabError, ValueError):
    """A stored history whose marks cannot be read."""


class MemoryTextError(EvelabError, ValueError):
    """A text that is empty after white-space normalisation."""

    eve_name = "TypeError"


class MemoryLimitError(EvelabError, ValueError):
    """A save that would pass a limit. Nothing was written.

    Attributes:
        limit: the limit.
        actual: what the save would have reached.
        unit: what both are counted in: ``"UTF-8 bytes"``, ``"UTF-16 units"`` or ``"index"``.
    """

    eve_name = "RangeError"

    def __init__(self, message: str, *, limit: int, actual: int, unit: str) -> None:
        super().__init__(message)
        self.limit = limit
        self.actual = actual
        self.unit = unit


class DocumentError(EvelabError, ValueError):
    """A stored document that cannot be read.

    Attributes:
        line: the line that is wrong, counted from 1; None where the fault is not in one line.
        reason: what is wrong with it.
    """

    eve_name = "TypeError"

    def __init__(self, message: str, *, reason: str, line: int | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.line = line


class MemoryDocumentConflictError(EvelabError):
    """A conditional write that found another version than the one it expected.

    Attributes:
        key: the document's key.
    """

    eve_name = "MemoryDocumentConflictError"

    def __init__(self, key: str) -> None:
        super().__init__(f'Memory document "{key}" changed before it could be updated.')
        self.key = key


class StoreError(EvelabError):
    """A store that could not be used, or that cannot keep something safely. What was asked of it is undone.

    ``__cause__`` is the store's own error, where there is one. Its text may name addresses, so it is not in the
    sentence, which a model reads when a save fails.

    Attributes:
        store: which kind: ``"directory"``, ``"object store"``, ``"SQLite"`` or ``"PostgreSQL"``.
        key: the document's key, or None where the fault is not in one document.
    """

    def __init__(self, message: str, *, store: str, key: str | None = None) -> None:
        super().__init__(message)
        self.store = store
        self.key = key


class ToolInputError(EvelabError, ValueError):
    """A tool input that does not fit the tool's schema. The sentence is the one that eve's model reads.

    Attributes:
        tool: the tool's name as the model sees it.
        issues: what is wrong: ``{"message": ..., "path": [...]}``.
    """

    eve_name = "AI_InvalidToolInputError"

    def __init__(self, tool: str, value: str, issues: list[dict[str, Any]], listed: str) -> None:
        super().__init__(
            f"Invalid input for tool {tool}: AI_TypeValidationError: Type validation failed: Value: {value}.\n"
            f"Error message: {listed}"
        )
        self.tool = tool
        self.issues = issues

    @property
    def path(self) -> str:
        """Where the first fault is, such as ``"input.index"``."""
        where = self.issues[0].get("path", []) if self.issues else []
        return ".".join(["input", *map(str, where)])


class ToolNotFoundError(EvelabError, LookupError):
    """A tool call that names a tool which this turn does not offer. The sentence is eve's.

    Attributes:
        tool: the name that was called.
        offered: the names that exist in this turn.
    """

    eve_name = "AI_NoSuchToolError"

    def __init__(self, tool: str, offered: tuple[str, ...]) -> None:
        super().__init__(f"Model tried to call unavailable tool '{tool}'. Available tools: {', '.join(offered)}.")
        self.tool = tool
        self.offered = offered


class SummaryError(EvelabError):
    """A model that gave no summary when a history was to be compacted."""


class ToolRemovedError(EvelabError, LookupError):
    """A provider's tool that was offered and is gone when it is called. The sentence is eve's.

    Attributes:
        tool_key: the tool's key in the provider's map.
    """

    def __init__(self, key: str) -> None:
        super().__init__(f'Memory provider tool "{key}" was removed or renamed.')
        self.tool_key = key


class TurnCancelledError(EvelabError):
    """A turn that was cancelled while it ran."""

    eve_name = "TurnCancelledError"


class EmptyPromptError(EvelabError, ValueError):
    """A model call without any message: a blank input on an empty history. The sentence is eve's."""

    eve_name = "AI_InvalidPromptError"

    def __init__(self) -> None:
        super().__init__("Invalid prompt: messages must not be empty")


class NotHeldError(EvelabError, RuntimeError):
    """A decision about a tool call that no turn is waiting for.

    Attributes:
        session_id: the session.
    """

    def __init__(self, message: str, *, session_id: str) -> None:
        super().__init__(message)
        self.session_id = session_id


class HeldTurnError(EvelabError, RuntimeError):
    """Something that cannot be done while a tool call waits for a person.

    Attributes:
        session_id: the session.
    """

    def __init__(self, message: str, *, session_id: str) -> None:
        super().__init__(message)
        self.session_id = session_id


class RunningTurnError(EvelabError, RuntimeError):
    """A session that is asked for something while it works.

    Attributes:
        session_id: the session.
    """

    def __init__(self, message: str, *, session_id: str) -> None:
        super().__init__(message)
        self.session_id = session_id


class SessionFailedError(EvelabError, RuntimeError):
    """A session that has ended because a step failed on every attempt (``__cause__`` says why).

    Attributes:
        session_id: the session.
        attempts: how often the step was tried.
    """

    eve_name = "FatalError"

    def __init__(self, message: str, *, session_id: str, attempts: int) -> None:
        super().__init__(message)
        self.session_id = session_id
        self.attempts = attempts


class StateError(EvelabError, RuntimeError):
    """A session state that is used outside a session's own code."""


class StateNameError(DefinitionError):
    """A state's name that is reserved for eve.

    Attributes:
        name: the name.
    """

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message, place="name")
        self.name = name


class StateValueError(EvelabError, TypeError):
    """A value that no session state can hold. The old value stays.

    Attributes:
        name: the state's name.
        path: where the value stands in it, such as ``incident["log"][2]``.
        type_name: the type that cannot be kept.
    """

    eve_name = "SerializationError"

    def __init__(self, message: str, *, name: str, path: str, type_name: str) -> None:
        super().__init__(message)
        self.name = name
        self.path = path
        self.type_name = type_name


class StateLayoutError(EvelabError):
    """Saved session state of a layout that this version cannot read.

    Attributes:
        layout: the layout's number.
    """

    eve_name = "IncompatibleStateLayoutError"

    def __init__(self, layout: object) -> None:
        super().__init__("The saved session state has a layout that this version cannot read. Start a new session.")
        self.layout = layout


class RecordError(EvelabError, ValueError):
    """A session that cannot be stored, or a stored one that cannot be read.

    Attributes:
        path: where the value stands, such as ``session.saved.state['log'][2]``.
    """

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.path = path


class SessionClosedError(EvelabError, RuntimeError):
    """A stored session that was let go of here. Where it was stored last it can be opened again.

    Attributes:
        session_id: the session.
    """

    def __init__(self, message: str, *, session_id: str) -> None:
        super().__init__(message)
        self.session_id = session_id


class SessionHeldError(EvelabError, RuntimeError):
    """A stored session that is open elsewhere.

    Attributes:
        session_id: the session.
    """

    def __init__(self, message: str, *, session_id: str) -> None:
        super().__init__(message)
        self.session_id = session_id
