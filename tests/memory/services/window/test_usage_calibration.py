"""What providers report is learned by model and session, and outlives the process."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from memory.conversation import Usage
from memory.models.windows import ModelTable, ModelWindows
from memory.services.window import usage_calibration as module
from memory.services.window.counting import RequestCounter
from memory.services.window.usage_calibration import META, UsageCalibration
from tests.memory.services.window.test_counting import LONG, Words, conversation, guard


class Shelf:
    """Named values."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}

    async def meta(self, name: str) -> bytes | None:
        return self.values.get(name)

    async def set_meta(self, name: str, value: bytes) -> None:
        self.values[name] = value


class Bench:
    """Counting and what was reported, on a shelf that outlives them."""

    def __init__(self, shelf: Shelf) -> None:
        self.counting = RequestCounter(Words(), guard)
        self.windows = ModelWindows(ModelTable({}))
        self.reported = UsageCalibration(self.counting, shelf, self.windows, guard)

    async def close(self) -> None:
        await self.counting.settle()
        await self.reported.settle()


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
async def bench(shelf: Shelf) -> AsyncIterator[Bench]:
    made = Bench(shelf)
    await made.reported.open()
    yield made
    await made.close()


async def test_a_sessions_last_request_is_what_its_next_is_compared_with(bench: Bench) -> None:
    bench.reported.learned("s", "M", 10_000, Usage(input=12_500))
    assert bench.reported.expected("s", "m", 10_000) == 12_500
    assert bench.reported.expected("other", "m", 1000) == 1250
    assert bench.reported.expected("s", "another model", 1000) == 1050
    assert bench.reported.ours("s", "m", 12_500) == 10_000


async def test_what_was_only_estimated_when_it_was_sent_becomes_no_anchor(bench: Bench) -> None:
    asked = conversation("one", LONG)
    bench.counting.sizes(asked)
    await bench.reported.reported("s", asked, lambda: bench.counting.weigh(asked).total + 100, Usage(input=9000))
    exact = bench.counting.weigh(asked).total + 100
    assert bench.reported.expected("s", asked.model, exact) == 9000


async def test_a_reply_without_usage_or_to_a_part_of_its_history_teaches_nothing(bench: Bench, shelf: Shelf) -> None:
    await bench.reported.reported("s", conversation("one"), int, None)
    await bench.reported.reported("s", conversation("one"), int, Usage())
    continued = replace(conversation("one"), continues="resp_1")
    await bench.reported.reported("s", continued, lambda: 100, Usage(input=90_000))
    assert bench.reported.expected("s", "gpt-5", 1000) == 1050


async def test_what_was_learned_outlives_the_process(bench: Bench, shelf: Shelf) -> None:
    bench.reported.learned("s", "m", 10_000, Usage(input=12_500))
    bench.reported.learn_window("m", 64_000)
    await bench.close()
    again = Bench(shelf)
    await again.reported.open()
    assert again.reported.expected("new", "m", 1000) == 1250
    assert again.windows.of("m") == 64_000


async def test_many_exchanges_are_written_together(bench: Bench, shelf: Shelf) -> None:
    for number in range(50):
        bench.reported.learned("s", "m", 10_000 + number, Usage(input=12_500))
    assert shelf.values == {}
    await bench.reported.settle()
    assert set(shelf.values) == {META}


@pytest.mark.parametrize("stored", [b"", b"{", b"[]", b'{"models": 1, "windows": []}', b'{"models": {"m": 1}}'])
async def test_a_damaged_value_is_left_out(stored: bytes, shelf: Shelf) -> None:
    shelf.values[META] = stored
    bench = Bench(shelf)
    await bench.reported.open()
    assert bench.reported.expected("s", "m", 1000) == 1050


async def test_sessions_and_models_that_were_long_not_seen_make_room(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SESSIONS", 10)
    monkeypatch.setattr(module, "MODELS", 10)
    bench = Bench(shelf)
    await bench.reported.open()
    for number in range(50):
        bench.reported.learned(f"s{number}", f"m{number}", 10_000, Usage(input=20_000))
    assert bench.reported.expected("s0", "m0", 1000) == 1050
    assert bench.reported.expected("s49", "m49", 1000) == pytest.approx(20_000 - 2 * 9000)
    await bench.close()
