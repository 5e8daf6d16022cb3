"""Which sentences tell their reader what to do, by their form alone: nothing here knows whom a sentence quotes, or
whether it means well. Orders that name their reader ("you must", "agents should"), or say who an assistant is to be,
count also where they stand in a longer text. The forms are English's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from memory.language.imperatives import ONLY_VERBS, is_imperative
from memory.language.sentences import sentences
from memory.language.words import vocabulary

_AGENTS = (
    r"(?:chatgpt|gpt|(?:ai|assistant|model|chatbot|bot|agent|llm)s?|everyone|everybody|anyone|"
    r"whoever \w{2,12} \w{2,12}|"
    r"(?:all|any|every|each|future|later) (?:\w{1,12} )?(?:sessions?|readers?|(?:sub-?)?agents?))"
)
_ADVERB = r"(?:(?:\w{2,12}ly|all|also|always|both|just|never|now|only|then|thus) )?"
# "You will find the flag there" foretells.
_WILL = r"will(?! (?:be able|find|get (?:an?|the)|have|need|notice|receive|see)\b)"
_BEGINS = r"(?:(?:\A|[.!?;:,(–—-]\s|\b(?:and|but|so|then)\s)[\s*_#>]{0,4})"
"""Where a clause begins."""
_ORDER_VERBS = vocabulary("assume be begin consider do find give go include keep say stay take tell")
"""Verbs with which it is told what is possible ("You can tell by the date")."""
_PERMITTED = "|".join(sorted(map(re.escape, ONLY_VERBS - _ORDER_VERBS)))
_ORDER = re.compile(
    rf"\bu r\b|\b(?:you|u) {_ADVERB}(?:are|{_WILL}|must|should|shall|have to|need to|ought|do not|don't|never|always|"
    r"act|answer|respond|reply)\b|"
    r"(?<!since )(?<!because )(?<!if )(?<!when )(?<!that )\byou (?:cannot|can't|won't)\b|"
    # "The model must be loaded" is about a model.
    rf"\b{_AGENTS} (?:(?:that|who|which) (?:\w{{2,12}} \w{{2,12}} )?)?{_ADVERB}(?:must|shall|should|"
    # "Every agent needs to hold the lock" tells how a system works.
    r"(?:ha(?:ve|s)|needs?) to(?! (?:acquire|hold|log in|reconnect|renew|wait)\b)|ought to|"
    r"(?:is|are) (?:to|required to|expected to|supposed to)|"
    r"will (?:always|never|only|now|not))\b(?! be \w)|"
    r"\b(?:chatgpt|gpt|ai|assistant|chatbot) (?:always|never)\b|"
    r"\bfrom now on\b|\byour (?:\w{1,15} ){0,2}(?:task|goal|role|job|answers?|responses?|"
    r"replies|reply|output|instructions?|guidelines|prompts?|rules|purpose|mission|name|persona)\b|"
    r"\b(?:previous|prior|above|earlier)[ _]instructions?\b(?! (?:are|in|is|was|were)\b)|"
    r"\bi (?:want|need|would like|order|command) (?:for )?you\b|"
    # "You may now delete it" permits in form only; "you can see it" and "you may find it" tell.
    rf"\b(?:you|u|(?:chatgpt|gpt|(?:ai|assistant|model|chatbot|bot|agent|llm)s?)) (?:can|may|could) {_ADVERB}"
    rf"(?:{_PERMITTED})\b|"
    r"\b(?:act|behave|respond|answer|reply) (?:as|like)\b|"
    rf"{_BEGINS}(?:answer|reply|respond) to (?:all|any|each|every|my)\b|"
    r"\b(?:ai|chatbot|bot|assistant) with(?:out| no) (?:\w{1,12} )?(?:filters?|limit(?:ation)?s|restrictions|rules)\b|"
    r"\b(?:ai|chatbot|bot|assistant|character|persona) (?:\w{1,15} )?(?:named|called)\b",
    re.IGNORECASE,
)
_PLEASE = re.compile(rf"{_BEGINS}please [a-z]{{2}}", re.IGNORECASE)
# Between quotation marks a program asks whoever runs it.
_QUOTED = re.compile(r'"[^"]{1,200}"|“[^”]{1,200}”')
# One of these stands in whatever the pattern finds; to look for them is much cheaper.
_SIGNS = (
    *("you", " u ", "gpt", "ai ", "ais ", "assistant", "model", "bot", "agent", "llm", "every", "anyone", "whoever"),
    *("session", "reader", "from now", "instruction", "please", " as ", " like ", "answer to", "reply to"),
    *("respond to", "character", "persona"),
)
_PERSONA = re.compile(
    r"\bu r\b|\b(?:you|u) (?:\w{1,12} )?are\b|\byou will\b|\bi want you\b|\bfrom now on\b|"
    r"\byour (?:\w{1,15} ){0,2}(?:role|name|persona|purpose|mission)\b|"
    r"\b(?:ignore|disregard|forget|override)\b|\b(?:previous|prior|above|earlier)[ _]instructions?\b|"
    r"\b(?:act|answer|behave|play|pose|reply|respond|speak|talk) (?:as|like)\b|"
    r"\b(?:mode|personalit(?:y|ies)|characters)\b|\b(?:ai|chatbot) with|\b(?:named|called)\b|"
    r"\b(?:pretend|imagine|roleplay|role-play|impersonate|simulate|emulate)\b",
    re.IGNORECASE,
)
_NAMES = vocabulary(
    "you u your from chatgpt gpt ai ais assistant assistants model models chatbot chatbots bot bots agent agents llm "
    "llms everyone everybody anyone whoever all any each every future later previous prior above earlier i act behave "
    "respond answer reply please character persona"
)


def names_reader(text: str) -> bool:
    """Whether a text tells its reader, or an assistant, by name what to do."""
    low = f" {text.lower()} "
    if not any(sign in low for sign in _SIGNS):
        return False
    return _ORDER.search(text) is not None or ("please" in low and _PLEASE.search(_QUOTED.sub("", text)) is not None)


def may_name_reader(text: str) -> bool:
    """Whether the end of a text may be where an order that names its reader begins."""
    return not _NAMES.isdisjoint(re.findall(r"\w+", text[-40:].lower())[-4:])


def gives_persona(order: str) -> bool:
    """Whether an order says who its reader is to be, or what to forget: what comes behind it speaks for it."""
    return _PERSONA.search(order) is not None


_COMMIT = re.compile(
    r"[\W_]*(?:[0-9a-f]{7,40}\b[\W_]{1,6})?"
    r"(?:feat|fix|chore|docs|refactor|test|perf|ci|build)(?:\([\w/, -]{1,40}\))?!?: "
)
# Letters of other scripts that look like Latin ones.
_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеіјорсуѕхһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυ’ʼ‘",
    "ABESIJKMHOPCTYXaeijopcysxhdqwABEZHIKMNOPTYXaiknopu'''",
)


def plain(text: str) -> str:
    """A text as it is compared: without what only looks different, or cannot be seen at all."""
    if not text.isascii():
        folded = unicodedata.normalize("NFKD", text)
        seen = "".join(each for each in folded if unicodedata.category(each) not in ("Cf", "Mn"))
        text = seen.translate(_ALIKE)
    return " ".join(text.split())


def is_order(sentence: str) -> bool:
    """Whether a sentence tells its reader, or an assistant, what to do, by its form, also where it quotes an order
    behind a colon."""
    return any(names_reader(part) or is_imperative(part) for part in _sentence_and_quotes(plain(sentence)))


def gives_orders(text: str) -> bool:
    """Whether an order stands in a text."""
    return any(map(is_order, sentences(text)))


def _sentence_and_quotes(text: str) -> Iterator[str]:
    """A sentence, and what it says behind colons, but for the title of a commit."""
    yield text
    if ": " in text and _COMMIT.match(text) is None:
        yield from text.split(": ")[1:]
