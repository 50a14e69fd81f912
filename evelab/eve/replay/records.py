"""Replies about recall results, records, projection and canonicalisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evelab.compaction import canonicalise, record_bytes, should_canonicalise
from evelab.eve.replay.plain import lock_json, lock_of
from evelab.eve.replay.tags import decode, defined, encode, error_json
from evelab.message import Message, TurnInfo, message_json, read_message
from evelab.recall import MemoryState, RecallBatch, Recalled, apply_batches, project, validate_recall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def validate(request: dict[str, Any]) -> Any:
    return [recalled_json(one) for one in recall_result(request)]


def recall_result(request: dict[str, Any], slot: str | None = None) -> tuple[Recalled, ...]:
    return validate_recall(defined(decode(request.get("result"))), slot or request.get("slot", "profile"))


def recalled_json(message: Recalled) -> dict[str, str]:
    return {"content": message.content} | ({} if message.item_key is None else {"itemKey": message.item_key})


def batches(request: dict[str, Any]) -> Any:
    store = _Store(request)
    replies: list[Any] = []
    for step in request["steps"]:
        try:
            replies.append({"ok": True, "value": encode(store.run(step))})
        except Exception as error:
            replies.append({"ok": False, "error": error_json(error)})
    return replies


class _Store:
    """A history as it is stored, and the session state beside it."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.stored: list[dict[str, Any]] = defined(decode(request.get("history", [])))
        self.other: dict[str, Any] = defined(decode(request.get("state", {}))) or {}
        self.memory: MemoryState | None = None

    @property
    def history(self) -> list[Message]:
        return [read_message(message) for message in self.stored]

    def run(self, step: dict[str, Any]) -> Any:
        match step["do"]:
            case "apply":
                return self.apply(step)
            case "append":
                self.stored += defined(decode(step["messages"]))
                return {"history": len(self.stored)}
            case "project":
                locks = [lock_of(lock) for lock in step["locks"]]
                seen = project(self.history, {lock.slot: lock for lock in locks})
                return len(seen) if step.get("quiet") else messages_json(seen)
            case "project_state":
                return messages_json(project(self.history, self.memory.locks if self.memory else {}))
            case "canonicalize":
                split = canonicalise(self.history)
                if step.get("adopt"):
                    self.stored = messages_json(split.memory + split.ordinary)
                if step.get("quiet"):
                    return {"memory": len(split.memory), "ordinary": len(split.ordinary)}
                return {
                    "memory": [message.content for message in split.memory],
                    "ordinary": messages_json(split.ordinary),
                }
            case "should_canonicalize":
                return should_canonicalise(self.history)
            case "record_bytes":
                return record_bytes(self.history)
            case "clear":
                self.memory, self.stored = None, []
                return {"state": self.other}
            case "state":
                return memory_json(self.memory)
            case "raw_history":
                return self.stored
        raise AssertionError(step["do"])

    def apply(self, step: dict[str, Any]) -> Any:
        made = [
            RecallBatch(batch["operationId"], lock_of(batch["lock"]), recall_result(batch, batch["lock"].get("slot")))
            for batch in step["batches"]
        ]
        commit = apply_batches(made, self.history, self.memory or MemoryState())
        appended = messages_json(commit.appended)
        self.stored, self.memory = self.stored + appended, commit.state
        if step.get("quiet"):
            return {
                "recalled": len(appended),
                "history": len(self.stored),
                "digests": len(commit.state.operation_digests),
            }
        return {"recalled": appended}


def messages_json(messages: Iterable[Message]) -> list[dict[str, Any]]:
    return [message_json(message) for message in messages]


def memory_json(state: MemoryState | None) -> Any:
    """Session memory as the oracle shows it; a session that never had a slot has none."""
    if state is None:
        return None
    return {
        "locks": {slot: {**lock_json(lock), "turn": turn_json(lock.turn)} for slot, lock in state.locks.items()},
        "operationDigests": dict(state.operation_digests),
    }


def turn_json(turn: TurnInfo | None) -> Mapping[str, Any] | None:
    if turn is None:
        return None
    return {"id": turn.id, "input": messages_json(turn.input), "sequence": turn.sequence}
