"""The command line as a person meets it: in this process where that is enough, as a program of its own where not."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from proxy.cli.app import command_line
from proxy.cli.faults import as_sentences, obey
from proxy.cli.home_owner import ANNOUNCED
from proxy.cli.instance_lock import owned
from proxy.cli.options import loaded
from proxy.cli.server import RunningServer
from proxy.cli.server_access import in_process

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """What it printed, as JSON."""
        told: dict[str, Any] = json.loads(self.out)
        return told


def run(*arguments: str, stdin: str = "") -> Done:
    """Run a command in this process, with faults told as the program tells them."""
    capture = CliRunner()
    with capture.isolation(stdin) as (out, err, _):
        code = 0
        try:
            with as_sentences(as_json="--json" in arguments):
                obey(command_line(*arguments[:1]), arguments, "palimpsest")
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        sys.stdout.flush()
        sys.stderr.flush()
        return Done(code, out.getvalue().decode(), err.getvalue().decode())


@contextmanager
def beside(home: Path) -> Iterator[RunningServer]:
    """A server in this process that has the home of the settings open, and is found by the commands."""
    with owned(home), in_process(loaded()) as started:
        (home / ANNOUNCED).write_text(json.dumps({"url": started.url, "pid": os.getpid()}))
        yield started


def clean_environment(**more: str) -> dict[str, str]:
    """This process's environment without settings of ours."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PALIMPSEST")}
    return kept | {"COLUMNS": "200", "OMP_NUM_THREADS": "1"} | more


@dataclass
class Program:
    """A server that runs as a program of its own."""

    process: asyncio.subprocess.Process
    url: str
    welcome: list[str]

    async def stop(self) -> tuple[int, str]:
        """Tell it to stop, and wait; its exit code and what it logged."""
        self.process.terminate()
        _, logged = await self.process.communicate()
        return self.process.returncode or 0, logged.decode()


async def program(*arguments: str, stdin: bytes = b"", **environment: str) -> Done:
    """Run the program to its end."""
    process = await _start(*arguments, **environment)
    out, err = await process.communicate(stdin)
    return Done(process.returncode or 0, out.decode(), err.decode())


@asynccontextmanager
async def serving(*arguments: str, **environment: str) -> AsyncIterator[Program]:
    """``palimpsest serve`` on a free port."""
    process = await _start("serve", "--port", "0", *arguments, **environment)
    assert process.stdout is not None and process.stderr is not None
    first = (await process.stdout.readline()).decode()
    if "http://" not in first:
        pytest.fail(f"it did not start: {first!r} {(await process.stderr.read()).decode()}")
    lines = [first]
    while "palimpsest doctor" not in lines[-1]:
        lines.append((await process.stdout.readline()).decode())
    try:
        yield Program(process, first.split()[-1], lines)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def _start(*arguments: str, **environment: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "proxy",
        *arguments,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=clean_environment(PYTHONPATH=str(ROOT), **environment),
    )
