"""``palimpsest sync`` with two real homes: both ways, twice, forgetting, contradictions, and what stays at home."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from proxy.cli.machines import Entry, Machine, clock, plan, written
from tests.proxy.cli.running import Done, beside, run

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


class Two:
    """Two machines, or more, and a folder between them. A machine's server runs until it is stopped."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._servers: dict[str, ExitStack] = {}
        self.share = folder / "share"
        self.share.mkdir()

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """At one of the machines."""
        home = self.folder / name
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PALIMPSEST_HOME", str(home))
            if name not in self._servers:
                started = ExitStack()
                started.enter_context(beside(home))
                self._servers[name] = started
            yield

    def stop(self, *names: str) -> None:
        """Stop the servers of some machines, or of all."""
        with ExitStack() as stopping:
            for name in names or [*self._servers]:
                stopping.callback(self._servers.pop(name).close)

    def run(self, name: str, *commands: Sequence[str]) -> list[Done]:
        """Commands at a machine."""
        with self.at(name):
            done = [run(*command) for command in commands]
        assert all(each.code == 0 for each in done), [each.err for each in done]
        return done

    def sync(self, name: str, *options: str) -> dict[str, Any]:
        """One run at a machine."""
        [done] = self.run(name, ("sync", str(self.share), "--json", *options))
        assert done.json["faults"] == []
        return done.json

    def facts(self, name: str) -> dict[str, dict[str, Any]]:
        """What a machine has, by its text."""
        [done] = self.run(name, ("facts", "--state", "all", "--json"))
        return {each["text"]: each for each in done.json["facts"]}

    def written(self) -> dict[str, bytes]:
        """What lies in the folder."""
        return {file.name: file.read_bytes() for file in (self.share / "palimpsest").iterdir()}


@pytest.fixture
def two(tmp_path: Path) -> Iterator[Two]:
    machines = Two(tmp_path)
    level = logging.getLogger().level
    try:
        yield machines
    finally:
        machines.stop()
        # Each server puts back the level that it found, which another one may have set.
        logging.getLogger().setLevel(level)


def test_both_have_what_each_was_told_and_a_second_time_changes_nothing(two: Two) -> None:
    two.run("desk", ("remember", "The staging cluster is called heron.", "-p", "boat"))
    two.run("lap", ("remember", "I prefer short answers."))
    first = two.sync("desk")
    assert (first["new"], first["written"], first["machines"]) == (0, 1, [])
    second = two.sync("lap")
    assert (second["new"], second["written"], len(second["machines"])) == (1, 2, 1)
    assert two.sync("desk")["new"] == 1
    desk, lap = two.facts("desk"), two.facts("lap")
    assert desk.keys() == lap.keys() == {"The staging cluster is called heron.", "I prefer short answers."}
    assert {each["id"] for each in desk.values()} == {each["id"] for each in lap.values()}
    files = two.written()
    for name in ("desk", "lap", "desk"):
        again = two.sync(name)
        assert (again["new"], again["changed"], again["forgotten"], again["unsettled"]) == (0, 0, 0, 0)
    assert two.written() == files
    [found] = two.run("lap", ("search", "staging cluster", "-p", "boat", "--json"))
    assert found.json["results"][0]["text"] == "The staging cluster is called heron."


def test_what_one_forgets_the_other_forgets_and_no_text_of_it_stays(two: Two) -> None:
    two.run("desk", ("remember", "The safe opens with the number on the door."), ("remember", "The pier is north."))
    two.sync("desk")
    two.sync("lap")
    id = two.facts("lap")["The safe opens with the number on the door."]["id"]
    two.run("lap", ("pin", id), ("forget", id, "-y"))
    assert two.sync("lap")["forgotten"] == 0
    assert two.sync("desk")["forgotten"] == 1 and list(two.facts("desk")) == ["The pier is north."]
    assert not any(b"safe opens" in text for text in two.written().values())
    assert two.sync("lap")["new"] == 0 and list(two.facts("lap")) == ["The pier is north."]
    assert two.sync("third")["new"] == 1, "a new machine is not given it either"


def test_a_home_that_lost_its_memories_gets_them_back_and_makes_nobody_forget(two: Two) -> None:
    two.run("desk", ("remember", "The pier is north."))
    two.sync("desk")
    two.sync("lap")
    two.stop()
    for file in (two.folder / "desk").glob("journal*"):
        file.unlink()
    told = two.sync("desk")
    assert (told["new"], told["forgotten"]) == (1, 0) and list(two.facts("desk")) == ["The pier is north."]
    assert two.sync("lap")["forgotten"] == 0 and list(two.facts("lap")) == ["The pier is north."]


def test_what_was_changed_on_one_is_changed_on_the_other_and_two_changes_of_the_same_are_unsettled(two: Two) -> None:
    two.run("desk", ("remember", "We use npm to install packages.", "-p", "boat"))
    two.sync("desk")
    two.sync("lap")
    id = two.facts("lap")["We use npm to install packages."]["id"]
    two.run("desk", ("update", id, "We use pnpm to install packages."))
    two.run("lap", ("update", id, "We use yarn to install packages."))
    two.sync("desk")
    assert two.sync("lap")["unsettled"] == 1
    assert two.sync("desk")["unsettled"] == 0
    for name in ("desk", "lap"):
        found = two.facts(name)
        pnpm, yarn = (found[f"We use {tool} to install packages."] for tool in ("pnpm", "yarn"))
        assert pnpm["contradicts"] == [yarn["id"]] and yarn["contradicts"] == [pnpm["id"]], name
        assert found["We use npm to install packages."]["state"] == "superseded"
    two.run("desk", ("confirm", pnpm["id"]))
    two.sync("desk")
    two.sync("lap")
    assert two.facts("lap")["We use yarn to install packages."]["state"] == "superseded"
    assert two.facts("lap")["We use pnpm to install packages."]["contradicts"] == []


def test_what_was_said_apart_and_contradicts_stays_on_both_sides(two: Two) -> None:
    two.run("desk", ("remember", "The staging database is Postgres.", "-p", "boat"))
    two.run("lap", ("remember", "The staging database is MySQL.", "-p", "boat"))
    two.sync("desk")
    assert two.sync("lap")["unsettled"] == 1
    assert {each["state"] for each in two.facts("lap").values()} == {"active"}
    [done] = two.run("lap", ("conflicts", "--json"))
    assert "Postgres" in done.out and "MySQL" in done.out


def test_what_is_confidential_stays_and_quarantine_here_is_no_forgetting_there(two: Two) -> None:
    two.run("desk", ("remember", "My salary is 70,000 a year."), ("remember", "The pier is north."))
    assert two.sync("desk")["kept_back"] == 1
    assert not any(b"salary" in text for text in two.written().values())
    assert two.sync("lap")["new"] == 1
    two.run("lap", ("quarantine", "--origin", "person", "-y"))
    assert two.sync("lap")["new"] == 0 and two.sync("desk")["forgotten"] == 0
    assert "The pier is north." in two.facts("desk")
    assert two.sync("desk", "--restricted")["kept_back"] == 0
    assert two.sync("lap")["new"] == 1


def test_damaged_files_and_wrong_folders_are_told(two: Two) -> None:
    two.run("desk", ("remember", "The pier is north."))
    two.sync("desk")
    [file] = (two.share / "palimpsest").iterdir()
    whole = file.read_bytes()
    with two.at("lap"):
        for broken in (b"", b"{", whole[:-20], whole.replace(b'"format":1', b'"format":9')):
            file.write_bytes(broken)
            done = run("sync", str(two.share))
            assert done.code == 1 and file.name in done.err, broken
        assert run("sync", str(two.share / "nowhere")).code == 2


def record(id: str, text: str = "x", **more: Any) -> dict[str, Any]:
    return {"id": id, "sort": "fact", "owner": "u:/local", "text": text, "state": "active", **more}


def test_a_change_is_later_than_what_it_changes_also_where_clocks_differ() -> None:
    ahead = clock(datetime(2030, 1, 1, tzinfo=UTC), "", "b")
    known = Machine("a", entries={"1": Entry("1", ahead, record("1"))})
    entries = written({"1": record("1", "changed")}, known, [], [], NOW)
    assert entries["1"].clock > ahead
    assert written({"1": record("1")}, known, [], [], NOW)["1"].clock == ahead
    back = written({"1": record("1")}, Machine("a", entries=entries), [Machine("b", entries=known.entries)], [], NOW)
    assert back["1"].clock > entries["1"].clock, "what is as it once was is a change, too"


def test_of_two_changes_one_stands_on_both_and_what_was_ended_stays_ended() -> None:
    base = {"1": Entry("1", clock(NOW, "", "a"), record("1"))}
    later = clock(NOW, base["1"].clock, "b")
    theirs = Machine("b", entries={"1": Entry("1", later, record("1", pinned=True))})
    known = Machine("a", entries=base)
    assert plan({"1": record("1")}, known, [theirs], []).changed.keys() == {"1"}
    assert plan({"1": record("1", text="mine")}, known, [theirs], []).changed == {}
    ended = Machine("b", entries={"1": Entry("1", later, record("1", state="superseded"))})
    assert plan({"1": record("1", text="mine")}, known, [ended], []).changed.keys() == {"1"}
    assert plan({}, known, [theirs], ["1"]).new == {} and plan({}, known, [theirs], []).new.keys() == {"1"}
    assert plan({"1": {**record("1"), "access": 9, "owner": "u:/somebody"}}, known, [known], []).changed == {}
