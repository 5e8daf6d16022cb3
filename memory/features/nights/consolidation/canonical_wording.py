"""Which of several wordings of one thing says it best: the one that has most of what the others have, in few words.

A centroid summary of one sentence (Radev et al. 2004, *Centroid-based summarization of multiple documents*): a word
counts as often as other wordings have it, and length is held back. The words stay the person's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from memory.language.terms import words_of

FEW: Final = 4
"""Words that every wording may have beside those that tell something."""


def clearest(
    texts: Sequence[str],
    beside: Sequence[str] = (),
    brevity: float = 0.5,
    weight: Callable[[str], float] = lambda text: 1.0,
) -> str:
    """The clearest of some texts, which say the same; the first of several that are as clear.

    What stands ``beside`` says it, too, but is not to be chosen. ``brevity`` is the power of its length by which a text
    is held back; ``weight`` says what else makes one clear.

    Raises:
        ValueError: when there is none.
    """
    word_lists = [words_of(text) for text in texts]
    counted = Counter(word for own in (*word_lists, *map(words_of, beside)) for word in own)

    def worth(place: int) -> tuple[float, int]:
        own = word_lists[place]
        return weight(texts[place]) * sum(counted[word] - 1 for word in own) / (len(own) + FEW) ** brevity, -place

    return texts[max(range(len(texts)), key=worth)]
