"""A fact's life, behind the hooks: three endpoints, and nothing that is kept.

A fact's life: what it followed and what followed it, and how strong it was and will be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Protocol, TypedDict

from memory.edits import handle
from memory.fact import Fact
from memory.features.history.sayings import MemorySayings, Saying
from memory.hooks.feature import Core, Feature, FeatureRoute
from memory.hooks.route_request import Fields, MemoryJson, RouteRefused, RouteRequest, memory
from memory.services.person.id_lookup import LookupJournal, NotFound, named
from memory.strength import curve

MAX_CHAIN_FACTS = 200
"""Facts of a chain that are told at most."""

YEAR = timedelta(days=365)


class HistoryJournal(Protocol):
    """What this needs of the journal."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]:
        """Facts by id, as far as they belong to these owners."""

    async def followers(self, ids: Sequence[str], owners: Sequence[str]) -> list[Fact]:
        """The facts of some owners that follow one of these."""

    async def use_times(self, id: str) -> list[datetime]:
        """When the sessions were in which a memory was used, in order."""


@dataclass(frozen=True, slots=True)
class Link:
    """A fact of a chain, with the ids of those in it that took its place."""

    fact: Fact
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Curve:
    """Strengths at evenly spaced times, from the making of a fact to a year from now; ``uses`` are the times of its
    use that are known."""

    times: tuple[datetime, ...]
    strengths: tuple[float, ...]
    uses: tuple[datetime, ...]


class FactHistories:
    """Looks along a fact's life."""

    def __init__(self, journal: HistoryJournal) -> None:
        self._journal = journal

    async def history(self, id: str, owners: Sequence[str]) -> list[Link]:
        """The chain that a fact stands in, in the order in which they began to hold: all that it followed, and all
        that followed it.

        Raises:
            NotFound: when no fact of these owners has this id.
        """
        chain = {fact.id: fact for fact in await self._journal.facts([id], owners)}
        if not chain:
            raise NotFound(f"{id} is a passage of a talk, which nothing supersedes; only facts have a history")
        edge = list(chain.values())
        while edge and len(chain) < MAX_CHAIN_FACTS:
            before = [each for fact in edge for each in fact.supersedes]
            near = [
                *await self._journal.facts(before, owners),
                *await self._journal.followers([fact.id for fact in edge], owners),
            ]
            edge = [fact for fact in near if fact.id not in chain]
            chain.update((fact.id, fact) for fact in edge)
        ordered = sorted(chain.values(), key=lambda fact: (fact.valid_from, fact.recorded_at, fact.id))
        return [Link(fact, tuple(each.id for each in ordered if fact.id in each.supersedes)) for fact in ordered]

    async def strength(self, id: str, owners: Sequence[str], now: datetime, points: int) -> Curve:
        """How strong a fact was since it was made, and will be in a year if nobody uses it.

        Raises:
            NotFound: when no fact of these owners has this id.
        """
        found = await self._journal.facts([id], owners)
        if not found:
            raise NotFound(f"{id} is a passage of a talk, which has no strength of its own; only facts have")
        [fact] = found
        uses = [at for at in await self._journal.use_times(id) if at > fact.recorded_at]
        begin, end = min(fact.recorded_at, now), now + YEAR
        times = [begin + (end - begin) * place / (points - 1) for place in range(points)]
        use_times = uses if fact.used_at is None or fact.used_at in uses else [*uses, fact.used_at]
        return Curve(tuple(times), tuple(curve(fact, uses, times)), tuple(use_times))


class Replaced(TypedDict):
    """The ids of the facts that took the place of one."""

    superseded_by: tuple[str, ...]


class FactHistory(TypedDict):
    """A fact with all that it followed and all that followed it, in the order in which they began to hold."""

    id: str
    history: list[Annotated[dict[str, Any], Fields("PastFact", MemoryJson, Replaced)]]


class FactCurve(TypedDict):
    """The strengths of a fact at some times, and when it was used."""

    id: str
    now: datetime
    times: tuple[datetime, ...]
    strengths: list[float]
    uses: tuple[datetime, ...]


class SayingJson(TypedDict):
    """One time that something was said: by whom, when and in which session; its words, whether they are the ``whole``
    message, whether that is only ``likely`` the one, and the handle of the message (``content``), empty for none."""

    memory: str
    who: str
    at: datetime
    text: str
    whole: bool
    likely: bool
    content: str
    session: str
    project: str | None
    runtime: str


class SayingsList(TypedDict):
    """What was said of a memory, in how many sessions, and behind how many there is more (``later``)."""

    id: str
    sayings: list[SayingJson]
    sessions: int
    later: int | None


class HistoryFeature(Feature):
    """The feature."""

    name = "history"

    def __init__(self, core: Core) -> None:
        self._names: LookupJournal = core.journal
        self.lives = FactHistories(core.journal)
        self.sayings = MemorySayings(core.journal)

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        return (
            FeatureRoute("GET", "facts/{id}/history", cls.history),
            FeatureRoute("GET", "facts/{id}/curve", cls.curve, limit=100),
            FeatureRoute("GET", "facts/{id}/sayings", cls.said, limit=20, query=("from",)),
        )

    async def history(self, question: RouteRequest) -> FactHistory:
        """All that a fact followed and all that followed it, in the order in which they began to hold."""
        [name] = await named(self._names, [question.names["id"]], question.owners)
        chain = await self.lives.history(name, question.owners)
        links = [
            memory(each.fact, question.now, by_id=each.fact.id == name) | {"superseded_by": each.by} for each in chain
        ]
        return {"id": name, "history": links}

    async def curve(self, question: RouteRequest) -> FactCurve:
        """``?limit=100``: so many strengths, from the fact's making to a year from now."""
        [name] = await named(self._names, [question.names["id"]], question.owners)
        line = await self.lives.strength(name, question.owners, question.now, max(question.limit, 2))
        strengths = [round(each, 4) for each in line.strengths]
        return {"id": name, "now": question.now, "times": line.times, "strengths": strengths, "uses": line.uses}

    async def said(self, question: RouteRequest) -> SayingsList:
        """``?limit=20&from=20``: all that was said of a fact or a passage, from the oldest to the newest, in so many of
        its ``sessions``: by whom, when, and in which message, whole up to 20,000 characters; with ``from`` those behind
        so many sessions. Of a session in which it was said again the messages that have most of its words are given
        (``likely``), and an empty text where none is left."""
        [name] = await named(self._names, [question.names["id"]], question.owners)
        passed = _number(question.query.get("from", ""))
        found = await self.sayings.of(name, question.scope, question.owners, passed, question.limit)
        return {
            "id": name,
            "sayings": [_saying(each) for each in found.found],
            "sessions": found.sessions,
            "later": found.later,
        }


def _saying(each: Saying) -> SayingJson:
    session = each.session
    return {
        "memory": each.memory,
        "who": each.who,
        "at": each.at,
        "text": each.text,
        "whole": each.whole,
        "likely": each.likely,
        "content": handle(each.source, 0) if each.source else "",
        "session": session.id if session else "",
        "project": session.scope.project if session else None,
        "runtime": session.runtime if session else "",
    }


def _number(text: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise RouteRefused("from is a number", 422)
    return int(text)


FEATURE = HistoryFeature
