"""Strings as JavaScript has them: any UTF-16 units, lone surrogates and odd white space included."""

from __future__ import annotations

from hypothesis import strategies as st

ODD = st.sampled_from(
    [
        "\ud800",
        "\udfff",
        "\ud83d",
        "\ude42",
        "\ufeff",
        "\u0085",
        "\u2028",
        "\u3000",
        "\x1c",
        "🙂",
        "é",
        "家",
        " ",
        "\t",
        "\0",
        ":",
    ]
)
units = st.text(st.one_of(ODD, st.characters(codec=None)), max_size=40)
"""Any Python string, with the odd characters often."""

words = st.text(st.one_of(st.sampled_from("ab 家🙂é"), st.characters(codec="utf-8")), min_size=1, max_size=30)
