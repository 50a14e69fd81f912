"""The claims of 8.8 fail when the rule that they speak of is broken."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from evelab import lifecycle, recall, scope, steps
from evelab.chapter.callers import LI_SI, ZHANG_SAN
from evelab.chapter.visibility_claims import SharedThread, recalled_in
from evelab.keys import Lock, create_lock
from tests.planted import fails

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evelab.message import Message

project = recall.project


def project_as(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Make every projection believe that its locks are otherwise."""

    def other(history: Sequence[Message], locks: Mapping[str, Lock]) -> tuple[Message, ...]:
        return project(history, {slot: replace(lock, **changes) for slot, lock in locks.items()})

    monkeypatch.setattr(lifecycle, "project", other)
    monkeypatch.setattr(steps, "project", other)


def test_a_projection_that_ignores_the_visibility_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    project_as(monkeypatch, visibility="session")
    assert fails("8.3")
    assert fails("8.4")


def test_a_projection_that_always_hides_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    project_as(monkeypatch, visibility="scope")
    assert fails("8.3")


def test_a_projection_that_ignores_the_namespace_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def other(history: Sequence[Message], locks: Mapping[str, Lock]) -> tuple[Message, ...]:
        marks = [message.memory for message in history if message.memory is not None]
        if not marks or "profile" not in locks:
            return project(history, locks)
        return project(history, {"profile": replace(locks["profile"], namespace_key=marks[0].namespace_key)})

    monkeypatch.setattr(lifecycle, "project", other)
    monkeypatch.setattr(steps, "project", other)
    assert fails("8.4")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DEFAULT_NAMESPACE_TAG", "eve-memory-default-namespace-v2"),
        ("_first_set", lambda env, *names: None),
        ("_workspace_prefix", lambda env: None),
        ("utf8", lambda text: b""),
    ],
)
def test_a_default_namespace_that_leaves_something_out_is_noticed(
    name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scope, name, value)
    assert fails("8.1")


def test_a_namespace_that_gets_a_suffix_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def suffixed(namespace: Any, scope: Any, **options: Any) -> Lock:
        return create_lock(f"{namespace}/{options['slot']}", scope, **options)

    monkeypatch.setattr(lifecycle, "create_lock", suffixed)
    assert fails("8.2")


def test_a_shared_thread_shows_each_visibility() -> None:
    shown = []
    for visibility in ("scope", "session"):
        thread = SharedThread(visibility)
        thread.say(ZHANG_SAN)
        shown.append(recalled_in(thread.say(LI_SI)))
    assert shown == [["0: li's line"], ["0: zhang's line", "0: li's line"]]
