"""Who the person is: name, work, home, family, health, plans, and what happened in their life.

Only first-person statements that are not about the work at hand: "I moved to Lisbon in May" is a fact of a life,
"I moved the tests to another folder" is not.
"""

from __future__ import annotations

from memory.fact import Category, Kind, Stream
from memory.learning.rules import Finding, Rule, first, private, rule
from memory.learning.speech import Clause
from memory.scope import Layer

_WHO = Finding(Kind.FACT, Category.PERSON, Stream.IDENTITY, Layer.USER, 0.85)
_LIFE = Finding(Kind.OBSERVATION, Category.PERSON, Stream.FLOW, Layer.USER, 0.6)
_NEAR = Finding(Kind.FACT, Category.PEOPLE, Stream.IDENTITY, Layer.USER, 0.7)
_PLAN = Finding(Kind.TASK, Category.PERSON, Stream.TASKS, Layer.USER, 0.6)
_OTHER = Finding(Kind.OBSERVATION, Category.PEOPLE, Stream.FLOW, Layer.USER_PROJECT, 0.55)

_KIN = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fianc\w{1,3}|spouse|son|sons|daughter|daughters|kids?|child|"
    r"children|baby|mom|mum|mother|dad|father|parents?|brothers?|sisters?|siblings?|grandm\w{1,8}|grandf\w{1,8}|"
    r"grandparents?|aunt|uncle|cousins?|niece|nephew|family|friends?|best friend|roommates?|neighbou?rs?|boss|"
    r"manager|colleagues?|coworkers?|co-workers?|team ?mates?|teacher|doctor|therapist|dog|dogs|cat|cats|puppy|"
    r"kitten|pets?|in-laws?|mentor|landlord)"
)

RULES: tuple[Rule, ...] = (
    rule(
        "my name, my account",
        "my name called mein",
        r"\bmy (?:\w{2,14} ){0,2}(?:name|nickname|handle|user ?name|user|user id|account|email|e-mail|pronouns|"
        r"birthday|age|job|job title|title|role|profession|occupation|employer|company|team|department|"
        r"native language|mother tongue|language|time ?zone|nationality|hometown|home town|home|address|city|"
        r"country|religion|major|degree|school|university|editor|ide|shell|terminal|os|operating system|laptop|"
        r"machine|phone|car|github|gitlab|twitter|linkedin|website|blog|height|weight|blood type|zodiac|hobby|"
        r"hobbies|dream|goal|biggest \w{3,12}) (?:is|are|was|'s|runs|uses)\b (?!not working|broken|failing|down|"
        r"slow|crash|a mess|stuck|to\b)|\b(?:you can )?call me (?!when|if|back|later|at|crazy)\w|\bi go by\b|"
        r"\bmein name ist\b|\bich heiße\b",
        _WHO,
    ),
    rule(
        "I am somebody",
        "i'm am bin",
        r"\bi(?:'m| am) (?:\w{2,12}ly |also |just |currently |still |originally ){0,2}(?:an? (?!bit|little|big|"
        r"huge|fan|lot|few|couple|moment|while|step|loss|total|"
        r"(?:\w{2,12} )?fan)(?:[\w-]{2,20} ){0,4}(?:[\w-]{2,20}(?:er|or|ist|ian|ant|ent|man|woman|ect|ee|eur|ic|"
        r"ate|ess)|nurse|chef|cook|student|parent|mother|father|mom|mum|dad|coach|guide|lead|pilot|vet|judge|clerk|"
        r"athlete|boss|freelancer|retiree|widow\w{0,2}|veteran|guard|host|nomad|intern|native|expat|cto|ceo|cfo|"
        r"founder|sre|dev|pm|\w{2,20} person)\b|\d{1,3}(?: years old|\b(?= and|,|\.|$))|from [\w]{2,}|based in|"
        r"living in|born in|married|single|divorced|engaged|pregnant|retired|widowed|expecting|working (?:as|at|"
        r"for|in)|studying|the (?:\w{2,15} ){0,3}(?:owner|founder|lead|maintainer|author|head|manager|director|cto|"
        r"ceo|admin) )|\bich bin (?:ein|eine|\w{3,20}(?:er|in)\b)|\bich (?:wohne|lebe|arbeite) (?:in|bei|als)\b",
        _WHO,
        unless=r"\bi(?:'m| am) (?:an? )?(?:confident|different|excellent|apparent|independent|patient|sent|content|present|silent|better|"
        r"over|never|after|under|either|rather|later|for|current|consistent|reluctant|hesitant|user|customer|"
        r"member|other|later)\b",
        when=private,
    ),
    rule(
        "I live and work",
        "live lived work worked grew born study studied teach own run speak moved graduated have got lost married "
        "raised",
        r"\bi (?:currently |also |now |still |used to |recently |just |have ){0,2}(?:live|lived|work(?:ed)? (?:as|"
        r"at|for|in|from|with|part|full|night|remotely|on a)|grew up|was (?:born|raised|diagnosed)|study|studied|"
        r"teach|taught|own an?|run an?|speak (?!to|with|about|up|for)|moved (?:to|from|here|back|in)|graduated|"
        r"got (?:married|engaged|divorced|promoted|laid off|fired|a (?:new )?(?:job|dog|cat|puppy|kitten|car|"
        r"house))|lost my|have (?:two|three|four|five|\d|an?|twin|several|no|young|many) (?:[\w-]{2,15} ){0,3}"
        rf"(?:{_KIN}|years|degree|phd|job|house|garden|farm|business|apartment|car|bike|boat|condition|"
        rf"scholarship))\b",
        _WHO,
        unless=r"\bi (?:work|live) (?:with|on) (?:it|this|that)\b",
        when=private,
    ),
    rule(
        "those near me",
        "my our",
        rf"\b(?:my|our) (?:\w{{2,12}} ){{0,2}}{_KIN}(?:'s)?\b.{{0,60}}\b(?:is|are|was|were|has|have|had|loves?|"
        rf"likes?|hates?|prefers?|works?|"
        r"lives?|died|passed|called|named|plays?|goes|went|got|gets|told|said|wants?|enjoys?|needs?|turned|turns|"
        r"'s|can't|doesn't|don't|came|comes|made|makes|gave|bought|started|moved|helped|helps|asked|taught|visited|"
        r"took|thinks?|keeps?|and i)\b",
        _NEAR,
        when=private,
    ),
    rule(
        "what I shall do",
        "i'll will going plan planning i'm promised hope intend signed booked registered scheduled appointment "
        "deadline",
        r"\b(?:i'll|i will|i'm going to|i am going to|i'm gonna|gonna|i plan to|i'm planning|i am planning|"
        r"i promised|i hope to|i'm hoping|i intend to|i(?:'ve| have)? (?:signed up|booked|registered|scheduled|"
        r"applied|enrolled)|i have (?:an? )?(?:\w{2,15} )?(?:appointment|interview|exam|meeting|flight|trip|"
        r"wedding|recital|competition|race|deadline))\b",
        _PLAN,
        unless=r"\bi(?:'ll| will) (?:be (?:here|back|sure)|take (?:it|that|this|a look)|look|check|try|let you|keep|have to|do that|do it|"
        r"give|see|need|think|definitely|go (?:with|ahead)|get back|just|use (?:it|that|this|them|your)|consider|"
        r"tell|show|send you|wait|proceed|provide|need)\b",
        when=private,
    ),
    rule(
        "what happened to me",
        "i i've we we've",
        r"\b(?:i|we)(?:'ve| have|'d)? (?:\w{2,12}ly |just |also |even |finally |once |already |both ){0,2}(?:went|"
        r"visited|attended|joined|started|finished|completed|won|lost|met|bought|adopted|moved|ran|hiked|traveled|"
        r"travelled|painted|wrote|read|watched|played|performed|volunteered|cooked|baked|made|created|built|"
        r"designed|signed|passed|failed|took|gave|donated|organi[sz]ed|hosted|celebrated|learned|learnt|taught|saw|"
        r"quit|left|opened|launched|applied|received|got|been|had|tried|camped|swam|flew|drove|booked|discovered|"
        r"grew|spent|raised|helped|ate|sold|planted|spoke|gone|seen|done|enjoyed|loved|practi[sc]ed|trained|"
        r"struggled|recovered|injured|broke|fell|stayed|missed|called|invited|danced|sang)\b.{6,}",
        _LIFE,
        unless=r"\b(?:i|we)(?:'ve| have)? (?:just )?(?:read (?:that|your)|had (?:a|the|some) (?:question|doubt|idea|thought)|got (?:it|this|"
        r"the|an? (?:email|message|notification|error|response))|received (?:an?|the|my) (?:email|message|error|"
        r"order|item|wrong|defective)|made a (?:mistake|typo|reservation|booking|purchase)|tried (?:it|that|this|"
        r"to)|called (?:earlier|about|you))\b|\b(?:order|reservation|booking|refund|flight|delivered|items?)\b",
        when=lambda clause: private(clause) and len(clause.words) > 5,
    ),
)

SOMEBODY: tuple[Rule, ...] = (
    rule(
        "somebody prefers",
        "prefers likes loves hates dislikes enjoys wants rather avoids works lives speaks needs owns leads manages "
        "favorite allergic",
        r"^[a-z][\w'-]{1,20}(?: [a-z][\w'-]{1,20})? (?:\w{2,12}ly |also |always |never |usually |really |only |"
        r"just ){0,2}(?:prefers|likes|loves|hates|dislikes|enjoys|wants|would rather|avoids|works (?:as|at|for|in|"
        r"on|from)|lives in|speaks|is (?:allergic|responsible|the|our|my|in charge|an?)|needs|owns|leads|manages|"
        r"told me)\b",
        Finding(Kind.FACT, Category.PEOPLE, Stream.PROJECTS, Layer.USER_PROJECT, 0.65),
    ),
    rule(
        "somebody said so to me",
        "told asked said",
        r"^[a-z][\w'-]{1,20} (?:told|asked) me (?:that |to |not to )?(?:\w)",
        _OTHER,
    ),
)


def personal(clause: Clause) -> Finding | None:
    """What a clause says about the person's own life, or None."""
    return first(RULES, clause)


def somebody(clause: Clause) -> Finding | None:
    """What a clause says about somebody who is named at its beginning, or None."""
    name = clause.text.lstrip("*_\"'(- ")[:1]
    # "It prefers", "The linter wants": no name.
    head = clause.plain.split(" ", 1)[0]
    if not name.isupper() or head in _NO_NAME:
        return None
    return first(SOMEBODY, clause)


_NO_NAME = frozenset(
    "it he she they we i you this that these those the a an there here what who which one everyone everybody "
    "nobody someone somebody each every all most some both neither none claude codex copilot gpt chatgpt assistant "
    "agent user "
    "users my our your his her their its".split()
)
