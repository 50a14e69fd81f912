"""evelab: how an AI agent remembers, as eve does it.

The public names. ``evelab.lab`` shows them in notebooks, ``evelab.chapter`` checks the chapter's claims.
"""

from evelab.agent import Agent
from evelab.auth import Auth, Principal
from evelab.backends import default_backend, document_path, in_memory
from evelab.checkpoint import Checkpoint
from evelab.file_memory import file_memory
from evelab.folder import load_agent
from evelab.hooks import define_hook
from evelab.keys import create_lock, item_key, memory_key
from evelab.message import Message
from evelab.model import Call, Reply, RuleModel, ScriptedModel, call
from evelab.notes import notes, open_notes
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
    "disable_tool",
    "document_path",
    "file_memory",
    "in_memory",
    "item_key",
    "load_agent",
    "memory_key",
    "notes",
    "open_notes",
]
__version__ = "0.1.0"
