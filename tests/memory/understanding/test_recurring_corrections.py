"""Who pushes back on the same: what two messages are compared by, and how groups come of it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.language.common_directions import topics
from memory.understanding.packaged_weights import reader, recurrence
from memory.understanding.recurring_corrections import (
    FEWEST,
    LEAST,
    LIKENESSES,
    Pushback,
    both_answer,
    likenesses,
    linked,
    pushes_back,
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


def test_the_same_reply_before_both_speaks_for_it() -> None:
    same = [Pushback("not again", "I wrote the port into main.py."), Pushback("who did that", TALK[1].before)]
    twice = [same[0], Pushback("who did that", same[0].before)]
    assert recurrence().log_odds(twice, topics)[0, 1] > recurrence().log_odds(same, topics)[0, 1] + 1


def test_two_languages_are_no_subject() -> None:
    """The table was made of English: any two Spanish sentences are alike in it."""
    spanish = [
        Pushback("las facturas llevan el año delante", "He numerado las facturas desde el uno."),
        Pushback("el calendario es cosa de Lena", "He movido los festivos a un fichero."),
        Pushback("los informes en PDF, por correo", "He publicado el resumen como página."),
    ]
    odds = recurrence().log_odds(spanish, topics)
    assert odds[np.triu_indices(3, 1)].max() < LEAST


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
    groups = linked(odds, sessions, LEAST)
    places = [at for group in groups for at in group]
    assert len(places) == len(set(places))
    assert all(len(group) >= FEWEST for group in groups)
    assert groups == linked(odds, sessions, LEAST)


def test_one_session_makes_nothing_liker() -> None:
    odds = np.full((3, 3), LEAST - 0.4, np.float32)
    odds[0, 1] = odds[1, 0] = 4.0
    odds[0, 2] = odds[2, 0] = LEAST + 0.1
    assert linked(odds, [*"abc"], LEAST) == []
    odds[1, 2] = odds[2, 1] = LEAST - 0.1
    assert linked(odds, [*"abc"], LEAST) == [[0, 1, 2]]
    odds[0, 2] = odds[2, 0] = LEAST - 0.1
    odds[0, 1] = odds[1, 0] = 4.0
    assert linked(odds, [*"aab"], LEAST) == []


def test_pushback_is_told_from_thanks() -> None:
    read = reader()
    assert pushes_back(read.read("no, not with sudo", "I ran sudo apt install jq."))
    assert not pushes_back(read.read("thanks, that looks lovely", "I ran the tests."))
