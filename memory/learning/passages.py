"""A turn cut into passages: word for word, at sentence bounds, at most about 90 tokens each.

Passages stand beside the facts, so that a detail which no rule extracted can still be found. Code, logs and other
machine text are left out of them unless they are short: the journal has them whole.
"""

from __future__ import annotations

import re

from memory.language.sentences import BlockShape, blocks, is_machine_output, sentences, without_tags
from memory.learning.speech import spoken_in

TOKENS = 90
"""Tokens of a passage at most, about: counted in characters, for a tokenizer would cost more than the cut is worth."""
MOST = 60
"""Passages of one turn at most; what is longer was pasted or generated, and the journal has it."""

_CHARACTERS = 4 * TOKENS
_SHORT_CODE = 200
_READ = 60_000
_REQUEST = re.compile(
    r"^(?:(?:can|could|would|will) you |please |just |also ){0,3}(?:tell|explain|describe|show|list|suggest|"
    r"recommend|give|help|summari[sz]e|remind|find me|look up|teach|advise|let me know|i(?:'m| am) (?:wondering|"
    r"curious|looking for)|i(?:'d| would) (?:like|love) (?:to know|some|your|a)|any (?:ideas?|suggestions?|tips|"
    r"recommendations?))\b"
)


def passages(text: str) -> list[tuple[int, str]]:
    """The passages of a turn in order, each with its place; empty for a turn without words."""
    found: list[str] = []
    held = ""
    for unit in _sentences_and_code(without_tags(text[:_READ])):
        for piece in _cut_to_limit(unit):
            if held and _weighted_length(held) + _weighted_length(piece) + 1 > _CHARACTERS:
                found.append(held)
                held = ""
            held = f"{held} {piece}" if held else piece
            if len(found) >= MOST:
                return list(enumerate(found))
    if held:
        found.append(held)
    return list(enumerate(found))


def only_asks(text: str) -> bool:
    """Whether a turn holds nothing but questions, requests for an answer, and greetings."""
    clauses = [clause for clause in spoken_in(text) if len(clause.words) > 2 or clause.question]
    return bool(clauses) and all(clause.question or _REQUEST.match(clause.plain) for clause in clauses)


def _sentences_and_code(text: str) -> list[str]:
    units: list[str] = []
    for block in blocks(text):
        if block.shape is BlockShape.CODE:
            if len(block.text) <= _SHORT_CODE:
                units.append(" ".join(block.text.split()))
            continue
        if block.shape is BlockShape.TABLE:
            units.extend(line for line in block.text.splitlines() if any(c.isalnum() for c in line))
            continue
        text_left = "\n".join(
            line for line in block.text.splitlines() if len(line) <= _SHORT_CODE or not is_machine_output(line)
        )
        units.extend(sentences(text_left))
    return units


def _weighted_length(text: str) -> int:
    """Characters as they weigh in tokens: those of scripts without spaces weigh about four times as much."""
    return len(text) if text.isascii() else len(text) + 3 * sum(c > "\u2e7f" for c in text)


def _cut_to_limit(unit: str) -> list[str]:
    """A sentence that is too long, cut at words, or where there are none, at the limit."""
    if _weighted_length(unit) <= _CHARACTERS:
        return [unit]
    pieces: list[str] = []
    held = ""
    for word in unit.split():
        if _weighted_length(word) > _CHARACTERS:
            if held:
                pieces.append(held)
                held = ""
            step = _CHARACTERS if word.isascii() else _CHARACTERS // 4
            cuts = [word[at : at + step] for at in range(0, len(word), step)]
            pieces.extend(cuts[:-1])
            word = cuts[-1]
        if held and _weighted_length(held) + _weighted_length(word) + 1 > _CHARACTERS:
            pieces.append(held)
            held = word
        else:
            held = f"{held} {word}" if held else word
    if held:
        pieces.append(held)
    return pieces
