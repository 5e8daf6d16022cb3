"""Claude Code: one session id for all its agents, an agent id beside it; titles, suggestions, its compaction."""

from __future__ import annotations

import msgspec

from memory.session import Patience, RequestKind
from proxy.runtimes.runtime import (
    Headers,
    Identity,
    RequestPurpose,
    Runtime,
    SideRequestSign,
    field_of,
    last_user,
    preamble,
)
from proxy.wire.dialect import RequestView

_SESSION = "x-claude-code-session-id"
_AGENT = "x-claude-code-agent-id"
_PARENT = "x-claude-code-parent-agent-id"


class ClaudeCode(Runtime):
    """Claude Code, and programs on its agent SDK."""

    name = "claude-code"
    offers_tools = True
    patience = Patience(free=33_000)
    signs = (
        SideRequestSign(RequestKind.COMPACTION, True, last="CRITICAL: Respond with TEXT ONLY. Do NOT call any tools"),
        SideRequestSign(RequestKind.SIDE, True, last="[SUGGESTION MODE:"),
        SideRequestSign(RequestKind.SIDE, False, first="Web page content:\n---", tools=False),
        SideRequestSign(RequestKind.SIDE, False, system="Generate a concise, technical issue title", tools=False),
    )

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its user agent, or by its own session header."""
        return headers.get("user-agent", "").startswith("claude-cli/") or _SESSION in headers

    def own_identity(self, headers: Headers, view: RequestView) -> Identity:
        """The session's id; a sub-agent's is the session's with the agent's behind it."""
        session = headers.get(_SESSION) or _session_in_body(view)
        agent = headers.get(_AGENT)
        if session is None or not agent:
            return Identity(session)
        above = headers.get(_PARENT)
        return Identity(f"{session}/{agent}", f"{session}/{above}" if above else session)

    def own_kind(self, headers: Headers, view: RequestView) -> RequestPurpose | None:
        """A title asks for JSON and a probe for one token; both come without tools."""
        if view.conversation.tools:
            return None
        if "output_config" in view.fields and b'"title"' in bytes(view.fields["output_config"]):
            return RequestPurpose(RequestKind.SIDE, extends=False)
        message = last_user(view)
        if len(view.conversation.messages) == 1 and message is not None and message.text.strip() in ("quota", "test"):
            return RequestPurpose(RequestKind.SIDE, extends=False)
        return None

    def is_subagent(self, headers: Headers, view: RequestView) -> bool:
        """By the agent's id, or by the mark in the first block of the system prompt."""
        return bool(headers.get(_AGENT)) or "cc_is_subagent=true" in preamble(view)[:400]


def _session_in_body(view: RequestView) -> str | None:
    """The session id in ``metadata.user_id``: JSON now, ``user_…_session_<id>`` in older versions."""
    metadata = field_of(view, "metadata")
    user_id = metadata.get("user_id") if isinstance(metadata, dict) else None
    if not isinstance(user_id, str):
        return None
    try:
        value = msgspec.json.decode(user_id)
    except (msgspec.DecodeError, RecursionError):
        return user_id.rpartition("_session_")[2] if "_session_" in user_id else None
    session = value.get("session_id") if isinstance(value, dict) else None
    return session if isinstance(session, str) and session else None
