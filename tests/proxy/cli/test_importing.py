"""``palimpsest import``, with files as runtimes write them, before a running server with real stores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory.stores import sealed
from proxy.api import imports
from proxy.cli import importing
from tests.proxy.cli.running import run
from tests.proxy.cli.transcripts import files

pytestmark = pytest.mark.usefixtures("server")

TALK: list[files.Said] = [
    ("user", "2026-03-04T15:30:00Z", "We decided to use PostgreSQL 16 for the billing service."),
    ("assistant", "2026-03-04T15:30:09Z", "Noted: the billing service will run on PostgreSQL 16."),
    ("user", "2026-03-05T09:00:00Z", "Never merge an invoice endpoint in here without a contract test."),
    ("assistant", "2026-03-05T09:00:05Z", "I will write one for each endpoint."),
]


@pytest.fixture(autouse=True)
def own_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "person"))


def taken(*arguments: str) -> dict[str, Any]:
    done = run("import", *arguments, "--json")
    assert done.code == (3 if done.json["problems"] else 0), done.err
    return done.json


def facts(*options: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run("facts", "--json", *options).json["facts"]
    return found


def test_a_session_of_claude_code_teaches_with_its_own_times_in_its_own_project(tmp_path: Path) -> None:
    files.claude(tmp_path, "s1", TALK)
    told = taken(str(tmp_path))
    assert (told["sessions"], told["turns"], told["new"], told["problems"]) == (1, 2, 2, [])
    assert told["more"]["facts"] == len(facts("--project", "/srv/boat")) and told["more"]["passages"] > 0
    assert "learned: 0 facts and 0 passages more than before" in run("import", str(tmp_path)).out
    found = {each["kind"]: each for each in facts("--project", "/srv/boat")}
    assert "PostgreSQL 16" in found["decision"]["text"]
    assert found["decision"]["recorded_at"].startswith("2026-03-04")
    assert found["decision"]["origin"] == "user"
    assert facts("--project", "/srv/other") == []


def test_importing_twice_is_importing_once_and_a_file_that_has_grown_goes_on(tmp_path: Path) -> None:
    files.claude(tmp_path, "s1", TALK[:2])
    taken(str(tmp_path))
    before = run("export").out
    again = taken(str(tmp_path))
    assert (again["new"], again["known"]) == (0, 1)
    assert run("export").out == before
    files.claude(tmp_path, "s1", TALK)
    more = taken(str(tmp_path))
    assert (more["new"], more["known"]) == (1, 1)
    assert all(each["access"] == 1 for each in facts())


def test_a_file_that_was_cut_is_told_and_goes_on_when_it_is_whole(tmp_path: Path) -> None:
    file = files.codex(tmp_path, "t1", TALK)
    whole = file.read_bytes()
    file.write_bytes(whole[: whole.index(b"Never merge") + 4])
    cut = taken(str(file))
    assert cut["new"] == 1
    [problem] = cut["problems"]
    assert problem["file"] == str(file) and problem["line"] == whole[: whole.index(b"Never merge")].count(b"\n") + 1
    file.write_bytes(whole)
    assert taken(str(file))["new"] == 1
    assert {each["kind"] for each in facts()} >= {"decision", "convention"}


def test_broken_lines_are_told_with_file_and_line_and_the_rest_goes_on(tmp_path: Path) -> None:
    file = files.claude(tmp_path, "s1", TALK)
    lines = file.read_text().splitlines()
    lines[1:1] = [
        "{broken",
        "[1, 2]",
        '{"type": "user", "message": {"role": "user", "content": "x"}, "timestamp": "?"}',
    ]
    file.write_text("\n".join(lines) + "\n")
    done = run("import", str(file))
    assert done.code == 3
    assert f"{file}:2: it is no JSON" in done.err and f"{file}:3:" in done.err and f"{file}:4:" in done.err
    assert "2 of 2 turns" in done.out
    assert len(facts()) >= 2


def test_what_the_environment_says_of_the_date_is_not_when_a_codex_turn_was(tmp_path: Path) -> None:
    taken(str(files.codex(tmp_path, "t1", TALK)))
    assert {each["recorded_at"][:4] for each in facts()} == {"2026"}


@pytest.mark.parametrize("whole", [False, True])
def test_sessions_of_opencode_are_read_from_its_database_in_both_its_shapes(tmp_path: Path, whole: bool) -> None:
    files.opencode(tmp_path, TALK, whole)
    told = taken(str(tmp_path))
    assert (told["sessions"], told["new"], told["problems"]) == (1, 2, [])
    assert any("PostgreSQL 16" in each["text"] for each in facts("--project", "/srv/boat"))


def test_a_sub_agents_task_is_not_the_persons_word(tmp_path: Path) -> None:
    files.claude(tmp_path, "s1", TALK, isSidechain=True, agentId="a1")
    assert taken(str(tmp_path))["sessions"] == 1
    assert {each["origin"] for each in facts()} <= {"sub-agent"}


def test_a_forked_session_teaches_nothing_twice(tmp_path: Path) -> None:
    original = files.claude(tmp_path, "s1", TALK)
    fork = original.with_name("s2.jsonl")
    fork.write_text(original.read_text().replace('"sessionId": "s1"', '"sessionId": "s2"'))
    told = taken(str(tmp_path))
    assert (told["sessions"], told["new"], told["copied"]) == (2, 2, 2)
    assert all(each["sessions"] == 1 for each in facts())


def test_what_was_said_before_a_change_does_not_take_it_back_when_it_is_imported_later(tmp_path: Path) -> None:
    change = "We switched the billing service from PostgreSQL to SQLite."
    newer = files.claude(tmp_path, "s2", [("user", "2026-06-01T10:00:00Z", change)])
    taken(str(newer))
    older = [("user", "2026-01-01T10:00:00Z", "We decided to use PostgreSQL for the billing service.")]
    taken(str(files.claude(tmp_path, "s1", older)))
    states = {each["text"]: each["state"] for each in facts("--state", "all")}
    assert states[change] == "active"
    assert [state for text, state in states.items() if "decided" in text] == ["superseded"]


def test_a_dry_run_says_what_it_would_do_and_takes_nothing(tmp_path: Path) -> None:
    files.claude(tmp_path, "s1", TALK)
    (tmp_path / "boat").mkdir()
    (tmp_path / "boat" / "CLAUDE.md").write_text("- Use tabs\n")
    told = taken(str(tmp_path), "--dry-run")
    assert (told["new"], told["facts"]) == (2, 1)
    assert facts() == []
    assert run("status", "--json").json["stored"]["exchanges"] == 0


def test_notes_for_agents_become_the_persons_own_words_and_orders_stay_orders(tmp_path: Path) -> None:
    boat = tmp_path / "boat"
    boat.mkdir()
    notes = "# Boat\n\nThe API listens on port 8080.\n\n## Rules\n- Use **pnpm**, never npm\n\n```sh\nrm -rf /\n```\n"
    (boat / "AGENTS.md").write_text(notes)
    assert taken(str(tmp_path))["facts"] == 2
    found = {each["text"]: each for each in facts("--project", str(boat))}
    assert set(found) == {"The API listens on port 8080.", "Use pnpm, never npm"}
    assert found["Use pnpm, never npm"]["kind"] in ("convention", "preference")
    assert {each["origin"] for each in found.values()} == {"person"}
    assert {each["layer"] for each in found.values()} == {"user-project"}
    assert taken(str(tmp_path))["known"] == 2
    assert len(facts()) == 2


def test_a_persons_notes_for_all_projects_belong_to_no_project(tmp_path: Path) -> None:
    home = tmp_path / "person" / ".claude"
    home.mkdir(parents=True)
    (home / "CLAUDE.md").write_text("- Answer in short sentences\n")
    assert taken("--kind", "markdown")["facts"] == 1
    assert [each["layer"] for each in facts()] == ["user"]


@pytest.mark.parametrize("format", ["jsonl", "markdown"])
def test_an_export_that_is_imported_elsewhere_is_the_same_to_the_byte(tmp_path: Path, format: str) -> None:
    taken(str(files.claude(tmp_path, "s1", TALK)))
    run("remember", "The staging cluster is called --> heron", "--pin")
    run("page", "--write", "-", "--project", "/srv/boat", stdin="Ask me before you deploy.")
    out = tmp_path / ("all.jsonl" if format == "jsonl" else "all.md")
    run("export", "--out", str(out), "--format", format)
    elsewhere = ("--home", str(tmp_path / "elsewhere"))
    told = taken(str(out), *elsewhere)
    assert told["problems"] == [] and told["facts"] >= 3 and told["passages"] >= 3 and told["pages"] == 1
    assert run("export", *elsewhere).out == run("export").out
    again = taken(str(out), *elsewhere)
    assert (again["facts"], again["passages"], again["pages"]) == (0, 0, 0)
    assert "heron" in run("search", "staging cluster", *elsewhere).out


def test_an_encrypted_export_is_imported_with_its_passphrase(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealed, "WORK", 10)
    secret, wrong, out = tmp_path / "secret", tmp_path / "wrong", tmp_path / "all.jsonl.age"
    secret.write_text("twelve moorings\n")
    wrong.write_text("thirteen moorings\n")
    run("remember", "The mascot is an otter", "--project", "boat")
    done = run("export", "--out", str(out), "--encrypt", "--passphrase-file", str(secret))
    assert done.code == 0 and b"otter" not in out.read_bytes()
    elsewhere = ("--home", str(tmp_path / "elsewhere"))
    assert "--passphrase-file" in run("import", str(out), *elsewhere).err
    assert "age: the passphrase" in run("import", str(out), "--passphrase-file", str(wrong), *elsewhere).err
    taken(str(out), "--passphrase-file", str(secret), *elsewhere)
    assert run("export", *elsewhere).out == run("export").out
    assert not list((tmp_path / "elsewhere").glob(".opened-*"))


def test_what_was_forgotten_stays_forgotten_whatever_is_imported(tmp_path: Path) -> None:
    id = run("remember", "The lighthouse keeper is called Ines", "--json").json["id"]
    out = tmp_path / "all.jsonl"
    run("export", "--out", str(out))
    run("forget", id)
    told = taken(str(out))
    assert (told["facts"], told["forgotten"]) == (0, 1)
    notes = tmp_path / "NOTES.md"
    notes.write_text("- The lighthouse keeper is called Ines\n")
    assert taken(str(notes), "--kind", "markdown", "--project", "x")["facts"] == 1  # another owner's is another memory
    assert facts("--project", "y") == []


def test_broken_records_are_told_by_line_and_the_rest_is_taken(tmp_path: Path) -> None:
    run("remember", "The mascot is an otter")
    record = next(json.loads(line) for line in run("export").out.splitlines() if '"sort":"fact"' in line)
    run("forget", record["id"])
    other = {**record, "id": "11111111-2222-4333-8444-555555555555", "text": "The mascot is a heron"}
    broken = [
        "{",
        json.dumps({**other, "confidence": 7}),
        json.dumps({**other, "recorded_at": "2026-02-31T00:00:00Z"}),
        json.dumps({**other, "kind": "rumour"}),
        json.dumps({**other, "owner": "o:someone"}),
        json.dumps({"sort": "riddle"}),
        json.dumps(other),
    ]
    file = tmp_path / "all.jsonl"
    file.write_text(json.dumps({"sort": "palimpsest", "format": 1}) + "\n" + "\n".join(broken) + "\n")
    told = taken(str(file))
    assert [each["line"] for each in told["problems"]] == [2, 3, 4, 5, 6, 7]
    assert told["facts"] == 1
    assert [each["text"] for each in facts()] == ["The mascot is a heron"]


def test_an_export_that_was_cut_is_taken_in_part_and_whole_when_it_is_mended(tmp_path: Path) -> None:
    for name in ("otter", "heron", "tern"):
        run("remember", f"The mascot of the {name} team is an {name}")
    whole, cut, elsewhere = tmp_path / "all.jsonl", tmp_path / "cut.jsonl", ("--home", str(tmp_path / "elsewhere"))
    run("export", "--out", str(whole))
    lines = whole.read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join([lines[0], lines[1][:80], b"\n", *lines[2:-1], lines[-1][:-9]]))
    done = run("import", str(cut), *elsewhere)
    assert done.code == 3
    assert f"{cut}:2: it is no JSON" in done.err and f"{cut}:{len(lines)}: it is no JSON" in done.err
    assert "taken in: 2 facts" in done.out
    assert run("import", str(cut), *elsewhere).code == 3
    assert taken(str(whole), *elsewhere)["facts"] == 1
    assert run("export", *elsewhere).out == run("export").out


def test_a_piece_that_is_refused_whole_is_told_with_its_lines_and_those_behind_it_are_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "PIECE", 2)
    monkeypatch.setattr(imports, "MOST_RECORDS", 0)
    for number in range(4):
        run("remember", f"The gate code of dock {number} is kept in locker {number}")
    whole = tmp_path / "all.jsonl"
    run("export", "--out", str(whole))
    done = run("import", str(whole), "--home", str(tmp_path / "elsewhere"), "--json")
    problems = json.loads(done.out.splitlines()[0])["problems"]
    assert done.code == 1 and [each["line"] for each in problems] == [1, 3, 5]
    assert "up to 2 were not taken" in problems[0]["why"]


def test_a_page_that_cannot_be_written_costs_none_of_the_other_records(tmp_path: Path, home: Path) -> None:
    run("remember", "The mascot is an otter", "--project", "boat")
    run("page", "--write", "-", "--project", "boat", stdin="Ask me before you deploy.")
    out = tmp_path / "all.jsonl"
    run("export", "--out", str(out))
    in_the_way = tmp_path / "elsewhere" / "pages" / "local" / "boat" / "MEMORY.md"
    in_the_way.mkdir(parents=True)
    told = run("import", str(out), "--home", str(tmp_path / "elsewhere"), "--json").json
    assert (told["facts"], told["pages"]) == (1, 0)
    [problem] = told["problems"]
    assert problem["line"] and str(in_the_way) in problem["why"]


def test_an_export_of_a_later_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    file.write_text('{"sort": "palimpsest", "format": 99}\n')
    done = run("import", str(file))
    assert done.code == 1 and "format 99" in done.err


def test_what_is_no_file_of_any_kind_is_told(tmp_path: Path) -> None:
    file = tmp_path / "song.jsonl"
    file.write_text('{"la": "la"}\n')
    done = run("import", str(file))
    assert done.code == 1 and "--kind" in done.err
    assert run("import", str(tmp_path / "nowhere")).code == 2
