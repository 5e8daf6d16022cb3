"""Whether sub-agents are about: by the errands that are given and by the sessions that come."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memory.conversation import Conversation, Message, Reply, Role, Text, ToolCall, ToolResult
from memory.scope import Scope
from memory.services.sessions.subagent_detection import ABOUT, RecentErrands
from memory.session import Arrival, Prepared, Receipt, RequestKind, Session

AT = datetime(2026, 3, 4, tzinfo=UTC)
SCOPE = Scope(None, "ada", "loom")
ARRIVAL = Arrival(SCOPE, RequestKind.MAIN, "codex", "n", AT)
SESSION = Session("s", "k", SCOPE, "codex", AT, AT)
ASKED = Conversation("", "", (Message(Role.USER, (Text("Find the parser."),), b"q"),))
PREPARED = Prepared(SESSION, ARRIVAL, (), Receipt("r", AT, "s", RequestKind.MAIN, ""))


def test_at_first_none_is_about() -> None:
    assert not RecentErrands().about(AT)


@pytest.mark.parametrize(("tool", "about"), [("task", True), ("read", False)])
def test_one_is_about_once_it_was_sent_out(tool: str, about: bool) -> None:
    spawned = RecentErrands()
    spawned.note_calls(PREPARED, Reply((Text("Looking."), ToolCall("c", tool, '{"prompt": "Find the parser."}'))))
    assert spawned.about(AT) is about


@pytest.mark.parametrize(
    ("arriving", "session", "about"),
    [
        (RequestKind.SUBAGENT, RequestKind.MAIN, True),
        (RequestKind.MAIN, RequestKind.SUBAGENT, True),
        (RequestKind.MAIN, RequestKind.MAIN, False),
    ],
)
def test_one_is_about_whose_request_comes(arriving: RequestKind, session: RequestKind, about: bool) -> None:
    spawned = RecentErrands()
    spawned.arrived(replace(ARRIVAL, kind=arriving), replace(SESSION, kind=session), None, ASKED)
    assert spawned.about(AT) is about


def test_one_that_was_heard_of_long_ago_is_about_no_more() -> None:
    spawned = RecentErrands()
    spawned.arrived(replace(ARRIVAL, kind=RequestKind.SUBAGENT), SESSION, None, ASKED)
    assert spawned.about(AT + ABOUT / 2)
    assert not spawned.about(AT + ABOUT)


@pytest.mark.parametrize(("tool", "about"), [("task", True), ("read", False)])
def test_one_is_about_that_reports_though_it_never_passed(tool: str, about: bool) -> None:
    spawned = RecentErrands()
    call = ToolCall("c", tool, '{"prompt": "Find the parser."}')
    handed = Message(Role.TOOL, (ToolResult("c", (Text("It is in parse.py."),)),), b"t")
    told = replace(ASKED, messages=(*ASKED.messages, Message(Role.ASSISTANT, (call,), b"a"), handed))
    spawned.arrived(ARRIVAL, SESSION, None, told)
    assert spawned.about(AT) is about
