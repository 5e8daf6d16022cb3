"""What a person tells the agent to do from now on: standing rules, house conventions, how to be talked to.

"Always", "never", "from now on", "everywhere" make an order a rule. An order without such a word is meant for the
task at hand: its prohibitions are kept as conventions of little confidence, the rest is no fact.
"""

from memory.fact import Category, Kind, Stream
from memory.learning.rules import Finding, Rule, first, rule
from memory.learning.speech import Clause
from memory.scope import Layer

_RULE = Finding(Kind.CONVENTION, Category.WORKFLOWS, Stream.PROJECTS, Layer.USER_PROJECT, 0.88, standing=True)
_MANNER = Finding(Kind.PREFERENCE, Category.PREFERENCES, Stream.IDENTITY, Layer.USER, 0.88, standing=True)
_ONCE = Finding(Kind.CONVENTION, Category.WORKFLOWS, Stream.TASKS, Layer.USER_PROJECT, 0.55)
_PRACTICE = Finding(Kind.CONVENTION, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.8, standing=True)

_NOW_ONLY = (
    r"\b(?:yet|for now|right now|at the moment|this time|just now|currently|today|until (?:i|we|you|then)|"
    r"before (?:i|we|you)|in this (?:pr|commit|message|session|step|case)|for this (?:one|pr|commit|task|session|"
    r"change))\b"
)
_PAST = r"\b(?:was|were|used to|had|did|has been|have been)\b"
# Verbs that ask for work, not for a manner of working; "don't worry" and the like are talk.
_TALK = (
    r"\b(?:don't|do not|never|no need to|not) (?:worry|mind|bother|forget|remember|know|think|see|understand|get|"
    r"have|need|want|care|believe|recall|feel|agree|hesitate)\b"
)
_REPLYING = (
    r"(?:answer|respond|reply|replies|answers|responses|explanations?|summar(?:y|ies)|messages?|output|feedback)"
)

RULES: tuple[Rule, ...] = (
    rule(
        "manner of talking",
        "call answer respond reply write speak talk address keep be replies answers responses explanations explain "
        "language english german tone emojis emoji concise brief short",
        r"^(?:from now on,? |always |please |just |in future,? |you should |you can |"
        r"never ){0,3}(?:call me (?!when|if|back|later|at|crazy)\w|address me (?:as|by)|refer to me as|(?:answer|"
        r"respond|reply|write|speak|talk) (?:to me )?(?:only |always )?(?:in|with) (?!the (?:file|repo|branch|"
        r"same)|a (?:file|test|new))\w|(?:keep|make) (?:your|the|all|my) "
        rf"{_REPLYING}\b|be (?:more |very |as )?(?:concise|brief|terse|direct|succinct|honest|blunt|formal|"
        rf"informal|"
        r"polite)\b(?! (?:here|about this))|(?:no|don't use|do not use|avoid|skip|stop using) (?:emojis?|"
        r"exclamation|filler|small talk|flattery|em[- ]dashes|bullet points|jargon)\b)|\b(?:answers|replies|"
        r"responses|explanations) (?:should|must|need to) be\b|\bi (?:want|like|prefer|"
        r"need) (?:\w{2,12} ){0,2}(?:your )?(?:answers|replies|responses|explanations)\b",
        _MANNER,
        unless=_NOW_ONLY,
    ),
    rule(
        "from now on",
        "now forward future onwards onward always never everywhere every whenever each times circumstances rule "
        "exception default notice time",
        r"\b(?:from (?:now|here|today|this point) on(?:wards?)?|going forward|moving forward|"
        r"in (?:the )?future\b(?! ?[?])|for (?:all )?future (?:\w{2,15}|reference)|at all times|"
        r"under no circumstances|without exception|until further notice|as a (?:general )?rule|rule of thumb|"
        r"every ?time|each time|(?:for|in|on|before|after|with) every (?!single thing|day|"
        r"week)(?:single )?(?!where\b)\w{2,20}|house rule|(?:the|our|my) rule is|ab jetzt|in zukunft|künftig|"
        r"grundsätzlich)\b",
        _RULE,
        unless=rf"{_PAST}|\bfor future reference[.!]*$|\b(?:maybe|might|could|at some|someday|one day|eventually|think about|"
        r"we(?:'ll| will| may| might| can| could))\b.{0,60}\bfuture\b|\b(?:hide|dismiss|"
        r"disable) this .{1,30}in the future\b",
    ),
    rule(
        "always or never do",
        "always never ever immer nie niemals",
        r"(?:^|[,;:.!] |\b(?:you|agents?|claude|please|to|should|must|shall|will|we|it|they|and|but|so|tests?|code|"
        r"that|also) )(?:should |must |shall |please |need to |have to )?(?:always|never|don't ever|do not ever|"
        r"not ever) (?:\w{2,12}ly )?(?!been|had|was|got|did|seen|saw|heard|mind|the\b|a\b|an\b|in\b|on\b|went|knew|"
        r"thought|happen|used to)\w{2,}|^(?:bitte )?(?:immer|nie|niemals) \w|\b(?:nutze?|verwende|benutze|"
        r"schreibe?|antworte|mach) (?:bitte )?(?:immer|nie|niemals)\b|\b(?:should|must|can) never\b",
        _RULE,
        unless=rf"^(?:it|this|that|there|he|she|they|i)\b.{{0,20}}\b(?:always|never)\b|\b(?:that|which|it|he|she) (?:always|never) "
        rf"\w{{2,20}}s\b|{_NOW_ONLY}",
    ),
    rule(
        "everywhere",
        "everywhere throughout across consistently consistent all any only",
        r"^(?:let's |we (?:should|must|need to|have to|want to) |you (?:should|must) |make sure (?:that |to |"
        r"we'?re |we |you |all )|ensure |please |always ){0,3}(?:use|using|write|name|call|keep|follow|prefer|"
        r"format|avoid|apply|put|stick|make|run|add|have|document|test|all|every|any|"
        r"only)\b.{2,160}\b(?:everywhere|throughout|across the (?:board|codebase|project|repo|app|code|whole)|"
        r"in all (?:places|files|cases|tests|our|the)|for all (?:our |the |new )?\w{3,}|consistently)\b|\b(?:all|"
        r"every|any|each) (?:new )?(?!of\b)\w{2,20}(?: \w{2,20}){0,3} (?:must|should|shall|needs? to|has to|"
        r"have to)\b",
        _RULE,
        unless=rf"{_NOW_ONLY}|\bshould (?:now|be fixed|work|pass|already|still)\b",
    ),
    rule(
        "the rule for a kind of moment",
        "when whenever if before after unless while",
        r"^(?:when|whenever|before|after|any ?time|while|every time|unless) (?:you(?:'re| are)?|we(?:'re| are)?|"
        r"there|writing|making|adding|creating|committing|using|working|testing|running|doing|naming|editing|"
        r"changing|a|an|the|it|something)\b.{2,120}, (?:please |always |then |first |also ){0,2}(?:use|run|write|"
        r"add|make|do|don't|never|always|keep|put|follow|ask|check|update|prefer|avoid|include|start|stop|call|"
        r"tell|create|ensure|be|you (?:should|must|need)|we (?:should|must|always|never)|commit|format|test|"
        r"explain|show|give)\b|^(?:use|run|ask|update|check|write|format|commit|include|keep|add|"
        r"call) .{2,120}\b(?:whenever|every time|each time|unless i|before (?:each|every|any|committing|pushing|"
        r"merging)|after (?:each|every|any))\b",
        _RULE,
        unless=rf"{_NOW_ONLY}|\b(?:i|we) (?:run|ran|get|got|see|saw|tried)\b|\bafter (?:that|this)\b",
    ),
    rule(
        "asked or told to",
        "sure ensure",
        r"\b(?:make sure|be sure|ensure) (?:that )?(?:you |we |to |claude |agents? |the agent |it |"
        r"they )?(?:\w{2,12} )?(?:always|never|only|should|must|don't|do not|is never|are never|aren't|isn't|"
        r"not to)\b",
        Finding(Kind.CONVENTION, Category.WORKFLOWS, Stream.PROJECTS, Layer.USER_PROJECT, 0.7),
        unless=_NOW_ONLY,
    ),
    rule(
        "our practice",
        "we our",
        r"\bwe (?:always|never|only|usually|generally|normally|typically|mostly|exclusively|"
        r"strictly)(?: \w{2,14}ly)? (?:use|write|commit|merge|squash|rebase|deploy|run|test|name|keep|put|prefer|"
        r"avoid|follow|support|ship|release|do|add|have|require|store|pin|format|document|review|push|work|target|"
        r"allow|log|return|throw|import|want|need)\b|\bour (?:\w{2,15} ){0,3}(?:convention|conventions|policy|"
        r"standard|standards|style ?guide|style|guideline|guidelines|practice|rule|rules|workflow|process) (?:is|"
        r"are|says?|requires?|for)\b|\b(?:the|a) convention (?:here |in this \w+ )?is\b|\bby convention\b|"
        r"\bwe (?:follow|stick to|adhere to)\b",
        _PRACTICE,
        unless=rf"{_PAST}|\bwe (?:always|never|only|usually) (?:get|got|had|see|saw)\b",
    ),
    rule(
        "over",
        "prefer use favor favour choose rather instead",
        r"^(?:please |always |just |you should |we should |and |but )?(?:prefer|favou?r|choose) (?!this|that|"
        r"it\b)[^?]{2,80} (?:over|to|instead of|rather than)\b|^(?:please |always )?use [^?]{2,60}(?:,|"
        r" and) (?:not|never) |^use [^?]{2,80} for (?:all|every|any|everything|anything)\b|^no more \w",
        _PRACTICE,
        unless=_NOW_ONLY,
    ),
    rule(
        "what makes no sense",
        "sense point",
        r"\b(?:doesn't|does not|don't|do not|never|wouldn't) make (?:any |much )?sense to\b|\bthere's (?:no|"
        r"little) point (?:in|of)\b|\bno point (?:in|of)\b",
        Finding(Kind.HEURISTIC, Category.WORKFLOWS, Stream.PROJECTS, Layer.USER_PROJECT, 0.6),
    ),
    rule(
        "do not",
        "don't dont not avoid stop nicht",
        r"^(?:just |please |and |but |also ){0,2}(?:don't|dont|do not|avoid|stop) (?!be\b)(?:\w{2,14}ly )?[a-z]{2,}",
        _ONCE,
        unless=rf"{_TALK}|{_NOW_ONLY}|^stop[.!]*$|\b(?:don't|do not|stop) (?:do )?(?:it|that|this)[.!]*$",
    ),
    rule(
        "keep",
        "keep same stay",
        r"^(?:just |please |and |but |also |let's )*keep (?:using|to|it|that|this|the|these|those|them|our|all|"
        r"both|on using) ?[^?]{3,}",
        _ONCE,
        unless=rf"{_NOW_ONLY}|\bkeep (?:it|this|that) (?:up|going|in mind)\b|\bkeep (?:going|working|trying|me)\b",
    ),
)


def instruction(clause: Clause) -> Finding | None:
    """The standing rule or prohibition that a clause lays down, or None."""
    return first(RULES, clause)
