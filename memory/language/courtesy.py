"""Sentences that are courtesy and nothing else: "Thanks, Caroline!", "That's great!", "Let me know if you need more."

Told by what they are made of: every word is one of greeting, thanks or praise, or of the few that hold these together,
or the name of whom they are said to. What could be an answer ("yes", "it was great", "Great, Monday!", "The weekend is
good"), a question or a refusal is none.
"""

from __future__ import annotations

import re
from typing import Final

from memory.language.calendar import MONTH_NAME, WEEKDAY
from memory.language.entities import speaker_in
from memory.language.sentences import sentences
from memory.language.words import stems, vocabulary

MOST: Final = 2
"""Stems of thanks or praise at most: what says more says something."""
MAX_COURTESY_CHARS: Final = 140
"""Characters of a courtesy at most."""

_POLITE: Final = vocabulary(
    "wow woah whoa woohoo yay haha hahaha lol aww thanks thank thx cheers congrats congratulations great good cool "
    "nice awesome amazing incredible fantastic wonderful lovely super sweet impressive inspiring brilliant excellent "
    "perfect neat kudos welcome bye goodbye helpful danke merci gracias"
)
_GREETING: Final = vocabulary("hey hi hello hallo greetings")
"""A courtesy to somebody who is named; alone it tells that a talk begins."""
_BETWEEN: Final = vocabulary(
    "that that's thats this is so really very much a an lot to hear see you you're your such what how oh ah all guys "
    "everyone folks there again and for the sharing question idea ideas point choice job work look looks sound sounds "
    "those are these suggestion suggestions recommendation recommendations advice tip tips help info update feedback "
    "initiative have day evening weekend luck from"
)
_OFFERING: Final = vocabulary(
    "if you need have any more other further additional question questions assistance help concern concerns or "
    "anything else i can assist with please let me know feel free to ask reach out don't hesitate there's there is be "
    "happy glad i'd i'll i'm would will just that this you're you'd like"
)
_OFFER: Final = re.compile(
    r"(?=.*\b(?:help|assist\w*|questions?|anything else|ask|reach out)\b)"
    r".*\b(?:let me know|feel free|hesitate|happy to|glad to|anything else|i can)\b"
)
_PHRASES: Final = frozenset(
    ("take care", "keep it up", "keep going", "talk soon", "talk to you soon", "talk to you later", "see you soon")
)
_INFORMATIVE: Final = re.compile(
    r"\bdon't (?!hesitate)|\bthe\b(?<!for the)|^(?!.*\bhave\b).*\b(?:day|evening|weekend)\b"
    rf"|\b(?:{WEEKDAY}|{MONTH_NAME})\b"
)
"""What is said of something, or when, in words of courtesy."""
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence says nothing but a courtesy."""
    if len(sentence) > MAX_COURTESY_CHARS:
        return False
    polite = greeted = named = False
    loose = True
    spoken: list[str] = []
    for place, word in enumerate(_WORD.findall(sentence.replace("’", "'"))):
        known = word.lower()
        if known in _POLITE:
            polite = True
        elif known in _GREETING:
            greeted = True
        elif known not in _BETWEEN and place and known not in _OFFERING and word[0].isupper() and word[1:].islower():
            named = True
            continue
        else:
            loose = loose and known in _BETWEEN
        spoken.append(known)
    words = " ".join(spoken)
    if _INFORMATIVE.search(sentence.replace("’", "'").lower()):
        return False
    if words in _PHRASES or (_OFFERING.issuperset(spoken) and _OFFER.match(words)):
        return True
    return loose and "?" not in sentence and (polite or (greeted and named)) and len(set(stems(sentence))) <= MOST


def courtesies(text: str) -> tuple[tuple[int, int], ...]:
    """Where the courtesies of a text lie, as (start, end) in characters, each with the space behind it. A speaker's
    name before one stays. Empty where the sentences are not found again word for word."""
    found: list[tuple[int, int]] = []
    at = 0
    open_ = False
    for sentence in sentences(text):
        start = text.find(sentence, at)
        if start < 0:
            return ()
        if open_:
            found[-1] = (found[-1][0], start)
        at = start + len(sentence)
        label = len(speaker_in(sentence))
        start += label + 2 if label and sentence[label : label + 2] == ": " else 0
        open_ = is_courtesy(text[start:at])
        if open_:
            if found and found[-1][1] == start:
                found[-1] = (found[-1][0], at)
            else:
                found.append((start, at))
    return tuple(found)
