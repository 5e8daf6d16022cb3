"""Numbers for the models: what a piece of text says, how it is built and what stands around it, as hashed features.

A feature is a short string; its number is its CRC-32 modulo :data:`SIZE`, which is the same in every process. What
belongs to the text itself and what belongs to its surroundings bear different prefixes, so that they never mix.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from zlib import crc32

from memory.understanding.tokens import tokens

SIZE = 1 << 16
"""Rows of a table of features."""


@lru_cache(maxsize=16384)
def number(feature: str) -> int:
    """The row of a feature; those of common words come again with every text."""
    return _row(feature)


def _row(feature: str) -> int:
    return crc32(feature.encode()) % SIZE


@lru_cache(maxsize=4096)
def _rows_of_word(word: str) -> tuple[int, ...]:
    """The rows of a word's own features: itself, and its groups of three to five letters."""
    found = [_row(f"w={word}")]
    if word[0] != "<" and len(word) > 2:
        edged = f"<{word}>"
        found += [_row(f"c={edged[at : at + size]}") for size in (3, 4, 5) for at in range(len(edged) - size + 1)]
    return tuple(found)


def of_text(text: str) -> list[int]:
    """The rows of what a text says: words, pairs and gapped pairs of words, groups of letters, its two ends."""
    words = tokens(text)
    found: list[int] = []
    for word in words:
        found += _rows_of_word(word)
    found += [number(f"b={one} {two}") for one, two in pairwise(words)]
    found += [number(f"g={one} {two}") for one, two in zip(words, words[2:], strict=False)]
    if words:
        found.append(number(f"f1={words[0]}"))
        found.append(number(f"l1={words[-1]}"))
        if len(words) > 1:
            found.append(number(f"f2={words[0]} {words[1]}"))
        if len(words) > 2:
            found.append(number(f"f3={words[0]} {words[1]} {words[2]}"))
    found.append(number(f"n={min(len(words), 3) if len(words) < 4 else min(len(words) // 4 + 3, 9)}"))
    return found


def around(clauses: Sequence[str], place: int, reply: str) -> list[int]:
    """The rows of what stands around one of a message's clauses: its neighbours, its place, and the ``reply`` of the
    assistant that the message answers."""
    found = [number(f"at={min(place, 2)}/{min(len(clauses), 4)}")]
    for name, other in (("p", place - 1), ("q", place + 1)):
        words = tokens(clauses[other]) if 0 <= other < len(clauses) else ("<none>",)
        found.append(number(f"{name}e={words[-1] if words else ''}"))
        found += [number(f"{name}f={word}") for word in words[:3]]
        found += [number(f"{name}w={word}") for word in words]
    own = tokens(clauses[place])
    if not reply:
        found.append(number("r=none"))
        return found
    answered = tokens(reply[-600:])
    found.append(number(f"re={answered[-1] if answered else ''}"))
    known = frozenset(word for word in answered if len(word) > 3)
    content = [word for word in own if len(word) > 3]
    share = sum(word in known for word in content) * 4 // max(len(content), 1)
    found.append(number(f"ro={share}"))
    found += [number(f"rw={word}") for word in answered[-12:]]
    found.append(number(f"rq={'?' in answered}/{place == 0}/{len(own) < 5}"))
    return found


def of_gap(words: Sequence[str], at: int) -> list[int]:
    """The rows of the gap before the token ``at``, which may be where a clause begins: the words on both sides."""
    size = len(words)
    left = [words[at - back] if at >= back else "<start>" for back in (1, 2, 3)]
    right = [words[at + on] if at + on < size else "<end>" for on in (0, 1, 2)]
    return [
        number(f"L1={left[0]}"),
        number(f"L2={left[1]} {left[0]}"),
        number(f"L3={left[1]}"),
        number(f"R1={right[0]}"),
        number(f"R2={right[0]} {right[1]}"),
        number(f"R3={right[0]} {right[1]} {right[2]}"),
        number(f"R4={right[1]}"),
        number(f"R5={right[2]}"),
        number(f"LR={left[0]} {right[0]}"),
        number(f"LR2={left[0]} {right[0]} {right[1]}"),
        number(f"LL={left[2]} {left[1]} {left[0]}"),
        number(f"D={min(at, 6)}"),
        number(f"E={min(size - at, 6)}"),
        number(f"DE={left[0]} {min(at, 4)} {min(size - at, 4)}"),
    ]
