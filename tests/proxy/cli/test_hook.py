"""``palimpsest hook``: clients that only take hooks are given page and recall, and what is said there is learnt."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from proxy.cli import hook as command
from proxy.cli.hook import answer_of, event_of
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.cli.running import run
from tests.running import running

LESSON = "The staging gateway listens on port 7443 behind the reverse proxy."
QUESTION = "On which port does the staging gateway listen?"

CURSOR = {"conversation_id": "c-1", "generation_id": "g", "cursor_version": "2.4", "workspace_roots": ["/w/gate"]}
CLAUDE = {"session_id": "s-1", "cwd": "/w/gate", "transcript_path": "/t"}
SURF = {"trajectory_id": "t-1", "execution_id": "e", "timestamp": "2026-01-01T00:00:00Z"}

SAID: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "cursor",
        {**CURSOR, "hook_event_name": "beforeSubmitPrompt", "prompt": "P"},
        {**CURSOR, "hook_event_name": "afterAgentResponse", "text": "R"},
    ),
    (
        "claude",
        {**CLAUDE, "hook_event_name": "UserPromptSubmit", "prompt": "P"},
        {**CLAUDE, "hook_event_name": "Stop", "last_assistant_message": "R"},
    ),
    (
        "gemini",
        {**CLAUDE, "hook_event_name": "BeforeAgent", "prompt": "P"},
        {**CLAUDE, "hook_event_name": "AfterAgent", "prompt": "P", "prompt_response": "R"},
    ),
    (
        "windsurf",
        {**SURF, "agent_action_name": "pre_user_prompt", "tool_info": {"user_prompt": "P"}},
        {**SURF, "agent_action_name": "post_cascade_response", "tool_info": {"response": "R"}},
    ),
    (
        "plain",
        {"event": "prompt", "session": "p-1", "text": "P", "directory": "/w/gate"},
        {"event": "reply", "session": "p-1", "text": "R", "directory": "/w/gate"},
    ),
]


@pytest.mark.parametrize(("client", "prompt", "reply"), SAID, ids=[each[0] for each in SAID])
def test_what_each_client_tells_is_read(client: str, prompt: dict[str, Any], reply: dict[str, Any]) -> None:
    asked, answered = event_of(prompt, "/here"), event_of(reply, "/here")
    assert (asked.client, asked.what, asked.text) == (client, "prompt", "P")
    assert (answered.client, answered.what, answered.text) == (client, "reply", "R")
    assert asked.session == answered.session != ""
    assert asked.directory == ("/here" if client == "windsurf" else "/w/gate")


def test_what_each_client_reads_is_told() -> None:
    answers = {client: answer_of(event_of(prompt, ""), "T") for client, prompt, _ in SAID}
    assert answers == {
        "cursor": {"continue": True},
        "claude": {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "T"}},
        "gemini": {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "T"}},
        "windsurf": None,
        "plain": {"text": "T"},
    }
    used = event_of({**CURSOR, "hook_event_name": "postToolUse", "tool_name": "Read"}, "")
    assert used.what == "context" and answer_of(used, "T") == {"additional_context": "T"} and answer_of(used, "") == {}
    tool = event_of({"conversationId": "a", "workspacePaths": ["/w"], "toolCall": {"name": "run_command"}}, "")
    assert tool.what == "" and answer_of(tool, "") == {"decision": "allow"}
    assert event_of({}, "").what == "" and answer_of(event_of({}, ""), "") == {}


@pytest.mark.parametrize("client", ["cursor", "claude", "windsurf"])
async def test_what_is_said_in_one_session_is_given_in_the_next(
    tmp_path: Path, client: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:
        ask = asking(proxy)

        def said(event: str, session: str, text: str = "", **more: Any) -> dict[str, Any]:
            told = {"client": client, "session": session, "event": event, "directory": "/w/gate", **more}
            return {**told, "text": text} if text else told

        first = await ask("POST", "api/hook", said("prompt", "one", LESSON))
        assert first["text"] == ""
        assert await ask("POST", "api/hook", said("reply", "one", "I see.")) == {"journaled": True}
        assert await ask("POST", "api/hook", said("reply", "one", "And more.")) == {"journaled": False}
        await proxy.learned()
        second = await ask("POST", "api/hook", said("prompt", "two", QUESTION, later=client == "cursor"))
        if client == "cursor":
            assert second["text"] == ""
            second = await ask("POST", "api/hook", said("context", "two"))
            assert (await ask("POST", "api/hook", said("context", "two")))["text"] == ""
        assert "7443" in second["text"] and second["text"].startswith("<")
        third = await ask("POST", "api/hook", said("prompt", "two", "Thank you, that will be all for this day."))
        assert third["text"] == ""
        other = await ask("POST", "api/hook", said("prompt", "three", QUESTION, directory="/w/other"))
        assert "7443" not in other["text"]
        await ask("POST", "api/hook", said("sing", "two"), status=422)
        assert provider.requests == []
        assert "window" not in caplog.text, "the client's name was taken for a model's"


async def test_the_command_asks_the_server_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:
        monkeypatch.setattr(command, "running", lambda settings: asking_server)
        ask, loop = asking(proxy), asyncio.get_running_loop()

        class asking_server:
            @staticmethod
            def ask(method: str, path: str, query: Any, said: dict[str, Any], seconds: float) -> Any:
                return asyncio.run_coroutine_threadsafe(ask(method, path, said), loop).result(30)

        def hooked(told: dict[str, Any]) -> str:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(told).encode())))
            command.hook(home=tmp_path / "home")
            return capsys.readouterr().out

        prompt = {**CLAUDE, "hook_event_name": "UserPromptSubmit"}
        assert await asyncio.to_thread(hooked, {**prompt, "prompt": LESSON}) == "{}\n"
        await asyncio.to_thread(hooked, {**CLAUDE, "hook_event_name": "Stop", "last_assistant_message": "I see."})
        await proxy.learned()
        told = json.loads(await asyncio.to_thread(hooked, {**prompt, "session_id": "s-2", "prompt": QUESTION}))
        assert "7443" in told["hookSpecificOutput"]["additionalContext"]


def test_it_never_blocks_whatever_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_HOME", str(tmp_path / "home"))
    done = run("hook", stdin=json.dumps({**CLAUDE, "hook_event_name": "UserPromptSubmit", "prompt": "Hello"}))
    assert (done.code, done.out) == (0, "{}\n") and "no palimpsest server" in done.err
    done = run("hook", stdin="no JSON")
    assert (done.code, done.out) == (0, "{}\n") and "no JSON" in done.err
