"""The report of ``verify_version``, for people and for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evelab.eve.verify import Report, Row


def report_lines(report: Report) -> list[str]:
    """What agrees and what does not; of each subject that differs, the shortest request that shows it."""
    width = max(len(row.subject) for row in report.rows)
    lines = [f"evelab beside eve {report.version} (Node {report.node.removeprefix('v')}, seed {report.seed})", ""]
    for row in report.rows:
        verdict = "agrees" if row.agrees else f"DIFFERS on {row.differing:,}"
        unsupported = f", {row.unsupported:,} not modelled" if row.unsupported else ""
        lines.append(f"  {row.subject:<{width}}  {row.cases:>6,} cases  {verdict}{unsupported}")
        lines += _example(row)
    cases = sum(row.cases for row in report.rows)
    differing = sum(row.differing for row in report.rows)
    ending = "all agree" if report.agrees else f"{differing:,} differ"
    return [*lines, "", f"{cases:,} requests: {ending}."]


def _example(row: Row) -> list[str]:
    if row.example is None:
        return []
    return [f"      {json.dumps(row.example.request)}", *(f"      {detail}" for detail in row.example.details[:5])]


def report_json(report: Report) -> dict[str, Any]:
    """The same as JSON-like data."""
    return {
        "eve": report.version,
        "node": report.node,
        "seed": report.seed,
        "agrees": report.agrees,
        "subjects": [
            {
                "subject": row.subject,
                "cases": row.cases,
                "differing": row.differing,
                "unsupported": row.unsupported,
                "example": None if row.example is None else row.example.request,
                "details": [] if row.example is None else list(row.example.details),
            }
            for row in report.rows
        ],
    }
