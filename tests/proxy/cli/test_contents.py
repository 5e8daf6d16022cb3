"""`show` prints what a handle stands for, `pin` keeps it whole, `log` tells of a shed; and what is refused."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memory.conversation import Conversation, Message, Reply, Role, Text, digest
from memory.edits import ContentTier, handle
from memory.ports import Overview
from memory.scope import Scope
from memory.services.tiers.content import Contents
from memory.session import Arrival, Exchange, Receipt, RequestKind, Session, Shed
from memory.stores.journal import SqliteJournal
from proxy.cli import shed_report
from proxy.cli.inspection import is_handle
from tests.memory.stores.derived_facts import AT
from tests.proxy.cli.running import run

LONG = "line of a [log]\n" * 40
SAID = Message(Role.USER, (Text(LONG),), digest(Role.USER, (Text(LONG),)), LONG)
NAME = handle(SAID.digest, 0)
LOCAL = Scope(user="local", project="loom")
WHAT = Shed("fold", "78 % of the window", 40_000, 30_000, True, 0.4, (f"{NAME} a log of 40 lines",))


pytestmark = pytest.mark.usefixtures("journaled", "server")


@pytest.fixture
def journaled(home: Path) -> None:
    """A session in which something was shed, before the server opens the stores."""

    async def write() -> None:
        journal = SqliteJournal(home / "journal.db", lambda text: text)
        session = Session("s1", "ns:s1", LOCAL, "codex", AT, AT)
        receipt = Receipt("r-shed", AT, "s1", RequestKind.MAIN, "ok", "gpt", tokens=50_000, window=64_000, shed=WHAT)
        await journal.commit(
            Exchange(
                "e1",
                session,
                Arrival(LOCAL, RequestKind.MAIN, "codex", "ns", AT),
                Conversation("openai-chat", "gpt", (SAID,)),
                Reply((Text("ok"),), "stop", None, True),
                200,
                receipt,
            )
        )
        await journal.write_overviews(1, "u:/local", {(SAID.digest, 0): Overview(160, "a log", "the overview", 3)})
        await journal.close()

    asyncio.run(write())


def test_a_content_is_printed_as_it_is() -> None:
    done = run("show", NAME)
    assert (done.code, done.out, done.err) == (0, LONG, "")
    assert run("show", f"#{NAME}", "--tier", "l0").out == "a log"
    told = run("show", NAME, "--tier", "L1", "--json").json
    assert (told["text"], told["tier"], told["tokens"]) == ("the overview", "L1", 160)


def test_what_cannot_be_shown_is_said_and_ends_in_a_fault() -> None:
    for name, why in (("nonsense", "is no handle"), ("000000000000.0", "there is no content")):
        done = run("show", name)
        assert done.code == 1 and why in done.err and done.out == ""
    assert run("show", NAME, "--tier", "L9").code == 2
    assert "there is no content" in run("show", NAME, "--user", "eve").err


def test_a_content_is_pinned_by_its_handle_and_let_go(home: Path) -> None:
    assert run("pin", NAME).out == f"pinned {NAME}\n"
    assert _pinned(home) == {NAME}
    assert run("pin", NAME, "--off", "--json").json == {"handle": NAME, "pinned": False}
    assert _pinned(home) == frozenset()
    assert "there is no memory" in run("pin", NAME[:12]).err


def test_the_log_tells_what_was_shed_and_why() -> None:
    done = run("log", "r-shed")
    for told in ("fold: 78 % of the window", "40,000 tokens", "30,000 tokens; the cache was warm", "$0.4000"):
        assert told in done.out
    assert f"{NAME} a log of 40 lines" in done.out
    assert "about 50,000 of 64,000 (78%)" in done.out
    assert "fold -40,000" in run("log").out
    assert all(len(line) <= 80 for line in run("log").out.splitlines())
    assert run("log", "r-shed", "--json").json["shed"]["expected"] == 0.4


def test_money_and_what_came_back_are_told_in_full() -> None:
    shed = {"step": "trim", "why": "stale", "removed": 9, "rewritten": 0, "warm": False, "expected": None}
    held = {
        "shed": {**shed, "parts": ["one", "two"]},
        "seen": {"requests": [{"input": 1200, "cached": 0}, {"input": 1300, "cached": 1100}], "saved": -0.0123},
        "paged": ["a.0", "b.1"],
        "hidden": [{"tools": ["memory_get", "memory_day"], "usage": {"input": 1200, "cached": 7}}],
    }
    rows = dict(shed_report.rows(held))
    assert "cold" in rows["rewritten"] and "expected to save" not in rows
    assert rows["saved so far"] == "-$0.0123"
    assert rows["the next one"] == "1,300 tokens read, 1,100 of them from the cache"
    assert (rows["what"], rows[""], rows["paged in"]) == ("one", "two", "a.0, b.1")
    assert rows["memory was asked"] == "memory_get, memory_day (1,200 tokens read, 7 of them from the cache)"
    assert shed_report.short(held) == "trim -9, 2 paged in"
    assert shed_report.money(1234.5) == "$1,234.50"
    assert list(shed_report.rows({"tokens": 5, "window": 0})) == [("tokens", "about 5")]


def test_a_handle_is_not_taken_for_the_id_of_a_fact() -> None:
    assert is_handle(NAME) and is_handle(f"#{NAME}") and is_handle(f" p:{NAME.upper()} ")
    assert not is_handle(NAME[:12]) and not is_handle("2f9c4c1e-0c5b-4b0e-9c56-0d7f4f0f8a11") and not is_handle("")


def _pinned(home: Path) -> frozenset[str]:
    async def read() -> frozenset[str]:
        journal = SqliteJournal(home / "journal.db", lambda text: text)
        try:
            assert (await Contents(journal).content(NAME, ContentTier.L2, LOCAL)).text == LONG
            return await journal.pinned("s1")
        finally:
            await journal.close()

    return asyncio.run(read())
