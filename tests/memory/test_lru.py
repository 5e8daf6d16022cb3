"""What was put or used the longest ago goes first, in whatever thread."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.lru import LruDict, WeighedDict


@dataclass(frozen=True)
class Key:
    """One that is compared in Python, as most are: another thread may have its turn meanwhile."""

    number: int


@pytest.fixture
def turns() -> Iterator[None]:
    """Threads take turns all the time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_the_entry_that_was_put_or_used_the_longest_ago_goes_first() -> None:
    known: LruDict[str, int] = LruDict(2)
    assert known.put("a", 1) == 1 and known.put("b", 2) == 2
    assert known.use("a", 7) == 1
    known.put("c", 3)
    assert dict(known) == {"a": 1, "c": 3}
    known.put("a", 4)
    assert known.use("d", 5) == 5 and dict(known) == {"a": 4, "d": 5}


@pytest.mark.usefixtures("turns")
def test_several_threads_may_put_use_and_take_out() -> None:
    known: LruDict[Key, int] = LruDict(1)

    def work(thread: int) -> None:
        for number in range(3000):
            known.put(Key(8 * number + thread), number)
            known.use(Key(number % 3), thread)
            known.pop(Key(number % 3), 0)

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(6)))
    assert len(known) <= 1


@pytest.mark.usefixtures("turns")
def test_what_several_threads_begin_to_use_is_one_thing() -> None:
    known: LruDict[Key, object] = LruDict(4000)
    with ThreadPoolExecutor(6) as threads:
        seen = list(threads.map(lambda _: [known.use(Key(number), object()) for number in range(3000)], range(6)))
    assert all(len(set(map(id, each))) == 1 for each in zip(*seen, strict=True))


def test_what_was_used_the_longest_ago_goes_when_all_together_are_too_large() -> None:
    known: WeighedDict[str, str] = WeighedDict(10, len)
    for key, value in (("a", "1234"), ("b", "123"), ("c", "12")):
        known.put(key, value)
    known.move_to_end("a")
    known.put("d", "1234")
    assert list(known) == ["c", "a", "d"] and known.held == 10
    known.put("a", "1")
    assert list(known) == ["c", "d", "a"] and known.held == 7
    known.put("e", "x" * 11)
    known.put("c", "x" * 11)
    assert list(known) == ["d", "a"] and known.held == 5, "what is too large by itself drives nothing else out"
    known.clear()
    assert not known and known.held == 0


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 12)), max_size=40))
def test_what_is_held_is_what_the_entries_weigh_and_never_more_than_the_room(steps: list[tuple[int, int]]) -> None:
    known: WeighedDict[int, bytes] = WeighedDict(20, len)
    for key, size in steps:
        known.put(key, bytes(size))
        assert known.held == sum(map(len, known.values())) <= 20
        assert known.get(key) == bytes(size)
