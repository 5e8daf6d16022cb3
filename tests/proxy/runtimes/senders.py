"""Bodies as runtimes send them over each format, written by hand: the shapes are theirs, the words are ours. Recorded
ones are in ``tests/data/requests``; of Crush and Zed, which cannot be had for a recording, there are only these.

A session is a list of turns: (``human``, words), (``assistant``, words), (``call``, what the tool printed).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

Turn = tuple[str, str]
Json = dict[str, Any]

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
GEMINI = "/v1beta/models/gemini-3-pro:streamGenerateContent"


@dataclass(frozen=True)
class Sender:
    """One runtime over one wire format.

    ``system`` is its system prompt, ``opening`` the texts that it puts before a person's first words as messages of
    their own, ``reminders`` those beside the words in the same message, ``words`` how it writes a person's words,
    ``then`` a system message that it leaves behind a person's first words, ``behind`` the message that it adds anew
    behind every request; ``sides`` are whole bodies of its side requests.
    """

    runtime: str
    path: str
    headers: Json = field(default_factory=dict)
    system: str = "You are a coding agent. Be brief."
    opening: tuple[str, ...] = ()
    reminders: tuple[str, ...] = ()
    words: Callable[[str], str] = str
    then: str = ""
    behind: Callable[[int], str] | None = None
    tools: bool = True
    query: str = ""
    more: Json = field(default_factory=dict)
    sides: tuple[Callable[[Sender], Json], ...] = ()

    @property
    def listed(self) -> str:
        """The field that has the messages."""
        return {RESPONSES: "input", GEMINI: "contents"}.get(self.path, "messages")

    def body(self, turns: Iterable[Turn], request: int = 0) -> Json:
        """A session's request; ``request`` tells one from the next where a client writes a text anew each time."""
        messages = [*map(self._user, self.opening)]
        first = True
        for number, (who, text) in enumerate(turns):
            if who == "human":
                messages.append(self._user(self.words(text), *(self.reminders if first else ())))
                messages += [{"role": "system", "content": self.then}] if first and self.then else []
                first = False
            elif who == "assistant":
                messages.append(self._assistant(text))
            else:
                messages += self._call(f"call_{number}", text)
        if self.behind is not None:
            messages.append(self._user(self.behind(request)))
        return self._whole(messages)

    def plain(self, *texts: str, system: str = "") -> Json:
        """A conversation of its own, without tools: one message in the user's role."""
        whole = self._whole([self._user(*texts)], system=system or self.system)
        whole.pop("tools", None)
        return whole

    def with_last(self, turns: Iterable[Turn], text: str, **changed: Any) -> Json:
        """A session's request with one more message in the user's role, as the client itself wrote it."""
        return {**self._whole([*self.body(turns)[self.listed][self._leading :], self._user(text)]), **changed}

    @property
    def _leading(self) -> int:
        return 1 if self.path not in (MESSAGES, GEMINI) and self.system else 0

    def _whole(self, messages: list[Json], system: str | None = None) -> Json:
        system = self.system if system is None else system
        stream: Json = {"stream": True}
        tools: list[Json]
        if self.path == MESSAGES:
            tools = [{"name": "bash", "description": "Runs a command.", "input_schema": {"type": "object"}}]
            told = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
            body: Json = {"model": "m", "max_tokens": 32000, "system": told, "messages": messages, **stream}
        elif self.path == GEMINI:
            tools = [{"functionDeclarations": [{"name": "bash", "parametersJsonSchema": {"type": "object"}}]}]
            body = {"contents": messages, "systemInstruction": {"parts": [{"text": system}]}}
        elif self.path == RESPONSES:
            tools = [{"type": "function", "name": "bash", "parameters": {"type": "object"}, "strict": False}]
            opened = [{"type": "message", "role": "developer", "content": [{"type": "input_text", "text": system}]}]
            body = {"model": "m", "input": [*opened, *messages], "store": False, **stream}
        else:
            tools = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]
            body = {"model": "m", "messages": [{"role": "system", "content": system}, *messages], **stream}
        return {**body, **({"tools": tools} if self.tools else {}), **self.more}

    def _user(self, text: str, *before: str) -> Json:
        texts = [*before, text]
        if self.path == GEMINI:
            return {"role": "user", "parts": [{"text": each} for each in texts]}
        if self.path == RESPONSES:
            return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": t} for t in texts]}
        if self.path == CHAT and not before:
            return {"role": "user", "content": text}
        return {"role": "user", "content": [{"type": "text", "text": each} for each in texts]}

    def _assistant(self, text: str) -> Json:
        if self.path == GEMINI:
            return {"role": "model", "parts": [{"text": text}]}
        if self.path == RESPONSES:
            return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
        return {"role": "assistant", "content": [{"type": "text", "text": text}] if self.path == MESSAGES else text}

    def _call(self, id: str, printed: str) -> list[Json]:
        arguments = {"command": "make check"}
        spelt = orjson.dumps(arguments).decode()
        if self.path == GEMINI:
            call = {"functionCall": {"id": id, "name": "bash", "args": arguments}, "thoughtSignature": "Sig=="}
            answer = {"functionResponse": {"id": id, "name": "bash", "response": {"output": printed}}}
            return [{"role": "model", "parts": [call]}, {"role": "user", "parts": [answer]}]
        if self.path == MESSAGES:
            use = {"type": "tool_use", "id": id, "name": "bash", "input": arguments}
            result = {"type": "tool_result", "tool_use_id": id, "content": printed}
            return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
        if self.path == RESPONSES:
            return [
                {"type": "function_call", "call_id": id, "name": "bash", "arguments": spelt},
                {"type": "function_call_output", "call_id": id, "output": printed},
            ]
        call = {"id": id, "type": "function", "function": {"name": "bash", "arguments": spelt}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id, "content": printed},
        ]


TALK: tuple[Turn, ...] = (("human", "Which port does the staging gateway listen on?"), ("assistant", "On 7443."))
"""What a side request is about."""


def transcript(*, framed: str = "{}") -> str:
    """A talk as one text, as clients that compact put it into one message."""
    said = "\n\n".join(f"[{'User' if who == 'human' else 'Assistant'}]: {text}" for who, text in TALK)
    return framed.format(f"<conversation>\n{said}\n</conversation>\n\nSummarize what was asked and what was found.")


def title(sender: Sender) -> Json:
    """A title, as opencode and what is built on it ask for one."""
    return sender.plain(
        "Generate a title for this conversation:\n",
        TALK[0][1],
        system="You are a title generator. You output ONLY a thread title.",
    )


def summary(sender: Sender) -> Json:
    """A compaction that is a conversation of its own."""
    return sender.plain(transcript(), system="You are a context summarization assistant. Write the summary only.")


def asked_to(text: str, **changed: Any) -> Callable[[Sender], Json]:
    """The session's own request, with an order of the client's behind it."""
    return lambda sender: sender.with_last(TALK, text, **changed)


def claude_title(sender: Sender) -> Json:
    """Claude Code's title: no tools, and JSON is asked for."""
    schema = {"type": "object", "properties": {"title": {"type": "string"}}}
    return {**sender.plain(TALK[0][1]), "output_config": {"format": {"type": "json_schema", "schema": schema}}}


def goose_title(sender: Sender) -> Json:
    """goose's title, under the id of its session."""
    return sender.plain(
        f"---BEGIN USER MESSAGES---\n{TALK[0][1]}\n---END USER MESSAGES---\n\nGenerate a short title for the above.",
        system="Generate a short title (four words or less) for this conversation.",
    )


def goose_summary(sender: Sender) -> Json:
    """goose's compaction: the talk stands in the system prompt."""
    told = "- An llm context limit was reached when a user was in a working session with an agent (you)"
    return sender.plain(
        "Please summarize the conversation history provided in the system prompt.",
        system=f"## Task Context\n{told}\n\n**Conversation History:**\n[user]: {TALK[0][1]}",
    )


def claw_context(request: int) -> str:
    """What OpenClaw puts behind every request, in other words each time."""
    told = f"Reminder {request}: the gateway is up for {request * 7} minutes; 3 skills are listed."
    return f"<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n{told}\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"


def claw(path: str, session: str = "explicit:s1") -> Sender:
    """OpenClaw over one of the three formats."""
    line = f"Runtime: agent=main | session=agent:main:{session} | sessionId=s1 | host=box | repo=/srv/gate"
    return Sender(
        "openclaw",
        path,
        {"user_agent": "undici" if path == MESSAGES else "OpenAI/JS 7.15.0", "traceparent": "00-4bf9-00f0-01"},
        system="You are a personal assistant running inside OpenClaw.\nYour working directory is: /srv/gate",
        words=lambda text: f"[Fri 2026-11-20 10:59 UTC] {text}\n\n{line}",
        behind=claw_context,
        sides=(summary,),
    )


_ENVIRONMENT = "# Environment\nYou have been invoked in: \n - Primary working directory: /srv/gate\n"
_REMINDER = "<system-reminder>\nThe user opened 3 files. The date is 2026-11-20.\n</system-reminder>"
_SESSION = (
    "<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\n"
    "Today's date is Monday, November 23, 2026 (formatted according to the user's locale).\n"
    "- **Workspace Directories:**\n  - /srv/gate\n- **Directory Structure:**\n\n/srv/gate/\n</session_context>"
)
_TURN_CONTEXT = (
    "<turn-context>\n<current-time>2026-11-26 17:21:00 +00:00</current-time>\n"
    "<working-directory>/srv/gate</working-directory>\n\n"
    "<compaction>~17k tokens remaining</compaction>\n</turn-context>"
)

SENDERS: dict[str, Sender] = {
    **{
        f"opencode over {path}": Sender(
            "opencode",
            path,
            {"user_agent": "opencode/1.18.33 ai-sdk/x runtime/bun/1.3", "x_session_id": "ses_1"},
            system="You are opencode.\n<env>\n  Working directory: /srv/gate\n</env>",
            sides=(title, summary),
        )
        for path in (CHAT, RESPONSES, MESSAGES)
    },
    "Codex": Sender(
        "codex",
        RESPONSES,
        {"user_agent": "codex_exec/0.169.0 (Debian)", "originator": "codex_exec", "thread_id": "t1"},
        opening=("<environment_context>\n  <cwd>/srv/gate</cwd>\n</environment_context>",),
        more={"prompt_cache_key": "t1", "client_metadata": {"thread_id": "t1"}},
        sides=(asked_to("You are performing a CONTEXT CHECKPOINT COMPACTION. Write a handoff.", tools=[]),),
    ),
    **{
        name: Sender(
            "claude-code",
            MESSAGES,
            {"user_agent": "claude-cli/2.1.329 (external, cli)", "x_claude_code_session_id": "c1"},
            query="?beta=true",
            reminders=(_REMINDER,),
            then=then,
            sides=(claude_title, asked_to("CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.")),
        )
        for name, then in (("Claude Code", ""), ("Claude Code with its newest models", _ENVIRONMENT))
    },
    "Qwen Code": Sender(
        "qwen-code",
        CHAT,
        {"user_agent": "QwenCode/0.24.4 (linux; x64)"},
        system="You are Qwen Code, a CLI agent.",
        reminders=(_REMINDER,),
        sides=(
            asked_to("[SUGGESTION MODE: Suggest what the user might type next.]"),
            asked_to("You are the component that summarizes a conversation."),
        ),
    ),
    "Gemini CLI": Sender(
        "gemini-cli",
        GEMINI,
        {"user_agent": "GeminiCLI-tui/0.61.0/gemini-3.1-pro-preview (linux; x64; terminal)", "x_goog_api_key": "k"},
        query="?alt=sse",
        system="You are Gemini CLI, an interactive CLI agent specializing in software engineering tasks.",
        reminders=(_SESSION,),
        sides=(
            lambda sender: sender.plain(_SESSION, TALK[0][1], system="You are a specialized Task Routing AI."),
            asked_to("Analyze *only* the content and structure of your immediately preceding response."),
            asked_to("First, reason in your scratchpad. Then, generate the updated <state_snapshot>."),
        ),
    ),
    "Copilot CLI": Sender(
        "copilot-cli",
        CHAT,
        {"user_agent": "OpenAI/JS 5.20.1", "x_initiator": "user", "x_interaction_type": "conversation-user"},
        system="You are the GitHub Copilot CLI, a terminal assistant.\n* Current working directory: /srv/gate\n",
        words=lambda text: f"<current_datetime>2026-11-23T20:33:50.558+00:00</current_datetime>\n\n{text}",
    ),
    "Kilo": Sender(
        "kilo",
        CHAT,
        {"user_agent": "Kilo-Code/7.7.9 ai-sdk/provider-utils/4.0.27 runtime/bun/1.3.14", "x_session_id": "ses_2"},
        system="You are Kilo, a highly skilled software engineer.",
        reminders=("\n\n<environment_details>\nWorking directory: /srv/gate\n</environment_details>",),
        sides=(title,),
    ),
    "Crush": Sender("crush", CHAT, {"user_agent": "Charm-Crush/0.9"}, system="You are Crush.", sides=(title,)),
    **{
        f"goose over {path}": Sender(
            "goose",
            path,
            {"agent_session_id": "20261126_3"},
            system="You are a general-purpose AI agent called goose, created by AAIF (Agentic AI Foundation).",
            words=lambda text: f"{text}\n{_TURN_CONTEXT}",
            sides=(goose_title, goose_summary),
        )
        for path in (CHAT, MESSAGES)
    },
    **{
        f"pi over {path}": Sender("pi", path, {"user_agent": "pi (linux 6.18; x64)"}, sides=(summary,))
        for path in (CHAT, RESPONSES, MESSAGES)
    },
    "Cline": Sender(
        "cline",
        CHAT,
        {"user_agent": "ai-sdk/openai-compatible/3.0.37"},
        system="You are Cline, an engineer.\nDate: 11/20/2026",
        sides=(summary,),
    ),
    **{f"OpenClaw over {path}": claw(path) for path in (CHAT, RESPONSES, MESSAGES)},
    "OpenAI's SDK": Sender("openai-sdk", CHAT, {"user_agent": "OpenAI/Python 3.51.0"}, tools=False),
    "Anthropic's SDK": Sender("anthropic-sdk", MESSAGES, {"user_agent": "Anthropic/Python 2.10.0"}, tools=False),
    "curl": Sender("curl", CHAT, {"user_agent": "curl/8.14"}, tools=False),
    "anyone": Sender("generic", CHAT, {"user_agent": "homemade/1"}),
    "Zed": Sender(
        "zed",
        CHAT,
        {"user_agent": "Zed/1.9.2 (linux; x86_64)"},
        system="You are the Zed coding agent running inside the Zed editor.\n\n"
        "The current project contains the following root directories:\n\n- `/srv/gate`\n",
        sides=(
            asked_to("Generate a concise 3-7 word title for this conversation, omitting punctuation."),
            asked_to("Your task is to create a detailed summary of the conversation so far, for the next thread."),
        ),
    ),
}
