"""Claims of 8.1: three kinds, four questions, and what is fed against what is asked for."""

from __future__ import annotations

from dataclasses import asdict
from itertools import product

from evelab.chapter.choice import CONNECTION, KINDS, MEMORY, NOTHING, STATE, OneFact, advise, compared, shown, tried
from evelab.chapter.claims import Evidence, claim


@claim("1.1")
def three_kinds_on_five_rows(see: Evidence) -> None:
    """State, memory slot and connection compared on five rows: scope, lifetime, visible to the model, writer, use."""
    rows = {kind: compared(kind) for kind in KINDS}
    see.equal(
        "scope",
        [rows[kind].scope for kind in KINDS],
        ["one session", "those of one scope", "the outside system"],
    )
    see.equal(
        "lifetime",
        [rows[kind].lifetime for kind in KINDS],
        ["the session", "as the store says", "as the outside system says"],
    )
    see.equal(
        "visible to the model",
        [rows[kind].visible for kind in KINDS],
        ["only when a tool returns it", "yes, in every turn", "only when a tool returns it"],
    )
    see.equal(
        "who writes",
        [rows[kind].writer for kind in KINDS],
        ["your code", "the provider", "the outside system"],
    )
    see.true("each has a use of its own", len({row.use for row in rows.values()}) == len(KINDS))
    see.equal("rows", len(asdict(rows[STATE])), 5)


@claim("1.2")
def four_questions_choose(see: Evidence) -> None:
    """Four questions in order choose between: store nothing, define_state, memory slot, connection."""
    see.equal("not needed for the next message", advise([False]).kind, NOTHING)
    see.equal("not needed in the next session", advise([True, False]).kind, STATE)
    see.equal("needed there, and by itself", advise([True, True, True]).kind, MEMORY)
    see.equal("needed there, but only when asked for", advise([True, True, False, True]).kind, CONNECTION)
    see.equal("questions asked on the way", [advise([False]).asked, advise([True, True, False, True]).asked], [1, 4])
    for needed, session in product((True, False), repeat=2):
        kind = advise([needed, session, True, True]).kind
        lasts = kind is not None and kind in KINDS and tried(kind)["his next session, unasked"] != "-"
        see.equal(f"next message {needed}, next session {session}: it is there unasked", lasts, needed and session)


@claim("1.3")
def memory_is_fed_and_a_connection_is_asked(see: Evidence) -> None:
    """Memory is fed to the model every turn; a connection is only read when the model asks."""
    memory, connection = OneFact(MEMORY), OneFact(CONNECTION)
    memory.keep()
    connection.keep()
    see.equal(
        "memory, in three new sessions without a tool call",
        [shown(memory.chat(new_session=True)) for _ in range(3)],
        ["shipped"] * 3,
    )
    see.equal(
        "connection, in three new sessions without a tool call",
        [shown(connection.chat(new_session=True)) for _ in range(3)],
        ["-"] * 3,
    )
    see.equal("the order's system was asked", connection.asked, 0)
    see.equal("once the model asks", shown(connection.ask(new_session=True)), "shipped")
    see.equal("the order's system was asked then", connection.asked, 1)
