"""Codex CLI: thread ids in headers and in ``client_metadata``; the request's kind in its turn metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from memory.session import Patience, RequestKind
from proxy.runtimes.environment import ClientEnvironment
from proxy.runtimes.runtime import Headers, Identity, RequestPurpose, Runtime, SideRequestSign, field_of
from proxy.wire.dialect import RequestView

_TURN = "x-codex-turn-metadata"
_PARENT = "x-codex-parent-thread-id"
_SUBAGENT = "x-openai-subagent"
_NO_TURN = {
    "compact": RequestKind.COMPACTION,
    "compaction": RequestKind.COMPACTION,
    "prewarm": RequestKind.SIDE,
    "memory_consolidation": RequestKind.SIDE,
    "guardian": RequestKind.SIDE,
}
"""Request kinds and sub-agent labels that are no turns. A guardian judges commands; it is not asked to remember."""


class Codex(Runtime):
    """Codex CLI. Parent and child share ``session-id`` and the cache key; only ``thread-id`` tells them apart."""

    name = "codex"
    offers_tools = True
    resends = True
    patience = Patience(share=0.9)
    signs = (SideRequestSign(RequestKind.COMPACTION, True, last="You are performing a CONTEXT CHECKPOINT COMPACTION"),)

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """By its originator, its user agent, or its turn metadata."""
        agent = headers.get("user-agent", "")
        return headers.get("originator", "").startswith("codex") or agent.startswith("codex") or _TURN in headers

    def own_identity(self, headers: Headers, view: RequestView) -> Identity:
        """``thread-id`` and ``x-codex-parent-thread-id``, or the same in the body; never the cache key."""
        turn = _turn_metadata(headers, view)
        thread = _metadata(view).get("thread_id") or headers.get("thread-id") or turn.get("thread_id")
        parent = _from_body_or_header(_PARENT, headers, view) or turn.get("parent_thread_id")
        older = headers.get("conversation_id") or headers.get("session_id") or headers.get("session-id")
        return Identity(_text(thread) or older, _text(parent))

    def own_kind(self, headers: Headers, view: RequestView) -> RequestPurpose | None:
        """``request_kind``, the sub-agent's label, and the item that asks the provider to compact."""
        label = _from_body_or_header(_SUBAGENT, headers, view) or ""
        kind = _NO_TURN.get(_text(_turn_metadata(headers, view).get("request_kind")) or "") or _NO_TURN.get(label)
        if kind is not None:
            return RequestPurpose(kind, extends=label != "memory_consolidation")
        if view.items and _type(view.items[-1]) == "compaction_trigger":
            return RequestPurpose(RequestKind.COMPACTION)
        return None

    def is_subagent(self, headers: Headers, view: RequestView) -> bool:
        """Any label of a sub-agent that is left: a spawned one, a review."""
        return bool(_from_body_or_header(_SUBAGENT, headers, view))

    def place(self, view: RequestView) -> ClientEnvironment:
        """The environment block's directory, and the remote that the turn metadata tells for it."""
        found = super().place(view)
        workspaces = _turn_metadata({}, view).get("workspaces")
        if not isinstance(workspaces, dict) or not workspaces:
            return found
        inside = [path for path in workspaces if found.directory and f"{found.directory}/".startswith(f"{path}/")]
        if not inside and found.directory:
            return found
        path = max(inside or list(workspaces), key=len)
        return replace(found, directory=found.directory or path, remote=_origin_url(workspaces[path]))


def _turn_metadata(headers: Headers, view: RequestView) -> Mapping[str, Any]:
    return _decoded(_from_body_or_header(_TURN, headers, view))


def _from_body_or_header(name: str, headers: Headers, view: RequestView) -> str | None:
    """What the body says under a header's name, else the header: a socket's headers are those of its first request."""
    return _text(_metadata(view).get(name)) or headers.get(name)


def _metadata(view: RequestView) -> Mapping[str, Any]:
    metadata = field_of(view, "client_metadata")
    return metadata if isinstance(metadata, dict) else {}


def _decoded(text: object) -> Mapping[str, Any]:
    if not isinstance(text, str):
        return {}
    try:
        value = msgspec.json.decode(text.encode("utf-8", "surrogateescape"))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _type(item: msgspec.Raw) -> str:
    try:
        value = msgspec.json.decode(item)
    except (msgspec.DecodeError, RecursionError):
        return ""
    return str(value.get("type", "")) if isinstance(value, dict) else ""


def _origin_url(workspace: object) -> str | None:
    """``origin``, else the first remote by name."""
    urls = workspace.get("associated_remote_urls") if isinstance(workspace, dict) else None
    if not isinstance(urls, dict) or not urls:
        return None
    return _text(urls.get("origin", urls[min(urls)]))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
