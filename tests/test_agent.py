"""An agent: its names and definitions, and the folder that it may come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evelab import Agent, ScriptedModel, Session, define_hook, define_tool, disable_tool, load_agent
from evelab.composition import Candidate, compose, wrapper
from evelab.discovery import discover_slots, path_order
from evelab.errors import DefinitionError, FolderError
from evelab.model import call
from evelab.provider import memory_of, provider_of
from tests.providers import Script, slot, texts

if TYPE_CHECKING:
    from pathlib import Path

TOOL = define_tool(description="d", execute=lambda: "own")
MEMORY = """
from evelab import define_memory, file_memory, in_memory

memory = define_memory(provider=file_memory(backend=in_memory()), scope="acme", namespace="n")
"""


@pytest.mark.parametrize("name", ["", "1a", "_a", "a b", "a.b", "é", "a" * 65])
def test_a_slot_name_that_eve_refuses_is_refused(name: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        Agent({name: slot()})
    assert refused.value.place == f"memory[{name!r}]"


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"memory": {"profile": {}}}, "memory['profile']"),
        ({"tools": {"t": dict}}, "tools['t']"),
        ({"tools": {"t t": TOOL}}, "tools['t t']"),
        ({"hooks": [dict]}, "hooks"),
        ({"tools": {"nothing": disable_tool()}}, "tools/nothing"),
    ],
)
def test_a_wrong_definition_is_refused_and_says_where(fields: dict[str, Any], place: str) -> None:
    with pytest.raises(DefinitionError) as refused:
        Agent(**fields)
    assert refused.value.place == place


def test_a_tool_of_a_slots_name_takes_the_place_of_its_tools_and_recall_goes_on() -> None:
    memory = slot(Script(texts("recalled")), tools=Script({"t": TOOL}))
    agent = Agent({"profile": memory}, model=ScriptedModel([call("profile"), "ok"]), tools={"profile": TOOL})
    turn = Session(agent).send("q")
    assert list(turn.tools) == ["profile"]
    assert turn.results[0].value == "own"
    assert [message.text for message in turn.committed] == ["recalled"]


def test_a_disabled_slot_tool_leaves_none() -> None:
    agent = Agent({"profile": slot(tools=Script({"t": TOOL}))}, tools={"profile": disable_tool()})
    assert Session(agent).send("q").tools == {}


def test_a_built_in_tool_may_be_disabled() -> None:
    assert Agent(tools={"bash": disable_tool()}).own_tools() == {}


def test_a_name_goes_to_the_application_then_to_the_slot_then_to_the_framework() -> None:
    memory = Candidate("memory/bash", "memory/bash.py")
    own, built_in = Candidate("tools/bash", "tools/bash.py"), Candidate("tools/bash", "eve:tools/bash")
    everyone = compose([[own], [wrapper(memory, ".py")], [built_in]])
    assert everyone.selected == {"tools/bash": "tools/bash.py"}
    assert [note.kind for note in everyone.notes] == ["shadowed", "shadowed"]
    assert compose([[], [wrapper(memory, ".py")], [built_in]]).selected["tools/bash"].startswith("eve:memory-wrapper")


def test_recall_order_and_tool_order_differ() -> None:
    agent = Agent({name: slot() for name in ("b", "a", "a_b", "a-b", "A")})
    assert [name for name, _ in agent.slots()] == ["a_b", "a-b", "a", "A", "b"]
    assert agent.tool_slots() == ["a", "A", "a_b", "a-b", "b"]


@given(st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=6)))
def test_paths_have_one_order(paths: list[str]) -> None:
    once = sorted(set(paths), key=path_order)
    assert sorted(paths, key=path_order) == [path for path in once for _ in range(paths.count(path))]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"scope": "a", "slot": "x"}, "slot"),
        ({}, "scope"),
        ({"scope": "a", "description": None}, "description"),
        ({"scope": "a", "visibility": None}, "visibility"),
        ({"scope": "a", "namespace": 1}, "namespace"),
        ({"scope": ("a", "b")}, "scope"),
        ({"scope": "a", "provider": {"recall": {"turn.started": dict}, "search": dict}}, "search"),
        ({"scope": "a", "provider": {}}, "recall"),
        ({"scope": "a", "provider": {"recall": {}}}, 'recall["turn.started"]'),
        ({"scope": "a", "provider": {"recall": {"turn.started": dict}, "capture": None}}, "capture"),
        ({"scope": "a", "provider": {"recall": {"turn.started": dict}, "tools": None}}, "tools"),
        ({"scope": "a", "provider": {"recall": {"turn.started": dict, "turn.completed": dict}}}, "recall"),
        ({"scope": "a", "provider": {"recall": {"turn.started": dict, "compaction.completed": None}}},
         'recall["compaction.completed"]'),
        ({"scope": "a", "provider": 1}, "provider"),
    ],
)  # fmt: skip
def test_a_definition_given_as_data_is_checked_field_by_field(fields: dict[str, Any], place: str) -> None:
    whole = {"provider": {"recall": {"turn.started": dict}}, **fields}
    with pytest.raises(DefinitionError) as refused:
        memory_of(whole)
    assert refused.value.place == place


def test_an_unknown_field_is_found_before_anything_else() -> None:
    with pytest.raises(DefinitionError) as refused:
        memory_of({"scope": 1, "provider": 1, "zzz": 1})
    assert refused.value.place == "zzz"


def test_a_provider_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(DefinitionError):
        provider_of([])


def test_a_hook_of_an_unknown_event_is_refused() -> None:
    with pytest.raises(DefinitionError):
        define_hook(events={"turn.strated": print})
    with pytest.raises(DefinitionError):
        define_hook(events={"turn.started": "print"})  # type: ignore[dict-item]


# discovery


def codes(entries: dict[str, Any]) -> list[str]:
    return [one.code for one in discover_slots(entries).diagnostics]


def test_one_file_is_the_slot_memory() -> None:
    found = discover_slots({"memory.py": None, "agent.py": None})
    assert [(source.name, source.path) for source in found.slots] == [("memory", "memory.py")]


def test_a_folder_holds_named_slots_and_nothing_else_counts() -> None:
    found = discover_slots({"memory": ["b.py", "a.py", "notes.md", "a.test.py", "__init__.py", "c.spec.py"]})
    assert [source.path for source in found.slots] == ["memory/a.py", "memory/b.py"]
    assert found.diagnostics == ()


def test_both_forms_are_an_error_and_no_slot() -> None:
    found = discover_slots({"memory.py": None, "memory": []})
    assert found.slots == ()
    assert [one.code for one in found.diagnostics] == ["discover/memory-slot-ambiguous"]


def test_wrong_names_are_errors_and_the_other_slots_survive() -> None:
    found = discover_slots({"memory": ["1a.py", "ok.py", "a.b.py"]})
    assert [source.name for source in found.slots] == ["ok"]
    assert [one.code for one in found.diagnostics] == ["discover/memory-name-invalid"] * 2


def test_a_file_called_memory_is_an_error() -> None:
    assert codes({"memory": None}) == ["discover/memory-directory-invalid"]


def test_two_files_of_one_name_are_an_error() -> None:
    found = discover_slots({"memory": ["a.ts", "a.js", "b.ts"]}, extensions=(".ts", ".js"))
    assert [source.name for source in found.slots] == ["b"]
    assert [one.code for one in found.diagnostics] == ["discover/module-slot-collision"]


# a folder


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / "agent" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "agent"


def test_an_agent_is_loaded_from_its_folder(tmp_path: Path) -> None:
    folder = write(
        tmp_path,
        {
            "instructions.md": "You are opsbot.",
            "memory/profile.py": MEMORY,
            "memory/workspace.py": MEMORY.replace("memory = define", "def memory():\n    return define"),
            "tools/workspace.py": "from evelab import disable_tool\ntool = disable_tool()\n",
            "tools/ping.py": "from evelab import define_tool\n"
            "tool = define_tool(description='Ping.', execute=lambda: 'pong')\n",
            "hooks/first.py": "from evelab import define_hook\nhook = define_hook(events={'*': lambda *_: None})\n",
        },
    )
    agent = load_agent(folder, model=ScriptedModel([call("ping"), "ok"]))
    assert sorted(agent.memory) == ["profile", "workspace"]
    assert (agent.instructions, agent.app_root) == ("You are opsbot.", str(tmp_path))
    assert len(agent.hooks) == 1
    turn = Session(agent).send("q")
    assert list(turn.tools) == ["ping", "profile__remove_memory", "profile__save_memory"]
    assert turn.results[0].value == "pong"


def test_a_folder_may_hold_nothing(tmp_path: Path) -> None:
    assert load_agent(write(tmp_path, {"instructions.md": "hi"})).memory == {}


def test_a_folder_with_both_forms_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, {"memory.py": MEMORY, "memory/profile.py": MEMORY})
    with pytest.raises(FolderError) as refused:
        load_agent(folder)
    assert [one.code for one in refused.value.diagnostics] == ["discover/memory-slot-ambiguous"]


@pytest.mark.parametrize("text", ["", "memory = 1", "memory = lambda: None"])
def test_a_file_that_defines_no_memory_is_refused_and_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(DefinitionError, match=r"memory\.py"):
        load_agent(write(tmp_path, {"memory.py": text}))
