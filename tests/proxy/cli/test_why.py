"""``why`` in plain words."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from proxy.cli.server import RunningServer
from proxy.explanations import ago, source
from tests.proxy.cli.running import run

NOW = datetime.fromisoformat("2026-11-23T12:00:00+00:00")
PLAIN = {"sort": "fact", "owner": "up:o/ada/loom", "origin": "user", "session": "s", "runtime": ""}
ADDED = {
    "id": "0123456789",
    "text": "Rosa renews the certificate by hand.",
    "recorded_at": "2026-11-02T12:00:00+00:00",
    "why": {"coverage": 0.6, "cosine": 0.4},
    **PLAIN,
    "runtime": "claude-code",
}
LEFT = {**ADDED, "id": "9876543210", "text": "The harbour opens at nine.", "why": {}, "fate": "below the floor"}
TOLD: dict[str, Any] = {
    "project": "loom",
    "session": {"id": "s2", "runtime": "codex", "segment": 0},
    "asked": "Who renews the certificate?",
    "added": [ADDED],
    "research": 0,
    "page": [LEFT],
    "earlier": 2,
    "gone": 0,
    "nothing": "",
    "left": [{**LEFT, "fate": "stands in the request already"}, LEFT, LEFT],
    "receipt": {"id": "fedcba9876", "at": "2026-11-23T11:00:00+00:00", "status": "remembered"},
}


@pytest.fixture
def answers(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A server that tells of a request, whatever is asked."""
    told = dict(TOLD)
    monkeypatch.setattr(
        RunningServer, "ask", lambda self, method, path, *_: told if path == "api/why" else {"project": "x"}
    )
    return told


def test_what_was_added_is_told_with_its_day_and_place(answers: dict[str, Any]) -> None:
    told = run("why", "-n", "1").out
    assert "loom, codex" in told and "palimpsest log fedcba98" in told
    assert "added, 1 memory:\n  Rosa renews the certificate by hand.\n" in told
    assert "you said so" in told and "on 2026-11-02, with claude-code; it shares words with what you said" in told
    assert "the page: 1 memory" in told and "earlier in this session: 2 memories" in told
    assert "it has too little to do with it" in told and "and 1 more (--limit)" in told
    assert run("why", "--json").json == TOLD


def test_where_nothing_was_added_it_says_why(answers: dict[str, Any]) -> None:
    answers |= {"added": [], "nothing": "asks nothing", "left": [], "page": [], "earlier": 0, "gone": 1, "research": 1}
    answers["receipt"] = {**TOLD["receipt"], "status": "degraded; recalling took too long"}
    told = run("why").out
    assert "nothing was added: what you said asks nothing of memory" in told
    assert "! degraded; recalling took too long" in told and "sub-agent found out before" in told
    assert "1 memory of what was added is forgotten since" in told and "looked at" not in told


def test_where_nothing_was_added_and_the_page_stands_there_it_is_not_said_that_nothing_belongs_to_it(
    answers: dict[str, Any],
) -> None:
    answers |= {"added": [], "nothing": "found nothing that belongs here", "left": []}
    assert "nothing was added here: memory holds nothing more that belongs to it" in run("why").out


def test_where_no_request_came_that_is_a_fault(server: RunningServer, tmp_path: Path) -> None:
    done = run("why")
    assert done.code == 1 and "no request in the project" in done.err and "has come through yet" in done.err


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({}, "you said so 3 weeks ago, on 2026-11-02"),
        ({"runtime": "generic"}, "you said so 3 weeks ago, on 2026-11-02"),
        ({"session": ""}, "you told memory so 3 weeks ago, on 2026-11-02"),
        ({"origin": "web", "owner": "up:o/ada/zoo"}, "a page of the web said so 3 weeks ago, on 2026-11-02, in zoo"),
        ({"derived_from": ["a", "b"], "owner": "u:o/ada"}, "put together from 2 memories 3 weeks ago, on 2026-11-02"),
        ({"sort": "turn", "speaker": "Melanie", "origin": "tool"}, "said by Melanie 3 weeks ago, on 2026-11-02"),
    ],
)
def test_a_source_is_a_sentence(more: dict[str, Any], sentence: str) -> None:
    assert source({**ADDED, "runtime": "", **more}, "loom", NOW).startswith(sentence)


@pytest.mark.parametrize(
    ("back", "told"),
    [
        (timedelta(minutes=5), "within the last hour"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(days=6), "6 days ago"),
        (timedelta(days=400), "1 year ago"),
        (timedelta(seconds=-5), "within the last hour"),
    ],
)
def test_how_long_ago(back: timedelta, told: str) -> None:
    assert ago(NOW - back, NOW) == told


def test_the_place_of_a_memory_is_told_only_where_it_is_another_one() -> None:
    path = "/home/ann/projects/lighthouse-website"
    held = {**ADDED, "runtime": "", "owner": f"up:o/ada/{path.replace('/', '%2F')}"}
    assert " in " not in source(held, path, NOW)
    assert source(held, "/srv/boat", NOW).endswith("in …ects/lighthouse-website")


def test_on_a_narrow_terminal_lines_end_between_words(answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("why").out.splitlines()
    assert max(map(len, lines)) <= 60 and "  Rosa renews the certificate by hand." in map(str.rstrip, lines)
