"""Notes in a SQL database: four tables, and every question asked inside one partition.

============== ======================================================================
partitions     a number for each ``memory.scope.key``, so that the key is stored once
notes          the notes: partition, id, text
words          by which words a note of a partition is found
operations     the captures that are done, so that a replay changes nothing
============== ======================================================================

The partition is the first column of the words' key: a search reads nothing of another partition, and its
order does not depend on what others have written. A full-text index of the database itself would rank by how
rare a word is in *all* partitions. The order is Okapi BM25 (k1 1.2, b 0.75), counted in the partition alone.

SQLite and PostgreSQL get the same statements. Values are bound, always.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from evelab.keys import digest
from evelab.note_words import words_of_note, words_of_question
from evelab.text import utf8

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

OPERATIONS_KEPT = 1024
"""How many captures of a partition are remembered: as many as eve remembers recalls of a session."""
LAYOUT = 1
"""The number of this arrangement of tables."""

_NUMBER = "(SELECT number FROM evelab_partitions WHERE key = :partition)"
_SEARCH = f"""
WITH asked AS (
  SELECT words.note, words.word, words.times, notes.length
  FROM evelab_words AS words JOIN evelab_notes AS notes ON notes.number = words.note
  WHERE words.partition = {_NUMBER} AND words.word IN (:words) AND notes.written >= :since
), size AS (
  SELECT CAST(count(*) AS DOUBLE PRECISION) AS notes, CAST(avg(length) AS DOUBLE PRECISION) AS usual
  FROM evelab_notes WHERE partition = {_NUMBER} AND written >= :since
), rarity AS (
  SELECT word, ln(1 + (size.notes - count(*) + 0.5) / (count(*) + 0.5)) AS weight
  FROM asked CROSS JOIN size GROUP BY word, size.notes
), ranked AS (
  SELECT note, sum(weight * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / usual))) AS score
  FROM asked JOIN rarity ON rarity.word = asked.word CROSS JOIN size GROUP BY note
)
SELECT notes.id, notes.text FROM ranked JOIN evelab_notes AS notes ON notes.number = ranked.note
ORDER BY ranked.score DESC, notes.number DESC LIMIT :limit
"""  # noqa: S608


class Work(Protocol):
    """A transaction that is open."""

    def rows(self, sql: str, /, **values: Any) -> list[tuple[Any, ...]]:
        """Run a statement with values bound to its ``:names``, and give its rows."""
        ...

    def many(self, sql: str, values: Sequence[Mapping[str, Any]], /) -> None:
        """Run a statement once for each of the values."""
        ...


class Database(Protocol):
    """What the store needs of a database.

    Attributes:
        row_lock: what a SELECT ends with to lock its row; empty where a transaction locks all.
    """

    row_lock: str

    def work(self, *, write: bool) -> AbstractContextManager[Work]:
        """A transaction: kept when the ``with`` ends, undone when it raises.

        Raises:
            StoreError: the database refused, or is not there.
        """
        ...

    def close(self) -> None:
        """Let go of the database. It is opened again when it is used again."""
        ...


@dataclass(frozen=True, slots=True)
class Draft:
    """A note that is to be kept.

    Attributes:
        text: what it says.
        id: its name, under which it replaces an older note; None for one that gets a name of its own.
    """

    text: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it is stored.

    Attributes:
        id: its name in the partition.
        text: what it says.
        partition: the ``memory.scope.key`` that it belongs to.
    """

    id: str
    text: str
    partition: str


@dataclass(frozen=True, slots=True)
class Ingested:
    """What one capture changed in its partition.

    Attributes:
        added: notes that are new.
        replaced: notes that took the place of an older one with their id.
        expired: notes removed because they were older than the retention.
        evicted: the oldest notes, removed because there were more than ``max_notes``.
        replayed: whether the operation had been done before. Then nothing was changed.
    """

    added: int = 0
    replaced: int = 0
    expired: int = 0
    evicted: int = 0
    replayed: bool = False


class NoteStore:
    """Notes by partition. A partition that was never written to is empty, not an error."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(self, partition: str, question: str, *, limit: int, since: float = float("-inf")) -> list[Note]:
        """The notes of a partition that share a word with the question, the best first, newer before older.

        Args:
            partition: ``memory.scope.key``.
            question: any text; only its letters and digits count.
            limit: how many at most.
            since: notes written before this time (seconds) are not found.
        """
        words = words_of_question(question)
        if not words:
            return []
        names = {f"word{index}": word for index, word in enumerate(words)}
        sql = _SEARCH.replace(":words", ", ".join(f":{name}" for name in names))
        with self._database.work(write=False) as work:
            found = work.rows(sql, partition=partition, since=since, limit=limit, **names)
        return [Note(id, text, partition) for id, text in found]  # noqa: A001

    def ingest(
        self,
        partition: str,
        operation_id: str,
        drafts: Sequence[Draft],
        *,
        now: float,
        since: float = float("-inf"),
        max_notes: int,
    ) -> Ingested:
        """Keep notes, once for each operation, and remove what is too old or too many: all or nothing.

        Args:
            partition: ``memory.scope.key``.
            operation_id: the capture's; known already, it changes nothing, also when its notes are gone.
            drafts: the notes.
            now: when they are written, in seconds.
            since: notes written before this time are removed.
            max_notes: how many the partition may hold; the oldest are removed.
        """
        operation = digest(utf8(operation_id))
        with self._database.work(write=True) as work:
            number = self._lock_partition(work, partition)
            done = "FROM evelab_operations WHERE partition = :number"
            if work.rows(f"SELECT 1 {done} AND id = :id", number=number, id=operation):
                return Ingested(replayed=True)
            work.rows(
                "INSERT INTO evelab_operations (partition, id) VALUES (:number, :id)", number=number, id=operation
            )
            newest = f"(SELECT serial {done} ORDER BY serial DESC LIMIT 1 OFFSET :kept)"
            work.rows(f"DELETE {done} AND serial <= {newest}", number=number, kept=OPERATIONS_KEPT)
            expired = _remove(work, "written < :since", number=number, since=since)
            replaced = 0
            before = _count(work, number)
            for index, draft in enumerate(drafts):
                name = draft.id or f"note_{digest(utf8(f'{operation} {index}'))[:12]}"
                replaced += _remove(work, "id = :id", number=number, id=name)
                _insert(work, number, Note(name, draft.text, partition), now)
            after = _count(work, number)
            oldest = "SELECT number FROM evelab_notes WHERE partition = :number ORDER BY written, number LIMIT :extra"
            evicted = (
                _remove(work, f"number IN ({oldest})", number=number, extra=after - max_notes)
                if after > max_notes
                else 0
            )
        return Ingested(after - before, replaced, expired, evicted)

    def delete(self, partition: str, id: str) -> bool:  # noqa: A002
        """Remove a note of a partition. Whether there was one."""
        with self._database.work(write=True) as work:
            number = self._lock_partition(work, partition)
            return _remove(work, "id = :id", number=number, id=id) > 0

    def notes(self, partition: str | None = None) -> list[Note]:
        """Every note of a partition, or of all, the oldest first. For a person who looks, not for a model."""
        sql = "SELECT n.id, n.text, p.key FROM evelab_notes AS n JOIN evelab_partitions AS p ON p.number = n.partition "
        chosen = {} if partition is None else {"partition": partition}
        sql += "WHERE p.key = :partition ORDER BY n.number" if chosen else "ORDER BY n.number"
        with self._database.work(write=False) as work:
            return [Note(*row) for row in work.rows(sql, **chosen)]

    def sweep(self, since: float) -> int:
        """Remove the notes of all partitions that were written before this time, and say how many.

        A capture removes those of its own partition. This is for partitions in which nobody speaks any more.
        """
        with self._database.work(write=True) as work:
            (count,) = work.rows("SELECT count(*) FROM evelab_notes WHERE written < :since", since=since)[0]
            work.rows("DELETE FROM evelab_notes WHERE written < :since", since=since)
        return int(count)

    def close(self) -> None:
        """Let go of the database. It is opened again when it is used again."""
        self._database.close()

    def _lock_partition(self, work: Work, partition: str) -> int:
        """The partition's number. Until the transaction ends nobody else writes to it."""
        work.rows("INSERT INTO evelab_partitions (key) VALUES (:key) ON CONFLICT (key) DO NOTHING", key=partition)
        sql = f"SELECT number FROM evelab_partitions WHERE key = :key{self._database.row_lock}"  # noqa: S608
        return int(work.rows(sql, key=partition)[0][0])


def _count(work: Work, number: int) -> int:
    return int(work.rows("SELECT count(*) FROM evelab_notes WHERE partition = :number", number=number)[0][0])


def _remove(work: Work, where: str, **values: Any) -> int:
    """Remove notes of one partition, their words with them; how many there were."""
    chosen = f"FROM evelab_notes WHERE partition = :number AND {where}"
    (count,) = work.rows(f"SELECT count(*) {chosen}", **values)[0]
    if count:
        work.rows(f"DELETE {chosen}", **values)
    return int(count)


def _insert(work: Work, number: int, note: Note, now: float) -> None:
    words = words_of_note(note.text)
    work.rows(
        "INSERT INTO evelab_notes (partition, id, text, length, written) VALUES (:number, :id, :text, :length, :now)",
        number=number,
        id=note.id,
        text=note.text,
        length=max(words.total(), 1),
        now=now,
    )
    sql = "SELECT number FROM evelab_notes WHERE partition = :number AND id = :id"
    ((row,),) = work.rows(sql, number=number, id=note.id)
    work.many(
        "INSERT INTO evelab_words (partition, word, note, times) VALUES (:partition, :word, :note, :times)",
        [{"partition": number, "word": word, "note": row, "times": times} for word, times in words.items()],
    )
