"""What an edit broke: the rules of a body are held against it only where the client's own body kept them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_PLACE = re.compile(r"\b([Mm]essage|[Ii]tem|[Bb]lock|[Pp]art) \d+\b")


def newly_broken(before: Iterable[str], after: Iterable[str]) -> list[str]:
    """The sentences about the edited body that the client's own does not call for as often.

    Places are counted, not compared: a message that leaves moves all that stand behind it.
    """
    known = Counter(_PLACE.sub(r"\1", sentence) for sentence in before)
    found = []
    for sentence in after:
        kind = _PLACE.sub(r"\1", sentence)
        if known[kind] > 0:
            known[kind] -= 1
        else:
            found.append(sentence)
    return found
