"""What is corrected in ever other words stays one candidate over the nights, and counts ever more."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memory.candidate import Candidate, CandidateState
from memory.fact import Fact, FactKind, Origin, Passage, Sensitivity, State
from memory.features.nights.planner import plans
from memory.features.nights.snapshots import Snapshots
from memory.features.nights.store import NightStore
from memory.ports import Lesson
from memory.scope import Layer
from memory.settings import NightSettings
from memory.stores.database import Database
from memory.stores.journal import SqliteJournal
from memory.stores.postgresql.database import PostgresDatabase
from tests.memory.stores.derived_facts import ANN, AT, fact, owner, passage

SAID = (
    "You hard-coded the tariff again, take it from the rate sheet",
    "That tariff is wrong since April, nobody updates a number inside a function",
    "Every tariff comes from the rate sheet, never from the code",
    "The tariff belongs in the rate sheet, not in a constant",
    "No tariff in the source: look it up in the rate sheet",
    "I do not want to see a tariff typed into a module, read the rate sheet",
)


REPLIES = (
    "I wrote 0.19 as the tariff into billing.",
    "The tariff of the chart is a number now.",
    "quote.py has its own tariff, 0.2.",
    "Put the tariff beside the other constants.",
    "A default tariff stands in the constructor.",
    "I typed the tariff of April into the module.",
)


async def said(journal: SqliteJournal, first: int, last: int, state: State = State.ACTIVE) -> None:
    lessons = [
        fact(
            text,
            id=f"f{number}",
            session=f"s{number}",
            source=f"m{number}".encode(),
            kind=FactKind.CORRECTION,
            layer=Layer.USER_PROJECT,
            state=state,
            recorded_at=AT + timedelta(hours=number),
        )
        for number, text in enumerate(SAID[first:last], first)
    ]
    await journal.learn(Lesson(0, tuple(lessons), tuple(piece for each in lessons for piece in answering(each))))


def answering(each: Fact) -> tuple[Passage, Passage]:
    """What the agent had said, and the message in which the fact was said."""
    before = passage(
        f"{REPLIES[int(each.id[-1:]) if each.id[-1:].isdigit() else 0]} ({each.id})",
        session=each.session,
        turn=1,
        source=b"a" + each.source,
        speaker="assistant",
        origin=Origin.ASSISTANT,
    )
    return before, passage(each.text, session=each.session, turn=2, source=each.source)


async def night(journal: SqliteJournal, path: Path | str, days: int) -> Candidate:
    for planned in plans(path, [owner(ANN)], AT + timedelta(days=days), NightSettings(), None):
        await journal.part(NightStore).apply_night(planned)
    [found] = await journal.candidates([owner(ANN)])
    return found


def place_of(journal: SqliteJournal) -> Path | str:
    database = journal._db
    assert isinstance(database, PostgresDatabase | Database)
    return database.url if isinstance(database, PostgresDatabase) else database.path


async def test_what_comes_in_later_nights_joins_what_bore_it_out_before(
    journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.features.nights.planner.LEARNT", 3)
    path = place_of(journal)
    await said(journal, 0, 4)
    first = await night(journal, path, 1)
    await journal.decide(first, CandidateState.DEFERRED, AT + timedelta(days=1))
    await said(journal, 4, 6)
    then = await night(journal, path, 2)
    assert (then.id, then.mark, then.state) == (first.id, first.mark, CandidateState.WAITING)
    assert set(then.evidence) > set(first.evidence) and then.sessions > first.sessions


async def test_a_night_looks_at_what_was_read_with_doubt_and_at_what_was_said_again(journal: SqliteJournal) -> None:
    path = place_of(journal)
    await said(journal, 2, 4)
    for planned in plans(path, [owner(ANN)], AT + timedelta(days=1), NightSettings(), None):
        await journal.part(NightStore).apply_night(planned)
    assert await journal.candidates([owner(ANN)]) == []
    await said(journal, 4, 6, State.DRAFT)
    found = await night(journal, path, 2)
    assert set(found.evidence) == {"f2", "f3", "f4", "f5"}


async def test_what_a_rule_stands_for_bears_its_subject_out(journal: SqliteJournal) -> None:
    await said(journal, 4, 5)
    await said(journal, 3, 4, State.ARCHIVED)
    last = fact(SAID[2], id="f2", session="s2", kind=FactKind.CORRECTION, layer=Layer.USER_PROJECT, supersedes=("f3",))
    await journal.learn(Lesson(0, (last,)))
    found = await night(journal, place_of(journal), 2)
    assert set(found.evidence) == {"f2", "f3", "f4"}


async def test_what_was_said_comes_piece_by_piece_with_the_agents_words_before_it(journal: SqliteJournal) -> None:
    first = fact("The tariff belongs in the rate sheet", id="f", session="s", source=b"m", layer=Layer.USER_PROJECT)
    elsewhere = fact("Another one", id="g", session="t", source=b"m", layer=Layer.USER_PROJECT)
    pieces = (
        passage("Do the invoice", session="s", turn=0, source=b"a"),
        passage("Opened the invoice.", session="s", turn=1, source=b"b", speaker="assistant", origin=Origin.ASSISTANT),
        passage("I hard-coded it.", session="s", turn=3, source=b"c", speaker="assistant", origin=Origin.ASSISTANT),
        passage("Nice colours.", session="s", turn=4, source=b"m"),
        passage("The tariff belongs in the rate sheet", session="s", turn=4, piece=1, source=b"m"),
        passage("My doctor says so", session="s", turn=4, piece=2, source=b"m", sensitivity=Sensitivity.CONFIDENTIAL),
        passage("Behind it", session="s", turn=5, source=b"d", speaker="assistant", origin=Origin.ASSISTANT),
    )
    await journal.learn(Lesson(0, (first, elsewhere), pieces))
    found = Snapshots(place_of(journal)).sayings(["f", "unknown"])
    assert found == [("Nice colours. The tariff belongs in the rate sheet", "I hard-coded it.")]
    assert Snapshots(place_of(journal)).sayings(["g"]) == []


async def test_what_was_said_comes_with_what_was_learnt_of_it_and_with_what_was_answered(
    journal: SqliteJournal,
) -> None:
    learnt = fact(SAID[3], id="f", session="s", source=b"m", layer=Layer.USER_PROJECT)
    imported = fact(SAID[4], id="g", session="", source=b"n", layer=Layer.USER_PROJECT)
    both = [
        fact(text, id=id, session="t", source=b"o", layer=Layer.USER_PROJECT)
        for id, text in zip("hi", SAID, strict=False)
    ]
    terse = fact("unlearnt", id="x", session="u", source=b"p")
    order = passage("Do the invoice", session="v", turn=0, source=b"q")
    pieces = [piece for each in (learnt, both[0], terse) for piece in answering(each)]
    await journal.learn(Lesson(0, (learnt, imported, *both), (*pieces, order)))
    found = Snapshots(place_of(journal)).messages(owner(ANN), ["f", "g", "h", "i"], 50)
    told = {(each.pushback.said, bool(each.pushback.before), each.session, each.learnt) for each in found}
    assert told == {
        (SAID[3], True, "s", ("f",)),
        (SAID[4], False, "", ("g",)),
        (SAID[0], True, "t", ("h",)),
        (SAID[1], True, "t", ("i",)),
        ("unlearnt", True, "u", ()),
    }


async def test_a_rule_is_put_forward_in_the_words_of_a_message_that_has_both_sides(journal: SqliteJournal) -> None:
    whole = "Please never hard-code a tariff in this project, every tariff comes from the rate sheet."
    said_whole = ("You hard-coded the tariff again, take it from the rate sheet", whole, SAID[4])
    facts = [
        fact(
            SAID[number],
            id=f"f{number}",
            session=f"s{number}",
            source=f"m{number}".encode(),
            kind=FactKind.CORRECTION,
            layer=Layer.USER_PROJECT,
            recorded_at=AT + timedelta(hours=number),
        )
        for number in (0, 2, 4)
    ]
    pieces = [
        piece
        for each, text in zip(facts, said_whole, strict=True)
        for piece in (
            passage(
                REPLIES[int(each.id[1:])],
                session=each.session,
                turn=1,
                source=b"a" + each.source,
                speaker="assistant",
                origin=Origin.ASSISTANT,
            ),
            passage(text, session=each.session, turn=2, source=each.source),
        )
    ]
    await journal.learn(Lesson(0, tuple(facts), tuple(pieces)))
    found = await night(journal, place_of(journal), 1)
    assert "rate sheet" in found.text and "never hard-code a tariff" in found.text
