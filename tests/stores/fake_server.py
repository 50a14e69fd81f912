"""A small HTTP server in the place of a store: it gives the answers that it is told, or keeps objects carelessly."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPTIONS: dict[str, Any] = {
    "client_options": {"allow_http": True},
    "retry_config": {
        "max_retries": 1,
        "backoff": {"init_backoff": timedelta(milliseconds=1), "max_backoff": timedelta(milliseconds=2)},
    },
}
IMPATIENT: dict[str, Any] = {
    "client_options": {"allow_http": True, "timeout": "2s"},
    "retry_config": {"max_retries": 0},
}
LAST_MODIFIED = "Thu, 01 Jan 1970 00:00:00 GMT"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its method, its decoded path, its headers in small letters, its body."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """A response. Half of its body is sent when it is cut; nothing at all when it is silent."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut: bool = False
    silent: bool = False


@dataclass(slots=True)
class FakeServer:
    """What the server was asked, and how it decides what to answer."""

    port: int
    answer: Callable[[Asked], Answer] = lambda asked: Answer(404)
    asked: list[Asked] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def options(self) -> dict[str, Any]:
        """What ``object_store("s3://b", ...)`` needs to ask this server."""
        address = f"http://127.0.0.1:{self.port}"
        return {**OPTIONS, "endpoint": address, "region": "r", "access_key_id": "a", "secret_access_key": "s"}

    def say(self, *answers: Answer) -> None:
        """Give these answers in turn, the last one again and again."""
        left = list(answers)
        self.asked.clear()
        self.answer = lambda asked: left.pop(0) if len(left) > 1 else left[0]


@contextmanager
def fake_server() -> Iterator[FakeServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, unquote(self.path), headers, body)
            fake.asked.append(asked)
            answer = fake.answer(asked)
            if answer.silent:
                fake.over.wait(5)
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body[: len(answer.body) // 2] if answer.cut else answer.body)
            self.close_connection = answer.cut

        do_GET = do_PUT = do_HEAD = handle_any

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        fake = FakeServer(server.server_port)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield fake
        finally:
            fake.over.set()
            server.shutdown()
            thread.join()


def keeper(*, create_only: bool = True, if_match: bool = True) -> Callable[[Asked], Answer]:
    """A store that keeps objects and heeds the conditions that it is told to heed, of S3 and of Google."""
    objects: dict[str, tuple[int, bytes]] = {}

    def versions(number: int) -> dict[str, str]:
        return {"etag": f'"e{number}"', "x-goog-generation": str(number), "last-modified": LAST_MODIFIED}

    def answer(asked: Asked) -> Answer:
        path = asked.path.partition("?")[0]
        held = objects.get(path)
        if asked.method != "PUT":
            return Answer(404) if held is None else Answer(200, versions(held[0]), held[1])
        wanted, generation = asked.headers.get("if-match"), asked.headers.get("x-goog-if-generation-match")
        is_create = asked.headers.get("if-none-match") == "*" or generation == "0"
        if create_only and is_create and held is not None:
            return Answer(412)
        if if_match and wanted is not None and (held is None or wanted != f'"e{held[0]}"'):
            return Answer(412)
        if if_match and generation not in (None, "0") and (held is None or generation != str(held[0])):
            return Answer(412)
        number = 1000 + len(objects) if held is None else held[0] + 1000
        objects[path] = (number, asked.body)
        return Answer(200, versions(number))

    return answer
