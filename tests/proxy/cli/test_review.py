"""``palimpsest review``: one key for each of what was read with doubt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proxy.cli.review import one_by_one
from proxy.cli.server import RunningServer
from tests.proxy.cli.running import run
from tests.proxy.drafts import TEXT, draft


def drafted(server: RunningServer, text: str = TEXT) -> str:
    held = run("remember", "The roof of the shed is flat", "--json").json
    record = draft(held["owner"], text)
    assert server.ask("POST", "api/import/records", None, record)["facts"] == 1
    return str(record["id"])


def test_in_a_pipe_the_drafts_are_listed(server: RunningServer) -> None:
    assert "nothing waits" in run("review").out
    id = drafted(server)
    told = run("review")
    assert id[:8] in told.out and TEXT in told.out and "palimpsest confirm" in told.out
    assert [each["id"] for each in run("review", "--json").json["drafts"]] == [id]


def decided(server: RunningServer, keys: str) -> None:
    pressed = iter(keys)
    one_by_one(server, {}, run("review", "--json").json["drafts"], lambda: next(pressed))


def facts(state: str = "active") -> list[Any]:
    return [each["text"] for each in run("facts", "--json").json["facts"] if each["state"] == state]


def test_a_key_says_of_each_what_becomes_of_it(server: RunningServer) -> None:
    for text in ("The porch faces north", "The cellar floods in March", "The attic key hangs by the door"):
        drafted(server, text)
    decided(server, "xard")
    held = facts()
    assert "The attic key hangs by the door" in held, "the newest is asked about first"
    assert "The cellar floods in March" not in held
    assert [each["text"] for each in run("review", "--json").json["drafts"]] == ["The porch faces north"]


def test_it_holds_in_the_words_of_an_editor(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafted(server)
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'The porch sensor is two degrees off\\n' > \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    decided(server, "e")
    assert "The porch sensor is two degrees off" in facts() and TEXT not in facts()


def test_enough_leaves_the_rest(server: RunningServer) -> None:
    id = drafted(server)
    decided(server, "q")
    assert [each["id"] for each in run("review", "--json").json["drafts"]] == [id]


def test_the_status_says_how_many_wait(server: RunningServer) -> None:
    assert "palimpsest review" not in run("status").out
    drafted(server)
    assert "1 draft: palimpsest review" in run("status").out
    assert run("status", "--json").json["stored"]["drafts"] == 1
