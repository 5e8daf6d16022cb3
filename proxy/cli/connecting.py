"""``palimpsest connect``: the exact configuration of a runtime, printed, written or put back."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from proxy.auth import installation_key
from proxy.auth.installation_key import InstallationKey
from proxy.checkout import CheckoutLookup
from proxy.cli import prompts, service, sessions
from proxy.cli.faults import CommandError
from proxy.cli.home_owner import owner
from proxy.cli.options import ConfigFile, Home, Json, here, loaded
from proxy.cli.runtime_names import titles
from proxy.cli.server import QUICK, address, running
from proxy.cli.server_access import has_memory, reach
from proxy.connect import (
    GUIDES,
    Address,
    ConnectPlan,
    FileChangedSince,
    FilePreview,
    NotEditable,
    carry_out,
    connected_files,
    has_status_line,
    look,
    mcp_runtimes,
    plan,
    preview,
    undo_preview,
    with_status_line,
    writes_mcp,
)
from proxy.connect import (
    undo as put_back,
)
from proxy.diagnosis import takes_connections
from proxy.marker import TRUSTED
from proxy.runtimes.environment import ClientEnvironment, project_of
from proxy.settings import Loaded, Settings

ORIGINALS_FOLDER = "connect"
"""Where, below the home folder, lies what stood in a runtime's files before."""


def connect(
    runtime: Annotated[
        str | None, typer.Argument(help="Which one; without it, all are listed.", metavar="[NAME]")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write it, after showing the difference.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Put back what stood there before.")] = False,
    project: Annotated[str | None, typer.Option("--project", "-p", help="Everything belongs to this project.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="Everything belongs to this user.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="The caller's key, where there are credentials.")] = None,
    window: Annotated[
        int | None,
        typer.Option(
            "--window", min=1000, help="Tokens that the model reads at once.", show_default="memory.default_window"
        ),
    ] = None,
    with_mcp: Annotated[bool, typer.Option("--with-mcp", help="Add memory's tools as an MCP server, too.")] = False,
    statusline: Annotated[
        bool, typer.Option("--statusline", help="Show how memory stands in Claude Code's status line, too.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Undo although the file was changed since.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Show how to connect a runtime, or do it."""
    if runtime is None:
        _list(as_json)
        return
    _check(runtime, write, undo, with_mcp, statusline)
    settled = loaded(home, config)
    settings = settled.settings
    if settings.credentials and key is None and not undo:
        raise CommandError("there are credentials in the settings: say with --key which one this runtime shall use", 2)
    where = address_of(settings, project, user, key)
    planned = plan(
        runtime,
        where,
        look(Path.home(), Path.cwd(), os.environ),
        window=window or settings.memory.default_window,
        # What was never written is passed over, so that undoing need not be told of it.
        mcp=with_mcp or undo,
        command=_mcp(settings, project, user),
    )
    if statusline:
        planned = with_status_line(planned, [*_ourselves(), "statusline", "--home", str(settings.home.resolve())])
    unanswered = "" if undo else _unanswered(where.server, settings)
    if unanswered:
        planned = replace(planned, warnings=(*planned.warnings, unanswered))
    try:
        if undo:
            _undo(planned, settled, force, yes, as_json)
        elif write:
            _write(planned, settings.home / ORIGINALS_FOLDER, yes, as_json)
            if unanswered and not (yes or as_json) and prompts.is_interactive():
                _offer_service(settings, home, config)
        else:
            _show(planned, as_json)
    except NotEditable as error:
        raise CommandError(f"{error}. Nothing was written. Put this there by hand:\n\n{planned.snippet}") from error
    except FileChangedSince as error:
        hint = "; --force puts back what stood there all the same" if undo else ""
        raise CommandError(f"{error}{hint}") from error


def _list(as_json: bool) -> None:
    names = titles()
    if as_json:
        print(json.dumps({"runtimes": names}))
    else:
        print("\n".join(f"{name:<16} {title}" for name, title in names.items()))


def _check(runtime: str, write: bool, undo: bool, with_mcp: bool, statusline: bool) -> None:
    """Refuse what cannot be done with a runtime."""
    if runtime not in GUIDES:
        there = f"there is no guide for {runtime!r}; there are: {', '.join(GUIDES)}"
        raise CommandError(f"{there}. Any client that lets its base URL be set works: palimpsest connect other", 2)
    if write and undo:
        raise CommandError("say either --write or --undo", 2)
    if with_mcp and not (undo or writes_mcp(runtime)):
        written = ", ".join(mcp_runtimes())
        raise CommandError(
            f"--with-mcp writes for {written} only: leave it out, and see what `palimpsest connect {runtime}` says", 2
        )
    if statusline and not has_status_line(runtime):
        raise CommandError("--statusline is for claude only: the others show no line of ours", 2)


def _offer_service(settings: Settings, home: Path | None, config: Path | None) -> None:
    """Have a server run from now on, where the machine can keep one and the person wants it."""
    manager = service.offered(settings)
    if manager and prompts.agreed(f"Keep a server running from login on, with {manager}?"):
        service.install(dry_run=False, yes=True, as_json=False, home=home, config=config)


def _unanswered(url: str, settings: Settings) -> str:
    """What is wrong with an address at which we do not answer; an empty text where we do."""
    if running(settings.home) is not None or owner(settings.home) is not None:
        return ""
    place = urlsplit(url)
    if place.port and takes_connections(place.hostname or "", place.port, QUICK):
        return f"Something else answers at {url}: choose another server.port, or stop it, and connect again."
    start = "`palimpsest service install` keeps one running, `palimpsest serve` starts one"
    return f"Nobody answers at {url} yet, and without a server this client reaches no model: {start}."


def address_of(
    settings: Settings, project: str | None = None, user: str | None = None, key: str | None = None
) -> Address:
    """Where a runtime finds the server of these settings' home: the one that runs, else where it would listen."""
    server = running(settings.home)
    url = server.url if server else address(settings.server.host, settings.server.port)
    around = here(server) if server else project_here(settings)
    if key is None and not settings.credentials:
        key = _installation_key(settings)
    return Address(url, project, around, user, key)


def _installation_key(settings: Settings) -> str | None:
    """The key that opens memory here; None, and a word about it, where the home folder cannot be written."""
    try:
        return InstallationKey(settings.home / installation_key.FILE).value
    except OSError as error:
        print(f"! the address has no key in it: {error.filename}: {error.strerror}", file=sys.stderr)
        return None
    except ValueError as error:
        raise CommandError(f"{error}: `palimpsest key --rotate` makes a new one") from error


def _mcp(settings: Settings, project: str | None, user: str | None) -> list[str]:
    """What starts our MCP server, wherever a runtime is started."""
    options = (("--home", str(settings.home)), ("--project", project), ("--user", user))
    return [*_ourselves(), "mcp", *(word for name, value in options if value for word in (name, value))]


def _ourselves() -> list[str]:
    """What starts this command, wherever it is started."""
    # The one that is installed beside this very interpreter, whatever else a PATH may find.
    program = shutil.which("palimpsest", path=str(Path(sys.executable).parent)) or shutil.which("palimpsest")
    return [program] if program else [sys.executable, "-m", "proxy"]


def project_here(settings: Settings) -> str | None:
    """The project of this folder, as a server would name it."""
    known = CheckoutLookup(names=settings.home / "projects.json", trusted=settings.home / TRUSTED)
    return project_of(known.locate(ClientEnvironment(directory=str(Path.cwd()))))


def _show(planned: ConnectPlan, as_json: bool) -> None:
    if as_json:
        _as_json(planned, [], written=[])
        return
    print(f"# {planned.title}\n")
    print(planned.snippet)
    _notes(planned)
    if planned.changes:
        print(f"`palimpsest connect {planned.runtime} --write` writes it.", file=sys.stderr)


def _write(planned: ConnectPlan, originals: Path, yes: bool, as_json: bool) -> None:
    if not planned.changes:
        raise CommandError(f"{planned.title} has no file to write: see `palimpsest connect {planned.runtime}`", 2)
    shown = preview(planned)
    changing = [each for each in shown if each.diff]
    if not as_json:
        _diff(changing)
    if not changing:
        done: list[Path] = []
    else:
        _sure(yes or as_json)
        done = carry_out(changing, originals)
    if as_json:
        _as_json(planned, changing, done)
        return
    for file in done:
        print(f"written: {file}")
    if not done:
        print("it is connected already")
    if planned.environment:
        print(f"Set this, too, where you start it:\n\n{planned.exports}\n")
    _notes(planned)
    if done:
        print(f"`palimpsest connect {planned.runtime} --undo` puts it back.", file=sys.stderr)


def _undo(planned: ConnectPlan, settled: Loaded, force: bool, yes: bool, as_json: bool) -> None:
    originals = settled.settings.home / ORIGINALS_FOLDER
    shown = undo_preview(planned, originals)
    too_large, unknown = _too_large(planned.runtime, settled) if shown else ([], "")
    if not as_json:
        _diff(shown)
        for line in [*sessions.warnings(too_large), *([unknown] if unknown else [])]:
            print(f"! {line}", file=sys.stderr)
    if shown:
        _sure(yes or as_json)
    done = put_back(planned, originals, force)
    if as_json:
        _as_json(planned, shown, done, too_large=too_large, unknown=unknown)
    elif done:
        print("\n".join(f"put back: {file}" for file in done))
    else:
        print("nothing of it was written by us")
        for file in connected_files(originals):
            print(f"still connected: {file}")


def _too_large(runtime: str, settled: Loaded) -> tuple[list[dict[str, Any]], str]:
    """A runtime's sessions that do not fit without us, and why that is not known where it cannot be found out."""
    if not has_memory(settled.settings):
        return [], ""
    try:
        with reach(settled) as server:
            response = server.ask("GET", "api/sessions", {"runtime": _CALLED.get(runtime, runtime)})
    except CommandError as error:
        return [], f"whether sessions are larger than their windows could not be found out: {error}"
    return [each for each in response["sessions"] if each["too_large"]], ""


_CALLED = {"claude": "claude-code", "qwen": "qwen-code"}
"""Runtimes that are called otherwise in what they send than on the command line."""


def _sure(yes: bool) -> None:
    """Ask, where somebody is there to answer."""
    if not yes and sys.stdin.isatty() and not typer.confirm("Write this?", default=True):
        raise CommandError("nothing was written")


def _diff(shown: Sequence[FilePreview]) -> None:
    for each in shown:
        print(each.diff or f"{each.path}: as it was")


def _notes(planned: ConnectPlan) -> None:
    for note in planned.notes:
        print(f"- {note}")
    for warning in planned.warnings:
        print(f"! {warning}", file=sys.stderr)


def _as_json(planned: ConnectPlan, shown: Sequence[FilePreview], written: Sequence[Path], **more: Any) -> None:
    fields = {
        "runtime": planned.runtime,
        "title": planned.title,
        "files": [{"path": str(each.path), "content": each.snippet} for each in planned.changes],
        "environment": dict(planned.environment),
        "example": planned.example,
        "notes": planned.notes,
        "warnings": planned.warnings,
        "diffs": {str(each.path): each.diff for each in shown},
        "written": [str(file) for file in written],
        **more,
    }
    print(json.dumps(fields, ensure_ascii=False))
