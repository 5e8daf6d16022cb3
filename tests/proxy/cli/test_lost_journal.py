"""``journal.db`` was deleted while an index and pages lie beside it: told, and nothing a person could miss is lost."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory.stores.lost_journal import left_behind
from proxy.cli.server import RunningServer
from tests.proxy.cli.running import beside, run

SAID = "The mooring is number twelve."
BOAT = ("--project", "boat")


@pytest.fixture(autouse=True)
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    listening = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setenv("PALIMPSEST_UPSTREAM", f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
    yield
    listening.close()


def finding(what: str) -> dict[str, Any]:
    return next(each for each in run("doctor", "--json").json["findings"] if each["what"] == what)


def lose(home: Path) -> bytes:
    """Say something, and delete the journal; what it was."""
    with beside(home):
        run("remember", SAID, "--pin", *BOAT)
        run("page", "--write", "-", *BOAT, stdin="Ask me before you deploy.")
        assert SAID in run("page", *BOAT).out
    held = (home / "journal.db").read_bytes()
    for file in home.glob("journal.db*"):
        file.unlink()
    return held


def test_a_journal_that_is_gone_is_told_and_can_be_put_back(home: Path) -> None:
    held = lose(home)
    told = finding("journal")
    assert told["verdict"] == "wrong" and f"{home / 'journal.db'} is gone" in told["found"]
    assert "an index with 1 vector" in told["found"] and "of pages" in told["found"]
    assert "1 page of your own words" in told["found"] and "backup" in told["mend"]
    # To look begins nothing anew.
    assert not (home / "journal.db").exists()
    assert "journal.db is gone" in run("doctor").out
    (home / "journal.db").write_bytes(held)
    assert run("doctor", "--json").code == 0
    assert SAID in run("page", *BOAT).out and "mooring" in run("search", "mooring", *BOAT).out


def test_what_stood_on_the_pages_outlives_a_journal_that_is_begun_anew(home: Path) -> None:
    lose(home)
    page = run("page", *BOAT)
    assert "Ask me before you deploy." in page.out and SAID not in page.out
    assert "begun anew" in page.err and "palimpsest doctor" in page.err
    assert "anew" not in run("page", *BOAT).err
    [aside] = home.glob("lost-journal-*")
    # A forgetting, which takes out what was made on every page, does not reach it.
    run("remember", "The gate code is green.", *BOAT)
    gone = run("forget", "--query", "gate code", "--yes", *BOAT)
    assert gone.code == 0 and "lost-journal-*" in gone.out + gone.err
    told = finding("journal")
    assert told["verdict"] == "doubtful" and str(aside) in told["found"] and "import" in told["mend"]
    [file] = [each for each in aside.rglob("*.md") if SAID in each.read_text()]
    assert run("import", str(file), *BOAT).code == 0
    assert SAID in run("page", *BOAT).out
    assert left_behind(home) is None


def test_where_only_an_index_was_left_no_pages_are_told_of(home: Path) -> None:
    run("remember", SAID, *BOAT)
    for file in home.glob("journal.db*"):
        file.unlink()
    assert "begun anew" in run("status").err
    told = finding("journal")
    assert "lies in" not in told["found"] and "import" not in told["mend"]
    assert f"delete {next(home.glob('lost-journal-*'))}" in told["mend"]


def test_a_new_home_and_own_words_alone_are_no_lost_journal(home: Path) -> None:
    assert left_behind(home) is None
    own = home / "pages" / "local" / "boat" / "MEMORY.md"
    own.parent.mkdir(parents=True, mode=0o700)
    own.write_text("Ask me before you deploy.\n")
    assert left_behind(home) is None
    assert "Ask me before you deploy." in run("page", *BOAT).out
    assert not list(home.glob("lost-journal-*"))


def test_a_journal_that_is_deleted_while_the_server_runs_is_told(home: Path, server: RunningServer) -> None:
    run("remember", SAID, *BOAT)
    assert finding("stores")["verdict"] == "well"
    (home / "journal.db").unlink()
    told = finding("stores")
    assert told["verdict"] == "wrong" and "was deleted or replaced" in told["found"] and "export" in told["mend"]
    assert not (home / "journal.db").exists()
    assert SAID in run("export").out
