"""The bench of patterns finds what grows too fast, ends what does not end, and passes what is linear."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench.patterns import WAYS, Found, _timed, collected, slow, tried

SECONDS_A_STEP = 2e-9


def counted(longest: re.Pattern[str], power: int) -> Callable[[re.Pattern[str], str, str], float]:
    """A clock that goes by a text alone: each run of characters that ``longest`` finds costs its length to a power."""

    def timed(_pattern: re.Pattern[str], _way: str, text: str) -> float:
        steps: int = sum(len(run) ** power for run in longest.findall(text))
        return SECONDS_A_STEP * (steps + len(text))

    return timed


@pytest.mark.parametrize(
    ("pattern", "run"), [(r"\s+\Z", r"\s+"), (r"\w+@", r"\w+"), (r"a.*b.*c\Z", r"(?:ab)+"), (r"x(?:12|3)+:", r"[123]+")]
)
def test_text_is_made_on_which_a_pattern_takes_long(pattern: str, run: str) -> None:
    found = slow(Found("here:1", re.compile(pattern), WAYS), seconds=60.0, timed=counted(re.compile(run), 2))
    assert found is not None and found.growth == pytest.approx(4.0, rel=0.05)
    assert re.search(run, found.unit * 3), "what is repeated is what the pattern repeats"


def test_what_is_slow_but_does_not_grow_is_not_told() -> None:
    assert slow(Found("here:1", re.compile(r"\s+\Z"), WAYS), seconds=60.0, timed=counted(re.compile(r"\s+"), 1)) is None


def test_what_grows_but_stays_small_is_not_told() -> None:
    def timed(_pattern: re.Pattern[str], _way: str, text: str) -> float:
        return 1e-12 * len(text) ** 2

    assert slow(Found("here:1", re.compile(r"\s+\Z"), WAYS), seconds=60.0, timed=timed) is None


@pytest.mark.parametrize(("pattern", "is_square"), [(r"\s+:", True), (r"(?<!\s)\s+:", False)])
def test_a_real_clock_tells_the_square_from_the_line(pattern: str, is_square: bool) -> None:
    """Eight times the text takes 64 times as long, or eight times."""
    short, long = (_timed(re.compile(pattern), "search", " " * length) for length in (3_000, 24_000))
    assert (long > 22 * max(short, 1e-4)) is is_square


def test_a_package_is_tried_in_a_child_that_does_not_hang(tmp_path: Path) -> None:
    package = tmp_path / "planted"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import re\n"
        "_ENDLESS = re.compile(r'(?:a|a)*:')\n"
        "_LINEAR = re.compile(r'x{1,9}y')\n"
        "_SQUARE = re.compile(r'\\s+:')\n"
        "def f(text: str) -> bool:\n"
        "    return bool(re.search(r'\\d+;', text))\n"
    )
    # How long the others take is up to the machine; that they are tried at all is seen from the end.
    found, next_index = tried(["planted"], root=tmp_path, each=0.1, endless=1.0)
    assert ("planted/__init__.py:2", "?") in [(each.place, each.way) for each in found]
    assert next_index is None


def test_all_of_a_package_is_collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "gathered"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import re\n"
        "_LINE = re.compile(r'x{1,9}y')\n"
        "def f(text: str) -> bool:\n"
        "    return bool(_LINE.match(text) or re.search(r'\\d+;', text))\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    found = [(each.place, each.pattern.pattern, each.ways) for each in collected(["gathered"], tmp_path)]
    assert found == [
        ("gathered/__init__.py:2", r"x{1,9}y", ("match",)),
        ("gathered/__init__.py:4", r"\d+;", ("search",)),
    ]
