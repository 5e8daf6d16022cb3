"""A request's target as one plain path.

A key stands at the front of a URL, ``/k/<key>/…``, and our own endpoints below ``/palimpsest/``. Whatever is written
so that it could be meant for either, and would be forwarded, is refused: a URL that was forwarded tells its key.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from proxy.errors import Refusal

_ABSOLUTE = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/?#]*)", re.IGNORECASE)
_SLASHES = re.compile(r"/{2,}")
_SEPARATORS = re.compile(r"[/\\]")
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ENCODED_AGAIN = re.compile(r"%(?:25)+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_NAMING = frozenset({"models", "deployments", "engines", "model"})
"""Segments behind which a name stands, which may be anything."""

LONGEST = 8192
"""Characters that a target may have which goes to a provider, as most servers take it: whatever reads it does so while
every other request waits."""

ROUNDS = 8
"""As how many texts one is read at most."""


class EncodedTooOften(ValueError):
    """A text is percent-encoded so many times over that nobody means it so."""


def authority_of(target: str) -> str | None:
    """The host and port of a target in absolute form (``http://host:port/path``), as programs send it that take us for
    a forward proxy; None where it is a path."""
    if target.startswith("/"):
        return None
    found = _ABSOLUTE.match(target)
    return found["authority"] if found else ""


def origin_form(target: str) -> str:
    """The path and query of a target, with one slash before them. What stands before the path of an absolute form is
    left out: the door has seen that it is ours."""
    if not target.startswith("/") and (found := _ABSOLUTE.match(target)):
        target = target[found.end() :]
    path, mark, query = target.partition("#")[0].partition("?")
    return f"/{path.lstrip('/')}{mark}{query}"


def forwardable(target: str, is_secret: Callable[[str], bool]) -> str:
    """The path that may go to a provider, of what stands behind a URL's prefix: without doubled or trailing slashes.

    Raises:
        Refusal: when it is too long, holds control characters or dot segments, a key in another place than the front,
            one of our own endpoints, or a secret of ours.
    """
    if len(target) > LONGEST:
        raise Refusal(414, f"the address is longer than {LONGEST} characters", "url")
    path, mark, query = target.partition("?")
    path = _SLASHES.sub("/", path)
    path = path.rstrip("/") or "/"
    try:
        of_path, of_all = readings(path), readings(f"{path}{mark}{query}")
    except EncodedTooOften:
        raise Refusal(400, f"the address is percent-encoded more than {ROUNDS - 1} times over", "url") from None
    for read in of_path:
        _check(read)
    if any(map(is_secret, of_all)):
        raise Refusal(
            400, "a key of ours stands where a provider would read it: it belongs to the front, /k/KEY/…", "url"
        )
    return f"{path}{mark}{query}"


def readings(text: str) -> list[str]:
    """A text as it stands there, and as it reads when it is percent-decoded, once or again and again.

    Raises:
        EncodedTooOften: when there is more to decode after :data:`ROUNDS` of them.
    """
    found, encoded = [text], text
    while (decoded := _ENCODED.sub(_decoded, encoded)) != found[-1]:
        if len(found) == ROUNDS:
            raise EncodedTooOften
        found.append(decoded)
        # A percent sign that was encoded many times over is read at once.
        encoded = _ENCODED_AGAIN.sub("%", decoded)
    return found


def _decoded(run: re.Match[str]) -> str:
    """What some encoded bytes stand for, as ``unquote`` of urllib reads them; that takes long of what is none."""
    return bytes.fromhex(run[0].replace("%", "")).decode("utf-8", "replace")


def _check(path: str) -> None:
    if _CONTROLS.search(path):
        raise Refusal(400, "the path holds control characters", "url")
    segments = [segment.partition(";")[0].strip().lower() for segment in _SEPARATORS.split(path) if segment.strip()]
    if "." in segments or ".." in segments:
        raise Refusal(400, "the path holds dot segments (/./ or /../)", "url")
    if (segments[1:] if segments[:1] == ["v1"] else segments)[:1] == ["palimpsest"]:
        message = "our own endpoints are at /palimpsest/, with nothing before it and each slash once"
        raise Refusal(404, f"{message}; nothing below that name is forwarded", "url")
    for before, segment in zip(["", *segments], segments[:-1], strict=False):
        if segment == "k" and before not in _NAMING:
            raise Refusal(400, "a key stands at the front of the path, before all else: /k/KEY/v1/…", "url")
