"""A text in the user's role → what a person said in it.

Runtimes speak in the user's role, too: reminders, environment blocks, boot files, notices of background tasks,
summaries of compacted histories, canned examples, instructions behind the person's words. None of it was said by
a person, and memory must not learn it as if it were. One function serves every runtime, because a body is read
before its sender is known.

Every rule needs words or tags that a client writes and a person hardly would; what no rule knows is kept. The
work is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.runtimes.prompt_frames import without_frame

MAX_SPOKEN_CHARS = 2**20
"""Characters beyond which a text is a file, whoever put it there: nobody says so much."""


def user_text(text: str) -> str:
    """What a person said in a text of the user's role; empty where no person spoke. Never raises."""
    if len(text) > MAX_SPOKEN_CHARS:
        return ""
    words = (_without_blocks(text) if "<" in text or "--- C" in text else text).strip()
    words = _without_leads(words)
    if (
        words.startswith(_MACHINE_TEXTS)
        or words in _CANNED
        or _ENDS_A_SUMMARY in words[-400:]
        or _BOOT_FILE.match(words)
    ):
        return ""
    if _SEEN.match(words):
        task = _NEW_TASK.search(words)
        words = words[task.end() :].strip() if task else ""
    if words.startswith(_EDITOR_CONTEXT):
        words = words.partition(_EDITOR_REQUEST)[2]
    if cut := _SUFFIX.search(words):
        words = words[: cut.start()]
    words = without_frame(_NOTE.sub("", words).strip())
    if "\n\n\n" in words:
        words = _GAP.sub("\n\n", words)
    return _unquoted(words)


_BLOCKS = "|".join(
    (
        "system-reminder|system_reminder|environment_context|environment_details|user_instructions|task-notification",
        # Claude Code
        "local-command-caveat|local-command-stdout|local-command-stderr|command-name|command-message|bash-input",
        "bash-stdout|bash-stderr|user-memory-input|user-prompt-submit-hook|session-start-hook|new-diagnostics",
        "ide_opened_file|ide_selection|ide_diagnostics|mcp-resource|fork-boilerplate|total_tokens",
        "teammate-message|cross-session-message",
        # Codex
        "subagent_notification|turn_aborted|user_shell_command|skills_instructions|collaboration_mode",
        "codex_internal_context|context_window_reminder|context_window|recommended_plugins|user_action",
        "user_verification_notice|codex_delegation",
        # Qwen Code, Gemini CLI
        "state_snapshot|session_context|hook_context|qwen:[a-z-]+",
        # Copilot CLI, goose
        "current_datetime|turn-context",
        # opencode, pi, Cline
        "task_result|task_metadata|explicit_instructions|file_content|final_file_content",
        # agents whose tools are words, in one role with the person
        "system|[a-z_-]{0,30}(?:system|environment|runtime|tool|git)[_-][a-z_-]{1,30}"
        "|[a-z_-]{1,30}[_-](?:reminder|environment|notification|warning|notice)",
        # our own
        "recalled-memory|memory-page|earlier-context|earlier-research",
    )
)
"""Tags whose whole content a client wrote."""

_WRAPPERS = ("command-args", "user_message", "user_input", "user_query", "feedback", "task")
"""Tags that a client puts around a person's words."""

_BLOCK = re.compile(
    rf"<(?P<tag>{_BLOCKS}|(?:file|skill|image|attached_files?)(?=\s{{1,9}}(?:name|path|location)=))(?=[\s>])"
    r"|<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>|--- Content from referenced files ---"
)
_CLOSING = {
    "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>": "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>",
    "--- Content from referenced files ---": "--- End of content ---",
}
_WRAPPER = re.compile(r"</?(?:" + "|".join(_WRAPPERS) + r")(?:\s[^<>\n]{0,200})?>")

_MACHINE_TEXTS = (
    # summaries that stand for a compacted history
    "This session is being continued from a",
    "Another language model started to solve this problem",
    "The conversation history before this point was compacted",
    "The following is a summary of a branch that this conversation",
    "You are in the middle of a conversation that has been summarized",
    "Here is a summary of the conversation to date",
    "Context summary:",
    "# Conversation Summary\n",
    "Some of the conversation history has been summarized to free up context",
    "I spoke to you previously about a number of things.",
    "What did we do so far?",
    # requests for a summary, a title, a suggestion
    "CRITICAL: Respond with TEXT ONLY",
    # a skill that was loaded, a hook that stopped the agent, a background task that ended
    "Base directory for this skill:",
    "Operation stopped by hook:",
    "Read the output file to retrieve the result:",
    "Full transcript available at:",
    "Your task is to create a detailed summary of",
    "Please create a detailed summary of the conversation so far. The history is being compacted",
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
    "You are the component that summarizes",
    "[SUGGESTION MODE",
    "Generate a title for this conversation",
    "Pre-compaction memory flush",
    "Managed memory has TWO directories",
    "<conversation>",
    "<role>\nContext Extraction Assistant",
    # a nudge to go on
    "Continue if you have next steps",
    "The previous request exceeded the provider's size limit",
    "Summarize the task tool output above and continue",
    "The connection dropped mid-response",
    "[SYSTEM]",
    "[SYSTEM NOTIFICATION",
    "[TASK RESUMPTION]",
    "Permission change. The operator changed this session's permissions",
    # status of tools and agents
    "Called the Read tool with the following input",
    "Called the list tool with the following input",
    "The following tool was executed by the user",
    "Use the above message and context to generate a prompt and call the task tool",
    "Background agent launched",
    "Warning: The maximum number of unified exec processes",
    "Caveat: The messages below were generated by the user while running local commands",
    "This is the Qwen Code. We are setting up the context",
    "This is the Gemini CLI. We are setting up the context",
    "Read HEARTBEAT.md if it exists",
    "A new session was started via /new or /reset",
    "[Subagent Context]",
    # aider's canned turns
    "I switched to a new code base. Please don't consider",
    "I have *added these files to the chat*",
    "Here are summaries of some files present in my git repository",
    "Here are summaries of my git repository",
    "Here are some READ ONLY files, provided for your reference",
    "I am not sharing any files that you can edit yet",
    "I am not sharing the full contents of any files with you yet",
    "Don't try and edit any existing code without asking me to add the files",
    "These are some files we have been discussing that we may want to edit",
    "I committed the changes with git hash",
    "I did `git reset --hard HEAD~1`",
    "I ran this command:\n\n",
    "The LLM did not conform to the edit format",
    "# Fix any linting errors below",
)
"""How texts begin that a client wrote from end to end."""

_CANNED = frozenset(
    (
        "Change the greeting to be more casual",
        "Change get_factorial() to use math.factorial",
        "Refactor hello() into its own file.",
        "Replace is_prime with a call to sympy.",
    )
)
"""Aider's examples, which stand before every chat like turns of their own."""

_ENDS_A_SUMMARY = "Resume the prior task using the summary above."
_BOOT_FILE = re.compile(
    r"# (?:AGENTS|CLAUDE|GEMINI|QWEN)\.md instructions\b"
    r"|Contents of /[^\n]{1,400}\.md \((?:project|user|private)"
    r"|Instructions from: /"
)
_SEEN = re.compile(
    r"(?i)(?:\[?observations?\]?:|\[?(?:tool|function|command|execution|code)[ _-](?:call[ _-])?"
    r"(?:results?|outputs?|response|logs)\b[^\n:]{0,80}(?::|\]|\n)|<(?:observation|tool_response|tool_results?"
    r"|function_results?|function_response|execution_result|command_output|returncode)\b)"
)
"""How a text begins in which an agent whose tools are words is shown what one of them printed."""
_NEW_TASK = re.compile(r"(?m)^(?:New|Next|Current) (?:task|request|instruction|message):\s")
_EDITOR_CONTEXT, _EDITOR_REQUEST = "# Context from my IDE setup:", "## My request for Codex:"

_LEADS = re.compile(
    r"\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d[^\]\n]{0,40}\][ \t]*"
    r"|Task: (?=\S)"
    r"|(?:New|Next|Current) (?:[Tt]ask|[Rr]equest|[Ii]nstruction|[Mm]essage):\s+(?=\S)"
    r"|Please (?:solve|complete|fix|do|handle) (?:this|the following) (?:issue|task|problem|request):\s+(?=\S)"
    r"|System: \[[^\]\n]{1,60}\][^\n]*(?:\n+|$)"
    r"|Subagent ID: \S{1,80}\s+"
    r"|\[message_id: [^\]\n]{1,80}\]\s*"
    r"|(?:Sender|Conversation info) \(untrusted metadata\):\s*```json\n[^`]{0,4000}```\s*"
    r"|\[Subagent Context\][\s\S]{0,4000}?\n\[Subagent Task\]:?\s*"
)
"""What a client puts before a person's words: a time stamp, an event, a word or an id for a sub-agent."""
_MOST_LEADS = 8

_SUFFIX = re.compile(
    r"(?m)^(?:To suggest changes to a file you MUST return"
    r"|# \*SEARCH/REPLACE block\* Rules:"
    r"|# V4A Diff Format Rules:"
    r"|# File editing rules:"
    r"|ONLY return code using the `"
    r"|NEVER RETURN CODE!"
    r"|Runtime: agent=[^\n]*\|"
    r"|Begin\. (?:Your assigned task is in the system prompt|Execute the assigned task to completion)"
    r"|Continue the current task from the existing transcript, preserving completed work"
    r"|<task_metadata>)"
)
"""What a client puts behind a person's words, to the end of the text."""

_NOTE = re.compile(
    r"\[Request interrupted by user[^\]\n]{0,60}\]"
    r"|\[Image(?: #\d+|: source[^\]\n]{0,400}|: original[^\]\n]{0,200})\]"
    r"|</?image(?:\s[^<>\n]{0,200})?>"
    r"|\[Old tool result content cleared\]"
    r"|\[Queued user message from a previous active turn[^\]\n]{0,200}\]"
    r"|\[Attached (?:image|file)[^\]\n]{0,400}\]"
)
_GAP = re.compile(r"\n{3,}")


def _without_blocks(text: str) -> str:
    """The text without the blocks that a client wrote, and without the tags around a person's words."""
    return _WRAPPER.sub("", "".join(_between_blocks(text)))


def _between_blocks(text: str) -> Iterator[str]:
    """What stands between the blocks. A block that is never closed is one only at the text's beginning."""
    at = 0
    unclosed: set[str] = set()
    for opened in _BLOCK.finditer(text):
        closing = f"</{opened['tag']}>" if opened["tag"] else _CLOSING[opened[0]]
        if opened.start() < at or closing in unclosed:
            continue
        end = text.find(closing, opened.end())
        if end < 0:
            unclosed.add(closing)
            if not text[at : opened.start()].strip():
                return
            continue
        yield text[at : opened.start()]
        at = end + len(closing)
    yield text[at:]


def _without_leads(words: str) -> str:
    """The text without what a client put before a person's words."""
    for _ in range(_MOST_LEADS):
        lead = _LEADS.match(words)
        if lead is None:
            break
        words = words[lead.end() :].lstrip()
    return words


def _unquoted(words: str) -> str:
    """The text without the quotation marks that a shell's arguments were joined in."""
    if len(words) >= 2 and words[0] == words[-1] == '"' and '"' not in words[1:-1].replace('\\"', ""):
        return words[1:-1].replace('\\"', '"').strip()
    return words
