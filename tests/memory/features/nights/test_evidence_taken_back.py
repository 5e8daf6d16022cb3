"""What a person dismissed, corrected or took out of memory bears out no rule; what only faded still does."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import cast

from memory.fact import Fact, FactKind, State
from memory.learning.tombstones import dismissal_of
from memory.policy import Policies
from memory.ports import Lesson
from memory.scope import Layer
from memory.services.learn import Learner
from memory.services.person.commands import Commands
from memory.services.person.fact_revision import FactReviser
from memory.stores.journal import SqliteJournal
from tests.memory.features.nights.test_subjects_over_nights import SAID, night, place_of, said
from tests.memory.stores.derived_facts import ANN, AT, fact, owner

OWNERS = [owner(ANN)]


class Finder:
    """Finds facts by their whole ids."""

    def __init__(self, journal: SqliteJournal) -> None:
        self._journal = journal

    async def memory(self, id: str, owners: Sequence[str]) -> Fact:
        [found] = await self._journal.facts([id], owners)
        return found


class Writer:
    """Writes lessons, and makes nothing findable."""

    policies = Policies({})

    def __init__(self, journal: SqliteJournal) -> None:
        self._journal = journal

    @asynccontextmanager
    async def resting(self) -> AsyncIterator[None]:
        """Nothing is learned here, so that nothing has to wait."""
        yield

    async def revise(self, drawn: Callable[[], Awaitable[Lesson]]) -> Lesson:
        lesson = await drawn()
        await self._journal.learn(lesson)
        return lesson


def reviser(journal: SqliteJournal) -> FactReviser:
    def now() -> datetime:
        return AT + timedelta(days=2)

    found, written = cast(Commands, Finder(journal)), cast(Learner, Writer(journal))

    async def unheard(fact: Fact) -> None:
        """There is no feature that hears of it."""

    return FactReviser(journal, found, written, lambda: "new", now, journal.followers, unheard)


async def shown(journal: SqliteJournal) -> set[str]:
    """The ids of what is shown as evidence of the one candidate there is."""
    [candidate] = await journal.candidates(OWNERS)
    return {each.id for each in await journal.bearing_out(candidate)}


async def put_away(journal: SqliteJournal, id: str) -> None:
    """A fact is archived, by nothing that says why."""
    [held] = await journal.facts([id])
    await journal.learn(Lesson(0, (replace(held, state=State.ARCHIVED),)))


async def test_a_draft_that_was_dismissed_is_no_evidence_and_counts_no_more(journal: SqliteJournal) -> None:
    await said(journal, 2, 4)
    await said(journal, 4, 6, State.DRAFT)
    before = await night(journal, place_of(journal), 1)
    assert (set(before.evidence), before.sources, before.sessions) == ({"f2", "f3", "f4", "f5"}, 4, 4)
    await reviser(journal).dismiss("f4", OWNERS)
    [left] = await journal.candidates(OWNERS)
    assert (set(left.evidence), left.sources, left.sessions) == ({"f2", "f3", "f5"}, 3, 3)
    assert await shown(journal) == {"f2", "f3", "f5"}
    await said(journal, 0, 1)
    after = await night(journal, place_of(journal), 3)
    assert (set(after.evidence), after.sessions) == ({"f0", "f2", "f3", "f5"}, 4)


async def test_a_draft_that_was_corrected_bears_nothing_out_in_its_old_words(journal: SqliteJournal) -> None:
    await said(journal, 2, 5)
    await said(journal, 5, 6, State.DRAFT)
    assert "f5" in (await night(journal, place_of(journal), 1)).evidence
    assert (await reviser(journal).update("f5", "Use pnpm in the web folder", OWNERS)).supersedes == ("f5",)
    [past] = await journal.facts(["f5"])
    assert (past.state, past.superseded_at) == (State.SUPERSEDED, AT + timedelta(days=2))
    assert await shown(journal) == {"f2", "f3", "f4"}
    await said(journal, 0, 1)
    after = await night(journal, place_of(journal), 3)
    assert set(after.evidence) == {"f0", "f2", "f3", "f4"} == await shown(journal)


async def test_a_correction_before_any_night_leaves_the_old_words_out(journal: SqliteJournal) -> None:
    await said(journal, 2, 5)
    await said(journal, 5, 6, State.DRAFT)
    await reviser(journal).update("f5", "Use pnpm in the web folder", OWNERS)
    found = await night(journal, place_of(journal), 3)
    assert set(found.evidence) == {"f2", "f3", "f4"} and found.sessions == 3


async def test_what_a_person_took_out_of_memory_is_no_evidence(journal: SqliteJournal) -> None:
    await said(journal, 2, 6)
    assert "f4" in (await night(journal, place_of(journal), 1)).evidence
    await put_away(journal, "f4")
    assert await shown(journal) == {"f2", "f3", "f5"}
    await said(journal, 0, 1)
    after = await night(journal, place_of(journal), 2)
    assert after.sessions == 4 and await shown(journal) == {"f0", "f2", "f3", "f5"}


async def test_what_faded_bears_a_rule_out_unless_its_words_were_dismissed(journal: SqliteJournal) -> None:
    await said(journal, 1, 4)
    await said(journal, 4, 6, State.DRAFT)
    await night(journal, place_of(journal), 1)
    await night(journal, place_of(journal), 60)
    assert [each.state for each in await journal.facts(["f4", "f5"])] == [State.ARCHIVED] * 2
    assert {"f4", "f5"} <= await shown(journal)
    await journal.tombstone([dismissal_of(journal.key(), owner(ANN), SAID[4])], AT)
    assert "f5" in await shown(journal) and "f4" not in await shown(journal)


async def test_what_was_said_again_and_again_stands_behind_the_last_of_it(journal: SqliteJournal) -> None:
    await said(journal, 1, 5)
    await night(journal, place_of(journal), 1)
    again = [
        fact(
            SAID[4],
            id=id,
            session=id,
            kind=FactKind.CORRECTION,
            layer=Layer.USER_PROJECT,
            state=state,
            supersedes=(before,),
        )
        for id, before, state in (("a1", "f4", State.ARCHIVED), ("a2", "a1", State.ACTIVE))
    ]
    await journal.learn(Lesson(0, tuple(again)))
    await put_away(journal, "f4")
    assert "f4" in await shown(journal)
    await put_away(journal, "a2")
    assert "f4" not in await shown(journal)
