"""The command line: ``evelab lab``, ``app``, ``reset``, ``verify``, ``key`` and ``inspect``.

Nothing heavy is imported until a command needs it: ``evelab key`` answers at once.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from evelab import __version__
from evelab.auth import Principal
from evelab.errors import EvelabError, ScopeError
from evelab.keys import memory_key
from evelab.scope import Scope, ScopeContext, by_principal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evelab.chapter import Result
    from evelab.chapter.six_keys import KeyRow


class OneSentence(click.Group):
    """A group whose errors are one sentence on stderr: bad input exits with 2, anything else with 1."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line."""
        kwargs["standalone_mode"] = False
        try:
            sys.exit(super().main(*args, **kwargs) or 0)
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            name = "evelab" if context is None else context.command_path
            click.echo(f"{name}: {error.format_message()}", err=True)
            sys.exit(error.exit_code)
        except click.Abort:
            click.echo("evelab: stopped.", err=True)
            sys.exit(1)


@click.group(cls=OneSentence, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="evelab")
def main() -> None:
    """How an AI agent remembers: the workbench for chapter 8 of the eve tutorial."""


def _server_options(command: Callable[..., None]) -> Callable[..., None]:
    for option in (
        click.option("--base-url", metavar="PATH", help="Where on the server it is, such as /user/zhang/."),
        click.option("--port", type=click.IntRange(1, 65535), help="The port. By default 8888, or the next free one."),
        click.option("--no-browser", is_flag=True, help="Print the address instead of opening a browser."),
    ):
        command = option(command)
    return command


@main.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--workshop", is_flag=True, help="A fresh copy without outputs, in a new folder.")
@_server_options
def lab(folder: Path | None, workshop: bool, no_browser: bool, port: int | None, base_url: str | None) -> None:
    """Open JupyterLab on the notebooks.

    In a checkout these are its own notebooks. With FOLDER they are copied there first; a file that FOLDER
    already holds is kept. An installed evelab needs FOLDER.

    With --workshop FOLDER must be new or empty; without FOLDER it is evelab-workshop, or evelab-workshop-2 ...
    """
    from evelab.lab import server
    from evelab.lab.workshop import make_workshop, workshop_folder

    try:
        server.check_port(port)
        notebooks = make_workshop(workshop_folder(folder)) if workshop else server.notebooks_in(folder)
        if workshop:
            click.echo(f"The workshop's notebooks are in {notebooks}.", err=True)
        words = server.lab_command(notebooks, open_browser=not no_browser, port=port, base_url=base_url)
        status = server.serve(words)
    except EvelabError as error:
        raise click.ClickException(str(error)) from None
    sys.exit(status)


@main.command()
@click.argument("notebook")
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
def reset(notebook: str, folder: Path, yes: bool) -> None:
    """Put one NOTEBOOK of FOLDER back to how it was shipped. The others are not touched.

    Yours is kept beside it, as NOTEBOOK.backup-1.ipynb or the next free number. FOLDER is the present one when
    it is left out.
    """
    from evelab.lab.workshop import plan_reset

    try:
        plan = plan_reset(notebook, folder)
        kept = "" if plan.backup is None else f" Yours will be kept as {plan.backup.name}."
        if not yes:
            click.confirm(f"Put {plan.target.name} back to how it was shipped?{kept}", abort=True)
        plan.do()
    except EvelabError as error:
        raise click.UsageError(str(error)) from None
    kept = "" if plan.backup is None else f" Yours is {plan.backup}."
    click.echo(f"{plan.target} is as it was shipped.{kept}")


@main.command()
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@_server_options
def app(folder: Path | None, no_browser: bool, port: int | None, base_url: str | None) -> None:
    """Open the notebooks as pages: panels, tables and text, and no cells.

    They are evelab's own; with FOLDER, those in FOLDER. Nothing is written: a page that is opened again begins
    anew. Needs Voila: pip install "evelab[app]".
    """
    from evelab.lab import server

    try:
        server.check_port(port)
        notebooks = server.source_notebooks()[0] if folder is None else folder
        words = server.app_command(notebooks, open_browser=not no_browser, port=port, base_url=base_url)
        status = server.serve(words)
    except EvelabError as error:
        raise click.ClickException(str(error)) from None
    sys.exit(status)


@main.command()
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
@click.option("--section", metavar="8.N", help="Check one section only, such as 8.5.")
@click.option(
    "--eve",
    "version",
    metavar="[VERSION]",
    is_flag=False,
    flag_value="",
    help="Ask that version of the real eve instead; without VERSION, the one that evelab follows. Fetches it with npm.",
)
@click.option("--cases", type=click.IntRange(1), help="With --eve: generated requests a subject. By default 200.")
@click.option("--seed", type=int, help="With --eve: what the sample is generated from. By default 0.")
def verify(as_json: bool, section: str | None, version: str | None, cases: int | None, seed: int | None) -> None:
    """Check the chapter's claims, each by making it happen. Exit status 1 when one does not hold.

    With --eve the chapter's values and a sample of generated requests are put to the real package and to
    evelab. Exit status 1 when they differ; 3 no Node, 4 no such version, 5 no network, 6 the package has
    moved inside, 7 the install failed, 8 the package gave no answer.
    """
    if version is not None:
        if section is not None:
            raise click.UsageError("--section and --eve do not go together.")
        _verify_eve(version, as_json, cases, seed)
    if cases is not None or seed is not None:
        raise click.UsageError("--cases and --seed go with --eve only.")
    _verify_claims(as_json, section)


def _verify_claims(as_json: bool, section: str | None) -> NoReturn:
    from evelab.chapter import CLAIMS, run
    from evelab.chapter.six_keys import six_keys

    chosen = [claim for claim in CLAIMS if section in (None, claim.section)]
    if not chosen:
        known = ", ".join(dict.fromkeys(claim.section for claim in CLAIMS))
        raise click.BadParameter(f"no claims are checked for {section}; sections with checks: {known}.")
    hidden = as_json or not sys.stderr.isatty()
    with click.progressbar(chosen, label="Checking", file=sys.stderr, hidden=hidden) as claims:
        results = [run(claim) for claim in claims]
    keys = six_keys()
    holds = all(result.holds for result in results) and all(row.agrees for row in keys)
    if as_json:
        click.echo(json.dumps(_report(results, keys), ensure_ascii=False, indent=2, default=str))
    else:
        click.echo("\n".join([*_key_lines(keys), "", *_claim_lines(results)]))
    sys.exit(0 if holds else 1)


def _verify_eve(version: str, as_json: bool, cases: int | None, seed: int | None) -> NoReturn:
    from evelab.eve.errors import EveError
    from evelab.eve.install import FOLLOWED_VERSION
    from evelab.eve.report import report_json, report_lines
    from evelab.eve.verify import CASES, verify_version

    hidden = as_json or not sys.stderr.isatty()
    with click.progressbar(length=1, file=sys.stderr, hidden=hidden) as bar:

        def progress(subject: str, done: int, total: int) -> None:
            bar.label, bar.length = f"{subject:<32}", total
            bar.update(done - bar.pos)

        try:
            report = verify_version(
                version or FOLLOWED_VERSION, cases=cases or CASES, seed=seed or 0, progress=progress
            )
        except EveError as error:
            click.echo(f"evelab verify: {error}", err=True)
            sys.exit(error.exit_status)
    if as_json:
        click.echo(json.dumps(report_json(report), ensure_ascii=True, indent=2))
    else:
        click.echo("\n".join(report_lines(report)))
    sys.exit(0 if report.agrees else 1)


def _report(results: Sequence[Result], keys: Sequence[KeyRow]) -> dict[str, Any]:
    return {
        "evelab": __version__,
        "keys": [{**asdict(row.printed), "computed": row.key, "agrees": row.agrees} for row in keys],
        "claims": [
            {
                "id": result.claim.id,
                "section": result.claim.section,
                "claim": result.claim.text,
                "holds": result.holds,
                "observations": len(result.observations),
                "failures": result.failures,
                "seconds": round(result.seconds, 4),
            }
            for result in results
        ],
    }


def _key_lines(keys: Sequence[KeyRow]) -> list[str]:
    lines = ["The six keys of 8.5, computed", ""]
    for row in keys:
        scope = row.scope if isinstance(row.scope, str) else json.dumps(row.scope)
        verdict = "agrees" if row.agrees else f"DIFFERS: the chapter prints {row.printed.key}"
        lines.append(f"  {row.printed.experiment}  {row.printed.namespace}  {scope:<30}  {row.key}  {verdict}")
    return lines


def _claim_lines(results: Sequence[Result]) -> list[str]:
    lines = ["Claims of the chapter", ""]
    for result in results:
        verdict = click.style("holds", fg="green") if result.holds else click.style("FAILS", fg="red", bold=True)
        seen = len(result.observations)
        lines.append(f"  {result.claim.id:<5} {verdict}  {seen:>3} seen  {result.claim.text}")
        lines += [f"          {failure}" for failure in result.failures]
    failed = sum(not result.holds for result in results)
    verdict = "all hold" if failed == 0 else f"{failed} do not hold"
    return [*lines, "", f"{len(results)} claims checked in {sum(r.seconds for r in results):.2f} s: {verdict}."]


@main.command()
@click.option("--namespace", required=True, metavar="N", help="The namespace.")
@click.option("--scope", metavar="S", help="A scope that is one string.")
@click.option("--tuple", "is_tuple", is_flag=True, help="A scope that is a tuple: its components follow.")
@click.option("--principal", nargs=2, metavar="TYPE ID", help="The scope that by_principal gives a principal.")
@click.option("--authenticator", metavar="A", help="The principal's authentication system.")
@click.option("--issuer", metavar="I", help="The principal's issuer, if it has one.")
@click.argument("components", nargs=-1)
def key(
    namespace: str,
    scope: str | None,
    is_tuple: bool,
    principal: tuple[str, str] | None,
    authenticator: str | None,
    issuer: str | None,
    components: tuple[str, ...],
) -> None:
    """Print the key of a namespace and a scope: the partition that a provider sees.

    \b
    evelab key --namespace acme-support-v1 --scope acme
    evelab key --namespace acme-support-v1 --tuple acme u_42
    evelab key --namespace acme-support-v1 --principal user u_42 --authenticator app --issuer opsbot
    """
    if (scope is not None) + is_tuple + (principal is not None) != 1:
        raise click.UsageError("Give exactly one of --scope, --tuple and --principal.")
    if components and not is_tuple:
        raise click.UsageError(f"Components ({' '.join(components)}) go with --tuple only.")
    if principal is not None and authenticator is None:
        raise click.UsageError("--principal needs --authenticator.")
    if principal is None and (authenticator is not None or issuer is not None):
        raise click.UsageError("--authenticator and --issuer go with --principal only.")
    resolved: Scope | None = components if is_tuple else scope
    if principal is not None:
        resolved = by_principal(
            ScopeContext.of(Principal(principal[0], authenticator or "", principal[1], issuer)),
        )
        if resolved is None:
            raise click.UsageError(f"by_principal gives None for {principal[0]}: the slot is off, there is no key.")
    try:
        click.echo(memory_key(namespace, "" if resolved is None else resolved))
    except ScopeError as error:
        raise click.UsageError(str(error)) from None


@main.command()
@click.argument("store", metavar="PATH_OR_URL")
@click.option("--prefix", metavar="P", help="Where the documents are in it. By default eve/memory/file.")
@click.option(
    "--slot", default="profile", metavar="S", help="The slot's name, which recalled text holds. By default profile."
)
@click.option("--max-characters", type=click.IntRange(1), help="The slot's limit. By default 4,000.")
@click.option("--callers", type=click.Path(dir_okay=False, path_type=Path), help="A CSV file of callers.")
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="How the slot is scoped. May be repeated.")
@click.option("--namespace", "namespaces", multiple=True, metavar="N", help="The slot's namespace. May be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def inspect(
    store: str,
    prefix: str | None,
    slot: str,
    max_characters: int | None,
    callers: Path | None,
    policies: tuple[str, ...],
    namespaces: tuple[str, ...],
    as_json: bool,
) -> None:
    """List the documents of a store of file memory, check each, and say how full it is. Nothing is changed.

    The store is a folder, or an address: s3://bucket, gs://bucket, az://container (these take their
    credentials from the environment). No text of a memory and no scope is printed.

    With --callers, --policy and --namespace each document gets its owners, and those of nobody are orphans.
    The callers' file is CSV. Its first line names the columns label, type, authenticator, id and, if needed,
    issuer and tenant:

    \b
    label,type,authenticator,issuer,id,tenant
    Zhang San,user,app,opsbot,u_42,acme

    Policies: tenant_principal, tenant, by_principal, principal_id, tenant_or_public, fixed.

    Exit status 1 when a document is broken, 2 for bad input or a store that cannot be listed.
    """
    from evelab.backends import DEFAULT_PREFIX
    from evelab.file_memory import DEFAULT_MAX_CHARACTERS
    from evelab.inspection import inspect as findings_in
    from evelab.inspection import inspection_json, inspection_lines, open_store
    from evelab.owners import POLICIES, owners_of, read_callers

    if len({bool(callers), bool(policies), bool(namespaces)}) > 1:
        raise click.UsageError("--callers, --policy and --namespace go together.")
    if unknown := [name for name in policies if name not in POLICIES]:
        raise click.UsageError(f"There is no policy {unknown[0]}; there are {', '.join(POLICIES)}.")
    try:
        owners = owners_of(read_callers(callers), policies, namespaces) if callers else None
        found = list(findings_in(open_store(store, prefix=prefix or DEFAULT_PREFIX), slot=slot, owners=owners))
    except EvelabError as error:
        raise click.UsageError(str(error)) from None
    limit = max_characters or DEFAULT_MAX_CHARACTERS
    if as_json:
        click.echo(json.dumps(inspection_json(found, max_characters=limit), ensure_ascii=True, indent=2))
    else:
        click.echo("\n".join(inspection_lines(found, max_characters=limit)))
    sys.exit(1 if any(one.sizes is None for one in found) else 0)
