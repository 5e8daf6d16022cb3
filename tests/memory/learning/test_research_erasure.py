"""What of a parent's message goes with a research, and what stays."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson

from memory.conversation import Message, Part, Role, Text, ToolCall, ToolResult, digest
from memory.learning.research_erasure import FORGOTTEN, NO_ARGUMENTS, going, mentions_research, struck
from memory.research import Research

AT = datetime(2026, 3, 1, tzinfo=UTC)
QUESTION = "Find out who calls `retry_payment`, and in which order."
REPORT = "It is called by `settle` and then by `refund`, in billing/settle.py.\nNobody else calls it at all."
GONE = going(Research("1", "p", "u", QUESTION, AT, AT, call="c1", description="Look at retries", reports=(REPORT,)), [])


def message(*parts: Part, role: Role = Role.ASSISTANT) -> Message:
    return Message(role, parts, digest(role, parts))


def call(id: str, **arguments: object) -> ToolCall:
    return ToolCall(id, "task", orjson.dumps(arguments).decode())


def test_only_the_call_that_sent_it_out_is_struck() -> None:
    said = message(Text("Two of them."), call("c1", prompt=QUESTION), call("c2", prompt="Read the whole ledger."))
    assert struck(said, GONE) == {1: ToolCall("c1", "task", NO_ARGUMENTS)}
    assert not mentions_research(said, GONE)


def test_a_call_under_another_id_is_known_by_its_question() -> None:
    assert struck(message(call("x9", prompt="  " + QUESTION.replace(" ", "\n"))), GONE)
    assert not struck(message(call("x9", prompt="Find out who calls somebody else.")), GONE)


def test_of_several_errands_in_one_call_the_others_stay() -> None:
    others = {"prompt": "Read the whole ledger and sum it up.", "label": "Sum the ledger"}
    [left] = struck(
        message(call("c1", tasks=[{"prompt": QUESTION, "label": "Look at retries"}, others])), GONE
    ).values()
    assert isinstance(left, ToolCall)
    assert orjson.loads(left.arguments) == {"tasks": [{"prompt": FORGOTTEN, "label": FORGOTTEN}, others]}


def test_arguments_that_are_no_json_go_whole() -> None:
    assert struck(message(ToolCall("c1", "task", "{" + QUESTION)), GONE) == {0: ToolCall("c1", "task", NO_ARGUMENTS)}


def test_a_report_is_struck_however_it_is_framed() -> None:
    framed = "<task_result>\n  " + REPORT.replace("\n", "\n  ") + "\n</task_result>"
    back = message(ToolResult("c7", (Text(framed),)), ToolResult("c2", (Text("42"),)), role=Role.TOOL)
    assert struck(back, GONE) == {0: ToolResult("c7", (Text(FORGOTTEN),))}
    assert mentions_research(message(Text(f"Done. {REPORT}"), role=Role.USER), GONE)
    assert not mentions_research(message(Text("Who calls it?"), role=Role.USER), GONE)
