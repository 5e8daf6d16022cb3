"""The commands about what becomes a rule, before a running server with real stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proxy.cli.running import run

pytestmark = pytest.mark.usefixtures("server")


def promoted(text: str) -> str:
    """The id of a candidate that was put forward and not approved."""
    fact = run("remember", text, "--project", "boat", "--json").json["id"]
    shown = run("promote", fact, "--to", "project")
    assert shown.code == 2 and "nothing was written" in shown.err and text in shown.out
    [found] = [each for each in run("candidates", "--json").json["candidates"] if each["title"] == text]
    return str(found["id"])


def test_a_candidate_is_listed_looked_at_approved_and_taken_back() -> None:
    assert "nothing waits" in run("candidates").out
    id = promoted("Always squash before a merge")
    listed = run("candidates").out
    assert "Always squash" in listed and "1 session" in listed and "boat" in listed
    assert "1 candidate: palimpsest candidates" in run("status").out
    assert "waiting" in run("candidates", id[:8]).out
    would = run("approve", id, "--json").json
    assert not would["done"] and would["confirm"]
    done = run("approve", id[:8], "--text", "Squash before merging", "--yes")
    assert "approved: Squash before merging" in done.out and "projects.boat.folder" in done.out
    assert "nothing waits" in run("candidates").out
    assert "approved" in run("candidates", "--all").out
    assert "taken back" in run("approve", id, "--undo", "--yes").out
    assert "rejected" in run("reject", id, "--why", "not here").out
    assert run("candidates", id, "--json").json["reason"] == "not here"
    assert "deferred" in run("defer", id).out


def test_it_is_put_in_the_words_of_an_editor_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    id = promoted("Deploy on Fridays only")
    words = tmp_path / "words"
    words.write_text("Deploy on Mondays\n")
    assert run("approve", id, "--file", str(words), "--yes", "--json").json["candidate"]["text"] == "Deploy on Mondays"
    run("approve", id, "--undo", "--yes")
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'Deploy on Tuesdays\\n' > \"$1\"\n")
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    assert "approved: Deploy on Tuesdays" in run("approve", id, "--edit", "--yes").out
    refused = run("approve", id, "--edit", "--text", "x")
    assert refused.code == 2 and "one of" in refused.err
    missing = run("approve", "0000-none")
    assert missing.code == 1 and "no candidate" in missing.err


def test_a_fact_rises_to_all_projects() -> None:
    fact = run("remember", "I prefer short answers", "--project", "boat", "--json").json["id"]
    assert "all your projects" in run("promote", fact, "--to", "user").out
    assert "short answers" in run("facts", "--project", "car").out
