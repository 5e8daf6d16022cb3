"""Who has left, as a statement says: what they did is no longer theirs, whatever else it says.

The forms lie in ``leaving.toml``, in English, German and Spanish. A name is any one word that is on no list: people
type names in lower case, too.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

TABLE: Final = tomllib.loads(Path(__file__).with_name("leaving.toml").read_text("utf-8"))["left"]
_NAME: Final = r"(?P<name>[^\W\d_][\w-]{1,24})"
_NOBODY: Final = frozenset(TABLE["nobody"].split())
_DETERMINER: Final = re.compile(
    r"\b(?:the|a|an|our|my|your|this|that|der|die|das|ein|eine|unser|unsere|mein|meine|el|la|los|las|un|una|mi|nuestr[oa])"
    r"\s+$",
    re.IGNORECASE,
)
CUE: Final = re.compile(
    r"left|quit|resign|retired|moved|switched|gone to|transferred|let go|work|t(?:ook|aken?|aking) |inherit|handed|"
    r"passed|gave|gekündigt|verlassen|ausgeschieden|rente|weggegangen|nicht mehr|gewechselt|geerbt|übernommen|ya no|"
    r"dej|leave|elternzeit|mutterschutz|de baja|se (?:ha|fue|march|jubil|pas)|renunci|hered|asum",
    re.IGNORECASE,
)
"""A cheap look before any form is tried: most statements tell of nobody who left."""


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"(?<!\w){form.replace('NAME', _NAME)}(?!\w)", re.IGNORECASE) for form in TABLE["forms"])


def leavers(text: str) -> frozenset[str]:
    """The names, in lower case, of those who have left as a text says, or whose work it says is somebody else's."""
    if not CUE.search(text):
        return frozenset()
    named = (found for form in _forms() for found in form.finditer(text))
    return frozenset(
        found["name"].lower()
        for found in named
        if found["name"].lower() not in _NOBODY and not _DETERMINER.search(text[: found.start("name")])
    )
