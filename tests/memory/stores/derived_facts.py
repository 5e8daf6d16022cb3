"""Sessions, exchanges, facts and passages for the tests of the stores, each with what a test does not care about."""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg

from memory.conversation import Conversation, Message, Part, Reply, Role, Text, Usage, digest
from memory.fact import Category, Fact, FactKind, Origin, Passage, Stream
from memory.ports import Lesson, MemoryUse
from memory.scope import Layer, Scope
from memory.session import Arrival, Exchange, Receipt, RequestKind, Session, ShownMemory
from memory.stores.database import Database
from memory.stores.journal import SqliteJournal, SqlJournal
from memory.stores.postgresql.database import PostgresDatabase
from memory.stores.postgresql.journal import PostgresJournal
from tests import fresh_journal
from tests.postgresql import TestServer

AT = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)
ANN = Scope(user="ann", project="boat")
BOB = Scope(user="bob", project="boat")
SECRET = "sk-live-0123456789"


def redact(text: str) -> str:
    """A redactor that knows one secret."""
    return text.replace(SECRET, "[redacted]")


SERVER: TestServer | None = None
"""Where journals are opened; None for SQLite."""
ELSEWHERE = "PALIMPSEST_TEST_JOURNAL"
"""The variable that tells a process of its own in which database journals are opened."""


def open_journal(folder: Path, **settings: object) -> SqlJournal:
    url = os.environ.get(ELSEWHERE) or (SERVER.database(folder) if SERVER is not None else "")
    if url:
        if "synchronous" in settings:
            settings["flush"] = settings.pop("synchronous") == "FULL"
        return PostgresJournal(url, folder / "store", redact, **settings)  # type: ignore[arg-type]
    fresh_journal.put(folder / "store" / "journal.sqlite")
    return SqliteJournal(folder / "store" / "journal.sqlite", redact, **settings)  # type: ignore[arg-type]


async def shown(journal: SqlJournal, id: str, session: str, at: datetime, *, used: bool) -> None:
    """A memory was shown in a session, and was of use there or not."""
    await journal.learn(Lesson(0, uses=(MemoryUse(id, session, at, shown=True, used=used),)))


def rows(journal: SqlJournal, sql: str) -> list[tuple[Any, ...]]:
    """What a query finds, on a connection of its own."""
    database = journal._db
    if isinstance(database, PostgresDatabase):
        with psycopg.connect(database.url, options="-c palimpsest.owners=*") as connection:
            return connection.execute(sql.encode()).fetchall()
    assert isinstance(database, Database)
    with closing(sqlite3.connect(database.path)) as opened:
        return opened.execute(sql).fetchall()


def stored(journal: SqlJournal) -> bytes:
    """All that is kept: the bytes of the files, and of a server every value of every table."""
    found = [file.read_bytes() for file in journal._db.folder.iterdir() if file.is_file()]
    if isinstance(journal._db, PostgresDatabase):
        for (table,) in rows(journal, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
            values = (value for row in rows(journal, f"SELECT * FROM {table}") for value in row)
            found += [value if isinstance(value, bytes) else str(value).encode() for value in values]
    return b"".join(found)


def said(role: Role, *texts: str) -> Message:
    parts = tuple(Text(text) for text in texts)
    return Message(role, parts, digest(role, parts), texts[-1] if role is Role.USER else "")


def user(text: str) -> Message:
    return said(Role.USER, text)


def assistant(text: str) -> Message:
    return said(Role.ASSISTANT, text)


def conversation(messages: Sequence[Message]) -> Conversation:
    return Conversation("openai-chat", "model-1", tuple(messages))


def session(id: str = "s1", scope: Scope = ANN, **more: object) -> Session:
    told = {"key": f"ns:{id}", "runtime": "codex", "started_at": AT, "seen_at": AT} | more
    return Session(id=id, scope=scope, **told)  # type: ignore[arg-type]


def exchange(
    id: str,
    messages: Sequence[Message],
    answer: str | Sequence[Part] = "done",
    *,
    of: Session | None = None,
    kind: RequestKind = RequestKind.MAIN,
    namespace: str = "ns",
    complete: bool = True,
    status: int = 200,
    shown: Sequence[ShownMemory] = (),
    extends: bool = True,
    at: datetime = AT,
) -> Exchange:
    of = of or session()
    parts = (Text(answer),) if isinstance(answer, str) else tuple(answer)
    return Exchange(
        id=id,
        session=of,
        arrival=Arrival(of.scope, kind, "codex", namespace, at, extends=extends),
        conversation=conversation(messages),
        reply=Reply(parts, "stop", Usage(10, 2), complete),
        status=status,
        receipt=Receipt(f"r-{id}", at, of.id, kind, "ok", shown=tuple(shown)),
    )


def owner(scope: Scope = ANN) -> str:
    found = scope.owner(Layer.USER_PROJECT)
    assert found
    return found


def fact(text: str, *, id: str = "", scope: Scope = ANN, source: bytes = b"", **more: object) -> Fact:
    told = {
        "owner": owner(scope),
        "kind": FactKind.PREFERENCE,
        "category": Category.TECHNICAL,
        "stream": Stream.IDENTITY,
        "layer": Layer.USER_PROJECT,
        "origin": Origin.USER,
        "session": "s1",
        "recorded_at": AT,
        "valid_from": AT - timedelta(days=1),
    } | more
    return Fact(id=id or str(uuid.uuid4()), text=text, source=source, **told)  # type: ignore[arg-type]


def passage(text: str, *, id: str = "", scope: Scope = ANN, source: bytes = b"", **more: object) -> Passage:
    told = {
        "owner": owner(scope),
        "origin": Origin.USER,
        "speaker": "user",
        "session": "s1",
        "at": AT,
        "turn": 0,
    } | more
    return Passage(id=id or str(uuid.uuid4()), text=text, source=source, **told)  # type: ignore[arg-type]
