"""Sessions that are larger than their window: shown in the status, warned of at `connect --undo`, taken along."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memory.conversation import Conversation, Form, Message, Reply, Role, Text, ToolCall, ToolResult, digest
from memory.edits import Act, ContentTier, Entry
from memory.scope import Scope
from memory.session import Arrival, Exchange, Receipt, RequestKind, Session
from memory.stores.journal import SqliteJournal
from proxy.cli.server import RunningServer
from proxy.cli.sessions import SHOWN, line, warnings
from tests.memory.stores.derived_facts import AT
from tests.proxy.cli.running import run

LOCAL = Scope(user="local", project="loom")
LARGE = "0a1b2c3d-large"
SMALL = "0a1b2c3d-small"


def said(role: Role, *parts: Text | ToolCall | ToolResult) -> Message:
    return Message(role, parts, digest(role, parts), parts[0].text if isinstance(parts[0], Text) else "")


MESSAGES = (
    said(Role.USER, Text("Read the log.")),
    said(Role.ASSISTANT, ToolCall("c1", "read", '{"path": "log"}')),
    said(Role.TOOL, ToolResult("c1", (Text("line\n" * 500),))),
)


pytestmark = pytest.mark.usefixtures("person")


@pytest.fixture(autouse=True)
def journaled(home: Path, person: Path) -> None:
    """Codex has a session that is shed and one that fits, before the server opens the stores."""

    async def write() -> None:
        journal = SqliteJournal(home / "journal.db", lambda text: text)
        for id, tokens, saved in ((LARGE, 50_000, 40_000), (SMALL, 300, -20)):
            session = Session(id, f"ns:codex:thread-{id[-5:]}", LOCAL, "codex", AT, AT + timedelta(seconds=tokens))
            arrival = Arrival(LOCAL, RequestKind.MAIN, "codex", "ns", session.seen_at)
            receipt = Receipt(f"r-{id}", AT, id, RequestKind.MAIN, "ok", "gpt", tokens=tokens, window=64_000)
            view = Conversation("openai-chat", "gpt", MESSAGES)
            reply = Reply((Text("It failed."),), "stop", None, True)
            told = replace(receipt, saved=saved)
            await journal.commit(Exchange(f"e-{id}", session, arrival, view, reply, 200, told))
            if saved > 0:
                shed = ("[500 lines]", Form.SUFFIX, "shed fold")
                page = ("\nremembered", Form.SUFFIX, "page")
                await journal.enter(
                    session,
                    [
                        Entry(MESSAGES[2].digest, 0, *shed, act=Act.REPLACE, tier=ContentTier.L1),
                        Entry(MESSAGES[0].digest, 0, *page),
                    ],
                )
        await journal.close()

    asyncio.run(write())


@pytest.fixture
def connected(person: Path) -> Path:
    assert run("connect", "codex", "--write", "--yes").code == 0
    return person / ".codex" / "config.toml"


def test_the_status_shows_what_is_being_shed(server: RunningServer) -> None:
    out = run("status").out
    assert "being shed" in out and "50,000 of 64,000 tokens (78%)" in out
    assert "the client's own history has 90,000" in out and "loom" in out
    [told] = run("status", "--json").json["shed"]
    assert (told["id"], told["own"], told["too_large"]) == (LARGE, 90_000, True)


def test_undoing_warns_of_sessions_that_do_not_fit_without_us(server: RunningServer, connected: Path) -> None:
    done = run("connect", "codex", "--undo", "--yes")
    assert done.code == 0 and "put back" not in done.err and not connected.exists()
    assert "1 session has a history that is larger" in done.err
    assert LARGE[:8] in done.err and "export-session" in done.err
    assert "300 of" not in done.err


def test_undoing_says_it_to_programs_too_and_where_no_server_runs(connected: Path) -> None:
    told = run("connect", "codex", "--undo", "--json").json
    assert [each["id"] for each in told["too_large"]] == [LARGE]
    assert told["unknown"] == ""


def test_other_runtimes_sessions_are_not_warned_of(server: RunningServer) -> None:
    assert run("connect", "qwen", "--write", "--yes").code == 0
    assert run("connect", "qwen", "--undo", "--yes").err == ""


def test_undoing_goes_on_where_memory_cannot_be_asked(connected: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST__MEMORY__MODE", "off")
    done = run("connect", "codex", "--undo", "--yes")
    assert done.code == 0 and "could not be found out" in done.err and not connected.exists()


@pytest.mark.parametrize("name", [LARGE, LARGE[:10], "thread-large"])
def test_a_session_is_written_as_it_was_forwarded(name: str, server: RunningServer, tmp_path: Path) -> None:
    file = tmp_path / "session.json"
    done = run("export-session", name, "--out", str(file))
    assert done.code == 0 and f"written: {file}, 3 messages" in done.out
    assert "1 contents stand there in short" in done.out and "no client's own bytes" in done.err
    assert file.stat().st_mode & 0o777 == 0o600
    told = json.loads(file.read_text())
    assert (told["session"], told["dialect"], told["runtime"], told["project"]) == (
        LARGE,
        "openai-chat",
        "codex",
        "loom",
    )
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": "log"}'}}
    assert told["messages"] == [
        {"role": "user", "content": "Read the log.\nremembered"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "[500 lines]"},
    ]
    assert told["reply"] == [{"role": "assistant", "content": "It failed."}]
    again = run("export-session", name, "--out", str(file))
    assert again.code == 1 and "is there already" in again.err


def test_a_session_is_printed_where_no_file_is_named(server: RunningServer) -> None:
    assert run("export-session", LARGE, "--json").json == json.loads(run("export-session", LARGE).out)


def test_a_session_that_is_not_there_or_not_one_is_said(server: RunningServer, tmp_path: Path) -> None:
    assert "there is no session" in run("export-session", "nothing").err
    assert "there is no session" in run("export-session", LARGE, "--user", "eve").err
    assert "there is no session" in run("export-session", "0a1").err
    assert "2 ids or more" in run("export-session", "0a1b2c3d").err
    assert "cannot be written" in run("export-session", LARGE, "-o", str(tmp_path / "no" / "x.json")).err


def test_the_servers_command_and_the_window_are_said_on_the_command_line(home: Path) -> None:
    done = run("connect", "cline", "--window", "10000", "--with-mcp", "--project", "p")
    assert '"contextWindow": 40000' in done.out
    assert json.dumps(str(home)) in done.out and '"--project"' in done.out
    for runtime in ("claude", "aider"):
        assert run("connect", runtime, "--with-mcp").code == 2


def test_a_long_list_of_sessions_is_cut() -> None:
    each = {
        "id": LARGE,
        "runtime": "codex",
        "project": None,
        "model": "gpt",
        "segment": 2,
        "tokens": 50,
        "own": 900,
        "window": 100,
    }
    assert "segment 3" in line(each)
    told = warnings([each] * (SHOWN + 2))
    assert f"{SHOWN + 2} sessions have" in told[0] and any("and 2 more" in line for line in told)
    assert warnings([]) == []
