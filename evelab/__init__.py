"""evelab: how an AI agent remembers, as eve does it.

The public names. ``evelab.lab`` shows them in notebooks, ``evelab.chapter`` checks the chapter's claims.
A name's module is imported when the name is first used: ``import evelab`` alone costs next to nothing.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evelab.agent import Agent
    from evelab.auth import Auth, Principal
    from evelab.backends import default_backend, document_path, in_memory
    from evelab.checkpoint import Checkpoint
    from evelab.directory import directory
    from evelab.file_memory import file_memory
    from evelab.folder import load_agent
    from evelab.hooks import define_hook
    from evelab.keys import create_lock, item_key, memory_key
    from evelab.message import Message
    from evelab.model import Call, Reply, RuleModel, ScriptedModel, call
    from evelab.notes import notes, open_notes
    from evelab.object_store import object_store
    from evelab.provider import define_memory, define_memory_provider
    from evelab.scope import ScopeContext, by_principal, default_namespace
    from evelab.session import Session
    from evelab.state import define_state
    from evelab.subagents import agent_tool
    from evelab.summary import CompactionPolicy
    from evelab.testing import check_provider
    from evelab.tools import define_tool, disable_tool
    from evelab.turn import Compaction, Turn

__all__ = [
    "Agent",
    "Auth",
    "Call",
    "Checkpoint",
    "Compaction",
    "CompactionPolicy",
    "Message",
    "Principal",
    "Reply",
    "RuleModel",
    "ScopeContext",
    "ScriptedModel",
    "Session",
    "Turn",
    "agent_tool",
    "by_principal",
    "call",
    "check_provider",
    "create_lock",
    "default_backend",
    "default_namespace",
    "define_hook",
    "define_memory",
    "define_memory_provider",
    "define_state",
    "define_tool",
    "directory",
    "disable_tool",
    "document_path",
    "file_memory",
    "in_memory",
    "item_key",
    "load_agent",
    "memory_key",
    "notes",
    "object_store",
    "open_notes",
]
__version__ = "0.1.0"

_NAMES = {
    "evelab.agent": ("Agent",),
    "evelab.auth": ("Auth", "Principal"),
    "evelab.backends": ("default_backend", "document_path", "in_memory"),
    "evelab.checkpoint": ("Checkpoint",),
    "evelab.directory": ("directory",),
    "evelab.file_memory": ("file_memory",),
    "evelab.folder": ("load_agent",),
    "evelab.hooks": ("define_hook",),
    "evelab.keys": ("create_lock", "item_key", "memory_key"),
    "evelab.message": ("Message",),
    "evelab.model": ("Call", "Reply", "RuleModel", "ScriptedModel", "call"),
    "evelab.notes": ("notes", "open_notes"),
    "evelab.object_store": ("object_store",),
    "evelab.provider": ("define_memory", "define_memory_provider"),
    "evelab.scope": ("ScopeContext", "by_principal", "default_namespace"),
    "evelab.session": ("Session",),
    "evelab.state": ("define_state",),
    "evelab.subagents": ("agent_tool",),
    "evelab.summary": ("CompactionPolicy",),
    "evelab.testing": ("check_provider",),
    "evelab.tools": ("define_tool", "disable_tool"),
    "evelab.turn": ("Compaction", "Turn"),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}


class _Package(ModuleType):
    """Keeps the name of a public function from the module that it comes from, such as ``file_memory``.

    The import system binds each imported module to its name in the package; here the public name stays.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in _HOMES):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package

if not TYPE_CHECKING:  # a type checker would take it to mean that every name exists

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
