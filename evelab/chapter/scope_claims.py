"""Claims of 8.5: what a scope and a namespace do, shown with real sessions."""

from __future__ import annotations

import re
from dataclasses import replace

from evelab.auth import Principal
from evelab.backends import in_memory
from evelab.chapter.callers import (
    ANONYMOUS,
    CALLERS,
    GLOBEX,
    LI_SI,
    LOCAL_DEV,
    NO_TENANT,
    NOBODY,
    PARTNER,
    RUNTIME,
    ZHANG_SAN,
    Caller,
)
from evelab.chapter.claims import Evidence, claim
from evelab.chapter.counted import Counted
from evelab.chapter.policies import FIXED, PRINCIPAL_ID, PUBLIC, TENANT_PRINCIPAL
from evelab.chapter.six_keys import six_keys
from evelab.chapter.values import FILE_MEMORY, PRINTED_KEYS
from evelab.chapter.workbench import NAMESPACE, SLOT, Workbench
from evelab.file_memory import file_memory
from evelab.keys import memory_key
from evelab.provider import OperationContext, define_memory_provider
from evelab.scope import by_principal

PREFERENCE = "记住，我只看 payment-api"


def _recalls(bench: Workbench, caller: Caller) -> str:
    return bench.look(caller).recall or ""


@claim("5.1")
def the_six_keys_reproduce(see: Evidence) -> None:
    """The key is a prefix and base64url(sha256(encoded input)): all six keys of the chapter reproduce."""
    for row in six_keys():
        see.equal(f"{row.printed.experiment}: key of {row.printed.caller}", row.key, row.printed.key)
        see.true(f"{row.printed.experiment}: scope of {row.printed.caller}", row.agrees)
    see.equal("keys printed in the chapter", len(PRINTED_KEYS), 6)


@claim("5.2")
def a_fixed_string_has_one_path(see: Evidence) -> None:
    """Scope "acme": the key, and the document path eve/memory/file/<key>/MEMORY.md."""
    bench = Workbench(FIXED.scope)
    bench.say(ZHANG_SAN, PREFERENCE)
    see.equal("path of the stored document", [stored.path for stored in bench.documents()], [FILE_MEMORY["path_of_a"]])
    see.equal("path that the caller's key gives", bench.look(ZHANG_SAN).path, FILE_MEMORY["path_of_a"])


@claim("5.3")
def a_fixed_string_is_shared(see: Evidence) -> None:
    """Under a fixed string everyone shares: what one caller saves another recalls, and can remove."""
    bench = Workbench(FIXED.scope)
    bench.say(ZHANG_SAN, PREFERENCE)
    for caller in CALLERS:
        see.true(f"{caller.label} recalls what {ZHANG_SAN.label} saved", "payment-api" in _recalls(bench, caller))
    removal = bench.say(LI_SI, "忘掉 0")
    see.equal("李四's removal", [result.type for result in removal.results], ["json"])
    see.true("张三 recalls nothing of it any more", "payment-api" not in _recalls(bench, ZHANG_SAN))


@claim("5.4")
def a_tuple_separates_callers(see: Evidence) -> None:
    """Tuple [tenant, principal]: three callers, three keys."""
    bench = Workbench(TENANT_PRINCIPAL.scope)
    looks = [bench.look(caller) for caller in (ZHANG_SAN, LI_SI, GLOBEX)]
    printed = [row.key for row in PRINTED_KEYS if row.experiment == "B"]
    see.equal("keys of the three callers", [look.key for look in looks], printed)
    see.equal("different keys", len({look.key for look in looks}), 3)


@claim("5.5")
def another_tenant_is_another_memory(see: Evidence) -> None:
    """The same u_42 in another tenant is another memory."""
    bench = Workbench(TENANT_PRINCIPAL.scope)
    bench.say(ZHANG_SAN, PREFERENCE)
    see.equal("the id of both", _id(ZHANG_SAN), _id(GLOBEX))
    see.true("u_42 of acme recalls it", "payment-api" in _recalls(bench, ZHANG_SAN))
    see.equal("what u_42 of globex recalls", bench.look(GLOBEX).recall, None)
    bench.say(GLOBEX, "remember I watch the globex cluster")
    see.true("u_42 of acme recalls nothing of globex", "globex" not in _recalls(bench, ZHANG_SAN))


@claim("5.6")
def by_principal_has_four_answers(see: Evidence) -> None:
    """by_principal on four kinds of auth.current: null, anonymous or runtime, local-dev, others."""
    bench = Workbench(by_principal)
    for caller in (NOBODY, ANONYMOUS, RUNTIME):
        look = bench.look(caller)
        see.equal(f"scope of {caller.label}", look.scope, None)
        see.true(f"the slot is off for {caller.label}", look.off)
    see.equal("scope of local-dev", bench.look(LOCAL_DEV).scope, "local-dev")
    service = Caller("service", Principal("service", "app", "u_42"))
    see.equal("scope of a service", bench.look(service).scope, '["service","app",null,"u_42"]')
    other_case = Caller("Anonymous", Principal("Anonymous", "app", "u_42"))
    see.equal("the comparison minds case", bench.look(other_case).scope, '["Anonymous","app",null,"u_42"]')


@claim("5.7")
def by_principal_of_the_example_user(see: Evidence) -> None:
    """by_principal's JSON string for the example user, and its key."""
    printed = next(row for row in PRINTED_KEYS if row.experiment == "C")
    look = Workbench(by_principal).look(ZHANG_SAN)
    see.equal("scope", look.scope, printed.scope)
    see.equal("key", look.key, printed.key)


@claim("5.8")
def two_systems_are_two_memories(see: Evidence) -> None:
    """The same principal id in two authentication systems is two memories."""
    bench = Workbench(by_principal)
    bench.say(ZHANG_SAN, PREFERENCE)
    see.equal("the id in both systems", _id(ZHANG_SAN), _id(PARTNER))
    see.equal("what the partner's u_42 recalls", bench.look(PARTNER).recall, None)
    issuers = [replace(_principal(ZHANG_SAN), issuer=issuer) for issuer in ("opsbot", "other", None)]
    keys = {bench.look(Caller(str(place), principal)).key for place, principal in enumerate(issuers)}
    see.equal("keys of one id under three issuers", len(keys), 3)
    bare = Workbench(PRINCIPAL_ID.scope)
    bare.say(ZHANG_SAN, PREFERENCE)
    see.true("by the bare id the partner's u_42 recalls it", "payment-api" in _recalls(bare, PARTNER))


@claim("5.9")
def none_turns_the_slot_off(see: Evidence) -> None:
    """null disables the slot for the operation: the provider is not called, and its tools are absent."""
    counted = Counted(file_memory(backend=in_memory()))
    bench = Workbench(TENANT_PRINCIPAL.scope, provider=lambda _: counted.provider)
    turn = bench.say(ANONYMOUS, "记住，我是匿名的")
    see.equal("calls of the provider", dict(counted.calls), {})
    see.equal("tools offered", list(turn.tools), [])
    see.equal("locks", dict(turn.locks), {})
    see.true("the turn ends with a reply", turn.reply)
    turn = bench.say(ZHANG_SAN, "在吗")
    see.equal("calls for a caller with a scope", dict(counted.calls), {"recall turn.started": 1, "tools": 1})
    see.equal("tools offered then", list(turn.tools), [f"{SLOT}__remove_memory", f"{SLOT}__save_memory"])
    captured: list[str] = []
    capturing = define_memory_provider(
        recall={"turn.started": lambda ctx: None},
        capture={"turn.completed": lambda ctx: captured.append(ctx.memory.slot)},
    )
    bench = Workbench(TENANT_PRINCIPAL.scope, provider=lambda _: capturing)
    bench.say(ANONYMOUS, "在吗")
    see.equal("captures of an anonymous turn", list(captured), [])
    bench.say(ZHANG_SAN, "在吗")
    see.equal("captures of a turn with a scope", captured, [SLOT])


@claim("5.10")
def one_diagnostic_in_dev(see: Evidence) -> None:
    """In dev one diagnostic names the disabled slot and never the resolved value."""
    turn = Workbench(TENANT_PRINCIPAL.scope).say(NO_TENANT, "在吗")
    see.equal("diagnostics", [record.message for record in turn.logs], ["Memory slot is disabled for this operation"])
    see.equal("its fields", [dict(record.fields) for record in turn.logs], [{"resolver": "scope", "slot": SLOT}])
    see.true("the caller's id is not in it", "u_7" not in repr(turn.logs))
    outside = Workbench(TENANT_PRINCIPAL.scope, environ={}).say(NO_TENANT, "在吗")
    see.equal("diagnostics outside dev", outside.logs, [])


@claim("5.11")
def falling_back_to_public_shares(see: Evidence) -> None:
    """Anonymous callers, runtime callers and users without a tenant all get null; "public" shares one partition."""
    strangers = (ANONYMOUS, RUNTIME, NO_TENANT)
    right = Workbench(TENANT_PRINCIPAL.scope)
    for caller in strangers:
        see.equal(f"scope of {caller.label}", right.look(caller).scope, None)
    wrong = Workbench(PUBLIC.scope)
    wrong.say(ANONYMOUS, "记住，我的工单号是 A-17")
    for caller in strangers:
        see.true(f'with "public", {caller.label} recalls what a stranger saved', "A-17" in _recalls(wrong, caller))
    see.equal("leaks of the right resolver", len(right.sharing().leaks()), 0)
    see.true('leaks with "public"', wrong.sharing().leaks())


@claim("5.12")
def two_namespaces_two_keys(see: Evidence) -> None:
    """The same scope under acme-support-v1 and acme-support-v2: two keys."""
    printed = [row for row in PRINTED_KEYS if row.scope == ["acme", "u_42"]]
    looks = [Workbench(TENANT_PRINCIPAL.scope, namespace=row.namespace).look(ZHANG_SAN) for row in printed]
    see.equal("namespaces", [row.namespace for row in printed], ["acme-support-v1", "acme-support-v2"])
    see.equal("keys", [look.key for look in looks], [row.key for row in printed])
    see.equal("different keys", len({look.key for look in looks}), 2)
    see.equal("scopes", len({look.scope for look in looks}), 1)


@claim("5.13")
def the_old_partition_keeps_its_data(see: Evidence) -> None:
    """After a namespace change nothing is recalled, and the data is still in the old partition."""
    bench = Workbench(TENANT_PRINCIPAL.scope)
    bench.say(ZHANG_SAN, PREFERENCE)
    before = bench.backend.documents()
    moved = Workbench(TENANT_PRINCIPAL.scope, namespace="acme-support-v2", backend=bench.backend)
    see.equal("recalled after the change", moved.look(ZHANG_SAN).recall, None)
    see.equal("documents after the change", moved.backend.documents(), before)
    see.true("recalled again under the old namespace", "payment-api" in _recalls(bench, ZHANG_SAN))
    old, new = (memory_key(space, ("acme", "u_42")) for space in (NAMESPACE, "acme-support-v2"))
    bench.backend.write(new, before[old], expected_version=None)
    see.true("recalled under the new one, once moved by hand", "payment-api" in _recalls(moved, ZHANG_SAN))


@claim("5.14")
def a_key_has_53_characters(see: Evidence) -> None:
    """A key is memscope1_ and 43 base64url characters, 53 in all."""
    for row in six_keys():
        fits = re.fullmatch(r"memscope1_[A-Za-z0-9_-]{43}", row.key or "")
        see.true(f"{row.printed.experiment}: prefix and alphabet", fits)
        see.equal(f"{row.printed.experiment}: length", len(row.key or ""), 53)
    see.equal("length of the key of a long scope", len(memory_key(NAMESPACE, "长" * 300)), 53)


@claim("5.15")
def attribution_holds_digests_only(see: Evidence) -> None:
    """Durable attribution holds keys only, never the raw scope; the provider can read memory.scope.value."""
    read: list[object] = []

    def recall(ctx: OperationContext) -> object:
        read.append(ctx.memory.scope.value)
        return {"messages": [{"id": "language", "content": "用户偏好中文回答。"}]}

    provider = define_memory_provider(recall={"turn.started": recall})
    turn = Workbench(TENANT_PRINCIPAL.scope, provider=lambda _: provider).say(ZHANG_SAN, "在吗")
    see.equal("what the provider reads", read, [("acme", "u_42")])
    marks = [message.memory for message in turn.committed if message.memory is not None]
    see.equal("recalled records", len(marks), 1)
    mark = repr(marks)
    see.true("its mark holds digests", "memns1_" in mark and "memscope1_" in mark)
    see.true("its mark names neither tenant nor user", "acme" not in mark and "u_42" not in mark)
    see.true("the model's messages carry no mark", all(message.memory is None for message in turn.context))
    see.true("the key is not in the model's context", all(_key(ZHANG_SAN) not in said.text for said in turn.context))


def _principal(caller: Caller) -> Principal:
    if caller.principal is None:
        raise ValueError(f"{caller.label} has no principal")
    return caller.principal


def _id(caller: Caller) -> str | None:
    return _principal(caller).principal_id


def _key(caller: Caller) -> str:
    return Workbench(TENANT_PRINCIPAL.scope).look(caller).key or ""
