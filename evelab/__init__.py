"""evelab: how an AI agent remembers, as eve does it.

The public names. ``evelab.lab`` shows them in notebooks, ``evelab.chapter`` checks the chapter's claims.
"""

from evelab.agent import Agent
from evelab.auth import Auth, Principal
from evelab.backends import default_backend, document_path, in_memory
from evelab.file_memory import file_memory
from evelab.keys import create_lock, item_key, memory_key
from evelab.message import Message
from evelab.model import Call, Reply, RuleModel, ScriptedModel, call
from evelab.provider import define_memory, define_memory_provider
from evelab.scope import ScopeContext, by_principal, default_namespace
from evelab.session import Session, Turn
from evelab.tools import define_tool

__all__ = [
    "Agent",
    "Auth",
    "Call",
    "Message",
    "Principal",
    "Reply",
    "RuleModel",
    "ScopeContext",
    "ScriptedModel",
    "Session",
    "Turn",
    "by_principal",
    "call",
    "create_lock",
    "default_backend",
    "default_namespace",
    "define_memory",
    "define_memory_provider",
    "define_tool",
    "document_path",
    "file_memory",
    "in_memory",
    "item_key",
    "memory_key",
]
__version__ = "0.1.0"
