"""Corrections: the person says that something was wrong, and often what is right.

The strongest signal there is. Both sides are kept: the clause itself says what is right, ``wrong`` what was
believed before, taken from the clause ("X, not Y", "instead of Y", "I meant X, not Y") or else from the reply
that it answers.
"""

from __future__ import annotations

import re

from memory.fact import Category, FactKind, Stream
from memory.language.sentences import sentences
from memory.learning.rules import Rule, RuleFinding, first, rule
from memory.learning.speech import SpokenSentence
from memory.scope import Layer

_WRONG = RuleFinding(FactKind.CORRECTION, Category.TECHNICAL, Stream.TASKS, Layer.USER_PROJECT, 0.9)

_THAT = (
    r"(?:(?:but )?(?:that|this|it|you|which|your \w{2,20}|the \w{2,20}(?: \w{2,20})?)(?:'s|'re| is| are| was| were))"
)

RULES: tuple[Rule, ...] = (
    rule(
        "meant",
        _WRONG,
        "meant mean talking asked said told wanted referring point",
        r"\bi (?:actually |really |only )?meant(?:,| not| the| to| that| it| [\w`./-]{1,40},? not)\b|^i mean not\b",
        r"\bi (?:didn't|did not|never) (?:mean|say|ask|want you to|tell|said|asked)\b",
        r"\b(?:not|isn't|wasn't) what i (?:meant|asked|said|wanted|want|had in mind)\b",
        r"\bi (?:asked|told|said|wanted) (?:you |for |to |about |it )?.{1,80}\bnot\b",
        r"\b(?:already )?(?:told|asked) you (?:to|not|that|already|twice|before)\b",
        r"\bi'm (?:talking about|referring to|asking about)\b|\bmy point (?:is|was)\b",
    ),
    rule(
        "that is wrong",
        _WRONG,
        "wrong incorrect correct right true misleading misunderstood misread mistake mistaken inaccurate untrue "
        "missed forgot broke falsch stimmt case same",
        r"^(?:(?:no|nope|again|actually|i'm afraid|sorry|hm{1,9}|still),? ){0,3}"
        rf"{_THAT} (?:(?:still|just|also|actually|simply|completely|totally|factually) ){{0,2}}(?:wrong|incorrect|"
        rf"inaccurate|"
        r"mistaken|misleading|untrue|false|not (?:correct|right|true|quite right|accurate|entirely (?:correct|true|"
        r"accurate)|the (?:case|same|right|correct|point)))",
        r"^(?:(?:no|nope|again|actually|sorry),? ){0,2}(?:you|u) (?:misunderstood|misread|got (?:it|that|"
        r"this) wrong|made a mistake|are mistaken|missed|forgot|broke|mixed)",
        r"^(?:no,? |still )?not (?:quite )?(?:right|correct|true)\b|^(?:wrong|incorrect)\b",
        r"\b(?:which|that|this|but that) is not (?:correct|true|right)\b|\bthe \w{2,20} (?:is|are) wrong then\b",
        r"^das (?:stimmt (?:so )?nicht|ist (?:so )?(?:falsch|nicht richtig))",
        unless=(
            r"\b(?:if|whether|something|what|what's|anything|nothing) (?:\w{1,10} )?(?:is|are|'s|was|went) wrong\b",
            r"\bwrong with\b|\bmy (?:bad|mistake)\b",
        ),
    ),
    rule(
        "no, it is",
        _WRONG,
        "no nope nah nein actually",
        r"^(?:no|nope|nah|nein)(?:[,.:;!–—-]{1,3} ?| (?=(?:it|its|that|the|this|they|we|you|i|don't|not|use|remove|"
        r"keep|write|undo|revert|there|he|she|please|because)\b))(?!no\b|problem|worries|need|rush|thanks?\b|"
        r"that's (?:all|it|fine|ok|okay|alright|clear|everything)|"
        r"i (?:think|guess|don't (?:think|have|need)|haven't|am good|'m good)|"
        r"i'm (?:good|fine|not)|just|please (?:proceed|go)|more|idea|changes|other|further|type)\S.{6,}",
        r"^actually,? (?:it|that|this|the|they|we|there|its|his|her|my|our)\b.{0,40}\b(?:is|are|'s|was|were|should|"
        r"uses?|has|have|isn't|not|don't|needs?)\b",
        unless=(r"^(?:no|nope|nah),? (?:i|we) (?:just|only) (?:want|need) (?:to know|some)\b",),
    ),
    rule(
        "this, not that",
        _WRONG,
        "not",
        r"\b(?:it's|it is|that's|is|are|should be|be|i want|i need|we want|we need|use|with) [^,?]{2,80}(?:,| and|"
        r";| -) not (?:(?:the|a|an|in|on|at|from|with|to|by|for|just) ){0,2}(?!sure|yet|only|even|really|be\b|been|"
        r"have|do\b)[\w`\"./-]{2,40}(?: [\w`\"./-]{1,40}){0,5}[.!]*$",
        r"\bis (?:just )?[\w`\":./-]{2,40},? not [\w`\":./-]{2,40}\b(?! (?:sure|yet|only))",
        r"\bnot (?:the |a |in |on |at |from )?[^,?]{2,60},? but (?:(?:rather|the|a|in|on|at|from|just) ){0,2}[\w`\"]",
        unless=(
            r"\b(?:why|if|or|whether|sure|maybe) not\b|\bnot (?:only|just|sure|yet|really|bad)\b|\b(?:am|was|were|"
            r"do|does|did|has|have|can|could|will|would|should|may|might) not\b",
            # What is conceded is no mistake: behind it stands a sentence of its own, not what holds in its place.
            r"\bnot [^?]{2,80}, but (?:i|it|we|you|they|he|she|there|this|that|close)(?:['’]\w{1,3})?\b|"
            r"\bi(?:['’]m| am) not [^?]{2,80}, but\b",
        ),
        when=lambda clause: len(clause.text) < 200,
    ),
    rule(
        "it does not do as it should",
        _WRONG,
        "technically still enough supposed again",
        r"^technically,? .{8,}|\b(?:isn't|aren't|not|is not|are not) (?:\w{2,14} ){1,2}enough\b",
        r"\b(?:it|this|that|which)(?:'s| is| was) supposed to\b",
        r"^(?:it|this|that)(?:'s| is| does| keeps| shows| has)? still (?!a\b|the\b|need|possible|open|good|worth|"
        r"fine|there|work|ok|valid|relevant|true)\w{3,}",
        r"^still (?:not|wrong|broken|shows?|displays?|doesn't|the same)\b|^again,? (?:this|that|it|you)\b",
        unless=(r"\b(?:good|great|not bad|nice|helpful|interesting|running|if|worth)\b",),
        when=lambda clause: len(clause.text) < 240,
    ),
    rule(
        "undo",
        _WRONG,
        "undo revert shouldn't should weren't were didn't keep have",
        r"^(?:(?:no|nah|please|ok),? ){0,2}(?:undo|revert) (?:that|this|it|your|the last)\b.{4,}",
        r"^(?:you )?(?:should(?:n't| not) have|weren't supposed to|were not supposed to|didn't need to|"
        r"have to stop)\b",
        r"^you keep (?:forgetting|ignoring|adding|using|doing)\b",
        r"\byou (?:shouldn't|should not|should never) (?:have|be|do|use|add|change|touch|commit|push|write|create|"
        r"remove|delete)\b",
    ),
)

_BOTH = (
    re.compile(r"\bnot (?:the |a |an )?(?P<wrong>[^,;.?!]{2,80}),? but (?P<right>[^;?!]{2,120})", re.I),
    re.compile(r"(?P<right>[^;?!]{2,160}?),? (?:instead of|rather than) (?P<wrong>[^,;?!]{2,100})", re.I),
    re.compile(r"(?P<right>[^;?!]{2,160}?)(?:,| and|;| -)? (?:and )?not (?P<wrong>[^,;?!]{2,80})[.!]*$", re.I),
)


def correction(clause: SpokenSentence) -> RuleFinding | None:
    """The correction that a clause makes, or None."""
    return first(RULES, clause)


def mistaken(text: str, before: str = "") -> str:
    """What a correction says was wrong: from its own words, else the sentence of ``before`` that it shares most
    words with; empty where neither can be told."""
    for pattern in _BOTH:
        if found := pattern.search(text[:600]):
            return found["wrong"].strip(" .\"'`")
    return _answered(text, before)


def _answered(text: str, before: str) -> str:
    """The sentence of the reply before that a correction is about."""
    wanted = _content(text)
    best, most = "", 1
    for sentence in sentences(before[-4000:])[-60:]:
        shared = len(wanted & _content(sentence))
        if shared > most and len(sentence) <= 240:
            best, most = sentence, shared
    return best


def _content(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[\w-]{4,40}", text.lower()))
