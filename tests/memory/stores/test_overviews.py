"""Overviews, pins and the ledger's new acts are kept, for one person only, also in a database of an older version."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from pathlib import Path

import orjson
import pytest

from memory.conversation import Form, Usage
from memory.edits import Act, ContentTier, Entry, handle
from memory.ports import Overview, StoredMessage
from memory.stores.journal import SqlJournal
from memory.stores.messages import seal
from memory.stores.migrations import MIGRATIONS, migrate
from tests.memory.stores.derived_facts import (
    ANN,
    AT,
    BOB,
    SECRET,
    assistant,
    conversation,
    exchange,
    open_journal,
    redact,
    session,
    stored,
    user,
)

PERSON, OTHER = "u:/ann", "u:/bob"
MADE = Overview(900, "a log of 90 lines", "line 1\n…\nline 90", 12)


def replace(text: str, tier: ContentTier = ContentTier.L1, part: int = 1) -> Entry:
    return Entry(user("a").digest, 0, text, Form.PART, "shed fold", act=Act.REPLACE, part=part, tier=tier)


async def test_a_ledger_keeps_what_its_entries_do(journal: SqlJournal) -> None:
    cut = Entry(user("b").digest, 1, "the page", Form.PART, "rotate", ("m1",), Act.CUT)
    entries = (
        replace("an overview"),
        replace("one line", ContentTier.L0),
        replace("one line", ContentTier.L0, part=2),
        cut,
    )
    await journal.enter(session(), entries)
    await journal.enter(session(), entries)
    assert await journal.ledger("s1") == entries


async def test_a_decision_that_is_taken_again_after_another_is_the_last_one(journal: SqlJournal) -> None:
    rounds = Entry(user("a").digest, 0, "[]", Form.PART, "rounds", ("m1",), Act.INSERT)
    none = Entry(user("a").digest, 0, "", Form.PART, "rounds", (), Act.INSERT)
    for entry in (none, rounds, none, replace("x"), none, rounds):
        await journal.enter(session(), [entry])
    assert await journal.ledger("s1") == (replace("x"), none, rounds)
    recalled = Entry(user("a").digest, 0, "recalled", Form.PART, "recall")
    await journal.enter(session(), [recalled])
    await journal.enter(session(), [replace("y"), recalled])
    assert (await journal.ledger("s1"))[-2:] == (recalled, replace("y"))


async def test_entries_that_differ_only_in_what_they_do_are_different(journal: SqlJournal) -> None:
    plain = Entry(user("a").digest, 0, "x", Form.PART, "shed fold")
    entries = (plain, replace("x", part=0), replace("x", ContentTier.L0, part=0), replace("x"))
    await journal.enter(session(), entries)
    assert await journal.ledger("s1") == entries


@pytest.mark.sqlite
async def test_a_database_of_the_first_version_is_upgraded_in_place(tmp_path: Path) -> None:
    file = tmp_path / "store" / "journal.sqlite"
    file.parent.mkdir()
    said = user("what was said")
    _first_version(file, said.digest)
    journal = open_journal(tmp_path)
    try:
        old = Entry(said.digest, 0, "recalled", Form.SUFFIX, "recall", ("m1",))
        assert await journal.ledger("s1") == (old,)
        await journal.enter(session(), [old, replace("an overview")])
        assert await journal.ledger("s1") == (old, replace("an overview"))
        assert await journal.shelved("s1", [said.digest]) == {said.digest: StoredMessage(False, {})}
        (behind,) = await journal.untiered(9)
        assert behind.messages == (said,)
        await journal.write_overviews(behind.number, PERSON, {(said.digest, 0): MADE})
        assert await journal.shelved("s1", [said.digest]) == {said.digest: StoredMessage(False, {0: MADE})}
    finally:
        await journal.close()


async def test_overviews_are_kept_across_the_sessions_of_a_person(journal: SqlJournal) -> None:
    said = [user("a"), user("not in the journal")]
    await journal.commit(exchange("e1", said[:1]))
    await journal.commit(exchange("e2", said[:1], of=session("s2")))
    await journal.commit(exchange("e3", said[:1], of=session("s3", BOB)))
    await journal.write_overviews(1, PERSON, {(said[0].digest, 0): MADE, (said[0].digest, 2): MADE})
    digests = [message.digest for message in said]
    for id in ("s1", "s2"):
        assert await journal.shelved(id, digests) == {said[0].digest: StoredMessage(False, {0: MADE, 2: MADE})}
    assert await journal.shelved("s3", digests) == {said[0].digest: StoredMessage(False, {})}
    assert await journal.shelved("unknown", digests) == {}


async def test_a_message_with_a_secret_is_known_to_be_redacted(journal: SqlJournal) -> None:
    said = [user(f"use {SECRET}"), user("harmless")]
    await journal.commit(exchange("e1", said))
    shelved = await journal.shelved("s1", [message.digest for message in said])
    assert [shelved[message.digest].redacted for message in said] == [True, False]


async def test_secrets_do_not_come_in_by_an_overview(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("a")]))
    made = Overview(9, f"key {SECRET}", f"KEY={SECRET}", 3)
    await journal.write_overviews(1, PERSON, {(user("a").digest, 0): made})
    await journal._db.scrub()
    assert SECRET.encode() not in stored(journal)


async def test_the_cursor_moves_with_the_overviews_and_never_back(journal: SqlJournal) -> None:
    for number in range(3):
        await journal.commit(exchange(f"e{number}", [user(f"m{number}")]))
    assert [each.id for each in await journal.untiered(2)] == ["e0", "e1"]
    await journal.write_overviews(2, PERSON, {})
    await journal.write_overviews(1, PERSON, {})
    await journal.write_overviews(0, PERSON, {})
    assert [each.id for each in await journal.untiered(9)] == ["e2"]
    assert len(await journal.unlearned(9)) == 3


async def test_of_a_long_request_only_its_end_is_read_again(journal: SqlJournal) -> None:
    said = [user(f"m{number}") for number in range(200)]
    await journal.commit(exchange("e1", said[:-2]))
    await journal.commit(exchange("e2", said, "done"))
    first, second = await journal.untiered(9)
    assert [first.messages[index] for index in first.fresh] == said[:-2]
    assert [second.messages[index] for index in second.fresh] == said[-2:]
    assert len(second.messages) < 60
    assert second.reply == assistant("done")


async def test_a_thousand_messages_are_found_at_once(journal: SqlJournal) -> None:
    said = [user(f"m{number}") for number in range(1000)]
    await journal.commit(exchange("e1", said))
    await journal.write_overviews(1, PERSON, {(message.digest, 0): MADE for message in said})
    found = await journal.shelved("s1", [message.digest for message in said])
    assert len(found) == 1000
    assert all(each.overviews == {0: MADE} for each in found.values())


async def test_a_message_is_found_by_the_beginning_of_its_digest(journal: SqlJournal) -> None:
    said = user("a")
    await journal.commit(exchange("e1", [said, user(f"b {SECRET}")], "c"))
    await journal.write_overviews(1, PERSON, {(said.digest, 0): MADE})
    for length in (8, 11, 12, 32):
        (found,) = await journal.messages_by_digest(PERSON, said.digest.hex()[:length])
        assert (found.message, found.redacted, found.forgotten) == (said, False, False)
        assert found.overviews == {0: MADE}
    assert len(await journal.messages_by_digest(PERSON, "", 9)) == 3
    assert await journal.messages_by_digest(OTHER, said.digest.hex()) == []


async def test_what_a_person_pins_is_pinned_in_all_their_sessions(journal: SqlJournal) -> None:
    said = user("a")
    for id, scope in (("s1", ANN), ("s2", ANN), ("s3", BOB)):
        await journal.commit(exchange(f"e-{id}", [said], of=session(id, scope)))
    await journal.pin_part(PERSON, said.digest, 2, AT)
    await journal.pin_part(PERSON, said.digest, 2, AT)
    assert await journal.pinned("s1") == await journal.pinned("s2") == {handle(said.digest, 2)}
    assert await journal.pinned("s3") == await journal.pinned("unknown") == frozenset()
    await journal.pin_part(PERSON, said.digest, 2, None)
    assert await journal.pinned("s1") == frozenset()


async def test_what_the_provider_reported_is_found_by_the_receipt(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("a")]))
    assert await journal.usages("r-e1") == (Usage(10, 2), None)
    await journal.commit(exchange("e2", [user("b")], of=session("s2")))
    await journal.commit(exchange("e3", [user("a"), user("b")]))
    assert await journal.usages("r-e1") == (Usage(10, 2), Usage(10, 2))
    assert await journal.usages("r-none") == (None, None)


async def test_what_was_reported_of_a_sessions_newest_turn_is_found_with_its_end(
    journal: SqlJournal,
) -> None:
    first, second = user("a"), user("b")
    assert await journal.newest_usage("s1", "model-1") is None
    await journal.commit(exchange("e1", [first]))
    assert await journal.newest_usage("s1", "model-1") == (Usage(10, 2), 1, first.digest)
    await journal.commit(exchange("e2", [first, second]))
    await journal.commit(exchange("e3", [second], of=session("s2")))
    assert await journal.newest_usage("s1", "model-1") == (Usage(10, 2), 2, second.digest)
    assert await journal.newest_usage("s1", "model-2") is None


def _first_version(file: Path, digest: bytes) -> None:
    """A database as the first version left it: a session, an exchange of one message, an entry in the ledger."""
    connection = sqlite3.connect(file, isolation_level=None)
    migrate(connection, MIGRATIONS[:1])
    connection.execute("INSERT INTO people (number, name) VALUES (1, ?)", (PERSON,))
    at = AT.isoformat()
    connection.execute(
        "INSERT INTO sessions VALUES (1, 's1', 'ns:s1', 1, NULL, 'ann', 'boat', 'codex', 'main', NULL, 0, NULL, ?, ?,"
        " ?, 1)",
        (at, at, AT.timestamp()),
    )
    sealed = seal(user("what was said"), redact)
    connection.execute(
        "INSERT INTO messages (person, digest, role, redacted, body) VALUES (1, ?, 'user', 0, ?)", (digest, sealed.body)
    )
    connection.execute(
        "INSERT INTO exchanges VALUES (1, 'e1', 1, 'main', ?, 'openai-chat', 'm', 200, NULL, 0, 0, ?, '[0]', NULL, 0,"
        " '', '', '[]')",
        (at, conversation([user("what was said")]).messages[0].digest),
    )
    told = orjson.dumps([digest.hex(), 0, "recalled", "suffix", "recall"])
    connection.execute(
        "INSERT INTO ledger VALUES (1, 1, ?, ?, 0, 'recalled', 'suffix', 'recall', '[\"m1\"]')",
        (hashlib.blake2b(told, digest_size=16).digest(), digest),
    )
    connection.close()
    os.chmod(file, 0o600)
