"""Candidates in the journal: one for one thing, seen by whose they are, taken back with their night."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from memory.candidate import Candidate, CandidateKind, CandidateState, Proposal
from memory.fact import MemoryTier
from memory.features.nights.consolidation.diff import Diff, PlannedNight
from memory.features.nights.store import NightStore
from memory.ports import Lesson
from memory.scope import Layer
from memory.stores.journal import SqliteJournal
from tests.memory.stores.derived_facts import ANN, AT, BOB, fact, owner

OWNER = owner(ANN)
SHARED = ANN.owner(Layer.PROJECT) or ""


def rule(id: str = "rule", sources: int = 6, sessions: int = 4, **more: object) -> Proposal:
    told = {"mark": "a", "title": "Use tabs", "text": "Use tabs", "evidence": ("a", "b")} | more
    return Proposal(id, CandidateKind.KNOWLEDGE, what="correction", sources=sources, sessions=sessions, **told)  # type: ignore[arg-type]


async def taught(journal: SqliteJournal, *ids: str) -> None:
    await journal.learn(Lesson(0, tuple(fact("Use tabs", id=id) for id in ids)))


async def night(journal: SqliteJournal, *proposals: Proposal, days: int = 1) -> int:
    return await journal.part(NightStore).apply_night(
        PlannedNight(Diff(OWNER, candidates=proposals), AT + timedelta(days=days))
    )


async def only(journal: SqliteJournal) -> Candidate:
    [found] = await journal.candidates([OWNER])
    return found


async def test_the_same_thing_is_one_candidate_however_often_it_is_put_forward(journal: SqliteJournal) -> None:
    await taught(journal, "a", "b", "c")
    await night(journal, rule())
    await night(journal, rule("again", 14, 9))
    await night(journal, rule("gist made anew", 15, 9, mark="c"))
    found = await only(journal)
    assert (found.id, found.mark, found.why) == ("rule", "c", "15 corrections in 9 sessions")
    assert found.evidence == ("a", "b") and found.state is CandidateState.WAITING
    assert await journal.candidates_waiting([OWNER]) == 1


async def test_nobody_else_sees_it(journal: SqliteJournal) -> None:
    await taught(journal, "a", "b")
    await night(journal, rule())
    others = [each for scope in (BOB, replace(ANN, project="car")) for each in scope.owners()]
    assert await journal.candidates([each for each in others if each != OWNER]) == []
    assert await journal.candidates_waiting([SHARED, owner(BOB)]) == 0
    assert await journal.candidates([]) == [] and await journal.candidates_waiting([]) == 0
    assert await journal.candidates_first([SHARED, owner(BOB)], 9) == []
    assert len(await journal.candidates_first([OWNER], 9)) == 1
    await journal.decide(await only(journal), CandidateState.DEFERRED, AT)
    assert await journal.candidates_decided([SHARED, owner(BOB)], 9) == []
    assert len(await journal.candidates_decided([OWNER], 9)) == 1


async def test_what_was_rejected_comes_back_only_with_much_more_evidence(journal: SqliteJournal) -> None:
    await taught(journal, "a", "b")
    await night(journal, rule())
    rejected = await journal.decide(await only(journal), CandidateState.REJECTED, AT, "not here")
    assert (rejected.reason, rejected.sources_then, rejected.sessions_then) == ("not here", 6, 4)
    for more in ((7, 5), (12, 7), (11, 8)):
        await night(journal, rule("again", *more))
        assert (await only(journal)).state is CandidateState.REJECTED
    await night(journal, rule("again", 12, 8))
    assert (await only(journal)).state is CandidateState.WAITING


async def test_what_was_deferred_waits_again_after_another_session(journal: SqliteJournal) -> None:
    await taught(journal, "a", "b")
    await night(journal, rule())
    await journal.decide(await only(journal), CandidateState.DEFERRED, AT)
    await night(journal, rule("again", 7, 4))
    assert (await only(journal)).state is CandidateState.DEFERRED
    await night(journal, rule("again", 8, 5))
    assert (await only(journal)).state is CandidateState.WAITING


async def test_what_a_project_has_already_is_not_put_forward(journal: SqliteJournal) -> None:
    await taught(journal, "a", "b")
    shared = fact("use tabs!", id="shared", owner=SHARED, layer=Layer.PROJECT, tier=MemoryTier.SHARED)
    await journal.learn(Lesson(0, (shared,)))
    await night(journal, rule())
    assert await journal.candidates([OWNER]) == []


async def test_an_undone_night_takes_back_what_waits_and_leaves_what_was_decided(journal: SqliteJournal) -> None:
    await taught(journal, "a", "b", "c", "d")
    other = rule("other", mark="c", title="Deploy on Fridays", text="Deploy on Fridays", evidence=("c", "d"))
    first = await night(journal, rule(), other)
    second = await night(journal, rule("again", 8, 5))
    await journal.part(NightStore).undo_night(second, AT)
    held = {each.id: each for each in await journal.candidates([OWNER])}
    assert (held["rule"].sources, held["rule"].sessions) == (6, 4)
    await journal.decide(held["other"], CandidateState.REJECTED, AT, "no")
    await journal.part(NightStore).undo_night(first, AT)
    assert [each.id for each in await journal.candidates([OWNER])] == ["other"]


async def test_a_decision_that_a_night_reopened_stands_again_when_the_night_is_undone(journal: SqliteJournal) -> None:
    await taught(journal, "a", "b")
    await night(journal, rule())
    await journal.decide(await only(journal), CandidateState.REJECTED, AT)
    number = await night(journal, rule("again", 20, 20))
    assert (await only(journal)).state is CandidateState.WAITING
    await journal.part(NightStore).undo_night(number, AT)
    assert (await only(journal)).state is CandidateState.REJECTED


async def test_a_candidate_goes_with_what_bears_it_out(journal: SqliteJournal) -> None:
    await taught(journal, "a", "b")
    number = await night(journal, rule())
    await journal.forget(["b"], AT, [OWNER])
    assert await journal.candidates([OWNER]) == []
    _, _, told = await journal.part(NightStore).night_changes(number)
    assert told == []


async def test_without_evidence_there_is_nothing_to_put_forward(journal: SqliteJournal) -> None:
    assert await journal.propose(OWNER, [rule()], AT) == []
    await taught(journal, "a")
    assert await journal.propose(OWNER, [rule()], AT) == ["rule"]
    assert await journal.propose(OWNER, [rule("again")], AT) == []


async def test_two_skills_with_much_the_same_words_are_two(journal: SqliteJournal) -> None:
    await taught(journal, "a", "b", "c", "d")
    one, other = rule(mark="one"), rule("other", mark="two", evidence=("c", "d"))
    skills = [replace(each, kind=CandidateKind.SKILL) for each in (one, other)]
    assert await journal.propose(OWNER, skills, AT) == ["rule", "other"]


async def test_two_things_of_one_night_may_be_one_candidate_and_are_taken_back_together(journal: SqliteJournal) -> None:
    await taught(journal, "a", "b", "c")
    await night(journal, rule())
    before = await only(journal)
    number = await night(journal, rule("one", 7, 5, mark="c"), rule("other", 9, 6), days=2)
    assert (await only(journal)).why == "9 corrections in 6 sessions"
    await journal.part(NightStore).undo_night(number, AT)
    told = await only(journal)
    assert (told.sources, told.sessions) == (before.sources, before.sessions)
