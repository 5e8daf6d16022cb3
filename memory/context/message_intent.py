"""What kind of message a person wrote: one that seeks something to be known, one that orders, or one of no subject.

A question after a fact ("what is my sister called?", "when did we move?") is put to whoever may know, memory first:
little evidence is enough to offer what is remembered. An order ("rename the folder") is put to the agent: memory
only speaks up when it clearly has to do with it. And a message may only move the work on ("add tests for this").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from memory.language.imperatives import begins_with_subject
from memory.language.words import stem
from memory.language.words import stems as stems_of

_LEAD: Final = (
    r"(?:^|[.!?,;:\n—–-]\s*+|\b(?:and|so|but|me|us|remember|know|knows|forget|forgot|recall|wonder|wondering|this|time"
    r"|again)\s++)[\"'(]?"
)
_OPEN: Final = re.compile(
    _LEAD + r"(?:(?:in|on|at|from|for|with|by|to|about|of|after|around|before|during|since|until|under)\s+(?:the\s+)?)?"
    r"(?:who|whom|whose|what|when|where|which|why|how)(?:'s|’s|'re|’re|'d|’d)?\b[^.!?\n]{0,300}\?",
    re.IGNORECASE,
)
"""A question with a question word at the head of its clause."""

_WHY: Final = re.compile(
    r"\b(?:why|how come|what for|(?:what|which)(?: is|'s|’s| was| were)? the reasons?|warum|wieso|weshalb|weswegen|"
    r"por qué)\b",
    re.IGNORECASE,
)
"""A question for a reason."""

_CLOSED: Final = re.compile(
    _LEAD + r"(?:(?i:is|are|was|were|do|does|did|has|have|had|would|will)\s+(?:[A-Z][a-z]+\b|(?i:my|our|both)\b)"
    r"|(?i:did|am|was|do|have|had)\s+I\b)[^.!?\n]{0,300}\?"
)
"""A question to be answered by yes or no that is about the asker or about somebody or something with a name."""

_STATEMENT: Final = re.compile(
    _LEAD
    + r"(?:please\s+)?(?:name|tell me|remind me|recall|look up)\b[^.!?\n]{0,200}\b(?:i|i've|my|we|we've|our|us)\b",
    re.IGNORECASE,
)
"""An order to say something about the asker: a question in another form."""

_ADVICE: Final = re.compile(
    r"\b(?:recommend\w*|suggest(?:ions?|ed)?|advice|advise|tips|ideas (?:for|on|about))\b[^.!\n]{0,300}\?",
    re.IGNORECASE,
)
_CHOOSES: Final = re.compile(
    r"\bshould (?:i|we)\b|\b(?:what|which|any)(?: \w+)? (?:are|is|would be|'s) (?:some|a few|the best|your|good|a good|"
    r"my)\b|\b(?:options|choices|ways) (?:for|to|i|we)\b|\bbest (?:way|place|\w+ (?:for|to|in))\b|\b(?:for|help) me\b",
    re.IGNORECASE,
)
"""Wishes for advice, in which what the asker likes and dislikes counts."""


SENTENCE: Final = re.compile(r"[^.!?\n]*(?:[.!?](?!\s|$)[^.!?\n]*)*(?:[.!?]+|\n|$)")
"""A sentence of a message with what ends it, where only its shape counts."""
_ORDER: Final = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|so|now|also|and|yes|yeah|yep|yup|but|then|well|alright|great|good|cool|nice|perfect|thanks"
    r"|h(?:ey|i|ello|allo)(?: there)?|q|question|please|just|first|actually|before we \w+|next)[\s,.:!;-]+){0,4}"
    r"(?:(?:can|could|would|will|may|shall|should) (?:you|we|i)\b|let'?s\b|let us\b|(?:i|we) (?:want|need|would like"
    r"|'d like) (?:you )?to\b|i'd like (?:you )?to\b|we (?:should|need to)\b|go ahead\b"
    r"|(?:continue|check|add|remove|update|create|make|run|rerun|close|rebase|write|rewrite|find|look|implement|show"
    r"|tell|explain|try|retry|do|redo|read|see|rename|delete|replace|refactor|investigate|analy[sz]e|compare"
    r"|publish|put|give|get|keep|undo|revert|summari[sz]e|describe|generate|verify|confirm|ensure|double|clean"
    r"|create|resolve|take|bring|suggest|recommend|clone|fetch|bump|send"
    r"|(?P<noun>fix|commit|push|pull|open|merge|review|use|test|start|stop|move|change|deploy|install|build|set"
    r"|list|search|address|sort|wait|help|tag|split|extract|drop|cancel|book|report))\b)",
    re.IGNORECASE,
)
"""How an order or a proposal of the moment begins."""

_FORGOT: Final = re.compile(
    r"\b(?:forgot|forget|remind me|misremember|need to know|(?:don't|can't|cannot|do not) (?:quite )?"
    r"(?:remember|recall))\b",
    re.IGNORECASE,
)
_MOSTLY: Final = 0.6

_MOVING: Final = (
    # agreement, order of work, pointing
    "continue proceed go ahead next step start stop wait done do did fine good great nice cool perfect sure agree "
    "agreed correct right wrong yep yup nope no yes please retry try again redo undo it run that this them looks look "
    "sounds sound first second third last one two three four five both all rest option options number push ship "
    "approve approved accept accepted confirm confirmed lgtm hmm thx ty cheers lol let's lets make carry keep going "
    "work works working thing things stuff part point item items list set use using give put take turn want need like "
    # what is done to anything
    "plan plans add added remove removed delete deleted create created find show describe compare open close move "
    "replace follow include complete finish think understand see address resolve solve edit apply explain ensure new "
    "current latest previous missing same different existing outstanding ready clean show look check checked handle "
    "support update updated change changes changed write read search suggestion suggestions finding findings approach "
    "case cases scenario scenarios description recommend recommended recommendation recommendations suggest advice "
    "tips idea ideas choice choices looking consider"
)
_WORKING: Final = (
    # what work on software consists of, whatever it is about
    "test tests tested testing coverage integration unit code coding codebase file files line lines function functions "
    "method methods class branch branches commit commits committed pr prs pull request merge merged rebase repo "
    "repository git github issue issues bug bugs error errors fix fixes fixed diff review reviewed reviewer comment "
    "comments build builds lint linter ci task tasks todo feature features functionality version docs doc "
    "documentation log logs output script command commands local remote main master origin conflict conflicts fail "
    "failing failed failure failures warning warnings implementation implement implemented refactor cleanup agent "
    "agents subagent subagents session sessions prompt prompts prompting user users rewrite verify validate validation "
    "summarize investigate analyze fetch publish deploy deployment install installed rename revert debug hook hooks "
    "config configuration setting settings flag flags variable type types module package library dependency api "
    "endpoint database query schema json yaml server client cli directory folder path template templates default "
    "enable enabled disable disabled release tag run running worktree diff patch stack trace exception"
)
_WORKS: Final = frozenset(map(stem, _WORKING.split()))
_NODS: Final = frozenset(map(stem, _MOVING.split()))
_MOVES: Final = _WORKS | _NODS


def seeks(sentence: str) -> bool:
    """Whether it asks for something to be known, or for advice."""
    return bool(
        _OPEN.search(sentence) or _CLOSED.search(sentence) or _STATEMENT.search(sentence) or _ADVICE.search(sentence)
    )


def asking(text: str) -> list[str]:
    """The sentences of a message that seek something."""
    return [sentence for piece in SENTENCE.findall(text) if (sentence := piece.strip()) and seeks(sentence)]


def asks_why(text: str) -> bool:
    """Whether a message asks for a reason."""
    return bool(_WHY.search(text))


def wants_advice(text: str) -> bool:
    """Whether a message asks for a recommendation, so that its writer's preferences have to do with it."""
    return bool(_ADVICE.search(text) or _CHOOSES.search(text))


def only_moves_on(stems: Iterable[str]) -> bool:
    """Whether a message names nothing but steps of the work at hand, so that memory has nothing to look for."""
    return _MOVES.issuperset(stems)


@lru_cache(maxsize=2048)
def only_nods(text: str) -> bool:
    """Whether a text only agrees, points or lets the work go on ("Sounds good.", "Go ahead."): it names nothing."""
    return _NODS.issuperset(stems_of(text))


def about_work(stems: Iterable[str]) -> float:
    """The share of a message's words that belong to any work on software, 0..1.

    What such a question is after mostly stands in the files at hand, not in memory.
    """
    words = list(stems)
    return sum(stem in _WORKS for stem in words) / len(words) if words else 0.0


@lru_cache(maxsize=2048)
def tells(text: str) -> bool:
    """Whether a text states anything, rather than only asking or ordering what was then the next step."""
    for piece in _sentences_beyond_exclamations(text):
        if piece[-1] != "?" and ((order := _ORDER.match(piece)) is None or _describes_first_word(order)):
            return True
    return False


def only_exclaims(text: str) -> bool:
    """Whether a text is nothing but a word or two at a time ("Good day."): no order either."""
    return not _sentences_beyond_exclamations(text)


@lru_cache(maxsize=2048)
def mostly_asks(text: str) -> bool:
    """Whether a text is a question with little more than what frames one.

    "I forgot, which one was it? Answer in one word." tells nothing but that it was asked.
    """
    pieces = _sentences_beyond_exclamations(text)
    asking = [piece for piece in pieces if piece.endswith("?") or _FORGOT.search(piece)]
    framing = [
        piece
        for piece in pieces
        if piece not in asking and (order := _ORDER.match(piece)) and not _describes_first_word(order)
    ]
    return bool(asking) and _words(asking) + _words(framing) >= _MOSTLY * _words(pieces)


def _describes_first_word(order: re.Match[str]) -> bool:
    """Whether what begins like an order is a sentence about what its first word names."""
    return order.lastgroup is not None and begins_with_subject(order.string[order.start("noun") :])


def _words(pieces: Iterable[str]) -> int:
    return sum(len(piece.split()) for piece in pieces)


_EXCLAIMED: Final = 2
"""Words of an exclamation at most."""
_UNSPACED: Final = 8
"""Stems of one at most where no spaces part words: signs, and pairs of them."""


def _sentences_beyond_exclamations(text: str) -> list[str]:
    found = [piece.strip() for piece in SENTENCE.findall(text)]
    return [each for each in found if len(each.split()) > _EXCLAIMED or len(stems_of(each)) > _UNSPACED]
