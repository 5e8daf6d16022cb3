"""The commands about nights, before a running server with real stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proxy.cli.running import run
from tests.proxy.cli.transcripts import files

pytestmark = pytest.mark.usefixtures("server")


def test_a_night_is_shown_done_listed_and_taken_back() -> None:
    assert "no night has changed anything" in run("nights").out
    assert "nothing changes" in run("consolidate").out
    for text in ("Always run the unit tests before a push", "always run all the unit tests before each push"):
        run("remember", text)
    dry = run("consolidate", "--dry-run")
    assert "would change" in dry.out and "merge" in dry.out
    assert len(run("facts", "--json").json["facts"]) == 2
    done = run("consolidate", "--json").json
    number = str(done["nights"][0]["number"])
    assert len(run("facts", "--json").json["facts"]) == 1
    assert "merge 1" in run("nights").out
    shown = run("night", number).out
    assert "merge (" in shown and shown.count("unit tests") == 2
    assert "taken back" in run("night", number, "--undo", "-y").out
    assert len(run("facts", "--json").json["facts"]) == 2
    assert "taken back" in run("nights").out
    refused = run("night", number, "--undo")
    assert refused.code != 0 and "already" in refused.err


def test_what_a_night_leaves_unsettled_is_counted_with_the_command_that_shows_it() -> None:
    run("remember", "The staging database is Postgres.", "-p", "boat")
    assert "contradiction" not in run("consolidate").out
    run("remember", "The staging database is MySQL.", "-p", "boat")
    assert run("conflicts", "--json").json["count"] == 1
    done = run("consolidate")
    assert "nothing changes" in done.out and "1 contradiction waits for you: `palimpsest conflicts` shows" in done.out
    assert "`palimpsest conflicts --project boat` shows" in run("consolidate", "--dry-run", "-p", "boat").out
    assert run("consolidate", "--json", "-p", "pier").json["unsettled"] == 0


def test_what_is_put_forward_again_is_told_by_the_id_that_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    rule = "Always use conventional commits in this project."
    for each in range(6):
        files.claude(tmp_path, f"s{each}", [("user", f"2026-01-{each + 10}T10:00:00Z", rule)])
    assert run("import", str(tmp_path)).code == 0
    [fact] = run("facts", "--json").json["facts"]
    run("promote", fact["id"], "--to", "project")
    [waiting] = run("candidates", "--json").json["candidates"]
    [night] = run("consolidate", "--json").json["nights"]
    assert [candidate["id"] for candidate in night["candidates"]] == [waiting["id"]]


def test_courtesies_that_are_left_out_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    talk = "Thanks, Bo! The lease of the boat house in Lisbon runs out in March, and Petra keeps the keys until then."
    files.claude(tmp_path, "s1", [("user", "2026-01-10T10:00:00Z", talk)])
    assert run("import", str(tmp_path)).code == 0
    assert "left out of 1 passage" in run("consolidate", "--dry-run").out
    [night] = run("consolidate", "--json").json["nights"]
    assert night["plain"] == 1
    shown = run("night", str(night["number"]))
    assert "left out of 1 passage" in shown.out and "gone" not in shown.out
    assert run("night", str(night["number"]), "--json").json["plain"] == 1


def test_a_day_that_is_none_is_refused() -> None:
    refused = run("consolidate", "--since", "someday")
    assert refused.code != 0 and "2026-03-01" in refused.err
