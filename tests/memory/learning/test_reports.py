"""A report is known again however it comes back, and an acknowledgement is none."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.learning.reports import acknowledges, delivery, fails, promised, report_of, unframed
from memory.research import Delivery

REPORT = """# Hooks

- `stop` fires "once" per turn & agent
- it reads <stdin> in hooks/stop.go:42
	indented code
"""


def indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


FRAMES = {
    "bare": REPORT,
    "opencode": f'<task id="ses_1" state="completed">\n<task_result>\n{REPORT}\n</task_result>\n</task>',
    "claude": f"[Subagent hand-back]\n{indented(REPORT)}\nagentId: a0755\n<usage>total_tokens: 812</usage>",
    "claude, later": f"<task-notification><tool-use-id>t1</tool-use-id><result>{REPORT}</result></task-notification>",
    "codex": orjson.dumps({"status": {"019a": {"completed": REPORT}}}).decode(),
    "codex, again": f"<subagent_notification>{orjson.dumps({'completed': REPORT}).decode()}</subagent_notification>",
    "gemini": "Subagent 'generalist' finished.\nTermination Reason: GOAL\nResult:\n"
    + orjson.dumps({"response": REPORT}, option=orjson.OPT_INDENT_2).decode(),
    "cline": orjson.dumps({"text": REPORT, "iterations": 2, "finishReason": "stop", "usage": {"total": 9}}).decode(),
}


@pytest.mark.parametrize("frame", FRAMES)
def test_a_framed_report_is_the_same_report(frame: str) -> None:
    assert "Termination" not in unframed(FRAMES[frame])
    assert delivery(REPORT, FRAMES[frame]) is Delivery.WHOLE
    assert delivery(REPORT, unframed(FRAMES[frame])) is Delivery.WHOLE
    assert not acknowledges(FRAMES[frame])


@pytest.mark.parametrize(
    "ack",
    [
        "",
        "Async agent launched successfully.\nagentId: a0755 (internal id)",
        "Background agent launched. task_id: general-purpose-call_1",
        '{"agent_id":"019a","nickname":"Ada"}',
        '{"status":"accepted","childSessionKey":"agent:main:subagent:1","runId":"2"}',
    ],
)
def test_an_acknowledgement_is_no_report(ack: str) -> None:
    assert acknowledges(ack)


def test_half_a_report_came_back_shortened() -> None:
    long = "\n".join(f"Finding {n}: handler_{n} closes over state_{n} in part_{n}.py" for n in range(60))
    assert delivery(long, long[: len(long) // 2] + "\n... [truncated]") is Delivery.SHORTENED
    assert delivery(long, "The build is green and nothing else was found out by anybody.") is Delivery.NOT


@given(st.text(min_size=30, max_size=400))
def test_json_changes_no_report(report: str) -> None:
    told = orjson.dumps({"text": report.encode("utf-8", "ignore").decode()}).decode()
    assert delivery(report, told) in (Delivery.WHOLE, Delivery.NOT)
    unframed(told)


@pytest.mark.parametrize(
    "said",
    [
        "API Error: 500 overloaded",
        "Error: the agent failed",
        "Agent terminated early: 529",
        "[Request interrupted by user]",
    ],
)
def test_an_error_is_no_report(said: str) -> None:
    assert fails(said)


def test_a_report_about_errors_is_one() -> None:
    assert not fails("Errors are handled in billing/errors.py: each one has a code.")
    assert not fails("The agent of the mail module fails over to a second server.")
    assert not fails("Error: is what every line of that log begins with.\n" + "It is written by `log_all`.\n" * 80)


@pytest.mark.parametrize(
    ("ack", "names"),
    [
        ('{"agent_id":"019a-thread-1","nickname":"Kim"}', {"019a-thread-1"}),
        ('{"status":"accepted","childSessionKey":"agent:main:subagent:7","runId":"r1"}', {"agent:main:subagent:7"}),
        ("Async agent launched successfully. agentId: a0755 (running)", {"a0755"}),
        (REPORT, set()),
    ],
)
def test_an_acknowledgement_names_whom_it_began(ack: str, names: set[str]) -> None:
    assert promised(ack) == names


def test_of_several_each_report_stands_under_its_name() -> None:
    waited = orjson.dumps({"status": {"one": {"completed": REPORT}, "two": {"completed": "Other. " * 30}}}).decode()
    assert report_of("one", waited) == REPORT.strip()
    assert report_of("two", waited) == ("Other. " * 30).strip()
    assert report_of("three", waited) == ""
    inside = orjson.dumps({"agent_path": "one", "status": {"completed": REPORT}}).decode()
    note = f"<subagent_notification>\n{inside}\n</subagent_notification>"
    assert report_of("one", note) == REPORT.strip()


def test_what_is_told_of_one_that_is_under_way_is_no_report() -> None:
    listed = {"agents": [{"agent_id": "one", "status": "running", "message": "Find out how money is rounded. " * 3}]}
    assert report_of("one", orjson.dumps(listed).decode()) == ""
    listed["agents"][0] |= {"status": "completed", "result": REPORT}
    assert report_of("one", orjson.dumps(listed).decode()) == REPORT.strip()


def test_a_name_beside_a_report_counts_in_a_message_and_in_no_tools_result() -> None:
    told = f"session_key: agent:main:subagent:7\n<prompt-data>\n{REPORT}</prompt-data>"
    assert report_of("agent:main:subagent:7", told, message=True) == REPORT.strip()
    assert report_of("agent:main:subagent:7", told) == ""


def test_what_was_escaped_as_a_whole_is_unescaped() -> None:
    assert unframed("<result>a &lt;b&gt; &amp; &quot;c&quot;</result>") == 'a <b> & "c"'
    assert unframed("<result>write &lt; for <</result>") == "write &lt; for <"


def test_a_frame_within_a_frame_is_none_of_the_report() -> None:
    assert unframed(orjson.dumps({"output": orjson.dumps({"result": REPORT}).decode()}).decode()) == REPORT.strip()
    assert unframed('{"text": "{ is no frame, and this is no JSON"}') == "{ is no frame, and this is no JSON"
