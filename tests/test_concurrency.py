"""Two threads on one scope: nothing that was saved is lost.

A save gives up after nine tries, as in eve, and says so; on a busy machine two threads can meet that. Its caller
tries again then.
"""

from __future__ import annotations

import threading

from evelab import Agent, RuleModel, Session, define_memory, file_memory, in_memory
from evelab.file_memory import parse_document

SAVES = 200
GAVE_UP = "MemoryDocumentConflictError"


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
            while (result := session.send(f"remember {name} {number}").results[0]).type == "error-text":
                if GAVE_UP not in str(result.value):
                    problems.append(result.value)
                    return

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
