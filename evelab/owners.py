"""Whose key is this? The keys of callers that one knows, derived under scope policies that one names.

A key is a digest and says nothing of its owner: this is the only way to find one.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evelab.auth import Principal
from evelab.chapter.policies import BY_PRINCIPAL, FIXED, PRINCIPAL_ID, PUBLIC, TENANT, TENANT_PRINCIPAL
from evelab.errors import DefinitionError, ScopeError
from evelab.keys import keys_in
from evelab.scope import ScopeContext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from evelab.chapter.policies import Policy

POLICIES: Mapping[str, Policy] = {
    "tenant_principal": TENANT_PRINCIPAL,
    "tenant": TENANT,
    "by_principal": BY_PRINCIPAL,
    "principal_id": PRINCIPAL_ID,
    "tenant_or_public": PUBLIC,
    "fixed": FIXED,
}
"""The chapter's policies by names that a shell can take."""
REQUIRED_COLUMNS = ("label", "type", "authenticator", "id")
COLUMNS = ("label", "type", "authenticator", "issuer", "id", "tenant")


@dataclass(frozen=True, slots=True)
class Owner:
    """A caller whose key a document has.

    Attributes:
        label: the caller's label.
        policy: the policy's name.
        namespace: the namespace.
    """

    label: str
    policy: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Caller:
    """A line of the callers' file.

    Attributes:
        line: its number in the file, counted from 1.
        label: what the caller is called in the report.
        principal: the caller as authentication describes them.
    """

    line: int
    label: str
    principal: Principal


def read_callers(path: Path) -> list[Caller]:
    """The callers of a CSV file: columns label, type, authenticator, id, and, if needed, issuer and tenant.

    An empty issuer, id or tenant is None.

    Raises:
        DefinitionError: what is wrong with it and in which line. No cell is shown.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(_callers(csv.DictReader(file, strict=True)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a CSV file in UTF-8"
        raise DefinitionError(f"The callers' file cannot be read: {reason}.", place="callers") from error


def _callers(rows: csv.DictReader[str]) -> Iterator[Caller]:
    names = [*(rows.fieldnames or ())]
    missing = [name for name in REQUIRED_COLUMNS if name not in names]
    unknown = len([name for name in names if name not in COLUMNS])
    if missing or unknown or len(set(names)) < len(names):
        raise DefinitionError(
            f"The first line of the callers' file must name the columns {', '.join(REQUIRED_COLUMNS)}, and may name "
            f"issuer and tenant, each once; missing: {', '.join(missing) or 'none'}; unknown: {unknown}.",
            place="callers[1]",
        )
    for row in rows:
        line = rows.line_num
        if None in row or None in row.values():
            raise DefinitionError(
                f"Line {line} of the callers' file has not as many cells as the first.", place=f"callers[{line}]"
            )
        for name in ("label", "type", "authenticator"):
            if not row[name].strip():
                raise DefinitionError(f"Line {line} of the callers' file has no {name}.", place=f"callers[{line}]")
        attributes = {"tenantId": row["tenant"]} if row.get("tenant") else {}
        principal = Principal(
            row["type"], row["authenticator"], row["id"] or None, row.get("issuer") or None, attributes
        )
        yield Caller(line, row["label"], principal)


def owners_of(callers: Iterable[Caller], policies: Sequence[str], namespaces: Sequence[str]) -> dict[str, list[Owner]]:
    """Key -> whose it is, for every caller, policy and namespace. A caller whose slot is off has no key.

    Args:
        callers: from ``read_callers``.
        policies: names out of ``POLICIES``.
        namespaces: the namespaces of the slot.

    Raises:
        ScopeError: a namespace or scope that cannot become a key; for a scope, with the caller's line.
    """
    owners: dict[str, list[Owner]] = {}
    for namespace in namespaces:
        key_of = keys_in(namespace)
        for caller in callers:
            for name in policies:
                policy = POLICIES[name].scope
                scope = policy(ScopeContext.of(caller.principal)) if callable(policy) else policy
                if scope is None:
                    continue
                try:
                    key = key_of(scope)
                except ScopeError as error:
                    raise ScopeError(
                        f"Line {caller.line} of the callers' file under {name}: {error}", place=error.place
                    ) from None
                owners.setdefault(key, []).append(Owner(caller.label, name, namespace))
    return owners
