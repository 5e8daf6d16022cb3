"""What a person tells the agent to do from now on: standing rules, house conventions, how to be talked to.

"Always", "never", "from now on", "everywhere" make an order a rule. An order without such a word is meant for the
task at hand: its prohibitions are kept as conventions of little confidence, the rest is no fact.
"""

from memory.fact import Category, FactKind, Stream
from memory.learning.rules import Rule, RuleFinding, any_of, first, rule
from memory.learning.speech import SpokenSentence
from memory.scope import Layer

_RULE = RuleFinding(FactKind.CONVENTION, Category.WORKFLOWS, Stream.PROJECTS, Layer.USER_PROJECT, 0.88, standing=True)
_MANNER = RuleFinding(FactKind.PREFERENCE, Category.PREFERENCES, Stream.IDENTITY, Layer.USER, 0.88, standing=True)
_PRACTICE = RuleFinding(FactKind.CONVENTION, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.8, standing=True)
_ONCE = RuleFinding(FactKind.CONVENTION, Category.WORKFLOWS, Stream.TASKS, Layer.USER_PROJECT, 0.55)

_NOW_ONLY = (
    r"\b(?:yet|for now|right now|at the moment|this time|just now|currently|today|until (?:i|we|you|then)|"
    r"in this (?:pr|commit|message|session|step|case)|for this (?:one|pr|commit|task|session|change))\b"
)
_PAST = r"\b(?:was|were|used to|had|did|has been|have been)\b"
# "don't worry" and the like are talk, not orders.
_TALK = (
    r"\b(?:don't|do not|never|no need to|not) (?:worry|mind|bother|forget|remember|know|think|see|understand|get|"
    r"have|need|want|care|believe|recall|feel|agree|hesitate|really|even)\b"
)
_REPLIES = "(?:answers?|responses?|replies|reply|explanations?|summar(?:y|ies)|messages?|output|feedback)"
_ORDER = any_of(
    "use run write add make do don't never always keep put follow ask check update prefer avoid include start stop "
    "call tell create ensure be commit format test explain show give you_should you_must you_need we_should "
    "we_must we_always we_never"
)
_POLITE = (
    r"(?:(?:please|just|and|but|also|so|then|let's|we should|you should|you must|we must|make sure (?:to|that|you|"
    r"we)) ){0,3}"
)

RULES: tuple[Rule, ...] = (
    rule(
        "how to talk to me",
        _MANNER,
        "call address refer answer respond reply explain write speak talk keep make be replies answers responses "
        "explanations no avoid skip use stop",
        r"^(?:(?:from now on|always|please|just|in future|you should|you can),? ){0,3}(?:call me (?!when|if|back|"
        r"later|at|crazy)\w|address me (?:as|by)|refer to me as)",
        r"^(?:(?:from now on|always|please|only|in future|you should|never),? ){0,3}(?:answer|respond|reply|speak|"
        r"talk)(?: to me)? (?:(?:only|always) )?(?:in|with|as if) (?!the (?:file|repo|branch|same)|a (?:file|test|"
        r"new))\w",
        r"^(?:please |always )?(?:answer|respond|reply|explain)(?: \w{2,12})? (?:briefly|concisely|shortly|"
        r"in short|in detail)\b",
        rf"^(?:please |always )?(?:keep|make) (?:your|the|all|my) {_REPLIES}\b|\b{_REPLIES} (?:should|must|"
        rf"need to) be\b",
        r"^(?:please |always )?be (?:more |very |as )?(?:concise|brief|terse|direct|succinct|honest|blunt|formal|"
        r"informal|polite)\b(?! (?:here|about this))",
        r"^(?:please )?(?:no|don't use|do not use|avoid|skip|stop using|never use) (?:emojis?|exclamation|filler|"
        r"small talk|flattery|em[- ]dashes|bullet points|jargon)\b",
        rf"\bi (?:want|like|prefer|need) (?:\w{{2,12}} ){{0,2}}(?:your )?{_REPLIES} (?!to (?:this|the)|from|for)",
        unless=(_NOW_ONLY,),
    ),
    rule(
        "from now on",
        _RULE,
        "now forward future times circumstances rule exception notice time every here today jetzt zukunft künftig "
        "grundsätzlich",
        r"\b(?:from (?:now|here|today|this point) on(?:wards?)?|(?:going|moving) forward|at all times|"
        r"under no circumstances|without exception|until further notice|as a (?:general )?rule|rule of thumb|"
        r"every ?time|each time|house rule)\b",
        r"^in (?:the )?future\b|\bin (?:the )?future[,.:!]* ?(?:$|please|always|never|use|don't|do not|when|i want|"
        r"we should|make|keep|be|only|ask)|\bfor (?:all )?future \w{2,20}[,.!]* ?(?:$|please|always|never|use|"
        r"don't|do not)",
        r"^(?:for|in|on|before|after|with) every (?:single )?(?!where|thing|day|week)\w{2,20}",
        r"^(?:the|our|my) rule is\b|^rule: |\b(?:ab jetzt|in zukunft|künftig|grundsätzlich)\b",
        unless=(
            _PAST,
            r"\b(?:maybe|might|could|at some|someday|one day|eventually|think about|hide|dismiss|suppress|disable|"
            r"to suppress)\b",
            r"\b(?:i|it|this|he|she|they) (?:\w{2,10} )?(?:every ?time|each time)\b|\b(?:every ?time|"
            r"each time) (?:i|we)\b",
        ),
    ),
    rule(
        "always or never do",
        _RULE,
        "always never ever immer nie niemals",
        r"(?:^|[,;:.!] |\b(?:you|agents?|claude|please|to|should|must|shall|will|we|and|but|so|tests?|code|"
        r"also) )(?:(?:should|must|shall|please|need to|have to) )?(?:always|never|don't ever|do not ever|"
        r"not ever) (?:\w{2,12}ly )?(?!been|had|was|got|did|seen|saw|heard|mind|the\b|a\b|an\b|in\b|on\b|went|knew|"
        r"thought|happen|used to|i\b|we\b|\w{2,}[^su]s\b|\w{2,}ing\b)\w{2,}",
        rf"^{_POLITE}{_ORDER}\b[^?]{{4,120}}, always[.!]*$",
        r"^(?:bitte )?(?:immer|nie|niemals) \w|\b(?:nutze?|verwende|benutze|schreibe?|antworte|"
        r"mach) (?:bitte )?(?:immer|nie|niemals)\b|\b(?:should|must|can) never\b",
        unless=(
            r"^(?:it|this|that|there|he|she|they|i(?!'d| want| need| would| expect))\b.{0,20}\b(?:always|never)\b|"
            r"\b(?:it|this|that|he|she|they|i) (?:will|would) (?:always|never)\b|\b(?:i|that|which|it|he|"
            r"she) (?:\w{2,10} )?(?:always|never) \w{2,20}|\b(?:we|they) (?:have |had )?never \w{2,20}(?:ed|en|de|"
            r"ne)\b",
            _NOW_ONLY,
        ),
    ),
    rule(
        "ask first",
        _RULE,
        "ask asking without permission approval consent",
        r"\bask (?:me |us )?(?:first|before)\b|\bwithout (?:asking|telling|checking with|(?:my |"
        r"explicit )?(?:permission|approval|consent))\b",
        unless=(_PAST, r"\b(?:i|we|it|they) (?:\w{2,10} )?ask"),
    ),
    rule(
        "in this project",
        _RULE,
        "repo repository project codebase team app code",
        rf"^(?:in|for) (?:this|the|our) (?:repo|repository|project|codebase|team|app|code),? {_POLITE}(?:{_ORDER}|"
        rf"we|only)\b",
        unless=(_NOW_ONLY, _PAST),
    ),
    rule(
        "use it for that kind",
        _PRACTICE,
        "use write name format phrase spell prefix sign document indent structure title",
        r"^(?:please |only |just |you should |we should )?(?:only )?use (?!the\b|this|that|it\b|your|my|both|"
        r"all of|an? (?:sub|skill|different|new))[\w`'./ -]{2,40} (?:for|in|as|when|with|instead of|rather than|"
        r"over) (?!this\b|that\b|it\b|now\b|the (?:fix|test|new|last|above))\S",
        r"^(?:please )?(?:write|name|format|phrase|spell|prefix|sign|document|indent|structure|title) (?:all |"
        r"your |the |our )?(?:[\w-]{2,20} ){0,2}\w{2,20}[^su]s (?:in|with|as|using|without) \w",
        unless=(_NOW_ONLY, r"\b(?:can|could) you\b"),
    ),
    rule(
        "everywhere",
        _RULE,
        "everywhere throughout across consistently all any every each",
        rf"(?:^|[,;:–-] ?){_POLITE}(?:(?:we're|we are|you're|it's|all|every|any|only) )?(?:use|using|write|name|"
        rf"call|keep|follow|prefer|"
        r"format|avoid|apply|put|stick|make|run|add|have|document|test)\b.{2,160}\b(?:everywhere|throughout|"
        r"across the (?:board|codebase|project|repo|app|code|whole)|in all (?:places|files|cases|tests|our)|"
        r"for all (?:our|new|future|other)|consistently)\b",
        r"\bi (?:want|need|expect) (?:all|every|each) (?:the |of the |our )?\w{3,}",
        r"\b(?:all|every|any|each) (?:new )?(?!of\b)\w{2,20}(?: \w{2,20}){0,3} (?:must|should|shall|needs? to|"
        r"has to|have to)\b",
        unless=(_NOW_ONLY, r"\bthere should\b|\bshould (?:now|be fixed|work|pass|already|still)\b|\bconsider\b"),
    ),
    rule(
        "whenever",
        _RULE,
        "when whenever before after unless while time every each any",
        rf"^(?:when|whenever|before|after|any ?time|while|every time|unless) (?:you(?:'re| are)?|we(?:'re| are)?|"
        rf"there|\w{{3,12}}ing|a|an|the|it|something)\b.{{2,120}}, (?:(?:please|always|then|first|"
        rf"also) ){{0,2}}{_ORDER}\b",
        r"^(?:please )?(?:use|run|ask|update|check|write|format|commit|include|keep|add|"
        r"call) .{2,120}\b(?:whenever|every time|each time|unless i|before (?:each|every|any|committing|pushing|"
        r"merging)|after (?:each|every|any))\b",
        unless=(_NOW_ONLY, r"\b(?:i|we) (?:run|ran|get|got|see|saw|tried)\b|\bafter (?:that|this)\b"),
    ),
    rule(
        "our practice",
        _PRACTICE,
        "we our convention wir",
        r"\bwe (?:always|never|only|usually|generally|normally|typically|mostly|exclusively|"
        r"strictly)(?: \w{2,14}ly)? (?:use|write|commit|merge|squash|rebase|deploy|run|test|name|keep|put|prefer|"
        r"avoid|follow|support|ship|release|do|add|have|require|store|pin|format|document|review|push|work|target|"
        r"allow|log|return|throw|import|want|need)\b",
        r"\bour (?:\w{2,15} ){0,3}(?:conventions?|policy|standards?|style ?guide|style|guidelines?|practice|rules?|"
        r"workflow|process) (?:is|are|for|says?|requires?)\b",
        r"^we use [^,?]{2,60},? (?:and )?not \w|\bwir (?:verwenden|benutzen|nutzen) ",
        r"\b(?:the|a) convention (?:here |in this \w+ )?is\b|\bby convention\b|\bwe (?:follow|stick to|adhere to)\b",
        unless=(_PAST, r"\bwe (?:always|never|only|usually) (?:get|got|had|see|saw)\b"),
    ),
    rule(
        "this over that",
        _PRACTICE,
        "prefer use favor favour choose more",
        r"^(?:(?:please|always|just|you should|we should|and|but) ){0,2}(?:prefer|favou?r|choose) (?!this|that|"
        r"it\b)[^?]{2,80} (?:over|to|instead of|rather than)\b",
        r"^(?:please |always )?use [^?]{2,60}(?:,| and) (?:not|never) |^use [^?]{2,80} for (?:all|every|any|"
        r"everything|anything)\b",
        r"^no more \w",
        unless=(_NOW_ONLY, r"^no more (?:than|questions?|changes?|comments?)\b"),
    ),
    rule(
        "don't",
        _ONCE,
        "don't dont not avoid stop",
        r"^(?:(?:just|please|and|but|also|you) ){0,2}(?:don't|dont|do not|avoid|stop|(?:can|could) (?:you|"
        r"we) (?:please )?(?:not|stop|avoid)) (?!be\b)(?:\w{2,14}ly )?[a-z]{2,}",
        unless=(_TALK, _NOW_ONLY, r"^stop[.!]*$|\b(?:don't|do not|stop) (?:do )?(?:it|that|this)[.!]*$"),
    ),
    rule(
        "keep it so",
        _ONCE,
        "keep",
        r"^(?:(?:just|please|and|but|also|let's) ){0,2}keep (?:using|to|it|that|this|the|these|those|them|our|all|"
        r"both|on using) ?[^?]{3,}",
        unless=(_NOW_ONLY, r"\bkeep (?:it|this|that) (?:up|going|in mind)\b|\bkeep (?:going|working|trying|me)\b"),
    ),
)


def instruction(clause: SpokenSentence) -> RuleFinding | None:
    """The standing rule or prohibition that a clause lays down, or None."""
    return first(RULES, clause)
