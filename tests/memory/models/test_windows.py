"""Models' windows, out of a small table and out of the one that litellm carries."""

import subprocess
import sys

import pytest

from memory.models import bundled
from memory.models.windows import Windows, open_windows, read_table

TABLE = {
    "gpt-x": 272_000,
    "gpt-x-2025-11-13": 400_000,
    "claude-y-4": 200_000,
    "claude-y-4-20250929": 210_000,
    "gateway/maker/claude-y-4": 150_000,
    "one/open-model": 64_000,
    "two/maker/open-model": 32_000,
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
    assert Windows(TABLE).of(model) == window


def test_only_whole_positive_numbers_are_windows() -> None:
    data = b'{"a":{"max_input_tokens":8},"b":{"max_input_tokens":"many"},"c":{},"d":{"max_input_tokens":true},"e":1}'
    assert read_table(data) == {"a": 8}


@pytest.mark.parametrize("data", [b"[]", b"nothing", b""])
def test_what_is_no_table_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_table(data)


async def test_litellm_still_carries_its_table_where_we_look() -> None:
    windows = await open_windows()
    assert len(windows) > 1000
    assert windows.of("gpt-4o") == 128_000
    assert windows.of("claude-sonnet-4-5") == 200_000


async def test_without_the_table_no_window_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "WINDOWS", "moved.json")
    windows = await open_windows()
    assert len(windows) == 0 and windows.of("gpt-4o") is None


def test_the_vocabularies_lie_where_we_look() -> None:
    folder = bundled.vocabularies()
    assert folder is not None
    # tiktoken names its files by the SHA-1 of the address they come from; this is o200k's.
    assert (folder / "fb374d419588a4632f3f557e76b4b70aebbca790").is_file()


def test_looking_does_not_import_litellm() -> None:
    code = "import sys; from memory.models import bundled; bundled.window_table(); bundled.vocabularies()"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; sys.exit('litellm' in sys.modules)"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
