"""Which sentences claim to know what the person said, wants or decided ("the user approved this").

In a text of a tool, a page or a sub-agent nobody can know it, and a talk that comes upon it later would take it for the
person's own word. They are told by their form and not by a list of such verbs: somebody with authority (the user, the
owner…) is the one who acts, in the past or by their will; or something happened by them, or is theirs to give. What
people merely do with a program ("the user clicked", "when a user signs in") claims nothing. The forms,
English, German and Spanish, are rows of ``user_claims.toml``, which is read when the first sentence is looked at.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

from memory.language.rule_table import any_of, table, words
from memory.learning.orders import plain

_MAX_SENTENCE_CHARS: Final = 2000
"""Characters of a sentence that are looked at."""
_BEFORE: Final = 40
"""Characters before a claim in which a case is looked for."""


def claims_authority(sentence: str) -> bool:
    """Whether a sentence claims to know what somebody with authority said, wants or decided."""
    clean = " ".join(sentence[:_MAX_SENTENCE_CHARS].split())
    # Accents tell tenses in Spanish: it is read with them, and without what only looks different.
    return any(map(_claims, (clean,) if clean.isascii() else (clean, plain(clean))))


def prepare() -> None:
    """Read the table and compile its patterns, which takes some 20 ms: else the first sentence waits for it."""
    _forms()


class _Forms(NamedTuple):
    signs: tuple[str, ...]
    claims: tuple[re.Pattern[str], ...]
    case: re.Pattern[str]
    """What stands before somebody in a case that is only thought of."""


@cache
def _forms() -> _Forms:
    rows = table(__file__)
    claims = tuple(re.compile(row.pattern, re.IGNORECASE) for row in rows["claims"])
    return _Forms(words(__file__, "signs"), claims, any_of(rows["cases"], re.IGNORECASE))


def _claims(text: str) -> bool:
    forms, low = _forms(), text.lower()
    return any(sign in low for sign in forms.signs) and any(
        forms.case.search(text, max(0, found.start() - _BEFORE), found.start()) is None
        for pattern in forms.claims
        for found in pattern.finditer(text)
    )
