"""One text of a JSON object that a strict reader refuses, read as laxly as any server may: NaN, a comma too many, a
number beyond every range, half of a surrogate pair, UTF-16, any depth. What can be read in two ways is refused."""

from __future__ import annotations

import json
import re

from proxy.wire.dialect import BadRequest

MOST_TOKENS = 2_000_000
"""Strings, numbers and marks that are read: reading goes on beside other requests, and takes a second for them."""

MOST_DEPTH = 1_000_000

_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\],:]|[^\s{}\[\],:"]++|(?P<open>")', re.DOTALL)
_CLOSES = {"{": ord("}"), "[": ord("]")}


def text_at_top(body: bytes, name: str) -> str:
    """The text that an object has under a name, the last where it has several; empty where it has none.

    Raises:
        BadRequest: this is no JSON object even so, or the name's value is no text.
    """
    text = body.decode(json.detect_encoding(body), "replace")
    found, key, value = "", "", ""
    has_key = has_colon = False
    closes = bytearray()
    for number, match in enumerate(_TOKEN.finditer(text)):
        token = match[0]
        mark = token[0]
        if match["open"]:
            raise BadRequest("its JSON ends within a string")
        if number >= MOST_TOKENS or len(closes) >= MOST_DEPTH:
            raise BadRequest("its JSON is of a lax kind and too large to be read as such")
        if not closes and (number or mark != "{"):
            raise BadRequest("something follows its JSON object" if number else "it is no JSON object")
        if len(closes) == 1 and mark not in ",:}":
            if not has_key and mark == '"':
                key, has_key = _decoded(token), True
                continue
            if not has_colon or value:
                raise BadRequest("its JSON object has a value without a name")
            value = token
            if key == name:
                if mark != '"' and token != "null":
                    raise BadRequest(f"its {name!r} is no text")
                found = _decoded(token) if mark == '"' else ""
        if mark in "{[":
            closes.append(_CLOSES[mark])
        elif mark in "}]":
            if closes.pop() != ord(mark):
                raise BadRequest("its JSON closes what it did not open")
        elif len(closes) == 1 and mark == ":":
            has_colon = has_key
        if len(closes) == 1 and mark == ",":
            value, has_key, has_colon = "", False, False
    if closes or not text.strip():
        raise BadRequest("its JSON ends too early" if closes else "it is empty")
    return found


def _decoded(token: str) -> str:
    try:
        decoded: str = json.loads(token, strict=False)
    except ValueError:
        raise BadRequest("a text in its JSON object cannot be read") from None
    return decoded
