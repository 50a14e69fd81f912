"""Random operations of random callers, beside a model of plain dicts that knows no SQL and no index."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evelab import notes, open_notes
from evelab.notes_store import Draft
from tests.stores.callers import forget, key, operation, where
from tests.stores.postgres import postgres, postgres_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evelab.provider import OperationContext

__all__ = ["postgres", "postgres_url", "where"]

WORDS = ("rota", "payment", "api", "u42", "周三", "值班", "猫")
"""Each is one word for the model: the Chinese ones are a pair, or stand alone."""
MAX_NOTES = 4
LIMIT = 3
RETENTION = 50
EXAMPLES = itertools.count()


@dataclass
class Model:
    """Partition -> id -> (words, time, serial), and the operations that are done."""

    notes: dict[str, dict[str, tuple[tuple[str, ...], float, int]]] = field(default_factory=dict)
    done: set[tuple[str, str]] = field(default_factory=set)
    serial: int = 0

    def capture(
        self, partition: str, operation_id: str, said: Sequence[tuple[str, tuple[str, ...]]], now: float
    ) -> None:
        if (partition, operation_id) in self.done:
            return
        self.done.add((partition, operation_id))
        here = self.notes.setdefault(partition, {})
        for name, (_, written, _) in list(here.items()):
            if written < now - RETENTION:
                del here[name]
        for name, words in said:
            here.pop(name, None)
            self.serial += 1
            here[name] = (words, now, self.serial)
        while len(here) > MAX_NOTES:
            del here[min(here, key=lambda name: here[name][2])]

    def scores(self, partition: str, question: Sequence[str], now: float) -> dict[str, float]:
        """Okapi BM25 of every note that shares a word with the question, from its formula."""
        here = {name: words for name, (words, at, _) in self.notes.get(partition, {}).items() if at >= now - RETENTION}
        if not here:
            return {}
        length = {name: sum(2 * len(word) - 1 if word > "z" else 1 for word in words) for name, words in here.items()}
        usual = sum(length.values()) / len(here)
        scores: dict[str, float] = {}
        for asked in set(question):
            holding = {name: Counter(words)[asked] for name, words in here.items() if asked in words}
            weight = math.log(1 + (len(here) - len(holding) + 0.5) / (len(holding) + 0.5))
            for name, times in holding.items():
                part = times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length[name] / usual))
                scores[name] = scores.get(name, 0.0) + weight * part
        return scores


said = st.tuples(st.sampled_from("xyz"), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(tuple))
caller = st.sampled_from(["zhang", "li", "wang"])
step = st.one_of(
    st.tuples(st.just("capture"), caller, st.sampled_from([f"op{n}" for n in range(8)]), st.lists(said, max_size=3)),
    st.tuples(st.just("recall"), caller, st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), st.none()),
    st.tuples(st.just("forget"), caller, st.sampled_from("xyz"), st.none()),
    st.tuples(st.just("wait"), caller, st.integers(1, RETENTION), st.none()),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(step, min_size=1, max_size=25))
def test_a_store_does_what_plain_dicts_do(where: str, steps: list[tuple[str, str, object, object]]) -> None:
    namespace = f"example {next(EXAMPLES)}"
    store = open_notes(where)
    model, now = Model(), [1000.0]
    asked: list[Draft] = []

    def extract(_: OperationContext) -> list[Draft]:
        return asked

    provider = notes(
        store,
        limit=LIMIT,
        max_notes=MAX_NOTES,
        retention=timedelta(seconds=RETENTION),
        extract=extract,
        clock=lambda: now[0],
    )
    try:
        for kind, who, first, second in steps:
            partition = key(who, namespace=namespace)
            if kind == "capture":
                assert isinstance(first, str)
                assert isinstance(second, list)
                asked[:] = [Draft(" ".join(words), name) for name, words in second]
                provider.capture["turn.completed"](operation(who, "", first, namespace=namespace))
                model.capture(partition, first, second, now[0])
            elif kind == "recall":
                assert isinstance(first, list)
                found = provider.recall["turn.started"](operation(who, " ".join(first), namespace=namespace))
                check_order([one["id"] for one in found["messages"]] if found else [], model, partition, first, now[0])
            elif kind == "forget":
                assert isinstance(first, str)
                had = model.notes.get(partition, {}).pop(first, None) is not None
                assert forget(provider, who, first, namespace=namespace) == {"deleted": had}
            else:
                assert isinstance(first, int)
                now[0] += first
            kept = {one: " ".join(words) for one, (words, _, _) in model.notes.get(partition, {}).items()}
            assert {note.id: note.text for note in store.notes(partition)} == kept
    finally:
        store.close()


def test_the_order_is_bm25_of_the_partition_alone(where: str) -> None:
    """Sixty notes of very different lengths, beside a partition whose notes are shorter, longer and more."""
    chance, store, model = random.Random(5), open_notes(where), Model()
    namespace = f"example {next(EXAMPLES)}"
    mine, other = key("zhang", namespace=namespace), key("li", namespace=namespace)
    for partition, longest in ((mine, 30), (other, 200)):
        said = [(f"n{n}", tuple(chance.choices(WORDS, k=chance.randrange(1, longest)))) for n in range(60)]
        said.append(("twin", said[0][1]))
        store.ingest(partition, "op", [Draft(" ".join(words), one) for one, words in said], now=0.0, max_notes=100)
        model.notes[partition] = {one: (words, 0.0, serial) for serial, (one, words) in enumerate(said)}
    for _ in range(20):
        question = chance.sample(WORDS, k=chance.randrange(1, 5))
        found = [note.id for note in store.search(mine, " ".join(question), limit=100)]
        check_order(found, model, mine, question, 0.0, limit=100)
        if "n0" in found:
            assert found.index("twin") == found.index("n0") - 1, "of two equal notes the newer comes first"
    store.close()


def check_order(
    found: list[str], model: Model, partition: str, question: Sequence[str], now: float, *, limit: int = LIMIT
) -> None:
    """The notes with the best scores, newer before older; sums of fractions may differ in their last digit."""
    scores = model.scores(partition, question, now)
    serial = {name: at for name, (_, _, at) in model.notes.get(partition, {}).items()}
    wanted = sorted(scores, key=lambda name: (-round(scores[name], 9), -serial[name]))[:limit]
    assert [(round(scores[name], 9)) for name in found] == [round(scores[name], 9) for name in wanted]
    assert len(set(found)) == len(found)
