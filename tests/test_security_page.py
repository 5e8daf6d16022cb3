"""Every promise of docs/security.md names tests, and each of them is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_every_test_that_holds_a_promise_is_there() -> None:
    named = re.findall(r"`(tests/[\w/.]+)::(\w+)`", PAGE)
    assert len(named) > 20
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not (ROOT / file).exists()
        or not re.search(rf"^(async )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE)
    ]
    assert missing == []


def test_every_promise_names_one() -> None:
    table = PAGE.split("| promise | held by |")[1].split("\n\n")[0].splitlines()[2:]
    assert table and [row for row in table if "::test_" not in row] == []


def test_every_page_that_is_linked_is_there() -> None:
    for page in (ROOT / "SECURITY.md", *(ROOT / "docs").glob("*.md")):
        for link in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), (page, link)
