"""Where the system has no memory left, a large request is relayed unread, and the others have theirs."""

from __future__ import annotations

import asyncio
import gzip
import random
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from memory.memory_room import DECOMPRESSING, LARGE, NO_ROOM, SPARE, TIMES, MemoryRoom, could_be_had
from proxy.upstream.direct import INFLATION
from tests.fake_provider import fake_provider
from tests.proxy.test_websocket import answered, asking, opened, standing
from tests.running import running

CHAT = "/v1/chat/completions"


def said(text: str) -> bytes:
    return orjson.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})


def test_what_is_being_read_counts_as_taken() -> None:
    asked: list[int] = []

    def there(size: int) -> bool:
        asked.append(size)
        return size <= 2 * TIMES * LARGE + SPARE

    room = MemoryRoom(there)
    with room.taken(LARGE) as first, room.taken(LARGE) as second, room.taken(LARGE) as third, room.taken(1) as small:
        assert (first, second, third, small) == (True, True, False, True)
    with room.taken(LARGE) as again:
        assert again
    assert asked == [TIMES * LARGE * count + SPARE for count in (1, 2, 3, 1)]


def test_the_system_is_asked_and_nothing_is_kept() -> None:
    assert could_be_had(2**20) and not could_be_had(2**62)


async def test_a_large_body_goes_on_unread_and_a_small_one_has_memory(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        proxy.edge.room = MemoryRoom(lambda size: False)
        large = said("We decided to use PostgreSQL 16. " + "x" * LARGE)
        status, _, headers = await proxy.post(CHAT, large, x_palimpsest_project="loom")
        assert (status, headers["x-palimpsest-status"]) == (200, f"degraded; {NO_ROOM}")
        assert provider.last.body == large
        _, _, headers = await proxy.post(CHAT, said("We decided to use Kafka."), x_palimpsest_project="loom")
        assert not headers["x-palimpsest-status"].startswith("degraded")
        assert [each.doing for each in proxy.edge.degradations.latest] == ["reading a body"]


async def test_a_request_for_which_there_is_nothing_left_is_told_to_come_again(tmp_path: Path) -> None:
    def nothing(size: int) -> bool:
        raise MemoryError

    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        proxy.edge.room = MemoryRoom(nothing)
        status, reply, headers = await proxy.post(CHAT, said("x" * LARGE))
        assert (status, headers["Retry-After"]) == (503, "2") and b"no memory left" in reply
        assert provider.requests == []


@pytest.mark.parametrize("most", [0, DECOMPRESSING])
async def test_a_compressed_body_needs_room_for_what_it_becomes(tmp_path: Path, most: int) -> None:
    """Room for nothing, and for the body without its compression but not for reading that."""
    odd = random.Random(1)
    long = "".join(30 * odd.randbytes(512).hex() for _ in range(140))
    large = gzip.compress(said(f"We decided to use PostgreSQL 16. {long}"), mtime=0)
    could_become = INFLATION * len(large)
    assert len(large) < LARGE <= could_become and could_become * DECOMPRESSING < len(long) * TIMES
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        room = proxy.edge.room = MemoryRoom(lambda size: size <= most * could_become + SPARE)
        status, _, headers = await proxy.post(CHAT, large, Content_Encoding="gzip")
        assert (status, headers["x-palimpsest-status"]) == (200, f"degraded; {NO_ROOM}")
        assert provider.last.body == large
        assert room._taken == 0


@pytest.mark.parametrize("fault", [MemoryError(), RuntimeError("can't start new thread")])
async def test_what_cannot_be_decompressed_for_want_of_memory_goes_on_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    in_thread = asyncio.to_thread

    async def failing(work: Callable[..., object], *given: object) -> object:
        if getattr(work, "__name__", "") == "decompressed":
            raise fault
        return await in_thread(work, *given)

    monkeypatch.setattr("proxy.request_body.asyncio.to_thread", failing)
    body = gzip.compress(said("We decided to use PostgreSQL 16."))
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        status, _, headers = await proxy.post(CHAT, body, Content_Encoding="gzip")
        assert (status, headers["x-palimpsest-status"]) == (200, f"degraded; {NO_ROOM}")
        assert provider.last.body == body


async def test_where_no_thread_can_be_started_a_request_goes_on_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(work: Callable[..., object], *given: object) -> object:
        raise RuntimeError("can't start new thread")

    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        with monkeypatch.context() as patch:
            patch.setattr("proxy.request_body.asyncio.to_thread", failing)
            body = gzip.compress(said("Hello"))
            status, _, headers = await proxy.post(CHAT, body, Content_Encoding="gzip")
        assert (status, headers["x-palimpsest-status"]) == (200, f"degraded; {NO_ROOM}")
        assert provider.last.body == body


async def test_a_large_frame_of_a_socket_needs_room_too(tmp_path: Path) -> None:
    async with standing(tmp_path) as (proxy, provider), opened(proxy, "one") as socket:
        sizes: list[int] = []

        def nothing(size: int) -> bool:
            sizes.append(size)
            return False

        proxy.edge.room = MemoryRoom(nothing)
        frame = asking("We decided to use PostgreSQL 16. " + "x" * LARGE)
        assert await answered(socket, frame) == provider.events()
        assert provider.frames == [frame] and sizes == [TIMES * len(frame) + SPARE]
        assert [each.doing for each in proxy.edge.degradations.latest] == ["reading a body"]
