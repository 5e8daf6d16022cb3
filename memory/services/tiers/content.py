"""Contents by their handles: what a stub stands for, in any tier, for the person whose it is and nobody else.

The whole lies in the journal. Everything here takes the scope that the server built; a handle out of a text, a tool or
a model only chooses among what belongs to that scope's person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memory.conversation import Image, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, kind_of
from memory.edits import ContentTier, handle, named
from memory.learning.research import listed
from memory.ports import Journal, JournaledMessage, Overview
from memory.research import Named, Research, owners_of
from memory.research import named as of_research
from memory.scope import Layer, Scope, owned_by
from memory.services.person.commands import Ambiguous, NotFound
from memory.services.tiers.tiering import picture


class NoHandle(ValueError):
    """A text is not a handle. The message says what one looks like."""


@dataclass(frozen=True, slots=True)
class TieredContent:
    """A content in one tier.

    ``tier`` is what was given: the whole, where no lower tier was asked for or is worth having. ``kind`` is
    ``result``, ``call``, ``text``, ``image``, ``reasoning``, ``research`` or ``other``; ``name`` is a call's tool.
    ``tokens`` is the size of the whole, 0 where it was not counted; ``line`` is its L0. ``images`` are the sources of
    pictures in a result. ``redacted`` says that a secret was taken out of its message.
    """

    handle: str
    tier: ContentTier
    text: str
    kind: str
    role: str
    name: str = ""
    tokens: int = 0
    line: str = ""
    images: tuple[str, ...] = ()
    redacted: bool = False


class ContentJournal(Journal, Protocol):
    """What this needs of the journal."""

    async def research(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Research]:
        """Research by id."""

    async def research_named(self, beginning: str, owners: Sequence[str]) -> list[str]:
        """The ids of research that begin so."""

    async def research_owners(self) -> list[str]:
        """Every owner that has research."""

    async def trail(self, research: Research) -> list[Message]:
        """All that a sub-agent read and said."""


class Contents:
    """Gives contents back. It keeps nothing: one may be made for each question."""

    def __init__(self, journal: ContentJournal) -> None:
        self._journal = journal

    async def content(self, name: str, tier: ContentTier, scope: Scope) -> TieredContent:
        """What a handle stands for, or the beginning of one (8 digits at least), with or without ``#``; or what a
        research reported, whole with the list of what it read, by its own (``r:…``), and what it read (``r:….7.0``).

        Raises:
            NoHandle: when it is none.
            NotFound: when the scope's person has no such content, or has had it forgotten.
            Ambiguous: when the beginning stands for several messages.
        """
        if (of := of_research(name)) is not None:
            return await self._research(of, tier, scope)
        message, index = await self._kept(name, scope)
        part = message.message.parts[index]
        overview = message.overviews.get(index)
        text, given = _in_tier(part, overview, tier)
        return TieredContent(
            handle(message.message.digest, index),
            given,
            text,
            kind_of(part),
            message.message.role.value,
            part.name if isinstance(part, ToolCall) else "",
            overview.tokens if overview else 0,
            overview.line if overview else "",
            _sources(part) if given is ContentTier.L2 else (),
            message.redacted,
        )

    async def _research(self, name: Named, tier: ContentTier, scope: Scope) -> TieredContent:
        owners = (
            owners_of(scope)
            if scope.project
            else [each for each in await self._journal.research_owners() if owned_by(each, scope) is not None]
        )
        ids = await self._journal.research_named(name.beginning, owners)
        if not ids:
            raise NotFound(f"there is no research {name.beginning!r}")
        if len(ids) > 1:
            raise Ambiguous(name.beginning, ids[:5])
        [research] = await self._journal.research(ids, owners)
        trail = await self._journal.trail(research)
        if name.turn is None:
            given = {ContentTier.L0: research.line, ContentTier.L1: research.overview}.get(tier) or listed(
                research, trail
            )
            return TieredContent(
                research.handle,
                tier if given in (research.line, research.overview) else ContentTier.L2,
                given,
                "research",
                "sub-agent",
                research.title,
                line=research.line,
            )
        if name.turn >= len(trail) or name.part >= len(trail[name.turn].parts):
            raise NotFound(
                f"the trail of {research.handle} has {len(trail)} messages, counted from 0, of some parts each"
            )
        message, part = trail[name.turn], trail[name.turn].parts[name.part]
        handle_ = f"{research.handle}.{name.turn}.{name.part}"
        tool = part.name if isinstance(part, ToolCall) else ""
        return TieredContent(
            handle_, ContentTier.L2, whole(part), kind_of(part), message.role.value, tool, images=_sources(part)
        )

    async def pin(self, name: str, scope: Scope, since: datetime | None) -> str:
        """Keep a content whole in every session of the scope's person, or, with None, no longer; its handle.

        Raises:
            NoHandle, NotFound, Ambiguous: see :meth:`content`.
        """
        message, index = await self._kept(name, scope)
        await self._journal.pin_part(_person(scope), message.message.digest, index, since)
        return handle(message.message.digest, index)

    async def projects(self, name: str, scope: Scope) -> frozenset[str | None]:
        """The projects in whose sessions a content stands; None for one of which no project is known.

        Raises:
            NoHandle, NotFound, Ambiguous: see :meth:`content`.
        """
        message, _ = await self._kept(name, scope)
        return await self._journal.projects_of_message(_person(scope), message.message.digest)

    async def _kept(self, name: str, scope: Scope) -> tuple[JournaledMessage, int]:
        found = named(name)
        if found is None:
            raise NoHandle(
                f"{name[:60]!r} is no handle; one is 12 hexadecimal digits, a dot and a number, as in 0a1b2c3d4e5f.0"
            )
        prefix, index = found
        there = await self._journal.messages_by_digest(_person(scope), prefix, 5)
        if not there or there[0].forgotten:
            raise NotFound(f"there is no content {name!r}" + (" any more: it was forgotten" if there else ""))
        if len(there) > 1:
            raise Ambiguous(prefix, [f"{message.message.digest.hex()}.{index}" for message in there])
        parts = len(there[0].message.parts)
        if index >= parts:
            raise NotFound(f"there is no content {name!r}: its message has {parts} parts, counted from 0")
        return there[0], index


def _person(scope: Scope) -> str:
    person = scope.owner(Layer.USER)
    if person is None:
        raise NotFound("there is no user whose contents these could be")
    return person


def _in_tier(part: Part, overview: Overview | None, tier: ContentTier) -> tuple[str, ContentTier]:
    if tier is ContentTier.L0 and overview and overview.line:
        return overview.line, ContentTier.L0
    if tier is not ContentTier.L2 and overview and overview.text:
        return overview.text, ContentTier.L1
    return whole(part), ContentTier.L2


def whole(part: Part) -> str:
    """A part as a text; in a result, a picture is told in a line."""
    match part:
        case Text(text) | Reasoning(text):
            return text
        case ToolCall(_, _, arguments):
            return arguments
        case ToolResult(_, content, _):
            return "\n".join(f"[{picture(each)}]" if isinstance(each, Image) else whole(each) for each in content)
        case Image(source):
            return source
        case Opaque(_, raw):
            return raw


def _sources(part: Part) -> tuple[str, ...]:
    inner = part.content if isinstance(part, ToolResult) else ()
    return tuple(each.source for each in inner if isinstance(each, Image))
