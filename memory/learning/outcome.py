"""What a decision about a draft writes: new facts, and known ones as they are from now on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from memory.fact import Fact, FactDraft, Origin, Stability, State, outlasts
from memory.language.contradiction import settles
from memory.language.words import stems
from memory.learning.importance import weighty
from memory.learning.lesson_result import Taught
from memory.learning.reconcile import AlreadySuperseded, Contradict, Decision, Merge, New, Reinforce, Supersede, Vouch
from memory.ports import Journaled, MemoryUse


def outcome(
    decision: Decision, taught: Taught, known: Mapping[str, Fact], journaled: Journaled, owner: str, id: str
) -> list[Fact]:
    """The facts to write. ``known`` are those that the decision may name, ``id`` is that of a new fact.

    A fact that was only said again is not among them: that is counted, see :func:`repetition_uses`.
    """
    draft, at = taught.draft, journaled.at
    match decision:
        case Reinforce(same):
            return settled(known[same], draft.origin, known, at)
        case Merge(same, text):
            [first, *others] = settled(known[same], draft.origin, known, at) or [known[same]]
            return [replace(first, text=text, core=draft.core if text == draft.text else first.core), *others]
        case Vouch(hearsay, surprise):
            new = _new(taught, owner, journaled, id, surprise)
            return _vouch_for(new, known[hearsay])
        case Supersede(gone, surprise, ids):
            new = _new(taught, owner, journaled, id, surprise)
            return replacing(new, [known[each] for each in gone], [known[each] for each in ids], known, at)
        case AlreadySuperseded(later, surprise):
            by = known[later]
            new = _new(taught, owner, journaled, id, surprise)
            past = replace(new, state=State.SUPERSEDED, valid_until=by.valid_from, superseded_at=by.recorded_at)
            return [past, replace(by, supersedes=(*by.supersedes, new.id))]
        case Contradict(ids, surprise):
            return contradicting(_new(taught, owner, journaled, id, surprise), [known[each] for each in ids])
        case New(surprise):
            return [_new(taught, owner, journaled, id, surprise)]
    raise AssertionError(f"unknown decision about {draft.kind}")


def repetition_uses(
    decision: Decision, draft: FactDraft, known: Mapping[str, Fact], journaled: Journaled
) -> list[MemoryUse]:
    """A known fact that was said again; by somebody who is trusted less it is no more sure than before."""
    match decision:
        case Reinforce(id) | Merge(id, _) if draft.origin.counts_as(known[id].origin):
            # A tool that says the same in every session is no more to be believed for it.
            by_person = draft.origin.trusted
            return [MemoryUse(id, journaled.session.id, journaled.at, said=by_person, used=not by_person)]
    return []


def settled(fact: Fact, by: Origin, known: Mapping[str, Fact], at: datetime) -> list[Fact]:
    """A contested fact that was said again, and so wins over its rivals, and these as they are then; nothing where it
    is not contested, or ``by`` somebody whose word counts less, or where each of both holds for what it names."""
    lost = [
        rival
        for id in fact.contradicts
        if (rival := known.get(id)) is not None
        and rival.state is State.ACTIVE
        and not rival.pinned
        and by.counts_as(rival.origin)
        and settles(fact.text, rival.text)
        and not outlasts(rival, fact)
    ]
    if not lost:
        return []
    gone = [rival.id for rival in lost]
    won = replace(without(fact, gone), supersedes=tuple(dict.fromkeys((*fact.supersedes, *gone))))
    return [won, *(ended(rival, at) for rival in lost)]


def replacing(
    new: Fact, gone: Sequence[Fact], rivals: Sequence[Fact], known: Mapping[str, Fact], at: datetime
) -> list[Fact]:
    """A fact that takes the place of others, which held until it began to, and may not hold together with its rivals;
    all of them as they are then. What of the ``known`` was at odds with what is gone now, is not any more."""
    ids = tuple(each.id for each in gone)
    past = [replace(each, state=State.SUPERSEDED, valid_until=new.valid_from, superseded_at=at) for each in gone]
    after = replace(new, supersedes=tuple(dict.fromkeys((*new.supersedes, *ids))))
    first, *sides = contradicting(after, [without(each, ids) for each in rivals])
    named = {id for each in gone for id in each.contradicts} - {each.id for each in (*gone, *rivals)}
    freed = [without(fact, ids) for id in sorted(named) if (fact := known.get(id)) and fact.state is State.ACTIVE]
    return [first, *past, *sides, *freed]


def without(fact: Fact, gone: Collection[str]) -> Fact:
    """A fact that is at odds with these no more."""
    return replace(fact, contradicts=tuple(id for id in fact.contradicts if id not in gone))


def contradicting(new: Fact, rivals: Sequence[Fact]) -> list[Fact]:
    """A fact that may not hold together with others, which is noted on both sides."""
    ids = tuple(dict.fromkeys((*new.contradicts, *(rival.id for rival in rivals))))
    sides = (replace(rival, contradicts=(*rival.contradicts, new.id)) for rival in rivals)
    return [replace(new, contradicts=ids), *sides]


def ended(fact: Fact, at: datetime) -> Fact:
    """A fact that held until now."""
    return replace(fact, state=State.SUPERSEDED, valid_until=fact.valid_until or at, superseded_at=at)


def withdrawn(gone: Fact, known: Iterable[Fact], at: datetime) -> list[Fact]:
    """A fact that its author took back, and what of the ``known`` was at odds with it."""
    rivals = [each for each in known if gone.id in each.contradicts and each.state is State.ACTIVE]
    return [ended(gone, at), *(without(each, [gone.id]) for each in rivals)]


def _vouch_for(new: Fact, heard: Fact) -> list[Fact]:
    """What somebody says whose word counts, and what it was known by until now."""
    return [standing_for(new, [heard]), replace(heard, state=State.ARCHIVED)]


def standing_for(new: Fact, before: Sequence[Fact]) -> Fact:
    """What was said again, in place of what it was known by until now: it has been heard as often as all of these, in
    each session that one of them names, and in those of any one of them beside the new one's."""
    if not before:
        return new
    sessions = {new.session, *(fact.session for fact in before)}
    return replace(
        new,
        access=new.access + sum(fact.access for fact in before),
        sessions=max(
            [len(sessions), new.sessions, *(fact.sessions + (fact.session != new.session) for fact in before)]
        ),
        stability=Stability.VERIFIED if len(sessions) > 1 else new.stability,
        supersedes=tuple(dict.fromkeys((*new.supersedes, *(fact.id for fact in before)))),
    )


def drafted(draft: FactDraft, id: str, owner: str, source: bytes, journaled: Journaled) -> Fact:
    """A draft as a fact of ``owner``, out of the message ``source`` of an exchange."""
    return Fact(
        id=id,
        text=draft.text,
        owner=owner,
        kind=draft.kind,
        category=draft.category,
        stream=draft.stream,
        layer=draft.layer,
        origin=draft.origin,
        session=journaled.session.id,
        source=source,
        recorded_at=journaled.at,
        valid_from=draft.valid_from or journaled.at,
        confidence=draft.confidence,
        importance=draft.importance,
        sensitivity=draft.sensitivity,
        valid_until=draft.valid_until,
        expires_at=draft.expires_at,
        pinned=draft.pinned,
        wrong=draft.wrong,
        entities=draft.entities,
        core=draft.core,
    )


def _new(taught: Taught, owner: str, journaled: Journaled, id: str, surprise: float) -> Fact:
    fact = drafted(taught.draft, id, owner, taught.source, journaled)
    importance = weighty(fact.importance, surprise, _relevance_to_session(fact.text, journaled))
    return replace(fact, importance=importance, surprise=surprise)


def _relevance_to_session(text: str, journaled: Journaled) -> float:
    """How far a fact is about what the session is for, 0..1: the share of its words that its first request has, where
    it was not said in that request itself."""
    spoken = [message.spoken for message in journaled.messages if message.spoken]
    if len(spoken) < 2:
        return 0.0
    goal, words = frozenset(stems(spoken[0])), frozenset(stems(text))
    return len(words & goal) / len(words) if words else 0.0
