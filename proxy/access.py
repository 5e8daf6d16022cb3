"""Who is let in, and with memory: by a key, or as a process of this installation's own user."""

from __future__ import annotations

from aiohttp import web

from proxy.auth.installation_key import is_installation_key
from proxy.caller import Prefix, credential_of, key_shown, namespace
from proxy.edge import Edge
from proxy.errors import Refusal
from proxy.limits import network_of
from proxy.upstream.routes import Api, api_of
from proxy.wire.dialect import Dialect

HOW_TO_SHOW_A_KEY = (
    "palimpsest connect NAME --write puts the key into the base URL (/k/KEY/v1), or send it as x-palimpsest-key"
)


def limit_key(request: web.Request, prefix: Prefix, edge: Edge, has_key: bool) -> str:
    """What the limits of a caller are counted by: its key, or else its address."""
    if not has_key:
        return network_of(request.remote or "here")
    key = (request.headers.get("x-palimpsest-key") or prefix.key or credential_of(request.headers)).strip()
    # The same key in other letters is the same caller.
    return namespace(key.lower() if is_installation_key(key) else key, edge.identity_key)


async def check_key(
    request: web.Request, edge: Edge, prefix: Prefix, path: str, dialect: Dialect | None, has_key: bool
) -> tuple[bool, str]:
    """Whether a key lets the request in, and why that cannot be told, where it cannot.

    Raises:
        Refusal: 401, when a key is needed and there is none; 503, when keys cannot be looked up.
    """
    key = key_shown(request.headers, prefix)
    untold = "" if has_key else edge.why_untold(key)
    # One that was in force when the journal answered last opens no memory; its model calls go on.
    let_in = has_key or (bool(untold) and edge.client_keys.was_known(key))
    if not let_in and edge.settings.server.require_key is True:
        raise _refusal_without_key(untold, f"a key is needed here (server.require_key): {HOW_TO_SHOW_A_KEY}")
    ollamas = api_of(path, request.headers) is Api.OLLAMA or (dialect is not None and dialect.name == "ollama-chat")
    if ollamas and not let_in and await why_without_memory(request, edge):
        # A server on this machine asks for no key: it is its own user's, and nobody else's who reaches us.
        raise _refusal_without_key(untold, f"the Ollama of this machine is for its own user: {HOW_TO_SHOW_A_KEY}")
    return let_in, untold


async def why_without_memory(request: web.Request, edge: Edge) -> str:
    """Why a caller without a key gets no memory; empty if it needs no key."""
    if edge.settings.credentials:
        return "the caller shows no key of the table (credentials), or is no member of its organisation"
    if edge.settings.server.require_key is False or await edge.peers.is_own(request.transport):
        return ""
    return f"not a process of this installation's own user: {HOW_TO_SHOW_A_KEY}"


def _refusal_without_key(untold: str, why: str) -> Refusal:
    """Nobody is let in without a key; where keys cannot be told from others, it is worth trying again."""
    return Refusal(503, f"{untold}: try again in a moment") if untold else Refusal(401, why)
