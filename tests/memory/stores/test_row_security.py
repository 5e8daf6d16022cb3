"""What belongs to whom is held up by PostgreSQL itself: a query that has lost its filter shows one owner's rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile

import psycopg
import pytest

from memory.ports import Lesson
from memory.provenance import QUARANTINE
from memory.research import QUESTIONS, Research
from memory.scope import Layer
from memory.stores.connection import Connection
from memory.stores.database import Watch
from memory.stores.postgresql.connection import PostgresConnection
from memory.stores.postgresql.database import PostgresDatabase
from memory.stores.postgresql.journal import PostgresJournal
from memory.stores.postgresql.row_security import PROTECTED, UNPROTECTED
from memory.stores.queries import QUERIES
from memory.visibility import also, only
from tests import postgresql
from tests.memory.stores.derived_facts import ANN, AT, BOB, exchange, fact, redact, session, user

ANNS, BOBS = (scope.owner(Layer.USER_PROJECT) or "" for scope in (ANN, BOB))

UNFILTERED: dict[str, tuple[str, str, tuple[object, ...]]] = {
    "facts": ("facts_of", "owner IN (?*) AND", (10,)),
    "passages": ("passages_find", "owner IN (?*) AND", ("%", 10)),
    "summaries": ("night_lines", "", (1,)),
    "candidates": ("candidates_of", "WHERE owner IN (?*)", ()),
    "research": ("research_owners", "", ()),
    "observations": ("observations_of", "WHERE owner = ?", ()),
    "steps": ("steps_newest", "WHERE owner = ?", (10,)),
    "names": ("names_most", "WHERE owner IN (?*)", (10,)),
    "sessions": ("sessions_get", "WHERE id IN (?*)", ()),
    "messages": ("messages_known", "WHERE person = ? AND digest IN (?*)", ()),
    "exchanges": ("retention_shown", "number IN (?*) AND", ()),
    "ledger": ("retention_entries", "session = ? AND", ()),
    "receipts": ("receipts_newest", "", (10,)),
    "overviews": ("overviews_told", "WHERE owner = (SELECT name FROM people WHERE number = ?)", ()),
    "pins": ("pins_of", "WHERE owner = ?", ()),
    "spawns": ("spawns_of", "WHERE session = ?", ()),
    "spawners": ("spawners_of", "WHERE person = ?", ()),
}
"""Of each protected table a query of the stores, the filter that is taken out of it (none where it has none), and its
other parameters."""


@pytest.fixture
def url(server: postgresql.TestServer, tmp_path: Path) -> Iterator[str]:
    url = server.database(tmp_path)
    with psycopg.connect(url, options="-c palimpsest.owners=*") as connection:
        connection.execute(
            "INSERT INTO nights (number, owner, at, looked, passed_over, thrown) VALUES (1, %s, '', 0, 0, '')", ("",)
        )
        for scope in (ANN, BOB):
            connection.execute("INSERT INTO people (name) VALUES (%s)", (scope.owner(Layer.USER),))
        for table in PROTECTED:
            for number, (owner, person) in enumerate(((ANNS, 1), (BOBS, 2), (f"{QUARANTINE}{ANNS}", 1)), 1):
                _fill(connection, table, owner, person, number)
    yield url
    server.give_back()


def _fill(connection: psycopg.Connection[tuple[object, ...]], table: str, owner: str, person: int, number: int) -> None:
    """A row of an owner, who is a person, whose every text says whose it is; of their session, and the exchange in it,
    where it belongs to one."""
    columns = connection.execute(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = %s AND is_nullable = 'NO' "
        "AND column_default IS NULL AND is_identity = 'NO'",
        (table,),
    ).fetchall()
    values = {"text": owner, "bytea": owner.encode(), "bigint": 1, "double precision": 1.0, "boolean": False}
    row = {str(name): values[str(kind)] for name, kind in columns} | ({"state": "active"} if table == "facts" else {})
    numbers = {"person": person, "session": number}
    row |= {name: numbers[name] for name, kind in columns if kind == "bigint" and name in numbers}
    row |= {"exchange": number} if table == "receipts" else {}
    places = ", ".join(["%s"] * len(row))
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})".encode(), [*row.values()])


def unfiltered(table: str) -> Callable[[Connection], str]:
    """What a query of a table shows when its filter was forgotten, as one text."""
    name, filter, parameters = UNFILTERED[table]
    assert filter in QUERIES[name]

    def work(connection: Connection) -> str:
        rows = connection.execute(QUERIES[name].replace(filter, ""), parameters).fetchall()
        return " ".join(str(value) for row in rows for value in row)

    return work


@asynccontextmanager
async def opened(url: str, folder: Path) -> AsyncIterator[PostgresDatabase]:
    watch = Watch((), lambda ids: None, counted=("research",))
    database = PostgresDatabase(url, folder / "store", watch=watch)
    database.start(lambda connection: None)
    try:
        yield database
    finally:
        await database.close()


@pytest.mark.parametrize("table", PROTECTED)
async def test_a_query_that_has_lost_its_filter_shows_the_callers_rows_alone(
    url: str, tmp_path: Path, table: str
) -> None:
    async with opened(url, tmp_path) as database:
        with only(ANN.owners()):
            seen = await database.read(unfiltered(table))
            looked = await database.look(unfiltered(table))
        assert ANNS in seen and f"{QUARANTINE}{ANNS}" in seen
        assert BOBS not in seen and looked == seen


@pytest.mark.parametrize("table", PROTECTED)
async def test_without_the_policies_it_would_show_everybodys(
    server: postgresql.TestServer, url: str, tmp_path: Path, table: str
) -> None:
    superuser = url.replace("//plain@", "//palimpsest@")
    async with opened(superuser, tmp_path) as database:
        assert not database.row_security.in_force
        with only(ANN.owners()):
            seen = await database.read(unfiltered(table))
        assert ANNS in seen and BOBS in seen


@pytest.mark.parametrize(("to", "seen"), [("o:acme", True), ("o:globex", False)])
async def test_what_was_submitted_is_seen_in_the_organisation_that_it_was_submitted_in(
    url: str, tmp_path: Path, to: str, seen: bool
) -> None:
    with psycopg.connect(url, options="-c palimpsest.owners=*") as connection:
        connection.execute("UPDATE candidates SET submitted_to = %s WHERE owner = %s", (to, BOBS))
    async with opened(url, tmp_path) as database:
        with only(replace(ANN, org="acme").owners()):
            assert (BOBS in await database.read(unfiltered("candidates"))) is seen


async def test_what_works_for_all_sees_all_and_a_caller_of_nobodys_sees_nothing(url: str, tmp_path: Path) -> None:
    async with opened(url, tmp_path) as database:
        assert database.row_security.in_force
        for table in PROTECTED:
            assert BOBS in await database.read(unfiltered(table))
            assert BOBS in await database.write(unfiltered(table))
            with only(()):
                assert not await database.read(unfiltered(table))
            # The next one on the same connection is bound by nothing of it.
            assert ANNS in await database.read(unfiltered(table))


def test_who_names_nobody_in_a_transaction_sees_nothing(url: str) -> None:
    with psycopg.connect(url) as connection:
        for table in PROTECTED:
            assert connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,)


def test_a_transaction_that_is_begun_names_them_too(url: str) -> None:
    with closing(PostgresConnection(url, reads=True)) as connection, connection.seeing(ANNS):
        connection.execute("BEGIN")
        seen = unfiltered("facts")(connection)
        connection.run("ROLLBACK")
    assert ANNS in seen and BOBS not in seen


def test_naming_owners_is_no_way_there_and_back_of_its_own(url: str) -> None:
    with closing(PostgresConnection(url, reads=True)) as connection, connection.seeing(ANNS):
        connection.execute("SELECT 1")
        with TemporaryFile() as told:
            connection._connection.pgconn.trace(told.fileno())
            unfiltered("facts")(connection)
            connection._connection.pgconn.untrace()
            told.seek(0)
            trace = told.read()
    assert trace.count(b"ReadyForQuery") == 1


async def test_whether_a_table_is_empty_is_no_matter_of_who_asks(url: str, tmp_path: Path) -> None:
    async with opened(url, tmp_path) as database:
        with only(()):
            assert not await database.read(lambda connection: database.empty("research", connection))


async def test_an_id_of_somebody_elses_is_not_read_by_the_journal(
    server: postgresql.TestServer, tmp_path: Path
) -> None:
    journal = PostgresJournal(server.database(tmp_path), tmp_path / "store", redact)
    try:
        await journal.learn(Lesson(0, (fact("Ann drinks tea", id="a"), fact("Bob drinks rum", id="b", owner=BOBS))))
        with only(ANN.owners()):
            assert [each.text for each in await journal.facts(["a", "b"])] == ["Ann drinks tea"]
        assert len(await journal.facts(["a", "b"])) == 2
    finally:
        await journal.close()
        server.give_back()


async def test_what_a_shared_research_is_made_of_is_seen_with_it_and_nothing_else_of_its_person(
    server: postgresql.TestServer, tmp_path: Path
) -> None:
    journal = PostgresJournal(server.database(tmp_path), tmp_path / "store", redact)
    try:
        said = user("Which ports are open?")
        await journal.commit(exchange("e1", [said], "7443", of=session("s1", BOB)))
        await journal.commit(exchange("e2", [user("mine")], "yours", of=session("s2", ANN)))
        found = Research("r1", "p:acme/boat", BOB.owner(Layer.USER) or "", "Which ports?", AT, AT, trail=(said.digest,))
        with only(ANN.owners()):
            assert await journal.trail(found) == [said]
            assert list(await journal.sessions_by_id(["s1", "s2"])) == ["s2"]
            assert await journal.ledger("s1") == () and await journal.recent_replies(found.person, 5) == []
        assert len(await journal.sessions_by_id(["s1", "s2"])) == 2
    finally:
        await journal.close()
        server.give_back()


async def test_research_is_seen_by_who_names_the_shelf_of_its_questions_and_nothing_else_of_its_project(
    server: postgresql.TestServer, tmp_path: Path
) -> None:
    journal = PostgresJournal(server.database(tmp_path), tmp_path / "store", redact)
    try:
        found = Research("r1", "p:acme/boat", BOB.owner(Layer.USER) or "", "Which ports?", AT, AT)
        await journal.write_research([found])
        await journal.learn(Lesson(0, (fact("The boat has two ports", id="a", owner="p:acme/boat"),)))
        with only(ANN.owners()):
            # A filter that was forgotten names no owners.
            assert await journal.research(["r1"]) == []
            with also(f"{QUESTIONS}p:acme/sail"):
                assert await journal.research(["r1"]) == []
            with also(f"{QUESTIONS}p:acme/boat"):
                assert await journal.research(["r1"]) == [found]
                assert await journal.facts(["a"]) == []
            assert await journal.research(["r1"]) == []
    finally:
        await journal.close()
        server.give_back()


def test_a_table_that_is_somebodys_is_protected_or_it_is_said_why_not(url: str) -> None:
    with psycopg.connect(url) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        ).fetchall()
    told = {*PROTECTED, *UNPROTECTED}
    somebodys = {table for table, column in columns if column in ("owner", "user", "person", "session")}
    assert not somebodys - told, "give these a policy, or say in UNPROTECTED why they have none"
    assert not told - {table for table, _ in columns} and not {*PROTECTED} & {*UNPROTECTED}


def test_the_documentation_tells_of_each_table_whether_it_is_protected() -> None:
    text = (Path(__file__).parents[3] / "docs/teams.md").read_text(encoding="utf-8")
    part = text[text.index("### Who sees what, in the database itself") : text.index("### Quotas")]
    before, _, behind = part.partition("| not covered | why |")
    assert all(f"`{table}`" in before for table in PROTECTED)
    assert all(f"`{table}`" in behind for table in UNPROTECTED)


def test_all_protected_tables_have_their_policy_and_hold_their_owner_to_it(url: str) -> None:
    with psycopg.connect(url) as connection:
        held = connection.execute(
            "SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity ORDER BY relname"
        ).fetchall()
        policies = connection.execute("SELECT tablename FROM pg_policies ORDER BY tablename").fetchall()
    assert held == policies == [(table,) for table in sorted(PROTECTED)]
