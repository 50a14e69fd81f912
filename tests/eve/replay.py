"""evelab behind the oracle's interface: one JSON request a line in, one JSON reply a line out.

    python -m tests.eve.replay < requests.jsonl

A reply is ``{"ok": true, "value": ...}``, ``{"ok": false, "error": {"name", "class", "message"}}``, or
``{"ok": false, "unsupported": "why"}`` where the request is about something that Python does not have.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from tests.eve import documents, plain, records, sessions, states
from tests.eve.tags import Unsupported, encode, error_json

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


def main() -> None:
    """Answer line by line. A line ends at LF only."""
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(answer(json.loads(line)), separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
