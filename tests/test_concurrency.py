"""Two threads on one scope: nothing that was saved is lost."""

from __future__ import annotations

import threading

from evelab import Agent, RuleModel, Session, define_memory, file_memory, in_memory
from evelab.file_memory import parse_document

SAVES = 200


def test_two_sessions_save_into_one_document_and_nothing_is_lost() -> None:
    backend = in_memory()
    provider = file_memory(backend=backend, max_characters=60_000)
    agent = Agent({"profile": define_memory(provider=provider, scope="acme", namespace="n")}, model=RuleModel())
    gate = threading.Barrier(2)
    problems: list[object] = []

    def work(name: str) -> None:
        session = Session(agent, environ={})
        gate.wait()
        for number in range(SAVES):
            turn = session.send(f"remember {name} {number}")
            problems.extend(result.value for result in turn.results if result.type == "error-text")

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [content] = backend.documents().values()
    document = parse_document(content)
    assert problems == []
    assert sorted(document.entries.values()) == sorted(f"{name} {n}" for name in "ab" for n in range(SAVES))
    assert list(document.entries) == list(range(2 * SAVES))
    assert document.last_index == 2 * SAVES - 1
