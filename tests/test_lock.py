"""The lock files fit what pyproject.toml asks for, and every version in them has hashes. `make lock` writes them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = {"requirements.lock": ("all",), "requirements-dev.lock": ("dev", "docs")}


def locked(name: str) -> dict[str, set[str]]:
    """Package → its versions, of which some hold for other platforms or Pythons."""
    found: dict[str, set[str]] = {}
    for package, version in re.findall(
        r"^([\w.-]+)==([^\s;]+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE
    ):
        found.setdefault(canonicalize_name(package), set()).add(version)
    return found


def wanted(*extras: str) -> list[Requirement]:
    """What is asked for with some extras, those that they name themselves included."""
    found = [Requirement(each) for each in PROJECT["dependencies"]]
    for extra in extras:
        for each in map(Requirement, PROJECT["optional-dependencies"][extra]):
            found += wanted(*each.extras) if each.name == PROJECT["name"] else [each]
    return found


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_fits_the_project(name: str) -> None:
    versions = locked(name)
    for each in wanted(*LOCKS[name]):
        known = versions.get(canonicalize_name(each.name))
        assert known, f"{each} is not in {name}: run make lock"
        assert any(each.specifier.contains(version) for version in known), f"{each} is not {known}: run make lock"


@pytest.mark.parametrize("name", LOCKS)
def test_every_version_has_hashes(name: str) -> None:
    entries = re.split(r"\n(?=\S)", (ROOT / name).read_text(encoding="utf-8").strip())
    assert [entry.partition("\n")[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_what_is_tested_is_what_is_installed() -> None:
    installed, tested = (locked(name) for name in LOCKS)
    assert {
        name: (installed[name], tested[name]) for name in installed.keys() & tested if installed[name] != tested[name]
    } == {}


def test_the_image_and_the_checks_use_the_locks() -> None:
    assert "--require-hashes -r requirements.lock" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert "LOCKED=1" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "--require-hashes -r requirements-dev.lock" in (ROOT / "Makefile").read_text(encoding="utf-8")
