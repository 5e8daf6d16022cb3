"""Corrections: the person says that something was wrong, and often what is right.

The strongest signal there is. Both sides are kept: the clause itself says what is right, ``wrong`` what was
believed before, taken from the clause ("X, not Y", "instead of Y", "I meant X, not Y") or else from the reply
that it answers.
"""

from __future__ import annotations

import re

from memory.fact import Category, Kind, Stream
from memory.language.sentences import sentences
from memory.learning.rules import Finding, Rule, first, rule
from memory.learning.speech import Clause
from memory.scope import Layer

_WRONG = Finding(Kind.CORRECTION, Category.TECHNICAL, Stream.TASKS, Layer.USER_PROJECT, 0.9)

RULES: tuple[Rule, ...] = (
    rule(
        "meant",
        "meant mean talking asked said told asking wanted referring point",
        r"\bi (?:actually |really |only )?(?:meant|mean)(?:,| not| the| to| that| it| [\w`./-]{1,40},? not)\b|"
        r"\bi (?:didn't|did not|don't|never) (?:mean|say|ask|want you to|tell|said|asked)\b|\b(?:not|isn't|"
        r"wasn't) what i (?:meant|asked|said|wanted|want|had in mind)\b|\bi (?:asked|told|said|wanted) (?:you |"
        r"for |to |about |it )?.{1,80}\bnot\b|\b(?:i )?(?:already )?(?:told|asked) you (?:to|not|that|already|"
        r"twice|before)\b|\bi'm (?:talking about|referring to|asking about)\b|\bmy point (?:is|was)\b",
        _WRONG,
        unless=r"\bi mean,? (?:if|we could|maybe|it's|it is|i)\b|\bwhat do\b|\bi don't (?:mean|want you) to (?:be|sound)\b",
    ),
    rule(
        "that is wrong",
        "wrong incorrect correct right true misleading misunderstood mistake mistaken inaccurate untrue nope "
        "falsch stimmt",
        r"^(?:no,? |nope,? |again,? |actually,? |i'm afraid |sorry,? |hm+,? |still ){0,3}(?:(?:but )?(?:that|this|"
        r"it|you|which|your \w{2,20}|the \w{2,20}(?: \w{2,20})?)(?:'s|'re| is| are| was| were) (?:still |just |"
        r"also |actually |simply |completely |totally |factually ){0,2}(?:wrong|incorrect|inaccurate|mistaken|"
        r"misleading|untrue|false|not (?:correct|right|true|quite right|accurate|entirely (?:correct|true|"
        r"accurate)|how|what|the (?:case|same|right|correct|point)))|(?:you|u) (?:misunderstood|misread|got (?:it|"
        r"that|this) wrong|made a mistake|are mistaken|missed|forgot|broke|mixed)|not (?:quite )?(?:right|correct|"
        r"true)\b|wrong\b|incorrect\b|das (?:stimmt (?:so )?nicht|ist (?:so )?(?:falsch|nicht richtig)))|"
        r"\b(?:which|that|this|but that) is not (?:correct|true|right)\b|\bthe \w{2,20} (?:is|are) wrong then\b",
        _WRONG,
        unless=r"\b(?:test|tests|if|whether|something|what|what's|anything|nothing) (?:\w{1,10} )?(?:is|are|'s|was|went) wrong\b|\bwrong "
        r"with\b|\bmy (?:bad|mistake)\b",
    ),
    rule(
        "no, it is",
        "no nope nah actually nein not",
        r"^(?:no|nope|nah|nein)\b[\s,.:;!–—-]{1,3}(?!no\b|problem|worries|need|rush|thanks|thank|that's (?:all|it|"
        r"fine|ok|everything)|i (?:think|guess|don't (?:think|have|need)|haven't|am good|'m good)|i'm (?:good|fine|"
        r"not)|just|please (?:proceed|go)|more|idea|changes|other|further|longer|one|matter|doubt|way|commits?|"
        r"tests?)\S.{6,}|^actually,? (?:it|that|this|the|they|we|there|its|his|her|my|our)\b.{0,40}\b(?:is|are|'s|"
        r"was|were|should|uses?|has|have|isn't|not|don't|needs?)\b|^nein,? .{6,}",
        _WRONG,
        unless=r"^(?:no|nope|nah),? (?:i|we) (?:just|only) (?:want|need) (?:to know|some)\b",
    ),
    rule(
        "this, not that",
        "not",
        r"\b(?:it's|it is|that's|is|are|it should be|should be|be|i want|i need|we want|we need|use|in|on|with|to|"
        r"for|by|at|from|the) [^,?]{2,80}(?:,| and|;| -)? not (?:the |a |an |in |on |at |from |with |to |by |for |"
        r"just )?(?!sure|yet|only|even|really|sure|be\b|a fan|been|have|do\b|"
        r"to be)[\w`\"./-]{2,40}(?: [\w`\"./-]{1,40}){0,5}[.!]*$|\bnot (?:the |a |in |on |at |"
        r"from )?[^,?]{2,60},? but (?:rather |the |a |in |on |at |from |just )?[\w`\"]",
        _WRONG,
        unless=r"\bwhy not\b|\bif not\b|\bor not\b|\bnot only\b|\bwhether\b|\b(?:is|are|am|was|were|do|does|did|has|have|can|could|will|would|should|may|might) not\b",
        when=lambda clause: len(clause.text) < 200,
    ),
    rule(
        "have in mind that it does not",
        "technically actually still enough realistic supposed fact",
        r"^technically,? .{8,}|\b(?:isn't|aren't|not|is not|are not) (?:\w{2,14} ){1,2}enough\b|\b(?:it|this|that|"
        r"which)(?:'s| is| was) (?:actually |supposed to )|^it(?:'s| is| does| keeps| shows)? still (?!a\b|the\b|"
        r"need|possible|open|good|worth|fine)\w{3,}|^still (?:not|wrong|broken|shows?|displays?|doesn't|the same|"
        r"happening|failing)\b|^again,? (?:this|that|it|you)\b",
        _WRONG,
        unless=r"\b(?:good|great|not bad|nice|helpful|interesting|running|if|worth)\b",
        when=lambda clause: len(clause.text) < 240,
    ),
    rule(
        "undo",
        "stop why undo again remove back shouldn't",
        r"^(?:no,? |nah,? |please |ok,? ){0,2}(?:undo|revert) (?:that|this|it|your|the last)\b.{4,}|"
        r"^(?:you )?(?:should(?:n't| not) have|weren't supposed to|were not supposed to|didn't need to|"
        r"have to stop|keep (?:forgetting|ignoring|adding|using|doing))\b|\byou (?:shouldn't|should not|"
        r"should never) (?:have|be|do|use|add|change|touch|commit|push|write|create|remove|delete)\b",
        _WRONG,
    ),
)

_BOTH = (
    # right … wrong, each side within one clause
    re.compile(r"\bnot (?:the |a |an )?(?P<wrong>[^,;.?!]{2,80}),? but (?P<right>[^;?!]{2,120})", re.I),
    re.compile(r"(?P<right>[^;?!]{2,160}?),? (?:instead of|rather than) (?P<wrong>[^,;?!]{2,100})", re.I),
    re.compile(r"(?P<right>[^;?!]{2,160}?)(?:,| and|;| -)? (?:and )?not (?P<wrong>[^,;?!]{2,80})[.!]*$", re.I),
)


def correction(clause: Clause) -> Finding | None:
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
    return frozenset(word for word in re.findall(r"[\w-]{4,40}", text.lower()))
