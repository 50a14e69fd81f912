"""evelab's reply to a request that the bridge puts to the real eve, in the same form.

A reply is ``{"ok": true, "value": ...}``, ``{"ok": false, "error": {"name", "class", "message"}}``, or
``{"ok": false, "unsupported": "why"}`` where the request is about something that Python does not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evelab.eve.replay import documents, plain, records, sessions, states
from evelab.eve.replay.tags import Unsupported, encode, error_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OPS: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "key": plain.key,
    "by_principal": plain.principal_scope,
    "default_namespace": plain.namespace,
    "validate_recall": records.validate,
    "define_memory": plain.definition,
    "discover": plain.discover,
    "compose": plain.composition,
    "mounted_state_key": plain.mounted_key,
    "batches": records.batches,
    "file_memory": documents.file_memory_ops,
    "in_memory": documents.in_memory_ops,
    "default_backend": documents.default_backend_ops,
    "define_state": states.define_state_ops,
    "session": sessions.session,
}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """evelab's reply to one request."""
    named = {"id": request["id"]} if "id" in request else {}
    operation = OPS.get(request["op"])
    try:
        if operation is None:
            raise Unsupported(f"there is no operation {request['op']}")
        return named | {"ok": True, "value": encode(operation(request))}
    except Unsupported as reason:
        return named | {"ok": False, "unsupported": str(reason)}
    except Exception as error:
        return named | {"ok": False, "error": error_json(error)}
