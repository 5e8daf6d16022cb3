"""A person picks one of the ways that they were offered: "let's go with the second one".

The words alone say nothing a week later, so the fact carries what was chosen and what had been asked. What
somebody chooses, and why not the others, is often the only place where a preference shows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory.language.sentences import TextBlock, sentences
from memory.language.words import STOP, stem, vocabulary
from memory.learning.speech import SpokenSentence

_OR = re.compile(r"[,;]?\s+(?:or|oder|o)$", re.IGNORECASE)
_OPTION = re.compile(
    r"(?:^|[\s*(])(?:(?:option|approach|alternative|variant|plan|choice) )?(?P<label>\d{1,2}|"
    r"[A-Fa-f])(?:\*\*)?[.):](?:\*\*)?\s{1,3}(?=[\w*`\"'])",
    re.IGNORECASE | re.MULTILINE,
)
_BULLET = re.compile(r"^\s{0,6}[-*•]\s{1,3}(\S.{2,240})", re.MULTILINE)
_COULD = re.compile(
    r"\b(?:(?:you|we|i) (?:could|can|might|may)(?: either)?|(?:options|choices|alternatives) (?:are|include)|"
    r"either|shall (?:i|we)|should (?:i|we)|would you (?:like|prefer|rather)|do you (?:want|"
    r"prefer))\b:? ?(?=.{4,1000}(?:,? or ))",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r",? or (?:perhaps |maybe |even )?|[,;] (?=\w{2})")
_ALTERNATIVES = re.compile(
    r"\b(?:options?|ways|alternatives?|approach(?:es)?|choose|which (?:of|one|would|do|approach|option)|"
    r"would you (?:prefer|like|rather)|prefer|either|possibilities|choices|a few (?:ideas|suggestions|ways)|"
    r"suggestions|recommend(?:ations)?|consider|could (?:try|go|do|also))\b",
    re.IGNORECASE,
)
_ORDINALS = {"first": 1, "former": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}
_LABELLED = re.compile(
    r"\b(?:option|approach|alternative|variant|choice|no\.?|answer) ?#?(?P<label>\d{1,2}|[a-f])\b"
    r"|\bthe (?P<ordinal>first|second|third|fourth|fifth|last|former|latter)\b"
    r"|\b(?:go with|going with|take|pick|choose|prefer) (?:number |#)?(?P<bare>\d{1,2}|[a-f])\b"
)
_NOUN = r"(?:one|option|approach|way|idea|suggestion|variant|choice|alternative|plan)"
_ANSWERS = re.compile(
    rf"^(?:(?:number |no\.? ?|#)?(?P<label>\d{{1,2}}|[a-f])(?=$|[.,;:!)–—]| -|"
    rf" (?:please|and|but|then|because|since|as|it is)\b)(?![,&+ ]{{1,3}}(?:and |or )?(?:\d{{1,2}}|[a-f])\b)"
    rf"|(?P<ordinal>first|second|third|fourth|fifth|last|former|latter) {_NOUN}\b)"
)
"""A message that begins with a label or a number alone: who was asked which one answers so."""
_PICKS = re.compile(
    r"\b(?:i(?:'ll| will|'d| would|'m going to|'d like to| think i'll| think i'd| want to)?|we(?:'ll| will|'d|"
    r" should)?|let's|let us|lets) (?:\w{2,12}ly |rather |just |think |probably |like |definitely |have to |love |"
    r"also ){0,3}(?:go|going|opt|opting|choose|pick|picking|take|try|stick|settle|prefer|select|vote|lean|like|"
    r"love|use|start|check|do|explore|give|look|read|watch|visit|attend|book|stay|focus|get|want|consider)\b|"
    r"\b(?:sounds?|seems?|looks?|is|are|would be|feels?|might be) (?:\w{1,12} ){0,2}(?:best|better|good|great|"
    r"perfect|ideal|interesting|like (?:a|the|my|exactly)|right|up my|more my|appealing|suitable|more suitable|"
    r"most)\b|\bwork(?:s)? (?:best|better|well)\b|\bappeals? to me\b|\bmy (?:choice|pick)\b|^(?:the )?(?:first|"
    r"second|third|fourth|fifth|last|former|latter|option|approach|number)\b|^(?:[1-9]|[a-f])\b"
)
_NONE = re.compile(r"\b(?:none of|neither|not sure|don't know|what about|both|all of)\b")

_ABOUT_THEM = re.compile(r"\b(?:options?|others?|rest|ones?|they|these|those|it|that|alternatives?|suggestions?)\b")


@dataclass(frozen=True, slots=True)
class Choice:
    """``said`` are the person's own sentences, ``option`` what they picked, as it was offered."""

    said: str
    option: str
    clauses: frozenset[int]


def options(offered: str) -> dict[str, str]:
    """The ways that a text offers, by their label (``1``, ``b``); empty where it offers fewer than two."""
    offered = offered[-6000:]
    marks = list(_OPTION.finditer(offered))[:24]
    found: dict[str, str] = {}
    for mark, after in zip(marks, [*marks[1:], None], strict=False):
        body = offered[mark.end() : after.start() if after else mark.end() + 400]
        body = body.split("\n\n", 1)[0].replace("**", "")
        # A label that comes a second time begins another list, and the last list is the one that is answered.
        if mark["label"].lower() in ("1", "a"):
            found.clear()
        found[mark["label"].lower()] = _offered_way(body)
    if len(found) > 1:
        return found
    bullets = [" ".join(line[1].split()) for line in _BULLET.finditer(offered)]
    ways = bullets if len(bullets) > 1 else _ways_in_sentence(offered)
    return {str(place): body for place, body in enumerate(ways, start=1)}


def _offered_way(body: str) -> str:
    """A way as it was offered, without the question behind the last of them and the "or" before it."""
    lines = body.strip().splitlines()
    while len(lines) > 1 and lines[-1].rstrip().endswith("?"):
        lines.pop()
    said = sentences(" ".join(" ".join(lines).split()))
    while len(said) > 1 and said[-1].endswith("?"):
        said.pop()
    return _OR.sub("", " ".join(said)[:240].strip(" -–—"))


def _ways_in_sentence(offered: str) -> list[str]:
    """The ways of "you could do this, do that, or do something else"."""
    for sentence in reversed(sentences(offered)):
        lead = _COULD.search(sentence)
        if lead is None or len(sentence) > 1200:
            continue
        ways = [way.strip(" .?") for way in _BETWEEN.split(sentence[lead.end() :])]
        ways = [way for way in ways if len(way) > 3]
        if len(ways) > 1:
            return ways
    return []


def choice(clauses: Sequence[SpokenSentence], offered: str) -> Choice | None:
    """What a person picked of what was offered to them just before, or None."""
    if not offered or not clauses or len(clauses) > 8:
        return None
    ways = options(offered)
    if not ways or not _ALTERNATIVES.search(offered):
        return None
    asked = "?" in offered
    for clause in clauses[:3]:
        if clause.question or clause.hypothetical or _NONE.search(clause.plain):
            continue
        picked = _way_by_label(clause, ways) if asked and clause is clauses[0] else None
        picked = picked or _labelled(clause, ways)
        picked = picked or (_way_by_description(clause, ways) if _PICKS.search(clause.plain) else None)
        if picked is None:
            continue
        own_clauses = [clause]
        for each in clauses[clause.position - clauses[0].position + 1 :][:3]:
            # What is said of the others belongs to it; another topic does not.
            if each.question or not (
                _ABOUT_THEM.search(each.plain) or _content(each.plain) & _content(offered.lower())
            ):
                break
            own_clauses.append(each)
        statement = " ".join(each.text for each in own_clauses)
        return Choice(statement[:400], picked, frozenset(each.position for each in own_clauses))
    return None


def _way_by_label(clause: SpokenSentence, ways: dict[str, str]) -> str | None:
    """The way whose label or number the clause begins with, and hardly says more."""
    # As it is written: "second" at the beginning of a sentence counts as no word of it elsewhere.
    named = _ANSWERS.search(clause.text.lower())
    if named is None:
        return None
    return ways.get(named["label"]) if named["label"] else _way_at(named["ordinal"], ways)


def _labelled(clause: SpokenSentence, ways: dict[str, str]) -> str | None:
    named = _LABELLED.search(clause.plain)
    if named is None:
        return None
    if label := named["label"] or named["bare"]:
        return ways.get(label)
    return _way_at(named["ordinal"], ways) if _PICKS.search(clause.plain) else None


def _way_at(ordinal: str, ways: dict[str, str]) -> str | None:
    """The way at a place in their order, whatever they are labelled with."""
    if ordinal in ("last", "latter"):
        return [*ways.values()][-1]
    return dict(enumerate(ways.values(), start=1)).get(_ORDINALS[ordinal])


def _way_by_description(clause: SpokenSentence, ways: dict[str, str]) -> str | None:
    """The way whose words the clause repeats, when it is clearly one of them."""
    content = _content(clause.plain)
    shares = sorted(((len(content & _content(way.lower())), way) for way in ways.values()), reverse=True)
    best, second = shares[0], shares[1]
    return best[1] if best[0] > second[0] else None


def _content(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in re.findall(r"[^\W\d_]{3,30}", text) if word not in _HOLLOW)


_HOLLOW = STOP | vocabulary(
    "with that this would like there some have option options sounds sound great good best think really maybe "
    "from into which could other others also will then them they your about just want more most work works"
)


def listed(blocks: list[TextBlock]) -> bool:
    """Whether a message answers point by point."""
    return sum(block.marker.isdigit() for block in blocks) > 1
