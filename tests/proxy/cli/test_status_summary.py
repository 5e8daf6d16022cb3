"""One line for a prompt: what it says, its exit code, and how little it takes."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proxy.cli import status_summary
from proxy.cli.home_owner import ANNOUNCED
from proxy.cli.server import RunningServer
from proxy.cli.status_summary import home_of, line, main, short
from tests.proxy.cli.running import clean_environment, run

WELL: dict[str, Any] = {"status": "ok", "why": [], "memory": "on", "memories": 1412, "candidates": 0}
SUMS = {"added": 1240, "shorter": 2_300_000, "saved": 0.44, "spent": 0.11, "lost": 0.02, "net": 0.31}
CPU_SECONDS = 0.25


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that shares two cores with other tests may take longer than a prompt waits for it."""
    monkeypatch.setattr(status_summary, "SECONDS", 60.0)


def test_a_line_of_a_server_that_runs(server: RunningServer) -> None:
    run("remember", "The harbour opens at nine")
    done = run("statusline")
    assert (done.code, done.out) == (0, "palimpsest: 1 memory\n")
    told = run("statusline", "--json").json
    assert told["running"] and told["url"] == server.url and told["sums"]["requests"] == 0


def test_without_a_server_it_says_so_and_opens_nothing(home: Path) -> None:
    done = run("statusline")
    assert (done.code, done.out) == (2, "palimpsest: not running\n") and not home.exists()


def test_a_server_that_does_not_answer_is_not_waited_for(server: RunningServer, home: Path) -> None:
    (home / ANNOUNCED).write_text(json.dumps({"url": "http://127.0.0.1:1", "pid": os.getpid()}))
    assert (run("statusline").code, run("statusline").out) == (1, "palimpsest: does not answer\n")


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({}, "1,412 memories"),
        ({"sums": SUMS, "candidates": 2}, "1,412 memories, +1.2k tokens today, -2.3M shed, ~$0.31 saved, 2 to review"),
        ({"sums": {"added": 0, "shorter": 0, "saved": None, "net": None}, "memories": 1}, "1 memory"),
        ({"memory": "paused"}, "paused, 1,412 memories"),
        ({"memory": "off"}, "off"),
        ({"status": "degraded", "why": ["learning is 700 exchanges behind"]}, "! learning is 700 exchanges behind"),
        ({"status": "degraded", "why": ["a" * 90]}, f"! {'a' * 60}…"),
    ],
)
def test_what_is_said(told: dict[str, Any], said: str) -> None:
    assert line({**WELL, **told}) == f"palimpsest: {said}"


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0"), (999, "999"), (1000, "1k"), (1240, "1.2k"), (2_300_000, "2.3M")]
)
def test_a_number_is_short(number: int, told: str) -> None:
    assert short(number) == told


def test_what_it_does_not_know_is_for_the_whole_command_line(tmp_path: Path) -> None:
    assert home_of([], {"PALIMPSEST_HOME": str(tmp_path)}) == home_of(["--home", str(tmp_path)], {}) == tmp_path
    assert home_of([], {}) == Path.home() / ".palimpsest"
    assert main(["--help"]) is main(["--json"]) is None


def test_it_takes_next_to_nothing(server: RunningServer, home: Path) -> None:
    def took() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    command = [sys.executable, "-m", "proxy", "statusline", "--home", str(home)]
    spent = []
    for _ in range(3):
        before = took()
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean_environment())
        spent.append(took() - before)
        # On a busy machine the server may take longer than it is waited for: what is measured here is the command.
        assert done.stdout in ("palimpsest: 0 memories\n", "palimpsest: does not answer\n"), done.stderr
    assert min(spent) < CPU_SECONDS, spent
