"""The names in a text: people, places and products, identifiers, paths, versions, technologies.

Cheap: by form only, one pattern, no dictionary beyond a list of words that are capitals for another reason. Names
are given as they are written, each once, in the order in which they appear.

What somebody is to somebody: "my wife", "our manager", "Petra's landlord".

Whose words a line is, where it says so itself: "Caroline: I went there yesterday", as chats are written down.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from memory.language.calendar import MONTH_NAMES, WEEKDAYS
from memory.language.words import vocabulary

MOST = 16
"""Names that are kept of one text at most."""

_WORD = r"[A-Z][A-Za-z'’&+#]{1,40}(?![\w-])"
_FILE = r"py|go|tsx?|jsx?|rs|java|rb|cc?|h|cpp|cs|php|kt|swift|sh|sql|json|ya?ml|toml|md|ini|cfg|conf|env|lock|html|css"
# What a kind of name cannot do without, and its form. The first that fits speaks, and one without what it needs is not
# tried at all: a path is looked for behind every letter of a text, and few texts have one.
_KINDS = tuple(
    (re.compile(need), form)
    for need, form in (
        (r"`", r"`(?P<span>[^`\s]{2,80})`"),
        (
            r"/|\.[a-z]",
            r"(?P<path>(?<![\w/.])(?:~|\.{1,2})?/?(?:[\w.@-]{1,60}/){1,12}[\w.@-]{1,60}"
            rf"|\b[\w-]{{1,60}}\.(?:{_FILE})\b)",
        ),
        (
            r"\d\.\d",
            r"(?P<version>\b[A-Za-z][\w.+#-]{1,30} v?\d{1,4}\.\d{1,4}(?:\.\d{1,5})?\b|\bv\d{1,4}(?:\.\d{1,5}){1,3}\b)",
        ),
        (r"[-#]\d", r"(?P<issue>\b[A-Z]{2,10}-\d{1,6}\b|(?<!\w)#\d{1,7}\b)"),
        (
            r"_|[a-z0-9][A-Z]",
            r"(?P<identifier>\b(?:[a-z][a-z0-9]{0,40}(?:_[a-z0-9]{1,40}){1,8}|[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8}"
            r"|[a-z][a-z0-9]{0,40}(?:[A-Z][a-z0-9]{1,40}){1,8}|(?:[A-Z][a-z0-9]{1,40}){2,8})\b)",
        ),
        (r"[A-Z]", rf"(?P<proper>\b{_WORD}(?: (?:(?:de|van|von|la) )?{_WORD}){{0,3}})"),
    )
)
_COMMON = vocabulary(
    "i i'm i'd i've i'll a an the this that these those it its he she they we you my your his her our their there "
    "here what who when where why how which if in on at by for from to of with and but or so not no yes yeah ok "
    "okay please let let's lets do does did don't is are was were be been can could would should will shall may "
    "might must has have had just also now then thanks thank hi hello hey well oh wow great good nice sure right "
    "sorry actually maybe perhaps always never remember note use make keep add remove fix as after before since "
    "because while although all any some each every most both one two three first second next last new another "
    "other more only even still yet today tomorrow yesterday"
).union(MONTH_NAMES, WEEKDAYS)
# What follows a name that begins a sentence: "Priya prefers", "Acme and Initech", "Tomas told".
_ACTS = re.compile(r" (?:is|was|has|had|told|said|and|from|at|will|would|[a-z]{2,18}[^su]s)\b")


def entities(text: str) -> tuple[str, ...]:
    """The names in a text, at most :data:`MOST`."""
    found: dict[str, str] = {}
    text = text[:4000]
    forms = tuple(form for need, form in _KINDS if need.search(text))
    for match in _any_of(forms).finditer(text) if forms else ():
        kind = match.lastgroup or ""
        name = match[kind]
        if kind == "proper":
            name = _without_sentence_capitals(
                name, _begins_sentence(text, match.start()), text[match.end() : match.end() + 24]
            )
        if name:
            found.setdefault(name.lower(), name)
            if len(found) >= MOST:
                break
    return tuple(found.values())


@lru_cache(maxsize=64)
def _any_of(forms: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(forms))


def _begins_sentence(text: str, at: int) -> bool:
    """Whether a sentence begins here, where every word has a capital."""
    before = text[max(0, at - 3) : at].rstrip(" \"'“(*-")
    return not before or before[-1] in ".!?:\n"


def _without_sentence_capitals(name: str, begins: bool, after: str) -> str:
    """A capitalised run without the words that are capitals only because a sentence begins."""
    words = name.replace("’", "'").split(" ")
    while words and words[0].lower() in _COMMON:
        words.pop(0)
        begins = False
    while words and words[-1].lower() in _COMMON:
        words.pop()
    if begins and len(words) == 1 and words[0][1:].islower() and not _ACTS.match(after):
        return ""
    name = " ".join(words).removesuffix("'s")
    return name if len(name) > 1 else ""


RELATION: Final = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|sons?|daughters?|child(?:ren)?|kids?|mother|mom|mum|father|dad"
    r"|parents?|brothers?|sisters?|aunt|uncle|cousins?|niece|nephew|friends?|boss|manager|lead|colleagues?|co-?workers?"
    r"|team ?mates?|room-?mates?|neighbou?rs?|clients?|customers?|teacher|doctor|therapist|mentor|landlord|intern"
    r"|designer)"
)
"""A pattern of one such word, in lower case."""


_SPEAKER_LINE: Final = re.compile(r"^[\s>*_-]{0,4}(?P<name>[A-Z][\w'’-]{1,30}(?: [A-Z][\w'’-]{1,30})?)[*_]{0,2}: \S")
_LABELS: Final = vocabulary(
    "note notes warning error errors info debug todo fixme hint tip example examples answer question task goal "
    "context summary result results output input step option options file line date time subject re fix feat user "
    "assistant system human ai bot update edit issue bug problem solution reason cause status title name type "
    "description yes no remember reminder remembered decision rule rules convention preference constraint requirement "
    "fact done understood noted agreed correct correction corrected right sure great perfect thanks plan steps next "
    "previous before after now then today tomorrow yesterday "
    "please always never however conclusion background overview details changelog changes changed added removed fixed "
    "chore docs refactor test tests expected actual recap remark tldr fyi ps ok first second third finally also "
    "important caution usage default returns args raises see source url http https"
).union(WEEKDAYS)


@lru_cache(maxsize=2048)
def speaker_in(text: str) -> str:
    """The name that a line begins with as its speaker's, or an empty string."""
    match = _SPEAKER_LINE.match(text)
    if match is None or any(word in _LABELS for word in match["name"].lower().split()):
        return ""
    return match["name"]
