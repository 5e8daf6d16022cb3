"""One law: what a person has had forgotten is in no byte below the data folder, whatever part of memory kept it.

A sentence is planted wherever something is kept: said, told back, printed by tools, found by a sub-agent, noted by a
model, shed out of a full window, remembered by hand, imported, pinned, worked with, and consolidated at night. Then
all that can be found of it is forgotten, and every file is searched, and what is packed in databases too.
"""

from __future__ import annotations

import asyncio
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from memory.features.backups.feature import SCHEDULED
from memory.stores.backups.backup import take
from memory.stores.backups.places import own_place
from tests.bench.sessions import FORMATS, Growing, Person, Result, Turn
from tests.corpus.fixed import fixed
from tests.corpus.stage import Stage, stage
from tests.proxy.wire.rounds.scripts import Call, Round, Say
from tests.sparse_files import read_written

MARK = "zirkonfalke"
SECRET = f"The vault of the harbour office opens with the word {MARK}."
OPTIONS = {
    "memory.default_window": 9_000,
    "memory.shedding.reserve": 500,
    "memory.tools.offer": True,
    "memory.learning.skills.sessions": 3,
    "memory.learning.skills.times": 3,
}


def said(asked: str, told: str = "I see.") -> Turn:
    return Turn((Person(asked),), Round((Say(told),)))


def at(session: str, **more: str) -> dict[str, str]:
    return {"x_session_id": session, "x_palimpsest_project": "loom", **more}


async def talked(on: Stage, path: str) -> None:
    """It is said, told back, recalled in other sessions, and stands on pages."""
    for number in range(3):
        words = f"Remember for ever: {SECRET}" if number == 2 else f"{SECRET} We decided so, because of the audit."
        talk = Growing(path, ())
        await on.turn("says", talk, said(words, f"Noted. {SECRET}"), **at(f"said-{number}"))
        await on.turn("asks", talk, said("How does the vault of the harbour office open?", SECRET), **at("asked"))
        on.clock.pass_by(days=1)


async def worked(on: Stage, path: str) -> None:
    """It is read in files, named in commands, the cause of an error and what mends it, again and again."""
    for number in range(5):
        rounds = (
            ("cat vault.txt", SECRET),
            ("open-vault", "Traceback (most recent call last):\nValueError: the vault is locked"),
            (f"unlock --office harbour --door vault --word {MARK}", "unlocked"),
            ("open-vault", f"{SECRET}\nopen"),
        )
        heard: tuple[Person | Result, ...] = (Person(f"Open the vault, time {number}."),)
        turns = []
        for step, (command, printed) in enumerate(rounds):
            call = Call(f"w{number}-{step}", "bash", orjson.dumps({"command": command}).decode())
            turns.append(Turn(heard, Round((call,), id=f"w{number}-{step}")))
            heard = (Result(call.id, printed),)
        turns.append(Turn(heard, Round((Say(f"It is open. {SECRET}"),))))
        talk = Growing(path, turns)
        for turn in turns:
            await on.turn("works", talk, turn, **at(f"work-{number}"))
        on.clock.pass_by(days=1)


async def researched(on: Stage, path: str) -> None:
    """A sub-agent is sent for it, and another one is given what it found."""
    prompt = f"Find out what it means that {SECRET[0].lower()}{SECRET[1:]} List all places that tell of it."
    report = f"## The vault\n- {SECRET}\n- It is told in `vault.txt`, and nowhere else.\n"
    task = Call("c1", "task", orjson.dumps({"description": f"Study the {MARK}", "prompt": prompt}).decode())
    sends = Turn((Person("What of the vault?"),), Round((task,), id="p1"))
    looks = Turn((Person(prompt),), Round((Call("t1", "read", '{"path": "vault.txt"}'),), id="k1"))
    reports = Turn((Result("t1", f"{SECRET}\n" * 30),), Round((Say(report),), id="k2"))
    hears = Turn((Result("c1", f"<task_result>\n{report}</task_result>"),), Round((Say(f"So it is: {SECRET}"),)))
    parent, child, other = Growing(path, (sends,)), Growing(path, (looks,)), Growing(path, ())
    await on.turn("sends", parent, sends, **at("parent"))
    await on.turn("looks", child, looks, **at("child"))
    await on.turn("reports", child, reports, **at("child"))
    await on.turn("hears", parent, hears, **at("parent"))
    await on.turn("asks again", other, said(prompt, report), **at("other", x_parent_session_id="somebody"))


async def shed(on: Stage, path: str) -> None:
    """It stands in a session that is folded and rotated."""
    turns = [said(f"{SECRET} Now go through the files.", "I begin.")]
    for number in range(24):
        text = f"{SECRET}\n" + "\n".join(f"line {line} of file {number}: {line * 7919 % 10007}" for line in range(150))
        call = Call(f"f{number}", "read", orjson.dumps({"path": f"file_{number}.txt"}).decode())
        before = turns[-1].reply.calls
        heard = tuple(Result(each.id, text) for each in before) or (Person("Read on."),)
        turns.append(Turn(heard, Round((Say(f"I read file {number}."), call), id=f"f{number}")))
    talk = Growing(path, turns)
    for turn in turns:
        await on.turn("reads", talk, turn, **at("long"))


async def by_hand(on: Stage, path: str) -> None:
    """A model notes it, a person remembers, imports and pins it, and writes it on the page."""
    note = Call("m1", "memory_note", orjson.dumps({"action": "add", "text": f"{SECRET} Ask Grace."}).decode())
    talk = Growing(path, (Turn((), Round((Call("x", "bash", "{}"),))),))
    await on.turn("notes", talk, said("Write it down."), Round((note,), (50, 5)), **at("noted"))
    await on.ask("remember", "POST", "api/remember?project=loom", {"text": f"{SECRET} Only Tom knows it."})
    notes = {"text": f"- {SECRET} Never write it down.\n", "at": on.clock().isoformat()}
    await on.ask("import", "POST", "api/import/notes?project=loom", notes)
    await on.export()


async def backed_up(on: Stage, path: str) -> None:
    """It is in backups: one by hand, one on schedule."""
    home = on.memory.home
    for reason in ("by hand", SCHEDULED):
        await asyncio.to_thread(take, home, own_place(home), on.clock(), reason)


async def forgotten(on: Stage) -> None:
    """Forget all that can be found of it."""
    for _ in range(5):
        found = [await on.forget(query) for query in (MARK, "vault harbour office")]
        research = await on.ask("research", "GET", "api/research?project=loom&limit=100")
        for each in research["research"]:
            await on.ask("forget", "DELETE", f"api/research/{each['id']}?project=loom")
        if not any(found) and not research["research"]:
            return
    raise AssertionError("there is always more to forget")


def traces(home: Path) -> Iterator[str]:
    """Where below a folder the mark still is: in a file's bytes, its name, or what a database has packed."""
    for file in sorted(path for path in home.rglob("*") if path.is_file()):
        if MARK in file.name.casefold() or MARK.encode() in read_written(file).lower():
            yield f"{file.relative_to(home)}"
        if file.suffix == ".db":
            with closing(sqlite3.connect(file)) as connection:
                yield from _packed(connection)


def _packed(connection: sqlite3.Connection) -> Iterator[str]:
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        cursor = connection.execute(f'SELECT * FROM "{table}"')
        names = [column[0] for column in cursor.description]
        for row in cursor:
            for name, value in zip(names, row, strict=True):
                if MARK in _text(value).casefold():
                    yield f"{table}.{name}, beside {row[0]!r}: …{_around(_text(value))}…"


def _text(value: Any) -> str:
    if not isinstance(value, bytes):
        return str(value)
    body: bytes = value
    with suppress(zlib.error):
        body = zlib.decompress(body)
    return body.decode("utf-8", "replace")


def _around(text: str) -> str:
    place = text.casefold().index(MARK)
    return text[max(place - 60, 0) : place + 60]


@pytest.mark.parametrize("path", FORMATS.values(), ids=FORMATS)
async def test_what_is_forgotten_is_in_no_byte_below_the_data_folder(path: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with fixed():
        async with stage("forget", home, OPTIONS) as on:
            for plant in (talked, worked, researched, shed, by_hand, backed_up):
                await plant(on, path)
                await on.night()
            assert len(await asyncio.to_thread(lambda: [*traces(home)])) > 50
            await forgotten(on)
            await on.night()
        assert await asyncio.to_thread(lambda: [*traces(home)]) == []
