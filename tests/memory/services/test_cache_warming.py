"""What the next requests are likely to need is read before they come; over a real journal and a real index."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memory.bootstrap import open_memory
from memory.language.terms import words_of
from memory.parts import Memory
from memory.ports import StoreError
from memory.scope import Scope
from memory.services import cache_warming
from memory.services.cache_warming import CacheWarmer
from memory.services.lessons import rules
from memory.settings import MemorySettings, PageSettings
from tests.memory.services.person.test_commands import unguarded
from tests.memory.stores.derived_facts import ANN, AT, BOB, fact, passage, session

CARA = Scope(user="cara", project="boat")


async def opened(home: Path, **settings: Any) -> Memory:
    memory = await open_memory(MemorySettings(**settings), home, unguarded)
    assert memory is not None
    return memory


async def seed(home: Path, *scopes: Scope, count: int = 30) -> None:
    """A home in which these were, the last one last."""
    memory = await opened(home)
    await memory.cache_warmer.stop()
    for scope in scopes:
        await memory.journal.enter(session(f"of {scope.user}", scope, seen_at=AT), [])
        facts = [fact(f"{scope.user} ties rope {n} to bollard {n}.", scope=scope) for n in range(count)]
        passages = [passage(f"{scope.user}: the tide was {n}.", scope=scope, turn=n) for n in range(count)]
        await memory.learner.remember(facts, passages)
    await memory.close()


def counted(memory: Memory) -> list[Sequence[str]]:
    """The ids that the journal reads from its file for searches, from now on."""
    read: list[Sequence[str]] = []
    keep = memory.journal._known.put

    def kept(memories: Any, epoch: int) -> None:
        read.append([each.id for each in memories])
        keep(memories, epoch)

    memory.journal._known.put = kept  # type: ignore[method-assign]
    return read


async def points_at_hand(memory: Memory, scope: Scope) -> bool:
    # The index works in a thread of its own: what was begun before this is done behind it.
    await memory.recall.index.count()
    tables: Any = memory.recall.index
    return all(owner in tables._at_hand._tables for owner in scope.owners())


async def test_after_a_start_a_search_finds_all_at_hand(tmp_path: Path) -> None:
    await seed(tmp_path, ANN)
    words_of.cache_clear()
    memory = await opened(tmp_path)
    await memory.cache_warmer.settle()
    assert await points_at_hand(memory, ANN)
    assert list(memory.pages._cache) == [ANN.owners()]
    ids = await memory.journal.newest(ANN.owners(), 100)
    read, missed = counted(memory), words_of.cache_info().misses
    found = await memory.journal.memories(ids, ANN.owners())
    for each in found:
        words_of(each.text)
    assert len(found) == 60
    assert read == []
    assert words_of.cache_info().misses == missed
    await memory.close()


async def test_who_asks_for_the_first_time_is_made_ready_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_warming, "SCOPES", 0)
    await seed(tmp_path, ANN, BOB)
    memory = await opened(tmp_path)
    await memory.cache_warmer.settle()
    assert not await points_at_hand(memory, BOB)
    read = counted(memory)
    memory.cache_warmer.owner_seen(BOB)
    await memory.cache_warmer.settle()
    assert await points_at_hand(memory, BOB) and not await points_at_hand(memory, ANN)
    assert sum(map(len, read)) == 60
    memory.cache_warmer.owner_seen(BOB)
    await memory.cache_warmer.settle()
    assert sum(map(len, read)) == 60
    await memory.close()


async def test_all_that_is_read_after_a_start_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_warming, "AT_START", 70)
    await seed(tmp_path, CARA, BOB, ANN)
    memory = await opened(tmp_path)
    read = counted(memory)
    await memory.cache_warmer.settle()
    async with asyncio.timeout(20):
        # The index puts them there beside what follows its first search.
        while sum([await points_at_hand(memory, scope) for scope in (ANN, BOB, CARA)]) < 2:
            await memory.recall.index.count()
    assert sum([await points_at_hand(memory, scope) for scope in (ANN, BOB, CARA)]) == 2
    # The rehearsals may read what else is like the newest.
    assert sum(map(len, read)) <= 120
    await memory.close()


async def test_rehearsals_are_left_out_and_pieces_rest_while_requests_are_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_warming, "REST_SECONDS", 0)
    await seed(tmp_path, ANN)
    memory = await opened(tmp_path)
    await memory.cache_warmer.stop()
    searched = 0
    search = memory.recall.search

    async def counting(*args: Any) -> Any:
        nonlocal searched
        searched += 1
        return await search(*args)

    memory.recall.search = counting  # type: ignore[method-assign,assignment]
    for busy, searches in ((True, 0), (False, cache_warming.REHEARSALS)):
        ready = CacheWarmer(memory.journal, memory.recall, None, unguarded, lambda: AT, lambda busy=busy: busy)  # type: ignore[misc]
        ready.start()
        await ready.settle()
        assert searched == searches
    await memory.close()


async def test_what_fails_for_one_does_not_keep_others_from_being_made_ready(tmp_path: Path) -> None:
    await seed(tmp_path, ANN, BOB)
    memory = await opened(tmp_path)
    await memory.cache_warmer.stop()
    newest, failures = memory.journal.newest, [StoreError("the disk is on fire")]

    async def failing(owners: Sequence[str], limit: int) -> list[str]:
        if failures:
            raise failures.pop()
        return await newest(owners, limit)

    async def guard(awaitable: Any, *, default: Any, timeout_seconds: float, operation: str) -> Any:
        try:
            return await awaitable, ""
        except StoreError as error:
            return default, str(error)

    memory.journal.newest = failing  # type: ignore[method-assign]
    ready = CacheWarmer(memory.journal, memory.recall, None, guard, lambda: AT)
    ready.start()
    await ready.settle()
    assert sorted([await points_at_hand(memory, scope) for scope in (ANN, BOB)]) == [False, True]
    await memory.close()


async def test_a_stop_in_the_middle_leaves_nothing_running(tmp_path: Path) -> None:
    await seed(tmp_path, ANN)
    memory = await opened(tmp_path)
    before = asyncio.all_tasks()
    await memory.close()
    assert not any(task for task in before & asyncio.all_tasks() if task is not asyncio.current_task())


async def test_no_page_is_made_where_there_are_none(tmp_path: Path) -> None:
    await seed(tmp_path, ANN)
    memory = await opened(tmp_path, page=PageSettings(enabled=False))
    await memory.cache_warmer.settle()
    assert await points_at_hand(memory, ANN) and not memory.pages._cache
    await memory.close()


async def test_after_a_start_the_rules_of_texts_are_read_before_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = await opened(tmp_path)
    await memory.cache_warmer.stop()
    order: list[str] = []

    async def at_hand(rest: object) -> None:
        order.append("rules")

    async def latest_scopes(limit: int) -> list[Scope]:
        order.append("places")
        return []

    monkeypatch.setattr(rules, "at_hand", at_hand)
    monkeypatch.setattr(memory.journal, "latest_scopes", latest_scopes)
    memory.cache_warmer.start()
    await memory.cache_warmer.settle()
    assert order == ["rules", "places"]
    await memory.close()
