import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.pack import CLOSING, OPENING
from memory.context.page import PAGE_OPENING
from proxy.runtimes import user_text

NOBODY = [
    "",
    "  \n ",
    "<system-reminder>\n# Environment\n - Primary working directory: /srv/a\n</system-reminder>",
    "<system-reminder>\n[SYSTEM NOTIFICATION]\n<task-notification>\n<result>done</result>\n</task-notification>\n"
    "</system-reminder>\n",
    "<system-reminder>never closed, and a page long",
    "<environment_context>\n  <cwd>/srv/a</cwd>\n</environment_context>",
    "<user_instructions>\n\nUse tabs.\n\n</user_instructions>",
    "# AGENTS.md instructions for /srv/a\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
    "Contents of /srv/a/CLAUDE.md (project instructions, checked into the codebase):\n\nUse tabs.",
    '<subagent_notification>\n{"status":{"completed":"It splits on commas."}}\n</subagent_notification>',
    "<task-notification>\n<task-id>t1</task-id>\n<result>It splits on commas.</result>\n</task-notification>",
    "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>",
    "[SUGGESTION MODE: Suggest what the user might type next.]",
    "This session is being continued from a previous conversation that ran out of context. The user wants tabs.",
    "Another language model started to solve this problem and produced a summary. The user wants tabs.",
    "The conversation history before this point was compacted into the following summary:\n\nTabs.",
    "Context summary:\n\nThe user wants tabs.",
    "Some of the conversation history has been summarized to free up context.\n\nHere were the user messages:\n"
    "<user_message>\nUse tabs.\n</user_message>\n\n<summary>\nThe user wants tabs.\n</summary>\n",
    "Please create a detailed summary of the conversation so far. The history is being compacted so moving forward, "
    "all conversation history will be removed.",
    "<state_snapshot>\n<goal>tabs</goal>\n</state_snapshot>\n\nResume the prior task using the summary above. Go on.",
    "Continue if you have next steps, or stop and ask for clarification.",
    "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.",
    "Base directory for this skill: /home/ada/.claude/skills/x\n\n# X\n\nAlways use tabs.",
    "Operation stopped by hook: another session is active",
    "<command-name>/compact</command-name>\n <command-message>c</command-message>\n <command-args></command-args>",
    "<local-command-caveat>The command below was run directly.</local-command-caveat>",
    "<local-command-stdout>Compacted </local-command-stdout>\n",
    "<bash-input>ls</bash-input>\n<bash-stdout>a b</bash-stdout><bash-stderr></bash-stderr>",
    "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nkeep this private\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>",
    "[Fri 2026-11-20 10:59 UTC] Pre-compaction memory flush. Store durable memories now.",
    'Called the Read tool with the following input: {"filePath":"/srv/a"}',
    "[SYSTEM] This run is not complete until you call one of these tools.",
    "The connection dropped mid-response. Go on where you stopped.",
    "Change the greeting to be more casual",
    "I switched to a new code base. Please don't consider the above files or try to edit them any longer.",
    "I have *added these files to the chat* so you can go ahead and edit them.\n\nNOTES.md\n```\nx\n```\n",
    "Here are summaries of some files present in my git repository.\nDo not propose changes.",
    "\n# Fix any errors below, if possible.\n\n## Running: flake8 gate.py\n\ngate.py:2:17: F821 undefined name 'csv'",
    "# 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch: This SEARCH block failed.",
    "UnifiedDiffNoMatch: hunk failed to apply!\n\ngate.py does not contain lines that match the diff.",
    "I didn't see any properly formatted edits in your reply?!",
    "[Request interrupted by user for tool use]",
    "[Image: source: /tmp/a.png]",
    '<file name="/srv/a.md">We always use tabs.</file>',
    "Managed memory has TWO directories. Choose which one.",
]

SAID = [
    ("Use tabs.", "Use tabs."),
    ("<system-reminder>\nx\n</system-reminder>\nUse tabs.", "Use tabs."),
    ("Use tabs.\n<system-reminder>x</system-reminder>", "Use tabs."),
    ("a\n<system-reminder>x</system-reminder>\nb\n<system-reminder>y</system-reminder>", "a\n\nb"),
    ('"Use tabs, please."', "Use tabs, please."),
    ('"Call it \\"main\\"."', 'Call it "main".'),
    ('"a" and "b"', '"a" and "b"'),
    ("[Fri 2026-11-20 10:59 UTC] Use tabs.", "Use tabs."),
    ("Task: Find the parser.", "Find the parser."),
    (
        "[Fri 2026-11-20 10:59 UTC] [Subagent Context] You are a helper.\n\n[Subagent Task]\n\nFind the parser.",
        "Find the parser.",
    ),
    (
        "[Fri 2026-11-20 10:59 UTC] [Subagent Context] You are a helper.\n\n[Subagent Task]\n\nFind the parser.\n\n"
        "Begin. Execute the assigned task to completion.\n\nRuntime: agent=main | session=agent:main:subagent:1",
        "Find the parser.",
    ),
    (
        "[Fri 2026-11-20 10:59 UTC] [Subagent Context] You are a helper. Do the current [Subagent Task]; all else is "
        "background.\n\n[Subagent Task]\n\nFind the parser.",
        "Find the parser.",
    ),
    (
        "[Fri 2026-11-20 10:59 UTC] [Queued user message from a previous active turn; preserved as context only. Go on "
        "below.]\nUse tabs.\n\nContinue the current task from the existing transcript, preserving completed work. If "
        "an action was interrupted, inspect its state before deciding whether to retry it.",
        "Use tabs.",
    ),
    ("Use tabs.\n\nTo suggest changes to a file you MUST return the entire content.\nReply in English.", "Use tabs."),
    ("Use tabs.\n\n# *SEARCH/REPLACE block* Rules:\n\nEvery block…", "Use tabs."),
    (
        "<command-name>/review</command-name>\n<command-args>the parser, mind the tabs</command-args>",
        "the parser, mind the tabs",
    ),
    ("<user_message>\nUse tabs.\n</user_message>\n<environment_details>\n# Time\n</environment_details>", "Use tabs."),
    ("[Image #1] Make it look like this.", "Make it look like this."),
    ("<image name=[Image #1]>\n</image>\nLike this.", "Like this."),
    (
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nUse tabs.",
        "Use tabs.",
    ),
    (
        "Read @a.md\n--- Content from referenced files ---\nsecret\n--- End of content ---",
        "Read @a.md",
    ),
    ("What does <system-reminder> mean in these logs?", "What does <system-reminder> mean in these logs?"),
    ("if a < b and b > c: return <div>", "if a < b and b > c: return <div>"),
    ("Change the greeting to be more casual, and use tabs.", "Change the greeting to be more casual, and use tabs."),
    ("Continue.", "Continue."),
]


@pytest.mark.parametrize("text", NOBODY)
def test_nobody_spoke_where_a_client_wrote_it_all(text: str) -> None:
    assert user_text(text) == ""


@pytest.mark.parametrize(("text", "words"), SAID)
def test_a_persons_words_are_kept_without_what_stands_around_them(text: str, words: str) -> None:
    assert user_text(text) == words


_PIECES = st.sampled_from(
    (
        '<system-reminder> </system-reminder> <file|name= Task:| [Fri|2026-11-20|10:59|UTC]| \n\n\n " > <task é\ud800 '
        "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>> [Image|#1] Runtime:|agent=a| Use|tabs.|"
    )
    .replace("\n", "¶")
    .split()
).map(lambda piece: piece.replace("|", " ").replace("¶", "\n"))


def test_our_own_blocks_were_said_by_nobody() -> None:
    assert user_text(f"Use tabs.\n\n{OPENING}\nuser: Use spaces.\n{CLOSING}") == "Use tabs."
    assert user_text(f"{PAGE_OPENING}\n- Use spaces.\n</memory-page>") == ""


@given(st.lists(_PIECES | st.text(max_size=8), max_size=30).map("".join))
def test_any_text_gives_a_text_that_is_not_longer(text: str) -> None:
    assert len(user_text(text)) <= len(text)


@given(st.text(alphabet="abc ,.\n", max_size=200))
def test_plain_words_stay_as_they_are(text: str) -> None:
    words = user_text(text)
    assert words.split() == text.split()


@pytest.mark.parametrize(
    "piece",
    [
        "<system-reminder>",
        "<system-reminder></system-reminder>",
        "Task: x ",
        "[Fri 2026-11-20 10:59 UTC] ",
        "<file ",
        "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>",
        "[Image: source",
        "\n\n",
        "<task ",
        "Runtime: agent=",
        "System: [a] b\n",
        "<a ",
        '"',
        "[Subagent Context]",
    ],
)
def test_a_long_text_made_to_be_slow_is_read_at_once(piece: str) -> None:
    # A law worse than linear would take minutes here.
    text = piece * (1_000_000 // len(piece))
    assert len(user_text(text)) <= len(text)
