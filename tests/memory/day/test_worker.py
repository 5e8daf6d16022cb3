"""Workers give way to requests, but not for ever."""

from __future__ import annotations

from memory.day.worker import OWED, Sparing

FOR_EVER = 1e9


async def test_nobody_is_spared_who_does_not_come() -> None:
    sparing = Sparing(lambda: False, FOR_EVER)
    sparing.begin()
    assert await sparing.give_way()


async def test_what_waits_too_long_is_done_though_requests_come() -> None:
    sparing = Sparing(lambda: True, old=0.0)
    sparing.begin()
    sparing.owe()
    assert not await sparing.give_way()


async def test_too_much_is_worked_off_though_requests_come_until_it_is_paid() -> None:
    busy = True
    sparing = Sparing(lambda: busy, FOR_EVER)
    sparing.begin()
    for _ in range(OWED):
        sparing.owe()
    assert not await sparing.give_way()
    busy = False
    sparing.paid(1)
    assert await sparing.give_way()
    sparing.paid()
    sparing.paid(3)
    assert await sparing.give_way()
