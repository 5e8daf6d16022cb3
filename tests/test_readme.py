"""The README's tables are true: the settings are the code's, the map is the tree's, the commands are the program's.

`python -m tests.test_readme` writes the settings table anew.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import yaml

from tests.test_config_file import keys_with_comments

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
_EXAMPLE = re.compile(r":\s+-\s|:\s+\S+:\s")
"""Where a comment goes on with an example of a value."""


def between(mark: str) -> str:
    """What stands between two marks of the README."""
    found = re.search(rf"<!-- {mark} -->\n(.*?)<!-- /{mark} -->", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found, f"the README has no part {mark}"
    return found[1]


def settings_table() -> str:
    """The settings as a Markdown table."""
    written = yaml.safe_load((ROOT / "config" / "default.yaml").read_text(encoding="utf-8"))
    rows = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for key, meaning in keys_with_comments().items():
        value = written
        for step in key.split("."):
            value = value[step]
        shown = "" if value is None else f"`{yaml.safe_dump(value).strip().removesuffix('...').strip()}`"
        rows.append(f"| `{key}` | {shown} | {_EXAMPLE.split(meaning)[0]} |")
    return "\n".join(rows) + "\n"


def test_the_settings_table_is_that_of_the_code() -> None:
    assert between("settings") == settings_table(), "run: python -m tests.test_readme"


def test_the_map_is_the_tree() -> None:
    told: dict[str, set[str]] = {}
    package = ""
    for line in between("map").splitlines():
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


def test_every_command_that_the_readme_names_exists() -> None:
    named = set(re.findall(r"palimpsest ([a-z]+)", README.read_text(encoding="utf-8")))
    help_text = subprocess.run(
        [sys.executable, "-m", "proxy", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    missing = {name for name in named if not re.search(rf"^\W*{name}\b", help_text, re.MULTILINE)}
    assert missing == set()


def test_every_test_file_that_the_readme_names_exists() -> None:
    for path in re.findall(r"`(tests/[\w/.]+)`", README.read_text(encoding="utf-8")):
        assert (ROOT / path).exists(), path


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    README.write_text(
        re.sub(
            r"(<!-- settings -->\n).*?(<!-- /settings -->)",
            lambda found: found[1] + settings_table() + found[2],
            text,
            flags=re.DOTALL,
        ),
        encoding="utf-8",
    )
