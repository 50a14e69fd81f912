"""The words by which a note is found, also in languages that are written without spaces.

A text is brought to one form (NFKC, case folded) and cut into runs of letters and digits. A run of Chinese,
Japanese or Korean is cut further, into overlapping pairs of characters: of 每周三更新 the word 周三 is found,
which no cutting at spaces would give. A question of one character is answered too, so a note is also kept by
its single characters; a longer question is not split that far, since 的 stands in every other note.

Nothing but letters and digits is a word: the syntax of a query language cannot get into a search.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

WORD_MAX = 64
"""Characters by which a word is known; what comes after them does not count."""
QUESTION_WORDS_MAX = 256
"""How many different words of a question are looked for: its first ones."""

_RUN = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(
    "([\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]+)"
)


def words_of_note(text: str) -> Counter[str]:
    """Each word of a note, and how often it stands there.

    >>> sorted(words_of_note("API 周三")) == sorted(["api", "周", "三", "周三"])
    True
    """
    words: Counter[str] = Counter()
    for part, unspaced in _parts(text):
        words.update([*part, *_pairs(part)] if unspaced else [part[:WORD_MAX]])
    return words


def words_of_question(text: str) -> list[str]:
    """The different words to look for, in order.

    >>> words_of_question("payment-api 每周三") == ["payment", "api", "每周", "周三"]
    True
    """
    words: dict[str, None] = {}
    for part, unspaced in _parts(text):
        words.update(dict.fromkeys((_pairs(part) or [part]) if unspaced else [part[:WORD_MAX]]))
        if len(words) >= QUESTION_WORDS_MAX:
            break
    return list(words)[:QUESTION_WORDS_MAX]


def _parts(text: str) -> list[tuple[str, bool]]:
    """Runs of letters and digits, and whether they are written without spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [
        (part, index % 2 == 1)
        for run in _RUN.findall(folded)
        for index, part in enumerate(_UNSPACED.split(run))
        if part
    ]


def _pairs(part: str) -> list[str]:
    return [part[at : at + 2] for at in range(len(part) - 1)]
