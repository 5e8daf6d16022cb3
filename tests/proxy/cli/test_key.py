"""``palimpsest key``, and how ``connect`` writes it into base URLs."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from proxy.connect import GUIDES
from tests.proxy.cli.running import run

pytestmark = pytest.mark.usefixtures("person")


@pytest.mark.parametrize("runtime", GUIDES)
def test_every_runtime_is_given_the_key(runtime: str, home: Path) -> None:
    value = run("key").out.strip()
    assert (home / "key").read_text().strip() == value
    assert stat.S_IMODE((home / "key").stat().st_mode) == 0o600
    assert f"/k/{value}" in run("connect", runtime).out


def test_a_new_key_names_the_files_that_hold_the_one_before(person: Path) -> None:
    before = run("key", "--json").json["key"]
    run("connect", "codex", "--write", "--yes")
    file = person / ".codex" / "config.toml"
    assert before in file.read_text()
    told = run("key", "--rotate", "--json").json
    assert told["rotated"] and told["key"] != before and told["connect_again"] == [str(file)]
    assert str(file) in run("key").err
    run("connect", "codex", "--write", "--yes")
    assert told["key"] in file.read_text() and before not in file.read_text()
    assert run("key", "--json").json["connect_again"] == []


def test_a_damaged_key_is_told_and_can_be_made_anew(home: Path) -> None:
    home.mkdir()
    (home / "key").write_text("something else")
    for command in (("key",), ("connect", "codex")):
        refused = run(*command)
        assert refused.code == 1 and "key --rotate" in refused.err
    assert run("key", "--rotate").code == 0 and run("key").code == 0


def test_a_new_key_says_that_every_runtime_must_be_connected_again() -> None:
    assert run("key").err == ""
    new = run("key", "--rotate")
    assert run("key").out == new.out
    assert "every runtime that was connected before" in new.err and "connected again" in new.err
