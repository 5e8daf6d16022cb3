"""The bench of patterns finds what grows too fast, ends what does not end, and passes what is linear."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bench.patterns import WAYS, Found, slow, tried


@pytest.mark.parametrize("pattern", [r"[-*][ \t]+(\S.*?)[ \t]*$", r"\s+\Z", r"\w+@", r"a.*b.*c\Z"])
def test_a_pattern_whose_time_grows_with_the_square_is_found(pattern: str) -> None:
    found = slow(Found("here:1", re.compile(pattern), WAYS), seconds=3.0)
    assert found is not None and found.growth > 2.5


@pytest.mark.parametrize("pattern", [r"\d{1,4}-\d{2}", r"(?<!\w)\w++@?", r"(?<!x)x{1,9}:"])
def test_a_linear_one_is_not(pattern: str) -> None:
    assert slow(Found("here:1", re.compile(pattern), WAYS), seconds=1.0) is None


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
    found, next_index = tried(["planted"], root=tmp_path, each=0.5, endless=8.0)
    assert [(each.place, each.way == "?") for each in found] == [
        ("planted/__init__.py:2", True),
        ("planted/__init__.py:4", False),
        ("planted/__init__.py:6", False),
    ]
    assert next_index is None
