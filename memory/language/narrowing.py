"""Is a newer claim about a part only of what an older one is about: "deploys of the docs" where that says "deploys"?

By form only: a word that the older claim does not have, where it can only narrow down what both are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from memory.language.calendar import MONTHS, WEEKDAYS
from memory.language.claim import Claim
from memory.language.conditions import counts
from memory.language.words import STOP, Stems, stem, vocabulary

_NOTHING: Stems = frozenset()
_NONE = (_NOTHING, _NOTHING)
_HAVING = frozenset(
    stem(word)
    for word in vocabulary("use run live work have host stay own call name write lead manage maintain handle carry")
)
"""Verbs that only join a subject and what it has."""
_CHANGING = frozenset(
    stem(word)
    for word in vocabulary(
        "switch move migrate change rename upgrade downgrade convert replace drop stop quit remove leave left abandon "
        "ditch retire scrap rewrite rewrote port back return revert roll hand pass take succeed "
        "raise lower increase decrease reduce bump"
    )
)
"""Verbs that only tell that something has changed."""
VERBS = _HAVING | _CHANGING
"""Verbs that say nothing of what a claim is about."""
_PLAIN = (_HAVING | _CHANGING).union(
    stem(word)
    for word in vocabulary(
        "deploy serve keep currently usually actually finally recently longer anymore correction update note new old "
        "main whole entire current default standard instead rather "
        "always generally normally simply please prefer everyone everybody "
        "team company project group repo repository git server service system app application module package"
    )
)
"""What may stand before a thing and does not make it less than it is, or only says what kind of thing it is."""
_SORTS = frozenset(
    stem(word)
    for word in vocabulary(
        "database db language framework library tool toolchain editor ide manager runner provider platform cloud "
        "vendor broker bus engine bundler linter formatter compiler shell terminal browser job employer version name "
        "port day date time decide agree officially completely fully"
    )
)
"""What sort of thing it is that was left ("we changed our editor from A to B"), and how it was."""
MANNER = frozenset(
    stem(word)
    for word in vocabulary(
        "hourly daily nightly weekly biweekly fortnightly monthly quarterly yearly annual regular automatic automated "
        "scheduled periodic recurring routine usual"
    )
)
"""How a thing goes on, which is said of the whole of it as often as of a part: "the nightly backups"."""
_BEFORE_VERBS = vocabulary("i we you they he she it who to have has had never")
"""Behind one of these stands what is done to a thing, and no more of the thing: "I left Acme"."""
_BACK = vocabulary("again back return returned revert reverted now")
_AND = frozenset((",", "and", "or", "&", "/", "+", "plus"))
_WHOSE = re.compile(r"(?!(?:let|it|that|there|here|what|who|he|she)\b)[^\W_]{2,30}['’]s (?P<what>[\w-]{2,30}) ", re.I)
"""Somebody's thing, which is not they: "Bob's company"."""
_ARTICLES = vocabulary("the a an our my")
_TOKENS = re.compile(r"[^\W_](?:[\w.'-]*[^\W_])?|[,&/+]")
_DOINGS = vocabulary("deploys deployment deployments")
"""What is done, as a thing: part of what is spoken of, though its verb only says what is done to that."""
_OTHER = vocabulary("other another others")
"""What makes a thing another one than the one that is spoken of, though it is on the stop list."""
_APART = re.compile(r"[^\w\s]\s*no longer\b", re.IGNORECASE)
"""What stands before a mark is not who it is that stopped: "the logs are plain text, no longer JSON"."""
_SINCE = vocabulary("as of since in last this")
_DAYS = vocabulary("today yesterday")
_TIMES = _DAYS | MONTHS.keys() | vocabulary("week month year").union(WEEKDAYS)


def narrowed(older: Claim, newer: Claim) -> bool:
    """Whether the newer claim is about a part only of what the older one is about: an exception from it and no end of
    it. "The reports API", "deploys of the docs", "we no longer deploy the docs on Fridays"."""
    words = newer.words
    bases = [stem(word) for word in words]
    subject = older.content - newer.left
    when = _time_opening_length(words)
    held = older.content | MANNER if "now" in words and not older.content & MANNER else older.content
    more = [
        at >= when and _is_more(word, base, held) and not (at and words[at - 1] in _BEFORE_VERBS)
        for at, (word, base) in enumerate(zip(words, bases, strict=True))
    ]
    apart = _APART.search(newer.text) is not None
    if not apart and _moves_less(older, newer):
        return True
    for at, base in enumerate(bases):
        # Before a number stands what is counted, or the month of a year: "in July 2027" is no less than 2027.
        if base in subject and ((at and more[at - 1] and not counts(base)) or _is_of_more(words, more, at + 1)):
            return True
    return any(_ends_less(words, bases, more, at, older.content, apart) for at in range(len(words) - 1))


def one_of_several(older: Claim, newer: Claim, others: Iterable[Claim]) -> bool:
    """Whether the newer claim says how that goes on which the older one is about ("nightly backups"), and another claim
    says it, too, of something of that name ("weekly backups"): then it need not be the one that the older one means."""
    manner = (newer.content & MANNER) - older.content
    about = (older.content & newer.content) - _PLAIN
    return bool(manner) and any(other.content & MANNER and other.content & about for other in others)


def takes_over(older: Claim, newer: Claim) -> bool:
    """Whether the newer claim says of the very thing that the older one is about, and of nothing less, that what that
    one says of it has gone: all that is named there is named here, and here no more, before what has gone. Or that it
    is something else *now*."""
    if _has_new_value_now(older, newer) or (goes_back(newer) and _reverses(older, newer)):
        return True
    gone, came = (frozenset[str]().union(*sides) for sides in zip(*newer.moves, strict=True)) if newer.moves else _NONE
    bases = [(word, stem(word)) for word in newer.words[_time_opening_length(newer.words) :]]
    before = takewhile(lambda each: each[1] not in gone, bases)
    named = any(_is_more(word, base, older.content) and base not in came for word, base in before)
    less = _narrower_purposes(older, newer)
    held = older.held - gone - _HAVING - _CHANGING - less
    return bool(older.held & gone) and held <= newer.content and not named


def _narrower_purposes(older: Claim, newer: Claim) -> Stems:
    """What the older claim says it is for beyond what the newer one does: "for unit tests", "for tests"."""
    names, wider = older.circumstances.get("for", _NOTHING), newer.circumstances.get("for", _NOTHING)
    return names - wider if wider <= names else _NOTHING


def holds_what_has_gone(older: Claim, newer: Claim) -> bool:
    """Whether the newer claim says of nothing else that it holds what the older one says has gone for something else:
    "we switched from A to B", "we use A"."""
    return newer.affirms and any(
        came and gone <= newer.content and not came & newer.content and newer.content - gone - _PLAIN <= older.content
        for gone, came in older.moves
    )


def named_after(older: Claim, gone: Stems, newer: Claim) -> bool:
    """Whether the older claim is about something that only bears the name of what has gone: "the npm token" is no
    npm."""
    bases = [stem(word) for word in older.words]
    plain = older.held & (newer.content | gone | _PLAIN | _SORTS)
    places = [at for at, base in enumerate(bases) if base in gone]
    return bool(places) and all(
        at + 1 < len(bases) and _is_more(older.words[at + 1], bases[at + 1], plain) for at in places
    )


def one_of_listed(older: Claim, gone: Stems, newer: Claim) -> bool:
    """Whether what has gone, or who has left it, is one of several that the older claim lists: "we use Jest and
    Playwright", "Ann and Bob review"."""
    tokens = _TOKENS.findall(older.text.lower())
    bases = [stem(token) for token in tokens]
    known = gone | newer.content | VERBS

    def other(at: int, step: int) -> bool:
        joined = False
        while 0 <= at < len(tokens) and (tokens[at] in _AND or tokens[at] in _ARTICLES):
            joined, at = joined or tokens[at] in _AND, at + step
        return joined and 0 <= at < len(tokens) and tokens[at] not in STOP and bases[at] not in known

    return any(
        base in gone | newer.content and (other(at + 1, 1) or other(at - 1, -1)) for at, base in enumerate(bases)
    )


def more_than_held(older: Claim, gone: Stems, newer: Claim) -> bool:
    """Whether what has gone is something more special than what the older claim holds: "AWS Lambda", "the React
    Router", "on Fridays in December"."""
    more = (newer.shared if newer.moved_to else gone) - older.content - _PLAIN - _SORTS - MANNER
    return any(not counts(base) for base in more)


def goes_back(newer: Claim) -> bool:
    """Whether it says that something is as it was once: "we use A again"."""
    return not _BACK.isdisjoint(newer.words)


def _reverses(older: Claim, newer: Claim) -> bool:
    """Whether the newer claim holds what the older one says has gone, or is denied."""
    if holds_what_has_gone(older, newer):
        return True
    return older.affirms is not newer.affirms and older.content - _PLAIN <= newer.content


def _has_new_value_now(older: Claim, newer: Claim) -> bool:
    """Whether both name one attribute of one thing, and the newer claim another value and "now"."""
    if "now" not in newer.words or newer.reported:
        return False
    for held, new in ((older.attribute, newer.attribute), (older.purpose, newer.purpose)):
        if held is None or new is None or held.value <= new.value:
            continue
        more = MANNER if not held.subject & MANNER else _NOTHING
        # "I work at …": of a pronoun it is told by the words themselves.
        same = held.subject or (held.before[:1] == new.before[:1] and held.before[-2:] == new.before[-2:])
        if same and held.subject == new.subject - more:
            return True
    return False


def _moves_less(older: Claim, newer: Claim) -> bool:
    """Whether the newer claim says of something of which the older one does not speak that it left what that one holds:
    "we use npm", "the docs site moved from npm to pnpm"."""
    words = newer.words[_time_opening_length(newer.words) :]
    if (
        newer.moves
        and (whose := _WHOSE.match(newer.text))
        and stem(whose["what"].lower()) not in older.content | _SORTS
    ):
        return True
    for gone, came in newer.moves:
        known = older.content | came | _SORTS
        before = words[: next((at for at, word in enumerate(words) if stem(word) in gone), 0)]
        if gone & older.held and any(
            _is_more(word, stem(word), known) or (word in _OTHER or (word in _DOINGS and stem(word) not in known))
            for word in before
        ):
            return True
    return False


def _time_opening_length(words: Sequence[str]) -> int:
    """How many words at the beginning only say since when it is so: "since Monday", "last week", "yesterday"."""
    if words[:4] == ("in", "the", "week", "of"):
        return 4
    at = sum(1 for _ in takewhile(_SINCE.__contains__, words))
    return at + 1 if at < len(words) and words[at] in (_TIMES if at else _DAYS) else 0


def _is_more(word: str, base: str, held: Stems) -> bool:
    return not (word in STOP or base in held or base in _PLAIN or counts(word))


def _is_of_more(words: Sequence[str], more: Sequence[bool], at: int) -> bool:
    """Whether "of …" follows, with a word that is more."""
    if words[at : at + 1] != ("of",):
        return False
    named = next((each for each in range(at + 1, len(words)) if words[each] not in STOP), None)
    return named is not None and more[named]


def _ends_less(
    words: Sequence[str], bases: Sequence[str], more: Sequence[bool], at: int, held: Stems, apart: bool
) -> bool:
    """Whether "no longer" stands here and has a word that is more before it, as who it is that stopped, or behind it,
    before the last of what both have in common."""
    if words[at] != "no" or words[at + 1] != "longer":
        return False
    who = next((place for place in range(at - 1, -1, -1) if bases[place] not in _PLAIN), 0)
    shared = [place for place in range(at + 2, len(bases)) if bases[place] in held]
    return bool(at and more[who] and not apart) or bool(shared and any(more[at + 2 : shared[-1]]))
