"""What a home folder holds, to be compared: what it exports, its pages, its ledgers, and how much there is of each."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from memory.scope import Scope
from tests.running import Running

SORTS = ("fact", "passage", "research", "candidate")
LESSONS = (
    "We decided to use PostgreSQL 16 for the billing service, because SQLite locks under our load.",
    "I prefer short answers without bullet points. My name is Ada and I live in Lisbon.",
    "No, that is wrong: the staging gateway listens on port 7443, not on 8080.",
    "Remember for ever: never push to main without a review by Grace.",
)
QUESTION = "Which database does the billing service use, and on which port does the staging gateway listen?"


@dataclass(frozen=True)
class Held:
    """What a home holds."""

    export: dict[str, list[bytes]]
    page: str
    ledger: list[tuple[Any, ...]]
    counts: dict[str, int]


async def held(proxy: Running) -> Held:
    """What the home of a running proxy holds."""
    memory = proxy.edge.memory
    assert memory is not None
    await proxy.learned()
    await memory.pages.refresh()
    export = {}
    owners = await _asked(proxy, "api/export")
    for sort in SORTS:
        names = await _owners(proxy)
        export[sort] = [await _asked(proxy, f"api/export/{sort}?limit=1000&owner={quote(owner)}") for owner in names]
    export["inventory"] = [owners]
    page = await memory.pages.text(Scope(user="local", project="loom"))
    with closing(sqlite3.connect(memory.home / "journal.db")) as connection:
        ledger = connection.execute(
            "SELECT sessions.id, digest, occurrence, text, form, act, part, tier, memories FROM ledger "
            "JOIN sessions ON sessions.number = ledger.session ORDER BY ledger.number"
        ).fetchall()
        tables = ("sessions", "exchanges", "messages", "facts", "passages", "uses", "tombstones", "receipts")
        counts = {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
    return Held(export, page, ledger, counts)


async def talk(proxy: Running) -> list[str]:
    """Teach it something in several sessions, and begin one that goes on: the texts of that one, to be sent again."""
    for number, lesson in enumerate(LESSONS):
        await proxy.chat(lesson, session=f"lesson-{number}")
    await proxy.learned()
    await proxy.chat(QUESTION, session="going-on")
    return [QUESTION, "OK.", "And who has to review what goes to main?"]


async def _owners(proxy: Running) -> list[str]:
    memory = proxy.edge.memory
    assert memory is not None
    return sorted(await memory.commands.everything_of(Scope(user="local")))


async def _asked(proxy: Running, path: str) -> bytes:
    headers = {"Authorization": f"Bearer {proxy.edge.token}"}
    async with proxy.client.get(f"{proxy.url}/palimpsest/{path}", headers=headers) as reply:
        assert reply.status == 200, await reply.read()
        told: bytes = await reply.read()
        return told
