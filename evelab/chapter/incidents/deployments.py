"""Incidents with deployments: one namespace too many, one too few."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evelab.chapter.callers import ZHANG_SAN
from evelab.chapter.incidents.incident import Incident, Outcome
from evelab.chapter.incidents.listed import Listed, recalled, send
from evelab.chapter.visibility_claims import PREVIEW, PRODUCTION
from evelab.provider import Default

if TYPE_CHECKING:
    from collections.abc import Mapping

LINE = "the refund limit is 500"
TEST = "test: the refund limit is 999999"


def two_constants(writes: bool) -> str:
    """Faulty."""
    return "support-v2" if writes else "support-v1"


def one_constant(writes: bool) -> str:
    """Right."""
    return "support-v2"


def _two_services(namespace: Any) -> Outcome:
    notes = Listed()
    send(notes.provider(), ZHANG_SAN, LINE, namespace=namespace(True))
    seen = recalled(send(notes.provider(), ZHANG_SAN, namespace=namespace(False)))
    return Outcome(f"one service writes, another reads: {seen}", LINE not in seen)


def one_name_for_both() -> str | Default:
    """Faulty."""
    return "support"


def the_default() -> str | Default:
    """Right."""
    return Default.NAMESPACE


STAGING: Mapping[str, str] = {"VERCEL_PROJECT_ID": "prj_staging", "VERCEL_ENV": "production"}


def _two_deployments(namespace: Any) -> Outcome:
    notes = Listed()
    send(notes.provider(), ZHANG_SAN, TEST, namespace=namespace(), environ=STAGING)
    seen = recalled(send(notes.provider(), ZHANG_SAN, namespace=namespace(), environ=PRODUCTION))
    return Outcome(f"a test ran in staging; production recalls: {seen}", TEST in seen)


def a_name_of_our_own() -> str | Default:
    """Faulty."""
    return "opsbot"


def left_to_eve() -> str | Default:
    """Right."""
    return Default.NAMESPACE


def _preview(namespace: Any) -> Outcome:
    notes = Listed()
    branch = {**PREVIEW, "VERCEL_GIT_COMMIT_REF": "feature-a"}
    send(notes.provider(), ZHANG_SAN, LINE, namespace=namespace(), environ=PRODUCTION)
    seen = recalled(send(notes.provider(), ZHANG_SAN, namespace=namespace(), environ=branch))
    return Outcome(f"production keeps a line; the preview of a branch recalls: {seen}", LINE in seen)


INCIDENTS = (
    Incident("two-names", "Written here, read there", "loss", two_constants, one_constant, _two_services),
    Incident("staging", "Two deployments, one namespace", "leak", one_name_for_both, the_default, _two_deployments),
    Incident("preview", "A preview that reads production", "leak", a_name_of_our_own, left_to_eve, _preview),
)
