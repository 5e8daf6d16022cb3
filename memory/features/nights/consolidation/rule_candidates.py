"""What a person might approve for others: a rule of a project that they have said often, in several sessions.

How often is told by who said it: the same words again are one fact that was said again, other words another fact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from memory.candidate import Candidate, CandidateKind, Proposal
from memory.fact import Fact, FactKind, State
from memory.features.nights.consolidation.gist import Clusters, clearest
from memory.features.nights.consolidation.recurring_subjects import (
    RULES,
    WAS_SAID,
    goes_on_about,
    in_time,
    may_be_shared,
    may_lead,
    sessions_of,
)
from memory.features.nights.consolidation.snapshot import RepeatedStatement, Subject
from memory.language.answered import without_answered
from memory.language.polarity import sides, without_aside

_SAID_AS_A_RULE = (FactKind.CONVENTION, FactKind.PREFERENCE, FactKind.HEURISTIC)
_BREVITY = 0.2
"""What is said of a subject is different each time: the most complete of it is wanted rather than the shortest."""
FEWEST_WORDS = 3
"""Words of a rule that is put forward."""
_BOTH_SIDES = 1.3
"""What a wording counts for that also says what is not wanted."""
_MIXED = "statement"
"""What evidence of several kinds is called."""


def rules(
    facts: Mapping[str, Fact],
    statements_by_fact: Mapping[str, Sequence[RepeatedStatement]],
    clusters: Clusters,
    new_id: Callable[[], str],
) -> list[Proposal]:
    """What of some facts is put forward. ``said`` tells of facts and of what they were drawn from who said them; of
    whatever it does not know, that it was said once."""
    drawn = {id for fact in facts.values() if fact.state is State.ACTIVE for id in fact.derived_from}
    found = []
    for fact in facts.values():
        if fact.id in drawn or not may_be_shared(fact):
            continue
        evidence = fact.derived_from or (fact.id,)
        statements = [each for id in evidence for each in statements_by_fact.get(id) or _once(facts.get(id))]
        if fact.derived_from:
            # Since it was drawn from them it is what was said again; where they were said it was not yet there.
            before = {each.session for each in statements}
            statements += [each for each in statements_by_fact.get(fact.id, ()) if each.session not in before]
        times, sessions = sum(each.times for each in statements), len({each.session for each in statements})
        if times >= clusters.candidate_facts and sessions >= clusters.candidate_sessions:
            rule = _clearest_wording(fact, [facts[id] for id in evidence if id in facts])
            found.append(
                Proposal(
                    new_id(),
                    CandidateKind.KNOWLEDGE,
                    mark=fact.id,
                    title=rule,
                    text=rule,
                    what=_most_frequent_kind(statements),
                    sources=times,
                    sessions=sessions,
                    evidence=tuple(dict.fromkeys((fact.id, *evidence))),
                    again=clusters.candidate_again,
                )
            )
    return found


def of_subjects(
    subjects: Sequence[Subject],
    facts: Mapping[str, Fact],
    known: Sequence[Proposal],
    clusters: Clusters,
    new_id: Callable[[], str],
    before: Sequence[Candidate] = (),
    said_by: Mapping[str, Sequence[RepeatedStatement]] = MappingProxyType({}),
    wordings: Mapping[str, str] = MappingProxyType({}),
) -> list[Proposal]:
    """What is put forward of rules about one subject each, in the words that ``wordings`` give for the first of them,
    or else in those of the clearest. ``known`` is what is put forward already, ``before`` what was in other nights: a
    subject that goes on about one of these is that one, with all that bore it out then. It is known by the first rule
    about it, which stays as more of them come. ``said_by`` tells in which other sessions facts were said."""
    named = {id for each in known for id in each.evidence}
    wholes: dict[str, tuple[Candidate | None, set[str], list[Subject]]] = {}
    for subject in subjects:
        same = next((each for each in before if goes_on_about(subject.ids, each.evidence, facts)), None)
        if same is not None:
            _, whole, parts = wholes.setdefault(same.id, (same, set(same.evidence), []))
            whole.update(subject.ids)
            parts.append(subject)
        elif named.isdisjoint(subject.ids):
            wholes[subject.ids[0]] = (None, set(subject.ids), [subject])
    found = []
    for same, whole, parts in wholes.values():
        # What has faded, or was said again since, was said all the same.
        about = [facts[id] for id in in_time(whole & facts.keys(), facts) if facts[id].state in WAS_SAID]
        said_as_rules = [fact for fact in about if may_lead(fact)]
        sessions = sessions_of([fact.id for fact in about], facts, said_by)
        worded = wordings.get(parts[0].ids[0], "")
        # What nothing was learnt of bears a subject out, and is not kept as evidence: it is not counted with that.
        where = sessions.union(*(each.sessions for each in parts))
        if not said_as_rules or len(where) < clusters.candidate_sessions:
            continue
        rule = worded or _clearest_rule(said_as_rules, [fact for fact in about if fact not in said_as_rules])
        if len(rule.split()) < FEWEST_WORDS:
            # Nobody could tell from it what is meant; more of it will be said.
            continue
        found.append(
            Proposal(
                new_id(),
                CandidateKind.KNOWLEDGE,
                mark=same.mark if same is not None else said_as_rules[0].id,
                title=rule,
                text=rule,
                what=_most_frequent_kind([RepeatedStatement(fact.kind, fact.session) for fact in about]),
                sources=len(about),
                sessions=len(sessions),
                evidence=tuple(fact.id for fact in about),
                again=clusters.candidate_again,
            )
        )
    return found


def _clearest_rule(about: Sequence[Fact], beside: Sequence[Fact] = ()) -> str:
    """The clearest of some rules about one subject: of what was said as a rule, where anything was, rather than of what
    was said to put one thing right. What stands ``beside`` them bears them out and is not to be chosen."""
    lasting = [fact for fact in about if fact.kind in _SAID_AS_A_RULE]
    others = [fact for fact in about if fact not in lasting] if lasting else []
    texts, rest, more = ([_core_without_reply(fact) for fact in each] for each in (lasting or about, others, beside))
    return clearest(texts, [*rest, *more], _BREVITY, lambda text: _BOTH_SIDES if sides(text)[1] else 1.0)


def _core_without_reply(fact: Fact) -> str:
    """The core of what was said, without what answers somebody."""
    return without_aside(without_answered(fact.core or fact.text))


def _clearest_wording(fact: Fact, evidence: Sequence[Fact]) -> str:
    """The clearest of all that was said of a rule: a person reads it, and puts it in other words where they want."""
    said = [fact.text, *(each.text for each in evidence if each.kind in RULES)]
    return clearest([without_aside(without_answered(text)) for text in dict.fromkeys(said)])


def _once(fact: Fact | None) -> tuple[RepeatedStatement, ...]:
    return (RepeatedStatement(fact.kind, fact.session),) if fact is not None else ()


def _most_frequent_kind(statements: Sequence[RepeatedStatement]) -> str:
    counted = Counter[str]()
    for each in statements:
        counted[each.kind.value] += each.times
    ((kind, most),) = counted.most_common(1)
    return kind if 2 * most > counted.total() else _MIXED
