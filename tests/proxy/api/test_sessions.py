"""Where sessions stand: what a client's own history has grown to, what of it is forwarded, and that as a view."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memory.conversation import Form
from memory.edits import Act, ContentTier, Entry
from memory.services.sessions.live import LiveSession
from proxy.wire.openai_chat import OpenAIChat
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import Asking, asking
from tests.proxy.api.test_sheds import turn
from tests.running import Running, running

ASKED = [{"role": "user", "content": "Look at the files."}]
WINDOW = {"memory.default_window": 1500, "memory.shedding.reserve": 100, "memory.shedding.enabled": False}


async def test_a_session_that_is_shed_is_larger_for_its_client_than_what_is_forwarded(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home", **WINDOW) as proxy:
        ask = asking(proxy)
        messages = [*ASKED, *turn(1), *turn(2)]
        await _sent(proxy, messages)
        live = await _live(proxy)
        # What was read in two steps is put in short: the next request is forwarded so, whatever would be planned.
        for message in OpenAIChat().read(provider.last.body, lambda text: text).conversation.messages[2::2]:
            shed = Entry(message.digest, 0, "in short", Form.SUFFIX, "shed", act=Act.REPLACE, tier=ContentTier.L1)
            assert live.decide([shed]) == [shed]
        await _sent(proxy, [*messages, *turn(3)])
        [told] = (await ask("GET", "api/sessions?shed=true"))["sessions"]
        assert told["tokens"] < told["window"] < told["own"] and told["too_large"]
        assert (await ask("GET", "api/status"))["shed"] == [told]
        view = await ask("GET", f"api/sessions/{told['id']}")
        forwarded = OpenAIChat().read(provider.last.body, lambda text: text).conversation.messages
        assert [_said(each) for each in view["messages"]] == [
            (message.role.value, message.text + "".join(result.text for result in message.results))
            for message in forwarded
        ]
        assert view["shortened"] == 2


async def test_a_session_that_fits_is_not_being_shed(proxy: Running, ask: Asking) -> None:
    await proxy.chat("Hello there", session="s1")
    await proxy.learned()
    [told] = (await ask("GET", "api/sessions"))["sessions"]
    assert 0 < told["tokens"] <= told["window"] and not told["shed"] and not told["too_large"]
    assert told["own"] <= told["tokens"] and told["project"] == "loom"
    assert (await ask("GET", "api/sessions?shed=true"))["sessions"] == []
    assert (await ask("GET", f"api/sessions?runtime={told['runtime']}"))["sessions"] == [told]
    assert (await ask("GET", "api/sessions?runtime=cline"))["sessions"] == []
    assert (await ask("GET", "api/status"))["shed"] == []


async def test_a_view_has_the_ledgers_edits_and_the_reply(proxy: Running, ask: Asking) -> None:
    await _sent(proxy, [*ASKED, *turn(1), *turn(2)])
    assert proxy.edge.memory is not None
    journal = proxy.edge.memory.journal
    [(session, _)] = await journal.latest(1)
    [kept] = await journal.turns("u:/local", session.id)
    short, cut = kept.messages[4].message, kept.messages[3].message
    await journal.enter(
        session,
        [
            Entry(short.digest, 0, "in short", Form.SUFFIX, "shed", act=Act.REPLACE, tier=ContentTier.L1),
            Entry(cut.digest, 0, "\nWhat was before.", Form.SUFFIX, "rotate", act=Act.CUT),
        ],
    )
    told = await ask("GET", "api/sessions/session-1")
    assert [each["role"] for each in told["messages"]] == ["user", "assistant", "tool"]
    assert told["messages"][0]["content"].endswith("What was before.")
    assert told["messages"][2] == {"role": "tool", "tool_call_id": "c2", "content": "in short"}
    assert told["reply"] == [{"role": "assistant", "content": "OK."}]
    assert (told["left"], told["shortened"], told["redacted"], told["forgotten"]) == (2, 1, 0, 0)


async def test_what_cannot_be_told_is_refused(ask: Asking) -> None:
    assert "there is no session" in (await ask("GET", "api/sessions/unknown", status=404))["error"]
    assert "limit" in (await ask("GET", "api/sessions?limit=0", status=422))["error"]
    assert "characters" in (await ask("GET", f"api/sessions?runtime={'x' * 101}", status=422))["error"]


async def _sent(proxy: Running, messages: list[dict[str, Any]]) -> None:
    body = {"model": "m", "messages": messages}
    status, reply, _ = await proxy.post("/v1/chat/completions", body, x_session_id="session-1")
    assert status == 200, reply
    await proxy.learned()


async def _live(proxy: Running) -> LiveSession:
    assert proxy.edge.memory is not None
    [(session, _)] = await proxy.edge.memory.journal.latest(1)
    live = proxy.edge.memory.session_matcher.get(session.id)
    assert live is not None
    return live


def _said(message: dict[str, Any]) -> tuple[str, str]:
    content = message["content"]
    texts = content if isinstance(content, list) else [{"text": content or ""}]
    return message["role"], "".join(part["text"] for part in texts)
