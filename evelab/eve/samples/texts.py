"""Generated texts: what eve treats specially, and what a person writes.

Every choice lists the plain case first, so that a generator which shrinks its choices ends at plain texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

PLAIN = ("a", "b", "acme", "u_42", "globex", "payment-api", "0", "1", "memory")
SPECIAL = (
    " ",
    "  ",
    "\t",
    "\n",
    "\r",
    "\v",
    "\f",
    "\x00",
    "\x1c",
    "\x1f",
    "\x7f",
    "\x85",
    "\xa0",
    "\u1680",
    "\u180e",
    "\u2003",
    "\u200b",
    "\u2028",
    "\u2029",
    "\u202f",
    "\u205f",
    "\u2060",
    "\u3000",
    "\ufeff",
    "\ufffd",
    "é",
    "e\u0301",
    "只看",
    "🙂",
    "\U0010ffff",
    "\ud83d",
    "\ude42",
    "\ud800",
    "\udfff",
    '"',
    "\\",
    "/",
    ":",
    "0: 1: ",
    "<!-- ",
    " -->",
)
WIDE = ("x", "é", "只", "🙂", "\ud800")
"""Fillers of 1, 2, 3, 4 and (once a lone surrogate is replaced) 3 UTF-8 bytes."""


def one_in(rng: Random, times: int) -> bool:
    """True once in so many times. Shrinks to False."""
    return rng.randrange(times) == times - 1


def piece(rng: Random) -> str:
    """A word, a special character, or any code point at all."""
    match rng.randrange(8):
        case 0 | 1 | 2:
            return rng.choice(PLAIN)
        case 7:
            return chr(rng.randrange(0x110000))
        case _:
            return rng.choice(SPECIAL)


def any_text(rng: Random, longest: int = 4) -> str:
    """Up to so many pieces; it may be empty or blank."""
    return "".join([piece(rng) for _ in range(rng.randrange(longest + 1))])


def some_text(rng: Random, longest: int = 3) -> str:
    """A text that is seldom blank."""
    return rng.choice(PLAIN) + any_text(rng, longest)


def text_near(rng: Random, limit: int) -> str:
    """A text whose UTF-8 length lies within a few bytes of the limit, below or above."""
    filler = rng.choice(WIDE)
    width = len(filler.encode("utf-8", "replace")) if filler != "\ud800" else 3
    size = limit - 4 + rng.randrange(9)
    return filler * (size // width) + "a" * (size % width)


def name(rng: Random) -> str:
    """One of a few plain words."""
    return rng.choice(PLAIN)
