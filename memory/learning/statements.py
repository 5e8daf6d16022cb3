"""Lasting facts about the work: where something lives, what it is called, what is used, who owns it, when it is due.

States of the hour ("the tests are failing", "the branch is merged") are no facts: they are old before they are
recalled.
"""

from memory.fact import Category, Kind, Stream
from memory.learning.rules import Finding, Rule, first, rule
from memory.learning.speech import Clause
from memory.scope import Layer

_FACT = Finding(Kind.FACT, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.7)
_TECH = Finding(Kind.FACT, Category.TECHNICAL, Stream.PROJECTS, Layer.USER_PROJECT, 0.65)
_DUE = Finding(Kind.TASK, Category.PROJECTS, Stream.TASKS, Layer.USER_PROJECT, 0.7)

_HOUR = (
    r"\b(?:fail\w{0,4}|broken|errors?|still|right now|at the moment|again|now|missing|wrong|empty|stuck|done|"
    r"finished|merged|pushed|committed|currently|already|not work\w{0,3}|ready|running|unused|weird|strange|"
    r"confusing|unclear|seems?|looks? like|i think|maybe|probably|apparently|not sure|today|just)\b"
)
_THING = r"(?:the|our|my|this) (?:[\w`'./-]{2,40} ){0,4}[\w`'./-]{2,40}"

RULES: tuple[Rule, ...] = (
    rule(
        "where and what it is",
        "at on in under called named hosted deployed owned based behind lives live runs sits port maintained "
        "written via stored located managed stands means",
        rf"\b{_THING} (?:is|are|lives?|runs?|sits?|listens?|resides?) (?:only |always )?(?:at|on|in|under|behind|"
        rf"called|named|"
        r"hosted (?:at|on|by|in)|deployed (?:to|on|by|with|via)|owned by|based (?:in|on)|maintained by|written in|"
        r"stored (?:in|at|on)|located|managed by|built with|defined in|published (?:to|at|on)) (?!the (?:way|wrong|"
        r"same|right|process|works|middle)|progress|place|order|a (?:weird|bad|good|broken|way)|my way|fire|hold|"
        r"track|line|point|purpose|case|time|all\b)\w?`?[\w\"'/.-]",
        _FACT,
        unless=_HOUR,
    ),
    rule(
        "what we use",
        "use using uses run deploy host store target support have built written build",
        r"\b(?:we|our (?:\w{2,15} ){0,2}(?:team|stack|project|company|app|repo|backend|frontend|api|pipeline|"
        r"service|product)) (?:\w{2,12}ly |all |also |mainly )?(?:use|uses|run on|runs on|deploy (?:to|on|with|"
        r"via)|deploys (?:to|on)|host|store|stores|target|targets|support|supports|build with|are using|'re using|"
        r"is built (?:with|on)|is written in|are (?:a|an) (?:\w{2,15} ){0,3}(?:team|company|startup|shop)|"
        r"ship) (?!it|this|that|them|the (?:same|old|new)|to\b)[\w`\"]",
        _TECH,
        unless=rf"{_HOUR}|\b(?:if|when|why|where|how|what|which|can|could|should|would) we\b|\bwe use the\b",
    ),
    rule(
        "what a word means",
        "stands means == refers called abbreviation short terminology",
        r"^[\w`\"' -]{1,40} (?:stands for|is short for|is (?:our|an?) (?:abbreviation|acronym|name|term|word|"
        r"codename) (?:for|of)|refers to|means (?!that|we|i\b|you|it)|== ?|is what we call)|\bwe call (?:it|this|"
        r"that|them|these|the \w{2,20}) |\bknown internally as\b|^(?:fact|decision|rule|note|convention|context|"
        r"background|constraint|requirement|goal|architecture|stack|fyi): ?\w",
        _FACT,
        unless=_HOUR,
    ),
    rule(
        "when it is due",
        "deadline due release launch ship scheduled meeting demo standup freeze budget",
        r"\b(?:deadline|due date|release|launch|demo|go-live|code freeze|cutover|standup|stand-up|review|meeting|"
        r"budget|sprint|milestone|kick-?off|retro|migration) (?:\w{2,12} ){0,2}(?:is|are|was moved|moved|got moved|"
        r"has been moved|was set|will be|has to be|must be|starts?|ends?|has) (?:\w{2,10} ){0,3}?(?:on|at|by|in|"
        r"due|to|until|from|every|next|this|tomorrow|monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
        r"january|february|march|april|may|june|july|august|september|october|november|december|\$?€?\d)|"
        r"\bis due (?:on|by|in|next|tomorrow|this|at)\b",
        _DUE,
        unless=r"\b(?:code|pr|pull request) review\b|\bin (?:progress|this|the)\b",
    ),
    rule(
        "constraint",
        "only requires require limited allowed support supports compatible minimum maximum least most must policy "
        "compliance",
        rf"\b{_THING} (?:only (?:supports?|accepts?|allows?|works?|runs?|knows?|has|have|understands?)|requires? |"
        rf"is limited to|are limited to|"
        r"must (?:stay|remain|be (?:compatible|idempotent|reversible|signed|under|below|at least|encrypted))|"
        r"(?:doesn't|does not|don't|do not|can't|cannot) (?:support|allow|accept|have access))",
        _TECH,
        unless=_HOUR,
    ),
    rule(
        "keeps",
        "keeps rebases owns blocks rotates expires",
        r"^(?:the|our) (?:[\w`'./-]{2,40} ){1,5}(?:keeps|owns|rotates|expires|ships|closes|opens|resets|refreshes|"
        r"syncs) (?!(?:failing|showing|getting|crashing|hanging|asking|saying|trying|breaking)\b)[\w`\"]",
        _TECH,
        unless=_HOUR,
    ),
)


def statement(clause: Clause) -> Finding | None:
    """The lasting fact about the work that a clause states, or None."""
    return first(RULES, clause)
