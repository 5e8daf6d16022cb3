"""OpenClaw: the session's key stands in the text of a message; memory flushes and summaries before a compaction;
recaps for its list of tasks."""

from __future__ import annotations

import re

from memory.session import RequestKind
from proxy.runtimes.runtime import Headers, Identity, RequestPurpose, Runtime, SideRequestSign, preamble
from proxy.wire.dialect import RequestView

_SESSION = re.compile(r"\bRuntime: agent=[^\n]{0,300}?\bsession=(agent:[^\s|]{1,300})")
_REQUESTER = re.compile(r"Requester session: (agent:[^\s|]{1,300}?)\.?(?=\s|$)")
_NEAR = 8
_RECAP = "Write an Activity recap"
"""How its gateway asks, beside the turns, for what its list of tasks says of a session: nothing else tells whose it
is."""


class OpenClaw(Runtime):
    """OpenClaw. Its trace header names a turn, not a session, and is not used."""

    name = "openclaw"
    offers_tools = True
    signs = (
        SideRequestSign(RequestKind.SIDE, True, last="Pre-compaction memory flush. Store"),
        SideRequestSign(RequestKind.SIDE, False, system=_RECAP, tools=False),
        SideRequestSign(RequestKind.COMPACTION, False, first="<conversation>", tools=False),
    )

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its system prompt, or by the line that says where the session runs."""
        opening = preamble(view)[:4000]
        return "running inside OpenClaw" in opening or opening.startswith(_RECAP) or _session_key(view) is not None

    def own_identity(self, headers: Headers, view: RequestView) -> Identity:
        """``session=agent:…`` in the runtime line; a sub-agent's context may name who asked for it."""
        requester = _REQUESTER.search(preamble(view))
        return Identity(_session_key(view), requester[1] if requester else None)

    def own_kind(self, headers: Headers, view: RequestView) -> RequestPurpose | None:
        """Its internal sessions tidy its own memory files."""
        session = _session_key(view) or ""
        return RequestPurpose(RequestKind.SIDE) if ":internal-session-effects:" in session else None

    def is_subagent(self, headers: Headers, view: RequestView) -> bool:
        """By the key: ``agent:main:subagent:<id>``."""
        return ":subagent:" in (_session_key(view) or "")


def _session_key(view: RequestView) -> str | None:
    """The session's key: the newest runtime line counts, which stands near the end or in the first messages."""
    messages = view.conversation.messages
    # Of a short conversation the one half is the other.
    beginning = messages[:_NEAR] if len(messages) > _NEAR else ()
    for message in (*reversed(messages[-_NEAR:]), *beginning):
        if "Runtime: agent=" in (text := message.text) and (found := _SESSION.search(text)):
            return found[1]
    found = _SESSION.search(view.conversation.instructions)
    return found[1] if found else None
