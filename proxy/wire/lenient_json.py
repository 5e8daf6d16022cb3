"""Decoded JSON, read without trust: what is missing, or of another type than it should be, is empty."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson

_LONE = re.compile("[\ud800-\udfff]")


def loads(data: bytes) -> Any:
    """The value; None where the data is no JSON. Lone surrogates in it become U+FFFD, as in a request."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(_LONE.sub("\ufffd", json.dumps(json.loads(data), ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None


def loads_all(texts: Sequence[bytes]) -> list[Any]:
    """The value of each text, as :func:`loads` gives it. Where all of them are JSON they are read in one go."""
    try:
        values: list[Any] = orjson.loads(b"[" + b",".join(texts) + b"]")
    except orjson.JSONDecodeError:
        values = []
    # A text may be no JSON by itself and yet be some beside the others: two values, or the half of one.
    return values if len(values) == len(texts) else [loads(text) for text in texts]


SHORT = 1000
"""Characters of a text of which it is kept in mind whether it is JSON: a client sends its calls again and again."""


def is_json(text: str) -> bool:
    return _short_is_json(text) if len(text) <= SHORT else _is_json(text)


@lru_cache(maxsize=4096)
def _short_is_json(text: str) -> bool:
    return _is_json(text)


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return loads(text.encode(errors="replace")) is not None
    return True


def dump(value: Any) -> str:
    """A value as JSON text."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False)


def str_in(value: dict[str, Any], key: str) -> str:
    """A string field."""
    field = value.get(key)
    return field if isinstance(field, str) else ""


def int_in(value: dict[str, Any], key: str) -> int:
    """A count, never negative."""
    field = value.get(key)
    return max(int(field), 0) if isinstance(field, int | float) and abs(field) < 2**53 else 0


def dict_in(value: dict[str, Any], key: str) -> dict[str, Any]:
    """An object field."""
    field = value.get(key)
    return field if isinstance(field, dict) else {}


def list_in(value: dict[str, Any], key: str) -> list[Any]:
    """A list field."""
    field = value.get(key)
    return field if isinstance(field, list) else []
