"""What stands in a request to one of our endpoints, checked: whole, or refused with a sentence."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Any, Final, TypeVar

from memory.hooks.route_request import RouteRefused

E = TypeVar("E", bound=StrEnum)

MAX_TEXT_CHARS: Final = 4000
"""Characters of a text to search for or to remember."""

CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""What no text holds: it cannot be stored, or it commands a terminal that shows it."""


def choices(text: str, key: str, of: type[E]) -> frozenset[E]:
    """Values of a list, as in ``decision,preference``; all of them where none is named."""
    text = text.strip()
    if text in ("", "all"):
        return frozenset(of)
    return frozenset(choice(each.strip(), key, of) for each in text.split(","))


def choice(value: Any, key: str, of: type[E]) -> E:
    """One value of a list."""
    try:
        return of(value)
    except ValueError:
        raise RouteRefused(f"{key} is {str(value)[:40]!r}; it is one of {', '.join(of)}", 422) from None


def checked_id(id: str) -> str:
    """An id, or the beginning of one."""
    if not 4 <= len(id) <= 64 or not id.isascii() or not id.isprintable():
        raise RouteRefused("an id, or the beginning of one, has from 4 to 64 characters", 422)
    return id


def checked_text(value: str, key: str, required: bool = False, longest: int = MAX_TEXT_CHARS) -> str:
    """A text of a bearable length, without characters that cannot be stored."""
    text = value.strip()
    if required and not text:
        raise RouteRefused(f"{key} is missing or empty", 422)
    if len(text) > longest:
        raise RouteRefused(f"{key} has {len(text)} characters; {longest} are allowed", 422)
    if CONTROLS.search(text) or not _encodable(text):
        raise RouteRefused(f"{key} holds characters that are no text (control characters, or half of one)", 422)
    return text


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
