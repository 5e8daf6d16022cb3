"""The commands about memories, before a running server with real stores."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory.services.learn import Learner
from proxy.cli.server import RunningServer
from tests.proxy.cli.running import run

pytestmark = pytest.mark.usefixtures("server")


def remembered(text: str, *options: str) -> str:
    """The new fact's id."""
    id = run("remember", text, "--json", *options).json["id"]
    assert isinstance(id, str)
    return id


def test_what_is_remembered_is_listed_found_shown_pinned_and_forgotten() -> None:
    id = remembered("The staging cluster is called heron")
    assert "heron" in run("facts").out
    assert [each["id"] for each in run("search", "staging cluster", "--json").json["results"]] == [id]
    assert "heron" in run("search", "What is the staging cluster called?").out
    told = run("fact", id[:8])
    assert told.code == 0 and "heron" in told.out and "person" in told.out
    assert run("pin", id[:8], "--json").json["pinned"] is True
    assert "pinned" in run("facts").out
    assert "let go of" in run("pin", id[:8], "--off").out
    assert "1 fact," in run("forget", id[:8]).out
    assert "nothing has been learned yet" in run("facts").out
    assert "has to do with it" in run("search", "staging cluster").out


def test_a_text_stands_below_what_is_said_about_it_where_there_is_no_room_beside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "The staging cluster is called heron, after the bird on the pier of the old harbour"
    id = remembered(text)
    monkeypatch.setenv("COLUMNS", "80")
    about, *below = run("facts").out.splitlines()
    assert about.startswith(id[:8]) and " ".join(" ".join(below).split()) == text
    assert all(line.startswith("  ") for line in below)
    monkeypatch.setenv("COLUMNS", "200")
    head, line = run("facts").out.splitlines()
    assert head.split()[:2] == ["id", "day"] and text in line


def test_it_is_said_where_something_is_remembered() -> None:
    assert "remembered in loom, as " in run("remember", "The loom is green", "--project", "loom").out
    assert "remembered everywhere, as " in run("remember", "I like otters").out


def test_what_is_remembered_here_belongs_to_this_project(tmp_path: Path) -> None:
    remembered("The mascot is an otter", "--here")
    assert run("facts", "--project", "elsewhere", "--json").json["facts"] == []
    [fact] = run("facts", "--here", "--json").json["facts"]
    assert fact["layer"] == "user-project"
    assert "everywhere" not in run("facts").out


def test_text_that_looks_like_markup_is_shown_as_it_is() -> None:
    remembered("Use [bold]brackets[/bold] and :smile: as they are")
    assert "[bold]brackets[/bold] and :smile:" in run("facts").out


def test_what_the_projects_files_say_is_counted_below_what_was_said(home: Path) -> None:
    remembered("The lighthouse keeper is called Ines")
    file = remembered("The linter is ruff")
    with closing(sqlite3.connect(home / "journal.db")) as journal, journal:
        journal.execute("UPDATE facts SET origin = 'file' WHERE id = ?", (file,))
    told = run("facts").out
    assert "Ines" in told and "ruff" not in told and "and 1 more that the project's own files say" in told
    assert "ruff" in run("facts", "linter").out
    assert len(run("facts", "--json").json["facts"]) == 2


def test_what_was_said_is_listed_however_much_newer_the_projects_files_are(home: Path) -> None:
    for name in ("Ines", "Jorge"):
        remembered(f"The lighthouse keeper is called {name}")
    files = [remembered(f"The linter of module {number} is ruff") for number in range(5)]
    with closing(sqlite3.connect(home / "journal.db")) as journal, journal:
        journal.executemany("UPDATE facts SET origin = 'file' WHERE id = ?", [(each,) for each in files])
    told = run("facts", "--limit", "2").out
    assert "Ines" in told and "Jorge" in told and "ruff" not in told
    assert "and 5 more that the project's own files say" in told


def test_where_only_the_projects_files_said_something_that_is_told(home: Path) -> None:
    remembered("The linter is ruff")
    with closing(sqlite3.connect(home / "journal.db")) as journal, journal:
        journal.execute("UPDATE facts SET origin = 'file'")
    told = run("facts").out
    assert "nothing has been learned yet but what the project's own files say" in " ".join(told.split())
    assert "nothing that has been learned is like that" in run("facts", "heron").out


def test_on_a_terminal_a_memory_is_shown_before_it_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    id = remembered("The lighthouse keeper is called Ines")
    monkeypatch.setattr("proxy.cli.prompts.is_interactive", lambda: True)
    kept = run("forget", id[:8], stdin="n\n")
    assert kept.code == 1 and "Ines" in kept.out and "nothing was forgotten" in kept.err
    assert "1 fact," in run("forget", id[:8], stdin="y\n").out


def test_who_names_a_memory_by_its_words_is_told_how_it_is_named() -> None:
    assert "named by its id" in run("forget", "lighthouse").err
    assert "named by its id" not in run("forget", "abcdef12").err


def test_forgetting_by_a_query_shows_what_goes_and_wants_a_yes() -> None:
    remembered("The lighthouse keeper is called Ines")
    remembered("The harbour opens at nine")
    refused = run("forget", "--query", "lighthouse")
    assert refused.code == 2 and "Ines" in refused.out and "--yes" in refused.err
    assert len(run("facts", "--json").json["facts"]) == 2
    done = run("forget", "--query", "lighthouse", "--yes", "--json")
    assert len(done.json["forgotten"]["facts"]) == 1
    assert [each["text"] for each in run("facts", "--json").json["facts"]] == ["The harbour opens at nine"]
    assert "nothing that is remembered holds these words" in run("forget", "--query", "lighthouse", "--yes").out


@pytest.mark.parametrize("ask", [("--query", "lighthouse", "-y"), ("--query", "lighthouse", "--dry-run"), ("ID",)])
def test_a_forget_while_learning_is_behind_says_so(ask: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    id = remembered("The lighthouse keeper is called Ines")
    asked = [id if each == "ID" else each for each in ask]

    async def behind(learner: Learner, seconds: float) -> int:
        return 7

    with monkeypatch.context() as patched:
        patched.setattr(Learner, "catch_up_for", behind)
        assert run("forget", "--query", "zebra", "--yes", "--json").json["behind"] == 7
        assert "7 exchanges are not learned from yet" in run("forget", *asked).out
    assert "not learned from yet" not in run("forget", "--query", "zebra", "-y").out


def test_the_page_is_shown_and_its_own_part_written(tmp_path: Path) -> None:
    remembered("Always answer in British English.", "--project", "zoo", "--pin")
    shown = run("page", "--project", "zoo")
    assert "British English" in shown.out and shown.err.strip().endswith("MEMORY.md")
    own = tmp_path / "own.md"
    own.write_text("The zoo closes on Mondays.\n")
    assert "Mondays" in run("page", "--project", "zoo", "--write", str(own)).out
    assert run("page", "--project", "zoo", "--json").json["own"] == "The zoo closes on Mondays."
    assert run("page", "--project", "zoo", "--write", "-", stdin="Open at ten.").out.startswith("Open at ten.")


def test_the_page_is_edited_in_the_persons_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\necho "Edited by hand." > "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    assert run("page", "--edit", "--json").json["own"] == "Edited by hand."
    monkeypatch.setenv("VISUAL", "/nowhere/at/all")
    failed = run("page", "--edit")
    assert failed.code == 1 and "cannot be started" in failed.err


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (("fact", "ffffffff"), 1, "there is no memory"),
        (("fact", "ab"), 1, "4 to 64 characters"),
        (("forget",), 2, "say which"),
        (("forget", "ffffffff", "--query", "x"), 2, "say which"),
        (("remember", "   "), 1, "missing or empty"),
        (("remember", "x", "--kind", "wish"), 1, "is one of"),
        (("search", "x", "--limit", "0"), 2, ""),
        (("page", "--write", "/nowhere/at/all"), 1, "/nowhere/at/all"),
        (("log", "ffffffff"), 1, "no receipt"),
        (("unheard-of",), 2, ""),
    ],
)
def test_faults_are_sentences_with_an_exit_code(arguments: tuple[str, ...], code: int, sentence: str) -> None:
    done = run(*arguments)
    assert done.code == code
    assert sentence in done.err and "Traceback" not in done.err


def test_the_servers_fault_is_told_in_its_own_words(server: RunningServer, home: Path) -> None:
    (home / "token").write_text("0" * 64)
    done = run("facts")
    assert done.code == 1 and "token" in done.err and "Traceback" not in done.err


def test_why_something_is_recalled_is_explained() -> None:
    id = remembered("The staging cluster is called heron")
    told = run("search", "What is the staging cluster called?", "--explain", "--json").json["explained"]
    assert told["asked"][0]["best"] >= told["asked"][0]["needed"]
    assert [(each["id"], each["fate"]) for each in told["looked"]] == [(id, "shown")]
    assert "heron" in told["text"]
    read = run("search", "What is the staging cluster called?", "--explain").out
    assert "passes the floor" in read and "heron" in read and "coverage" in read
    assert "asks nothing of memory" in run("search", "ok, go on", "--explain").out
    assert run("search", "the cluster", "--explain", "--as-of", "2026").code == 1


def test_what_answers_for_a_whole_day_is_explained_too() -> None:
    id = remembered("The staging cluster is called heron")
    told = run("search", "What did we do today?", "--explain", "--json").json["explained"]
    assert [(each["id"], each["fate"]) for each in told["looked"]] == [(id, "shown")]
    assert "heron" in told["text"]
    assert "asked as a whole" in run("search", "What did we do today?", "--explain").out


def test_a_stream_of_the_page_is_edited_and_memory_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remembered("The release manager is Priya.", "--project", "zoo", "--pin")
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i "s/Priya/Tomas/" "$1"\necho "- ???" >> "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    done = run("page", "--project", "zoo", "--edit")
    assert "Tomas" in done.out and "Priya" not in done.out
    assert "projects.md:4: it says nothing that could be remembered" in done.err
    states = {each["text"]: each["state"] for each in run("facts", "--state", "all", "--json").json["facts"]}
    assert states == {"The release manager is Priya.": "superseded", "The release manager is Tomas.": "active"}


def test_a_fact_is_updated_and_confirmed() -> None:
    remembered("The harbour opens at nine.")
    [old] = run("facts", "--json").json["facts"]
    assert "opens at eight" in run("update", old["id"][:8], "The harbour opens at eight.").out
    [new] = run("facts", "--json").json["facts"]
    assert run("confirm", new["id"], "--json").json["access"] == 2
    refused = run("confirm", old["id"])
    assert refused.code == 1 and new["id"] in refused.err


@pytest.mark.parametrize("command", [("status",), ("facts",), ("doctor",), ("connect", "codex")])
@pytest.mark.parametrize("left", [None, ""])
def test_a_token_that_is_gone_while_the_server_runs_is_told_with_what_helps(
    home: Path, command: tuple[str, ...], left: str | None
) -> None:
    (home / "token").unlink()
    if left is not None:
        (home / "token").write_text(left)
    done = run(*command)
    told = done.out + done.err
    assert done.code == 1 and f"{home / 'token'}, the token" in told
    assert "Restart the server" in told and "another palimpsest" not in told


def test_a_token_that_is_not_the_servers_is_told_with_what_helps(home: Path) -> None:
    (home / "token").write_text("0" * 64)
    done = run("facts")
    assert done.code == 1 and "restarted" in done.err and "Bearer" not in done.err


def test_all_that_is_held_of_a_person_is_given_out_shown_and_forgotten(tmp_path: Path) -> None:
    remembered("The staging cluster is called heron", "--user", "ada")
    kept = remembered("The archive is called stork", "--user", "grace")
    file, words = tmp_path / "ada.jsonl", tmp_path / "words"
    for name, bird in (("ada", "Wrens"), ("grace", "Owls")):
        words.write_text(f"{bird} nest in the mast.")
        assert run("page", "--user", name, "--project", "loom", "--write", str(words)).code == 0
    assert run("export", "--user", "ada", "--whole", "--out", str(file)).code == 0
    given = file.read_text()
    assert "heron" in given and "Wrens" in given and "stork" not in given and "Owls" not in given
    assert run("export", "--whole").code == 2
    shown = run("forget", "--user", "ada", "--dry-run").out
    assert "facts" in shown and "would stay" in shown
    assert run("forget", "--user", "ada", "--project", "loom").code == 2
    assert "--yes" in run("forget", "--user", "ada").err
    assert "forgotten: " in run("forget", "--user", "ada", "--yes").out
    assert run("forget", "--user", "ada", "--dry-run", "--json").json["would_go"] == {}
    assert run("fact", kept, "--user", "grace").code == 0


def test_what_is_not_there_is_told_and_not_what_was_done_with_it(server: RunningServer) -> None:
    run("remember", "The mast is oak.")
    assert run("forget", "--query", "weather", "--yes").out == "nothing that is remembered holds these words\n"
    told = run("forget", "--user", "eve", "--dry-run").out
    assert told.startswith("nothing is held of eve\n") and "others have: local 1" in told
    assert run("quarantine", "--release").out == "nothing is in quarantine\n"
    assert "nothing that is in quarantine came from there" in run("quarantine", "--release", "--from", "program=x").out
    assert run("audit", "--who", "nobody").out == "nothing that was asked is like that\n"
