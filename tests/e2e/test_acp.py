"""A client that is spoken to by the Agent Client Protocol."""

from __future__ import annotations

import io
import json

import pytest

from tests.e2e.acp import Agent, Refused


def _lines(*messages: dict[str, object]) -> io.StringIO:
    return io.StringIO("".join(f"{json.dumps(each)}\n" for each in messages))


def test_what_it_asks_is_answered_and_what_it_says_is_heard() -> None:
    options = [{"optionId": "no", "kind": "reject_once"}, {"optionId": "yes", "kind": "allow_once"}]
    say = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hel"}}
    think = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "Hm."}}
    reads = _lines(
        {"id": 7, "method": "session/request_permission", "params": {"options": options}},
        {"id": 8, "method": "fs/read_text_file", "params": {}},
        {"method": "session/update", "params": {"update": say}},
        {"method": "session/update", "params": {"update": think}},
        {"id": 1, "result": {"stopReason": "end_turn"}},
    )
    writes = io.StringIO()
    agent = Agent(reads, writes)

    assert agent.ask("session/prompt", prompt=[]) == {"stopReason": "end_turn"}
    assert agent.said == "Hel"
    asked, permitted, refused = map(json.loads, writes.getvalue().splitlines())
    assert asked["method"] == "session/prompt"
    assert permitted["result"] == {"outcome": {"outcome": "selected", "optionId": "yes"}}
    assert refused["id"] == 8 and "error" in refused


@pytest.mark.parametrize("messages", [[], [{"id": 1, "error": {"message": "no such session"}}]])
def test_an_error_and_an_end_are_told(messages: list[dict[str, object]]) -> None:
    with pytest.raises(Refused):
        Agent(_lines(*messages), io.StringIO()).ask("session/load")
