"""Claims of 8.11: each pitfall goes wrong in its run, and its fix goes right."""

from __future__ import annotations

from evelab.chapter.claims import Evidence, claim
from evelab.chapter.pitfalls import PITFALLS, PREFERENCE
from evelab.session import Session


def _both(see: Evidence, id: str, wrong: object, right: object) -> None:  # noqa: A002
    pitfall = PITFALLS[id]
    see.equal(f"{pitfall.mistake}: {pitfall.question}", pitfall.wrong(), wrong)
    see.equal(f"{pitfall.fix}: {pitfall.question}", pitfall.right(), right)


@claim("11.1")
def preferences_in_a_state(see: Evidence) -> None:
    """Preferences in define_state are gone in the next session."""
    _both(see, "11.1", "nothing", PREFERENCE)


@claim("11.2")
def this_turns_work_in_memory(see: Evidence) -> None:
    """This turn's checked services in memory come back every turn and grow the context."""
    grown, flat = PITFALLS["11.2"].wrong(), PITFALLS["11.2"].right()
    see.true("in memory it grows from turn to turn", isinstance(grown, list) and grown == sorted(set(grown)))
    see.true("it began empty, and was there in the last turn", isinstance(grown, list) and grown[0] == 0 < grown[-1])
    see.equal("in a state it adds nothing", flat, [0, 0, 0, 0])


@claim("11.3")
def a_fixed_scope_is_no_tenant(see: Evidence) -> None:
    """scope "acme" taken for tenant isolation: another company recalls it."""
    _both(see, "11.3", ["globex u_42"], [])


@claim("11.4")
def a_public_fallback(see: Evidence) -> None:
    """A fallback to "public" gives anonymous callers one shared partition."""
    _both(see, "11.4", ["anonymous", "no tenant u_7"], [])


@claim("11.5")
def the_principal_id_alone(see: Evidence) -> None:
    """Partition by principal id alone joins two authentication systems."""
    _both(see, "11.5", ["partner u_42"], [])


@claim("11.6")
def a_copy_reads_no_state(see: Evidence) -> None:
    """A subagent that is expected to read the parent's state finds none."""
    _both(see, "11.6", "no incident", "INC-7")


@claim("11.7")
def a_capture_that_is_not_idempotent(see: Evidence) -> None:
    """A capture that is not idempotent writes twice on a retry."""
    _both(see, "11.7", 2, 1)


@claim("11.8")
def recalled_text_as_an_instruction(see: Evidence) -> None:
    """Recalled text is run as an instruction where nothing says that it is data."""
    _both(see, "11.8", "here are all memories", "an answer")


@claim("11.9")
def clear_is_no_deletion(see: Evidence) -> None:
    """clear() taken for deletion: the store is untouched and the next turn recalls it; state survives too."""
    _both(see, "11.9", PREFERENCE, "nothing")
    from evelab.agent import Agent
    from evelab.chapter.incident import incident, nothing_tracked

    session = Session(Agent())
    session.run_with_state(lambda: incident.update(lambda _: {**nothing_tracked(), "id": "INC-7"}))
    session.clear()
    see.equal("the state after clear()", session.state["opsbot.incident"]["id"], "INC-7")


@claim("11.10")
def a_new_namespace_looks_like_amnesia(see: Evidence) -> None:
    """A changed namespace looks like amnesia; the data must be moved by hand."""
    _both(see, "11.10", "nothing", PREFERENCE)


@claim("11.11")
def a_full_document(see: Evidence) -> None:
    """A full document raises; remove, or raise max_characters."""
    full = str(PITFALLS["11.11"].wrong())
    see.true("the third save is an error that says what to do", "4,000-character limit. Remove an outdated" in full)
    see.equal("with a larger max_characters", PITFALLS["11.11"].right(), "saved")


@claim("11.12")
def file_memory_does_not_listen(see: Evidence) -> None:
    """file_memory expected to remember by itself: it has no capture."""
    _both(see, "11.12", "nothing", PREFERENCE)
