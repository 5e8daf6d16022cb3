"""Who the person is: name, work, home, family, plans, and what happened in their life; and what others are like.

Only first-person statements that are not about the work at hand: "I moved to Lisbon in May" is a fact of a life,
"I moved the tests to another folder" is not.
"""

from __future__ import annotations

import re

from memory.fact import Category, FactKind, Stream
from memory.language.calendar_names import MONTH_NAME
from memory.language.dates import MONTH
from memory.language.vocabulary import vocabulary
from memory.learning.rules import Rule, RuleFinding, any_of, first, private, rule
from memory.learning.speech import SpokenSentence
from memory.scope import Layer

_WHO = RuleFinding(FactKind.FACT, Category.PERSON, Stream.IDENTITY, Layer.USER, 0.85)
_TOOLS = RuleFinding(FactKind.FACT, Category.PERSON, Stream.IDENTITY, Layer.USER, 0.7)
_LIFE = RuleFinding(FactKind.OBSERVATION, Category.PERSON, Stream.FLOW, Layer.USER, 0.6)
_NEAR = RuleFinding(FactKind.FACT, Category.PEOPLE, Stream.IDENTITY, Layer.USER, 0.7)
_PLAN = RuleFinding(FactKind.TASK, Category.PERSON, Stream.TASKS, Layer.USER, 0.6)
_OTHER = RuleFinding(FactKind.FACT, Category.PEOPLE, Stream.PROJECTS, Layer.USER_PROJECT, 0.65)
_OBSERVED_OF_PERSON = RuleFinding(FactKind.OBSERVATION, Category.PEOPLE, Stream.FLOW, Layer.USER_PROJECT, 0.55)

_KIN = any_of(
    "wife husband partner girlfriend boyfriend fianc\\w{1,3} spouse sons? daughters? kids? child children baby mom "
    "mum mother dad father parents? brothers? sisters? siblings? grandm\\w{1,8} grandf\\w{1,8} grandparents? aunt "
    "uncle cousins? niece nephew family friends? best_friend roommates? neighbou?rs? boss manager colleagues? "
    "co-?workers? team_?mates? teacher doctor therapist dogs? cats? puppy kitten pets? in-laws? mentor landlord"
)
_OWN = any_of(
    "name nickname handle user_?name user user_id account e-?mail pronouns birthday age job job_title title role "
    "profession occupation employer company team department native_language mother_tongue language time_?zone "
    "nationality home_?town home address city country religion major degree school university editor ide shell "
    "terminal os operating_system laptop machine phone car github gitlab twitter linkedin website blog height "
    "weight blood_type hobby hobbies dream goal"
)
_CALLING = (
    r"[\w-]{2,20}(?:er|or|ist|ian|ant|ent|man|woman|ect|ee|eur|ic|ate|ess)|nurse|chef|cook|parent|mom|mum|dad|"
    r"coach|guide|lead|pilot|vet|judge|clerk|athlete|boss|widow\w{0,2}|veteran|guard|host|nomad|intern|native|"
    r"expat|cto|ceo|cfo|sre|dev|pm"
)
_NO_CALLING = any_of(
    "confident different excellent apparent independent patient content present silent better over never after "
    "under either rather later for current consistent reluctant hesitant user customer member other order"
)
_NAMED = re.compile(r"\bI(?:['’]m| am) (?!Not\b|So\b|OK\b|Done\b)[A-Z][a-zà-ÿ]{1,20}\b")
_DID = any_of(
    "went visited attended joined started finished completed won lost met bought adopted moved ran hiked "
    "travell?ed painted wrote read watched played performed volunteered cooked baked made created built designed "
    "signed passed failed took gave donated organi[sz]ed hosted celebrated learn(?:ed|"
    "t) taught saw quit left opened launched applied received got been had tried camped swam flew drove booked "
    "discovered grew spent raised helped ate sold planted spoke gone seen done enjoyed loved practi[sc]ed trained "
    "struggled recovered injured broke fell stayed missed called invited danced sang"
)
_WHEN = (
    rf"\b(?:on|by|in|next|this|tomorrow|tonight|soon|before|after) (?:\w{{2,9}}day\b|\d|the \d|{MONTH_NAME}|week|"
    r"month|year|summer|winter|spring|fall|autumn|end of|weekend)|\btomorrow\b|\btonight\b"
    r"|\bin (?:an? |\w{1,6} )(?:days?|weeks?|months?|years?)\b"
)

RULES: tuple[Rule, ...] = (
    rule(
        "where I am until a day",
        _LIFE,
        "until till",
        r"^(?:i am|i'm|i'll be) (?:on|in|at|away|out|off|working|based|travell?ing|visiting|covering|standing in)\b"
        rf"[^?]{{0,60}}?\b(?:until|till) (?:tomorrow|next|the (?:end|\d)|\d|\w{{3,6}}day|{MONTH})\b",
    ),
    rule(
        "my name, my place",
        _WHO,
        "my call go name heiße",
        rf"\bmy (?:\w{{2,14}} ){{0,2}}{_OWN} (?:is|are|was|runs|uses)\b (?!not working|broken|failing|down|slow|"
        rf"crash|a mess|stuck|to\b)",
        r"\b(?:you can )?call me (?!when|if|back|later|at|crazy)\w|\bi go by\b|\bmein name ist\b|\bich heiße\b",
    ),
    rule(
        "I am called",
        _WHO,
        "i'm am",
        r"^(?:i'm|i am) [^\W\d_]{2,20}(?:[,.!]|$)",
        when=lambda clause: bool(_NAMED.search(clause.text)) and not clause.technical,
    ),
    rule(
        "I am somebody",
        _WHO,
        "i'm am bin wohne lebe arbeite",
        rf"\bi(?:'m| am) (?:(?:\w{{2,12}}ly|also|just|still) ){{0,2}}an? (?!bit|little|big|huge|fan|lot|few|couple|"
        rf"moment|while|step|loss|total)(?:[\w-]{{2,20}} ){{0,4}}?(?:{_CALLING})\b",
        r"\bi(?:'m| am) (?:(?:\w{2,12}ly|also|just|still) ){0,2}(?:\d{1,3}(?: years old|\b(?= and|,|\.|$))|"
        r"from \w{2,}|based in|living in|born in|married|single|divorced|engaged|pregnant|retired|widowed|"
        r"working (?:as|at|for|in)|studying|the (?:[\w-]{2,15} ){0,3}(?:owner|founder|lead|maintainer|author|head|"
        r"manager|director|cto|ceo|admin)\b)",
        r"\bich bin (?:ein|eine)\b|\bich (?:wohne|lebe|arbeite) (?:in|bei|als)\b",
        unless=(rf"\bi(?:'m| am) (?:an? )?{_NO_CALLING}\b", r"\b(?:if|whether|sure|certain) i(?:'m| am)\b"),
        when=private,
    ),
    rule(
        "I live and work",
        _WHO,
        "live lived work worked grew was study studied teach taught own run speak moved graduated got lost have",
        r"\bi (?:(?:currently|also|now|still|used to|recently|just|have) ){0,2}(?:live|lived|work(?:ed)? (?:as|at|"
        r"for|in|from|part|full|night|remotely|on an?)|grew up|was (?:born|raised|diagnosed)|study|studied|teach|"
        r"taught|own an?|run an?|speak (?!to|with|about|up|for)|moved (?:to|from|here|back|in)|graduated|lost my|"
        r"got (?:married|engaged|divorced|promoted|laid off|fired|a (?:new )?(?:job|dog|cat|puppy|kitten|car|"
        r"house)))\b",
        rf"\bi have (?:two|three|four|five|\d|an?|twin|several|no|young|many) (?:[\w-]{{2,15}} ){{0,3}}(?:{_KIN}|"
        rf"years|degree|phd|job|house|garden|"
        r"farm|business|apartment|car|bike|boat|scholarship)\b",
        when=private,
    ),
    rule(
        "what I use",
        _TOOLS,
        "use",
        r"^i (?:mostly |mainly |only |also )?use (?!it\b|this|that|the\b|an?\b|to\b|your)[\w`]",
        unless=(r"\b(?:when|if|since|after|now) i use\b|\bi use\b.{0,60}\b(?:it|but)\b",),
    ),
    rule(
        "those near me",
        _NEAR,
        "my our",
        rf"\b(?:my|our) (?:[\w-]{{2,12}} ){{0,2}}{_KIN}(?:'s)?\b.{{0,60}}\b(?:is|are|was|were|has|have|had|loves?|"
        rf"likes?|hates?|prefers?|works?|lives?|died|"
        r"passed|called|named|plays?|goes|went|got|gets|told|said|wants?|enjoys?|needs?|turned|turns|can't|doesn't|"
        r"don't|came|comes|made|makes|gave|bought|started|moved|helped|helps|asked|taught|visited|took|thinks?|"
        r"keeps?|and i)\b",
        when=private,
    ),
    rule(
        "what I have booked",
        _PLAN,
        "i've have signed booked registered scheduled applied enrolled promised",
        r"\bi(?:'ve| have)? (?:just |already )?(?:signed up|booked|registered|scheduled|applied|enrolled|promised)\b",
        r"\bi have (?:an? )?(?:[\w-]{2,15} )?(?:appointment|interview|exam|meeting|flight|trip|wedding|recital|"
        r"competition|race|deadline)\b",
        when=private,
    ),
    rule(
        "what I shall do",
        _PLAN,
        "i'll will i'm am gonna plan planning hope intend we're are promised",
        rf"\b(?:i'll|i will|i'm going to|i am going to|i'm gonna|we're going to|i plan to|i'm planning|"
        rf"i am planning|i hope to|i'm hoping|i intend to|promised)\b.{{2,160}}(?:{_WHEN})",
        r"\b(?:i plan to|i'm planning (?:to|on|a)|i am planning (?:to|on|a)|i intend to|i(?:'m|"
        r" am) hoping to)\b.{8,}",
        r"^promised [a-z]\w{1,20} ",
        when=private,
    ),
    rule(
        "what happened to me",
        _LIFE,
        "i i've we we've",
        rf"\b(?:i|we)(?:'ve| have|'d)? (?:(?:\w{{2,12}}ly|just|also|even|once|already|both) ){{0,2}}{_DID}\b.{{6,}}",
        unless=(
            r"\b(?:i|we)(?:'ve| have)? (?:just )?(?:read (?:that|your)|had (?:a|the|some) (?:question|doubt|idea|"
            r"thought)|got (?:it|this|the|an? (?:email|message|notification|error|response))|received|"
            r"made a (?:mistake|typo)|tried (?:it|that|this|to)|called (?:earlier|"
            r"about|you))\b",
        ),
        when=lambda clause: not clause.technical and len(clause.words) > 5,
    ),
)

_DOES = any_of(
    "prefers likes loves hates dislikes enjoys wants would_rather avoids works_(?:as|at|for|in|on|"
    "from) lives_in speaks needs owns leads manages is_(?:allergic|responsible|our|my|in_charge|an?)"
)
PERSON_RULES: tuple[Rule, ...] = (
    rule(
        "somebody is so",
        _OTHER,
        "prefers likes loves hates dislikes enjoys wants rather avoids works lives speaks needs owns leads manages is",
        rf"^[a-z][\w'-]{{1,20}}(?: [a-z][\w'-]{{1,20}})? (?:(?:\w{{2,12}}ly|also|always|never|only|"
        rf"just) ){{0,2}}{_DOES}\b",
    ),
    rule("somebody told me", _OBSERVED_OF_PERSON, "told asked", r"^[a-z][\w'-]{1,20} (?:told|asked) me \w"),
)
_NO_NAME = vocabulary(
    "it he she they we i you this that these those the a an there here what who which one everyone everybody "
    "nobody someone somebody each every all most some both neither none claude codex copilot gpt chatgpt "
    "assistant agent user users my our your his her their its"
)


def personal(clause: SpokenSentence) -> RuleFinding | None:
    """What a clause says about the person's own life, or None."""
    return first(RULES, clause)


def person_finding(clause: SpokenSentence) -> RuleFinding | None:
    """What a clause says about somebody who is named at its beginning, or None."""
    head = clause.plain.split(" ", 1)[0]
    # "It prefers", "The linter wants": no name. A name has its capital, and its clause no code.
    if clause.technical or head in _NO_NAME or head.capitalize() not in clause.text[:80]:
        return None
    return first(PERSON_RULES, clause)
