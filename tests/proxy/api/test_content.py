"""Contents by their handles, through the real proxy: whole, in a lower tier, pinned, refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory.conversation import Conversation, Message, Reply, Role, Text, ToolResult, Usage, digest
from memory.edits import handle
from memory.ports import Overview
from memory.scope import Scope
from memory.session import Arrival, Exchange, Receipt, RequestKind, Session, Shed
from tests.proxy.api.asking import Asking
from tests.running import Running

LONG = "line of a log\n" * 100


def name_of(text: str) -> str:
    return handle(digest(Role.USER, (Text(text),)), 0)


@pytest.fixture
async def name(proxy: Running) -> str:
    await proxy.chat(LONG)
    await proxy.learned()
    assert proxy.edge.memory is not None
    await proxy.edge.memory.tier_worker.catch_up()
    return name_of(LONG)


async def test_a_content_is_given_whole_and_in_a_lower_tier(ask: Asking, proxy: Running, name: str) -> None:
    whole = await ask("GET", f"api/content/{name}")
    assert (whole["text"], whole["tier"], whole["handle"], whole["kind"]) == (LONG, "L2", name, "text")
    assert proxy.edge.memory is not None
    made = Overview(300, "a log", "line of a log\n…", 5)
    await proxy.edge.memory.journal.write_overviews(0, "u:/local", {(digest(Role.USER, (Text(LONG),)), 0): made})
    assert (await ask("GET", f"api/content/{name}?tier=L0"))["text"] == "a log"
    assert (await ask("GET", f"api/content/{name}?tier=l1"))["text"] == made.text
    assert (await ask("GET", f"api/content/%23{name}?tier=L2"))["tokens"] == 300


async def test_a_result_that_came_through_the_proxy_has_its_lower_tiers_afterwards(ask: Asking, proxy: Running) -> None:
    log = "\n".join(f"step {n}: compiled module_{n}.c in {n} ms" for n in range(200)) + "\nerror: no rule for heron.o"
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "make heron"}'}}
    messages = [
        {"role": "user", "content": "build it"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": log},
    ]
    await proxy.post("/v1/chat/completions", {"model": "m", "messages": messages}, x_session_id="s1")
    await proxy.learned()
    assert proxy.edge.memory is not None
    await proxy.edge.memory.tier_worker.catch_up()
    name = handle(digest(Role.TOOL, (ToolResult("c1", (Text(log),)),)), 0)
    line, overview, whole = [await ask("GET", f"api/content/{name}?tier={tier}") for tier in ("L0", "L1", "L2")]
    assert whole["text"] == log
    assert "module_1.c" in overview["text"]
    assert len(overview["text"]) <= len(log) / 5
    assert "\n" not in line["text"]
    assert (line["tier"], overview["tier"]) == ("L0", "L1")


async def test_what_is_wrong_with_a_handle_is_said(ask: Asking, name: str) -> None:
    assert "is no handle" in (await ask("GET", "api/content/nonsense", status=422))["error"]
    assert "there is no content" in (await ask("GET", "api/content/000000000000.0", status=404))["error"]
    assert "has 1 parts" in (await ask("GET", f"api/content/{name[:-1]}7", status=404))["error"]
    assert "one of L0, L1, L2" in (await ask("GET", f"api/content/{name}?tier=L3", status=422))["error"]
    assert "pinned is missing" in (await ask("PATCH", f"api/content/{name}", {}, status=422))["error"]
    assert "is no handle" in (await ask("PATCH", "api/content/x", {"pinned": True}, status=422))["error"]


async def test_another_user_and_a_caller_without_the_token_get_nothing(ask: Asking, proxy: Running, name: str) -> None:
    assert "there is no content" in (await ask("GET", f"api/content/{name}?user=eve", status=404))["error"]
    await ask("PATCH", f"api/content/{name}?user=eve", {"pinned": True}, status=404)
    stranger = replace(ask, token="")
    assert "token" in (await stranger("GET", f"api/content/{name}", status=401))["error"]
    await ask("GET", f"api/content/{name}", status=403, Origin="https://evil.test")
    await ask("GET", f"api/content/{name}", status=403, Host="evil.test")


async def test_a_content_is_pinned_and_let_go(ask: Asking, proxy: Running, name: str) -> None:
    assert proxy.edge.memory is not None
    journal = proxy.edge.memory.journal
    [receipt] = await journal.receipts(1)
    assert await ask("PATCH", f"api/content/{name}", {"pinned": True}) == {"handle": name, "pinned": True}
    assert await journal.pinned(receipt.session) == {name}
    await ask("PATCH", f"api/content/{name}", {"pinned": False})
    assert await journal.pinned(receipt.session) == frozenset()


async def test_the_log_tells_of_a_shed_what_was_expected_and_what_was_seen(ask: Asking, proxy: Running) -> None:
    await journal_a_shed(proxy, "claude-sonnet-4-5")
    told = await ask("GET", "api/log/r-shed")
    assert told["shed"]["removed"] == 40_000
    assert told["shed"]["parts"] == ["0a1b2c3d4e5f.0 a log"]
    assert [usage["cached"] for usage in told["seen"]["requests"]] == [20_000, 49_000]
    assert isinstance(told["seen"]["saved"], float)
    (listed,) = [each for each in (await ask("GET", "api/log"))["receipts"] if each["id"] == "r-shed"]
    assert listed["shed"]["parts"] == 1
    assert (await ask("GET", "api/log/r-next"))["seen"] is None


async def test_of_a_model_without_a_price_no_money_is_told(ask: Asking, proxy: Running) -> None:
    await journal_a_shed(proxy, "nobody-knows-this")
    told = await ask("GET", "api/log/r-shed")
    assert told["seen"]["saved"] is None
    assert len(told["seen"]["requests"]) == 2


async def journal_a_shed(proxy: Running, model: str) -> None:
    """Two turns of a session, at the first of which something was shed."""
    assert proxy.edge.memory is not None
    journal = proxy.edge.memory.journal
    at, scope = datetime(2026, 3, 4, 15, 30, tzinfo=UTC), Scope(user="local", project="loom")
    session = Session("s-shed", "ns:s-shed", scope, "codex", at, at)
    shed = Shed("fold", "78 % of the window", 40_000, 30_000, True, 0.4, ("0a1b2c3d4e5f.0 a log",))
    for id, cached, what in (("r-shed", 20_000, shed), ("r-next", 49_000, None)):
        message = Message(Role.USER, (Text(id),), digest(Role.USER, (Text(id),)), id)
        receipt = Receipt(id, at, session.id, RequestKind.MAIN, "ok", model, tokens=50_000, window=64_000, shed=what)
        await journal.commit(
            Exchange(
                id,
                session,
                Arrival(scope, RequestKind.MAIN, "codex", "ns", at),
                Conversation("openai-chat", model, (message,)),
                Reply((Text("ok"),), "stop", Usage(50_000, 10, cached), True),
                200,
                receipt,
            )
        )
