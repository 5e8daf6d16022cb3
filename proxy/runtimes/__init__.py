"""The client programs that we know: who is asking, for what, and where it runs.

============== ====================================================================================
``runtime``     the protocol, and the answers for a client that nobody wrote rules for
``side_requests``   a title or a summary of a conversation, asked for in whatever words
``environment``     directory, git remote and date out of an environment block; the project's name
``user_text``   a text in the user's role → what a person said in it, also where a program put its prompt around it
``opencode`` ``codex`` ``claude_code`` ``qwen_code`` ``gemini_cli`` ``goose`` ``pi`` ``openclaw`` ``sdk``
                clients: their ids, their sub-agents, their side requests and compactions
``known_by_text``   the clients without ids that are known by a phrase in their prompts
============== ====================================================================================

A new client is a class here and a row in :data:`RUNTIMES`.
"""

from __future__ import annotations

from proxy.runtimes.claude_code import ClaudeCode
from proxy.runtimes.codex import Codex
from proxy.runtimes.environment import ClientEnvironment, project_of
from proxy.runtimes.gemini_cli import GeminiCli
from proxy.runtimes.goose import Goose
from proxy.runtimes.known_by_text import Aider, Cline, ContinueCli, CopilotCli, Crush, Zed
from proxy.runtimes.openclaw import OpenClaw
from proxy.runtimes.opencode import Kilo, OpenCode
from proxy.runtimes.pi import Pi
from proxy.runtimes.qwen_code import QwenCode
from proxy.runtimes.runtime import Headers, Identity, RequestPurpose, Runtime
from proxy.runtimes.sdk import SDKS
from proxy.runtimes.user_text import user_text
from proxy.wire.dialect import RequestView

RUNTIMES: tuple[Runtime, ...] = (
    OpenCode(),
    Kilo(),
    Codex(),
    ClaudeCode(),
    QwenCode(),
    GeminiCli(),
    Pi(),
    # Known by their texts, since their user agent is a library's: behind those that name themselves.
    CopilotCli(),
    Cline(),
    ContinueCli(),
    Crush(),
    Goose(),
    Zed(),
    OpenClaw(),
    Aider(),
    *SDKS,
    Runtime(),
)
"""Every runtime, in the order in which they are asked; the last one is any other client."""


def recognise(headers: Headers, view: RequestView) -> Runtime:
    """The runtime that sent a request."""
    return next(runtime for runtime in RUNTIMES if runtime.recognises(headers, view))


__all__ = [
    "RUNTIMES",
    "ClientEnvironment",
    "Headers",
    "Identity",
    "RequestPurpose",
    "Runtime",
    "project_of",
    "recognise",
    "user_text",
]
