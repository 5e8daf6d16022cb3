"""Cut JSON text into raw slices and say where each slice lies, without decoding what nobody asked for.

A slice is a view into the text that it was cut from (:class:`msgspec.Raw`), so 400 KB are cut in a fraction of a
millisecond and every slice knows its offset: that is what makes splicing exact, also with duplicate keys, where the
last one counts. The scanner is strict, and two kinds of text that providers do accept would stop it: a byte order
mark, and lone surrogates in escapes (a runtime that cut a string in the middle of an emoji sends them). Both are
masked in a copy *of the same length*; offsets in the copy are offsets in the body, and the body stays as it is.

Remember what a slice was read as: a client sends its whole history again with every request.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Callable, Hashable, Iterator
from operator import itemgetter
from typing import Any, TypeVar

import msgspec
import orjson

from memory.lru import WeighedDict
from proxy.wire.dialect import BadRequest, Unreadable

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LIST = msgspec.json.Decoder(list[msgspec.Raw])

MOST_ITEMS = 20_000
"""Items of a list that is read: no message has so many parts, and reading them would hold everybody else up."""

MOST_MESSAGES = 60_000
"""Messages that are read: where a tool's call and its result are items of their own, twenty thousand steps of a session
that never ends."""

MOST_FIELDS = 1000
"""Fields of a body that is read."""

MOST_VALUE = 2**25
"""Bytes of a string that is read: everybody waits while one is decoded."""

_LARGE = 2**20
"""Bytes from which on a body that is no strict JSON is not read once more."""

_CHECKED = 2**19
"""Bytes from which on it is looked at first whether a body has more parts than anybody has, whose slices would all be
made in one call. One below is cut in some milliseconds, whatever is in it."""

_FEW_FIELDS, _FEW_COMMAS = 50_000, 300_000
"""Up to which it need not be looked where they stand."""

_MOST_MARKS = 2_000_000
"""Strings, brackets and commas that are looked at: half a second of work, beside others."""

_WINDOW = 2**20
_MARK = re.compile(rb'["{}\[\],]')
_IN_STRING = re.compile(rb'[^"\\]{0,4096}+(?:\\.?+[^"\\]{0,4096}+){0,256}+', re.DOTALL)
"""A piece of a string, up to its end at most: everybody waits while a long one is looked through at once."""

_UTF_8 = codecs.getincrementaldecoder("utf-8")
_BOM = b"\xef\xbb\xbf"
_TOO_DEEP = "The JSON is nested too deeply."
_ESCAPE = re.compile(
    rb"\\(?:"
    rb"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair: one character
    rb"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|.)",
    re.DOTALL,
)


def cut(body: bytes) -> tuple[bytes, dict[str, msgspec.Raw]]:
    """The text that was cut (the body itself, or its masked copy) and the slices of its top-level values.

    Raises:
        BadRequest: not JSON, not UTF-8, nested too deeply, or not an object.
        Unreadable: JSON by a laxer reading than ours (NaN, UTF-16, line breaks in strings).
    """
    text = body if not body.startswith(_BOM) else b"   " + body[len(_BOM) :]
    try:
        if not text.isascii():
            _check_encoding(text)
        if len(text) >= _CHECKED:
            _check_parts(text)
        try:
            return text, _OBJECT.decode(text)
        except msgspec.ValidationError:
            raise BadRequest("The body must be a JSON object.") from None
        except msgspec.DecodeError:
            text = masked(text)
            return text, _OBJECT.decode(text)
    except RecursionError:
        raise BadRequest(_TOO_DEEP) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _refusal_of(body, error) from None


def masked(text: bytes) -> bytes:
    """JSON text of the same length in which every lone surrogate is a replacement character."""
    found = bytearray(text)
    for escape in _ESCAPE.finditer(text):
        if escape["lone"]:
            found[escape.start() : escape.end()] = rb"\ufffd"
    return bytes(found)


def _check_parts(text: bytes) -> None:
    """See that no more slices are made at once than anybody has fields, messages or parts.

    Raises:
        Unreadable: there are more.
    """
    fields = min(_count_occurrences(text, b":"), _count_strings(text))
    if fields <= _FEW_FIELDS and _count_occurrences(text, b",") <= _FEW_COMMAS:
        return
    commas: list[int] = []
    mosts: list[int] = []
    for number, mark in enumerate(_marks(text)):
        if number > _MOST_MARKS:
            raise Unreadable("more values than anybody sends")
        if mark in b"{[":
            is_list = mark == 0x5B
            mosts.append(MOST_FIELDS if not mosts else MOST_MESSAGES if is_list and len(mosts) == 1 else MOST_ITEMS)
            commas.append(0)
        elif not commas:
            return  # no object: the scanner says so
        elif mark in b"}]":
            commas.pop()
            mosts.pop()
        elif mark == 0x2C:
            commas[-1] += 1
            if commas[-1] > mosts[-1]:
                raise Unreadable(f"more than {mosts[-1]} values in one")


def _check_encoding(text: bytes) -> None:
    """Raises:
    UnicodeDecodeError: it is not UTF-8.
    """
    decoder = _UTF_8()
    for window in _windows(text):
        decoder.decode(window)
    decoder.decode(b"", final=True)


def _marks(text: bytes) -> Iterator[int]:
    """The brackets and commas of JSON text that stand in none of its strings, and of each string the quote that it
    begins with."""
    at, end = 0, len(text)
    while at < end:
        found = _MARK.search(text, at, at + _WINDOW)
        if found is None:
            at += _WINDOW
            continue
        at = found.end()
        mark = text[at - 1]
        if mark == 0x22:
            while at < end and text[at] != 0x22:
                at = _end_of_piece(text, at)
            at += 1
        yield mark


def _end_of_piece(text: bytes, at: int) -> int:
    piece = _IN_STRING.match(text, at)
    assert piece is not None, "it matches anything"
    return piece.end()


def _count_strings(text: bytes) -> int:
    """How many strings JSON text has: half as many as quotes that no backslash stands before, but for one that is
    itself escaped."""
    quotes, held = 0, b""
    for window in _windows(text):
        whole = held + window
        # What the last one of an odd number of backslashes escapes stands in the next window.
        held = b"\\" * ((len(whole) - len(whole.rstrip(b"\\"))) % 2)
        plain = whole[: len(whole) - len(held)].replace(rb"\\", b"")
        quotes += plain.count(b'"') - plain.count(rb"\"")
    return (quotes + 1) // 2


def _count_occurrences(text: bytes, what: bytes) -> int:
    """How often a byte occurs."""
    return sum(window.count(what) for window in _windows(text))


def _windows(text: bytes) -> Iterator[bytes]:
    """A text in pieces, as others wait for each."""
    return (text[at : at + _WINDOW] for at in range(0, len(text), _WINDOW))


def _refusal_of(body: bytes, error: Exception) -> Exception:
    """Why a body that the strict scanner refuses is not read: that is the client's fault, or for the provider to judge,
    as a large one is: everybody would wait while it is read once more."""
    if len(body) >= _LARGE:
        return Unreadable(f"not JSON by a strict reading: {error}")
    try:
        value = json.loads(body, strict=False)
    except RecursionError:
        return BadRequest(_TOO_DEEP)
    except ValueError:
        return BadRequest(f"The body is not valid JSON: {error}")
    if not isinstance(value, dict):
        return BadRequest("The body must be a JSON object.")
    return Unreadable(f"JSON of a lax kind: {error}")


def fields_of(raw: msgspec.Raw | None) -> dict[str, msgspec.Raw]:
    """The slices of an object's values; empty if it is none.

    Raises:
        BadRequest: nested too deeply.
    """
    if raw is None or not is_object(raw):
        return {}
    try:
        return _OBJECT.decode(raw)
    except RecursionError:
        raise BadRequest(_TOO_DEEP) from None


def items_of(raw: msgspec.Raw | None, most: int = MOST_ITEMS) -> list[msgspec.Raw]:
    """The slices of a list's items; empty if it is none.

    Raises:
        BadRequest: nested too deeply.
        Unreadable: there are more of them than anybody has messages, parts or tools.
    """
    if raw is None or not is_list(raw):
        return []
    try:
        items = _LIST.decode(raw)
    except RecursionError:
        raise BadRequest(_TOO_DEEP) from None
    if len(items) > most:
        raise Unreadable(f"a list of {len(items)} items")
    return items


def is_object(raw: msgspec.Raw | None) -> bool:
    """Whether a slice is a JSON object."""
    return raw is not None and memoryview(raw)[0] == 0x7B


def is_list(raw: msgspec.Raw | None) -> bool:
    """Whether a slice is a JSON list."""
    return raw is not None and memoryview(raw)[0] == 0x5B


def is_string(raw: msgspec.Raw | None) -> bool:
    """Whether a slice is a JSON string."""
    return raw is not None and memoryview(raw)[0] == 0x22


def value_of(raw: msgspec.Raw | None) -> Any:
    """A slice, decoded; None where there is none, and for a number that is too large to be one.

    Raises:
        BadRequest: nested too deeply.
        Unreadable: longer than anything that somebody says.
    """
    if raw is None:
        return None
    if len(memoryview(raw)) > MOST_VALUE:
        raise Unreadable(f"a value of {len(memoryview(raw))} bytes")
    try:
        return orjson.loads(memoryview(raw))
    except orjson.JSONDecodeError:
        pass
    try:  # a number beyond a double's range
        return json.loads(bytes(raw))
    except RecursionError:
        raise BadRequest(_TOO_DEEP) from None
    except ValueError:
        return None


def string_of(raw: msgspec.Raw | None) -> str:
    """A slice's string; empty where it is missing or something else."""
    return value_of(raw) if is_string(raw) else ""


def count_of(*slices: msgspec.Raw | None) -> int:
    """The first of some slices that is a whole number above zero; 0 where none is."""
    values = (value_of(raw) for raw in slices if raw is not None)
    return next((value for value in values if type(value) is int and value > 0), 0)


def text_of(raw: msgspec.Raw | None) -> str:
    """A slice's JSON text; empty where it is missing."""
    return "" if raw is None else bytes(raw).decode()


def span(text: bytes, raw: msgspec.Raw) -> tuple[int, int]:
    """Where a slice begins and ends in the text that it was cut from.

    Raises:
        ValueError: the slice is not of this text.
    """
    start = offset_of(text, raw)
    return start, start + len(memoryview(raw))


def offset_of(text: bytes, raw: msgspec.Raw) -> int:
    """Where a slice lies in the text that it was cut from.

    Raises:
        ValueError: the slice is not of this text.
    """
    at = _address(raw) - _address(text)
    if not 0 <= at <= len(text) - len(memoryview(raw)):
        raise ValueError("the slice was not cut from this text")
    return at


def _address(buffer: bytes | msgspec.Raw) -> int:
    # Imported here: it takes a tenth of a start, which reads no body.
    import numpy as np

    address: int = np.frombuffer(buffer, dtype=np.uint8).__array_interface__["data"][0]
    return address


T = TypeVar("T")

# What a remembered value weighs beside its text: objects, digest, the key.
_OVERHEAD = 1200
_WEIGHT = itemgetter(1)


class SliceCache:
    """A bounded memory of parsed slices, least recently used first out. ``limit`` is in bytes of their JSON text."""

    def __init__(self, limit: int = 8 << 20) -> None:
        self._known: WeighedDict[tuple[Hashable, bytes], tuple[Any, int]] = WeighedDict(limit, _WEIGHT)

    @property
    def limit(self) -> int:
        """Bytes that may be remembered."""
        return self._known.room

    @property
    def held(self) -> int:
        """Bytes of what is remembered."""
        return self._known.held

    def of(self, raw: msgspec.Raw, manner: Hashable, parse: Callable[[msgspec.Raw], T]) -> T:
        """What the slice says. ``manner`` tells apart what one slice can be read as."""
        key = manner, hashlib.blake2b(raw, digest_size=16).digest()
        with self._known.lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                value: T = known[0]
                return value
        value = parse(raw)
        self._known.put(key, (value, len(memoryview(raw)) + _OVERHEAD))
        return value
