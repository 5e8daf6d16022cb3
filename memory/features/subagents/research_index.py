"""Ask the index for research: by what was asked and reported, and by passages of its reports and trails.

Research stands on shelves of its own in the index, by owner, so that no other search comes upon it.

The pieces by which a research is found, as passages: the four by which questions are compared and those of the trail
on shelves of their own, and one line among the memories of its owner, so that a talk comes upon it.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence

from memory.context.lexical import LEAST, weigh
from memory.context.prior_findings import mention
from memory.context.question import RecallQuestion
from memory.conversation import Message
from memory.fact import Origin, Passage
from memory.features.subagents.journal_port import ResearchJournal
from memory.language.terms import rarity, term
from memory.language.words import stems
from memory.learning.hearsay import without_orders
from memory.learning.research import TYPICAL, pieces
from memory.learning.sensitivity import sensitivity
from memory.ports import Query, Vector
from memory.research import QUESTIONS, TRAILS, Research, index_owners
from memory.services.recall import Recall

EACH_LEG = 200
"""Pieces that each leg of a search brings: of the questions and reports, four are of one research."""

Fits = dict[str, dict[str, tuple[float, float]]]
"""Coverage and cosine of the pieces of research, by its id and the piece's name."""


class ResearchIndex:
    """Searches research."""

    def __init__(self, journal: ResearchJournal, recall: Recall) -> None:
        self._journal = journal
        self._recall = recall

    async def fits(self, text: str, owners: Sequence[str]) -> Fits:
        """How well what was asked and reported fits a text."""
        collections = index_owners(owners, QUESTIONS)
        found = await self._scores_by_piece(text, collections)
        fits: Fits = {}
        for piece in await self._journal.passages(list(found), collections):
            if piece.speaker in TYPICAL:
                fits.setdefault(piece.session, {})[piece.speaker] = found[piece.id]
        return fits

    async def passages(self, text: str, owners: Sequence[str]) -> dict[str, tuple[float, str]]:
        """The best passage of each research's report and trail: its score and its id."""
        collections = index_owners(owners, TRAILS)
        found = await self._scores_by_piece(text, collections)
        best: dict[str, tuple[float, str]] = {}
        for piece in await self._journal.passages(list(found), collections):
            coverage, cosine = found[piece.id]
            score = (coverage + max(cosine, 0.0)) / 2
            if score > best.get(piece.session, (0.0, ""))[0]:
                best[piece.session] = (score, piece.id)
        return best

    async def vectors(self, texts: Sequence[str]) -> Vector:
        """What some texts mean, a row for each."""
        embedder = self._recall.embedder
        return embedder.documents(texts) if embedder.quick else await asyncio.to_thread(embedder.documents, texts)

    async def weights(self, texts: Sequence[str], owners: Sequence[str]) -> Callable[[str], float]:
        """How rare each stem of some texts is among the questions and reports of these owners."""
        every = {each for text in texts for each in stems(text)}
        counted = await self._journal.rarity(index_owners(owners, QUESTIONS), [term(each) for each in every])
        documents = max(counted.documents, LEAST)
        return lambda stem: rarity(documents, counted.frequency.get(term(stem), 0))

    async def _scores_by_piece(self, text: str, collections: Sequence[str]) -> dict[str, tuple[float, float]]:
        question = RecallQuestion(text, dict.fromkeys(stems(text), 1.0), work=0.0)
        weighed = weigh(question, await self._journal.rarity(collections, question.terms))
        embedder = self._recall.embedder
        dense = (
            embedder.query(text, weighed.idf)
            if embedder.quick
            else await asyncio.to_thread(embedder.query, text, weighed.idf)
        )
        hits = await self._recall.index.search(Query(tuple(collections), dense, weighed.sparse, EACH_LEG))
        return {hit.id: (weighed.coverage(hit.lexical), hit.cosine) for hit in hits}


SPACE = uuid.UUID("0f2d2c5e-7a0e-5d83-9a53-5a3b6f0c9d11")
"""The namespace of the ids of research and of its pieces."""

MENTIONED = "research"
"""The speaker of the line by which a talk comes upon a research; its session is the research."""


def passages_of(research: Research, trail: Sequence[Message]) -> list[Passage]:
    """All of them, under ids that writing them again does not change."""
    found = []
    for piece in pieces(research, trail):
        collection = TRAILS if piece.name in ("passage", "trail") else QUESTIONS
        id = str(uuid.uuid5(SPACE, f"{research.id}\0{piece.name}\0{piece.turn}\0{piece.piece}"))
        found.append(
            Passage(
                id,
                piece.text,
                collection + research.owner,
                Origin.SUBAGENT,
                piece.name,
                research.id,
                piece.source,
                research.ended,
                piece.turn,
                piece.piece,
                sensitivity=sensitivity(piece.text[:2000]),
            )
        )
    if research.report:
        id = str(uuid.uuid5(SPACE, f"{research.id}\0line"))
        line = mention(research, without_orders(research.report))
        # A line that says something of the report is as guarded as that.
        found.append(
            Passage(
                id, line, research.owner, Origin.SUBAGENT, MENTIONED, research.id, b"", research.ended, 0,
                sensitivity=sensitivity(line),
            )
        )  # fmt: skip
    return found
