"""What a failure of memory is called where a person reads it."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace

import pytest

from memory.ports import bounded_by
from memory.stores.errors import StoreFault, StoreFaultKind
from proxy.fail_open import Degradations, bounding_setting, fail_open, fail_open_at_once


async def test_a_stores_fault_is_told_in_its_own_sentence() -> None:
    async def fails() -> None:
        raise StoreFault("the disk is full: nothing was written", StoreFaultKind.FULL)

    counted = Degradations()
    _, why = await fail_open(fails(), default=None, timeout_seconds=1, operation="noting", degradations=counted)
    assert why == "the store failed: the disk is full: nothing was written"
    assert counted.counts == {"noting": 1} and "StoreFault" not in str(counted.latest)


async def test_what_never_ends_is_given_up() -> None:
    counted, never = Degradations(), asyncio.Event()
    async with asyncio.timeout(5):
        given, why = await fail_open(
            never.wait(), default=False, timeout_seconds=0.01, operation="preparing", degradations=counted
        )
    assert (given, why) == (False, "late: more than 10 ms") and counted.counts == {"preparing": 1}


async def test_what_is_given_up_names_the_setting_that_bounded_it() -> None:
    bounded, counted = bounded_by("memory.recall.longest_ms", 0.01), Degradations()
    async with asyncio.timeout(5):
        _, why = await fail_open(
            asyncio.Event().wait(), default=False, timeout_seconds=bounded, operation="recalling", degradations=counted
        )
    assert why == "late: more than 10 ms (memory.recall.longest_ms)"
    assert bounding_setting(why) == "memory.recall.longest_ms"
    assert bounding_setting("late: more than 10 ms") == bounding_setting("StoreError: no table (memory.facts)") == ""


def test_any_other_failure_is_told_by_its_kind() -> None:
    counted = Degradations()
    assert fail_open_at_once(lambda: 1 // 0, default=7, operation="dividing", degradations=counted) == 7
    assert counted.latest[0].why.startswith("ZeroDivisionError: ")


def test_the_same_is_logged_once_a_second_and_counted_each_time(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.WARNING)
    now = [100.0]
    monkeypatch.setattr("proxy.fail_open.time", SimpleNamespace(time=lambda: 0.0, monotonic=lambda: now[0]))
    counted = Degradations()
    for _ in range(50):
        counted.add("reading a body", "no memory: a")
    counted.add("journaling", "late")
    now[0] += 1
    counted.add("reading a body", "no memory: b")
    assert counted.counts == {"reading a body": 51, "journaling": 1}
    assert [record.getMessage() for record in caplog.records] == [
        "memory failed while reading a body: no memory: a",
        "memory failed while journaling: late",
        "memory failed while reading a body: no memory: b (and 49 times before)",
    ]
