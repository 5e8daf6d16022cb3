"""Keys by the shape that their provider gave them, and random runs that betray themselves without one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice

from memory.learning.secrets.prefixes import HARMLESS_PREFIXES, issued_keys
from memory.learning.secrets.private_keys import base64_line, key_material
from memory.learning.secrets.values import drawn, entropy, is_hex, jumps

_JWT = r"[A-Za-z0-9_\-=]{8,}\.[A-Za-z0-9_\-=]{2,}(?:\.[A-Za-z0-9_\-/+=]*){0,3}"
_JWT_HEADS = ("eyJ", "ewog", "ewoJ", "eyA")
_HEAD = 3
"""Letters of a prefix by which it is found."""
# A run of the characters that keys are made of; an escape before it, JSON's or a terminal's, is no part of it.
_RUN = re.compile(r"[A-Za-z0-9_\-]{16,}")
_ESCAPE = re.compile(r"u00[0-9a-fA-F]{2}|x[0-9a-fA-F]{2}|[nrtbf]")
_COLOUR = re.compile(r"[0-9]{1,3}m")
_DOTTED_HEAD = re.compile(r"[A-Za-z0-9.]{1,12}\Z")
_SEPARATOR = re.compile(r"[_\-]")
_SHAPE = re.compile(r"(?:[A-Za-z][A-Za-z0-9]{0,11}[_\-]){1,3}([A-Za-z0-9]{28,})\Z")
_TWO_MORE = re.compile(r"\.[A-Za-z0-9_\-]{4,}\.[A-Za-z0-9_\-]{20,}")
_GOOGLE_CLIENT = re.compile(r"[0-9]{9,14}-[a-z0-9]{31,33}(?:\.apps\.googleusercontent\.com|(?![a-z0-9]))")
_BOT = re.compile(r"(?<![0-9A-Za-z])[0-9]{8,10}:\Z")
_APP = re.compile(r"(?<![0-9A-Za-z])[0-9]{14,17}\|\Z")
_MAILCHIMP = re.compile(r"[A-Za-z0-9]{32}-us[0-9]{1,2}\Z")
_DIGEST = re.compile(r"sha[0-9]{1,3}[-:][A-Za-z0-9+/=]{0,90}\Z")
_LINE_START = re.compile(r"(?:\A|\n|\\n)[^A-Za-z\n]{0,60}\Z")
_LONG = re.compile(r"[A-Za-z0-9]{28,100}")
# Inside one run a key may stand behind another word; more words than this are no key's neighbours.
_MOST_PARTS = 64


def find_issued(text: str) -> Iterator[tuple[int, int, str]]:
    """Keys by their provider's shape: start, end, kind."""
    done = 0
    for run in _RUN.finditer(text):
        start, end = run.span()
        if start < done:
            continue
        before = text[start - 1] if start else ""
        if before == "\\" or before in "[;":
            escape = (_ESCAPE if before == "\\" else _COLOUR).match(text, start) if before else None
            start = escape.end() if escape else start
        found = _at(text, start)
        if found is None and before and before in "./":
            head = _DOTTED_HEAD.search(text, max(done, start - 12), start)
            begin = head.start() if head else start
            found = next((hit for hit in (_at(text, at) for at in range(begin, start)) if hit), None)
        if found is None:
            for separator in islice(_SEPARATOR.finditer(text, start, end - 12), _MOST_PARTS):
                found = _at(text, separator.end())
                if found is not None:
                    break
        if found is None:
            line = base64_line(text, start, end)
            found = key_material(text, line) if line else _unknown_provider_keys(text, start, end, before)
        if found is not None:
            done = found[1]
            yield found


def kind_of(text: str) -> str:
    """The kind of key that a text is as a whole, as in "github token"; empty where it has no provider's shape."""
    found = _at(text, 0)
    return found[2] if found is not None and found[1] == len(text) else ""


def prepare() -> None:
    """Read the table of prefixes, which takes some 13 ms: else the first text with a long word waits for it."""
    _prefixes_by_head()


@cache
def _prefixes_by_head() -> Mapping[str, Sequence[tuple[str, re.Pattern[str], str]]]:
    """Prefix, pattern of what follows and kind, by the first letters of the prefix; the longest prefixes first."""
    rows = [(prefix, re.compile(key.tail), key.kind) for key in issued_keys() for prefix in key.prefixes]
    rows += [(head, re.compile(_JWT), "jwt") for head in _JWT_HEADS]
    by_head: dict[str, list[tuple[str, re.Pattern[str], str]]] = {}
    for row in sorted(rows, key=lambda row: -len(row[0])):
        by_head.setdefault(row[0][:_HEAD], []).append(row)
    return by_head


def _at(text: str, start: int) -> tuple[int, int, str] | None:
    for prefix, tail, kind in _prefixes_by_head().get(text[start : start + _HEAD], ()):
        if text.startswith(prefix, start):
            match = tail.match(text, start + len(prefix))
            if match is not None:
                return start, match.end(), kind
    return None


def _unknown_provider_keys(text: str, start: int, end: int, before: str) -> tuple[int, int, str] | None:
    """Keys of providers that the table does not know: a short prefix and one long random piece, or three pieces."""
    if before == ":" and 33 <= end - start <= 36 and (bot := _BOT.search(text, max(0, start - 11), start)):
        return bot.start(), end, "telegram token"
    if before == "|" and 26 <= end - start <= 28 and (app := _APP.search(text, max(0, start - 18), start)):
        return app.start(), end, "facebook token"
    if text.startswith(".", end) and jumps(text[start:end]) >= 0.2 and (parts := _TWO_MORE.match(text, end)):
        return start, parts.end(), "token"
    if client := _GOOGLE_CLIENT.match(text, start):
        return start, client.end(), "google client id"
    if _stands_alone(text, start, end):
        return start, end, "key"
    if end - start >= 60 and ("JQQJ99" in text[start:end] or "AZDO" in text[start:end]):
        return start, end, "azure key"
    if _is_random_run(text, start, end):
        return start, end, "key"
    if mailchimp := _MAILCHIMP.match(text, start, end):
        return start, mailchimp.end(), "mailchimp key"
    match = _SHAPE.match(text, start, end)
    if match is None:
        if (
            end - start >= 28
            and (piece := _LONG.search(text, start, end))
            and drawn(piece.group())
            and _is_unexplained(text, start, end)
        ):
            return start, end, "key"
        return None
    tail = match.group(1)
    if tail.startswith(("kwDO", "kgDO")) or is_hex(tail) or jumps(tail) < 0.25 or entropy(tail) < 3.5:
        return None
    return (start, end, "api key") if _is_unexplained(text, start, end) else None


def _is_random_run(text: str, start: int, end: int) -> bool:
    """Whether a run is longer than any word, of all kinds of characters, and no digest: what else is it for?"""
    run = text[start:end]
    return (
        end - start >= 60
        and "_" not in run
        and "-" not in run
        and not _DIGEST.search(text, max(0, start - 100), start)
        and any(map(str.isupper, run))
        and any(map(str.islower, run))
        and any(map(str.isdigit, run))
    )


def _is_unexplained(text: str, start: int, end: int) -> bool:
    """Whether nothing says that a random run is a harmless one: an id's prefix, or a digest around it."""
    if _SEPARATOR.split(text[start : start + 24], maxsplit=1)[0].lower() in HARMLESS_PREFIXES:
        return False
    return text[end : end + 1] not in ("/", "+") and not _DIGEST.search(text, max(0, start - 100), start)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a random word has a line of its own, behind a number or a time at most: a token that was printed, or the
    short last line of a key."""
    if not 20 <= end - start < 28 or (end < len(text) and text[end] not in "\r\n\\"):
        return False
    word = text[start:end]
    return word.isalnum() and drawn(word) and _LINE_START.search(text, max(0, start - 64), start) is not None
