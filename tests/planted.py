"""What a test with a planted fault asks."""

from __future__ import annotations

from evelab.chapter import CLAIMS, run

BY_ID = {claim.id: claim for claim in CLAIMS}


def fails(name: str) -> bool:
    """Whether the claim with this id does not hold now."""
    return not run(BY_ID[name]).holds
