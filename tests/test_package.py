"""What is published: its name in every place that tells somebody to install it, and what lies beside the code."""

from __future__ import annotations

import re
import subprocess
import tomllib
from email import message_from_string
from importlib.metadata import entry_points
from pathlib import Path

import hatchling.build
import pytest

from memory.version import DISTRIBUTION

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

_INSTALLS = re.compile(
    r"(?:pip|pipx|uv tool|uv pip) install (?:--?\S+ )*'?(palimpsest[\w-]*)|\b(palimpsest[\w-]*)\[[a-z]+\]"
)
"""Where a text tells somebody to install us, or names one of our extras."""


_TARGETS = re.compile(r"""\]\(\s*<?([^()\s>]+)|^\s*\[[^\]]+\]:\s*(\S+)|(?:src|href)=["']?([^"'\s>]+)""", re.MULTILINE)
"""Where a link or a picture of a Markdown text leads to, in each of their forms."""


def relative(text: str) -> list[str]:
    """Where a page leads to, or takes a picture from, that is no address of its own."""
    targets = (found[1] or found[2] or found[3] for found in _TARGETS.finditer(text))
    return [target for target in targets if not target.startswith(("https://", "#"))]


def texts() -> list[Path]:
    """Every file of the checkout that a user or a builder reads."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    told = [name for name in listed if not name.startswith("tests/")]
    return [ROOT / name for name in told if name.endswith((".py", ".md", ".yaml", ".toml")) or "." not in name]


def test_every_message_names_the_distribution_and_the_command_stays() -> None:
    named: dict[str, list[str]] = {}
    for file in texts():
        for found in _INSTALLS.finditer(file.read_text(encoding="utf-8")):
            named.setdefault(found[1] or found[2], []).append(file.name)
    assert set(named) == {DISTRIBUTION} == {PROJECT["name"]}, named
    assert PROJECT["scripts"] == {"palimpsest": "proxy.cli:main"}
    assert [each.value for each in entry_points(group="console_scripts", name="palimpsest")] == ["proxy.cli:main"]


def test_what_pypi_shows_leads_to_no_file_of_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    built = tmp_path / hatchling.build.prepare_metadata_for_build_wheel(str(tmp_path)) / "METADATA"
    told = message_from_string(built.read_text(encoding="utf-8"))
    text = str(told.get_payload())
    assert told["Description-Content-Type"] == "text/markdown" and text.startswith("# Palimpsest\n")
    assert relative(text) == []
    assert relative("[a](b.md) ![c](<d.png>) <img src='e.svg'> [f](https://g.h) [i](#j)\n[k]: l\n") == [
        "b.md",
        "d.png",
        "e.svg",
        "l",
    ]


def test_the_licence_and_what_others_ask_to_be_told_are_in_the_package() -> None:
    assert PROJECT["license"] == "Apache-2.0" and PROJECT["license-files"] == ["LICENSE", "NOTICE"]
    assert "Version 2.0, January 2004" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    ours, theirs = (file.read_text(encoding="utf-8") for file in (ROOT / "NOTICE", ROOT / "memory/models/data/NOTICE"))
    assert ours.endswith(theirs.partition("\n")[2])
    addresses = PROJECT.get("urls", {}).values()
    assert all(url.startswith("https://") and "pypi.org" not in url for url in addresses), "PyPI shows them on its page"
