"""Which runtime, which agent, what for: shapes as real clients sent them, in words of our own."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from memory.session import RequestKind
from proxy.runtimes import Identity, recognise
from proxy.wire.dialect import RequestView
from tests.proxy.runtimes.views import view

OPENCODE = {
    "user-agent": "opencode/1.18.33 ai-sdk/x runtime/bun/1.3",
    "x-session-id": "ses_a",
    "x-session-affinity": "ses_a",
}
CODEX = {"user-agent": "codex_exec/0.169.0 (Debian)", "originator": "codex_exec", "session-id": "t1", "thread-id": "t1"}
CLAUDE = {"user-agent": "claude-cli/2.1.329 (external, cli)", "x-claude-code-session-id": "c1"}
QWEN = {"user-agent": "QwenCode/0.24.4 (linux; x64)"}
PI = {"user-agent": "pi (linux 6.18; x64)"}
SDK = {"user-agent": "OpenAI/Python 2.20.0"}
QWEN_SYSTEM = "You are Qwen Code, a CLI agent."
PI_SYSTEM = "You are an expert coding assistant operating inside pi."
CLAW = "Hello\nRuntime: agent=main | session=agent:main:explicit:s1 | sessionId=s1 | repo=/srv/a"
AIDER_COMMIT = "You are an expert software engineer that generates concise, one-line Git commit"
AIDER = "Act as an expert software developer. Output a *SEARCH/REPLACE block*."


def turn(**told: Any) -> dict[str, str]:
    return {**CODEX, "x-codex-turn-metadata": json.dumps(told)}


COPILOT = {"user-agent": "OpenAI/JS 5.20.1", "x-initiator": "agent", "x-interaction-type": "conversation-user"}
COPILOT_SUMMARY = {**COPILOT, "x-interaction-type": "conversation-compaction"}
MAIN, SUB, SIDE, COMPACT = RequestKind.MAIN, RequestKind.SUBAGENT, RequestKind.SIDE, RequestKind.COMPACTION
HI = ("user", "Use tabs.")
PAST = (HI, ("assistant", "Yes."))

REQUESTS: list[tuple[str, Mapping[str, str], RequestView, str, RequestKind, bool]] = [
    ("opencode's turn", OPENCODE, view(HI, system="You are opencode"), "opencode", MAIN, True),
    ("opencode's sub-agent", {**OPENCODE, "x-parent-session-id": "ses_p"}, view(HI), "opencode", SUB, True),
    (
        "opencode's title",
        OPENCODE,
        view(("user", "Generate a title for this conversation:\n"), HI, system="You are a title generator.", tools=()),
        "opencode",
        SIDE,
        False,
    ),
    (
        "opencode's compaction",
        OPENCODE,
        view(("user", "[User]: Use tabs."), system="You are a context summarization agent.", tools=()),
        "opencode",
        COMPACT,
        False,
    ),
    ("Codex's turn", turn(request_kind="turn"), view(HI), "codex", MAIN, True),
    (
        "Codex's sub-agent",
        {**CODEX, "thread-id": "t2", "x-codex-parent-thread-id": "t1", "x-openai-subagent": "collab_spawn"},
        view(HI),
        "codex",
        SUB,
        True,
    ),
    ("Codex's review", {**CODEX, "x-openai-subagent": "review"}, view(HI), "codex", SUB, True),
    ("Codex's compaction", turn(request_kind="compaction"), view(*PAST, HI, tools=()), "codex", COMPACT, True),
    (
        "Codex's compaction by its text",
        CODEX,
        view(*PAST, ("user", "You are performing a CONTEXT CHECKPOINT COMPACTION. Write."), tools=()),
        "codex",
        COMPACT,
        True,
    ),
    ("Copilot CLI's compaction", COPILOT_SUMMARY, view(*PAST, HI), "copilot-cli", COMPACT, True),
    (
        "Copilot CLI's compaction by its text",
        COPILOT,
        view(
            *PAST,
            ("user", "Please create a detailed summary of the conversation so far. The history is being compacted"),
        ),
        "copilot-cli",
        COMPACT,
        True,
    ),
    (
        "Codex's remote compaction",
        CODEX,
        view(*PAST, items=[{"role": "user"}, {"role": "assistant"}, {"type": "compaction_trigger"}]),
        "codex",
        COMPACT,
        True,
    ),
    ("Codex's prewarm", turn(request_kind="prewarm"), view(("developer", "You are")), "codex", SIDE, True),
    (
        "Codex's turn over a socket that was opened to warm up",
        turn(request_kind="prewarm"),
        view(HI, client_metadata={"x-codex-turn-metadata": json.dumps({"request_kind": "turn"})}),
        "codex",
        MAIN,
        True,
    ),
    (
        "Codex's sub-agent over a socket",
        turn(request_kind="prewarm"),
        view(HI, client_metadata={"x-codex-turn-metadata": "{}", "x-openai-subagent": "collab_spawn"}),
        "codex",
        SUB,
        True,
    ),
    (
        "Codex tidying its memories",
        {**CODEX, "x-openai-subagent": "memory_consolidation"},
        view(HI),
        "codex",
        SIDE,
        False,
    ),
    ("Claude Code's turn", CLAUDE, view(HI), "claude-code", MAIN, True),
    ("Claude Code's sub-agent", {**CLAUDE, "x-claude-code-agent-id": "a7"}, view(HI), "claude-code", SUB, True),
    (
        "Claude Code's sub-agent by its mark",
        CLAUDE,
        view(HI, system="x-anthropic-billing-header: cc_version=2; cc_is_subagent=true;"),
        "claude-code",
        SUB,
        True,
    ),
    (
        "Claude Code's compaction",
        CLAUDE,
        view(*PAST, ("user", ["Use spaces.", "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools."])),
        "claude-code",
        COMPACT,
        True,
    ),
    (
        "Claude Code's title",
        CLAUDE,
        view(HI, tools=(), output_config={"format": {"type": "json_schema", "schema": {"properties": {"title": {}}}}}),
        "claude-code",
        SIDE,
        False,
    ),
    ("Claude Code's quota probe", CLAUDE, view(("user", "quota"), tools=()), "claude-code", SIDE, False),
    ("Qwen Code's turn", QWEN, view(HI, system=QWEN_SYSTEM), "qwen-code", MAIN, True),
    (
        "Qwen Code's sub-agent",
        QWEN,
        view(HI, system="You are a general-purpose subagent working for a parent agent."),
        "qwen-code",
        SUB,
        True,
    ),
    (
        "Qwen Code's own memory",
        QWEN,
        view(*PAST, HI, system="You are now acting as the managed memory extraction subagent."),
        "qwen-code",
        SIDE,
        True,
    ),
    (
        "Qwen Code's suggestion",
        QWEN,
        view(*PAST, ("user", "[SUGGESTION MODE: Suggest what comes next.]"), system=QWEN_SYSTEM),
        "qwen-code",
        SIDE,
        True,
    ),
    (
        "Qwen Code's compaction",
        QWEN,
        view(*PAST, ("user", "You are the component that summarizes a conversation."), system=QWEN_SYSTEM),
        "qwen-code",
        COMPACT,
        True,
    ),
    (
        "Qwen Code's second compaction",
        QWEN,
        view(("user", "Use tabs."), system="You are the component that summarizes…", tools=()),
        "qwen-code",
        COMPACT,
        True,
    ),
    ("pi's turn", PI, view(HI, system=PI_SYSTEM), "pi", MAIN, True),
    (
        "pi's sub-agent",
        PI,
        view(("user", "Task: Find it."), system=PI_SYSTEM + "<addendum>\nYou are a scout.\n</addendum>"),
        "pi",
        SUB,
        True,
    ),
    ("a person of pi who writes a task", PI, view(("user", "Task: Find it."), system=PI_SYSTEM), "pi", MAIN, True),
    (
        "pi's compaction",
        PI,
        view(("user", "<conversation>"), system="You are a context summarization assistant.", tools=()),
        "pi",
        COMPACT,
        False,
    ),
    (
        "Cline's turn",
        {"user-agent": "ai-sdk/openai-compatible/3"},
        view(HI, system="You are Cline, a"),
        "cline",
        MAIN,
        True,
    ),
    ("OpenClaw's turn", {"user-agent": "OpenAI/JS 7"}, view(("user", CLAW)), "openclaw", MAIN, True),
    (
        "OpenClaw's sub-agent",
        {"user-agent": "OpenAI/JS 7"},
        view(("user", CLAW.replace("explicit:s1", "subagent:9a"))),
        "openclaw",
        SUB,
        True,
    ),
    (
        "OpenClaw's memory flush",
        {"user-agent": "OpenAI/JS 7"},
        view(
            ("user", CLAW),
            ("assistant", "Yes."),
            ("user", "[Fri 2026-11-20 10:59 UTC] Pre-compaction memory flush. Store it now."),
        ),
        "openclaw",
        SIDE,
        True,
    ),
    (
        "OpenClaw's recap of a session",
        {"user-agent": "OpenAI/JS 7"},
        view(
            ("user", '{"previousRecap":"","messages":["user: Use tabs."],"omittedContent":false}'),
            system="Write an Activity recap for someone scanning their tasks: what was done here.",
            tools=(),
        ),
        "openclaw",
        SIDE,
        False,
    ),
    ("aider's turn", SDK, view(HI, system=AIDER, tools=()), "aider", MAIN, True),
    ("aider's commit", SDK, view(HI, system=f"{AIDER_COMMIT} messages.", tools=()), "aider", SIDE, False),
    (
        "aider's summary",
        SDK,
        view(HI, system="*Briefly* summarize this partial conversation about it.", tools=()),
        "aider",
        COMPACT,
        False,
    ),
    ("an SDK's request without tools", SDK, view(HI, tools=()), "openai-sdk", MAIN, True),
    (
        "deepagents' summary",
        SDK,
        view(("user", "<role>\nContext Extraction Assistant\n</role>"), tools=()),
        "openai-sdk",
        COMPACT,
        False,
    ),
    ("anyone with a parent", {"x-palimpsest-parent": "p1"}, view(HI, tools=()), "generic", SUB, True),
    ("anyone", {}, view(HI, tools=()), "generic", MAIN, True),
    (
        "a person asking for a summary",
        SDK,
        view(*PAST, ("user", "Summarize this."), tools=()),
        "openai-sdk",
        MAIN,
        True,
    ),
]


@pytest.mark.parametrize(
    ("headers", "seen", "runtime", "kind", "extends"), [pytest.param(*row[1:], id=row[0]) for row in REQUESTS]
)
def test_a_request_is_told_by_its_runtime_and_its_kind(
    headers: Mapping[str, str], seen: RequestView, runtime: str, kind: RequestKind, extends: bool
) -> None:
    found = recognise(headers, seen)
    assert found.name == runtime
    told = found.kind(headers, seen)
    assert (told.request, told.extends) == (kind, extends)


A_PERSON_S = [
    ("what makes good one-line Git commit messages", SDK, view(HI, system="I write one-line Git commits.", tools=())),
    ("a commit message in a talk", SDK, view(*PAST, HI, system="You explain one-line Git commit hooks.", tools=())),
    ("a title, said first", SDK, view(("user", "Generate a title for this conversation"), *PAST, HI, tools=())),
    (
        "a transcript, said first",
        PI,
        view(("user", "<conversation>\nAda: Hello.\n</conversation>\nWho is Ada?"), ("assistant", "?"), HI, tools=()),
    ),
    (
        "a bot that helps with titles",
        OPENCODE,
        view(HI, system="You help people. If you are a title generator's author, say so.", tools=("read",)),
    ),
    (
        "a detailed summary of a file",
        CLAUDE,
        view(*PAST, ("user", "Your task is to create a detailed summary of the RFC in docs/relay.md.")),
    ),
    ("an issue's title", CLAUDE, view(HI, system="Answer in German. Keep an issue title short.", tools=())),
    ("a page", CLAUDE, view(("user", "Web page content: where do we cache it?"), tools=())),
    ("text only", CLAUDE, view(*PAST, ("user", "CRITICAL: Respond with TEXT ONLY in the mails of the relay."))),
    (
        "a summary of what was said elsewhere",
        COPILOT,
        view(*PAST, ("user", "Please create a detailed summary of the conversation that I had with Ada, in NOTES.md.")),
    ),
    ("a program's suggestion mode", QWEN, view(*PAST, ("user", "[SUGGESTION MODE] is a flag of ours. What sets it?"))),
    (
        "an agent that reads of another's memory",
        QWEN,
        view(HI, system=f"{QWEN_SYSTEM} Never run the managed memory extraction subagent."),
    ),
    (
        "a component",
        QWEN,
        view(*PAST, ("user", "You are the component that summarizes orders: write its interface down.")),
    ),
    (
        "OpenClaw's own memory flush",
        {"user-agent": "OpenAI/JS 7"},
        view(("user", CLAW), ("assistant", "Yes."), ("user", "Pre-compaction memory flush fails: which path was it?")),
    ),
]


@pytest.mark.parametrize(("headers", "seen"), [pytest.param(*row[1:], id=row[0]) for row in A_PERSON_S])
def test_a_person_who_speaks_of_what_a_client_asks_for_is_not_taken_for_it(
    headers: Mapping[str, str], seen: RequestView
) -> None:
    assert recognise(headers, seen).kind(headers, seen).request is MAIN
    last = seen.conversation.last
    assert last is not None and last.spoken


IDENTITIES = [
    ("opencode", {**OPENCODE, "x-parent-session-id": "ses_p"}, view(HI), Identity("ses_a", "ses_p")),
    ("Codex's root", CODEX, view(HI, prompt_cache_key="t1"), Identity("t1", None)),
    (
        "Codex's child, beside its parent's ids",
        {**CODEX, "thread-id": "t2", "x-codex-parent-thread-id": "t1"},
        view(HI, prompt_cache_key="t1"),
        Identity("t2", "t1"),
    ),
    (
        "Codex by its body",
        {"originator": "codex_cli_rs"},
        view(HI, client_metadata={"thread_id": "t3", "x-codex-turn-metadata": '{"parent_thread_id":"t1"}'}),
        Identity("t3", "t1"),
    ),
    ("Claude Code", CLAUDE, view(HI), Identity("c1", None)),
    ("Claude Code's child", {**CLAUDE, "x-claude-code-agent-id": "a7"}, view(HI), Identity("c1/a7", "c1")),
    (
        "Claude Code's grandchild",
        {**CLAUDE, "x-claude-code-agent-id": "a9", "x-claude-code-parent-agent-id": "a7"},
        view(HI),
        Identity("c1/a9", "c1/a7"),
    ),
    (
        "Claude Code by its body",
        {"user-agent": "claude-cli/2"},
        view(HI, metadata={"user_id": '{"device_id":"d","session_id":"c2"}'}),
        Identity("c2", None),
    ),
    (
        "an older Claude Code",
        {"user-agent": "claude-cli/1"},
        view(HI, metadata={"user_id": "user_ab_account__session_c3"}),
        Identity("c3", None),
    ),
    ("pi on the Responses wire", {**PI, "session_id": "p1"}, view(HI), Identity("p1", None)),
    ("pi on the chat wire", PI, view(HI), Identity(None, None)),
    ("Qwen Code", QWEN, view(HI), Identity(None, None)),
    ("OpenClaw", {}, view(("user", CLAW)), Identity("agent:main:explicit:s1", None)),
    ("anyone's session", {"x-session-id": "s"}, view(HI), Identity("s", None)),
    ("anyone's affinity", {"x-session-affinity": "s"}, view(HI), Identity("s", None)),
    ("ours before anyone's", {"x-palimpsest-session": "mine", "x-session-id": "s"}, view(HI), Identity("mine", None)),
    ("ours with a parent", {"x-palimpsest-session": "c", "x-palimpsest-parent": "p"}, view(HI), Identity("c", "p")),
    (
        "ours, set for a whole program",
        {**CLAUDE, "x-palimpsest-session": "mine", "x-claude-code-agent-id": "a7"},
        view(HI),
        Identity("mine/c1/a7", "mine"),
    ),
]


@pytest.mark.parametrize(("headers", "seen", "identity"), [pytest.param(*row[1:], id=row[0]) for row in IDENTITIES])
def test_every_agent_has_a_session_of_its_own(
    headers: Mapping[str, str], seen: RequestView, identity: Identity
) -> None:
    assert recognise(headers, seen).identity(headers, seen) == identity


def test_an_id_that_is_too_long_or_unprintable_is_hashed() -> None:
    for bad in ("x" * 5000, "a\x00b", "é\udcff"):
        session = recognise({}, view(HI)).identity({"x-session-id": bad}, view(HI)).session
        assert session is not None
        assert len(session) == 32


def test_no_tools_is_a_hint_only_where_a_runtime_usually_offers_some() -> None:
    seen = view(HI, tools=())
    assert recognise(OPENCODE, seen).kind(OPENCODE, seen).unsure
    assert not recognise(SDK, seen).kind(SDK, seen).unsure
    assert not recognise(OPENCODE, view(HI)).kind(OPENCODE, view(HI)).unsure


@pytest.mark.parametrize("bad", ["", "{", "[]", "7", '"x"', '{"workspaces": 3}', '{"request_kind": []}', "\udcff{}"])
def test_broken_metadata_is_no_metadata(bad: str) -> None:
    headers = {**CODEX, "x-codex-turn-metadata": bad}
    seen = view(HI, client_metadata=[1], metadata="x")
    found = recognise(headers, seen)
    assert found.kind(headers, seen).request is MAIN
    assert found.identity(headers, seen) == Identity("t1", None)
    assert found.place(seen).directory is None


def test_an_empty_conversation_is_nobodys_and_a_main_turn() -> None:
    seen = view(tools=())
    for headers in ({}, OPENCODE, CODEX, CLAUDE, QWEN, PI, SDK):
        assert recognise(headers, seen).kind(headers, seen).request is MAIN
