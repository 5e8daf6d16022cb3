"""Models' windows, out of a small table and out of the one in the package."""

from pathlib import Path

import pytest

from memory.context.budget import Prices
from memory.models.training.snapshot import reduced
from memory.models.windows import ModelFacts, ModelTable, ModelWindows, open_windows, read_table
from memory.settings import MemorySettings

TABLE = {
    name: ModelFacts(window)
    for name, window in {
        "gpt-x": 272_000,
        "gpt-x-2025-11-13": 400_000,
        "claude-y-4": 200_000,
        "claude-y-4-20250929": 210_000,
        "gateway/maker/claude-y-4": 150_000,
        "one/open-model": 64_000,
        "two/maker/open-model": 32_000,
    }.items()
}


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gpt-x", 272_000),
        ("GPT-X", 272_000),
        ("gpt-x-2025-11-13", 400_000),
        ("gpt-x-2030-01-01", 272_000),
        ("gpt-x-latest", 272_000),
        ("openai/gpt-x", 272_000),
        ("claude-y-4-20250929", 210_000),
        ("claude-y-4-20991231", 200_000),
        ("claude-y-4[1m]", 200_000),
        ("gateway/maker/claude-y-4", 150_000),
        ("elsewhere/maker/claude-y-4:free", 200_000),
        ("open-model", 32_000),
        ("three/open-model", 32_000),
        ("gpt", None),
        ("gpt-x-mini", None),
        ("", None),
    ],
)
def test_a_name_is_found_however_a_client_writes_it(model: str, window: int | None) -> None:
    assert ModelWindows(ModelTable(TABLE)).known(model) == window


def test_only_whole_positive_numbers_are_windows() -> None:
    data = b'{"a":{"max_input_tokens":8},"b":{"max_input_tokens":"many"},"c":{},"d":{"max_input_tokens":true},"e":1}'
    assert read_table(data) == {"a": ModelFacts(8)}


@pytest.mark.parametrize("data", [b"[]", b"nothing", b""])
def test_what_is_no_table_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_table(data)


async def test_the_table_in_the_package_knows_common_models() -> None:
    windows = await open_windows()
    assert len(windows) > 1000
    assert windows.of("gpt-4o") == 128_000
    assert windows.of("claude-sonnet-4-5") == 200_000
    assert windows.reply("claude-sonnet-4-5") == 64_000
    assert windows.prices("claude-sonnet-4-5") == Prices(fresh=3.75e-6, cached=3e-7, output=1.5e-5)


async def test_without_the_table_no_window_is_known(tmp_path: Path) -> None:
    windows = await open_windows(file=tmp_path / "gone.json")
    assert len(windows) == 0 and windows.known("gpt-4o") is None


def test_a_reduced_table_tells_the_same() -> None:
    whole = (
        b'{"sample_spec":{"max_input_tokens":"a number"},"b":{"max_input_tokens":8,"mode":"chat",'
        b'"input_cost_per_token":2e-6,"output_cost_per_token":1},"a":{"max_input_tokens":0},"none":[]}'
    )
    assert reduced(whole) == (
        b'{\n"b":{"max_input_tokens": 8, "input_cost_per_token": 2e-06, "output_cost_per_token": 1}\n}\n'
    )
    assert read_table(reduced(whole)) == read_table(whole)


def test_prices_are_those_of_a_short_request() -> None:
    data = (
        b'{"a":{"max_input_tokens":8,"input_cost_per_token":2e-6,"cache_read_input_token_cost":2e-7,'
        b'"input_cost_per_token_above_272k_tokens":4e-6,"output_cost_per_token":8e-6},'
        b'"b":{"max_input_tokens":8,"input_cost_per_token":3e-6,"cache_read_input_token_cost":3e-7,'
        b'"cache_creation_input_token_cost":3.75e-6,"cache_creation_input_token_cost_above_1hr":6e-6},'
        b'"c":{"max_input_tokens":8,"input_cost_per_token":1e-6},'
        b'"d":{"max_input_tokens":8,"input_cost_per_token":0,"cache_read_input_token_cost":0},'
        b'"e":{"max_input_tokens":8,"input_cost_per_token":"dear"}}'
    )
    windows = ModelWindows(ModelTable(read_table(data)))
    assert windows.prices("a") == Prices(fresh=2e-6, cached=2e-7, output=8e-6)
    assert windows.prices("b") == Prices(fresh=3.75e-6, cached=3e-7)
    assert windows.prices("c") == Prices(fresh=1e-6, cached=1e-6), "no cache: what is read again costs the same"
    assert windows.prices("d") is windows.prices("e") is windows.prices("unknown") is None


def test_an_unknown_model_has_the_default_window_and_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING")
    windows = ModelWindows(ModelTable(TABLE), MemorySettings(default_window=50_000))
    assert [windows.of("my-own-model") for _ in range(3)] == [50_000] * 3
    assert caplog.text.count("my-own-model") == 1 and "memory.windows" in caplog.text
    windows.of("gpt-x")
    assert "gpt-x" not in caplog.text


def test_what_a_person_sets_stands_over_all() -> None:
    windows = ModelWindows(
        ModelTable(TABLE), MemorySettings(windows={"local-*": 8192, "GPT-X": 100_000, "odd[name]": 4096})
    )
    assert windows.of("local-llama") == 8192
    assert windows.of("gateway/local-llama") == 8192
    assert windows.of("gpt-x") == 100_000
    assert windows.of("odd[name]") == 4096
    assert windows.known("not-local-llama") is None
    windows.learn("gpt-x", 90_000)
    assert windows.of("gpt-x") == 100_000


def test_a_window_that_a_provider_told_stands_over_the_table_and_is_kept() -> None:
    windows = ModelWindows(ModelTable(TABLE))
    assert windows.learn("gpt-x", 128_000)
    assert not windows.learn("gpt-x", 128_000), "that is no news"
    assert windows.of("gpt-x") == 128_000
    again = ModelWindows(ModelTable(TABLE))
    again.restore(windows.as_json())
    assert again.of("gpt-x") == 128_000


@pytest.mark.parametrize("window", [0, -1, 12, 10**9])
def test_an_absurd_window_is_not_learned(window: int) -> None:
    windows = ModelWindows(ModelTable(TABLE))
    assert not windows.learn("gpt-x", window)
    assert windows.of("gpt-x") == 272_000


@pytest.mark.parametrize("stored", [None, [], {"gpt-x": "many"}, {"gpt-x": True}, {"gpt-x": 3}])
def test_what_was_not_stored_by_us_is_left_out(stored: object) -> None:
    windows = ModelWindows(ModelTable(TABLE))
    windows.restore(stored)
    assert windows.of("gpt-x") == 272_000


def test_no_more_windows_are_learned_than_can_be_kept() -> None:
    windows = ModelWindows(ModelTable({}))
    for number in range(2000):
        windows.learn(f"m{number}", 5000 + number)
    assert len(windows.as_json()) == 500 and windows.known("m1999") == 6999


def test_of_a_name_as_long_as_a_book_nothing_is_learned_and_one_warning_is_given(
    caplog: pytest.LogCaptureFixture,
) -> None:
    windows = ModelWindows(ModelTable({}))
    assert not windows.learn("m" * 100_000, 50_000)
    sizes = {windows.of("m" * 100_000 + end) for end in ("a", "b")}
    assert len(sizes) == len(caplog.records) == 1
    assert windows.as_json() == {}
