"""Histories are stored as what changed, and come back exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.stores.history_cache import common, fresh, join, rebuild, split

digests = st.integers(0, 5).map(lambda n: bytes([n]) * 16)
histories = st.lists(digests, max_size=12)


@given(histories)
def test_splitting_undoes_joining(history: list[bytes]) -> None:
    assert split(join(history)) == tuple(history)


def test_a_digest_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="16 bytes"):
        join([b"short"])


@given(histories, histories)
def test_what_two_histories_share_is_their_longest_common_front(first: list[bytes], second: list[bytes]) -> None:
    shared = common(join(first), join(second))
    assert first[:shared] == second[:shared]
    assert first[shared : shared + 1] != second[shared : shared + 1] or shared in (len(first), len(second))


@given(st.lists(histories, min_size=1, max_size=6))
def test_a_chain_of_deltas_rebuilds_its_newest_history(chain: list[list[bytes]]) -> None:
    links: list[tuple[int, bytes]] = []
    before = b""
    for history in chain:
        kept = common(before, join(history))
        links.insert(0, (kept, join(history[kept:])))
        before = join(history)
    assert rebuild(links) == join(chain[-1])


@given(histories, st.integers(0, 12), st.dictionaries(digests, st.integers(0, 3)))
def test_a_message_is_fresh_when_it_stands_more_often_than_ever_before(
    history: list[bytes], start: int, seen: dict[bytes, int]
) -> None:
    start = min(start, len(history))
    found, times = fresh(history, start, seen)
    assert found == [
        index for index in range(start, len(history))
        if history[: index + 1].count(history[index]) > seen.get(history[index], 0)
    ]  # fmt: skip
    assert times == {digest: history.count(digest) for digest in history[start:]}
