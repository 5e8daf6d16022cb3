"""``palimpsest quarantine`` and ``palimpsest forget --from``, as a person meets them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from proxy.cli.provenance import came, moment
from proxy.cli.server import RunningServer
from tests.proxy.cli.running import run

SAID = "The mooring is number twelve."


def test_what_was_learnt_since_a_time_goes_into_quarantine_and_comes_back(server: RunningServer) -> None:
    run("remember", SAID, "--project", "boat")
    assert "nothing is in quarantine" in run("quarantine").out
    shown = run("quarantine", "--since", "1h", "--dry-run")
    assert SAID in shown.out and SAID in run("facts", "--project", "boat").out
    asked = run("quarantine", "--since", "1h")
    assert asked.code == 2 and "Put 1 memory into quarantine? Say --yes" in asked.err
    assert "1 memory in quarantine" in run("quarantine", "--since", "1h", "--yes").out
    assert SAID not in run("facts", "--project", "boat").out and SAID in run("quarantine").out
    assert "1 memory released" in run("quarantine", "--release", "--yes").out
    assert SAID in run("facts", "--project", "boat").out


def test_all_that_came_from_somewhere_is_shown_and_forgotten(server: RunningServer) -> None:
    run("remember", SAID, "--project", "boat")
    run("remember", "The mascot is an otter.", "--project", "loom")
    assert "nothing that is remembered came from there" in run("forget", "--from", "program=nobody").out
    assert SAID in run("forget", "--from", "project=boat", "--dry-run").out
    assert SAID in run("facts", "--project", "boat").out
    done = run("forget", "--from", "project=boat", "--since", "2d", "-y")
    assert done.code == 0 and "forgotten: 1 fact" in done.out
    assert SAID not in run("facts").out and "otter" in run("facts").out


def test_a_memory_tells_where_it_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    came({"program": "opencode", "client_session": "mine", "credential": "07a1db68eff0da17", "model": ""})
    assert capsys.readouterr().out == "\ncame from: opencode\nits session: mine\ncredential: 07a1db68eff0da17\n"


@pytest.mark.parametrize("wrong", ["planet=mars", "session", "session="])
def test_what_is_no_source_is_refused(wrong: str, server: RunningServer) -> None:
    assert run("forget", "--from", wrong).code == 2 and run("quarantine", "--from", wrong).code == 2


def test_times_are_said_in_several_ways() -> None:
    assert moment(None) is None
    assert datetime.fromisoformat(moment("2026-03-04") or "").date().isoformat() == "2026-03-04"
    ago = datetime.now().astimezone() - datetime.fromisoformat(moment("2h") or "")
    assert timedelta(hours=1, minutes=59) < ago < timedelta(hours=2, minutes=1)
