"""Generated recall results, and histories that they are committed to and projected from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evelab.eve.samples.texts import any_text, name, one_in, some_text, text_near

if TYPE_CHECKING:
    from random import Random

IDS = ("a", "b", "c", "\ud800", "\ufffd", " ", "é", "e\u0301")
CONTENTS = ("v1", "v2", "v3")
SLOTS = ("profile", "team", "notes")
PLACES = ("acme", "globex")


def recall_request(rng: Random) -> dict[str, Any]:
    """A recall result, valid or with one thing wrong."""
    return {"op": "validate_recall", "result": any_result(rng)}


def any_result(rng: Random) -> Any:
    """A recall result, valid or with one thing wrong."""
    result = result_of(rng)
    match rng.randrange(14):
        case 6:
            return rng.choice(("text", 0, [], {}, True, {"$undefined": True}, {"messages": None}, {"messages": {}}))
        case 7:
            return {**(result or {}), "more": 1}
        case 8 if result is not None:
            result["messages"].append(rng.choice((None, "text", [], 1, {}, {"id": "a"}, {"content": None})))
        case 9 if result is not None:
            result["messages"].append({"content": any_text(rng), "id": any_text(rng)})
        case 10 if result is not None:
            result["messages"].append({"content": "v1", "id": text_near(rng, 1024)})
        case 11 if result is not None:
            result["messages"].append({"content": "v1", "id": rng.choice((None, 1, "", {"$undefined": True}))})
        case 12 if result is not None:
            result["messages"].append({"content": "v1", "role": "user"})
        case 13 if result is not None and result["messages"]:
            result["messages"].append(rng.choice(result["messages"]))
        case _:
            pass
    return result


def result_of(rng: Random) -> Any:
    """A valid recall result: None, or a few messages of few ids and contents, so that they meet again."""
    if one_in(rng, 6):
        return None
    ids = [item for item in IDS if one_in(rng, 4)]
    messages: list[dict[str, str]] = [{"content": rng.choice(CONTENTS), "id": item} for item in ids]
    messages += [{"content": rng.choice(CONTENTS)} for _ in range(rng.randrange(3))]
    if one_in(rng, 4):
        messages.append({"content": some_text(rng), "id": "odd"})
    return {"messages": messages}


def batches_request(rng: Random) -> dict[str, Any]:
    """Commits of several slots, callers and operations, with projections and clears between them."""
    steps: list[dict[str, Any]] = []
    for number in range(1 + rng.randrange(6)):
        match rng.randrange(12):
            case 0 | 1 | 2 | 3 | 4 | 5:
                made = [_batch(rng, f"op{number}.{index}") for index in range(1 + rng.randrange(3))]
                steps.append({"do": "apply", "batches": made})
            case 6:
                steps.append({"do": "append", "messages": [_ordinary(rng) for _ in range(1 + rng.randrange(2))]})
            case 7:
                steps.append({"do": "project_state"})
            case 8:
                steps.append({"do": "canonicalize", "adopt": rng.randrange(2) == 1})
            case 9:
                steps.append({"do": "clear"})
            case 10:
                steps += [{"do": "should_canonicalize"}, {"do": "record_bytes"}]
            case _:
                count = rng.choice((511, 512, 513))
                rule = {"n": count, "content": "c{i}", "id": "k{i}"}
                batch = {"operationId": f"many{number}", "lock": _lock(rng), "result": {"messages": {"$range": rule}}}
                steps.append({"do": "apply", "batches": [batch], "quiet": True} if one_in(rng, 6) else {"do": "state"})
        if rng.randrange(2) == 1:
            locks = {lock["slot"]: lock for lock in [_lock(rng) for _ in range(rng.randrange(3))]}
            steps.append({"do": "project", "locks": list(locks.values())})
    return {"op": "batches", "steps": [*steps, {"do": "state"}, {"do": "raw_history"}]}


def _batch(rng: Random, fresh: str) -> dict[str, Any]:
    operation = fresh if rng.randrange(4) > 0 else rng.choice(("op0.0", "op1.0", "again"))
    result = any_result(rng) if one_in(rng, 10) else result_of(rng)
    return {"operationId": operation, "lock": _lock(rng), "result": result}


def _lock(rng: Random) -> dict[str, Any]:
    place = rng.choice(PLACES)
    lock: dict[str, Any] = {
        "namespace": "other" if one_in(rng, 5) else "app",
        "scope": [place, name(rng)] if one_in(rng, 4) else place,
        "slot": rng.choice(SLOTS),
    }
    if one_in(rng, 3):
        lock["visibility"] = "session"
    if one_in(rng, 30):
        lock["scope"] = rng.choice((None, " ", []))
    return lock


def _ordinary(rng: Random) -> dict[str, Any]:
    message: dict[str, Any] = {"role": rng.choice(("user", "assistant")), "content": any_text(rng)}
    if one_in(rng, 3):
        message["kind"] = "user"
    if one_in(rng, 6):
        message["metadata"] = {"other": some_text(rng)}
    return message
