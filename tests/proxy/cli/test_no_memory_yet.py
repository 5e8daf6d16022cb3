"""Where there is no memory, who only looks is told so, and nothing is created."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memory.stores.lost_journal import begun
from proxy.cli.app import FEATURED
from tests.proxy.cli.running import Done, run

LOOKING = [
    "search harbour",
    "facts",
    "facts --json",
    "fact 0123456789",
    "history 0123456789",
    "why",
    "page",
    "quarantine",
    "export",
    "export-session 0123456789",
    "nights",
    "night 1",
    "candidates",
    "review",
    *FEATURED,
    "log",
    "audit",
    "show 0a1b2c3d4e5f.0",
    "members list",
    "keys list",
    "embedder show",
    "research",
    "research search harbour",
    "research stale",
    "verify",
]

CHANGING = [
    "forget 0123456789 --yes",
    "forget --user ada --yes",
    "pin 0123456789",
    "confirm 0123456789",
    "update 0123456789 nine",
    "approve 0123456789 --yes",
    "consolidate",
    "reindex",
    "resume",
    "members remove ada --org acme",
    "keys revoke phone",
]
"""Commands that change what is there: without any, they have nothing to change."""


@pytest.mark.parametrize("command", [*LOOKING, *CHANGING])
def test_it_is_told_and_nothing_is_created(command: str, home: Path) -> None:
    done = run(*command.split())
    assert done.code == 1 and str(home) in done.err
    assert command == "verify" or ("--home" in done.err and "PALIMPSEST_HOME" in done.err and "serve" in done.err)
    assert not home.exists()


def test_a_folder_without_a_memory_stays_as_it_is(home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("user: ada\n")
    assert "no memory" in run("facts").err
    assert os.listdir(home) == ["config.yaml"]


def test_a_file_in_the_place_of_the_folder_is_told(home: Path) -> None:
    home.write_text("")
    assert "is no folder: choose another with --home" in run("facts").err


def test_the_status_has_the_exit_code_of_no_server(home: Path) -> None:
    done = run("status", "--json")
    assert done.code == 2 and "no server runs, and there is no memory in" in done.json["error"]
    assert not home.exists()


def test_the_doctor_tries_in_a_temporary_folder_that_it_would_work(home: Path) -> None:
    told = {each["what"]: each for each in run("doctor", "--json").json["findings"]}
    assert told["round trip"]["verdict"] == "well" and f"no memory in {home} yet" in told["stores"]["found"]
    assert not home.exists()


def test_what_an_import_would_take_in_is_told_without_a_memory(home: Path, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "harbour.md").write_text("The harbour opens at nine.\n")
    assert _imports(notes, "--dry-run").code == 0 and not home.exists()
    assert _imports(notes).code == 0 and begun(home)


def _imports(notes: Path, *options: str) -> Done:
    return run("import", str(notes), "--kind", "notes", *options)


@pytest.mark.parametrize(
    "command",
    [
        "remember nine",
        "pause",
        "members add ada --org acme --role owner",
        "keys create phone --user ada",
        "page --write -",
    ],
)
def test_what_begins_a_memory_still_does(command: str, home: Path) -> None:
    assert run(*command.split(), stdin="The harbour opens at nine.\n").code == 0 and begun(home)
