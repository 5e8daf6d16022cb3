"""Two arms are told apart only where their sessions say so."""

from __future__ import annotations

import pytest

from memory.context.comparing import FEWEST, compared
from memory.ports import Measured


def measured(held_out: bool, turns: int, tokens: int | None = 100, added: int = 0) -> Measured:
    return Measured("s", held_out, turns, tokens, corrections=0, repeats=turns % 2, added=added)


def test_an_interval_is_students_with_the_quantile_of_the_tables() -> None:
    # Both arms have six sessions and the variance 3.5: ten degrees of freedom, whose quantile is 2.228.
    given, held = range(1, 7), range(11, 17)
    found = compared([*(measured(False, each) for each in given), *(measured(True, each) for each in held)])
    turns = found.differences[0]
    reach = 2.228 * (2 * 3.5 / 6) ** 0.5
    assert (found.with_memory, found.without, found.mixed) == (6, 6, 0)
    assert (turns.with_memory, turns.without) == (3.5, 13.5)
    assert turns.low == pytest.approx(-10 - reach, abs=0.01) and turns.high == pytest.approx(-10 + reach, abs=0.01)
    assert turns.told and not found.differences[3].told


def test_nothing_is_claimed_of_a_few_sessions_or_of_some_that_are_all_alike() -> None:
    few = compared([measured(False, 3)] * FEWEST + [measured(True, 9)] * (FEWEST - 1))
    assert few.differences[0].low is None and not few.differences[0].told
    alike = compared([measured(False, 3)] * 9 + [measured(True, 9)] * 9)
    assert alike.differences[0].low is None and alike.differences[0].without == 9
    assert compared([]).differences[0].with_memory is None


def test_a_session_that_had_both_is_in_neither_and_untold_tokens_are_no_zeros() -> None:
    found = compared([measured(True, 3, added=50), measured(True, 4, tokens=None), measured(False, 2, added=700)])
    assert (found.with_memory, found.without, found.mixed) == (1, 1, 1)
    assert found.differences[1].without is None and found.differences[0].without == 4
