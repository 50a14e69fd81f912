"""Ask the real eve: a Node program that answers one JSON request a line (``bridge.mjs``)."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING, Any

from evelab.eve.errors import BridgeError, EveMovedError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType
    from typing import Self

    from evelab.eve.node import Node

PROGRAM = Path(__file__).with_name("bridge.mjs")
SILENCE_SECONDS = 60.0


class Bridge:
    """A running Node program with an eve in it. Use it in a ``with`` statement; it ends with the block.

    Args:
        package: the folder of an installed eve.
        node: what runs it.
        silence: seconds without a reply after which the program counts as hung.
        program: the Node program, if it is another one with the same manners.

    Attributes:
        eve_version: the version that the package says it is.

    Raises:
        EveMovedError: a part of the package is not where it was.
        BridgeError: the program dies or falls silent.
    """

    def __init__(self, package: Path, node: Node, *, silence: float = SILENCE_SECONDS, program: Path = PROGRAM) -> None:
        self.eve_version = ""
        self._package = package
        self._node = node
        self._silence = silence
        self._program = program
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()

    def __enter__(self) -> Self:
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(  # noqa: S603
            [self._node.program, self._program, self._package],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, "NODE_NO_WARNINGS": "1"},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._threads = [
            threading.Thread(target=_write_all, args=(self._outbox, self._process.stdin), daemon=True),
            threading.Thread(target=_read_all, args=(self._process.stdout, self._lines), daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        try:
            self._greet()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The real eve's reply to one request."""
        return self.ask_all([request])[0]

    def ask_all(self, requests: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The replies to many requests, in their order. They are written together, which is much faster."""
        lines = [json.dumps(request, separators=(",", ":")) for request in requests]
        if lines:
            self._outbox.put(("\n".join(lines) + "\n").encode())
        return [self._reply() for _ in lines]

    def _greet(self) -> None:
        hello = self._reply()
        if not hello["ok"]:
            raise EveMovedError(_version_of(self._package), hello["moved"])
        self.eve_version = hello["value"]["eve"]

    def _reply(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=self._silence)
        except Empty:
            raise self._error(f"The bridge to eve said nothing for {self._silence:g} seconds.") from None
        if line is None:
            self._lines.put(None)
            raise self._error("The bridge to eve has ended.")
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _error(self, message: str) -> BridgeError:
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 2000))
        return BridgeError(
            message, package=self._package, output=self._errors.read().decode("utf-8", "replace").strip()
        )

    def _end(self) -> None:
        self._outbox.put(None)
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join()
        self._errors.close()


def _write_all(outbox: SimpleQueue[bytes | None], stream: IO[bytes]) -> None:
    try:
        with stream:
            while (data := outbox.get()) is not None:
                stream.write(data)
                stream.flush()
    except OSError:
        pass  # the program has ended; the reader says so


def _read_all(stream: IO[bytes], lines: SimpleQueue[bytes | None]) -> None:
    with stream:
        for line in stream:
            lines.put(line)
    lines.put(None)


def _version_of(package: Path) -> str:
    return str(json.loads((package / "package.json").read_text(encoding="utf-8"))["version"])
