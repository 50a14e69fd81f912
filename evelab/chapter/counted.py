"""A provider that counts how often it is called, and passes every call on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evelab.provider import Handler, MemoryProvider, define_memory_provider

if TYPE_CHECKING:
    from collections.abc import Mapping


class Counted:
    """Another provider, with a count of its calls.

    Attributes:
        provider: what to give to ``define_memory``.
        calls: ``"recall turn.started"``, ``"tools"`` ... -> how often it was called.
    """

    def __init__(self, inner: MemoryProvider) -> None:
        self.calls: Counter[str] = Counter()
        self.provider = define_memory_provider(
            recall=self._counted("recall", inner.recall),
            capture=self._counted("capture", inner.capture),
            tools=None if inner.tools is None else self._count("tools", inner.tools),
        )

    def _counted(self, face: str, handlers: Mapping[str, Handler]) -> dict[str, Handler]:
        return {phase: self._count(f"{face} {phase}", handler) for phase, handler in handlers.items()}

    def _count(self, what: str, handler: Handler) -> Handler:
        def counted(ctx: Any) -> Any:
            self.calls[what] += 1
            return handler(ctx)

        return counted
