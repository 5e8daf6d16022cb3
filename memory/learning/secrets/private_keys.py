"""Private keys in text: whole, cut off, escaped in JSON, quoted line by line, or a few lines of one in a log.

Every step moves forward, so that thousands of headers cost no more than their length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory.learning.secrets.values import entropy, is_hex, jumps

_MARK = "PRIVATE KEY"
_MAX_KEY_CHARS = 20_000
_HEADER_BEFORE = re.compile(r"-{2,5}[ \t]{0,2}(BEGIN|END)[A-Z0-9 _]{0,60}\Z")
_HEADER_AFTER = re.compile(r"[A-Z0-9 ]{0,20}-{2,5}")
_END = re.compile(r"-{2,5}[ \t]{0,2}END[A-Z0-9 _]{0,60}PRIVATE KEY[A-Z0-9 ]{0,20}-{2,5}")
_NEWLINE = r"(?:\\{1,8}[nrt]|[\r\n])"
# One line of a key's body and what may stand before it: escapes, quotes, comment signs, `+`, a log's prefix.
_BODY_LINE = re.compile(
    rf"""(?:{_NEWLINE}|[ \t"'`+,;#/*()|>]|\\{{1,8}}(?=["']))*
        (?:(?:Proc-Type|DEK-Info|Version|Comment|Encryption|PPK)[^\n\\]{{0,120}} | [A-Za-z0-9+/=]{{24,}})
        (?=[^A-Za-z0-9+/=_-]|\Z)""",
    re.VERBOSE,
)
_SHORT_LAST = re.compile(
    rf"""{_NEWLINE}{{1,4}} [ \t"'+/*\#>|]{{0,40}}
        (?: [A-Za-z0-9+/]{{1,23}}={{0,2}} (?:(?={_NEWLINE}|["'\\])|\Z) | =[A-Za-z0-9+/]{{4}} )""",
    re.VERBOSE,
)

# DER of PKCS#1, PKCS#8 and SEC1 keys in base64: a sequence whose first member is the version, 0 or 1.
_DER = re.compile(r"M[A-Za-z0-9+/]{2,5}(?:IBA[ADQ]|AgEA|CAQE|AgEB)[A-Za-z0-9+/=]{24,}")
_DER_MARKS = ("IBA", "AgEA", "CAQE", "AgEB")

# A line of 56 to 100 base64 characters and nothing else: the body of a key that was cut, numbered or logged.
_LINE = re.compile(r"[A-Za-z0-9+/]{56,100}={0,2}(?![A-Za-z0-9+/=_\-.:@%])")
_LINE_BEFORE = re.compile(r"(?<![A-Za-z0-9+/=_\-.:@])[A-Za-z0-9+/]{0,84}\Z")
_CERTIFICATE = "-BEGIN CERTIFICATE"


def find_private_keys(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of every private key or piece of one."""
    yield from _armoured(text)
    if any(mark in text for mark in _DER_MARKS):
        for match in _DER.finditer(text):
            yield match.start(), _body_end(text, match.end()), "private key"


def base64_line(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The line of base64 that a run of its letters stands in."""
    if end - start < 56 and text[start - 1 : start] not in ("+", "/") and text[end : end + 1] not in ("+", "/"):
        return None
    before = _LINE_BEFORE.search(text, max(0, start - 85), start)
    line = _LINE.match(text, before.start()) if before else None
    return line.span() if line else None


def key_material(text: str, line: tuple[int, int]) -> tuple[int, int, str] | None:
    """A line of base64, if it is a key's: a certificate's look the same, and are public."""
    return None if _CERTIFICATE in text or not _is_random_base64(text[slice(*line)]) else (*line, "key material")


def _armoured(text: str) -> Iterator[tuple[int, int, str]]:
    done = 0
    at = text.find(_MARK)
    while at >= 0:
        after = _HEADER_AFTER.match(text, at + len(_MARK))
        before = _HEADER_BEFORE.search(text, max(done, at - 70), at) if after else None
        if after is None or before is None:
            at = text.find(_MARK, at + len(_MARK))
            continue
        end = after.end()
        if before.group(1) == "BEGIN":
            end = _body_end(text, end)
            footer = _END.match(text, *_footer_reach(text, end))
            end = footer.end() if footer else end
        yield before.start(), end, "private key"
        done = end
        at = text.find(_MARK, end)


def _footer_reach(text: str, end: int) -> tuple[int, int]:
    """Where a footer may begin behind a body, and how far it reaches."""
    while end < len(text) and text[end] in "\\nrt\"'`+,;# /*()|>\n\t":
        end += 1
    return end, end + 160


def _body_end(text: str, start: int) -> int:
    """The end of the lines of base64 that follow."""
    end, limit = start, min(len(text), start + _MAX_KEY_CHARS)
    while end < limit:
        match = _BODY_LINE.match(text, end, limit)
        if match is None:
            break
        end = match.end()
    if end > start and (last := _SHORT_LAST.match(text, end, limit)):
        end = last.end()
    return end


def _is_random_base64(line: str) -> bool:
    """Random base64, no hexadecimal digest and no path."""
    return (
        not is_hex(line)
        and jumps(line) >= 0.15
        and entropy(line) >= 4.1
        and any(c.islower() for c in line)
        and any(c.isupper() for c in line)
    )
