"""Tokens of our own endpoints beside the one in the home folder: for one user, or to read only; each can expire.

Of a token only a hash is kept, in a file that only its owner can read. What anybody writes there holds at once.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

FILE: Final = "tokens.json"
"""Its name in the home folder."""

SHAPE: Final = re.compile(r"palimpsest-token-[0-9a-f]{40}")
"""By which a token is known wherever it stands."""


class TokenRole(StrEnum):
    """What a token is for: everything, what one user may do, or to read."""

    ADMIN = "admin"
    USER = "user"
    READ = "read"


class ApiToken(msgspec.Struct, frozen=True):
    """One token. ``user`` (and ``org``) is whose memories it reaches, None for everybody's; ``hash`` is that of its
    text."""

    name: str
    role: TokenRole
    hash: str
    made_at: datetime
    user: str | None = None
    org: str | None = None
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def why_not(self, now: datetime) -> str:
        """Why it opens nothing; empty where it does."""
        if self.revoked_at is not None:
            return f"the token {self.name!r} was revoked"
        if self.expires_at is not None and now >= self.expires_at:
            return f"the token {self.name!r} has expired: palimpsest tokens rotate {self.name}"
        return ""


class TokenStore:
    """The tokens in a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen: tuple[int, int] | None = None
        self._known: tuple[ApiToken, ...] = ()

    def of(self, text: str) -> ApiToken | None:
        """The token that a text is, whether it is in force or not; every one is compared, in constant time."""
        if SHAPE.fullmatch(text) is None:
            return None
        given, found = hash_of(text), None
        for each in self.known:
            if hmac.compare_digest(each.hash, given):
                found = each
        return found

    def still(self, token: ApiToken) -> ApiToken | None:
        """A token that was in force, as it stands now; None where there is none such any more."""
        return next((each for each in self.known if hmac.compare_digest(each.hash, token.hash)), None)

    @property
    def known(self) -> tuple[ApiToken, ...]:
        """All of them. Where the file is damaged, those from before stay."""
        version = file_version(self._file)
        if version != self._seen:
            if version is None:
                self._known = ()
            with suppress(OSError, ValueError):
                self._known = read_tokens(self._file)
            self._seen = version
        return self._known


def hash_of(text: str) -> str:
    """What is kept of a token: 160 random bits need no salt and no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()


def new_token(
    name: str,
    role: TokenRole,
    now: datetime,
    user: str | None = None,
    org: str | None = None,
    until: datetime | None = None,
) -> tuple[str, ApiToken]:
    """The text of a new token, which is shown once, and what is kept of it."""
    text = f"palimpsest-token-{secrets.token_hex(20)}"
    return text, ApiToken(name, role, hash_of(text), now, user, org, until)


def read_tokens(file: Path) -> tuple[ApiToken, ...]:
    """The tokens in a file; none where it is not there.

    Raises:
        OSError: when it cannot be read.
        ValueError: when something else stands in it.
    """
    try:
        return msgspec.json.decode(file.read_bytes(), type=tuple[ApiToken, ...])
    except FileNotFoundError:
        return ()
    except msgspec.DecodeError as error:
        raise ValueError(f"{file} holds no tokens: {error}") from None


def write_tokens(file: Path, tokens: Sequence[ApiToken]) -> None:
    """Replace what is in a file in one step.

    Raises:
        OSError: when the folder cannot be written.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    beside = file.with_name(f"{file.name}.new")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(tuple(tokens))))
    os.replace(beside, file)


def file_version(file: Path) -> tuple[int, int] | None:
    """What is another one whenever a file was replaced or written to; None where it cannot be looked at."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
