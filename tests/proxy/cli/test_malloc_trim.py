"""What the C library keeps free goes back to the system: when it is much, and nobody is kept waiting by it."""

from __future__ import annotations

import pytest

from proxy.cli.malloc_trim import MUCH, PATIENCE, HeapTrimmer, giving_back


class Process:
    """A process that holds so much, of which so much is free."""

    def __init__(self, resident: int, free: int = 0, idle: bool = True) -> None:
        self.resident, self.free, self.idle = resident, free, idle
        self.gave = 0

    def giving_back(self) -> HeapTrimmer:
        return HeapTrimmer(lambda: self.resident, lambda: self.free, self._give, self._quiet)

    def _give(self) -> None:
        self.gave += 1
        self.resident -= self.free  # what is free stays free to the C library

    async def _quiet(self) -> bool:
        return self.idle


async def test_what_was_needed_once_is_given_back_once() -> None:
    process = Process(100 * 2**20)
    heap = process.giving_back()
    process.resident, process.free = 400 * 2**20, 200 * 2**20
    assert await heap.look()
    assert process.resident == 200 * 2**20
    # It holds as much as ever that can be used again, and none of it is the system's any more.
    assert not await heap.look()
    process.resident += MUCH
    assert await heap.look()


@pytest.mark.parametrize(("grown", "free"), [(MUCH - 1, MUCH), (MUCH, MUCH - 1)])
async def test_little_is_not_worth_it(grown: int, free: int) -> None:
    process = Process(100 * 2**20)
    heap = process.giving_back()
    process.resident += grown
    process.free = free
    assert not await heap.look()
    assert process.gave == 0


async def test_amid_work_it_is_left_for_another_time() -> None:
    process = Process(100 * 2**20, idle=False)
    heap = process.giving_back()
    process.resident, process.free = 400 * 2**20, 200 * 2**20
    assert not await heap.look()
    process.idle = True
    assert await heap.look()


async def test_where_work_never_ends_it_is_given_back_amid_it_now_and_then() -> None:
    process = Process(100 * 2**20, idle=False)
    heap = process.giving_back()
    process.resident, process.free = 400 * 2**20, 200 * 2**20
    assert [await heap.look() for _ in range(PATIENCE + 1)] == [False] * PATIENCE + [True]
    process.resident += 2 * MUCH
    assert not await heap.look()


async def test_this_process_gives_back_what_lies_between_things_that_are_used() -> None:
    heap = giving_back()
    if heap is None:
        pytest.skip("another C library than glibc")
    pieces: list[bytearray] = []
    start = heap._resident()
    # What tests before this one left free is filled first.
    while heap._resident() < start + 12 * MUCH:
        pieces += [bytearray(2000) for _ in range(10_000)]
    used = pieces[::500]
    heap._quiet = Process(0)._quiet
    resident = heap._resident()
    del pieces
    assert await heap.look()
    assert heap._resident() < resident - 50 * 2**20
    assert len(used) > 0
