"""Plain and coroutine tasks side by side."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from evelab.awaiting import all_settled, resolve

if TYPE_CHECKING:
    from evelab.awaiting import Task


async def later(value: int) -> int:
    await asyncio.sleep(0)
    return value


async def fail(error: Exception) -> None:
    await asyncio.sleep(0)
    raise error


def task(*values: Any) -> Task[list[Any]]:
    """A task that gets each value back, awaited where it has to be."""
    got = []
    for value in values:
        got.append((yield value))
    return got


def test_a_plain_value_stays_and_a_coroutine_is_awaited() -> None:
    assert resolve(1) == 1
    assert resolve(later(2)) == 2


def test_inside_a_running_loop_a_coroutine_is_awaited_too() -> None:
    async def outer() -> Any:
        return resolve(later(3)), all_settled([task(later(4), 5)])[0].value

    assert asyncio.run(outer()) == (3, [4, 5])


@given(st.lists(st.lists(st.tuples(st.integers(), st.booleans()), max_size=3), max_size=4))
def test_every_task_gets_its_own_values_in_order(plan: list[list[tuple[int, bool]]]) -> None:
    tasks = [task(*[later(value) if waits else value for value, waits in values]) for values in plan]
    outcomes = all_settled(tasks)
    assert [outcome.value for outcome in outcomes] == [[value for value, _ in values] for values in plan]
    assert sorted(outcome.order for outcome in outcomes) == list(range(len(plan)))


def test_a_failing_task_does_not_stop_the_others() -> None:
    error = ValueError("x")

    def failing() -> Task[None]:
        yield fail(error)

    first, second = all_settled([failing(), task(later(1), 2)])
    assert (first.error, first.value) == (error, None)
    assert second.value == [1, 2]


def test_a_task_may_catch_what_a_coroutine_raised() -> None:
    def catching() -> Task[str]:
        try:
            yield fail(ValueError("x"))
        except ValueError as error:
            return f"caught {error}"
        return "nothing"

    assert all_settled([catching()])[0].value == "caught x"


def test_plain_tasks_take_turns() -> None:
    order: list[str] = []

    def named(name: str) -> Task[None]:
        for _ in range(2):
            order.append(name)
            yield None

    all_settled([named("a"), named("b")])
    assert order == ["a", "b", "a", "b"]


def test_the_order_in_which_tasks_end_is_told() -> None:
    assert [outcome.order for outcome in all_settled([task(1, 2, 3), task(1)])] == [1, 0]
