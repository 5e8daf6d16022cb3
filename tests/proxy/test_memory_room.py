"""Where the system has no memory left, a large request is relayed unread, and the others have theirs."""

from __future__ import annotations

from pathlib import Path

import orjson

from proxy.memory_room import LARGE, NO_ROOM, SPARE, TIMES, MemoryRoom, could_be_had
from tests.fake_provider import fake_provider
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
