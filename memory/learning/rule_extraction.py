"""What the written rules find in a message: the drafts of facts in it.

Sentence by sentence: what is asked, supposed, quoted or pasted is left out, then the rooms of rules are asked in
the order of how much their word is worth. They know a few forms well, above all how people say what they like and what
they want kept; what is said in any other way is for the trained reader (see :mod:`memory.learning.extract`).

An assistant's own text teaches much less than a person's: at most two facts a turn, nothing about itself, no advice, no
plan. Its advice to one person is no fact about the world.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.fact import Category, FactDraft, FactKind, Origin, Stream
from memory.language.answered import behind_answer
from memory.language.dates import resolve
from memory.language.entities import entities
from memory.language.polarity import without_aside
from memory.language.sentences import own_words
from memory.language.validity import holds_until
from memory.language.words import vocabulary
from memory.learning.choice import choice, options
from memory.learning.corrections import mistaken
from memory.learning.importance import importance
from memory.learning.rule_findings import (
    correction,
    decision,
    instruction,
    person_finding,
    personal,
    preference,
    reason,
    statement,
)
from memory.learning.rules import RuleFinding, first, rule_table
from memory.learning.sensitivity import sensitivity
from memory.learning.speech import SpokenSentence, is_technical, spoken_in
from memory.scope import Layer
from memory.understanding.forms import leans

_ORDER = re.compile(
    r"^(?:and |but |please |also |always |just |you (?:should|must|need to) |can you |could you |would you |"
    r"will you |i (?:want|need|would like|'d like) you to ){0,3}(?:remember(?! when\b| how\b| the (?:time|days?)\b|"
    r" me\b)|keep (?:this |that |it )?in mind|have in mind|bear in mind|(?:make a |"
    r"take )?(?:mental )?note(?: down)?(?= that\b|:| this\b| it\b|,)|don't (?:ever )?forget|never forget|"
    r"memori[sz]e|save (?:this|that|it) (?:to|in|for)|store (?:this|that) (?:in memory|for)|add (?:this |that |"
    r"it )?to (?:your )?memory|for (?:the record|(?:your |future )reference)|merke? dir|vergiss nicht|"
    r"denk (?:bitte )?daran)\b[\s,:.-]{0,4}(?:(?:that|dass|this|it)\b[\s,:.-]{0,4})?"
)
_LAST = re.compile(
    r"\b(?:please )?(?:remember (?:this|that|it)|keep (?:this|that) in mind|don't forget (?:this|that|it)|"
    r"merk dir das)\b[^a-z]{0,4}$"
)
_CUES = vocabulary(
    "remember mind note forget memorize memorise memory record reference merk merke vergiss denk save store"
)
_FOR_EVER = re.compile(r"\b(?:for ?ever|permanently|always remember|never forget|for good|für immer|dauerhaft)\b")


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """``text`` is what shall be kept, in the person's words; ``pinned`` that it is for ever; ``before`` that what is
    meant was said in the sentence before."""

    text: str
    pinned: bool
    before: bool = False


def remember_request(clause: SpokenSentence) -> RememberRequest | None:
    """What a clause asks to keep, or None."""
    plain = clause.plain
    if _CUES.isdisjoint(clause.words):
        return None
    pinned = bool(_FOR_EVER.search(plain))
    order = _ORDER.search(plain)
    if order is None:
        if _LAST.search(plain) and not clause.question:
            return RememberRequest(clause.text, pinned, before=len(clause.words) < 6)
        return None
    if (
        re.match(r"(?:can|could|would|will) you ", plain)
        and "remember" in plain
        and " that " not in plain
        and ":" not in plain
    ):
        return None
    rest = plain[order.end() :]
    rest = _FOR_EVER.sub("", rest).strip(" ,.:;!?")
    return RememberRequest(clause.text, pinned, before=len(rest.split()) < 2)


MOST = 2
"""Facts of one assistant turn at most."""


def worth_keeping(spoken: Sequence[SpokenSentence]) -> list[tuple[SpokenSentence, RuleFinding]]:
    """The clauses of an assistant's text that are worth keeping, the surest first, at most :data:`MOST`."""
    rules = rule_table("assistant")["rules"]
    found = [
        (clause, finding)
        for clause in spoken
        if clause.stated and len(clause.words) > 4 and len(clause.text) <= 320 and (finding := first(rules, clause))
    ]
    return sorted(found, key=lambda pair: -pair[1].confidence)[:MOST]


MAX_FACT_CHARS = 480
"""Characters of a fact's text at most."""
MAX_WORDS = 40
"""Words of two sentences at most that are one fact."""

_HEDGED = re.compile(
    r"\b(?:maybe|perhaps|i guess|not sure|probably|might|possibly|i wonder|vielleicht)\b", re.IGNORECASE
)
_OPENERS = re.compile(
    r"^(?:(?:by the way|btw|anyways?|speaking of which|also|so|and|but|well|ok(?:ay)?|oh|yeah|yes|yep|hm{1,9}|"
    r"please note that|note that|on (?:a|another)(?: different)? note|fyi|übrigens)(?:[,:;!]\s{0,3}|\s{1,3}(?=(?:i|"
    r"we|let|the|my|our)\b))){1,4}",
    re.IGNORECASE,
)
_REFUSES = re.compile(r"(?:can|could) (?:we|you) (?:please )?(?:not|stop|avoid)\b")
# Where a sentence that asks turns from stating to asking, or back.
_PARTS = re.compile(r"[,;:–—]\s{1,2}| - |\.\s{1,2}")
_STATING = re.compile(
    r"(?:let's|lets|we (?:should|don't|no longer|want|need|decided|agreed)|i (?:want|mean|meant|prefer|don't|"
    r"usually|always|never|love|hate|avoid|'m|am|have|can't|find|dislike)|i'(?:d|m) |don't want|it (?:should|must)|"
    r"no,? |since i |as i |because i )"
)
# "I prefer the second hook": one thing of the work, not what the person is like.
_THIS_ONE = re.compile(
    r"\b(?:prefer|like|rather|love|favou?r) (?:the|to|something|option|if|like|better|an? (?:more|less))\b"
)
_CHOSEN_LIFE = RuleFinding(FactKind.PREFERENCE, Category.PREFERENCES, Stream.IDENTITY, Layer.USER, 0.65)
_CHOSEN_WORK = RuleFinding(FactKind.DECISION, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.75)
_ME = frozenset(("i", "i'm", "i've", "i'd", "i'll", "my", "me", "mine", "myself"))
_PERSONAL_FACT = RuleFinding(FactKind.FACT, Category.PERSON, Stream.IDENTITY, Layer.USER, 0.85)
_PROJECT_FACT = RuleFinding(FactKind.FACT, Category.PROJECTS, Stream.PROJECTS, Layer.USER_PROJECT, 0.85)


def by_rules(
    text: str,
    origin: Origin,
    at: datetime,
    *,
    before: str = "",
    question: str = "",
    most: int = 16,
    work: bool = False,
) -> list[FactDraft]:
    """The drafts that one message gives, in its order, at most ``most``.

    ``at`` (aware, in the person's zone) is when it was said; relative dates are read against it. For a person's text
    ``before`` is the reply that it answers and ``question`` what they had asked before that; ``work`` says that an
    agent is at work in the talk. Never raises on any text.
    """
    if origin is Origin.ASSISTANT:
        return [_draft(clause, finding, origin, at) for clause, finding in worth_keeping(spoken_in(text))]
    if not origin.trusted:
        return []
    technical = is_technical(before[-MAX_FACT_CHARS:]) or any(is_technical(block.text) for block in own_words(text))
    spoken = spoken_in(text, work=technical)
    found: list[FactDraft] = []
    picked = choice(spoken, before)
    if picked is not None:
        of_work = work or SpokenSentence(f"{picked.said} {picked.option}").technical
        finding = _CHOSEN_WORK if of_work else _CHOSEN_LIFE
        about = f" [chosen: {picked.option}" + (f"; asked: {asking}]" if (asking := last_question(question)) else "]")
        found.append(_draft(SpokenSentence(picked.said), finding, origin, at, behind=about))
    offered = options(before) if any(clause.marker.isdigit() for clause in spoken) else {}
    answered = letters(before)
    last: SpokenSentence | None = None
    told_at = -2
    for clause in spoken:
        if len(clause.text) > 24 and letters(clause.text) in answered:
            # The assistant's own words, handed back to it.
            continue
        request = remember_request(clause)
        meant = last if request is not None and request.before else clause
        last = clause
        if meant is None or (request is None and picked is not None and clause.position in picked.clauses):
            continue
        finding_ = judge(meant)
        unsure_of_life = finding_ is not None and finding_.layer is Layer.USER and finding_.confidence <= 0.6
        if unsure_of_life and (technical or work):
            # Where code is talked of, "I want" and "I did" are about the code.
            finding_ = None
        if request is not None and (finding_ is None or finding_.confidence < 0.7):
            finding_ = _PERSONAL_FACT if meant.words & _ME and not meant.technical else _PROJECT_FACT
        if finding_ is None:
            continue
        behind = ""
        if (way := offered.get(meant.marker)) and finding_.kind in (FactKind.DECISION, FactKind.CORRECTION):
            behind = behind_answer(short(way))
        if finding_.kind is FactKind.CORRECTION:
            finding_ = replace(finding_, wrong=mistaken(meant.text, before))
            if len(meant.words) < 6 and meant.position + 1 < len(spoken) and not spoken[meant.position + 1].question:
                # "That's wrong." — what is right comes next.
                meant = replace(meant, text=f"{meant.text} {spoken[meant.position + 1].text}")
        draft = _draft(
            meant,
            finding_,
            origin,
            at,
            behind=behind,
            requested=request is not None,
            pinned=request is not None and request.pinned,
        )
        if found and meant.position == told_at + 1 and _goes_on(found[-1], draft):
            found[-1] = replace(
                found[-1],
                text=f"{found[-1].text} {draft.text}",
                importance=max(found[-1].importance, draft.importance),
                entities=tuple(dict.fromkeys((*found[-1].entities, *draft.entities))),
            )
        else:
            found.append(draft)
        told_at = meant.position
    return _distinct(found)[:most]


def _goes_on(before: FactDraft, draft: FactDraft) -> bool:
    """Whether a draft says more of what the one right before it names, and nothing without that: "To me, it looks
    cheap"."""
    if not leans(draft.text) or leans(before.text) or len(before.text.split()) + len(draft.text.split()) > MAX_WORDS:
        return False
    # What guards one of them would be lost with it.
    return _guarded(before) == _guarded(draft) and sensitivity(f"{before.text} {draft.text}") is before.sensitivity


def _guarded(draft: FactDraft) -> tuple[object, ...]:
    """What a draft is beside its words."""
    return draft.kind, draft.layer, draft.sensitivity, draft.pinned, draft.wrong, draft.expires_at, draft.valid_until


def judge(clause: SpokenSentence) -> RuleFinding | None:
    """What a person's clause means, or None where it states nothing to keep."""
    if len(clause.words) < 2 or clause.hypothetical or clause.about_agent:
        return None
    if clause.question:
        return _stated_aside(clause)
    if clause.reported:
        return person_finding(clause)
    order = instruction(clause)
    if order is not None and order.standing:
        return order
    if (liking := preference(clause)) is not None:
        return _CHOSEN_WORK if (clause.technical or clause.work) and _THIS_ONE.search(clause.plain) else liking
    if (finding := correction(clause)) is not None:
        return finding
    # The same words mean the work where the work is named, and a life where it is not.
    for room in (decision, statement, personal) if clause.technical else (personal, decision, statement):
        if (finding := room(clause)) is not None:
            return _decision_beside_work(clause, finding)
    return order or person_finding(clause)


def _decision_beside_work(clause: SpokenSentence, finding: RuleFinding) -> RuleFinding | None:
    """A decision that is not about the work: the person's own, or, as "let's", only talk."""
    if finding.kind is not FactKind.DECISION or clause.technical or clause.work:
        return finding
    if clause.words & {"let's", "lets"}:
        return None
    if clause.words & {"i", "i'm", "i've", "i'd"}:
        return replace(finding, category=Category.PERSON, stream=Stream.FLOW, layer=Layer.USER, confidence=0.65)
    return finding


def _stated_aside(clause: SpokenSentence) -> RuleFinding | None:
    """What a question or request states beside asking: "let's store it there, can you show me how?"."""
    if _REFUSES.match(clause.plain):
        return instruction(clause)
    if (finding := reason(clause)) is not None:
        return finding
    parts = _PARTS.split(clause.plain)
    if clause.plain.endswith("?"):
        # "We should keep it, right?": what stands before the tag is asked as well.
        parts = parts[:-2] if clause.tag_question else parts[:-1]
    for part in parts:
        if not _STATING.match(part):
            continue
        aside = SpokenSentence(part)
        if len(aside.words) < 4 or aside.question:
            continue
        for room in (preference, correction, decision):
            if (finding := room(aside)) is not None:
                return finding
    return None


def _draft(
    clause: SpokenSentence,
    finding: RuleFinding,
    origin: Origin,
    at: datetime,
    *,
    behind: str = "",
    requested: bool = False,
    pinned: bool = False,
) -> FactDraft:
    text = without_aside(_OPENERS.sub("", clause.text, count=1) or clause.text)
    dated = resolve(short(text, MAX_FACT_CHARS), at)
    body = dated.text[:1].upper() + dated.text[1:] + behind
    confidence = finding.confidence
    if _HEDGED.search(clause.text) and not requested:
        confidence = max(0.3, confidence - 0.2)
    elif requested:
        confidence = max(confidence, 0.9)
    ends = dated.moment + timedelta(days=1) if dated.moment and dated.future and finding.kind is FactKind.TASK else None
    # A decision stays one when its time is over, and a task is open until it is done.
    over = None if finding.kind in (FactKind.TASK, FactKind.DECISION) else holds_until(dated.text, at)
    return FactDraft(
        text=body,
        kind=finding.kind,
        category=finding.category,
        stream=finding.stream,
        layer=finding.layer,
        origin=origin,
        confidence=round(confidence, 3),
        importance=importance(clause.text, finding.kind, origin, standing=finding.standing, requested=requested),
        sensitivity=sensitivity(clause.text + behind),
        valid_from=dated.moment if dated.moment and not dated.future else at,
        valid_until=ends or over,
        expires_at=over,
        pinned=pinned,
        wrong=finding.wrong,
        entities=entities(text + behind),
    )


def letters(text: str) -> str:
    """The letters and digits of a text, in lower case."""
    return "".join(filter(str.isalnum, text.lower()))


def last_question(text: str) -> str:
    """The last sentence that asks in what a person said before."""
    asking = [clause.text for clause in spoken_in(text) if clause.question]
    return short(asking[-1]) if asking else ""


def short(text: str, most: int = 160) -> str:
    """The text, cut at a word where it is longer than ``most`` characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + "…"


def _distinct(drafts: list[FactDraft]) -> list[FactDraft]:
    """The drafts without those that say the same again; of two the surer one stays."""
    best: dict[str, FactDraft] = {}
    for draft in drafts:
        key = letters(draft.text)
        if key not in best or draft.confidence > best[key].confidence:
            best[key] = draft
    return list(best.values())
