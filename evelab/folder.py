"""An agent from a folder, found by file names as eve finds one.

::

    agent/
      instructions.md      the system message
      memory.py            one slot, "memory"; or
      memory/profile.py    named slots            memory = define_memory(...)
      tools/search.py      tools by name          tool = define_tool(...)
      tools/profile.py     a slot's name: takes the place of its tools, for example tool = disable_tool()
      hooks/reset.py       hooks                  hook = define_hook(...)

A file defines ``memory``, ``tool`` or ``hook``, or a function of that name that returns it. Files are run as
Python code: load only a folder that you trust. Source of the rules: eve 0.80.1, ``discover``.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from evelab.agent import Agent
from evelab.discovery import discover_slots, list_folder, module_names, path_order
from evelab.errors import DefinitionError, FolderError
from evelab.hooks import Hook
from evelab.model import RuleModel
from evelab.provider import MemoryDefinition
from evelab.scope import ROOT_NODE
from evelab.tools import DisabledTool, Tool

if TYPE_CHECKING:
    from evelab.model import Model

T = TypeVar("T")


def load_agent(folder: str | Path, *, model: Model | None = None, node: str = ROOT_NODE) -> Agent:
    """The agent of a folder. The folder's parent is its application root.

    Args:
        folder: the agent's folder, usually called ``agent``.
        model: answers the turns; four plain rules when None.
        node: the agent's node, for the default namespace.

    Raises:
        FolderError: the memory slots cannot be told apart, or a name is wrong. It lists everything found.
        DefinitionError: a file does not define what its place asks for.
    """
    root = Path(folder).resolve()
    found = discover_slots(list_folder(root), root=root.name)
    if found.diagnostics:
        raise FolderError(found.diagnostics)
    memory = {slot.name: _definition(root / slot.path, "memory", MemoryDefinition) for slot in found.slots}
    tools = {
        path.stem: _definition(path, "tool", Tool | DisabledTool)  # type: ignore[arg-type]
        for path in _modules(root / "tools")
    }
    hooks = [_definition(path, "hook", Hook) for path in _modules(root / "hooks")]
    instructions = root / "instructions.md"
    agent = Agent(
        memory,
        model=RuleModel() if model is None else model,
        app_root=str(root.parent),
        node=node,
        tools=tools,
        hooks=hooks,
    )
    if not instructions.is_file():
        return agent
    return replace(agent, instructions=instructions.read_text(encoding="utf-8"))


def _modules(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    names = [entry.name for entry in folder.iterdir() if entry.is_file()]
    return [folder / f"{name}.py" for name in sorted(module_names(names), key=path_order)]


def _definition(path: Path, name: str, kind: type[T]) -> T:
    """What a file defines under a name, or what its function of that name returns."""
    made = getattr(_run(path), name, None)
    if callable(made) and not isinstance(made, kind):
        made = made()
    if not isinstance(made, kind):
        raise DefinitionError(
            f'"{path.parent.name}/{path.name}" must define {name} = {_MAKERS[name]}.', place=f"{path.name}:{name}"
        )
    return made


_MAKERS = {"memory": "define_memory(...)", "tool": "define_tool(...) or disable_tool()", "hook": "define_hook(...)"}


def _run(path: Path) -> Any:
    """Run a file as a module of its own: two agents may have files of the same name."""
    spec = importlib.util.spec_from_file_location(f"evelab_agent_{abs(hash(path))}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise DefinitionError(f'"{path.name}" cannot be loaded.', place=path.name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    return module
