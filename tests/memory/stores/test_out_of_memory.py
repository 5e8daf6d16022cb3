"""Where the process may take no more memory, a large message is not written or read, and the process goes on."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from memory.conversation import Text
from memory.message_codec import LARGE, pack, unpack
from memory.stores.exchange_draft import ExchangeDraft, dump, load
from memory.stores.messages import PackedMessage
from tests.memory.stores.derived_facts import exchange, open_journal, user

ROOMS = [2**20 * mib for mib in (1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 256)]
LONG = '"Crates"\n' * (5 * LARGE // 9)


def attempts(work: Callable[[], object]) -> dict[str, int]:
    """How often it worked out and how often it did not, with ever more memory."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    told = {"done": 0, "no memory": 0}
    for room in ROOMS:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + room, most))
        try:
            work()
            told["done"] += 1
        except MemoryError:
            told["no memory"] += 1
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return told


def packing() -> dict[str, int]:
    """A message is packed for the journal."""
    return attempts(lambda: pack((Text(LONG),)))


def unpacking() -> dict[str, int]:
    """A message is read from the journal."""
    packed = pack((Text(LONG),))
    return attempts(lambda: unpack(packed))


def setting_aside() -> dict[str, int]:
    """An exchange is set aside."""
    draft = asyncio.run(drafted(Path(sys.argv[2])))
    return attempts(lambda: dump(draft, (), str, {}))


async def drafted(home: Path) -> ExchangeDraft:
    """An exchange with a message that does not get smaller."""
    journal = open_journal(home)
    try:
        draft = await journal._drafted(exchange("e", [user("hello")]))
    finally:
        await journal.close()
    body = bytes(range(256)) * (24 * LARGE // 256)
    return replace(draft, messages=(PackedMessage(b"1" * 16, "user", False, body),))


WORKS = {each.__name__: each for each in (packing, unpacking, setting_aside)}


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
@pytest.mark.sqlite
@pytest.mark.parametrize("work", WORKS)
def test_a_lack_of_memory_is_an_error_and_not_the_end(work: str, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", __name__, work, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["done"] and told["no memory"], told


def test_a_large_message_is_packed_to_the_same_bytes_as_a_small_one() -> None:
    every = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    parts = (Text(every), Text(LONG))
    assert pack(parts) == orjson.dumps([["text", every], ["text", LONG]])
    assert unpack(pack(parts)) == parts


async def test_what_is_set_aside_is_read_again_however_large(tmp_path: Path) -> None:
    draft = await drafted(tmp_path)
    read, entries, texts = load(dump(draft, (), str, {}))
    assert (read.messages, entries, texts) == (draft.messages, (), {})


if __name__ == "__main__":
    print(json.dumps(WORKS[sys.argv[1]]()))
