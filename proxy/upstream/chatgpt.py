"""Codex logged in with ChatGPT: how its requests are known, and what of the Responses API their host has.

The paths are those that Codex asks for below its provider's base address
(https://github.com/openai/codex, ``codex-rs/codex-api/src/endpoint``), where a login has no version in front of them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from urllib.parse import unquote

COMPANY = "ChatGPT"
"""Whose credential it is, which is not OpenAI: its API takes no token of a login, and a login's host no API key."""

_ACCOUNT = "chatgpt-account-id"
_CLAIM = b'"https://api.openai.com/auth"'
_PATHS = frozenset({"responses", "models", "memories", "alpha", "images", "realtime"})


def is_login(headers: Mapping[str, str], token: str) -> bool:
    """Whether a token is that of a ChatGPT login: the account is named beside it, or it says so itself."""
    return bool(headers.get(_ACCOUNT, "").strip()) or _CLAIM in _unverified_claims(token)


def has(path: str) -> bool:
    """Whether a path is one that a login's host answers."""
    plain = unquote(path.partition("?")[0]).strip("/")
    return plain.removeprefix("v1/").partition("/")[0] in _PATHS


def _unverified_claims(token: str) -> bytes:
    """What a JSON Web Token says of itself; nobody here checks its signature."""
    parts = token.split(".")
    if len(parts) != 3 or not token.startswith("eyJ"):
        return b""
    try:
        return base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
    except (binascii.Error, ValueError):
        return b""
