"""Does the chapter, and evelab with it, still hold for a version of eve? Ask that version.

The chapter's printed values are asked first, then a seeded sample of generated requests. Nothing is taken from
a record: every reply comes from the package itself, in this run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evelab.chapter.values import FILE_MEMORY, PRINTED_KEYS
from evelab.eve.bridge import Bridge
from evelab.eve.compare import differences
from evelab.eve.install import FOLLOWED_VERSION, fetch_eve
from evelab.eve.node import find_node
from evelab.eve.replay import answer
from evelab.eve.samples import SAMPLES, seeded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Progress = Callable[[str, int, int], None]

CASES = 200
_CHUNK = 25


@dataclass(frozen=True, slots=True)
class Difference:
    """One request on which the two do not agree.

    Attributes:
        request: what both were asked.
        details: what differs, in words.
    """

    request: dict[str, Any]
    details: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the report.

    Attributes:
        subject: what was compared.
        cases: how many requests.
        differing: how many of them got different replies.
        unsupported: how many of them evelab cannot model; they count neither way.
        example: the shortest request that differs, or None.
    """

    subject: str
    cases: int
    differing: int
    unsupported: int
    example: Difference | None

    @property
    def agrees(self) -> bool:
        """Whether every reply was the same."""
        return self.differing == 0


@dataclass(frozen=True, slots=True)
class Report:
    """What a version of eve does beside what evelab does.

    Attributes:
        version: the version of eve that replied.
        node: the Node that ran it.
        seed: what the sample was generated from.
        rows: one a subject.
    """

    version: str
    node: str
    seed: int
    rows: tuple[Row, ...]

    @property
    def agrees(self) -> bool:
        """Whether every row agrees."""
        return all(row.agrees for row in self.rows)


@dataclass(frozen=True, slots=True)
class _Question:
    """A request, and the part of the reply that the chapter prints, if it prints one."""

    request: dict[str, Any]
    printed: Any = None
    part: tuple[str | int, ...] = ()


def verify_version(
    version: str = FOLLOWED_VERSION,
    *,
    cases: int = CASES,
    seed: int = 0,
    progress: Progress | None = None,
) -> Report:
    """Fetch a version of eve, ask it and evelab the same, and say where they differ.

    Args:
        version: an exact version, such as ``0.80.1``.
        cases: how many generated requests a subject gets; it does not change the chapter's own values.
        seed: the same seed generates the same requests.
        progress: called with a subject, how many requests are done in all, and how many there are.

    Raises:
        EveError: the version cannot be asked; each reason is a class with an exit status of its own.
    """
    tell = progress or (lambda subject, done, total: None)
    subjects = [*_printed_subjects(), *_sample_subjects(cases, seed)]
    total = sum(len(questions) for _, questions in subjects)
    tell("fetching", 0, total)
    node = find_node()
    package = fetch_eve(version, node)
    done = 0
    rows = []
    with Bridge(package, node) as bridge:
        for subject, questions in subjects:
            tally = _Tally()
            for start in range(0, len(questions), _CHUNK):
                tell(subject, done, total)
                chunk = questions[start : start + _CHUNK]
                tally.add(chunk, bridge.ask_all(question.request for question in chunk))
                done += len(chunk)
            rows.append(tally.row(subject))
        tell("done", done, total)
        return Report(bridge.eve_version, node.version, seed, tuple(rows))


class _Tally:
    """Counts of one subject."""

    def __init__(self) -> None:
        self._cases = 0
        self._unsupported = 0
        self._found: list[Difference] = []

    def add(self, questions: Sequence[_Question], replies: Iterable[dict[str, Any]]) -> None:
        for question, theirs in zip(questions, replies, strict=True):
            self._cases += 1
            ours = json.loads(json.dumps(answer(question.request)))
            if "unsupported" in ours:
                self._unsupported += 1
                continue
            details = differences(ours, theirs)
            if question.part and (printed := _part(theirs, question.part)) != question.printed:
                details.append(f"the chapter prints {question.printed!r}, eve gives {printed!r}")
            if details:
                self._found.append(Difference(question.request, tuple(details)))

    def row(self, subject: str) -> Row:
        shortest = min(self._found, key=lambda one: len(json.dumps(one.request)), default=None)
        return Row(subject, self._cases, len(self._found), self._unsupported, shortest)


def _part(reply: Any, path: tuple[str | int, ...]) -> Any:
    """A part of a reply; a reply that has no such part gives itself."""
    found = reply
    for step in path:
        try:
            found = found[step]
        except (LookupError, TypeError):
            return reply
    return found


def _printed_subjects() -> list[tuple[str, list[_Question]]]:
    """What the chapter prints: keys, the recalled text, the document."""
    keys = [
        _Question({"op": "key", "namespace": row.namespace, "scope": row.scope}, row.key, ("value", "key"))
        for row in PRINTED_KEYS
    ]
    document, texts = FILE_MEMORY["document"].removeprefix("\n"), FILE_MEMORY["texts"]
    saves = [{"op": "save", "text": text} for text in texts]
    empties = [{"op": "remove", "index": index} for index in range(len(texts))]
    recall = {"op": "recall"}
    shown = ("value", "messages", 0, "content")
    recalls = [
        _Question(
            {"op": "file_memory", "document": document, "ops": [recall]},
            FILE_MEMORY["recall"].removeprefix("\n"),
            ("value", 0, *shown),
        ),
        _Question(
            {"op": "file_memory", "document": document, "ops": [*empties, recall]},
            FILE_MEMORY["emptied"].removeprefix("\n"),
            ("value", len(empties), *shown),
        ),
        _Question({"op": "file_memory", "ops": [{"op": "tools"}]}),
    ]
    saved = _Question(
        {"op": "file_memory", "ops": saves, "showWrites": True}, document, ("value", len(saves) - 1, "document")
    )
    return [("the chapter's six keys", keys), ("the recalled text", recalls), ("the document's format", [saved])]


def _sample_subjects(cases: int, seed: int) -> list[tuple[str, list[_Question]]]:
    return [(f"generated: {name}", [_Question(request) for request in seeded(name, cases, seed)]) for name in SAMPLES]
