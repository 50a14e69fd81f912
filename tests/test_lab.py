"""What the lab shows: colours, HTML, tables and figures, without a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from hypothesis import given

from evelab.chapter.callers import ANONYMOUS, CALLERS, GLOBEX, LI_SI, PARTNER, ZHANG_SAN, Caller, may_share, user
from evelab.chapter.key_steps import key_steps
from evelab.chapter.policies import (
    BY_PRINCIPAL,
    FIXED,
    POLICIES,
    PRINCIPAL_ID,
    PUBLIC,
    TENANT,
    TENANT_PRINCIPAL,
    Policy,
)
from evelab.chapter.turn_claims import Traced
from evelab.chapter.values import PRINTED_KEYS
from evelab.chapter.workbench import Workbench
from evelab.errors import SessionFailedError
from evelab.file_memory import Document
from evelab.lab import figures, frames, html, views
from evelab.lab.colours import BORDERS, COLOURS, PALETTE, KeyColours, contrast, short
from tests.strategies import units

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "[a](javascript:alert(1))",
    "</td></tr></table><h1>x",
    '" onmouseover="alert(1)',
    "&lt;b&gt;",
    "a\u202eb\u2066c\u200f",
)


class Tags(HTMLParser):
    """The tags and the text of a piece of HTML."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_every_colour_can_be_read() -> None:
    for place in range(len(PALETTE)):
        look = KeyColours().look(str(place))
        assert contrast(look.background, look.text) >= 4.5
    colours = KeyColours()
    looks = [colours.look(str(place)) for place in range(len(PALETTE) * len(BORDERS))]
    assert len(set(looks)) == len(looks)
    assert min(contrast(look.background, look.text) for look in looks) >= 4.5


def test_a_key_keeps_its_colour() -> None:
    colours = KeyColours()
    first = colours.look("a")
    assert colours.look("b") != first
    assert colours.look("a") == first


def test_the_chapters_keys_have_six_colours() -> None:
    assert len({COLOURS.look(printed.key) for printed in PRINTED_KEYS}) == 6


def test_a_chip_carries_the_short_label() -> None:
    key = PRINTED_KEYS[1].key
    assert short(key) == key[10:16]
    assert Tags(html.chip(key)).text == short(key)


@given(units)
def test_any_text_is_harmless_in_html(text: str) -> None:
    found = Tags(f"<p>{html.escape(text)}</p>")
    assert found.tags == ["p"]
    plain = "".join(char for char in text if char.isalnum() and not 0xD800 <= ord(char) < 0xE000)
    assert plain in "".join(char for char in found.text if char.isalnum()) or "[U+" in found.text


@pytest.mark.parametrize("text", HOSTILE)
def test_memory_text_is_shown_as_text_in_every_table(text: str) -> None:
    bench = Workbench("acme", callers=[ZHANG_SAN, LI_SI])
    bench.say(ZHANG_SAN, f"remember {text}")
    turn = bench.say(ZHANG_SAN, "?")
    shown = [
        views.callers_view(bench.looks()).html,
        views.documents_view(bench.documents()).html,
        views.context_view([turn], "profile").html,
    ]
    for markup in shown:
        found = Tags(markup)
        assert not {"img", "script", "a", "h1", "b"} & set(found.tags)
        assert not any(name.startswith("on") for name in found.attributes)
        assert "\u202e" not in markup
        if "\u202e" not in text:
            assert text in found.text
        else:
            assert "a[U+202E]b[U+2066]c[U+200F]" in found.text


def test_a_table_shows_whole_keys_and_paths() -> None:
    table = frames.callers(Workbench(TENANT_PRINCIPAL.scope))
    printed = [row.key for row in PRINTED_KEYS if row.experiment == "B"]
    assert list(table.frame["memory.scope.key"][:3]) == printed
    assert list(table.frame["document"][:3]) == [f"eve/memory/file/{key}/MEMORY.md" for key in printed]
    shown = table._repr_mimebundle_()
    for key in printed:
        assert key in shown["text/plain"]
        assert key in Tags(shown["text/html"]).text
    assert "..." not in shown["text/plain"]


def test_a_key_breaks_in_one_place_only() -> None:
    key = PRINTED_KEYS[0].key
    markup = html.whole_key(key)
    assert markup.count("<wbr>") == 1
    assert Tags(markup).text == f"{short(key)} {key}"
    assert html.whole_key(None) == html.quiet("-")


def test_a_key_on_a_card_stands_below_its_chip() -> None:
    key = PRINTED_KEYS[0].key
    markup = html.stacked_key(key)
    assert markup.index(html.chip(key)) < markup.index("<div") < markup.index(key[:20])
    assert Tags(markup).text == f"{short(key)}{key}"


def test_an_arrow_leads_to_every_card_but_the_first() -> None:
    markup = html.cards([("caller", "a"), ("scope", "b"), ("key", "c")])
    assert Tags(markup).text == "callera\u2192scopeb\u2192keyc"
    assert markup.count('<div style="display: flex; gap: 6px') == 3


def needed(view: views.View) -> int:
    """The pixels below which the view's rows are lists."""
    (found,) = re.findall(r"@container \(max-width: (\d+)px\)", view.html)
    assert f'class="evelab-{int(found) + 1}"' in view.html
    return int(found) + 1


@pytest.mark.parametrize("policy", POLICIES, ids=[policy.name for policy in POLICIES])
def test_the_callers_table_is_a_table_in_jupyterlab_at_1280_pixels(policy: Policy) -> None:
    bench = Workbench(policy.scope)
    for caller in bench.callers:
        bench.say(caller, "remember I only watch payment-api")
    assert needed(views.callers_view(bench.looks())) < 813


def test_a_table_is_a_list_where_its_columns_do_not_fit() -> None:
    short_row, long_row = ({"step": "a", "value": text} for text in ("b", "word " * 20))
    assert needed(views.records_view([short_row])) < needed(views.records_view([short_row, long_row]))
    assert needed(views.records_view([long_row])) == needed(views.records_view([long_row | {"value": "word " * 90}]))
    markup = views.records_view([short_row]).html
    assert '<td data-column="value"' in markup
    assert "content: attr(data-column)" in markup


def test_a_key_among_any_values_breaks_as_keys_do() -> None:
    steps = key_steps("n", "s")
    for key in (steps.namespace_key, steps.scope_key, steps.key):
        cell = views.records_view([{"value": key}]).rows[0][0]
        assert cell == views.Cell(key, html.bare_key(key), html.KEY_BREAK)
    for other in (steps.key[:-1], f"{steps.key}!", f"the key {steps.key}"):
        assert "<wbr>" not in views.records_view([{"value": other}]).rows[0][0].html


def test_a_matrix_stays_a_table() -> None:
    bench = Workbench("acme", callers=[ZHANG_SAN, LI_SI])
    markup = views.sharing_view(bench.sharing(), bench.looks()).html
    assert "@container" not in markup
    assert "overflow-x: auto" in markup


def test_a_caller_whose_slot_is_off_says_why() -> None:
    row = frames.callers(Workbench(TENANT_PRINCIPAL.scope), [ANONYMOUS]).frame.iloc[0]
    assert list(row) == ["anonymous", "null", "-", "-", "off (scope is None)"]
    row = frames.callers(Workbench("acme", namespace=lambda ctx: None), [ANONYMOUS]).frame.iloc[0]
    assert row["recall"] == "off (namespace is None)"


def test_a_resolver_that_raises_is_one_row_with_its_error() -> None:
    def scope(ctx: object) -> str:
        raise RuntimeError("boom")

    row = frames.callers(Workbench(scope), [ZHANG_SAN]).frame.iloc[0]
    assert row["scope"] == "error: RuntimeError: boom"


def test_empty_tables_say_what_to_do() -> None:
    bench = Workbench("acme")
    assert "Nothing saved yet" in frames.documents(bench)._repr_mimebundle_()["text/plain"]
    assert "Nothing saved yet" in frames.documents(bench)._repr_mimebundle_()["text/html"]
    assert "has not spoken" in views.context_view([], "profile").html
    assert frames.records([]).frame.empty


def test_scopes_are_written_as_the_chapter_writes_them() -> None:
    assert views.scope_text("acme") == '"acme"'
    assert views.scope_text(("acme", "u_42")) == '["acme", "u_42"]'
    assert views.scope_text('["user","app",null,"u"]') == """'["user","app",null,"u"]'"""
    assert views.scope_text(None) == "null"


def test_the_context_marks_recalled_messages_and_what_is_new() -> None:
    bench = Workbench("acme", callers=[ZHANG_SAN])
    bench.say(ZHANG_SAN, "remember a")
    bench.say(ZHANG_SAN, "one")
    bench.say(ZHANG_SAN, "two")
    view = views.context_view(bench.turns(ZHANG_SAN), "profile")
    roles = [record["role"] for record in view.records]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user (recalled)", "user", "assistant", "user"]
    assert [record["since last turn"] for record in view.records] == [""] * 7 + ["new", "new"]
    assert "p888GL" in view.html


@pytest.mark.parametrize(
    ("policy", "leaks"),
    [(TENANT_PRINCIPAL, 0), (TENANT, 0), (BY_PRINCIPAL, 2), (PRINCIPAL_ID, 6), (FIXED, 70), (PUBLIC, 30)],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_the_matrix_finds_the_leaks_of_each_policy(policy: Policy, leaks: int) -> None:
    assert policy in POLICIES
    found = Workbench(policy.scope).sharing()
    assert len(found.leaks()) == leaks


def test_the_matrix_tells_own_shared_leak_and_off() -> None:
    sharing = Workbench(TENANT.scope, callers=[ZHANG_SAN, LI_SI, GLOBEX, ANONYMOUS]).sharing()
    words = [[sharing.word(reader, writer) for writer in range(4)] for reader in range(4)]
    assert words == [
        ["own", "shared", "", "off"],
        ["shared", "own", "", "off"],
        ["", "", "own", "off"],
        ["off", "off", "off", "off"],
    ]
    assert views.sharing_view(Workbench("acme", callers=[ZHANG_SAN, GLOBEX]).sharing()).html.count("LEAK") == 2


def test_nobody_vouches_for_a_caller_without_a_tenant() -> None:
    assert may_share(ZHANG_SAN, LI_SI)
    assert not may_share(ZHANG_SAN, GLOBEX)
    assert not may_share(PARTNER, ANONYMOUS)
    assert not may_share(Caller("a", user("a", "")), PARTNER)


def test_trying_who_recalls_whom_leaves_the_store_alone() -> None:
    bench = Workbench("acme")
    bench.sharing()
    bench.looks()
    assert bench.documents() == []


def test_the_figure_is_the_same_each_time_and_says_what_it_shows() -> None:
    bench = Workbench("acme", callers=[ZHANG_SAN, LI_SI, GLOBEX])
    first, second = (figures.sharing(bench) for _ in range(2))
    assert first._repr_mimebundle_() == second._repr_mimebundle_()
    assert first.svg.count(">LEAK</text>") == 4
    assert "globex u_42: own: globex u_42; LEAK: acme u_42, acme u_99" in first.text
    assert re.search(r"<text[^>]*>acme u_42</text>", first.svg)


def test_the_gauge_measures_what_the_limits_measure() -> None:
    document = Document(4, {0: "家" * 10, 4: "a" * 20})
    drawn = figures.gauge(document, slot="p", max_characters=300)
    assert drawn.text == (
        "recalled text, characters: 225 of 300\nlongest entry, bytes: 30 of 2,048\ndocument, bytes: 107 of 65,536"
    )
    assert "225 of 300" in drawn.svg
    assert figures.gauge(Document(-1, {})).text.split("\n")[1] == "longest entry, bytes: 0 of 2,048"


def test_labels_of_the_example_callers_can_be_drawn_without_a_chinese_font() -> None:
    assert all(caller.label.isascii() for caller in CALLERS)
    assert len({caller.label for caller in CALLERS}) == len(CALLERS)


def test_the_key_figure_holds_every_step() -> None:
    steps = key_steps("acme-support-v1", ("acme", "u_42"))
    drawn = figures.key(steps)
    assert steps.key in drawn.text
    assert f">{steps.key}</text>" in drawn.svg
    assert "namespace-v1[00][00][00][00][0f]acme-support-v1" in drawn.text
    assert drawn.svg == figures.key(steps).svg
    assert "more characters" in figures.key(key_steps("n" * 300, "s")).svg


def test_the_timeline_has_a_lane_for_each_and_marks_what_failed() -> None:
    traced = Traced(fails="recall workspace")
    with pytest.raises(SessionFailedError):
        traced.session.send("?")
    drawn = figures.timeline(traced.moments[:4], failed="recall workspace")
    assert drawn.text.split("\n") == [
        "1. lock profile",
        "2. lock workspace",
        "3. recall profile",
        "4. recall workspace FAILS",
    ]
    assert drawn.svg.count("FAILS") == 1


def test_the_knowledge_figure_says_who_sees_what() -> None:
    drawn = figures.knowledge(
        {"acme u_42": {"profile": True, "incident": False}, "nobody": {"profile": False, "incident": False}}
    )
    assert drawn.text.split("\n") == ["acme u_42 sees: profile", "nobody sees: nothing"]
    assert drawn.svg.count(">sees it<") == 1


def test_a_figure_in_a_notebook_is_an_image_that_shrinks_and_says_what_it_shows() -> None:
    drawn = figures.knowledge({"a": {'"><script>': True}})
    shown = drawn._repr_mimebundle_()
    assert shown["text/plain"] == drawn.text
    (image,) = re.findall(r"<img [^>]*>", shown["text/html"])
    assert shown["text/html"] == f'<div style="overflow-x: auto">{image}</div>'
    found = Tags(image)
    assert found.tags == ["img"]
    assert set(found.attributes) == {"alt", "style", "src"}
    assert html.escape(drawn.text) in image
    assert "max-width: 100%" in image
    (source,) = re.findall(r'src="data:image/svg\+xml,([^"]*)"', image)
    assert unquote(source) == drawn.svg


def test_every_text_of_a_figure_names_a_font_that_every_machine_has() -> None:
    drawn = figures.key(key_steps("acme-support-v1", ("acme", "u_42"))).svg
    fonts = re.findall(r"'DejaVu Sans[^;\"]*", drawn)
    assert set(fonts) == {"'DejaVu Sans', Verdana, sans-serif", "'DejaVu Sans Mono', Menlo, Consolas, monospace"}
