"""Replies about session state: handles, steps, checkpoints, and code that runs later."""

from __future__ import annotations

import asyncio
import copy
from typing import TYPE_CHECKING, Any

from evelab.eve.replay.tags import UNDEFINED, ScriptedError, Unsupported, decode, encode, error_json, function
from evelab.state import (
    State,
    StateContainer,
    define_mounted_state,
    define_state,
    dump_state,
    load_state,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def define_state_ops(request: dict[str, Any]) -> Any:
    machine = _Machine()
    replies: list[Any] = []
    for step in request["steps"]:
        try:
            replies.append({"ok": True, "value": encode(machine.run(step))})
        except Unsupported:
            raise
        except Exception as error:
            replies.append({"ok": False, "error": error_json(error)})
    return replies


class _Machine:
    """One session's state, and the steps that it goes through."""

    def __init__(self) -> None:
        self.handles: dict[str, State[Any]] = {}
        self.calls: dict[str, int] = {}
        self.shared: dict[str, Any] = {}
        self.saved: dict[str, Any] = {}
        self.container = StateContainer()

    def run(self, step: dict[str, Any]) -> Any:
        do, handle = step["do"], self.handles.get(step.get("handle", ""))
        match do:
            case "define":
                name = step["handle"]
                self.calls[name] = 0
                self.handles[name] = define_state(decode(step["name"]), self.initial(step))
                return "defined"
            case "define_mounted":
                self.calls[step["handle"]] = 0
                made = define_mounted_state(step["mountId"], step["name"], self.initial(step))
                self.handles[step["handle"]] = made
                return made.name
            case "get_outside":
                return handle.get()  # type: ignore[union-attr]
            case "update_outside":
                return nothing(handle.update(lambda value: value))  # type: ignore[union-attr]
            case "get_in":
                return asyncio.run(self.later(handle, step["via"]))
            case "init_calls":
                return dict(self.calls)
            case "keys":
                return sorted(self.container.values)
            case "serialize":
                return dump_state(self.container.checkpoint())
            case "checkpoint":
                self.saved = dump_state(self.container.checkpoint())
                self.begin()
                return {"serializedContext": copy.deepcopy(self.saved)}
            case "crash":
                self.begin()
                return "step restarted from its recorded input"
            case "new_session":
                self.saved = {}
                self.begin()
                return "fresh context"
            case "deserialize":
                values, dropped = load_state(decode(step["value"]))
                sentence = "dropping unknown context key during deserialization"
                return {"keys": list(values), "warned": [[sentence, {"key": name}] for name in dropped]}
        with self.container.active():
            return self.inside(step, handle)

    def inside(self, step: dict[str, Any], handle: Any) -> Any:
        match step["do"]:
            case "get":
                return handle.get()
            case "update":
                return nothing(handle.update(self.change(step)))
            case "mutate_in_place":
                handle.get().update(decode(step["value"]))
                return handle.get()
            case "mutate_map" | "mutate_date":
                raise Unsupported("Python has no Map, and its datetime cannot be changed in place")
        raise AssertionError(step["do"])

    def begin(self) -> None:
        self.container = StateContainer(load_state(self.saved)[0])

    def initial(self, step: dict[str, Any]) -> Callable[[], Any]:
        name = step["handle"]

        def make() -> Any:
            self.calls[name] += 1
            if "initial_throw" in step:
                raise ScriptedError(step["initial_throw"])
            if step.get("initial_shared"):
                return self.shared.setdefault(name, decode(step.get("initial")))
            value = decode(step.get("initial"))
            if value is function:
                raise Unsupported("a function is no value of a state: evelab refuses it, eve calls it")
            return value

        return make

    def change(self, step: dict[str, Any]) -> Callable[[Any], Any]:
        def changed(value: Any) -> Any:
            if "throw" in step:
                raise ScriptedError(step["throw"])
            if "set" in step:
                new = decode(step["set"])
                if new is UNDEFINED or has_function(new):
                    raise Unsupported("evelab refuses functions and undefined at update, eve at the step's end")
                return new
            if "inc" in step:
                return {**value, step["inc"]: value.get(step["inc"], 0) + 1}
            if "mutate" in step and step.get("returns") != "undefined":
                value.update(decode(step["mutate"]))
                return value
            if "nested" in step:
                self.handles[step["handle"]].update(
                    lambda inner: {**inner, step["nested"]: inner.get(step["nested"], 0) + 1}
                )
                return {**value, "outer": True}
            if "returns" in step:
                raise Unsupported(f"an update that returns {step['returns']}")
            return value

        return changed

    async def later(self, handle: Any, via: str) -> Any:
        """Read the state from code that was scheduled inside or outside the session."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Any] = loop.create_future()

        def read() -> None:
            try:
                found.set_result(handle.get())
            except Exception as error:
                found.set_exception(error)

        async def task() -> None:
            read()

        with self.container.active():
            if via == "setTimeout inside":
                loop.call_later(0.001, read)
            elif via == "promise inside":
                running = asyncio.ensure_future(task())
            elif via == "listener, emitted inside":
                read()
        if via == "setTimeout outside":
            loop.call_later(0.001, read)
        elif via == "listener, emitted outside":
            read()
        value = await found
        if via == "promise inside":
            await running
        return value


def nothing(value: None) -> Any:
    return UNDEFINED if value is None else value


def has_function(value: Any) -> bool:
    if isinstance(value, dict):
        return any(has_function(item) for item in value.values())
    return value is function
