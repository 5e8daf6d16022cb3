"""The key of this installation, and which texts are secrets of ours.

Whoever shows the key reaches memory. It lies in a file that only its owner can read, and ``connect`` writes it into
the base URLs of runtimes. It has a shape of its own, so that it is known wherever it stands.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import re
import secrets
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from proxy.auth.client_keys import SHAPE as CLIENT
from proxy.auth.tokens import SHAPE as TOKEN
from proxy.auth.web_sessions import holds_session

FILE = "key"
"""Its name in the home folder."""

_SHAPE = re.compile(r"palimpsest-[0-9a-f]{32}", re.IGNORECASE)
_PIECES = re.compile(r"[\s,;=:&/?\"']+")


def is_installation_key(text: str) -> bool:
    """Whether a text is the key of some installation, this one's or not, in force or not."""
    return _SHAPE.fullmatch(text) is not None


def installation_keys_in(text: str) -> frozenset[str]:
    """The keys of installations that stand somewhere in a text."""
    return frozenset(found.lower() for found in _SHAPE.findall(text))


class InstallationKey:
    """The key in its file, made where there is none. A new one that anybody writes there holds at once.

    Raises:
        OSError: when the folder cannot be written.
        ValueError: when something else stands in the file.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._value = _read(file) or write_new_key(file)
        self._seen = _version(file)

    @property
    def value(self) -> str:
        """The key in force. Where its file is gone or damaged, the one before stays."""
        version = _version(self._file)
        if version is not None and version != self._seen:
            with suppress(OSError, ValueError):
                self._value = _read(self._file) or self._value
            self._seen = version
        return self._value

    def matches(self, text: str) -> bool:
        """Whether a text is the key, compared in constant time."""
        return is_installation_key(text) and hmac.compare_digest(text.lower().encode(), self.value.encode())


def write_new_key(file: Path) -> str:
    """Put a new key into a file, in one step; the one before opens nothing any more.

    Raises:
        OSError: when the folder cannot be written.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    value = f"palimpsest-{secrets.token_hex(16)}"
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w") as opened:
            opened.write(value + "\n")
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return value


LONG = 16
"""Characters from which on a secret is known inside other text; a shorter one could be a common word."""


class OwnSecrets:
    """The token of our own endpoints and the keys of callers, which never go to a provider."""

    def __init__(self, token: str, keys: Iterable[str]) -> None:
        self._secrets = frozenset((token, *keys)) - {""}
        self._long = tuple(secret for secret in self._secrets if len(secret) >= LONG)

    def stand_in(self, text: str) -> bool:
        """Whether one of them, any installation's key or token, or a session of the web page stands in a header's
        value or in a URL."""
        if (
            _SHAPE.search(text)
            or TOKEN.search(text)
            or CLIENT.search(text)
            or holds_session(text)
            or (len(text) >= LONG and any(secret in text for secret in self._long))
        ):
            return True
        if "%" in text and (decoded := unquote(text)) != text and self.stand_in(decoded):
            return True
        scheme, _, rest = text.strip().partition(" ")
        if not self._secrets.isdisjoint((scheme, rest.strip(), text.strip(), *_PIECES.split(text))):
            return True
        return scheme.lower() == "basic" and any(self.stand_in(part) for part in _basic(rest))


def _basic(encoded: str) -> tuple[str, ...]:
    """The user name and the password of basic authentication."""
    try:
        user, _, password = base64.b64decode(encoded.strip(), validate=True).decode("utf-8", "replace").partition(":")
    except (binascii.Error, ValueError):
        return ()
    return user, password


def _read(file: Path) -> str:
    """The key in a file; empty where there is no file, or a crash left it empty."""
    try:
        value = file.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""
    if value and not is_installation_key(value):
        raise ValueError(f"{file} holds no key")
    return value.lower()


def _version(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino
