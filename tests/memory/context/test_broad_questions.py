"""Questions about everything of a time, about what is open, about somebody."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memory.context.broad_questions import LINES, about_person, of_a_time, whole
from memory.context.rank import Memory
from memory.fact import Origin, Sensitivity, State
from memory.language.time_spans import Span
from tests.memory.context.making import NOW, fact, passage

TODAY = Span(NOW - timedelta(hours=8), NOW)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("What did we do this morning?", "2026-05-20"),
        ("what have we worked on today?", "2026-05-20"),
        ("Hey, what did I do yesterday?", "2026-05-19"),
        ("What happened last Tuesday?", "2026-05-19"),
        ("Please recap what we did last week.", "2026-05-11"),
        ("What did we talk about on 4 May 2026?", "2026-05-04"),
        ("What did we do on May 4?", "2026-05-04"),
        ("What did we do on 4 November?", "2025-11-04"),
        ("what have we done so far today?", "2026-05-20"),
        ("What did we do earlier today?", "2026-05-20"),
        ("Summarize yesterday.", "2026-05-19"),
        ("What's been going on today?", "2026-05-20"),
        ("Give me a summary of last week.", "2026-05-11"),
    ],
)
def test_a_time_is_asked_for_as_a_whole(text: str, day: str) -> None:
    asked = whole(text, NOW)
    assert asked is not None and asked.span is not None
    assert f"{asked.span.begin:%F}" == day and not asked.still_open


@pytest.mark.parametrize(
    "text",
    [
        "What did we decide about the parser yesterday?",
        "What did Ida do on 4 May 2026?",
        "Do it today.",
        "What happened?",
        "What did we do in 2019?",
        "Summarize the README.",
        "Give me a summary of yesterday's meeting.",
        "What will we do tomorrow?",
        "Who is there?",
        "Tell me about the parser.",
        "Fix the tests that failed this morning",
        "",
    ],
)
def test_anything_else_is_not(text: str) -> None:
    assert whole(text, NOW) is None


@pytest.mark.parametrize(
    "text", ["Where did we leave off?", "what was I working on?", "What's still open?", "What have I been working on?"]
)
def test_what_is_open_is_asked_for(text: str) -> None:
    asked = whole(text, NOW)
    assert asked is not None and asked.still_open


@pytest.mark.parametrize("text", ["Who is Petra?", "What do you know about Petra?", "tell me more about Petra."])
def test_somebody_is_asked_about(text: str) -> None:
    asked = whole(text, NOW)
    assert asked is not None and asked.name == "petra"


def test_a_time_is_told_by_what_each_session_was_asked_first_and_what_was_learnt() -> None:
    at = NOW - timedelta(hours=2)
    first = passage("Please find out why the importer stalls.", 1, session="a", at=at)
    second = passage("Now look at the lock of the queue, too.", 3, session="a", at=at + timedelta(minutes=5))
    learnt = fact("The importer holds a lock.", recorded_at=at, importance=0.9)
    others: list[Memory] = [
        passage("Let me see why the importer stalls.", 2, session="a", at=at, origin=Origin.ASSISTANT),
        passage(
            "And the payslips, between us, are wrong.", 1, session="b", at=at, sensitivity=Sensitivity.CONFIDENTIAL
        ),
        passage("What was said in this very session.", 1, session="now", at=at),
        passage("What was said a day before it all.", 1, session="c", at=at - timedelta(days=1)),
        fact("The importer holds no lock.", recorded_at=at, state=State.SUPERSEDED),
    ]
    told = of_a_time([*others, second, learnt, first], TODAY, "now")
    assert [each.memory for each in told] == [first, learnt]
    still = of_a_time([*others, second, learnt, first], TODAY, "now", still_open=True)
    assert [each.memory for each in still] == [first, second, learnt]


def test_what_was_said_and_learnt_in_the_same_words_is_one_line() -> None:
    at = NOW - timedelta(hours=2)
    said, learnt = passage("The importer holds a lock.", 1, session="a", at=at), fact("The importer holds a lock.")
    told = of_a_time([said, replace(learnt, recorded_at=at)], TODAY, "now")
    assert [each.memory for each in told] == [said]


def test_that_memory_was_asked_is_no_work() -> None:
    at = NOW - timedelta(hours=2)
    asked = passage("What did we do this morning?", 1, session="a", at=at)
    done = passage("Please find out why the importer stalls.", 3, session="a", at=at + timedelta(minutes=5))
    assert [each.memory for each in of_a_time([asked, done], TODAY, "now", still_open=True)] == [done]


def test_lines_are_few_and_short() -> None:
    long = "Please find out why the importer stalls whenever somebody looks at it for longer than a minute. " * 4
    at = NOW - timedelta(hours=1)
    told = of_a_time([passage(f"{n}: {long}", 1, session=f"s{n}", at=at) for n in range(30)], TODAY, "now")
    assert len(told) == LINES
    assert all(len(each.memory.text) <= 200 and each.memory.text.endswith("…") for each in told)


def test_somebody_is_told_by_facts_then_by_their_own_words_then_by_those_of_others() -> None:
    known = fact("Petra owns the Heron cluster.")
    own = passage("I moved to Graz.", 4, speaker="Petra")
    others = passage("Petra is right.", 5)
    unwanted: list[Memory] = [
        fact("Petra owned it once.", state=State.SUPERSEDED),
        fact("Petra is ill.", sensitivity=Sensitivity.RESTRICTED),
        passage("Who is Petra?", 6, question=True),
        passage("Petra was here.", 7, session="now"),
        fact("Petra is away.", expires_at=NOW - timedelta(days=1)),
    ]
    told = about_person([*unwanted, others, own, known], "petra", "now", NOW)
    assert [each.memory for each in told] == [known, own, others]
