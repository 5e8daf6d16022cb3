"""The first day: what is found is shown, connected on a yes, learned from on a yes, and judged."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from proxy.cli import prompts, service
from proxy.cli.server import RunningServer
from proxy.cli.setup import strongest_of
from tests.proxy.cli.running import clean_environment, run
from tests.proxy.cli.test_importing import TALK
from tests.proxy.cli.transcripts import files


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Somebody who has Claude Code and Codex, and has used the first."""
    folder = tmp_path / "person"
    for name in ("claude", "codex"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    files.claude(folder, "s1", TALK)
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(prompts, "is_interactive", lambda: True)
    return folder


def test_all_is_done_on_a_yes(person: Path, server: RunningServer) -> None:
    done = run("setup", stdin="y\ny\ny\nx\ny\nn\n")
    assert done.code == 0, done.err
    assert f"The server runs at {server.url}" in done.out and "+model_provider" in done.out
    assert server.url in (person / ".codex" / "config.toml").read_text()
    assert "ANTHROPIC_BASE_URL" in json.loads((person / ".claude" / "settings.json").read_text())["env"]
    assert "Found 1 session of Claude Code." in done.out and "1 session: 2 of 2 turns" in done.out
    assert "1 of 2  Never merge" in done.out or "1 of 2  We decided" in done.out
    assert "   confirmed\n" in done.out and "   forgotten\n" in done.out
    assert len(run("facts", "--json").json["facts"]) == 1 and "Codex CLI, Claude Code: work as always" in done.out
    again = run("setup", stdin="n\n")
    assert again.out.count("is connected already") == 2 and "palimpsest import" in again.out


def test_who_stops_in_between_is_told_that_it_can_be_gone_on_with(person: Path, server: RunningServer) -> None:
    done = run("setup", stdin="y\n")
    assert done.code == 130 and "stopped: what was done until here stays, `palimpsest setup` goes on" in done.err
    assert "palimpsest" in (person / ".codex" / "config.toml").read_text()


def test_nothing_is_done_without_a_yes(person: Path, server: RunningServer) -> None:
    done = run("setup", stdin="n\nn\nn\n")
    assert done.code == 0 and "Nothing is connected yet" in done.out
    assert not (person / ".codex").exists() and not (person / ".claude" / "settings.json").exists()
    assert run("status", "--json").json["stored"]["exchanges"] == 0


def test_a_service_is_offered_where_there_is_a_manager(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "offered", lambda settings: "systemd")
    called: list[dict[str, Any]] = []
    monkeypatch.setattr(service, "install", lambda **given: called.append(given))
    asked = run("setup", stdin="y\nn\nn\nn\n").out
    assert "Keep one running from login on, with systemd?" in asked and called[0]["yes"] is True
    assert "palimpsest serve" in run("setup", stdin="n\nn\nn\nn\n").out and len(called) == 1


def test_where_nobody_can_answer_it_asks_nothing(
    person: Path, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompts, "is_interactive", lambda: False)
    done = run("setup")
    assert done.code == 2 and "--yes" in done.err
    told = run("setup", "--json").json
    assert [(each["runtime"], each["connected"]) for each in told["runtimes"]] == [("codex", False), ("claude", False)]
    assert told["histories"] == {"claude": 1}
    assert run("setup", "--yes").code == 0
    assert all(each["connected"] for each in run("setup", "--json").json["runtimes"])
    assert len(run("facts", "--json").json["facts"]) == 2


def test_a_finding_can_be_said_better_and_the_rest_left(
    person: Path, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = person.parent / "editor"
    editor.write_text('#!/bin/sh\nprintf "We never push to main.\\n" > "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("PATH", f"{person.parent / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("EDITOR", str(editor))
    done = run("setup", stdin="n\nn\ny\ne\n\n")
    assert "now: We never push to main." in done.out and "left as it is" in done.out
    assert "We never push to main." in {each["text"] for each in run("facts", "--json").json["facts"]}


def test_who_connects_without_a_server_is_told_what_that_means(person: Path, home: Path) -> None:
    done = run("setup", stdin="y\nn\nn\n")
    told = " ".join(done.out.split())
    assert "Codex CLI: connected, and no server runs yet. Until one does, they reach no model" in told
    assert "work as always" not in told


def test_a_client_that_takes_variables_only_is_told_how(person: Path, server: RunningServer) -> None:
    for name in ("goose", "gemini"):
        (person.parent / "bin" / name).write_text("#!/bin/sh\n")
        (person.parent / "bin" / name).chmod(0o755)
    done = run("setup", "--yes").out
    assert "goose: `palimpsest run goose` starts it with memory" in done
    assert f"export GOOGLE_GEMINI_BASE_URL={server.url}" in done


def test_a_file_that_cannot_be_changed_is_told_and_the_rest_goes_on(person: Path, server: RunningServer) -> None:
    (person / ".codex").mkdir()
    (person / ".codex" / "config.toml").write_text("model_providers = { x = { } }\n")
    done = run("setup", "--yes")
    assert done.code == 0 and "! Codex CLI" in done.out and "Claude Code: work as always" in done.out


def test_the_strongest_is_what_was_said_most_often_and_nothing_private() -> None:
    plain = {"kind": "decision", "origin": "user", "sensitivity": "normal", "confidence": 0.9, "importance": 0.5}
    facts = [
        {**plain, "id": "once", "sessions": 1},
        {**plain, "id": "often", "sessions": 3},
        {**plain, "id": "weighty", "sessions": 1, "importance": 1.0},
        {**plain, "id": "private", "sessions": 9, "sensitivity": "restricted"},
        {**plain, "id": "heard", "sessions": 9, "origin": "web"},
        {**plain, "id": "seen", "sessions": 9, "kind": "observation"},
    ]
    assert [each["id"] for each in strongest_of(facts)] == ["often", "weighty", "once"]


def test_alone_on_a_terminal_it_sets_up_and_afterwards_says_how_things_stand(person: Path, home: Path) -> None:
    environment = clean_environment(PALIMPSEST_HOME=str(home), PYTHONPATH=str(Path(__file__).parents[3]))
    first = _typed("n\nn\nn\nn\n", environment)
    assert "Connect Codex CLI in this way?" in first and "Nothing is connected yet" in first
    run("connect", "codex", "--write", "--yes")
    assert "palimpsest: not running" in _typed("", environment)


def _typed(text: str, environment: dict[str, str]) -> str:
    """What the program says at a terminal, without arguments."""
    outer, inner = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "proxy"], stdin=inner, stdout=inner, stderr=inner, env=environment):
        os.close(inner)
        os.write(outer, text.encode())
        said = b""
        while True:
            try:
                piece = os.read(outer, 4096)
            except OSError:  # Linux says so when the other end is closed.
                break
            if not piece:
                break
            said += piece
    os.close(outer)
    return said.decode()
