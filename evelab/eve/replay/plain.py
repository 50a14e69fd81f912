"""Replies of the operations that keep nothing: keys, scopes, definitions, folders."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

from evelab.auth import Principal
from evelab.composition import Candidate, compose, wrapper
from evelab.discovery import discover_slots
from evelab.eve.replay.tags import UNDEFINED, Unsupported, decode
from evelab.keys import Lock, create_lock
from evelab.message import TurnInfo
from evelab.provider import CAPTURE_PHASES, RECALL_PHASES, memory_of
from evelab.scope import ROOT_NODE, ScopeContext, by_principal, default_namespace
from evelab.state import mounted_state_key

TURN_0 = TurnInfo("turn_0", (), 0)
EXTENSIONS = (".ts", ".mts", ".cts", ".js", ".mjs", ".cjs")
FIELDS = {
    *("description", "namespace", "provider", "scope", "visibility", "recall", "capture", "tools"),
    *RECALL_PHASES,
    *CAPTURE_PHASES,
}


def lock_of(request: dict[str, Any]) -> Lock:
    return create_lock(
        decode(request["namespace"]),
        decode(request["scope"]),
        slot=request.get("slot", "profile"),
        visibility=request.get("visibility", "scope"),
        turn=TURN_0,
    )


def lock_json(lock: Lock) -> dict[str, Any]:
    return {
        "namespaceKey": lock.namespace_key,
        "scopeKey": lock.scope_key,
        "key": lock.scope.key,
        "namespace": lock.scope.namespace,
        "value": lock.scope.value,
        "slot": lock.slot,
        "visibility": lock.visibility,
    }


def key(request: dict[str, Any]) -> Any:
    lock = lock_of(request)
    value = lock.scope.value
    frozen = [
        is_frozen(lock, "slot"),
        is_frozen(lock.scope, "key"),
        None if isinstance(value, str) else hash(value) != 0,
    ]
    return {**lock_json(lock), "frozen": frozen}


def is_frozen(record: object, name: str) -> bool:
    try:
        setattr(record, name, "changed")
    except FrozenInstanceError:
        return True
    return False


def principal(fields: Any) -> Any:
    """A principal of the oracle's JSON; ``null`` is nobody, ``undefined`` stays what it is."""
    if not isinstance(fields, dict):
        return fields
    known = {name: value for name, value in fields.items() if value is not UNDEFINED}
    return Principal(
        known["principalType"],
        known["authenticator"],
        known.get("principalId"),
        known.get("issuer"),
        known.get("attributes") or {},
    )


def principal_scope(request: dict[str, Any]) -> Any:
    return by_principal(ScopeContext.of(principal(decode(request["current"]))))


def namespace(request: dict[str, Any]) -> Any:
    return default_namespace(
        request["slot"],
        app_root=decode(request["appRoot"]),
        node=request.get("node", ROOT_NODE),
        environ=request.get("env") or {},
    )


def definition(request: dict[str, Any]) -> Any:
    if request.get("branded") is False:
        raise Unsupported("a definition without eve's brand: Python has a class instead")
    memory_of(fields_of(decode(request["definition"])))
    return "accepted"


def fields_of(value: Any) -> Any:
    """A known field that is undefined is left out; an unknown one counts, as in eve."""
    if not isinstance(value, dict):
        return value
    return {name: fields_of(item) for name, item in value.items() if item is not UNDEFINED or name not in FIELDS}


def discover(request: dict[str, Any]) -> Any:
    entries: dict[str, list[str] | None] = {}
    for entry in request["entries"]:
        inside = entry.get("dir")
        entries[entry["name"]] = None if inside is None else [file["name"] for file in inside if "dir" not in file]
    found = discover_slots(entries, root="/agent", extensions=EXTENSIONS)
    return {
        "slots": [{"slot": slot.name, "logicalPath": slot.path} for slot in found.slots],
        "diagnostics": [{"code": one.code, "severity": "error", "message": one.message} for one in found.diagnostics],
    }


def composition(request: dict[str, Any]) -> Any:
    def candidate(path: str, owner: str = "") -> Candidate:
        return Candidate(path.rpartition(".")[0], owner + path)

    memories = [candidate(path) for path in request.get("memories", [])]
    tools = [candidate(path) for path in request.get("tools", [])]
    framework = [candidate(path, "eve:defaults:") for path in request.get("framework", [])]
    made = compose(
        [memories + tools, [wrapper(memory, ".ts") for memory in memories], framework],
        disable=request.get("disable", []),
    )
    notes = [
        {"kind": note.kind, "source": note.source} | ({} if note.winner is None else {"winner": note.winner})
        for note in made.notes
    ]
    return {"selected": dict(made.selected), "notes": notes}


def mounted_key(request: dict[str, Any]) -> Any:
    return mounted_state_key(request["mountId"], request["name"])
