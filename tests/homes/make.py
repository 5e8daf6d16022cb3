"""Plays a few sessions through the real proxy and packs the home folder that they leave, with what is in it."""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from memory.scope import Scope
from tests.bench.sessions import FORMATS, Growing, Person, Turn, made_up
from tests.corpus.fixed import fixed
from tests.corpus.scenes import scenes
from tests.corpus.stage import Stage, stage
from tests.proxy.wire.rounds.scripts import Round, Say

SCENES = ("memory-chat", "research-responses", "habits-chat")
OPTIONS: dict[str, Any] = {
    "memory.default_window": 12_000,
    "memory.shedding.reserve": 800,
    "memory.learning.skills.sessions": 3,
    "memory.learning.skills.times": 3,
}
LONG = 34
TABLES = ("sessions", "exchanges", "messages", "receipts", "facts", "passages", "research", "uses", "tombstones")
TOLD = "told.json"


def said(asked: str, told: str) -> Turn:
    """One turn of a talk."""
    return Turn((Person(asked),), Round((Say(told),)))


async def play(on: Stage) -> list[dict[str, Any]]:
    """Play everything; of the sessions that are under way then, what was sent on last and what their client says
    next."""
    for scene in scenes():
        if scene.name in SCENES:
            await scene.play(on)
            on.clock.pass_by(days=1)
    going_on = []
    for name, path in FORMATS.items():
        talk = Growing(path, ())
        turns = [said("Which database does the billing service use?", "PostgreSQL 16."), said("And why?", "Locks.")]
        if name == "messages":
            turns = made_up(LONG)
            talk = Growing(path, turns)
        headers = {"x_session_id": f"going-on-{name}", "x_palimpsest_project": "loom"}
        for number, turn in enumerate(turns):
            reply = Round(turn.reply.parts, (1000 + 90 * number, 20), f"r{number}")
            await on.turn("goes on", talk, Turn(turn.heard, reply), **headers)
        [forwarded] = [body for label, body in on.exchanges[-1].bodies if label == "forwarded"]
        after = talk.hear(said("What did we decide about the backup?", "It runs at 04:30."))
        told = {"forwarded": forwarded.decode(), "next": after.decode()}
        going_on.append({"path": path, "headers": headers, **told})
    return going_on


def rows_of(home: Path) -> dict[str, Any]:
    """How many rows a journal has, its ledger, and its facts."""
    with closing(sqlite3.connect(home / "journal.db")) as connection:
        counts = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in TABLES}
        ledger = connection.execute(
            "SELECT sessions.id, hex(digest), occurrence, text, form, act, part, tier, memories FROM ledger "
            "JOIN sessions ON sessions.number = ledger.session ORDER BY ledger.number"
        ).fetchall()
        facts = connection.execute(
            "SELECT id, text, owner, kind, layer, origin, session, recorded_at, valid_from, confidence, state, pinned, "
            "supersedes, contradicts, derived_from FROM facts ORDER BY id"
        ).fetchall()
        passages = connection.execute("SELECT id, text, owner, origin, session FROM passages ORDER BY id").fetchall()
    return {"counts": counts, "ledger": ledger, "facts": facts, "passages": passages}


async def make(archive: Path) -> None:
    """Play, and pack."""
    with fixed(), TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        async with stage("home", home, OPTIONS) as on:
            going_on = await play(on)
            page = await on.memory.pages.text(Scope(user="local", project="loom"))
            at = on.clock().isoformat()
        told = {"at": at, "page": page, "going_on": going_on, **rows_of(home)}
        (Path(folder) / TOLD).write_text(json.dumps(told))
        with tarfile.open(archive, "w:xz") as packed:
            for file in (home / "lock", home / "server.json"):
                file.unlink(missing_ok=True)
            packed.add(home, "home")
            packed.add(Path(folder) / TOLD, TOLD)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archive", type=Path)
    asyncio.run(make(parser.parse_args().archive))
