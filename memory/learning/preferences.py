"""What a person likes, avoids, needs and usually does, said in the first person.

"I can't stand", "I'd rather", "I'm allergic to", "X works best for me", "my favourite". What is said of this one
answer ("I like it", "I'd like to see the log") is no preference.
"""

from memory.fact import Category, Kind, Stream
from memory.learning.rules import Finding, Rule, first, private, rule
from memory.learning.speech import Clause
from memory.scope import Layer

_ADV = (
    r"(?:(?:\w{2,12}ly|also|just|do|much|always|often|sometimes|still|very|quite|rather|kind of|sort of|somewhat|"
    r"definitely|tend to|would|never|too|even|so|more|actually|now|deeply|far|certainly) ){0,4}"
)
_LIKES = Finding(Kind.PREFERENCE, Category.PREFERENCES, Stream.IDENTITY, Layer.USER, 0.85, standing=True)
_HABIT = Finding(Kind.PREFERENCE, Category.PREFERENCES, Stream.IDENTITY, Layer.USER, 0.7, standing=True)
_HINT = Finding(Kind.PREFERENCE, Category.PREFERENCES, Stream.IDENTITY, Layer.USER, 0.6)

# Said of what lies before them, not of what they are like.
_THIS_ONCE = (
    r"\bi (?:do |really |also |absolutely |just |would ){0,2}(?:like|love|enjoy|appreciate|hate|prefer|favor|"
    r"value)d? (?:it|this|that|these|those|your?|the (?:idea|idea of|sound of|look of|new|first|second|third|last|"
    r"one|way|direction|approach|plan|result|results|suggestion|suggestions|help|tips|option)|option|how (?:you|it|"
    r"this|that)|both|all (?:of )?(?:these|those)|them)\b|\bi(?:'d| would) (?:really |also |definitely )?(?:like|"
    r"love|appreciate|enjoy) (?:to|it|if|any|some|your|you|that|a|an|the|more|for)\b|\bi (?:like|love|hate|"
    r"avoid)d?[.!]*$"
)
_ASKING = (
    r"\b(?:help|advice|tips?|ideas?|suggestions?|recommendations?|information|info|guidance|assistance|details|"
    r"to (?:know|see|understand|ask|talk|check|find|get|go|make|do|have|be|think|say|add|update|fix|run|test|write|"
    r"plan|create|learn|figure|decide|look|start|finish|improve|prepare|buy|change)|you|your|your)\b"
)

RULES: tuple[Rule, ...] = (
    rule(
        "likes",
        "prefer preferring dislike disliking hate loathe detest despise adore favor favour enjoy love like avoid "
        "avoiding value appreciate gravitate stick steer lean opt shy abhor cherish crave insist refuse struggle "
        "thrive tend strive aim prioritize prioritise resent distrust loath lean limit oppose respect fear follow "
        "practice practise care support advocate believe identify get",
        rf"\bi(?:'ve| have| am|'m)? {_ADV}(?:prefer|preferring|dislike|disliking|hate|loathe|detest|despise|adore|"
        rf"favou?r|"
        r"enjoy|love|like|avoid|avoiding|always avoided|value|appreciate|gravitate|stick (?:to|with)|steer clear|"
        r"lean (?:to|toward)|opt for|shy away|abhor|cherish|crave|insist|refuse|struggle|thrive|tend|strive|"
        r"prioriti[sz]e|resent|distrust|limit|oppose|follow a|practi[sc]e|care (?:about|deeply|for)|get (?:bored|"
        r"overwhelmed|anxious|frustrated|annoyed|tired|seasick|carsick|motion|easily|nervous|irritated|stressed|"
        r"headaches|dizzy))\b",
        _LIKES,
        unless=_THIS_ONCE,
    ),
    rule(
        "does not",
        "don't dont not never can't cannot cant won't wouldn't no",
        rf"\bi {_ADV}(?:don't|dont|do not|never|can't|cannot|cant|won't|will not|no longer|wouldn't|would not|"
        rf"could never) {_ADV}(?:like|enjoy|eat|drink|wear|watch|listen|play|buy|care|tolerate|stand|believe|trust|"
        rf"support|"
        r"travel|shop|visit|appreciate|feel (?:comfortable|safe|at ease)|cook|handle|consume|bear|mind|drive|fly|"
        r"smoke|swim|participate|engage|own|have (?:the )?(?:time|patience|interest|energy|space|tolerance)|find|"
        r"respond well|do well|get along|sleep|learn|function|digest|identify|invest|subscribe|relate|resonate|"
        r"follow|want (?:any|anything|to (?:use|buy|eat|deal|support|spend|waste|rely)))\b",
        _LIKES,
        unless=r"\bi (?:don't|do not) (?:care|mind)[.!]*$|\b(?:don't|do not|can't|cannot) (?:find|handle) (?:the|a|any|it|"
        r"this|that)\b|\b(?:don't|do not) (?:follow|believe)(?: it| that| so| this| you)?[.!,]*$",
    ),
    rule(
        "is",
        "i'm am",
        rf"\bi(?:'m| am| have been|'ve been) {_ADV}(?:allergic|intolerant|vegan|vegetarian|pescatarian|celiac|"
        rf"diabetic|"
        r"lactose|gluten|hypersensitive|sensitive|claustrophobic|afraid|scared|terrified|averse|opposed|against|"
        r"committed|dedicated|passionate|fond|keen|partial|drawn|attracted|fascinated|obsessed|prone|picky|wary|"
        r"skeptical|sceptical|put off|turned off|bothered|overwhelmed by|uncomfortable|uneasy|conscious|mindful|"
        r"particular about|interested in|not (?:a (?:big |huge |real |great )?fan|into|interested|comfortable|keen|"
        r"fond|a .{2,30} person|big on|good with|good at|willing|open to|much of a)|no fan|"
        r"a (?:\w{2,10} )?(?:fan of|lover of|believer|person who|visual|hands-on|strict|night owl|early bird|"
        r"morning person|minimalist|introvert|extrovert|homebody)|more of an?|(?:only|not) (?:looking|interested)|"
        r"trying to (?:avoid|cut|reduce|limit|stay away|eat|quit|minimi[sz]e|steer)|on a (?:\w{2,15} ){0,3}(?:diet|"
        r"budget)|looking to avoid|big on|all about|into|someone who|tired of|sick of|used to)\b",
        _LIKES,
        unless=r"\bi(?:'m| am) (?:not )?(?:interested in|keen|open to|not sure)\b.{0,40}\b(?:hear|know|see|learn|"
        r"understand|your|you)\b",
        when=private,
    ),
    rule(
        "has",
        "have i've suffer got experience deal",
        rf"\bi(?:'ve got| have| suffer from| experience| deal with| get| always have had|"
        rf" have had) {_ADV}(?:[\w-]{{1,16}} )"
        r"{0,4}(?:allerg(?:y|ies)|intolerance|aversion|preference|phobia|fear|dislike|distaste|weakness|soft spot|"
        r"passion|sensitivity|sensitivities|difficulty|trouble|hard time|tight budget|limited budget|low tolerance|"
        r"strict|anxiety|asthma|arthritis|migraines?|diabetes|adhd|dyslexia|insomnia|disability|condition|"
        r"restrictions?|interest in|no interest|little (?:interest|patience)|no (?:desire|patience)|concerns about|"
        r"sweet tooth|knack|love for)\b",
        _LIKES,
        when=private,
    ),
    rule(
        "finds",
        "find found",
        rf"\bi(?:'ve)? {_ADV}(?:find|found) (?!out\b|a way|the (?:file|bug|issue|error|problem|reason|cause|"
        rf"commit)|an? "
        r"(?:bug|issue|error|file|problem|job|way)|(?:it|this|that)[.!]*$)",
        _LIKES,
        when=private,
    ),
    rule(
        "my favourite",
        "my",
        r"\bmy (?:all-time |absolute |personal |own ){0,2}(?:favou?rites?|preferred|preference|go-to|ideal|dream|"
        r"top (?:choice|priority)|priority|priorities|dietary|diet|allerg(?:y|ies)|allergic|taste|tastes|pet peeve|"
        r"philosophy|rule|style|limit|comfort zone|values|beliefs|faith|religion|lifestyle|travel style|"
        r"learning style|budget)\b(?! (?:question|file|repo|branch))",
        _LIKES,
        when=private,
    ),
    rule(
        "for me",
        "me my",
        r"\b(?:works?|worked|suits?|fits?) (?:\w{1,10} ){0,2}(?:for )?me\b|\b(?:isn't|is not|aren't|are not|not|"
        r"never been|wasn't) (?:really )?(?:for me|my (?:thing|cup of tea|style|scene|jam|forte|strong suit))\b|"
        r"\b(?:makes?|gives?|keeps?|leaves?|causes?|triggers?|bothers?|annoys?|stress(?:es)?|overwhelms?|bores?|"
        r"drains?|irritates?|frustrates?|scares?|distracts?|appeals? to|matters? to|important to|turns?|puts?|"
        r"upsets?|relax(?:es)?|excites?|disgusts?|resonates? with) me\b(?! (?:a|an|the|some|think|wonder|this|that|"
        r"your|know|understand|one|two|few)\b)|\bbest for me\b|\b(?:deal[- ]?breaker|must-have|"
        r"non-negotiable) (?:for me|to me)\b",
        _LIKES,
        when=private,
    ),
    rule(
        "would rather",
        "i'd rather prefer",
        r"\bi(?:'d| would) (?:much |really |always |definitely )?(?:rather|prefer)\b",
        _LIKES,
        when=private,
    ),
    rule(
        "learns best",
        "best",
        r"\bi (?:\w{2,12} ){0,2}(?:learn|work|sleep|focus|study|concentrate|function|perform|think|do|feel|retain) "
        r"(?:\w{2,12} ){0,3}(?:best|better|well|easier)\b",
        _LIKES,
    ),
    rule(
        "usually",
        "always usually typically generally normally mostly only rarely seldom never exclusively primarily mainly "
        "often strictly regularly every hardly tend",
        r"\bi(?:'m|'ve| am| have)? (?:\w{2,12} )?(?:always|usually|typically|generally|normally|mostly|only|rarely|"
        r"seldom|never|exclusively|primarily|mainly|often|strictly|regularly|hardly ever|tend to) (?:\w{2,14})\b|"
        r"\bi (?:\w{2,12} ){1,4}(?:every (?:day|week|morning|night|evening|year|month|weekend)|regularly|"
        r"exclusively)\b",
        _HABIT,
        unless=r"\bi (?:always|usually|never|only|often|generally|mostly) (?:get|got|see|saw|had|have to|wondered|thought|"
        r"knew|asked|meant|heard)\b",
        when=private,
    ),
    rule(
        "wants for good",
        "want need require expect seek look looking",
        rf"\bi {_ADV}(?:only (?:want|need|buy|eat|use|read|watch)|require|expect|seek(?: out)?|look for|need|want) ",
        _HINT,
        unless=r"\bi (?:\w{2,12} ){0,2}(?:want|need|look|seek|expect|require)s? (?:\w{1,12} ){0,3}?" + _ASKING,
        when=private,
    ),
    rule(
        "german",
        "ich mag hasse liebe lieber bevorzuge allergisch mir",
        r"\bich (?:\w{2,12} ){0,2}(?:mag|hasse|liebe|bevorzuge|vermeide|bin allergisch|esse (?:kein|nur)|"
        r"trinke (?:kein|nur)|benutze (?:immer|nie|nur)|nutze (?:immer|nie|nur))|\b(?:gefällt|schmeckt|"
        r"passt) mir\b|\bmir ist .{2,60} lieber\b",
        _LIKES,
        unless=r"\bich (?:mag|liebe) (?:es|das|die idee)[.!]*$|\bich möchte\b",
    ),
)


def preference(clause: Clause) -> Finding | None:
    """The preference that a clause states, or None."""
    return first(RULES, clause)
