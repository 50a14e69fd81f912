"""The chapter as data and checks: example callers, scope policies, and one check a claim."""

from evelab.chapter import (  # each registers its checks
    choice_claims,
    durability_claims,
    exercise_claims,
    file_memory_claims,
    notes_claims,
    opsbot_claims,
    pitfall_claims,
    provider_claims,
    provider_failure_claims,
    scope_claims,
    slot_claims,
    state_claims,
    trust_claims,
    turn_claims,
    visibility_claims,
)
from evelab.chapter.claims import CLAIMS, Claim, Evidence, Observation, Result, run

__all__ = [
    "CLAIMS",
    "Claim",
    "Evidence",
    "Observation",
    "Result",
    "choice_claims",
    "durability_claims",
    "exercise_claims",
    "file_memory_claims",
    "notes_claims",
    "opsbot_claims",
    "pitfall_claims",
    "provider_claims",
    "provider_failure_claims",
    "run",
    "scope_claims",
    "slot_claims",
    "state_claims",
    "trust_claims",
    "turn_claims",
    "visibility_claims",
]
