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

from proxy.auth.client_keys import SHAPE as CLIENT
from proxy.auth.request_target import EncodedTooOften, readings
from proxy.auth.tokens import SHAPE as TOKEN
from proxy.auth.tokens import file_version
from proxy.auth.web_sessions import holds_session

FILE = "key"
"""Its name in the home folder."""

_SHAPE = re.compile(r"palimpsest-[0-9a-f]{32}", re.IGNORECASE)
_PIECES = re.compile(r"[\s,;=:&/?\"']+")
_OTHER_ALPHABET = str.maketrans("-_", "+/")


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
        self._value = _read_key(file) or write_new_key(file)
        self._seen = file_version(file)

    @property
    def value(self) -> str:
        """The key in force. Where its file is gone or damaged, the one before stays."""
        version = file_version(self._file)
        if version is not None and version != self._seen:
            with suppress(OSError, ValueError):
                self._value = _read_key(self._file) or self._value
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
        self._long = tuple(secret.lower() for secret in self._secrets if len(secret) >= LONG)

    def stand_in(self, text: str) -> bool:
        """Whether one of them, any installation's key or token, or a session of the web page stands in a header's
        value or in a URL, percent-encoded any number of times or in other letters too. What is encoded too often to
        be read may be one."""
        try:
            return any(self._stand_in(reading) or self._are_basic(reading) for reading in readings(text))
        except EncodedTooOften:
            return True

    def _stand_in(self, text: str) -> bool:
        low = text.lower()
        if (
            _SHAPE.search(low)
            or TOKEN.search(low)
            or CLIENT.search(low)
            or holds_session(low)
            or (len(low) >= LONG and any(secret in low for secret in self._long))
        ):
            return True
        scheme, _, rest = text.strip().partition(" ")
        return not self._secrets.isdisjoint((scheme, rest.strip(), text.strip(), *_PIECES.split(text)))

    def _are_basic(self, text: str) -> bool:
        """Whether one is the user name or the password of basic authentication."""
        scheme, *rest = text.split(maxsplit=1)[:2] or [""]
        if scheme.lower() != "basic" or not rest:
            return False
        user, _, password = _decode_base64(rest[0]).partition(":")
        return any(self._stand_in(reading) for part in (user, password) for reading in readings(part))


def _decode_base64(encoded: str) -> str:
    """What stands there, in either alphabet, with its padding or without; empty where nothing does."""
    plain = encoded.strip().rstrip("=").translate(_OTHER_ALPHABET)
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _read_key(file: Path) -> str:
    """The key in a file; empty where there is no file, or a crash left it empty."""
    try:
        value = file.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""
    if value and not is_installation_key(value):
        raise ValueError(f"{file} holds no key")
    return value.lower()
