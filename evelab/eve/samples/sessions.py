"""Generated sessions: slots, callers, scopes, scripted providers and models, failures, compaction and clear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evelab.eve.samples.records import any_result, result_of
from evelab.eve.samples.texts import any_text, name, one_in, some_text

if TYPE_CHECKING:
    from random import Random

SLOTS = ("profile", "team", "notes", "a", "a_b", "A", "Notes-2", "memory")
SCOPES: tuple[Any, ...] = (
    "acme",
    {"kind": "tenant_principal"},
    {"kind": "tenant"},
    {"kind": "by_principal"},
    {"kind": "principal_id"},
    None,
)
CALLERS: tuple[Any, ...] = (
    ("user", "u_42", {"tenantId": "acme"}),
    ("user", "u_99", {"tenantId": "acme"}),
    ("user", "u_42", {"tenantId": "globex"}),
    ("user", "u_7", {}),
    ("service", "bot", {"tenantId": "acme"}),
    ("anonymous", "x", {}),
    ("local-dev", "dev", {}),
    ("runtime", "eve", {}),
)
APPROVAL = "user-approval"
TOOL_KEYS = ("look", "note", "1", "a__b", "Z")


def session_request(rng: Random) -> dict[str, Any]:
    """A session of one to three slots and a few steps.

    A session whose tools may wait for a person is not compacted: evelab refuses that until the person decides.
    """
    names = _distinct(rng, SLOTS, 1 + rng.randrange(3))
    slots = [_slot(rng, slot) for slot in names]
    steps = [_step(rng, slots) for _ in range(1 + rng.randrange(4))]
    if APPROVAL in repr(slots):
        steps = [step for step in steps if step["type"] != "compact"] or [_turn(rng, slots)]
    request: dict[str, Any] = {
        "op": "session",
        "sessionId": "s",
        "slots": slots,
        "steps": steps,
    }
    if rng.randrange(4) > 0:
        request["auth"] = _caller(rng)
    if one_in(rng, 4):
        request["env"] = {"EVE_DEV": "1"}
    if one_in(rng, 6):
        request["describeTools"] = True
    if one_in(rng, 8):
        request["compaction"] = {"threshold": 60 + rng.randrange(200), "recentWindowSize": 1 + rng.randrange(4)}
    return request


def _distinct(rng: Random, items: tuple[str, ...], count: int) -> list[str]:
    left = list(items)
    return [left.pop(rng.randrange(len(left))) for _ in range(count)]


def _caller(rng: Random) -> Any:
    if one_in(rng, 8):
        return None
    kind, who, attributes = rng.choice(CALLERS)
    return {"principalType": kind, "authenticator": "app", "principalId": who, "attributes": dict(attributes)}


# ---------------------------------------------------------------------------------------------- slots


def _slot(rng: Random, slot: str) -> dict[str, Any]:
    made: dict[str, Any] = {"slot": slot, "namespace": "app", "scope": _scope(rng), "provider": _provider(rng)}
    match rng.randrange(10):
        case 7:
            del made["namespace"]
        case 8:
            made["namespace"] = {"kind": "context"}
        case 9:
            made["namespace"] = _script(rng, [name(rng), None, " ", some_text(rng)])
        case _:
            pass
    if one_in(rng, 4):
        made["visibility"] = rng.choice(("session", "scope"))
    if one_in(rng, 5):
        made["description"] = some_text(rng)
    if one_in(rng, 12):
        made["override"] = True
    return made


def _scope(rng: Random) -> Any:
    if one_in(rng, 6):
        return _script(rng, [name(rng), [name(rng), name(rng)], None, some_text(rng), [], ["a", " "]])
    return rng.choice(SCOPES)


def _script(rng: Random, values: list[Any]) -> dict[str, Any]:
    """A resolver that gives one value after the other; once in a while it throws."""
    entries = [{"value": rng.choice(values)} for _ in range(1 + rng.randrange(3))]
    if one_in(rng, 6):
        entries.insert(rng.randrange(len(entries) + 1), {"throw": "no scope"})
    return {"kind": "script", "values": entries}


def _provider(rng: Random) -> dict[str, Any]:
    if rng.randrange(3) == 0:
        return {"kind": "file", "maxCharacters": 230} if one_in(rng, 5) else {"kind": "file"}
    made: dict[str, Any] = {"kind": "scripted", "recall": _recalls(rng)}
    if one_in(rng, 3):
        made["compaction_recall"] = _recalls(rng)
    if one_in(rng, 3):
        made["capture"] = _captures(rng)
    if one_in(rng, 4):
        made["requested"] = _captures(rng)
    if one_in(rng, 2):
        made["tools"] = _tools(rng)
    return made


def _recalls(rng: Random) -> list[dict[str, Any]]:
    entries = []
    for _ in range(1 + rng.randrange(3)):
        match rng.randrange(12):
            case 10:
                entries.append({"return": any_result(rng)})
            case 11:
                entries.append({"throw": "recall failed"})
            case _:
                entries.append({"return": result_of(rng)})
    return entries


def _captures(rng: Random) -> list[dict[str, Any]]:
    return [{"throw": "capture failed"} if one_in(rng, 4) else {"return": None} for _ in range(1 + rng.randrange(2))]


def _tools(rng: Random) -> Any:
    match rng.randrange(10):
        case 6:
            return None
        case 7:
            return {"throw": "tools failed"}
        case 8:
            return rng.choice(([], 1, "text"))
        case 9:
            # Without approval: in eve a turn fails when a tool is gone before its approval is asked for.
            maps = [_tool_map(rng) for _ in range(2 + rng.randrange(2))]
            return {"$sequence": [{k: _without_approval(tool) for k, tool in tools.items()} for tools in maps]}
        case _:
            return _tool_map(rng)


def _without_approval(tool: dict[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in tool.items() if field != "approval"}


def _tool_map(rng: Random) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key in _distinct(rng, TOOL_KEYS, rng.randrange(3)):
        tool: dict[str, Any] = {"description": some_text(rng)}
        match rng.randrange(9):
            case 8:
                tool["approval"] = APPROVAL
            case 5:
                tool["throws"] = "tool failed"
            case 6:
                tool["returns"] = {"found": [some_text(rng), 1]}
            case 7:
                tool["unbranded"] = one_in(rng, 2)
            case _:
                tool["returns"] = some_text(rng)
        made[key] = tool
    if one_in(rng, 12):
        made["bad key"] = {"description": "d"}
    return made


# ---------------------------------------------------------------------------------------------- steps


def _step(rng: Random, slots: list[dict[str, Any]]) -> dict[str, Any]:
    match rng.randrange(12):
        case 9:
            return {"type": "compact", "model": [{"text": some_text(rng)}]}
        case 10:
            return {"type": "clear"}
        case 11:
            return {"type": "state", "name": "s", **({"set": {"n": rng.randrange(3)}} if one_in(rng, 2) else {})}
        case _:
            return _turn(rng, slots)


def _turn(rng: Random, slots: list[dict[str, Any]]) -> dict[str, Any]:
    turn: dict[str, Any] = {"type": "turn", "input": any_text(rng) if one_in(rng, 12) else some_text(rng)}
    if one_in(rng, 3):
        turn["auth"] = _caller(rng)
    calls = [_call_step(rng, slots) for _ in range(rng.randrange(3))]
    turn["model"] = [*calls, {"throw": "no model"} if one_in(rng, 16) else _answer(rng)]
    if one_in(rng, 3):
        turn["attempts"] = 2
    return turn


def _answer(rng: Random) -> dict[str, Any]:
    said: dict[str, Any] = {"text": any_text(rng) if one_in(rng, 12) else some_text(rng)}
    if one_in(rng, 8):
        said["inputTokens"] = rng.randrange(300)
    return said


def _call_step(rng: Random, slots: list[dict[str, Any]]) -> dict[str, Any]:
    """One or two tool calls, on different slots: eve runs the calls of a step at once, evelab one after the other,
    so that two calls on one document may end differently."""
    chosen = [rng.choice(slots)]
    if rng.randrange(2) == 1:
        chosen += [slot for slot in [rng.choice(slots)] if slot is not chosen[0]]
    said: dict[str, Any] = {"tools": [_call(rng, slot) for slot in chosen]}
    if one_in(rng, 4):
        said["text"] = some_text(rng)
    return said


def _call(rng: Random, slot: dict[str, Any]) -> list[Any]:
    name_of = slot["slot"]
    if slot["provider"]["kind"] == "file":
        match rng.randrange(8):
            case 4 | 5:
                return [f"{name_of}__remove_memory", {"index": rng.randrange(3)}]
            case 6:
                return [f"{name_of}__save_memory", {"text": any_text(rng)}]
            case 7:
                return [f"{name_of}__remove_memory", rng.choice(({}, {"index": -1}, {"index": "0"}, {"index": 1.5}))]
            case _:
                return [f"{name_of}__save_memory", {"text": some_text(rng)}]
    return [f"{name_of}__{rng.choice(TOOL_KEYS)}", {}]
