"""What may not be kept any longer goes from everywhere but what live sessions were given, and nothing else goes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memory.conversation import Form
from memory.edits import Entry
from memory.fact import Category, FactKind, Sensitivity
from memory.policy import Policies, Unkept
from memory.ports import Lesson
from memory.provenance import QUARANTINE
from memory.scope import Layer, Scope
from memory.services.lessons.indexing import lesson_of, terms_of
from memory.services.retention import RetentionWorker
from memory.session import ShownMemory
from memory.settings import PolicySettings
from memory.stores.journal import SqlJournal
from tests.memory.services.person.test_commands import unguarded
from tests.memory.services.test_retention import nobody_rests
from tests.memory.stores.derived_facts import (
    ANN,
    AT,
    BOB,
    exchange,
    fact,
    open_journal,
    passage,
    rows,
    session,
    stored,
    user,
)
from tests.memory.stores.test_retention import let_go, read_all, seen

DAY = timedelta(days=1)
OWNER = ANN.owner(Layer.USER_PROJECT) or ""
PERSON = ANN.owner(Layer.USER) or ""


async def all_gone(journal: SqlJournal, unkept: Unkept) -> int:
    """All that is to go: first the passages, then the facts."""
    count = 0
    while gone := await journal.delete_unkept(unkept, "passages"):
        count += gone
    while gone := await journal.delete_unkept(unkept, "facts"):
        count += gone
    return count


async def test_of_a_kind_only_that_kind_goes(journal: SqlJournal) -> None:
    task, decision = fact("Ann writes to zebra", kind=FactKind.TASK), fact("Ann uses yak", kind=FactKind.DECISION)
    await journal.learn(Lesson(0, (task, decision), ()))
    assert await journal.delete_unkept(Unkept(OWNER, AT + DAY, kind="task"), "facts") == 1
    assert await journal.facts([task.id, decision.id]) == [decision]


async def test_what_is_too_old_goes_and_what_a_live_session_was_given_of_it_stays(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, terms=terms_of)
    old, new = fact("Ann uses zebra"), fact("Ann uses yak", recorded_at=AT + 9 * DAY)
    said, later = passage("zebra it is"), passage("yak it is", at=AT + 9 * DAY)
    theirs = fact("Bob uses zebra", scope=BOB)
    following = replace(new, supersedes=(old.id,), contradicts=(old.id,))
    lesson = lesson_of(0, [old, following, theirs], [said, later])
    await journal.learn(lesson)
    index = (await journal.begin_generation("static", 4)).number
    await journal.mark_indexed([each.id for each in (old, following, theirs, said, later)], index)
    shown = [ShownMemory(old.id, old.text, 0.5, {}, 3)]
    await journal.commit(exchange("e1", [user("which animal?")], "noted", shown=shown))
    entry = Entry(user("which animal?").digest, 0, "recalled: zebra", Form.PART, "recall", (old.id,))
    await journal.enter(session(), [entry])
    before = await journal.texts_below([OWNER], [])
    assert await all_gone(journal, Unkept(OWNER, AT + 5 * DAY)) == 2
    assert await journal.facts([old.id, following.id, theirs.id]) == [
        replace(following, supersedes=(), contradicts=()),
        theirs,
    ]
    assert await journal.passages([said.id, later.id]) == [later]
    assert await journal.texts_below([OWNER], []) == before - 2
    assert set((await journal.unindexed(10, index)).gone) == {old.id, said.id}
    assert [each.text for each in await journal.ledger("s1")] == ["recalled: zebra"]
    receipts = await journal.receipts(10)
    assert [each.shown for each in receipts] == [()]
    assert not any(old.id in str(row) for row in rows(journal, "SELECT * FROM names"))
    # What is said again is learnt again: nothing was buried.
    assert rows(journal, "SELECT count(*) FROM tombstones") == [(0,)]
    assert await all_gone(journal, Unkept(OWNER, AT + 5 * DAY)) == 0
    await journal.close()


async def test_what_is_restricted_or_about_people_goes_however_new_it_is(journal: SqlJournal) -> None:
    plain = fact("uses pnpm")
    secret = fact("the merger", sensitivity=Sensitivity.RESTRICTED)
    person = fact("Ann lives in Lisbon", category=Category.PERSON, owner=PERSON, source=b"\x07" * 16)
    told = passage("I live in Lisbon", source=b"\x07" * 16)
    whisper = passage("the merger is on", sensitivity=Sensitivity.RESTRICTED)
    other = passage("use pnpm")
    await journal.learn(Lesson(0, (plain, secret, person), (told, whisper, other)))
    assert await all_gone(journal, Unkept(OWNER, person=PERSON)) == 0
    assert await all_gone(journal, Unkept(OWNER, restricted=True, person=PERSON)) == 2
    assert await all_gone(journal, Unkept(OWNER, personal=True, person=PERSON)) == 1
    assert await all_gone(journal, Unkept(PERSON, personal=True, person=PERSON)) == 1
    left = await journal.facts([plain.id, secret.id, person.id])
    assert left == [plain] and await journal.passages([told.id, whisper.id, other.id]) == [other]


@pytest.mark.parametrize("shelf", ["", QUARANTINE])
async def test_what_is_told_of_people_goes_from_whatever_shelf_it_lies_on(journal: SqlJournal, shelf: str) -> None:
    known = fact("uses pnpm")
    person = fact("Ann lives in Lisbon", category=Category.PERSON, owner=shelf + PERSON, source=b"\x07" * 16)
    told = passage("I live in Lisbon", owner=shelf + OWNER, source=b"\x07" * 16)
    other = passage("use pnpm", owner=shelf + OWNER, source=b"\x08" * 16)
    home = fact("tabs, not spaces", owner=PERSON)
    await journal.learn(lesson_of(0, [known, home, person], [told, other]))
    policies = Policies({"*": PolicySettings(personal=False)})
    retaining = RetentionWorker(policies, journal, (), unguarded, lambda: AT, nobody_rests, lambda owners: None)
    assert await retaining.delete_memories() == 2
    assert await journal.facts([known.id, home.id, person.id]) == [known, home]
    assert await journal.passages([told.id, other.id]) == [other]


async def test_exchanges_go_of_the_people_that_are_named_only(journal: SqlJournal) -> None:
    ann, bob = seen("s1", AT), session("s2", Scope(user="bob", project="boat"), seen_at=AT)
    await journal.commit(exchange("e1", [user("a zebra of Ann's")], "noted", of=ann))
    await journal.commit(exchange("e2", [user("a zebra of Bob's")], "noted", of=bob))
    await read_all(journal)
    assert await journal.people() == [PERSON, BOB.owner(Layer.USER)]
    assert await journal.delete_old(AT + 50 * DAY, ("learned", "tiered"), rested, [PERSON]) == (1, 2)
    assert rows(journal, "SELECT id FROM exchanges") == [("e2",)]
    assert len(rows(journal, "SELECT number FROM messages")) == 2
    assert await let_go(journal) == (1, 2)
    assert stored(journal)


async def rested() -> None:
    """Nobody has to be given way."""
