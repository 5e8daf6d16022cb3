"""The budget of the page, divided among its streams."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.context.token_allocation import Demand, allocate
from memory.fact import Stream

part = st.floats(0, 1)
demands = st.dictionaries(st.sampled_from(Stream), st.builds(Demand, st.integers(0, 2000), part, part, part))


def test_what_fits_is_given_whole() -> None:
    wanted = {Stream.IDENTITY: Demand(100), Stream.FLOW: Demand(50)}
    assert allocate(400, wanted) == {Stream.IDENTITY: 100, Stream.FLOW: 50}


def test_of_two_alike_the_one_that_shall_be_preserved_gets_more() -> None:
    given = allocate(400, {Stream.IDENTITY: Demand(500), Stream.FLOW: Demand(500)})
    assert given[Stream.IDENTITY] > given[Stream.FLOW] > 0


def test_what_is_relevant_important_and_recent_draws_tokens_to_itself() -> None:
    plain = allocate(400, {Stream.PROJECTS: Demand(500), Stream.TASKS: Demand(500)})
    for better in (Demand(500, recency=0.9), Demand(500, relevance=0.9), Demand(500, importance=0.9)):
        assert allocate(400, {Stream.PROJECTS: Demand(500), Stream.TASKS: better})[Stream.TASKS] > plain[Stream.TASKS]


def test_what_one_stream_does_not_need_the_others_get() -> None:
    given = allocate(400, {Stream.IDENTITY: Demand(20), Stream.PROJECTS: Demand(900)})
    assert given[Stream.IDENTITY] == 20
    assert given[Stream.PROJECTS] >= 375


@given(st.integers(0, 1000), demands)
def test_no_more_is_given_than_there_is_and_than_is_wanted(budget: int, wanted: dict[Stream, Demand]) -> None:
    given = allocate(budget, wanted)
    assert sum(given.values()) <= budget or all(given[each] == wanted[each].tokens for each in wanted)
    assert sum(given.values()) <= budget or sum(each.tokens for each in wanted.values()) <= budget
    assert all(0 <= given[each] <= wanted[each].tokens for each in wanted)
    assert given == allocate(budget, dict(reversed(wanted.items())))
