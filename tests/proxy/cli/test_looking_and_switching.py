"""Status, log, config, version, pause, resume, reindex and embedder, with a server and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proxy.cli.server import RunningServer
from tests.proxy.cli.running import run


def test_status_says_whether_a_server_runs(server: RunningServer) -> None:
    told = run("status", "--json").json
    assert told["running"] and told["url"] == server.url and told["status"] == "ok"
    assert server.url in run("status").out


def test_without_a_server_the_stores_are_opened_here_and_keep_what_was_told() -> None:
    run("remember", "The harbour opens at nine")
    told = run("status", "--json").json
    assert not told["running"] and told["stored"]["facts"] == 1
    assert "no server runs" in run("status").out
    assert "nine" in run("search", "harbour").out


def test_its_exit_code_says_whether_all_is_well(
    server: RunningServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("status").code == 0
    well = server.ask("GET", "api/status")
    monkeypatch.setattr(RunningServer, "ask", lambda *_: {**well, "status": "degraded", "why": ["the disk is full"]})
    done = run("status")
    assert done.code == 1 and "! the disk is full" in done.out
    monkeypatch.undo()
    assert run("status", "--home", str(home.parent / "other"), "--json").code == 2


def test_what_a_person_is_asked_is_told_with_its_command(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    well = server.ask("GET", "api/status")
    assert well["asked"] == [] and "wait for you" not in run("status").out
    asked = [{"text": "2 facts cite code that is gone from loom", "command": "palimpsest gone --project loom"}]
    monkeypatch.setattr(RunningServer, "ask", lambda *_: {**well, "asked": asked})
    assert "2 facts cite code that is gone from loom: palimpsest gone --project loom" in run("status").out


def test_what_memory_did_is_summed_up(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    told = server.ask("GET", "api/status", {"days": 7})
    assert told["sums"]["days"] == 7 and told["sums"]["requests"] == 0 and told["sums"]["saved"] is None
    sums = told["sums"] | {"requests": 40, "added": 1234, "shown": 1, "shorter": 90_000, "sheds": 2, "input": 100_000}
    sums |= {"cache": 0.87, "saved": 0.6, "spent": 0.02, "lost": 0.1, "net": 0.48, "priced": 39, "degraded": 3}
    monkeypatch.setattr(RunningServer, "ask", lambda *_: {**told, "sums": sums})
    out = " ".join(run("status", "--days", "7").out.split())
    assert "in the last 7 days requests 40 added 1,234 tokens, 1 memory recalled" in out
    assert "not sent 90,000 tokens, by 2 sheds from the cache 87% of 100,000 tokens" in out
    assert "saved about $0.4800, an estimate" in out and "$0.1000 lost by cache breaks" in out
    assert "of the 39 requests" in out and "degraded 3" in out
    sums["net"] = -0.00004
    monkeypatch.setattr(RunningServer, "ask", lambda *_: {**told, "sums": sums})
    assert "saved nothing that would show, an estimate:" in " ".join(run("status").out.split())


def test_the_log_of_a_server_that_nobody_asked_is_empty(server: RunningServer) -> None:
    assert run("log", "--json").json == {"receipts": []}
    assert "no request" in run("log").out


def test_a_log_in_a_pipe_has_a_line_for_each_request(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    line: dict[str, Any] = {"id": "0123456789", "at": "2026-03-04T15:30:00+00:00", "kind": "main", "model": "m" * 60}
    line |= {"status": "ok, " * 40, "page_tokens": 1, "recall_tokens": 1, "milliseconds": 1.0}
    monkeypatch.setattr(RunningServer, "ask", lambda *_: {"receipts": [line]})
    assert len(run("log").out.splitlines()) == 3
    monkeypatch.delenv("COLUMNS")
    assert len(run("log").out.splitlines()) == 2


@pytest.mark.parametrize(
    "command", [("config",), ("status",), ("facts",), ("log", "0123"), ("fact", "FACT"), ("demo",)]
)
def test_what_goes_into_a_pipe_is_neither_wrapped_nor_padded(
    server: RunningServer, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS")
    text = "The harbour " + "of the old town " * 20 + "opens at nine"
    id = run("remember", text, "--json").json["id"]
    if command == ("log", "0123"):
        line: dict[str, Any] = {"id": "0123456789", "status": text, "shown": [], "steps": {}}
        monkeypatch.setattr(RunningServer, "ask", lambda *_: line)
    lines = run(*(id if each == "FACT" else each for each in command)).out.splitlines()
    assert [line for line in lines if line.rstrip() != line or len(line) > 800] == []
    wanted = {"config": "server.limits.requests_per_minute", "status": "embedder", "demo": "The first session"}
    assert any(wanted.get(command[0], text) in line for line in lines)


def test_config_prints_every_setting_and_its_source(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("memory: {qdrant: {api_key: hush, url: 'http://127.0.0.1:6333'}}\n")
    monkeypatch.setenv("PALIMPSEST__MEMORY__RECALL__TOKENS", "123")
    rows = {row["key"]: row for row in run("config", "--json").json["settings"]}
    assert rows["memory.recall.tokens"] == {
        "key": "memory.recall.tokens",
        "value": 123,
        "source": "PALIMPSEST__MEMORY__RECALL__TOKENS",
    }
    assert rows["memory.qdrant.url"]["source"] == str(home / "config.yaml")
    told = run("config").out
    assert "hush" not in str(rows) and "hush" not in told and "memory.page.tokens" in told


def test_config_of_a_running_server_is_the_servers(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST__MEMORY__RECALL__TOKENS", "123")
    told = run("config", "--json").json
    assert told["running"]
    assert {row["key"]: row["value"] for row in told["settings"]}["memory.recall.tokens"] == 600


def test_all_faults_of_the_settings_are_told_at_once(home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("server: {port: 99999}\nmemry: 1\n")
    done = run("config")
    # The environment's port stands over the file's.
    assert done.code == 2 and "memry" in done.err and "Traceback" not in done.err


def test_the_version_is_printed() -> None:
    assert run("version").out.strip() == run("version", "--json").json["version"] != ""


def test_pause_and_resume(server: RunningServer) -> None:
    assert "paused" in run("pause").out
    assert run("status", "--json").json["memory"] == "paused"
    assert run("resume", "--json").json == {"paused": False}


def test_the_index_is_filled_anew_and_the_embedder_changed(server: RunningServer, home: Path) -> None:
    run("remember", "The harbour opens at nine")
    assert "1 memory" in run("reindex").out
    assert "static" in run("embedder", "show").out
    assert "is used now" in run("embedder", "use", "static").out
    assert (home / "embedder").read_text() == "static\n"
    assert "nine" in run("search", "harbour").out
    refused = run("embedder", "use", "magic")
    assert refused.code == 1 and "there are: static, minilm" in refused.err
    failed = run("embedder", "use", "fastembed:nothing/here")
    assert failed.code == 1 and "the index in use stays" in failed.err
