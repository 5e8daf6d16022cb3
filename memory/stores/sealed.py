"""Files that nobody reads without a passphrase, in the age format (https://age-encryption.org/v1, with scrypt).

Any program that knows the format opens them: ``age --decrypt FILE``. The ciphers are those of ``cryptography``, which
``palimpsest-proxy[encryption]`` installs; what is here is the order of their bytes.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

MAGIC: Final = b"age-encryption.org/v1\n"
SUFFIX: Final = ".age"

SHORTEST: Final = 12
"""Characters that a passphrase has at least."""

WORK: Final = 18
"""How hard a passphrase is to guess, as a power of two: a second and 256 MiB for each try."""
HARDEST: Final = 20
"""Work that a file may ask for: more would be an attack on who opens it."""

CHUNK: Final = 64 * 1024
_TAG: Final = 16
_LABEL: Final = b"age-encryption.org/v1/scrypt"
_HEAD: Final = re.compile(
    rb"age-encryption\.org/v1\n-> scrypt (?P<salt>[A-Za-z0-9+/]{22}) (?P<work>[1-9]\d?)\n"
    rb"(?P<wrapped>[A-Za-z0-9+/]{43})\n--- (?P<mac>[A-Za-z0-9+/]{43})\n"
)
_LONGEST_HEAD: Final = 256


class Sealed(Exception):
    """A file cannot be opened or written: the passphrase is another one, it is damaged, or the library is missing."""


def is_sealed(head: bytes) -> bool:
    """Whether a file that begins so is one of these."""
    return head.startswith(MAGIC)


class Sealer:
    """Writes what it is given into a stream, sealed. Only :meth:`close` makes it whole; the stream stays open."""

    def __init__(self, stream: IO[bytes], passphrase: str) -> None:
        if len(passphrase) < SHORTEST:
            raise Sealed(f"the passphrase has {len(passphrase)} characters; it needs at least {SHORTEST}")
        key, salt, nonce = os.urandom(16), os.urandom(16), os.urandom(16)
        wrapped = _cipher(_stretched(passphrase, salt, WORK)).encrypt(bytes(12), key, None)
        head = MAGIC + b"-> scrypt %s %d\n%s\n---" % (_base64(salt), WORK, _base64(wrapped))
        stream.write(head + b" " + _base64(_mac(key, head)) + b"\n" + nonce)
        self._stream = stream
        self._cipher = _cipher(_derived(key, nonce, b"payload"))
        self._held = bytearray()
        self._count = 0

    def write(self, data: bytes) -> int:
        """Take more in."""
        self._held += data
        at = 0
        while len(self._held) - at > CHUNK:
            self._chunk(bytes(self._held[at : at + CHUNK]), last=False)
            at += CHUNK
        del self._held[:at]
        return len(data)

    def flush(self) -> None:
        """A chunk is written when it is full."""

    def close(self) -> None:
        """Write the end."""
        self._chunk(bytes(self._held), last=True)

    def _chunk(self, data: bytes, last: bool) -> None:
        self._stream.write(self._cipher.encrypt(_nonce(self._count, last), data, None))
        self._count += 1


class Unsealer:
    """Reads what was sealed into a stream. Every byte that it gives was written by who had the passphrase."""

    def __init__(self, stream: IO[bytes], passphrase: str) -> None:
        self._stream = stream
        head = b"".join(_header_lines(stream))
        found = _HEAD.fullmatch(head)
        if found is None:
            raise Sealed("it is not sealed with a passphrase, or damaged")
        work = int(found["work"])
        if work > HARDEST:
            raise Sealed(f"it asks for more work (2^{work}) than is done here (2^{HARDEST})")
        wrapping = _cipher(_stretched(passphrase, _bytes(found["salt"]), work))
        key = _opened(wrapping, bytes(12), _bytes(found["wrapped"]), "the passphrase is another one")
        if _mac(key, head[: found.end("wrapped") + 4]) != _bytes(found["mac"]):
            raise Sealed("its head was changed")
        self._cipher = _cipher(_derived(key, _exactly(stream, 16), b"payload"))
        self._next: bytes | None = stream.read(CHUNK + _TAG)
        self._held = bytearray()
        self._count = 0

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or all; fewer only at the end.

        Raises:
            Sealed: when it is damaged or cut off.
        """
        while self._next is not None and (size < 0 or len(self._held) < size):
            self._chunk()
        size = len(self._held) if size < 0 else size
        told = bytes(self._held[:size])
        del self._held[:size]
        return told

    def _chunk(self) -> None:
        assert self._next is not None
        data, behind = self._next, self._stream.read(CHUNK + _TAG)
        nonce = _nonce(self._count, last=not behind)
        self._held += _opened(self._cipher, nonce, data, "it is damaged or cut off")
        self._count += 1
        self._next = behind or None


@contextmanager
def sealing(stream: IO[bytes], passphrase: str) -> Iterator[Sealer]:
    """Seal what is written; the end is written where nothing has failed."""
    sealer = Sealer(stream, passphrase)
    yield sealer
    sealer.close()


def _header_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a head, of the length that one may have."""
    for _ in range(4):
        yield stream.readline(_LONGEST_HEAD)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise Sealed("it is cut off")
    return data


def _nonce(count: int, last: bool) -> bytes:
    return count.to_bytes(11, "big") + bytes([last])


def _opened(cipher: ChaCha20Poly1305, nonce: bytes, data: bytes, otherwise: str) -> bytes:
    from cryptography.exceptions import InvalidTag

    try:
        return cipher.decrypt(nonce, data, None)
    except (InvalidTag, ValueError):
        raise Sealed(otherwise) from None


def _cipher(key: bytes) -> ChaCha20Poly1305:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    except ImportError:
        raise Sealed("cryptography is not installed: pip install 'palimpsest-proxy[encryption]'") from None
    return ChaCha20Poly1305(key)


def _stretched(passphrase: str, salt: bytes, work: int) -> bytes:
    try:
        from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
    except ImportError:
        raise Sealed("cryptography is not installed: pip install 'palimpsest-proxy[encryption]'") from None
    return Scrypt(salt=_LABEL + salt, length=32, n=1 << work, r=8, p=1).derive(passphrase.encode())


def _derived(key: bytes, salt: bytes | None, what: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), length=32, salt=salt, info=what).derive(key)


def _mac(key: bytes, head: bytes) -> bytes:
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.hmac import HMAC

    mac = HMAC(_derived(key, None, b"header"), SHA256())
    mac.update(head)
    return mac.finalize()


def _base64(data: bytes) -> bytes:
    return base64.b64encode(data).rstrip(b"=")


def _bytes(text: bytes) -> bytes:
    try:
        decoded = base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except binascii.Error:
        raise Sealed("its head is damaged") from None
    if _base64(decoded) != text:
        # The bits behind the last byte must be unset, or two heads would say the same.
        raise Sealed("its head is damaged")
    return decoded
