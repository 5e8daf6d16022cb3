"""Who pushes back on the same: what two messages are compared by, and how groups come of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.common_directions import topics
from memory.understanding.packaged_weights import reader, recurrence
from memory.understanding.recurring_corrections import (
    FEWEST,
    LIKENESSES,
    TOGETHER,
    Pushback,
    both_answer,
    likenesses,
    linked,
    pushes_back,
    without_stock_sentences,
)

TALK = (
    Pushback("another modal, really?", "I open a modal that asks for the address."),
    Pushback("put that below the field", "The error shows in a modal over the form."),
    Pushback("the kettle is on", "All 41 tests pass."),
    Pushback("invoices are numbered per year", ""),
)


def test_what_two_messages_are_compared_by_is_the_same_from_both_sides() -> None:
    found = likenesses(TALK, topics)
    assert found.shape == (4, 4, len(LIKENESSES))
    assert np.allclose(found, found.transpose(1, 0, 2), atol=1e-6)


def test_a_reply_that_was_never_given_is_like_none() -> None:
    bare = [Pushback("put that below the field"), Pushback("the kettle is on"), Pushback("not on a Friday")]
    found = likenesses(bare, topics)
    asked = [at for at, name in enumerate(LIKENESSES) if name.startswith(("replies", "across"))]
    assert not found[..., asked].any()
    assert not both_answer(bare).any() and both_answer(TALK).sum() == 9


def test_what_the_agent_did_again_counts_though_the_words_of_the_person_differ() -> None:
    odds = recurrence().log_odds(TALK, topics)
    assert odds[0, 1] > max(odds[0, 2], odds[1, 2])


RULES = (
    *("never commit straight to main", "pnpm, never npm", "dates are ISO everywhere", "Lena owns the calendar"),
    *("no emojis in the logs please", "money in cents", "use structlog", "the changelog is German"),
)
THINGS = ("branch", "lockfile", "date field", "holiday", "log line", "price", "logger", "changelog")


@pytest.mark.parametrize(
    "reply",
    [
        "Done. All tests pass.",
        "I've updated {file}.ts. All {number} tests pass. Let me know if you need anything else!",
        "Done. I changed the {thing} and all {number} tests pass.",
    ],
)
def test_what_an_agent_says_whatever_it_has_done_makes_no_group(reply: str) -> None:
    told = [
        Pushback(rule, reply.format(file=thing[:3], thing=thing, number=30 + at))
        for at, (rule, thing) in enumerate(zip(RULES, THINGS, strict=True))
    ]
    assert not any(each.before for each in without_stock_sentences(told))
    assert linked(recurrence().log_odds(told, topics), RULES, TOGETHER) == []


def test_what_a_reply_says_of_its_own_is_kept() -> None:
    told = [Pushback(rule, f"All {at} tests pass. I pushed two commits.") for at, rule in enumerate(RULES)]
    told[0] = Pushback(RULES[0], "All 3 tests pass. The lockfile went, and main has it.")
    assert without_stock_sentences(told)[0] == Pushback(RULES[0], "The lockfile went, and main has it.")


def test_a_language_is_no_subject() -> None:
    """The table was made of English: any two Spanish sentences are alike in it."""
    spanish = [
        Pushback("las facturas llevan el año delante", "He numerado las facturas desde el uno."),
        Pushback("el calendario es cosa de Lena", "He movido los festivos a un fichero."),
        Pushback("los informes en PDF, por correo", "He publicado el resumen como página."),
    ]
    odds = recurrence().log_odds(spanish, topics)
    assert odds[np.triu_indices(3, 1)].max() < TOGETHER


@given(
    st.integers(0, 12).flatmap(
        lambda n: st.tuples(
            st.lists(st.floats(-4, 4), min_size=n * n, max_size=n * n),
            st.lists(st.sampled_from("abcdef"), min_size=n, max_size=n),
        )
    )
)
def test_groups_are_large_enough_apart_and_likely_on_the_average(drawn: tuple[list[float], list[str]]) -> None:
    values, sessions = drawn
    square = np.array(values, np.float32).reshape(len(sessions), len(sessions))
    odds = np.asarray((square + square.T) / 2, np.float32)
    groups = linked(odds, sessions, TOGETHER)
    places = [at for group in groups for at in group]
    assert len(places) == len(set(places))
    assert all(len(group) >= FEWEST for group in groups)
    assert groups == linked(odds, sessions, TOGETHER)


def test_one_session_makes_nothing_liker() -> None:
    odds = np.full((3, 3), TOGETHER - 0.4, np.float32)
    odds[0, 1] = odds[1, 0] = 4.0
    odds[0, 2] = odds[2, 0] = TOGETHER + 0.1
    assert linked(odds, [*"abc"], TOGETHER) == []
    odds[1, 2] = odds[2, 1] = TOGETHER - 0.1
    assert linked(odds, [*"abc"], TOGETHER) == [[0, 1, 2]]
    odds[0, 2] = odds[2, 0] = TOGETHER - 0.1
    odds[0, 1] = odds[1, 0] = 4.0
    assert linked(odds, [*"aab"], TOGETHER) == []


def test_pushback_is_told_from_thanks() -> None:
    read = reader()
    assert pushes_back(read.read("no, not with sudo", "I ran sudo apt install jq."))
    assert not pushes_back(read.read("thanks, that looks lovely", "I ran the tests."))
