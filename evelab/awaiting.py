"""Plain and coroutine handlers side by side, from plain calls.

A handler may be a function or a coroutine function. Each task below is a generator that yields what a
handler returned and gets back the value, awaited where it has to be. Tasks run concurrently: plain ones in
turns, coroutines in one event loop, which is started only when there is one to await. In a notebook, where
a loop already runs in this thread, that loop is left alone and another thread runs ours.
"""

from __future__ import annotations

import contextvars
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine, Generator, Sequence

T = TypeVar("T")
Task: TypeAlias = "Generator[Any, Any, T]"


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What became of a task.

    Attributes:
        value: its result; None when it raised.
        error: what it raised, or None.
        order: its place among the tasks in the order in which they ended.
    """

    value: T | None
    error: Exception | None
    order: int


def resolve(value: Any) -> Any:
    """The value itself, or what it gives when awaited."""
    return _run(_await(value)) if inspect.isawaitable(value) else value


def all_settled(tasks: Sequence[Task[T]]) -> list[Outcome[T]]:
    """Run tasks concurrently and wait for every one; outcomes in the tasks' order."""
    runs = [_Run(task) for task in tasks]
    ended: list[_Run[T]] = []
    while len(ended) < len(runs):
        if any(inspect.isawaitable(run.yielded) for run in runs if not run.ended):
            _run(_finish(runs, ended))
            break
        for run in runs:
            if not run.ended:
                run.step(ended)
    return [Outcome(run.value, run.error, ended.index(run)) for run in runs]


class _Run(Generic[T]):
    """One task and how far it has come."""

    def __init__(self, task: Task[T]) -> None:
        self.task = task
        self.yielded: Any = None
        self.value: T | None = None
        self.error: Exception | None = None
        self.ended = False

    def step(self, ended: list[_Run[T]], error: Exception | None = None) -> None:
        try:
            self.yielded = self.task.send(self.yielded) if error is None else self.task.throw(error)
        except StopIteration as stop:
            self.value = stop.value
        except Exception as raised:
            self.error = raised
        else:
            return
        self.yielded = None
        self.ended = True
        ended.append(self)


async def _finish(runs: Sequence[_Run[T]], ended: list[_Run[T]]) -> None:
    import asyncio

    async def drive(run: _Run[T]) -> None:
        while not run.ended:
            error = None
            if inspect.isawaitable(run.yielded):
                try:
                    run.yielded = await run.yielded
                except Exception as raised:
                    error = raised
            else:
                await asyncio.sleep(0)
            run.step(ended, error)

    await asyncio.gather(*(drive(run) for run in runs))


async def _await(value: Awaitable[T]) -> T:
    return await value


def _run(work: Coroutine[Any, Any, T]) -> T:
    import asyncio  # imported here: most sessions never wait for a coroutine, and asyncio is slow to import
    from concurrent.futures import ThreadPoolExecutor

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(contextvars.copy_context().run, asyncio.run, work).result()
