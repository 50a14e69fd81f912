"""The caller panel: its model by plain calls, and the widgets by setting their values."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import pytest

from evelab import by_principal
from evelab.chapter.callers import CALLERS
from evelab.chapter.values import PRINTED_KEYS
from evelab.lab import html
from evelab.lab.caller_model import VIEWS, CallerModel
from evelab.lab.panels import ApprovalPanel, CallerPanel, ChoicePanel, KeyPanel, Prediction, score

KEYS = {(row.policy, row.caller, row.namespace): row.key for row in PRINTED_KEYS}
A = KEYS["fixed string", "acme u_42", "acme-support-v1"]
B = KEYS["[tenant, principal]", "acme u_42", "acme-support-v1"]


def change(model: CallerModel, **values: str) -> bool:
    return model.apply(replace(model.settings, **values))


def keys(model: CallerModel) -> dict[str, str | None]:
    return {look.caller.label: look.key for look in model.looks}


def test_it_opens_on_the_chapters_callers_and_a_policy_that_does_not_leak() -> None:
    model = CallerModel()
    assert [caller.label for caller in model.callers] == [caller.label for caller in CALLERS]
    assert keys(model)["acme u_42"] == B
    assert model.bench.sharing().leaks() == []


def test_what_one_caller_saves_the_others_recall_as_the_policy_says() -> None:
    model = CallerModel()
    change(model, policy="fixed string")
    model.say("remember I watch payment-api")
    assert {look.recall is not None for look in model.looks} == {True}
    change(model, policy="[tenant, principal]")
    assert {look.recall for look in model.looks} == {None}
    assert list(model.backend.documents()) == [A]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"namespace": ""}, "The memory namespace must not be blank."),
        ({"namespace": "n" * 1025}, "1,025 UTF-8 bytes long; the limit is 1,024"),
        ({"policy": "fixed string", "fixed": " "}, "The memory scope must not be blank."),
        ({"policy": "fixed string", "fixed": "x" * 1025}, "The memory scope is 1,025 UTF-8 bytes long"),
    ],
)
def test_a_setting_that_cannot_be_keeps_the_last_good_tables(values: dict[str, str], sentence: str) -> None:
    model = CallerModel()
    before = (model.settings, model.looks, model.view("All callers").records)
    assert not change(model, **values)
    assert sentence in (model.error or "")
    assert 'role="alert"' in model.status()
    assert (model.settings, model.looks, model.view("All callers").records) == before
    assert change(model, namespace="other")
    assert model.error is None


def test_a_changed_namespace_starts_new_sessions_and_keeps_the_store() -> None:
    model = CallerModel()
    model.say("remember a")
    change(model, namespace="acme-support-v2")
    assert model.view("What the model sees").rows == ()
    assert model.view("All callers").records[0]["recall"] == "null"
    change(model, namespace="acme-support-v1")
    assert model.view("All callers").records[0]["recall"] == "0: a"


def test_a_new_session_forgets_the_conversation_and_recalls_the_memory() -> None:
    model = CallerModel()
    model.say("remember a")
    model.say("hello")
    assert len(model.view("What the model sees").rows) == 7
    model.new_session()
    assert model.view("What the model sees").rows == ()
    model.say("hello")
    assert model.reply == "I see these memories in my context: profile 0: a"


def test_a_blank_text_says_so() -> None:
    model = CallerModel()
    assert model.say(" \u3000") is None
    assert model.error == "There is nothing to say: the text is blank."


def test_a_caller_of_ones_own_joins_every_table() -> None:
    model = CallerModel()
    assert model.add_caller("initech u_1", "user", "app", "u_1", issuer="", tenant="initech") is not None
    assert change(model, caller="initech u_1")
    assert model.view("All callers").records[-1]["scope"] == '["initech", "u_1"]'
    assert "initech u_1" in model.view("Who recalls whom").columns
    change(model, policy="by_principal")
    assert model.view("All callers").records[-1]["scope"] == """'["user","app",null,"u_1"]'"""


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"label": " "}, "label is blank"),
        ({"authenticator": ""}, "authenticator is blank"),
        ({"principal_id": ""}, "principal id is blank"),
        ({"label": "acme u_42"}, "already a caller"),
        ({"tenant": "x" * 1025}, "Component 0 of the memory scope is 1,025 UTF-8 bytes long"),
    ],
)
def test_a_caller_that_cannot_be_is_not_added(values: dict[str, str], sentence: str) -> None:
    model = CallerModel()
    given: dict[str, Any] = {
        "label": "x",
        "principal_type": "user",
        "authenticator": "app",
        "principal_id": "u",
        **values,
    }
    assert model.add_caller(**given) is None
    assert sentence in (model.error or "")
    assert len(model.callers) == len(model.looks) == len(CALLERS)


def test_the_cards_follow_the_caller() -> None:
    model = CallerModel()
    assert B in model.cards().replace("</span><wbr>", "").replace("<span", "\n<span") or B[:28] in model.cards()
    change(model, caller="anonymous")
    assert "off (scope is None)" in model.cards()
    model.say("remember a")
    assert model.reply == "This turn has no save_memory tool. Nothing was changed."


def stored(panel: CallerPanel) -> list[str]:
    return [line for text in panel.model.backend.documents().values() for line in text.split("\n")[1:] if line]


def shown(panel: CallerPanel) -> str:
    return str(panel.table.value)


def test_every_control_of_the_panel_redraws_it() -> None:
    panel = CallerPanel()
    panel.text.value = "remember I watch payment-api"
    panel.send.click()
    assert panel.text.value == ""
    assert "I watch payment-api" in shown(panel)
    panel.views.value = "Storage"
    assert "lastAllocatedIndex=0" in shown(panel)
    panel.views.value = "Who recalls whom"
    assert "LEAK" not in shown(panel)
    panel.policy.value = "fixed string"
    assert "LEAK" in shown(panel)
    assert not panel.fixed.disabled
    panel.views.value = "All callers"
    assert A[:28] in shown(panel)
    panel.fixed.value = ""
    assert "must not be blank" in panel.status.value
    assert A[:28] in shown(panel)
    panel.fixed.value = "acme-2"
    assert "alert" not in panel.status.value
    assert A[:28] not in shown(panel)
    panel.views.value = "What the model sees"
    assert "has not spoken" in shown(panel)
    panel.caller.value = "globex u_42"
    assert "globex u_42" in panel.cards.value


def test_enter_in_the_text_field_sends() -> None:
    panel = CallerPanel()
    panel.text.value = "remember a"
    assert not panel.model.backend.documents()
    panel.text._handle_custom_msg({"event": "submit"}, [])
    panel.text.value = "remember a, and b"
    assert stored(panel) == ["0: a, and b"]
    assert panel.text.value == ""
    panel.text.value = "remember c"
    assert stored(panel) == ["0: a, and b"]
    panel.fresh.click()
    assert panel.model.reply is None


def test_a_caller_is_added_through_the_fields() -> None:
    panel = CallerPanel()
    panel.add.click()
    assert "label is blank" in panel.status.value
    panel.own_label.value, panel.own_id.value, panel.own_tenant.value = "initech u_1", "u_1", "initech"
    panel.add.click()
    assert panel.caller.value == "initech u_1"
    assert "initech" in panel.cards.value


def test_every_control_has_a_label() -> None:
    panel = CallerPanel()
    controls = [
        panel.caller,
        panel.policy,
        panel.fixed,
        panel.namespace,
        panel.text,
        panel.send,
        panel.fresh,
        panel.views,
    ]
    controls += [
        panel.own_label,
        panel.own_type,
        panel.own_authenticator,
        panel.own_issuer,
        panel.own_id,
        panel.own_tenant,
    ]
    assert all(control.description for control in [*controls, panel.add])


def test_a_readers_own_scope_comes_first() -> None:
    panel = CallerPanel(by_principal)
    assert panel.policy.value == "your scope"
    assert panel.model.looks[0].key == KEYS["by_principal", "acme u_42", "acme-support-v1"]


def test_the_stored_output_holds_every_table_whole() -> None:
    panel = CallerPanel("acme")
    panel.model.say("remember a")
    bundle = panel._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    for name in VIEWS:
        assert name in bundle["text/plain"]
    assert bundle["text/plain"].count(A) >= 2 * len(CALLERS)
    assert "text/html" in bundle


def test_a_prediction_is_told_only_when_it_has_happened() -> None:
    predicted = Prediction("What?", ["this", "that"])
    assert predicted.chosen is None
    assert "No prediction was made." in predicted.reveal("this", "Because.").value
    predicted.choose("that")
    assert "You chose: that." in predicted.reveal("this", "Because.").value
    predicted.choose("this")
    told = predicted.reveal("this", "Because.")._repr_mimebundle_()
    assert told["text/plain"] == "Right.\nWhat happened: this.\nBecause."
    with pytest.raises(ValueError, match="not one of the options"):
        predicted.reveal("other", "")


def test_a_deletion_waits_until_a_person_decides() -> None:
    panel = ApprovalPanel()
    assert "The turn is held: profile__forget" in panel.shown.value
    assert list(panel.model.notes) == ["n1", "n2"]
    assert "n1" in panel._repr_mimebundle_()["text/plain"]
    panel.approve.click()
    assert list(panel.model.notes) == ["n2"]
    assert "The call was approved." in panel.shown.value
    assert panel.approve.disabled
    panel.model.decide(approve=False)
    assert panel.model.decision == "approved"
    panel.again.click()
    assert list(panel.model.notes) == ["n1", "n2"]
    assert not panel.approve.disabled
    panel.refuse.click()
    assert list(panel.model.notes) == ["n1", "n2"]
    assert "The call was refused." in panel.shown.value


def test_the_panel_warns_about_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CallerPanel()


def test_the_four_questions_are_asked_in_order_and_the_first_that_settles_decides() -> None:
    panel = ChoicePanel()
    assert [question.disabled for question in panel.questions] == [False, True, True, True]
    panel.questions[0].value = True
    panel.questions[1].value = True
    assert [question.disabled for question in panel.questions] == [False, False, False, True]
    panel.questions[2].value = False
    panel.questions[3].value = True
    assert "Use: connection." in panel.shown.value
    panel.questions[1].value = False
    assert "Use: define_state." in panel.shown.value
    assert [question.disabled for question in panel.questions] == [False, False, True, True]
    panel.again.click()
    assert "Question 1 is open" in panel.shown.value
    assert "Question 1 is open" in panel._repr_mimebundle_()["text/plain"]


def test_a_changed_letter_changes_the_key_and_a_broken_rule_leaves_it() -> None:
    panel = KeyPanel()
    assert panel.shown.value.count(html.bare_key(B)) == 2
    assert panel.model.steps.key == B
    panel.namespace.value = "acme-support-v2"
    changed = panel.model.steps.key
    assert changed == KEYS["[tenant, principal]", "acme u_42", "acme-support-v2"]
    assert "characters after the prefix have changed" in panel.shown.value
    panel.scope.value = "acme,"
    assert panel.model.steps.key == changed
    assert "must not be blank" in panel.shown.value
    panel.scope.value = "acme, u_42"
    assert "acme[00][00][00][05][20]u_42" in panel.shown.value
    panel.form.value = "one string"
    assert "scope-scalar-v1" in panel.shown.value
    assert panel.model.steps.key in panel._repr_mimebundle_()["text/plain"]


def test_text_in_the_key_panel_shows_as_text() -> None:
    panel = KeyPanel()
    panel.scope.value = "<img src=x onerror=alert(1)>"
    assert "<img" not in panel.shown.value
    assert "&lt;img[20]src=x" in panel.shown.value


def test_the_score_counts_what_was_chosen_before_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    from evelab.lab.panels import predict

    monkeypatch.setattr(predict, "_ASKED", {})
    assert "No prediction was made" in score().value
    right, wrong, late = (Prediction(f"Question {name}?", ["yes", "no"]) for name in ("one", "two", "three"))
    right.choose("yes")
    wrong.choose("no")
    for asked in (right, wrong, late):
        asked.reveal("yes", "Because.")
    late.choose("yes")
    wrong.choose("yes")
    shown = score()
    assert "You predicted 2 of 3; 1 right." in shown.value
    assert "Have another look at: Question two?" in shown.value
    again = Prediction("Question two?", ["yes", "no"])
    again.choose("yes")
    again.reveal("yes", "Because.")
    assert "You predicted 2 of 3; 2 right." in score().value


def test_long_labels_of_a_panel_wrap() -> None:
    for panel in (CallerPanel(), ChoicePanel(), Prediction("Who?", ["a", "b"])):
        assert "evelab" in panel._dom_classes
        sheets = [child for child in panel.children if getattr(child, "value", None) == html.WRAPPING]
        assert [sheet.layout.display for sheet in sheets] == ["none"]
