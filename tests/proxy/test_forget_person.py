"""One law: whose person is forgotten is in no byte and no table any more, and what is another person's stays.

Two persons of one organisation say, do, research and remember the same things, each with a mark of their own in
everything: words, names of projects, keys. One is forgotten. Then every file and every row is searched.
"""

from __future__ import annotations

import asyncio
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import orjson
import psycopg
import pytest
from aiohttp import web

from memory.candidate import CandidateKind, Proposal
from memory.features.backups.feature import SCHEDULED
from memory.stores.backups.backup import take
from memory.stores.backups.places import own_place
from memory.stores.migrations import migrate
from memory.stores.personal_rows import KEPT, NOBODYS, PERSONAL
from proxy.auth import tokens
from proxy.auth.tokens import TokenRole, new_token
from tests import postgresql
from tests.bench.sessions import Growing, Person, Result, Turn
from tests.corpus.fixed import fixed
from tests.corpus.stage import Stage, stage
from tests.proxy.wire.rounds.scripts import Call, Round, Say, document
from tests.sparse_files import read_written

PATH = "/v1/chat/completions"
OPTIONS: dict[str, Any] = {"memory.default_window": 9_000, "memory.shedding.reserve": 500, "memory.tools.offer": True}
OWN = ("facts", "passages", "messages", "sessions", "research", "client_keys", "members")
"""Tables in which nothing of one person's changes when another one is forgotten."""


@dataclass(frozen=True)
class Somebody:
    """A person and their mark, which stands in all that is theirs."""

    user: str
    mark: str

    @property
    def secret(self) -> str:
        return f"The vault of the harbour office opens with the word {self.mark}."

    def at(self, session: str, project: str = "loom") -> dict[str, str]:
        return {
            "x_session_id": f"{session}-{self.user}",
            "x_palimpsest_project": project,
            "x_palimpsest_org": "acme",
            "x_palimpsest_user": self.user,
        }

    @property
    def query(self) -> str:
        return f"org=acme&user={self.user}"


GOES, STAYS = Somebody("ada.zirkonfalke", "zirkonfalke"), Somebody("grace.quarzreiher", "quarzreiher")


def said(asked: str, told: str = "I see.") -> Turn:
    return Turn((Person(asked),), Round((Say(told),)))


async def talks(on: Stage, who: Somebody) -> None:
    for number in range(3):
        talk = Growing(PATH, ())
        text = (
            f"Remember for ever: {who.secret}" if number == 2 else f"{who.secret} We decided so, because of the audit."
        )
        await on.turn("says", talk, said(text, f"Noted. {who.secret}"), **who.at(f"said-{number}"))
        await on.turn("asks", talk, said("How does the vault open?", who.secret), **who.at("asked"))
    own = Growing(PATH, ())
    await on.turn("says", own, said(f"We use {who.mark} here, since it is fast."), **who.at("own", f"{who.mark}-lab"))
    await on.turn("says", own, said(f"I prefer {who.mark} to all others."), **who.at("own", f"{who.mark}-lab"))
    for number in range(4):
        call = Call(f"f{number}", "read", orjson.dumps({"path": f"{who.mark}.txt"}).decode())
        text = f"{who.secret}\n" + "\n".join(f"line {line} of {number}: {line * 7919 % 10007}" for line in range(150))
        shed = Growing(PATH, ())
        await on.turn("reads", shed, Turn((Person("Read."),), Round((call,), id=call.id)), **who.at("long"))
        await on.turn("reads", shed, Turn((Result(call.id, text),), Round((Say("Done."),))), **who.at("long"))


async def researches(on: Stage, who: Somebody) -> None:
    prompt = f"Find out what it means that {who.secret} List all places that tell of it."
    report = f"## The vault\n- {who.secret}\n- It is told in `{who.mark}.txt`, and nowhere else.\n"
    task = Call("c1", "task", orjson.dumps({"description": f"Study the {who.mark}", "prompt": prompt}).decode())
    sends = Turn((Person(f"What of the vault of {who.mark}?"),), Round((task,), id="p1"))
    looks = Turn((Person(prompt),), Round((Call("t1", "read", '{"path": "vault.txt"}'),), id="k1"))
    reports = Turn((Result("t1", f"{who.secret}\n" * 30),), Round((Say(report),), id="k2"))
    hears = Turn((Result("c1", f"<task_result>\n{report}</task_result>"),), Round((Say(f"So it is: {who.secret}"),)))
    parent, child = Growing(PATH, (sends,)), Growing(PATH, (looks,))
    await on.turn("sends", parent, sends, **who.at("parent"))
    await on.turn("looks", child, looks, **who.at("child"))
    await on.turn("reports", child, reports, **who.at("child"))
    await on.turn("hears", parent, hears, **who.at("parent"))


async def by_hand(on: Stage, who: Somebody) -> None:
    of_loom = f"project=loom&{who.query}"
    await on.ask("remember", "POST", f"api/remember?{of_loom}", {"text": f"{who.secret} Only Tom knows it."})
    await on.ask("page", "PUT", f"api/page?{of_loom}", {"own": f"I am {who.mark}."})
    await on.ask("member", "POST", "api/members?org=acme", {"user": who.user, "role": "owner"})
    await on.ask("key", "POST", "api/keys", {"name": f"laptop-{who.mark}", "user": who.user, "org": "acme"})
    home = on.memory.home
    known = await asyncio.to_thread(tokens.read_tokens, home / tokens.FILE)
    _, token = new_token(f"token-{who.mark}", TokenRole.USER, on.clock(), who.user, "acme")
    await asyncio.to_thread(tokens.write_tokens, home / tokens.FILE, [*known, token])
    owner = f"up:acme/{who.user}/loom"
    [fact, *_] = [each for each in await on.memory.commands.facts([owner]) if who.mark in each.text]
    proposal = Proposal(
        on.memory.commands._new_id(), CandidateKind.KNOWLEDGE, fact.id, fact.text, fact.text, "fact", 3, 3, (fact.id,)
    )
    [candidate] = await on.memory.journal.propose(owner, [proposal], on.clock())
    approve = f"api/candidates/{candidate}/approve?{of_loom}"
    preview = await on.ask("approve", "POST", approve, {})
    await on.ask("approve", "POST", approve, {"confirm": preview["confirm"]})


async def backed_up(on: Stage) -> None:
    home = on.memory.home
    for reason in ("by hand", SCHEDULED):
        await asyncio.to_thread(take, home, own_place(home), on.clock(), reason)


def traces(home: Path, mark: str, url: str = "") -> Iterator[str]:
    """Where a mark still is: in a file's bytes, its name, or what a database has packed."""
    for file in sorted(path for path in home.rglob("*") if path.is_file()):
        if mark in str(file.relative_to(home)).casefold() or mark.encode() in read_written(file).lower():
            yield f"{file.relative_to(home)}"
        if file.suffix == ".db":
            with closing(sqlite3.connect(file)) as connection:
                names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                for (table,) in names:
                    rows = connection.execute(f'SELECT * FROM "{table}"')
                    yield from _found(f"{file.name}:{table}", rows.fetchall(), mark)
    if url:
        with psycopg.connect(url) as database:
            database.execute("SET palimpsest.owners = '*'")
            # Which owners have something new is told to other servers, and gone within minutes.
            tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename != 'changes'"
            for (table,) in database.execute(tables.encode()).fetchall():
                held = database.execute(f'SELECT * FROM "{table}"'.encode())
                yield from _found(table, held.fetchall(), mark)


def _found(table: str, rows: list[tuple[Any, ...]], mark: str) -> Iterator[str]:
    for row in rows:
        for value in row:
            if mark in _text(value).casefold():
                yield f"{table}, beside {row[0]!r}: {_text(value)[:80]}"


def _text(value: Any) -> str:
    if not isinstance(value, bytes):
        return str(value)
    with suppress(zlib.error):
        value = zlib.decompress(value)
    return bytes(value).decode("utf-8", "replace")


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
async def test_of_a_person_who_is_forgotten_nothing_is_left_and_all_of_the_other(
    engine: Literal["sqlite", "postgresql"], server: postgresql.TestServer, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    url = server.database(home) if engine == "postgresql" else ""
    options = OPTIONS | ({"memory.postgresql.url": url} if url else {})
    with fixed():
        async with stage("forget", home, options) as on:
            for plant in (talks, researches, by_hand):
                for who in (GOES, STAYS):
                    await plant(on, who)
                await on.night()
            if not url:
                await backed_up(on)
            report = await on.ask("report", "GET", f"api/person?{GOES.query}")
            told = "".join([await exported(on, table) for table in report["tables"]])
            assert GOES.mark in told and STAYS.mark not in told
            assert {"sessions", "messages", "ledger", "facts", "client_keys"} <= report["would_go"].keys()
            assert report["keys"] == [f"laptop-{GOES.mark}"] and report["tokens"] == [f"token-{GOES.mark}"]
            assert report["research"] and report["shared_alone"]
            assert len(await asyncio.to_thread(lambda: [*traces(home, GOES.mark, url)])) > 30
            before = [await exported(on, table, STAYS) for table in OWN]
            gone = await on.ask("forget", "POST", f"api/person/forget?{GOES.query}")
            assert gone["faults"] == [] and gone["scrubbed"]
            assert gone["keys"] and gone["tokens"] and gone["files"] and gone["shared"]
            assert [await exported(on, table, STAYS) for table in OWN] == before and all(before)
            while not (await on.ask("index", "GET", "api/reindex"))["progress"]["finished"]:
                pass  # the index is made anew beside
            await on.night()
            empty = await on.ask("report", "GET", f"api/person?{GOES.query}")
            assert empty["would_go"] == {}
            again = Growing(PATH, ())
            await on.turn("asks", again, said("How does the vault of the harbour office open?"), **STAYS.at("later"))
            assert STAYS.mark in on.provider.last.body.decode()
            assert GOES.mark not in on.provider.last.body.decode()
        assert await asyncio.to_thread(lambda: [*traces(home, GOES.mark, url)]) == []
        assert len(await asyncio.to_thread(lambda: [*traces(home, STAYS.mark, url)])) > 30


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
async def test_a_reply_that_ends_after_its_person_was_forgotten_leaves_nothing(
    engine: Literal["sqlite", "postgresql"], server: postgresql.TestServer, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    url = server.database(home) if engine == "postgresql" else ""
    arrived, released = asyncio.Event(), asyncio.Event()

    async def held(request: web.Request) -> web.StreamResponse:
        arrived.set()
        await released.wait()
        return web.Response(body=document(PATH, Round((Say(f"So it is. {GOES.secret}"),))))

    with fixed():
        async with stage("held", home, OPTIONS | ({"memory.postgresql.url": url} if url else {})) as on:
            talk = Growing(PATH, ())
            await on.turn("says", talk, said(f"{GOES.secret} We decided so."), **GOES.at("said"))
            on.provider.answer = held
            body = talk.hear(said(f"Do you remember? {GOES.secret}"))
            asking = asyncio.create_task(on.proxy.post(PATH, body, **GOES.at("said")))
            await arrived.wait()
            await on._asked("POST", f"api/person/forget?{GOES.query}")
            released.set()
            status, reply, _ = await asking
            assert status == 200 and GOES.mark in reply.decode()
            await on.quiet()
            assert (await on.ask("report", "GET", f"api/person?{GOES.query}"))["would_go"] == {}
            while not (await on.ask("index", "GET", "api/reindex"))["progress"]["finished"]:
                pass  # the index is made anew beside
            await on.night()
        assert await asyncio.to_thread(lambda: [*traces(home, GOES.mark, url)]) == []


async def exported(on: Stage, table: str, who: Somebody = GOES) -> str:
    return (await on._asked("GET", f"api/person/{table}?{who.query}")).decode()


def test_every_table_says_whose_its_rows_are(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        migrate(connection)
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        tables = {row["name"] for row in rows}
    told = [each.table for each in (*PERSONAL, *KEPT)]
    assert len(set(told)) == len(told)
    assert {*told, *NOBODYS} == tables
