"""Several journals over one database at the same time: one has the work, each may have an index of its own."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from memory.ports import NO_LEDGER, Lesson
from memory.stores.errors import StoreFault
from memory.stores.postgresql import changes, writer
from memory.stores.postgresql.changes import ChangeReader
from memory.stores.postgresql.connection import PostgresConnection
from memory.stores.postgresql.database import PostgresDatabase
from memory.stores.postgresql.journal import PostgresJournal
from memory.stores.postgresql.lease import keep_indexes
from tests import postgresql
from tests.memory.stores.derived_facts import AT, BOB, conversation, exchange, fact, session, user
from tests.memory.stores.test_sessions import entry


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    server = postgresql.server()
    if server is None:
        pytest.skip("there is no PostgreSQL on this machine")
    monkeypatch.setattr(writer, "REPLICA_SECONDS", 0.05)
    yield server.database(tmp_path)
    server.give_back()


def replica(url: str, folder: Path, name: str, own_index: bool = True) -> PostgresJournal:
    return PostgresJournal(url, folder / name, str, replica=name, own_index=own_index)


async def working(*journals: PostgresJournal) -> None:
    async with asyncio.timeout(20):
        while not any(each.works for each in journals):  # noqa: ASYNC110 (its writer finds it out)
            await asyncio.sleep(0.01)


async def test_one_has_the_work_and_the_next_one_goes_on_with_it(url: str, tmp_path: Path) -> None:
    first = replica(url, tmp_path, "one")
    await working(first)
    second = replica(url, tmp_path, "two")
    turns: list[bool] = []
    second.told.work = turns.append
    # What belongs to a request may be written by each; what one alone must do by one.
    await second.commit(exchange("e1", [user("a")], of=session()))
    with pytest.raises(StoreFault, match="the replica to do that does the work"):
        await second.learn(Lesson(1))
    await first.learn(Lesson(1, (fact("uses tabs"),)))
    await first.learn(Lesson(1, (fact("uses spaces"),)))  # once
    assert (await second.counts()).facts == 1 and not second.works
    await first.close()
    await working(second)
    assert turns == [True]
    await second.learn(Lesson(0, (fact("uses spaces"),)))
    await second.close()


async def test_who_was_cut_off_writes_nothing_more_of_the_work(url: str, tmp_path: Path) -> None:
    first, second = replica(url, tmp_path, "one"), replica(url, tmp_path, "two")
    await working(first, second)
    worker, other = (first, second) if first.works else (second, first)
    with psycopg.connect(url, autocommit=True) as connection:
        # As if it had not been heard of for long, and another one had been quicker.
        connection.execute("UPDATE server SET id = 'another', machine = 'elsewhere', heard = now()")
    with pytest.raises(StoreFault, match="the replica to do that does the work"):
        await worker.learn(Lesson(0, (fact("uses tabs"),)))
    await worker.commit(exchange("e1", [user("a")], of=session()))
    assert not worker.works and not other.works
    for each in (worker, other):
        await each.close()


async def test_each_has_an_index_of_its_own_and_what_is_kept_for_the_lost_goes(url: str, tmp_path: Path) -> None:
    first, second = replica(url, tmp_path, "one"), replica(url, tmp_path, "two")
    for each in (first, second):
        await each.switch_generation((await each.begin_generation("e", 4)).number)
    await working(first, second)
    worker = first if first.works else second
    told = fact("uses tabs")
    await worker.learn(Lesson(0, (told,)))
    for each in (first, second):
        (own,) = await each.generations()
        assert own.current and [*(await each.unindexed(10)).ids] == [told.id]
    await first.mark_indexed([told.id])
    assert await first.waiting() == 0 and await second.waiting() == 1
    await first.drop_generation((await first.generations())[0].number)
    assert await first.generations() == [] and len(await second.generations()) == 1
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE replica_indexes SET heard = now() - interval '8 days'")
    await second.close()
    late = replica(url, tmp_path, "three")
    await late.begin_generation("e", 4)
    await late._db.write(lambda connection: keep_indexes(connection, "three"), anywhere=True)
    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT replica FROM replica_indexes").fetchall()
    assert rows == [("three",)]
    for each in (first, late):
        await each.close()


async def test_an_index_on_a_server_is_everybodys_and_only_the_worker_makes_it(url: str, tmp_path: Path) -> None:
    first = replica(url, tmp_path, "one", own_index=False)
    await working(first)
    second = replica(url, tmp_path, "two", own_index=False)
    with pytest.raises(StoreFault, match="the replica to do that does the work"):
        await second.begin_generation("e", 4)
    made = await first.begin_generation("e", 4)
    assert [each.number for each in await second.generations()] == [made.number]
    for each in (first, second):
        await each.close()


async def test_caches_hear_what_another_one_has_written(url: str, tmp_path: Path) -> None:
    first = replica(url, tmp_path, "one")
    await working(first)
    second = replica(url, tmp_path, "two")
    grown, changed, erased = set[str](), set[str](), list[bool]()
    second.told.grown = grown.update
    second.told.changed = changed.update
    second.told.erased = lambda: erased.append(True)
    told = fact("uses tabs")
    await first.learn(Lesson(0, (told,)))
    await first.commit(exchange("e1", [user("uses tabs")], of=session()))
    assert await second.stored_session("nobody's", "ns", []) is None
    assert "exchanges" in grown and changed == {told.owner} and not erased
    assert await second.memories([told.id], [told.owner]) == [told]
    await first.forget([told.id], told.recorded_at)
    assert await second.stored_session("nobody's", "ns", []) is None
    assert await second.memories([told.id], [told.owner]) == []
    for each in (first, second):
        await each.close()


async def test_that_a_fact_which_no_message_taught_is_gone_is_heard(url: str, tmp_path: Path) -> None:
    first = replica(url, tmp_path, "one")
    await working(first)
    second = replica(url, tmp_path, "two")
    told, erased = fact("uses tabs"), list[bool]()
    await first.learn(Lesson(0, (told,)))
    assert await second.stored_session("nobody's", "ns", []) is None
    second.told.erased = lambda: erased.append(True)
    await first.forget([told.id], told.recorded_at)
    assert await second.stored_session("nobody's", "ns", []) is None
    assert erased
    for each in (first, second):
        await each.close()


async def test_who_may_have_missed_changes_knows_no_memories_any_more(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = replica(url, tmp_path, "one")
    await working(first)
    second = replica(url, tmp_path, "two")
    told = fact("uses tabs")
    await first.learn(Lesson(0, (told,)))
    assert await second.stored_session("nobody's", "ns", []) is None
    assert await second.memories([told.id], [told.owner]) == [told]
    second.changed.take()
    with psycopg.connect(url, options="-c palimpsest.owners=*") as connection:
        connection.execute("DELETE FROM facts")
        connection.execute("DELETE FROM changes")
    monkeypatch.setattr(changes, "MISSED_SECONDS", -1.0)
    assert await second.stored_session("nobody's", "ns", []) is None
    assert await second.memories([told.id], [told.owner]) == []
    assert second.changed.take() is None
    for each in (first, second):
        await each.close()


async def test_replicas_agree_and_who_is_overtaken_adopts_what_stands(url: str, tmp_path: Path) -> None:
    first, second = replica(url, tmp_path, "one"), replica(url, tmp_path, "two")
    # The person is new first, and known then.
    for name in ("s1", "s2"):
        of = session(name, key=f"ns:{name}")
        begun = await first.agree(of, None, None, [entry("ours")])
        assert begun.entries is None and begun.version.size == 1
        # What came since a version that is known comes with the look.
        found = await second.stored_session(f"ns:{name}", "ns", [], (name, NO_LEDGER))
        assert found is not None and found.version == begun.version and found.since == (entry("ours"),)
        other = await second.agree(of, None, NO_LEDGER, [entry("theirs"), entry("more", 1)])
        assert other.entries == (entry("ours"), entry("more", 1)) == await first.ledger(name)
        again = await first.agree(of, None, other.version, [entry("more", 2)])
        assert again.entries is None and again.version.size == 3
    assert (await second.agree(session("s3", key="ns:s2"), None, None, [])).session.id == "s2"
    for each in (first, second):
        await each.close()


def test_a_look_counts_once_it_is_told(url: str, tmp_path: Path) -> None:
    database = PostgresDatabase(url, tmp_path / "aside")
    database.start(lambda connection: None)
    reader, connection = ChangeReader(None), PostgresConnection(url)
    # It has never looked: much may have been missed.
    rolled_back = reader.ask(connection)()
    again = reader.ask(connection)()
    assert rolled_back.erased and again.erased
    reader.tell(again)
    assert not reader.ask(connection)().erased
    connection.close()
    asyncio.run(database.close())


async def test_who_leaves_the_work_does_not_take_it_again(url: str, tmp_path: Path) -> None:
    first = replica(url, tmp_path, "one")
    await working(first)
    await first.leave_work()
    assert not first.works
    await first.commit(exchange("e1", [user("a")], of=session()))
    with pytest.raises(StoreFault, match="the replica to do that does the work"):
        await first.learn(Lesson(1))
    second = replica(url, tmp_path, "two")
    await working(second)
    for each in (first, second):
        await each.close()


async def test_a_session_is_begun_under_a_number_that_was_reserved_unless_it_is_begun_already(
    url: str, tmp_path: Path
) -> None:
    first = replica(url, tmp_path, "one")
    await working(first)
    second = replica(url, tmp_path, "two")
    trail = conversation([user("a")]).trail()
    opening = "ns", trail[-1]
    for each in (first, second):
        assert await each.stored_session("nobody's", "ns", trail) is None
        assert len(each._numbers) >= 4
    left = len(first._numbers)
    begun = await first.agree(session("s1", key="ns:trail:s1"), opening, None, [entry("ours")])
    assert begun.session.id == "s1" and begun.version.size == 1 and len(first._numbers) == left - 1
    # Another replica has begun it, by its opening or by its key; only a while later it is another one.
    other = await second.agree(session("s2", key="ns:trail:s2"), opening, None, [entry("theirs")])
    assert other.session.id == "s1" and await second.ledger("s2") == ()
    # The same once more, of which the answer was lost.
    again = await first.agree(session("s1", key="ns:trail:s1"), opening, None, [entry("ours"), entry("more", 1)])
    assert again.session.id == "s1" and again.entries == (entry("ours"), entry("more", 1))
    late = session("s3", key="ns:trail:s3", seen_at=AT + timedelta(hours=1))
    assert (await second.agree(late, opening, None, [])).session.id == "s3"
    named = await first.agree(session("s4", key="k"), None, None, [])
    assert (await second.agree(session("s5", key="k"), None, None, [])).session.id == named.session.id == "s4"
    # And one of somebody who is new.
    bobs = await second.agree(session("s6", BOB), None, None, [entry("bob's")])
    assert bobs.session.id == "s6" and await first.ledger("s6") == (entry("bob's"),)
    # What is found along the trail alone says so.
    found = await second.stored_session("no such key", "ns", trail)
    assert found is not None and found.session.id == "s3" and not found.by_key
    for each in (first, second):
        await each.close()


async def test_of_sessions_that_begin_at_once_one_stands_and_the_writers_go_on(url: str, tmp_path: Path) -> None:
    first = replica(url, tmp_path, "one")
    await working(first)
    both = first, replica(url, tmp_path, "two")
    # Often enough for the connections to prepare statements, also behind the one that fails.
    for round in range(8):
        trail = conversation([user(f"hello {round}")]).trail()
        for each in both:
            assert await each.stored_session(None, "ns", trail) is None  # numbers are reserved with it
        agreed = await asyncio.gather(
            *(
                both[place % 2].agree(
                    session(f"s{round}-{place}", key=f"ns:trail:{round}-{place}"),
                    ("ns", trail[-1]),
                    None,
                    [entry(f"said {place}")],
                )
                for place in range(4)
            )
        )
        assert len({each.session.id for each in agreed}) == 1, round
    for place, each in enumerate(both):
        await each.commit(exchange(f"e{place}", [user("and on")], of=session(f"later{place}")))
        await each.close()


async def test_who_is_overtaken_in_a_ledger_time_and_again_writes_on(url: str, tmp_path: Path) -> None:
    first = replica(url, tmp_path, "one")
    await working(first)
    second = replica(url, tmp_path, "two")
    of, size = session("s1", key="ns:s1"), 0
    for each in (first, second):
        await each.agree(of, None, None, [])
    stands = NO_LEDGER
    for round in range(12):
        stands = (await first.agree(of, None, stands, [entry("ours", size)])).version
        # It knows of what stood at first only.
        theirs = await second.agree(of, None, NO_LEDGER, [entry("theirs", size + 1)], [user(f"more {round}")])
        size += 2
        assert theirs.entries is not None and theirs.version.size == size, round
        stands = theirs.version
    await second.commit(exchange("e1", [user("and on")], of=of))
    for each in (first, second):
        await each.close()


async def test_of_who_was_forgotten_elsewhere_nothing_is_agreed_about_that_was_asked_before(
    url: str, tmp_path: Path
) -> None:
    first = replica(url, tmp_path, "one")
    await working(first)
    second = replica(url, tmp_path, "two")
    trail, erased = conversation([user("a")]).trail(), list[bool]()
    assert await second.stored_session("nobody's", "ns", trail) is None
    begun = await second.agree(session("s1", BOB, key="ns:s1"), None, None, [entry("ours")])
    second.told.erased = lambda: erased.append(True)
    await first.refuse_until(BOB, AT + timedelta(minutes=1))
    await second.stored_session("nobody's", "ns", trail)
    assert erased
    await first.erase_person(BOB)
    # One that goes on, one that begins under a number at hand, one that is read before it is written, one that sheds.
    early = [
        await second.agree(session("s1", BOB, key="ns:s1"), None, begun.version, [entry("more", 1)]),
        await second.agree(session("s2", BOB, key="ns:s2"), ("ns", trail[-1]), None, [entry("ours")]),
        await second.agree(session("s3", BOB, key="ns:s3"), None, None, [entry("ours")], [user("We use pnpm.")]),
    ]
    assert [each.session.id for each in early] == ["s1", "s2", "s3"] and not any(each.entries for each in early)
    assert (await first.share_of(BOB)).nothing
    late = session("s4", BOB, key="ns:s4", started_at=AT + timedelta(hours=1), seen_at=AT + timedelta(hours=1))
    await second.agree(late, None, None, [entry("ours")])
    others = await second.agree(session("s5", key="ns:s5"), None, None, [entry("ours")])
    assert others.version.size == 1
    assert (await first.share_of(BOB)).rows["sessions"] == 1
    for each in (first, second):
        await each.close()


async def test_what_a_replica_that_is_gone_has_set_aside_is_journaled_once_by_another_one(
    url: str, tmp_path: Path
) -> None:
    first = replica(url, tmp_path, "one")
    await working(first)
    await first.set_aside(exchange("e1", [user("We use pnpm.")], of=session("s1")))
    await first.close()
    await asyncio.to_thread(shutil.copytree, tmp_path / "one" / "aside", tmp_path / "two" / "aside")
    # Another one is handed the files, and the first one comes back all the same.
    for name in ("two", "one"):
        again = replica(url, tmp_path, name)
        assert again.aside == 1
        await again.take_back()
        assert again.aside == again.broken == 0
        assert (await again.counts()).exchanges == 1
        await again.close()
