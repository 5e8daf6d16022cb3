"""What must hold of a body that is sent: one file per dialect, decoded JSON in, sentences out.

The sentences are stable: a body and its edited copy that break the same rule at the same place say the same, but for
the numbers of messages where some left, so that what the client's own body breaks is not held against an edit
(:func:`newly_broken`). Sources: the providers' references and the refusals that clients met after trimming.
"""

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
