"""The documentation is true: the reference is the code's, the map is the tree's, commands, files, settings and links
exist."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs.generate import DOCS, ROOT, WRITTEN, endpoints, outdated
from docs.generate.links import anchors, broken
from docs.generate.navigation import navigation
from docs.generate.settings import comments
from proxy.connect import GUIDES

README = ROOT / "README.md"
LONGEST_README = 200
"""Lines."""


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def between(page: Path, mark: str) -> str:
    """What stands between two marks of a page."""
    found = re.search(rf"<!-- {mark} -->\n(.*?)<!-- /{mark} -->", text_of(page), re.DOTALL)
    assert found, f"{page.name} has no part {mark}"
    return found[1]


def test_the_reference_pages_are_those_of_the_code() -> None:
    assert outdated() == [], "run: python -m docs.generate"


def test_an_object_is_told_to_have_all_of_another_only_where_it_may_miss_the_same_fields() -> None:
    told = endpoints.page()
    assert "### PastFact\n\nall of [Memory]" in told and "### Proposal\n\nall of" not in told
    assert told.count("One memory. ") == 1, "what is said of the other one is not said again"


def test_every_value_of_a_field_is_told() -> None:
    assert "`, …" not in endpoints.page()


def test_the_readme_is_short() -> None:
    assert len(text_of(README).splitlines()) <= LONGEST_README


def test_the_map_is_the_tree() -> None:
    told: dict[str, set[str]] = {}
    package = ""
    for line in between(DOCS / "architecture.md", "map").splitlines():
        if match := re.match(r"(\w+)/ ", line):
            package = match[1]
        elif match := re.match(r"  ([\w.]+/?) ", line):
            told.setdefault(package, set()).add(match[1])
    for package in ("proxy", "memory"):
        there = {
            path.name + "/" * path.is_dir()
            for path in (ROOT / package).iterdir()
            if path.name not in ("__init__.py", "__pycache__")
        }
        assert told[package] == there


def test_every_command_that_a_page_names_exists() -> None:
    named = {name for page in WRITTEN for name in re.findall(r"palimpsest ([a-z][a-z-]+)", text_of(page))}
    help_text = subprocess.run(
        [sys.executable, "-m", "proxy", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    missing = {name for name in named if not re.search(rf"^\W*{name}\b", help_text, re.MULTILINE)}
    assert missing == set()


def named_files() -> Iterator[str]:
    for page in WRITTEN:
        yield from re.findall(r"`((?:tests|docs|proxy|memory|config)/[\w/.-]+)`", text_of(page))
        yield from (
            name.replace(".", "/") for name in re.findall(r"python -m ((?:tests|docs|memory)[\w.]+)", text_of(page))
        )


def test_every_file_that_a_page_names_exists() -> None:
    missing = [
        path
        for path in named_files()
        if "NAME" not in path and not ((ROOT / path).exists() or (ROOT / f"{path}.py").exists())
    ]
    assert missing == []


def test_every_setting_that_a_page_names_exists() -> None:
    settings = set(comments())
    roots = settings | {key.rpartition(".")[0] for key in settings} | {key.rsplit(".", 2)[0] for key in settings}
    named = {
        key.removesuffix(".")
        for page in WRITTEN
        for key in re.findall(r"`((?:server|upstream|memory)\.[a-z_]+(?:\.[a-z_]+)*)[:`]", text_of(page))
        if not (ROOT / key.replace(".", "/")).exists()
    }
    assert named - roots == set()


def test_every_header_of_ours_that_a_page_names_exists() -> None:
    header = re.compile(r"x-palimpsest-[a-z][a-z-]*")
    code = {name for file in (ROOT / "proxy").rglob("*.py") for name in header.findall(text_of(file))}
    beginnings = tuple(name for name in code if name.endswith("-"))
    named = {name.rstrip("-") for page in WRITTEN for name in header.findall(text_of(page))}
    assert "x-palimpsest-session" in named
    assert [name for name in named - code if not name.startswith(beginnings)] == []


def test_every_extra_that_a_page_names_exists() -> None:
    extras = set(re.findall(r"^(\w+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for page in WRITTEN for name in re.findall(r"palimpsest-proxy\[(\w+)\]", text_of(page))}
    assert named <= extras


def test_every_runtime_that_can_be_connected_is_told_of() -> None:
    for page in (README, DOCS / "runtimes.md"):
        assert [name for name in GUIDES if f"`{name}`" not in text_of(page)] == []


def test_links_lead_somewhere() -> None:
    assert [str(link) for link in broken(ROOT, WRITTEN)] == []


def test_every_page_stands_in_an_index() -> None:
    linked = {
        (index.parent / target).resolve()
        for index in (DOCS / "index.md", DOCS / "decisions" / "index.md")
        for target in re.findall(r"\]\(([^)#\s]+)\)", text_of(index))
    }
    assert [page for page in DOCS.rglob("*.md") if page not in linked and page != DOCS / "index.md"] == []


def test_the_navigation_has_every_page() -> None:
    def pages(nav: Any) -> Iterator[str]:
        for each in nav if isinstance(nav, list) else nav.values() if isinstance(nav, dict) else ():
            yield from [each] if isinstance(each, str) else pages(each)

    assert sorted(pages(navigation(DOCS))) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One thing\n\n[here](#one-thing) [gone](#other) [file](none.md) [web](https://example.org)\n`[code](x)`\n"
    )
    assert [(link.target, link.why) for link in broken(tmp_path, [page])] == [
        ("#other", "the page has no such heading"),
        ("none.md", "there is no such file"),
    ]


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [("## What `connect` sets", "what-connect-sets"), ("# `kill -9`: under load?", "kill--9-under-load")],
)
def test_anchors_are_written_as_the_readers_of_pages_write_them(heading: str, anchor: str) -> None:
    assert anchors(f"{heading}\n") == {anchor}


def test_two_headings_of_one_name_have_two_anchors() -> None:
    assert anchors("# A\n## B\n## B\n") == {"a", "b", "b-1"}
