"""The chapter as data and checks: example callers, scope policies, and one check a claim."""

from evelab.chapter import file_memory_claims, scope_claims, visibility_claims  # each registers its checks
from evelab.chapter.claims import CLAIMS, Claim, Evidence, Observation, Result, run

__all__ = [
    "CLAIMS",
    "Claim",
    "Evidence",
    "Observation",
    "Result",
    "file_memory_claims",
    "run",
    "scope_claims",
    "visibility_claims",
]
