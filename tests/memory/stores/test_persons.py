"""All that is one person's goes from the journal; of what is shared only what nobody else bears out is theirs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import orjson

from memory.fact import MemoryTier
from memory.ports import FACT_DECISIONS, Lesson
from memory.provenance import QUARANTINE
from memory.scope import Layer, Scope
from tests.memory.stores.derived_facts import exchange, fact, open_journal, passage, session, user

ADA, GRACE = Scope("acme", "ada", "loom"), Scope("acme", "grace", "loom")
ELSEWHERE = Scope("rival", "ada", "loom")


async def test_shared_facts_stay_where_others_bear_them_out(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    shared, up = ADA.owner(Layer.PROJECT) or "", Layer.USER_PROJECT
    hers, theirs = fact("We use pnpm", owner=ADA.owner(up)), fact("We use pnpm here", owner=GRACE.owner(up))
    alone = replace(fact("Use pnpm", owner=shared), tier=MemoryTier.SHARED, derived_from=(hers.id,))
    both = replace(fact("Always use pnpm", owner=shared), tier=MemoryTier.SHARED, derived_from=(hers.id, theirs.id))
    await journal.commit(exchange("e1", [user("We use pnpm.")], of=session("s1", ADA)))
    # What Grace took in from an export of Ada's names Ada's session.
    taken = replace(fact("We use make", owner=GRACE.owner(up)), session=hers.session)
    await journal.learn(Lesson(0, facts=(hers, theirs, alone, both, taken)))
    share = await journal.share_of(ADA)
    assert [each.id for each in share.alone] == [alone.id]
    assert [each.id for each in share.with_others] == [both.id]
    decided = [{"changes": [{"fact": hers.id}]}, {"changes": [{"fact": both.id}]}]
    for owner in (hers.owner, shared):
        await journal.set_meta(FACT_DECISIONS + owner, orjson.dumps(decided))
    await journal.erase_person(ADA)
    assert await journal.meta(FACT_DECISIONS + hers.owner) is None
    assert orjson.loads(await journal.meta(FACT_DECISIONS + shared) or b"") == decided[1:]
    [left] = await journal.facts([both.id])
    assert left.derived_from == (theirs.id,)
    assert len(await journal.facts([theirs.id, taken.id])) == 2
    assert await journal.facts([hers.id]) == []
    await journal.close()


async def test_the_same_name_in_another_organisation_is_another_person(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    for scope in (ADA, ELSEWHERE):
        owner = scope.owner(Layer.USER_PROJECT) or ""
        said = session(f"s-{scope.org}", scope)
        await journal.commit(exchange(f"e-{scope.org}", [user("We use pnpm.")], of=said))
        kept = (fact("We use pnpm", owner=owner), fact("We use make", owner=QUARANTINE + owner))
        await journal.learn(Lesson(0, facts=kept, passages=(passage("We use pnpm.", owner=owner),)))
    facts, passages, rows = await journal.erase_person(ADA)
    assert len(facts) == 2 and len(passages) == 1
    assert rows["sessions"] == rows["exchanges"] == 1 and rows["messages"] == 2
    assert (await journal.share_of(ADA)).nothing
    left = (await journal.share_of(ELSEWHERE)).rows
    assert left["facts"] == 2 and left["passages"] == left["sessions"] == 1 and left["messages"] == 2
    await journal.close()


async def test_what_was_asked_before_a_person_was_forgotten_is_not_journaled(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    early, late = exchange("e1", [user("We use pnpm.")], of=session("s1", ADA)), session("s2", ADA)
    await journal.refuse_until(ADA, early.arrival.at + timedelta(hours=1))
    await journal.refuse_until(ADA, early.arrival.at)
    await journal.commit(early)
    await journal.enter(early.session, ())
    await journal.withdraw(early.session, ())
    await journal.set_aside(exchange("e2", [user("We use make.")], of=early.session))
    assert journal.aside == 1
    await journal.take_back()
    assert journal.aside == journal.broken == 0
    assert (await journal.share_of(ADA)).nothing
    await journal.commit(exchange("e3", [user("We use pnpm.")], of=session("s3", ELSEWHERE)))
    assert (await journal.share_of(ELSEWHERE)).rows["exchanges"] == 1
    at = early.arrival.at + timedelta(microseconds=1)
    again = exchange("e4", [user("We use pnpm.")], of=replace(late, started_at=at, seen_at=at))
    await journal.commit(replace(again, arrival=replace(again.arrival, at=at)))
    # One that ends in a session that was begun anew is of before all the same.
    await journal.commit(exchange("e5", [user("We use ninja.")], of=replace(late, started_at=at, seen_at=at)))
    assert (await journal.share_of(ADA)).rows["exchanges"] == 1
    await journal.close()
