"""Take secrets out of text before anything is stored, logged or embedded.

Deterministic, linear in the text's length, and idempotent: what stands in a secret's place is never taken for one. A
long text is read in slices: a search is one call into C, and no other thread has its turn before it returns. Where
they are looked for stands in :mod:`memory.learning.secrets`.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from typing import NamedTuple

from memory.learning.secrets.assignments import find_announced, find_assigned
from memory.learning.secrets.commands import find_commanded
from memory.learning.secrets.issued import find_issued
from memory.learning.secrets.locations import find_located
from memory.learning.secrets.numbers import NUMBERS
from memory.learning.secrets.private_keys import find_private_keys
from memory.settings import NumberKind


@dataclass(frozen=True, slots=True)
class Redacted:
    """Text without its secrets; how many were taken out, and of which kinds (sorted, each once)."""

    text: str
    count: int = 0
    kinds: tuple[str, ...] = ()


Span = tuple[int, int, str]

_PLACEHOLDER = re.compile(r"\[secret: [a-z0-9.]{1,20}(?: [a-z0-9.]{1,20}){0,3}\]")
# A provider's signature or encrypted reasoning is longer than any key that it issues.
_CIPHERTEXT = re.compile(r"[A-Za-z0-9+/]{100,}={0,2}|[A-Za-z0-9+/_-]{250,}={0,2}")
_UNICODE = re.compile(r"u[0-9a-fA-F]{4}")
# A number in JSON stands without quotes; its placeholder must not.
_JSON_MEMBER = re.compile(r"(?P<quote>\\{0,8}\")[ \t]{0,4}:[ \t]{0,4}\Z")
_NUMBER = re.compile(r"-?[0-9][0-9.eE+\-]*")
_MAX_PLACEHOLDER_CHARS = 100
# What a redaction uncovers is looked at again; the bound only guards against a text made to uncover for ever.
_ROUNDS = 8
_MOST_REPEATED = 50

SLICE = 2**16
"""Characters that are read at a time."""

_STEP = 2**20
"""Characters in which a value that is known by now is sought at a time."""

BEFORE, BEHIND = 2**12, 20_480
"""Characters around a slice that are read with it: what gives a secret away before it begins, and the longest secret
that begins in it."""


def redact(text: str, numbers: Collection[NumberKind] = ()) -> Redacted:
    """The text with every secret replaced by a typed placeholder such as `[secret: github token]`; ``numbers`` are the
    kinds that are taken out beside those that the settings ask for.

    Never raises. Text without secrets comes back as the same object.
    """
    rules = _rules(numbers)
    count, kinds = 0, set[str]()
    windows = _windows(len(text))
    for _ in range(_ROUNDS):
        spans = _merged_spans(_found(text, windows, rules), text)
        if not spans:
            break
        count += len(spans)
        kinds.update(kind for _, _, kind in spans)
        text, changed = _with_placeholders(text, spans)
        # Only what stands beside a placeholder is another text than before.
        windows = [each for each in _windows(len(text)) if _any_within(changed, each.begin, each.end)]
    return Redacted(text, count, tuple(sorted(kinds)))


NAMES = 4096
"""Names that are known to hold no secret: the same ones come with every request."""

LONGEST_NAME = 256
"""Characters of those: the signatures of a model's reasoning are looked through anew."""


class _Secret(Exception):
    """A secret stands in a name. Thrown, and not given back, so that no name with a secret is kept at hand."""


class Names:
    """Names (of projects, sessions, models, calls…) as they may be kept, with the secrets that ``redacted`` finds."""

    def __init__(self, redacted: Callable[[str], str]) -> None:
        self._redacted = redacted
        self._harmless = lru_cache(maxsize=NAMES)(self._looked_through)

    def kept(self, name: str, key: bytes) -> str:
        """The name itself, or where a secret stands in it a keyed hash of the whole, so that the same name is the same
        still."""
        try:
            return self._harmless(name) if len(name) <= LONGEST_NAME else self._looked_through(name)
        except _Secret:
            return _hashed(name, key)

    def forget(self) -> None:
        """What is known of names holds no longer."""
        self._harmless.cache_clear()

    def _looked_through(self, name: str) -> str:
        if self._redacted(name) == name or _CIPHERTEXT.fullmatch(name):
            return name
        raise _Secret


def redact_name(name: str, key: bytes) -> str:
    """A name as it may be kept (see :class:`Names`)."""
    return _NAMES.kept(name, key)


def _hashed(name: str, key: bytes) -> str:
    told = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), key=key[:64], digest_size=8).hexdigest()
    return f"secret-{told}"


_NAMES = Names(lambda text: redact(text).text)


def redact_path(path: str, key: bytes) -> str:
    """A path, each of whose names may be kept (:func:`redact_name`)."""
    return path if redact(path).text is path else "/".join(redact_name(part, key) for part in path.split("/"))


class _Window(NamedTuple):
    """A slice (from ``start`` to ``stop``) with what is read around it (from ``begin`` to ``end``)."""

    begin: int
    start: int
    stop: int
    end: int


def _windows(length: int) -> list[_Window]:
    """The slices of a text; a text that is hardly longer than one is read as a whole."""
    if length <= SLICE + BEHIND:
        return [_Window(0, 0, length + 1, length)]
    starts = range(0, length, SLICE)
    return [_Window(max(0, at - BEFORE), at, at + SLICE, min(length, at + SLICE + BEHIND)) for at in starts]


def _any_within(places: Sequence[int], begin: int, end: int) -> bool:
    """Whether one of these places, in order, stands between two others."""
    at = bisect_left(places, begin)
    return at < len(places) and places[at] <= end


_Rule = Callable[[str, str], Iterable[Span]]
# In the order in which they name what several of them find.
_RULES: tuple[_Rule, ...] = (
    lambda text, lower: find_private_keys(text),
    lambda text, lower: find_issued(text),
    find_located,
    find_commanded,
    find_assigned,
    find_announced,
)
# Those that the settings ask for beside; of the process, since all that is stored goes through one door.
_asked_for: tuple[_Rule, ...] = ()


def also_redact(kinds: Collection[NumberKind]) -> None:
    """From now on take numbers of these kinds out too, and of no others."""
    global _asked_for
    asked_for = tuple(NUMBERS[kind] for kind in NUMBERS if kind in kinds)
    if asked_for != _asked_for:
        _asked_for = asked_for
        _NAMES.forget()


def _rules(numbers: Collection[NumberKind]) -> tuple[_Rule, ...]:
    more = tuple(NUMBERS[kind] for kind in NUMBERS if kind in numbers) if numbers else ()
    return (*_RULES, *_asked_for, *(rule for rule in more if rule not in _asked_for))


def _found(text: str, windows: Sequence[_Window], rules: Sequence[_Rule]) -> list[Span]:
    by_rule: list[list[Span]] = [[] for _ in rules]
    for window in windows:
        begin = window.begin
        read = text if len(windows) == 1 and window.end == len(text) and not begin else text[begin : window.end]
        lower = read.lower()
        if len(lower) != len(read):
            # The one letter that grows when it is made small.
            lower = read.replace("İ", "I").lower()
        for spans, rule in zip(by_rule, rules, strict=True):
            spans += [
                (begin + start, begin + end, kind)
                for start, end, kind in rule(read, lower)
                if window.start <= begin + start < window.stop
            ]
    found = list(chain.from_iterable(by_rule))
    return found + list(_repeated_values(text, found)) if found else found


def _repeated_values(text: str, spans: list[Span]) -> Iterator[Span]:
    """The same values where nothing beside them gives them away."""
    values = {text[start:end]: kind for start, end, kind in spans if 8 <= end - start <= 200}
    for value, kind in islice(values.items(), _MOST_REPEATED):
        if value.isdigit() or not any(map(str.isdigit, value)):
            continue
        for begin in range(0, len(text), _STEP):
            end = begin + _STEP + len(value) - 1
            at = text.find(value, begin, end)
            while at >= 0:
                yield at, at + len(value), kind
                at = text.find(value, at + len(value), end)


def _merged_spans(spans: list[Span], text: str) -> list[Span]:
    """Spans in order, overlapping ones joined under the kind of the one that came first in the list."""
    ordered = sorted(enumerate(spans), key=lambda item: (item[1][0], item[0]))
    merged: list[tuple[int, int, str, int]] = []
    for rank, (start, end, kind) in ordered:
        if merged and start < merged[-1][1]:
            before = merged[-1]
            best = before if before[3] <= rank else (0, 0, kind, rank)
            merged[-1] = (before[0], max(before[1], end), best[2], best[3])
        else:
            merged.append((start, end, kind, rank))
    whole = ((*_with_whole_escapes(start, end, text), kind) for start, end, kind, _ in merged)
    return [span for span in whole if span[0] < span[1] and not _placeholder_in(text, span[0], span[1])]


def _placeholder_in(text: str, start: int, end: int) -> bool:
    """Whether a placeholder stands in a span, or a part of one."""
    near = _PLACEHOLDER.finditer(text, max(0, start - _MAX_PLACEHOLDER_CHARS), end + _MAX_PLACEHOLDER_CHARS)
    return any(match.start() < end and start < match.end() for match in near)


def _with_whole_escapes(start: int, end: int, text: str) -> tuple[int, int]:
    """A span that cuts no escape in two: the text may be JSON and must stay so."""
    if start and text[start - 1] == "\\" and start < end:
        start = min(end, start + (5 if _UNICODE.match(text, start) else 1))
    while end > start and text[end - 1] == "\\":
        end -= 1
    return start, end


def _with_placeholders(text: str, spans: list[Span]) -> tuple[str, list[int]]:
    pieces: list[str] = []
    places: list[int] = []
    at = length = 0
    for start, end, kind in spans:
        placeholder = f"[secret: {kind}]"
        member = _JSON_MEMBER.search(text, max(0, start - 24), start)
        if member is not None and _NUMBER.fullmatch(text, start, end):
            placeholder = f"{member.group('quote')}{placeholder}{member.group('quote')}"
        pieces += (text[at:start], placeholder)
        length += start - at
        places.append(length)
        length += len(placeholder)
        at = end
    return "".join((*pieces, text[at:])), places
