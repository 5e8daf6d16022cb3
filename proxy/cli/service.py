"""``palimpsest service``: the server as a service of this machine, there from login on and again when it dies."""

from __future__ import annotations

import math
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from proxy.cli import output, wording
from proxy.cli.call import Call, takes
from proxy.cli.faults import CommandError
from proxy.cli.home_owner import AnnouncedServer, announced
from proxy.cli.services import launchd, systemd
from proxy.cli.services.installation import Command, Installation, ServiceState, ServiceTarget
from proxy.connect import FilePreview
from proxy.settings import Settings

LOG = "server.log"
"""Below the home folder: what the server says, in a file that is kept short."""

START_SECONDS, EVERY = 30.0, 0.1
"""How long a server may take to listen, and between two looks whether it does."""

COMMAND_SECONDS = 60.0
"""How long a manager may take to answer, beside the server's ending where it waits for that."""

ENDING_SECONDS = 25
"""How long the server may take to end beside what it waits for replies that are under way."""

UNLOAD_SECONDS = 20.0
"""How long a manager may take to let go of what it was told to stop, beside the server's ending."""

REFUSED_SECONDS = 0.5
"""For how long it is watched whether a stop that a manager refused has begun all the same."""

PASSING = ("uv/archive-v", "uv/builds-v", "/_npx/")
"""What stands in the path of a program that is there for one call only."""

NOT_OURS = frozenset(("PALIMPSEST_HOME", "PALIMPSEST_CONFIG", "PALIMPSEST__SERVER__HOST", "PALIMPSEST__SERVER__PORT"))
"""Variables that a service need not see: what they say stands in its files."""

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

service = typer.Typer(
    help="Keep the server running from login on: install, start, stop, status, uninstall.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@service.command("install")
@takes()
def install(
    call: Call,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written and run, and stop.")] = False,
    yes: Yes = False,
) -> None:
    """Write the service and start it, after showing what is written and run."""
    settings, target = _installation(call)
    files = _files(target, gone=False)
    data: dict[str, Any] = {
        "manager": target.manager,
        "files": {str(file): text for file, text in target.files.items()},
    }
    data["commands"] = [list(each) for each in (*target.reload, *target.install)]
    if not call.as_json:
        _show(files, (*target.reload, *target.install))
        for line in _unseen():
            print(f"! {line}", file=sys.stderr)
    if not dry_run:
        _ask(target, yes or call.as_json)
        before = _state(target)
        _not_by_hand(settings, before)
        _write(files, target, before)
        there = _listening(settings)
        data["url"] = there.url
    if call.as_json:
        output.as_json({**data, "installed": not dry_run})
    elif not dry_run:
        print(f"installed, and runs at {data['url']}: its log is {settings.home / LOG}")
        for note in target.notes:
            print(f"- {note}")
        print(f"`{wording.program()} service uninstall` takes it away again.", file=sys.stderr)


@service.command("start")
@takes()
def start(call: Call) -> None:
    """Start the installed service."""
    settings, target = _installed(call)
    before = _state(target)
    if not before.process:
        _not_by_hand(settings, before)
        if before.known:
            _stop(target, target.stop, before)
        _obey(target.start)
    there = _listening(settings)
    _print(call, f"runs at {there.url}", running=True, url=there.url)


@service.command("stop")
@takes()
def stop(call: Call) -> None:
    """Stop it until the next login, or until it is started."""
    _, target = _installed(call)
    if (before := _state(target)).known:
        _stop(target, target.stop, before)
    _print(call, "stopped; it starts again at the next login", running=False)


@service.command("status")
@takes()
def status(call: Call) -> None:
    """Say whether it is installed and runs; the exit code is 0 where it does."""
    settings, target = _installation(call)
    there = [file for file in target.files if file.exists()]
    state = _state(target) if there else ServiceState("not installed", known=False)
    found = announced(settings.home)
    ours = found is not None and found.process == state.process
    fields = {
        "installed": bool(there),
        "manager": target.manager,
        "state": state.word,
        "process": state.process or None,
        "url": found.url if found is not None and ours else None,
        "files": [str(file) for file in there],
        "log": str(settings.home / LOG),
    }
    if call.as_json:
        output.as_json(fields)
    else:
        output.pairs((name, value) for name, value in fields.items() if value not in (None, []))
        if found is not None and not ours:
            print(f"! a server that is none of the service's runs at {found.url} (process {found.process})")
    if not state.process:
        raise typer.Exit(1)


@service.command("uninstall")
@takes()
def uninstall(call: Call, yes: Yes = False) -> None:
    """Stop it and take its files away. What is remembered stays."""
    settings, target = _installation(call)
    files = [each for each in _files(target, gone=True) if each.before is not None]
    if not files:
        _print(call, "it is not installed", removed=[])
        return
    if not call.as_json:
        _show(files, (*target.uninstall, *target.reload))
    _ask(target, yes or call.as_json)
    if (before := _state(target)).known:
        _stop(target, target.uninstall, before)
    for each in files:
        each.path.unlink()
    _obey(target.reload)
    _print(call, f"taken away; what is remembered stays in {settings.home}", removed=[str(each.path) for each in files])


def installation(settings: Settings, config: Path | None, platform: str = sys.platform) -> Installation:
    """What this machine's manager of services is given.

    Raises:
        Fault: where there is none that we know, or our program is not there to stay.
    """
    home = settings.home.resolve()
    place = settings.server
    ending = ENDING_SECONDS + math.ceil(place.drain.notice_seconds + place.drain.reply_seconds)
    served = ServiceTarget(_program(), home, place.host.strip("[]"), place.port, home / LOG, config, ending)
    if platform == "darwin":
        return launchd.installation(served, Path.home() / "Library" / "LaunchAgents", os.getuid())
    if platform == "linux":
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user"
        try:
            return systemd.installation(served, folder)
        except ValueError as error:
            raise CommandError(f"systemd cannot be told of it: {error}") from error
    raise CommandError(f"there are services for systemd and launchd only, not for {platform}: palimpsest serve")


def offered(settings: Settings) -> str:
    """The manager that could keep the server running here and does not yet; empty where there is none."""
    try:
        service = installation(settings, None)
    except CommandError:
        return ""
    if any(file.exists() for file in service.files) or _ran(service.there).returncode:
        return ""
    return service.manager


def _installation(call: Call) -> tuple[Settings, Installation]:
    settings = call.loaded().settings
    config = call.config or (Path(configured) if (configured := os.environ.get("PALIMPSEST_CONFIG")) else None)
    return settings, installation(settings, config.expanduser().resolve() if config else None)


def _installed(call: Call) -> tuple[Settings, Installation]:
    settings, target = _installation(call)
    if not any(file.exists() for file in target.files):
        raise CommandError("it is not installed: palimpsest service install", 2)
    return settings, target


def _program() -> list[str]:
    """What starts us, wherever a manager stands."""
    beside = shutil.which("palimpsest", path=str(Path(sys.executable).parent))
    program = [beside] if beside else [sys.executable, "-P", "-m", "proxy"]
    if any(part in Path(program[0]).as_posix() for part in PASSING):
        raise CommandError(
            f"{program[0]} is there for this call only: install it first (uv tool install palimpsest-proxy), and call "
            "`palimpsest service install` then"
        )
    return program


def _unseen() -> list[str]:
    """What is set in this shell and will not be in a service."""
    names = sorted(name for name in os.environ if name.startswith("PALIMPSEST_") and name not in NOT_OURS)
    return [f"{name} is set in this shell only: a service reads the settings file" for name in names]


def _files(target: Installation, *, gone: bool) -> list[FilePreview]:
    return [
        FilePreview(file, file.read_bytes() if file.exists() else None, None if gone else text.encode())
        for file, text in target.files.items()
    ]


def _show(files: Iterable[FilePreview], commands: Iterable[Command]) -> None:
    for each in files:
        print(each.diff or f"{each.path}: as it is")
    print("\n".join(f"$ {shlex.join(each)}" for each in commands))


def _ask(target: Installation, yes: bool) -> None:
    """Whether somebody wants it, and the manager can do it."""
    answered = _ran(target.there)
    if answered.returncode:
        why = (answered.stderr or answered.stdout).strip().partition("\n")[0]
        raise CommandError(
            f"{target.manager} does not answer for you here ({why}): nothing was changed. Where there is none, as in a "
            "container, start the server yourself: palimpsest serve"
        )
    if not yes and sys.stdin.isatty() and not typer.confirm("Do this?", default=True):
        raise CommandError("nothing was changed")


def _not_by_hand(settings: Settings, state: ServiceState) -> None:
    """A server that a person or `palimpsest run` started has the stores and the address."""
    found = announced(settings.home)
    if found is not None and found.process != state.process:
        raise CommandError(
            f"a server runs already at {found.url} (process {found.process}), started by hand or by `palimpsest run`: "
            "stop it first. Nothing was changed"
        )


def _write(files: list[FilePreview], target: Installation, before: ServiceState) -> None:
    """Write and start it; what was there stands there again where that fails."""
    written = []
    try:
        for each in files:
            each.path.parent.mkdir(parents=True, exist_ok=True)
            written.append(each)
            each.path.write_bytes(each.after or b"")
        _obey(target.reload)
        if before.known:
            _stop(target, target.stop, before)
        _obey(target.install)
    except (CommandError, OSError):
        for each in written:
            if each.before is None:
                each.path.unlink(missing_ok=True)
            else:
                each.path.write_bytes(each.before)
        for command in target.reload:
            _ran(command)
        raise


def _stop(target: Installation, commands: Iterable[Command], before: ServiceState) -> None:
    """Stop it, which stood as ``before``. Where that unloads it, not the answer tells whether it is done, but that it
    is gone: launchd refuses an agent that it has still to take away.

    Raises:
        Fault: when it is not.
    """
    answer_seconds = COMMAND_SECONDS + target.end_seconds
    if not target.unloads:
        _obey(commands, answer_seconds)
        return
    answers = [_ran(command, answer_seconds) for command in commands]
    refused = any(each.returncode for each in answers)
    asked_at = time.monotonic()
    while (state := _state(target)).known:
        stays = refused and state == before and not state.ending
        if time.monotonic() > asked_at + (REFUSED_SECONDS if stays else target.end_seconds + UNLOAD_SECONDS):
            words = " ".join((each.stderr or each.stdout).strip() for each in answers).strip()
            did = "refused to stop it" if stays else "was told to stop it, and has it still"
            raise CommandError(f"{target.manager} {did}: {words or 'it says nothing'}")
        time.sleep(EVERY)


def _state(target: Installation) -> ServiceState:
    return target.read(_ran(target.ask).stdout)


def _obey(commands: Iterable[Command], seconds: float = COMMAND_SECONDS) -> None:
    """Run what a manager is told, the one after the other, each for so many seconds at most.

    Raises:
        Fault: with the manager's own words, at the first that fails.
    """
    for command in commands:
        done = _ran(command, seconds)
        if done.returncode:
            raise CommandError(
                f"`{shlex.join(command)}` failed: {(done.stderr or done.stdout).strip() or done.returncode}"
            )


def _ran(command: Command, seconds: float = COMMAND_SECONDS) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except FileNotFoundError:
        return subprocess.CompletedProcess(command, 127, "", f"there is no {command[0]}")
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"it did not answer within {seconds:.0f} s")


def _listening(settings: Settings) -> AnnouncedServer:
    """The server, when it listens."""
    until = time.monotonic() + START_SECONDS
    while (found := announced(settings.home)) is None:
        if time.monotonic() > until:
            raise CommandError(f"it was started and does not listen yet: see {settings.home / LOG}")
        time.sleep(EVERY)
    return found


def _print(call: Call, sentence: str, **fields: Any) -> None:
    if call.as_json:
        output.as_json(fields)
    else:
        print(sentence)
