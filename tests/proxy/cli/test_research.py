"""Research at the command line: listed, searched, shown with its trail, exported, imported, stale, forgotten."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from proxy.cli.server import RunningServer
from tests.proxy.cli.running import run

pytestmark = pytest.mark.usefixtures("server")

ID = "5ad4c2f0-0000-4000-8000-000000000001"
HANDLE = "r:5ad4c2f00000"
RESULT = "MAX_ATTEMPTS = 5\nBASE_DELAY_MS = 250\n" * 30
CALL, GOT = "11" * 16, "22" * 16


def record(**more: Any) -> dict[str, Any]:
    return {
        "sort": "research",
        "id": ID,
        "owner": "p:/local/loom",
        "person": "u:/local",
        "question": "How does the retry policy of the billing service work?",
        "description": "Study the retry policy",
        "began": "2026-11-01T10:00:00+00:00",
        "ended": "2026-11-01T10:05:00+00:00",
        "runtime": "codex",
        "reports": ["The retry policy in billing/retry.py makes five attempts, 250 ms apart, and doubles the delay."],
        "line": "five attempts, 250 ms apart",
        "sources": [{"kind": "file", "name": "billing/retry.py"}],
        "outcome": "finished",
        "requests": 2,
        "tokens": 41000,
        "trail": [_base64(CALL), _base64(GOT)],
        "messages": [
            [CALL, "assistant", [["call", "t1", "read", '{"path": "billing/retry.py"}']], ""],
            [GOT, "tool", [["result", "t1", False, [["text", RESULT]]]], ""],
        ],
        **more,
    }


def take(folder: Path, told: dict[str, Any]) -> int:
    """Import an export that holds one research."""
    file = folder / "export.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in ({"sort": "palimpsest", "format": 1}, told)))
    return run("import", str(file)).code


def _base64(digits: str) -> str:
    return base64.b64encode(bytes.fromhex(digits)).decode()


@pytest.fixture
def imported(tmp_path: Path, server: RunningServer) -> None:
    assert take(tmp_path, record()) == 0


@pytest.mark.usefixtures("imported")
def test_research_is_listed_searched_and_shown() -> None:
    listed = run("research").out
    # Each text has a line of its own, however narrow the terminal is.
    assert listed.startswith(HANDLE)
    assert "five attempts, 250 ms apart" in [line.strip() for line in listed.splitlines()]
    [found] = run("research", "search", "retry", "attempts", "--json").json["research"]
    assert found["handle"] == HANDLE
    # By what its tools gave back, too.
    assert run("research", "search", "BASE_DELAY_MS", "--json").json["research"]
    sisters = run("research", "search", "retry", "--sisters").out
    assert (
        "nothing of sister projects: local belongs to no organisation" in sisters and "`org` in the settings" in sisters
    )
    shown = run("research", "show", HANDLE, "--trail")
    assert "five attempts, 250 ms apart" in shown.out
    assert shown.out.count("MAX_ATTEMPTS") == 30
    assert run("research", "show", ID[:8], "--json").json["sources"][0]["name"] == "billing/retry.py"


@pytest.mark.usefixtures("imported")
def test_a_handle_is_expanded_whole_in_short_and_into_the_trail() -> None:
    whole = run("show", HANDLE).out
    assert "doubles the delay" in whole
    assert f"{HANDLE}.1.0  read billing/retry.py" in whole
    assert run("show", HANDLE, "--tier", "L0").out.startswith("five attempts")
    assert run("show", f"{HANDLE}.1.0").out.strip() == RESULT.strip()
    assert run("show", f"{HANDLE}.9.0").code != 0


@pytest.mark.usefixtures("imported")
def test_an_export_carries_it_with_its_trail(tmp_path: Path) -> None:
    out = tmp_path / "again.jsonl"
    assert run("export", "--out", str(out)).code == 0
    [told] = [line for line in map(json.loads, out.read_text().splitlines()) if line["sort"] == "research"]
    assert told["reports"] == record()["reports"]
    assert [message[0] for message in told["messages"]] == [CALL, GOT]
    assert run("research", "forget", HANDLE).code == 0
    # What was forgotten is not taken in again.
    assert run("import", str(out), "--json").code == 0
    assert run("research", "--json").json["research"] == []


@pytest.mark.usefixtures("imported")
def test_forgetting_takes_it_out_of_everything() -> None:
    assert run("search", "retry policy", "--json").json["results"]
    assert "forgotten" in run("research", "forget", ID[:8]).out
    assert run("research", "search", "retry policy", "--json").json["research"] == []
    assert run("search", "retry policy", "--json").json["results"] == []
    assert run("show", f"{HANDLE}.1.0").code != 0
    assert run("research", "show", HANDLE).code != 0


@pytest.mark.usefixtures("imported")
def test_a_query_that_is_forgotten_takes_the_research_that_holds_it() -> None:
    done = run("forget", "--query", "250 ms apart", "--yes")
    assert done.code == 0, done.err
    assert run("research", "--json").json["research"] == []


def test_what_is_old_is_stale(tmp_path: Path) -> None:
    old = record(began="2020-01-01T10:00:00+00:00", ended="2020-01-01T10:05:00+00:00")
    assert take(tmp_path, old) == 0
    [told] = run("research", "stale", "--json").json["research"]
    assert told["handle"] == HANDLE


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "no uuid"},
        {"owner": "o:acme"},
        {"question": " "},
        {"began": "2026-11-01T10:00:00"},
        {"messages": [["11", "tool", [], ""]]},
        {"messages": "many"},
    ],
)
def test_a_record_that_is_none_is_told_and_changes_nothing(tmp_path: Path, wrong: dict[str, Any]) -> None:
    take(tmp_path, record(**wrong))
    assert run("research", "--json").json["research"] == []
