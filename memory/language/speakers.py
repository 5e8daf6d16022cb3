"""Whose words a line is, where it says so itself: "Caroline: I went there yesterday", as chats are written down."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memory.language.calendar import WEEKDAYS
from memory.language.vocabulary import vocabulary

_SPEAKER_LINE: Final = re.compile(r"^[\s>*_-]{0,4}(?P<name>[A-Z][\w'’-]{1,30}(?: [A-Z][\w'’-]{1,30})?)[*_]{0,2}: \S")
_LABELS: Final = vocabulary(
    "note notes warning error errors info debug todo fixme hint tip example examples answer question task goal "
    "context summary result results output input step option options file line date time subject re fix feat user "
    "assistant system human ai bot update edit issue bug problem solution reason cause status title name type "
    "description yes no remember reminder remembered decision rule rules convention preference constraint requirement "
    "fact done understood noted agreed correct correction corrected right sure great perfect thanks plan steps next "
    "previous before after now then today tomorrow yesterday "
    "please always never however conclusion background overview details changelog changes changed added removed fixed "
    "chore docs refactor test tests expected actual recap remark tldr fyi ps ok first second third finally also "
    "important caution usage default returns args raises see source url http https"
).union(WEEKDAYS)


@lru_cache(maxsize=2048)
def speaker_in(text: str) -> str:
    """The name that a line begins with as its speaker's, or an empty string."""
    match = _SPEAKER_LINE.match(text)
    if match is None or any(word in _LABELS for word in match["name"].lower().split()):
        return ""
    return match["name"]
