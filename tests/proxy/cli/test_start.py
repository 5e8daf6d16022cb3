"""What a server that starts does without, so that it listens soon; and that nothing is missing for it."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest

from proxy.cli.app import COMMANDS, GROUPS, command_line
from tests.proxy.cli.running import clean_environment, run

NOT_AT_A_START = (
    "litellm",
    "memory.features.nights.curating",
    "memory.learning.extract",
    "memory.learning.lesson",
    "memory.models.hosted_embedders",
    "memory.models.language",
    "memory.models.minilm",
    "memory.tiers.tier_choice",
    "proxy.cli.connecting",
    "proxy.cli.memories",
    "qdrant_client",
    "rich",
    "tenacity",
    "tiktoken",
    "tokenizers",
    "yaml",
)

NOT_BEFORE_IT_LISTENS = (
    "jinja2",
    "memory.bootstrap",
    "memory.context.pack",
    "memory.features.approvals.feature",
    "memory.ports",
    "memory.services.recall",
    "memory.stores",
    "numpy",
    "proxy.api.endpoints",
    "proxy.web",
    "sqlite3",
)

LISTENING = "from proxy.cli.app import command_line; command_line('serve'); import proxy.app"


def imported(*programs: str) -> list[list[str]]:
    """What one process has imported after each of the programs that it runs one behind the other."""
    told = "; ".join(f"{program}; print(*sys.modules)" for program in programs)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {told}"],
        capture_output=True,
        text=True,
        check=True,
        env=clean_environment(),
    )
    return [line.split() for line in done.stdout.splitlines()]


def test_a_server_listens_before_memory_is_imported_and_then_imports_nothing_that_it_does_not_need() -> None:
    listening, started = imported(LISTENING, "import memory.bootstrap, proxy.api.endpoints, proxy.web")
    assert "proxy.cli.serving" in listening and "proxy.exchange" in listening
    assert [name for name in (*NOT_BEFORE_IT_LISTENS, *NOT_AT_A_START) if name in listening] == []
    assert "memory.bootstrap" in started
    assert [name for name in NOT_AT_A_START if name in started] == []


NOT_TO_ASK_A_SERVER = (
    "asyncio",
    "click",
    "memory.language.words",
    "memory.ports",
    "memory.stores.sealed",
    "numpy",
    "proxy.settings",
    "pydantic",
    "pydantic_core",
    "rich.progress",
    "yaml",
)

PARSED = (
    "from typer.main import get_command; from proxy.cli.app import command_line; "
    "whole = get_command(command_line({0[0]!r})); context = whole.make_context('palimpsest', {0!r}); "
    "whole.commands[{0[0]!r}].make_context({0[0]!r}, {0!r}[1:], parent=context)"
)
"""All that the command line does before a command's own function is called with its arguments."""


@pytest.mark.parametrize(
    "line", ["facts -n 5", "status --home /", "log", "why --json", "mcp --project loom", "search x"]
)
def test_a_command_that_asks_a_server_imports_nothing_that_only_the_server_needs(line: str) -> None:
    [there] = imported(PARSED.format(line.split()))
    assert "proxy.cli.server" in there
    assert [each for each in NOT_TO_ASK_A_SERVER if each in there] == []


def test_a_status_line_imports_next_to_nothing() -> None:
    [there] = imported("import proxy.cli.status_summary")
    assert [each for each in ("typer", "rich", "ssl", *NOT_TO_ASK_A_SERVER) if each in there] == ["ssl"]


@pytest.mark.parametrize("name", [*COMMANDS, *GROUPS])
def test_every_command_stands_alone_and_among_all(name: str) -> None:
    alone = run(name, "--help")
    assert alone.code == 0 and f"palimpsest {name}" in alone.out
    assert f"\n  {name} " in among_all()


@cache
def among_all() -> str:
    """What the program says of all its commands."""
    return run("--help").out


def test_a_command_that_is_asked_for_is_the_only_one() -> None:
    assert [each.name for each in command_line("pin").registered_commands] == ["pin"]
    assert [each.name for each in command_line("--version").registered_commands] == ["version"]
    assert len(command_line("pni").registered_commands) == len(COMMANDS)
