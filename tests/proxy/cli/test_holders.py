"""Who finds nothing is told where there is something, in one's own data folder."""

from __future__ import annotations

import pytest

from proxy.cli.app import FEATURED
from proxy.cli.server import RunningServer
from tests.proxy.cli.running import run

LISTS = [
    "facts",
    "facts --kind decision",
    "facts --branch main",
    "search harbour",
    "quarantine",
    "quarantine --dry-run --from program=codex",
    "review",
    "candidates",
    "research",
    "research search harbour",
    "research stale",
    *FEATURED,
]
ADA = "local has no memories here, others have: ada 2, bob 1 (--user names one of them)"


@pytest.fixture
def others(server: RunningServer) -> None:
    for user, text in (
        ("ada", "The harbour opens at nine."),
        ("ada", "The mast is oak."),
        ("bob", "The keel is lead."),
    ):
        assert run("remember", text, "--user", user, "--project", "boat").code == 0


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize("command", LISTS)
def test_who_has_no_memories_is_told_who_has(command: str) -> None:
    assert ADA in run(*command.split()).out.splitlines()
    assert "ada" not in run(*command.split(), "--json").out


@pytest.mark.usefixtures("others")
def test_who_has_some_is_told_of_nobody_else() -> None:
    assert "bob" not in run("search", "weather", "--user", "ada").out
    assert "nothing waits" in run("review", "--user", "ada").out and "bob" not in run("review", "--user", "ada").out


@pytest.mark.usefixtures("others")
def test_a_project_without_any_is_told_with_those_that_have_some() -> None:
    told = run("facts", "--user", "ada", "--project", "bote").out
    assert "ada has 2 memories, none of them in bote alone: by project boat 2" in told
    assert "by project" not in run("search", "weather", "--user", "ada", "--project", "boat").out


@pytest.mark.usefixtures("others")
def test_the_page_of_a_project_without_any_says_so_beside_it() -> None:
    told = run("page", "--user", "ada", "--project", "bote")
    assert "none of them in bote alone: by project boat 2" in told.err and "none of them" not in told.out
    assert "by project" not in run("page", "--user", "ada", "--project", "boat").err


def test_those_of_another_organisation_are_told_with_it(server: RunningServer) -> None:
    server.ask("POST", "api/remember", {"org": "acme", "user": "eve"}, {"text": "The loom stands in the hall."})
    told = run("facts").out
    assert "local has no memories here, in another organisation: eve of acme 1 (`org` in the settings" in told


def test_only_a_few_of_many_are_named(server: RunningServer) -> None:
    for number in range(7):
        server.ask("POST", "api/remember", {"user": f"u{number}"}, {"text": "The mast is oak."})
    assert "u4 1 and 2 more (--user" in run("facts").out


def test_where_nobody_has_any_nothing_more_is_said(server: RunningServer) -> None:
    assert run("facts").out == "nothing has been learned yet\n"
