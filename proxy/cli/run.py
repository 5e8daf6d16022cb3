"""``palimpsest run``: start a client that has a memory for this one run, and leave nothing behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from proxy.cli.connecting import project_here
from proxy.cli.faults import CommandError
from proxy.cli.options import ConfigFile, Home, loaded, settings_file
from proxy.connect import GUIDES, LAUNCHES, ONLY_CONNECTED, Address, NotLaunchable, launch, look, plan
from proxy.settings import Settings

NOT_FOUND = 127
"""The exit code with which a shell says that there is no such program."""

BY_SIGNAL = 128
"""What a shell adds to the number of the signal that ended a program."""


def run(
    client: Annotated[str, typer.Argument(help="The program; any that reads OPENAI_BASE_URL works.", metavar="CLIENT")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Everything behind it is the client's own.", metavar="[ARGS]...")
    ] = None,
    project: Annotated[str | None, typer.Option("--project", "-p", help="Everything belongs to this project.")] = None,
    user: Annotated[str | None, typer.Option("--user", help="Everything belongs to this user.")] = None,
    key: Annotated[str | None, typer.Option("--key", help="The caller's key, where there are credentials.")] = None,
    home: Home = None,
    config: ConfigFile = None,
) -> None:
    """Run claude, codex, opencode, gemini, qwen, pi or any other client with memory, for this one run."""
    name = Path(client).name
    if name in ONLY_CONNECTED:
        here = look(Path.home(), Path.cwd(), os.environ)
        how = f"palimpsest connect {name}" + (
            " --write" if plan(name, Address(), here).changes else " shows what to write"
        )
        raise CommandError(f"{name} reads its address from a file of its own alone: {how}, then start it", 2)
    program = shutil.which(client)
    if program is None:
        hint = f" (the client is called {', '.join(LAUNCHES)}, or is a program on your PATH)"
        raise CommandError(f"{client} is not on your PATH: install it first{'' if name in GUIDES else hint}", NOT_FOUND)
    settings = loaded(home, config).settings
    if settings.credentials and key is None:
        raise CommandError("there are credentials in the settings: say with --key which one this client shall use", 2)
    try:
        from proxy.cli.supervisor import supervised_server
    except ImportError as error:  # no locks of files: Windows
        raise CommandError(f"this system cannot do that: palimpsest serve, and palimpsest connect {name}") from error
    given = arguments or []
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(supervised_server(settings, settings_file(home, config)))
        here = look(Path.home(), Path.cwd(), os.environ)
        try:
            launch_plan = launch(name, given, _address(url, settings, project, user, key), here)
        except NotLaunchable as error:
            raise CommandError(str(error), 2) from error
        for warning in launch_plan.warnings:
            print(f"! {warning}", file=sys.stderr)
        if launch_plan.files:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="palimpsest-run-"))
            for file, text in launch_plan.files.items():
                (Path(folder) / file).write_text(text, encoding="utf-8")
            launch_plan = launch_plan.within(folder)
        code = _until_it_ends([program, *launch_plan.arguments, *given], launch_plan.environment)
    raise typer.Exit(code)


def _address(url: str, settings: Settings, project: str | None, user: str | None, key: str | None) -> Address:
    """Where the client finds us."""
    return Address(url, project, project_here(settings), user, key)


def _until_it_ends(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """The exit code of a client, which has the terminal to itself; what asks us to stop is handed on to it."""
    with subprocess.Popen(command, env={**os.environ, **environment}) as client, _signals(client):
        code = client.wait()
    return code if code >= 0 else BY_SIGNAL - code


@contextlib.contextmanager
def _signals(client: subprocess.Popen[bytes]) -> Iterator[None]:
    """What ends us ends the client, whose end we then see. Ctrl-C reaches it anyway, and is its own affair."""

    def hand_on(number: int, frame: FrameType | None) -> None:
        client.send_signal(number)

    def leave(number: int, frame: FrameType | None) -> None:
        pass

    handlers = {signal.SIGTERM: hand_on, signal.SIGHUP: hand_on, signal.SIGINT: leave, signal.SIGQUIT: leave}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
