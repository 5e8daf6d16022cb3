"""Lasting facts about the work: where something lives, what it is called, what is used, who owns it, when it is due.

States of the hour ("the tests are failing", "the branch is merged") are no facts: they are old before they are
recalled.
"""

import re

from memory.fact import Category, FactKind, Stream
from memory.language.calendar_names import MONTH_NAME
from memory.language.dates import MONTH
from memory.learning.rules import Rule, RuleFinding, first, rule
from memory.learning.speech import SpokenSentence
from memory.scope import Layer

_FACT = RuleFinding(FactKind.FACT, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.7)
_TECH = RuleFinding(FactKind.FACT, Category.TECHNICAL, Stream.PROJECTS, Layer.USER_PROJECT, 0.65)
_DUE = RuleFinding(FactKind.TASK, Category.PROJECTS, Stream.TASKS, Layer.USER_PROJECT, 0.7)

_FOUND = RuleFinding(FactKind.OBSERVATION, Category.TECHNICAL, Stream.FLOW, Layer.USER_PROJECT, 0.65)

_UNSETTLED = (
    r"fail\w{0,4}|broken|errors?|still|right now|at the moment|again|missing|wrong|empty|stuck|done|finished|merged|"
    r"pushed|committed|not work\w{0,3}|ready|running|unused|weird|strange|confusing|unclear|seems?|looks? like|i think|"
    r"maybe|probably|apparently|not sure"
)
_HOUR = rf"\b(?:{_UNSETTLED}|now|currently|already|today|just)\b"
_THING = r"(?:the|our|my|this) (?:[\w`'./-]{2,40} ){0,4}[\w`'./-]{2,40}"
_OCCASION = (
    r"(?:deadline|due date|release|launch|demo|go-live|code freeze|cutover|standup|stand-up|review|meeting|budget|"
    r"sprint|milestone|kick-?off|retro|migration)"
)
_DAY = rf"(?:on|at|by|in|due|to|until|from|every|next|this|tomorrow|\w{{3,6}}day|{MONTH_NAME}|\$?€?\d)"

# A value is a name, a number, a path or stands in quotation marks; "is slow" has none.
_VALUE = re.compile(r"\b(?:is|are) (?:called |named |at |on )?[`\"'(]?(?:\d|[A-Z]|https?:|[a-z]+[-_./]\w|`)")

_NO_VALUE = re.compile(r"\b(?:is not|isn['’]t) (?:called |named |at |on )?[`\"'(]?(?:\d|[A-Z]|https?:|`)")

# What is said to be so now is named: "the server is at 10.0.0.5 now", not "the tests are in a good state now".
_NAMED = re.compile(
    r"\b(?:use|is|are|on|in|at|to|with|via|by|under|called|named|host) (?:the )?[`\"']?(?:[A-Z0-9`/]|https?:)"
)
_PLAIN = re.compile(
    r"^we (?:(?:now |again )?use|(?:are|'re) (?:now|back) on) (?!(?:it|this|that|them|these|those|one|both|all|track|"
    r"time|course|schedule|board|hold|call|the)\b)[a-z][\w.-]{1,20}(?: for [\w -]{2,30})?"
    r"(?: now| again)?[.!]*$"
)

RULES: tuple[Rule, ...] = (
    rule(
        "what was found",
        _FOUND,
        "turned turns cause fix workaround trick solved",
        r"\bit (?:turned|turns) out\b|^turns out\b|\b(?:the )?root cause (?:is|was)\b|^(?:the )?(?:fix|workaround|"
        r"trick|solution)(?: (?:for|to|of) [^.?]{2,60})? (?:is|was) (?!in\b|not\b|good|pushed|merged|on\b)\w",
        unless=(r"\b(?:might|may|could|possibly|likely|probably|perhaps|seems?|if)\b",),
    ),
    rule(
        "what has changed",
        _TECH,
        "now switched moved migrated changed upgraded downgraded renamed converted",
        rf"^(?:we|{_THING}) (?:(?:have|has|had|was|were|been|just|finally|recently|now) ){{0,3}}(?:switched|moved|"
        r"migrated|changed|upgraded|downgraded|renamed|converted) (?:[\w`'./-]{1,30} ){0,5}?from [^,.?]{2,60} to "
        r"(?!(?:the )?(?:left|right|top|bottom|end|start|front|back)\b)[\w`\"]",
        rf"^{_THING} (?:(?:has|have|was|were|is|are|been|now) ){{0,3}}(?:changed|moved|migrated|renamed|upgraded|"
        r"switched) to (?!be\b|(?:the )?(?:left|right|top|bottom|end|start|front|back|next|side)\b)[\w`\"]",
        rf"^{_THING} (?:now (?:runs?|lives?|listens?|is hosted|are hosted|resides?) (?:in|at|on|under|behind)|"
        r"now uses?\b(?! (?:the|this|that|an?) (?:new|same|old|right|correct|wrong)\b)|"
        r"(?:is|are) now (?:at|on|under|called|named|hosted|owned by|run by|`?\d|https?:)) ?[\w`\"/]",
        r"^we now (?:use|run|deploy|host|store|ship|release|build|meet) (?!it\b|this\b|that\b|them\b|out\b|into\b|the "
        r"(?:same|new|old|code|function|class|method|helper)\b)[\w`\"]",
        unless=(
            rf"\b(?:{_UNSETTLED}|today|if|when|can|could|should|would|why|how|test|tests|button|function|method|class|"
            r"variable|field|line|branch|commit|pr)\b|\?",
        ),
    ),
    rule(
        "what holds from now on",
        _TECH,
        "now again back",
        r"^we (?:now |again )?(?:use|run(?: on)?|deploy (?:to|on|with|via)|host on|build with|store|target) "
        r"(?!it\b|this\b|that\b|them\b)[\w`\"]",
        r"^we(?:'re| are) (?:now|back) (?:on|to|with) [\w`\"]",
        r"^we (?:have |have just )?(?:went|gone|moved|switched) back to [\w`\"]",
        rf"^{_THING} (?:is|are|lives?|runs?|sits?|listens?) (?:at|on|in|under|behind|called|named|hosted on|owned by|"
        r"run by) [^,]{2,60} now[.!]*$",
        rf"^{_THING} (?:is|are) (?!not\b|the\b|an?\b|in\b|on\b|at\b|to\b)"
        r"[\w`$€£.'-]{1,30}(?: [\w.%/-]{1,20}){0,2} now[.!]*$",
        r"^(?!(?:i|we|they|he|she|it|you|this|that)\b)(?:[\w`'-]{2,25} ){1,4}(?:now )?(?:happens?|runs?|starts?|"
        r"ships?|takes? place) (?:only )?(?:on|at|every|each) (?:\w{3,6}days?|\d|night|day|week|month|morning|weekday)",
        unless=(
            r"\b(?:if|when|can|could|should|would|why|how|what|which|might|maybe|probably|apparently|i think|not sure|"
            r"seems?|still|fail\w{0,4}|broken|errors?|stuck|done|merged|branch|commit|pr|line|button|function|method|"
            r"class|variable|field|(?:right|just|for|until|by) now|now (?:that|and then|because)|today|again and again|"
            r"back (?:and forth|then|in))\b|\?",
        ),
        when=lambda clause: bool(_NAMED.search(clause.text) or _PLAIN.search(clause.plain)),
    ),
    rule(
        "what holds until a day",
        _FACT,
        "until till",
        rf"^(?:{_THING}|(?!(?:it|this|that|they|we|you|he|she)\b)[a-z][\w'-]{{1,20}}) (?:is|are|'s|lasts?|stays?"
        r"|remains?|goes|runs?|will (?:be|stay|remain|last)) "
        r"[^,?]{0,60}?\b(?:until|till) (?:(?:about|at least|the end of) )?"
        rf"(?:tomorrow|next|the|\d|\w{{3,6}}day|{MONTH})\b",
        unless=(
            r"\?|\b(?:when|if|wait|not sure|maybe|probably|seems?|fail\w{0,4}|pr|pull request|branch|commit|line)\b"
            r"|\b(?:until|till) the (?!end of|\d|week|weekend)|day (?:until|till) \w{3,6}day\b",
        ),
    ),
    rule(
        "what its value is not",
        _TECH,
        "not isn't",
        rf"^{_THING} (?:is not|isn't) \S",
        unless=(
            _HOUR,
            r"\?|\b(?:yet|ok|green|red|enough)\b|\b(?:point|question|idea|problem|issue|thing|goal|reason|concern|comment|"
            r"link|result|output|tests?|build|code|cause) (?:is|isn't)\b",
        ),
        when=lambda clause: bool(_NO_VALUE.search(clause.text)),
    ),
    rule(
        "what its value is",
        _FACT,
        "is are",
        rf"^(?:for (?:this|the|our) \w{{2,15}},? )?(?:{_THING}|(?:[\w-]{{2,20}} ){{1,3}}(?:port|url|host|version|"
        rf"region|bucket|name|codename)) (?:is|are) "
        r"(?!that|the|because|about|a\b|an\b|not\b|to\b|in\b)\S",
        r"^our (?:[\w-]{2,20} ){0,3}[\w-]{2,20} (?:is|are) (?:an?|the|called|named) \w",
        unless=(
            _HOUR,
            r"\?|\b(?:point|question|idea|problem|issue|thing|goal|reason|concern|comment|link|result|"
            r"output) (?:is|are)\b",
        ),
        when=lambda clause: clause.plain.startswith("our ") or bool(_VALUE.search(clause.text)),
    ),
    rule(
        "where it belongs and when it happens",
        _FACT,
        "live lives belong belongs happen happens run runs start starts ship ships takes",
        r"^(?!i\b|we\b|they\b|he\b|she\b|it\b|you\b)(?:[\w`'-]{2,25} ){1,4}(?:lives?|belongs?) (?:in|under|"
        r"to) [\w`./]",
        r"^(?!i\b|they\b|he\b|she\b|it\b|you\b)(?:[\w`'-]{2,25} ){1,4}(?:happens?|runs?|starts?|ships?|"
        r"takes? place) (?:only )?(?:on|at|every|each) (?:\w{3,6}days?|\d|night|day|week|month|morning|weekday)",
        unless=(_HOUR,),
    ),
    rule(
        "what it needs",
        _TECH,
        "needs need",
        rf"^{_THING} needs? (?!to\b|help|work|some|more|improve|fix|review|an? (?:fix|review|test|look|rebase|"
        rf"update|new|better|rework|refresh))[\w`-]",
        unless=(_HOUR,),
    ),
    rule(
        "where and what it is",
        _FACT,
        "at on in under behind called named hosted deployed owned based maintained written stored located managed "
        "built defined published",
        rf"\b{_THING} (?:is|are|lives?|runs?|sits?|listens?|resides?) (?:only |always )?(?:at|on|in|under|behind|"
        rf"called|named|hosted (?:at|on|"
        r"by|in)|deployed (?:to|on|by|with|via)|owned by|based (?:in|on)|maintained by|written in|stored (?:in|at|"
        r"on)|located|managed by|built with|defined in|published (?:to|at|on)) (?!the (?:way|wrong|same|right|"
        r"process|works|middle)|progress|place|order|a (?:weird|bad|good|broken|way)|my way|fire|hold|track|line|"
        r"point|purpose|case|time|all\b)\w?`?[\w\"'/.-]",
        unless=(_HOUR,),
    ),
    rule(
        "what we use",
        _TECH,
        "use uses run runs deploy deploys host store stores target targets support supports build are using is "
        "ship we're",
        r"^(?:this|the|our) (?:project|repo|repository|app|codebase|service|team|backend|frontend|api|"
        r"site) (?:uses?|runs? on|targets?|is built (?:with|on)|is written in|depends on) \S",
        r"^(?:we're|we are) on (?!it\b|the\b|track|time|a\b|our)[\w.]{2,20}(?: \S{1,20}){0,2}[.!]*$",
        r"\b(?:we|our (?:\w{2,15} ){0,2}(?:team|stack|project|company|app|repo|backend|frontend|api|pipeline|"
        r"service|product)) (?:(?:\w{2,12}ly|all|also) )?(?:use|uses|runs? on|deploys? (?:to|on|with|via)|host|"
        r"stores?|targets?|supports?|build with|are using|'re using|is (?:built (?:with|on)|written in)|"
        r"are an? (?:\w{2,15} ){0,3}(?:team|company|startup|shop)|ship) (?!it|this|that|them|the (?:same|old|new)|"
        r"to\b)[\w`\"]",
        unless=(
            _HOUR,
            r"\b(?:if|when|why|where|how|what|which|can|could|should|would|do) we\b|\bwe use the\b|\bwe (?:assume|"
            r"think)",
        ),
    ),
    rule(
        "what a word means",
        _FACT,
        "stands means refers call short called == known fact decision rule note convention context background "
        "constraint requirement goal architecture stack abbreviation acronym term codename",
        r"^(?!it\b|that\b|this\b|which\b|what\b|he\b|she\b)[\w`\"' -]{1,40} (?:stands for|is short for|refers to|"
        r"means (?!that|we|i\b|you|it)|is (?:our|an?) (?:abbreviation|acronym|name|term|word|codename) (?:for|of)|"
        r"== ?|is what we call)",
        r"\bwe call (?:it|this|that|them|these|the \w{2,20}) |\bknown internally as\b",
        r"^(?:fact|decision|rule|convention|context|background|constraint|requirement|goal|architecture|stack): ?\w",
        unless=(_HOUR,),
    ),
    rule(
        "when it is due",
        _DUE,
        "deadline due release launch demo go-live freeze cutover standup stand-up review meeting budget sprint "
        "milestone kickoff kick-off retro migration",
        rf"\b{_OCCASION} (?:\w{{2,12}} ){{0,2}}(?:is|are|moved|got moved|has been moved|was (?:set|moved)|will be|"
        rf"has to be|must be|starts?|ends?|has) (?:\w{{2,10}} ){{0,3}}?{_DAY}",
        r"\b(?:is|are) due (?:on|by|in|next|tomorrow|this|at)\b",
        unless=(
            r"\b(?:code|pr|pull request) review\b|\bin (?:progress|this|the)\b|\b(?:is|are) (?:now )?(?:on|"
            r"in) (?:main|master)\b",
        ),
    ),
    rule(
        "what binds it",
        _TECH,
        "only requires require limited must support allow accept have",
        rf"\b{_THING} (?:only (?:supports?|accepts?|allows?|works?|runs?|knows?|has|have|understands?)|requires?|"
        rf"(?:is|are) limited to|must (?:stay|"
        r"remain|be (?:compatible|idempotent|reversible|signed|under|below|at least|encrypted))|(?:doesn't|"
        r"does not|don't|do not|can't|cannot) (?:support|allow|accept|have access))\b",
        unless=(_HOUR,),
    ),
    rule(
        "how it behaves",
        _TECH,
        "keeps owns rotates expires ships closes opens resets refreshes syncs",
        r"^(?:the|our) (?:[\w`'./-]{2,40} ){1,5}(?:keeps|owns|rotates|expires|ships|closes|opens|resets|refreshes|"
        r"syncs) (?!(?:failing|showing|getting|crashing|hanging|asking|saying|trying|breaking)\b)[\w`\"]",
        unless=(_HOUR,),
    ),
)


def statement(clause: SpokenSentence) -> RuleFinding | None:
    """The lasting fact about the work that a clause states, or None."""
    return first(RULES, clause)
