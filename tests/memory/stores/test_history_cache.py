"""What the journal keeps at hand is bounded by what it takes in memory, however small its pieces are."""

from __future__ import annotations

import sqlite3

from memory.stores.history_cache import BASES, EarlierExchange, OpenedMessages, RecentHistories, join
from memory.stores.messages import seal
from tests.memory.stores.derived_facts import user


def past(number: int, length: int = 1) -> EarlierExchange:
    return EarlierExchange(number, 0, join([bytes([number % 250]) * 16] * length))


def test_many_short_histories_are_bounded_too() -> None:
    recent = RecentHistories(room=100_000)
    for number in range(5000):
        recent.remember(f"s{number}", past(number))
    kept = [number for number in range(5000) if recent.of(f"s{number}")]
    assert 200 < len(kept) < 400
    assert kept == list(range(5000 - len(kept), 5000)), "those that were heard of last"


def test_of_a_session_the_newest_are_kept_and_no_room_is_lost() -> None:
    recent = RecentHistories(room=20_000)
    for number in range(1000):
        recent.remember("s", past(number, length=number % 9))
    assert [each.number for each in recent.of("s")] == list(range(999, 999 - BASES, -1))
    recent.remember("long", past(1, length=2000))
    assert recent.of("s") and not recent.of("long"), "what has no room drives nothing out"
    recent.remember("s", past(2000, length=2000))
    assert not recent.of("s"), "nor is what was there before taken for the newest"
    recent.remember("s", past(2))
    assert recent.of("s")


def test_messages_that_were_opened_lately_need_no_database() -> None:
    messages = [user(f"message {number}") for number in range(100)]
    rows = [(each.digest, seal(each, str)) for each in messages]
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.execute("CREATE TABLE messages (person, digest, role, redacted, forgotten, body)")
    connection.executemany(
        "INSERT INTO messages VALUES (1, ?, ?, 0, 0, ?)", [(digest, each.role, each.body) for digest, each in rows]
    )
    opened = OpenedMessages(room=20_000)
    for each in messages:
        assert opened.get(connection, 1, [each.digest]) == {each.digest: each}
    connection.execute("DELETE FROM messages")
    found = [opened.get(connection, 1, [each.digest])[each.digest] == each for each in messages]
    assert 10 < sum(found) < 20 and found[-1]
    connection.close()
