"""Replies about whole sessions: scripted providers and a scripted model in evelab's own session."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any

from evelab.agent import Agent
from evelab.backends import InMemory, in_memory
from evelab.errors import EvelabError, SessionFailedError
from evelab.eve.replay.documents import environment
from evelab.eve.replay.plain import principal
from evelab.eve.replay.records import memory_json
from evelab.eve.replay.tags import UNDEFINED, ScriptedError, Unsupported, decode, defined, error_json
from evelab.file_memory import file_memory
from evelab.message import attribution_json
from evelab.model import Call, Reply
from evelab.provider import MemoryDefinition, MemoryProvider, define_memory, define_memory_provider
from evelab.scope import ScopeContext, by_principal
from evelab.session import Session
from evelab.state import define_state
from evelab.summary import CompactionPolicy
from evelab.toolbox import error_name
from evelab.tools import Tool, define_tool, disable_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from evelab.message import Message
    from evelab.turn import LogRecord

BACKENDS: dict[str, InMemory] = {}
LOGGED = {"memory", "dynamic-tools", "harness.tool-loop", "harness.step"}
REQUEST_ID = re.compile("aitxt-[A-Za-z0-9]+")
SHOWN, ENDS = 60, 2
OMITTED = "$omitted"


def session(request: dict[str, Any]) -> Any:
    with environment(request.get("env") or {}):
        return _Run(request).replies()


class _Run:
    """One request: its agent, its session, and what the handlers and the model have seen."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        self.trace: list[dict[str, Any]] = []
        self.script: list[dict[str, Any]] = []
        self.model_calls = 0
        self.id = "mock/m1"
        memory = {slot["slot"]: self.memory(slot) for slot in request["slots"]}
        policy = request.get("compaction", {})
        agent = Agent(
            memory,
            model=self,
            instructions="sys",
            app_root=request.get("appRoot", "/app"),
            node=request.get("nodeId", "__root__"),
            tools={slot["slot"]: disable_tool() for slot in request["slots"] if slot.get("override")},
            compaction=CompactionPolicy(policy.get("threshold", 100_000), policy.get("recentWindowSize", 10)),
        )
        env = request.get("env") or {}
        self.session = Session(
            agent, principal(decode(request.get("auth"))), id=request.get("sessionId", "sess"), environ=env, attempts=1
        )

    def replies(self) -> list[Any]:
        return [self.step(step) for step in self.request["steps"]]

    # the model

    def respond(self, prompt: Sequence[Message], tools: Mapping[str, Tool]) -> Reply:
        self.model_calls += 1
        shown = [m if isinstance(m, dict) else [m.role, masked(m.text)] for m in squeeze(prompt)]
        described = self.request.get("describeTools")
        offered: list[Any] = [[name, tool.description] if described else name for name, tool in tools.items()]
        self.trace.append({"model": self.model_calls, "prompt": shown, "tools": offered})
        said: dict[str, Any] = self.script.pop(0) if self.script else {"text": "ok"}
        if said.get("throw"):
            raise ScriptedError(said["throw"])
        calls = said.get("tools") or ([said["tool"]] if "tool" in said else [])
        return Reply(
            said.get("text"),
            tuple(Call(name, defined(decode(value))) for name, value in calls),
            input_tokens=said.get("inputTokens", 10),
        )

    # the slots

    def memory(self, slot: dict[str, Any]) -> MemoryDefinition:
        optional: dict[str, Any] = {}
        if "description" in slot:
            optional["description"] = slot["description"]
        if "visibility" in slot:
            optional["visibility"] = slot["visibility"]
        if "namespace" in slot:
            optional["namespace"] = self.namespace(slot["namespace"])
        return define_memory(provider=self.provider(slot), scope=self.scope(slot["scope"]), **optional)

    def namespace(self, rule: Any) -> Any:
        if rule is None or isinstance(rule, str):
            return rule
        if rule["kind"] == "context":
            return lambda ctx: json.dumps(
                {"appRoot": ctx.app_root, "node": ctx.node, "slot": ctx.slot}, separators=(",", ":")
            )
        return self.scripted(rule["values"])

    def scope(self, rule: Any) -> Any:
        if rule is None or isinstance(rule, str):
            return rule
        match rule["kind"]:
            case "by_principal":
                return by_principal
            case "tenant_principal":
                return tenant_principal
            case "tenant":
                return tenant
            case "principal_id":
                return lambda ctx: None if (who := ctx.session.auth.current) is None else who.principal_id
        return self.scripted(rule["values"])

    def scripted(self, values: list[Any]) -> Callable[[Any], Any]:
        """A resolver or handler that does one entry after the other; the last repeats."""
        left = list(values)

        async def run(_: Any) -> Any:
            entry = left.pop(0) if len(left) > 1 else left[0]
            await asyncio.sleep(0)
            if not isinstance(entry, dict):
                return decode(entry)
            if entry.get("delay"):
                await asyncio.sleep(entry["delay"] / 1000)
            if entry.get("abort"):
                self.session.cancel()
            if "throw" in entry:
                raise ScriptedError(entry["throw"])
            value = decode(entry["return"] if "return" in entry else entry.get("value", entry))
            return value if value is UNDEFINED else defined(value)

        return run

    def handler(self, phase: str, slot: str, entries: list[Any]) -> Callable[[Any], Any]:
        run = self.scripted(entries)

        async def handle(ctx: Any) -> Any:
            call = {
                "call": phase,
                "slot": slot,
                "operationId": ctx.operation_id,
                "key": ctx.memory.scope.key,
                "value": ctx.memory.scope.value,
                "turn": ctx.turn and {"id": ctx.turn.id, "sequence": ctx.turn.sequence, "input": brief(ctx.turn.input)},
                "messages": brief(ctx.messages),
            }
            if ctx.compaction is not None:
                usage = ctx.compaction.usage_input_tokens
                call["compaction"] = {"modelId": ctx.compaction.model_id} | (
                    {} if usage is None else {"usageInputTokens": usage}
                )
            self.trace.append(call)
            try:
                value = await run(ctx)
            except Exception as error:
                self.trace.append({"failed": phase, "slot": slot, "message": str(error)})
                raise
            self.trace.append({"done": phase, "slot": slot})
            return None if value is UNDEFINED else value

        return handle

    def provider(self, slot: dict[str, Any]) -> MemoryProvider:
        rule, name = slot["provider"], slot["slot"]
        if rule["kind"] == "file":
            return self.file_provider(rule)
        recall = {"turn.started": self.handler("recall turn.started", name, rule.get("recall", [{"return": None}]))}
        if "compaction_recall" in rule:
            entries = rule["compaction_recall"]
            recall["compaction.completed"] = self.handler("recall compaction.completed", name, entries)
        capture = {}
        if "capture" in rule:
            capture["turn.completed"] = self.handler("capture turn.completed", name, rule["capture"])
        if "requested" in rule:
            capture["compaction.requested"] = self.handler("capture compaction.requested", name, rule["requested"])
        tools = self.tools(name, rule["tools"]) if "tools" in rule else None
        return define_memory_provider(recall=recall, capture=capture, tools=tools)

    def file_provider(self, rule: dict[str, Any]) -> MemoryProvider:
        name = rule.get("backend")
        if name == "default":
            return file_memory(max_characters=rule.get("maxCharacters"))
        backend = in_memory() if name is None else BACKENDS.setdefault(name, in_memory())
        for key, content in rule.get("documents", {}).items():
            backend.write(key, decode(content), expected_version=None)
        return file_memory(backend=backend, max_characters=rule.get("maxCharacters"))

    def tools(self, slot: str, rule: Any) -> Callable[[Any], Any]:
        sequence = list(rule["$sequence"]) if isinstance(rule, dict) and "$sequence" in rule else None

        async def make(ctx: Any) -> Any:
            self.trace.append(
                {
                    "call": "tools",
                    "slot": slot,
                    "key": ctx.memory.scope.key,
                    "turn": ctx.turn.id,
                    "messages": brief(ctx.messages),
                }
            )
            await asyncio.sleep(0)
            made = rule
            if sequence is not None:
                made = sequence.pop(0) if len(sequence) > 1 else sequence[0]
            made = defined(decode(made))
            if not isinstance(made, dict):
                return made
            if isinstance(made.get("throw"), str):
                raise ScriptedError(made["throw"])
            return {key: self.tool(slot, key, fields, ctx) for key, fields in js_order(made).items()}

        return make

    def tool(self, slot: str, key: str, fields: dict[str, Any], ctx: Any) -> Any:
        if fields.get("unbranded"):
            return fields

        async def execute(**given: Any) -> Any:
            self.trace.append({"tool": key, "slot": slot, "key": ctx.memory.scope.key, "input": given})
            await asyncio.sleep(0)
            if fields.get("throws"):
                raise ScriptedError(fields["throws"])
            return fields.get("returns")

        approval = fields.get("approval")
        return define_tool(
            description=fields["description"],
            execute=execute,
            input_schema=fields.get("inputSchema", OPEN_INPUT),
            approval=None if approval is None else lambda _: approval,
        )

    # the steps

    def step(self, step: dict[str, Any]) -> dict[str, Any]:
        self.trace = []
        if step.get("abortBefore"):
            raise Unsupported("a turn that is cancelled before it begins")
        attempts = []
        events = len(self.session.events)
        logs: list[LogRecord] = []
        result: dict[str, Any] = {}
        for _ in range(step.get("attempts", 1)):
            saved = self.session.checkpoint()
            self.script = list(step.get("model") or [])
            try:
                result = self.run(step, logs)
            except SessionFailedError as failed:
                cause = failed.__cause__
                assert isinstance(cause, Exception)
                attempts.append({"outcome": "thrown", "error": error_json(cause)})
                self.session.restore(saved)
                continue
            except _Cancelled as cancelled:
                attempts.append({"outcome": "thrown", "error": error_json(cancelled.error)})
                self.session.restore(saved)
                continue
            attempts.append({"outcome": "committed"})
            break
        published = [str(event) for event in self.session.events[events:]]
        return {
            "type": step["type"],
            "attempts": attempts,
            **result,
            "trace": self.trace,
            "events": without_runtime(published),
            "logs": [log_json(log) for log in logs if log.namespace in LOGGED],
            "history": [m if isinstance(m, dict) else history_json(m) for m in squeeze(self.session.history)],
            "memory": self.memory_json(),
            "turnLocks": {
                slot: {"key": lock.scope.key, "turn": lock.turn and lock.turn.id, "value": lock.scope.value}
                for slot, lock in (self.session.checkpoint().locks or {}).items()
            },
        }

    def memory_json(self) -> Any:
        return memory_json(self.session.checkpoint().memory)

    def run(self, step: dict[str, Any], logs: list[LogRecord]) -> dict[str, Any]:
        """One step; what it settled."""
        who = {"caller": principal(decode(step["auth"]))} if "auth" in step else {}
        match step["type"]:
            case "clear":
                self.session.clear(**who)
                return {}
            case "compact":
                if self.session.checkpoint().held is not None:
                    raise Unsupported("a compaction while a tool call waits for a person")
                logs += self.session.compact(**who).logs
                return {}
            case "state":
                return {"value": self.session.run_with_state(lambda: touch_state(step))}
        return self.turn(step, logs)

    def turn(self, step: dict[str, Any], logs: list[LogRecord]) -> dict[str, Any]:
        who = {"caller": principal(decode(step["auth"]))} if "auth" in step else {}
        held = self.session.turns[-1] if self.session.turns and self.session.turns[-1].status == "held" else None
        seen = 0 if held is None else len(held.logs)
        try:
            turn = self.session.send(decode(step["input"]), **who)
        finally:
            logs += self.session.turns[-1].logs[seen:]
        if turn.status == "cancelled":
            assert turn.error is not None
            raise _Cancelled(turn.error)
        if turn.status == "held":
            return {"held": {"kind": "request"}}
        if turn.status == "failed":
            return {"settled": {"isError": True, "output": str(turn.error)}}
        return {"settled": {"output": turn.reply}}


OPEN_INPUT = {"type": "object", "properties": {}}


class _Cancelled(Exception):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


def touch_state(step: dict[str, Any]) -> Any:
    handle = define_state(step["name"], lambda: None)
    if "set" in step:
        value = defined(decode(step["set"]))
        handle.update(lambda _: value)
    return handle.get()


def tenant_principal(ctx: ScopeContext) -> Any:
    who = ctx.session.auth.current
    of = None if who is None else who.attributes.get("tenantId")
    if who is None or who.principal_type != "user" or not isinstance(of, str):
        return None
    return (of, who.principal_id)


def tenant(ctx: ScopeContext) -> Any:
    who = ctx.session.auth.current
    of = None if who is None else who.attributes.get("tenantId")
    return (of,) if isinstance(of, str) else None


def js_order(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields in JavaScript's order: integer-like names first, ascending."""
    whole = [name for name in fields if re.fullmatch("0|[1-9][0-9]{0,9}", name)]
    return {name: fields[name] for name in [*sorted(whole, key=int), *(n for n in fields if n not in whole)]}


def without_runtime(events: Iterable[str]) -> list[str]:
    """The events of eve's harness: what the runtime around it adds for a lost turn is left out."""
    kept: list[str] = []
    after_cancel = False
    for event in events:
        cancelled = event.startswith("turn.cancelled")
        if not (cancelled or event == "session.failed" or (after_cancel and event == "session.waiting")):
            kept.append(event)
        after_cancel = cancelled
    return kept


def log_json(log: LogRecord) -> dict[str, Any]:
    shown: dict[str, Any] = {"level": log.level, "namespace": log.namespace, "message": log.message}
    if log.error is not None:
        if isinstance(log.error, EvelabError):
            shown["error"] = error_json(log.error)
        else:
            named = log.namespace != "dynamic-tools"
            shown["error"] = f"{error_name(log.error)}: {log.error}" if named else str(log.error)
    if log.namespace == "memory" and log.level == "info":
        shown["fields"] = dict(log.fields)
    return shown


def masked(text: str) -> str:
    return REQUEST_ID.sub("aitxt-<id>", text)


def squeeze(items: Sequence[Message]) -> list[Message | dict[str, int]]:
    """A long list as the oracle shows it: two at each end."""
    if len(items) <= SHOWN:
        return list(items)
    return [*items[:ENDS], {OMITTED: len(items) - 2 * ENDS}, *items[-ENDS:]]


def brief(messages: Sequence[Message]) -> list[Any]:
    return [
        m
        if isinstance(m, dict)
        else [m.role, masked(m.text)] + ([] if m.kind is None or m.role != "user" else [m.kind])
        for m in squeeze(messages)
    ]


def history_json(message: Message) -> list[Any]:
    shown = [message.role, masked(message.text), message.kind if message.role == "user" else None]
    return shown if message.memory is None else [*shown, attribution_json(message.memory)]
