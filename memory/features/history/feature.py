"""A fact's life, behind the hooks: three endpoints, and nothing that is kept."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypedDict

from memory.edits import handle
from memory.features.history.lives import FactHistories
from memory.features.history.sayings import MemorySayings, Saying
from memory.hooks.answer_fields import Fields
from memory.hooks.feature import Core, Feature, FeatureRoute
from memory.hooks.route_request import RouteRefused, RouteRequest
from memory.hooks.serializers import MemoryJson, memory
from memory.services.person.id_lookup import LookupJournal, named


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
