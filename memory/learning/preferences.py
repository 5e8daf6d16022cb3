"""What a person likes, avoids, needs and usually does, said in the first person.

"I can't stand", "I'd rather", "I'm allergic to", "X works best for me", "my favourite". What is said of this one
answer ("I like it", "I'd like to see the log") is no preference.
"""

import re

from memory.fact import Category, FactKind, Stream
from memory.learning.rules import Rule, RuleFinding, any_of, first, private, rule
from memory.learning.speech import SpokenSentence
from memory.scope import Layer

_LIKES = RuleFinding(FactKind.PREFERENCE, Category.PREFERENCES, Stream.IDENTITY, Layer.USER, 0.85, standing=True)
_HABIT = RuleFinding(FactKind.PREFERENCE, Category.PREFERENCES, Stream.IDENTITY, Layer.USER, 0.7, standing=True)
_WISH = RuleFinding(FactKind.PREFERENCE, Category.PREFERENCES, Stream.IDENTITY, Layer.USER, 0.65)
_HINT = RuleFinding(FactKind.PREFERENCE, Category.PREFERENCES, Stream.IDENTITY, Layer.USER, 0.6)

_ADV = (
    r"(?:(?:\w{2,12}ly|also|just|do|much|always|often|sometimes|still|very|quite|rather|kind of|sort of|somewhat|"
    r"tend to|would|never|too|even|so|more|deeply|far) ){0,4}"
)
_LIKE = any_of(
    "prefer preferring dislike disliking hate loathe detest despise adore favou?r enjoy love like avoid avoiding "
    "value appreciate gravitate stick_(?:to|with) steer_clear lean_(?:to|"
    "toward) opt_for shy_away abhor cherish crave insist refuse struggle thrive tend strive prioriti[sz]e resent "
    "distrust limit oppose follow_a practi[sc]e care_(?:about|deeply|for)"
)
_NOT = r"(?:don't|dont|do not|never|can't|cannot|cant|won't|will not|no longer|wouldn't|would not|could never)"
_NOT_DO = any_of(
    "like enjoy eat drink wear watch listen play buy care tolerate stand believe trust support travel shop visit "
    "appreciate feel_(?:comfortable|safe|"
    "at_ease) cook handle consume bear mind drive fly smoke swim participate engage own find have_(?:the_)?(?:time|"
    "patience|interest|energy|space|"
    "tolerance) respond_well do_well get_along sleep learn function digest identify invest subscribe relate "
    "resonate follow want_(?:any|anything) want_to_(?:use|buy|eat|deal|support|spend|waste|rely)"
)
_BEING = any_of(
    "allergic intolerant vegan vegetarian pescatarian celiac diabetic lactose gluten hypersensitive sensitive "
    "claustrophobic afraid scared terrified averse opposed against committed dedicated passionate fond keen "
    "partial drawn attracted fascinated obsessed prone picky wary skeptical sceptical put_off turned_off bothered "
    "overwhelmed_by uncomfortable uneasy conscious mindful particular_about interested_in no_fan more_of_an? "
    "big_on all_about into someone_who tired_of sick_of used_to looking_to_avoid (?:only|"
    "not)_looking not_(?:a_(?:big_|huge_|real_|great_)?fan|into|interested|comfortable|keen|fond|big_on|"
    "good_(?:with|at)|willing|open_to) trying_to_(?:avoid|cut|reduce|limit|stay_away|eat|quit|minimi[sz]e|steer)"
)
_HAVING = any_of(
    "allerg(?:y|ies) intolerance aversion preference phobia fear dislike distaste weakness soft_spot passion "
    "sensitivit(?:y|ies) difficulty trouble hard_time (?:tight|limited)_budget low_tolerance strict anxiety asthma "
    "arthritis migraines? diabetes adhd dyslexia insomnia disability condition restrictions? (?:no_)?interest "
    "little_(?:interest|patience) no_(?:desire|patience) concerns_about sweet_tooth love_for"
)
_DOES_TO = any_of(
    "makes? gives? keeps? leaves? causes? triggers? bothers? annoys? stress(?:es)? overwhelms? bores? drains? "
    "irritates? frustrates? scares? distracts? appeals?_to matters?_to important_to turns? puts? upsets? "
    "relax(?:es)? excites? disgusts? resonates?_with"
)
# Said of what lies before them, not of what they are like.
_THIS_ONCE = (
    r"\bi (?:(?:do|really|also|absolutely|just|would) ){0,2}(?:like|love|enjoy|appreciate|hate|prefer|favou?r|"
    r"value)d? (?:it|this|that|these|those|your?|them|both|(?:the )?option|the (?:idea|sound of|look of|new|first|"
    r"second|third|last|one|way|direction|approach|plan|results?|suggestions?|help|tips|option)|how (?:you|it|this|"
    r"that)|all (?:of )?(?:these|those))\b",
    r"\bi(?:'d| would) (?:really |also |definitely )?(?:like|love|appreciate|enjoy) (?:to|it|if|any|some|your|you|"
    r"that|a|an|the|more|for|help|assistance|feedback)\b",
    r"\bi (?:\w{2,12} ){0,2}appreciate (?:the|having you|help|how)\b",
    r"\bi (?:like|love|hate|avoid)d?[.!]*$",
)
_ASKING = (
    r"\b(?:help|advice|tips?|ideas?|suggestions?|recommendations?|information|info|guidance|assistance|details|"
    r"your?|to (?:know|see|understand|ask|talk|check|find|get|go|make|do|have|be|think|say|add|update|fix|run|test|"
    r"write|plan|create|learn|figure|decide|look|start|finish|improve|prepare|buy|change))\b"
)

_PAST = re.compile(
    r"\bi(?:'ve| have)? (?:\w{2,12}ly )?found\b(?! that i\b)|\b(?:was|were|worked|made|gave|kept|left|"
    r"helped) (?:\w{2,12} ){0,3}(?:for |to )?me\b"
)

RULES: tuple[Rule, ...] = (
    rule(
        "likes",
        _LIKES,
        "prefer preferring dislike disliking hate loathe detest despise adore favor favour enjoy love like avoid "
        "avoiding value appreciate gravitate stick steer lean opt shy abhor cherish crave insist refuse struggle "
        "thrive tend strive prioritize prioritise resent distrust limit oppose follow practice practise care "
        "avoided",
        rf"\bi(?:'ve| have| am|'m)? {_ADV}(?:{_LIKE}|always avoided)\b",
        unless=_THIS_ONCE,
    ),
    rule(
        "gets",
        _LIKES,
        "get",
        rf"\bi {_ADV}get (?:\w{{2,12}}ly )?(?:bored|overwhelmed|anxious|frustrated|annoyed|tired|seasick|carsick|"
        rf"motion|easily|nervous|"
        r"irritated|stressed|headaches|dizzy)\b",
    ),
    rule(
        "does not",
        _LIKES,
        "don't dont not never can't cannot cant won't wouldn't no",
        rf"\bi {_ADV}{_NOT} {_ADV}{_NOT_DO}\b",
        unless=(
            r"\bi (?:don't|do not) (?:care|mind)[.!]*$",
            r"\b(?:don't|do not|can't|cannot) (?:find|handle) (?:the|a|any|it|this|that)\b",
            r"\b(?:don't|do not) (?:follow|believe)(?: it| that| so| this| you)?[.!,]*$",
        ),
        when=private,
    ),
    rule(
        "is",
        _LIKES,
        "i'm am i've",
        rf"\bi(?:'m| am| have been|'ve been) {_ADV}{_BEING}\b",
        r"\bi(?:'m| am) (?:\w{2,12}ly )?(?:not )?an? (?:[\w-]{2,12} )?(?:fan of|lover of|believer|person|"
        r"person who|visual|hands-on|strict|night owl|early bird|morning person|minimalist|introvert|extrovert|"
        r"homebody)\b",
        r"\bi(?:'m| am) on an? (?:[\w-]{2,15} ){0,3}(?:diet|budget)\b",
        unless=(
            r"\bi(?:'m| am) (?:not )?(?:interested in|keen|open to|not sure)\b.{0,40}\b(?:hear|know|see|learn|"
            r"understand|your?)\b",
        ),
        when=private,
    ),
    rule(
        "has",
        _LIKES,
        "have i've suffer got experience deal get",
        rf"\bi(?:'ve got| have| suffer from| experience| deal with| get|"
        rf" have had) {_ADV}(?:[\w-]{{1,16}} ){{0,4}}{_HAVING}\b",
        when=private,
    ),
    rule(
        "finds",
        _LIKES,
        "find found",
        rf"\bi(?:'ve)? {_ADV}(?:find|found) (?!out\b|a way|the (?:file|bug|issue|error|problem|reason|cause|"
        rf"commit)|an? (?:bug|issue|error|"
        r"file|problem|job|way)|(?:it|this|that)[.!]*$)",
        when=private,
    ),
    rule(
        "mine",
        _LIKES,
        "my",
        r"\bmy (?:(?:all-time|absolute|personal|own) ){0,2}(?:favou?rites?|preferred|preferences?|go-to|ideal|"
        r"dream|top (?:choice|priority)|priority|priorities|dietary|diet|allerg(?:y|ies)|tastes?|pet peeve|"
        r"philosophy|rule|style|limit|comfort zone|values|beliefs|faith|religion|lifestyle|travel style|"
        r"learning style|budget)\b(?! (?:question|file|repo|branch))",
        when=private,
    ),
    rule(
        "for me",
        _LIKES,
        "me my",
        r"\b(?:works?|worked|suits?|fits?) (?:\w{1,10} ){0,2}(?:for )?me\b|\bbest for me\b",
        r"\b(?:isn't|is not|aren't|are not|not|never been|wasn't) (?:really )?(?:for me|my (?:thing|cup of tea|"
        r"style|scene|jam|forte|strong suit))\b",
        rf"\b{_DOES_TO} me\b(?! (?:a|an|the|some|think|wonder|this|that|your|know|understand|one|two|few)\b)",
        r"\b(?:deal[- ]?breaker|must-have|non-negotiable) (?:for|to) me\b",
        unless=(r"\b(?:keep|let|give|leave) me (?:posted|updated|know|informed|in the loop)\b",),
        when=private,
    ),
    rule(
        "would rather",
        _WISH,
        "i'd rather prefer",
        r"\bi(?:'d| would) (?:(?:much|really|always|definitely) )?(?:rather|prefer)\b",
        when=private,
    ),
    rule(
        "does it best",
        _LIKES,
        "best better well easier",
        r"\bi (?:\w{2,12} ){0,2}(?:learn|work|sleep|focus|study|concentrate|function|perform|feel|"
        r"retain) (?:\w{2,12} ){0,3}(?:best|better|well|easier)\b",
        when=private,
    ),
    rule(
        "usually",
        _HABIT,
        "always usually typically generally normally mostly only rarely seldom never exclusively primarily mainly "
        "often strictly regularly every hardly tend",
        r"\bi(?:'m|'ve| am| have)? (?:\w{2,12} )?(?:always|usually|typically|generally|normally|mostly|only|rarely|"
        r"seldom|never|exclusively|primarily|mainly|often|strictly|regularly|hardly ever|tend to) \w{2,14}\b",
        r"\bi (?:\w{2,12} ){1,4}(?:every (?:day|week|morning|night|evening|year|month|weekend)|regularly|"
        r"exclusively)\b",
        unless=(
            r"\bi(?:'ve| have)? (?:\w{2,12} )?(?:always|usually|never|only|often|generally|mostly) (?:get|got|see|"
            r"saw|had|have to|wondered|wanted|thought|knew|asked|meant|heard|seen|been (?:to|there)|tried|used|"
            r"need|want)\b",
        ),
        when=private,
    ),
    rule(
        "wants",
        _HINT,
        "want need require expect seek look looking",
        rf"(?:^|[,;] |\b(?:and|but|so|because|since|as|although|while) )i {_ADV}(?:only (?:want|need|buy|eat|use|"
        rf"read|watch)|require|expect|seek(?: out)?|look for|need|want) ",
        unless=(
            r"\bi (?:\w{2,12} ){0,2}(?:want|need|look|seek|expect|require)s? (?:\w{1,12} ){0,3}?" + _ASKING,
            # An errand, or this one thing now.
            r"\bi (?:\w{2,12} ){0,2}(?:want|need) (?:to (?!avoid|stay|eat|live|feel|keep|limit|reduce)|the|my|this|"
            r"that|it|some|more|one|an? (?:new|copy))\b",
        ),
        when=private,
    ),
    rule(
        "german",
        _LIKES,
        "ich mir",
        r"\bich (?:\w{2,12} ){0,2}(?:mag|hasse|liebe|bevorzuge|vermeide|bin allergisch|(?:esse|trinke) (?:kein|"
        r"nur)|(?:be)?nutze (?:immer|nie|nur))",
        r"\b(?:gefällt|schmeckt|passt) mir\b|\bmir ist .{2,60} lieber\b",
        unless=(r"\bich (?:mag|liebe) (?:es|das|die idee)[.!]*$|\bich möchte\b",),
    ),
)


def preference(clause: SpokenSentence) -> RuleFinding | None:
    """The preference that a clause states, or None; one that is told of the past may have passed."""
    found = first(RULES, clause)
    return _HINT if found is not None and found.standing and _PAST.search(clause.plain) else found
