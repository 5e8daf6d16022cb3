"""Answer what is asked as a whole: a time, what is open elsewhere, somebody."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from memory.context.broad_questions import BroadQuestion, about_person, last_day, of_a_time, profile, talked_of
from memory.context.question import QuestionAuthor, RecallQuestion
from memory.context.rank import Scored
from memory.fact import Fact, Passage
from memory.ports import SummaryLine

BUFFER = 400
"""Memories of the newest that are looked at for a time that no summary tells of yet."""
UNTOLD = timedelta(days=2)
"""How old a time may be at most of which a night has put only a part in short."""
FILED = 200
"""Memories of one name that are looked at."""
NAMED = 60
"""Memories that are looked at of somebody who is only talked of."""


class BroadAnswerJournal(Protocol):
    """What this needs of the journal."""

    async def newest(self, owners: Sequence[str], limit: int) -> list[str]:
        """The ids of the newest active facts and passages of some owners."""

    async def summaries(self, owners: Sequence[str], first: str, last: str) -> list[SummaryLine]:
        """The lines of the days from one to another."""

    async def filed(self, owners: Sequence[str], name: str, limit: int) -> list[str]:
        """The ids of memories that a name stands in."""

    async def memories(self, ids: Sequence[str], owners: Sequence[str]) -> list[Fact | Passage]:
        """Facts and passages by id."""


async def answer_broadly(
    journal: BroadAnswerJournal, question: BroadQuestion, owners: Sequence[str], session: str, now: datetime
) -> list[Scored]:
    """The lines that answer it, best first; none where nothing is known.

    Raises:
        StoreError: when the journal cannot be read.
    """
    if question.name:
        ids = await journal.filed(owners, question.name, FILED)
        return about_person(await journal.memories(ids, owners), question.name, session, now) if ids else []
    if question.span is None:
        return []
    first, last = question.span.begin.date().isoformat(), question.span.end.date().isoformat()
    wanted = dict.fromkeys(line.memory for line in await journal.summaries(owners, first, last))
    if not wanted or question.span.end > now - UNTOLD:
        wanted |= dict.fromkeys(await journal.newest(owners, BUFFER))
    memories = await journal.memories(list(wanted), owners) if wanted else []
    answers = of_a_time(memories, question.span, session, still_open=question.still_open)
    if question.still_open and not answers and (before := last_day(memories, session)) is not None:
        answers = of_a_time(memories, before, session, still_open=True)
    return answers


async def profiles(
    journal: BroadAnswerJournal,
    question: RecallQuestion,
    owners: Sequence[str],
    session: str,
    now: datetime,
    found: Sequence[Scored],
) -> list[Scored]:
    """A few lines on each person whom somebody names in a message, without what was ``found`` for it already.

    Raises:
        StoreError: when the journal cannot be read.
    """
    lines: list[Scored] = []
    if question.asker is not QuestionAuthor.PERSON:
        return lines
    sources = {each.memory.source for each in found}
    for name in talked_of(question.said):
        if ids := await journal.filed(owners, name, NAMED):
            known = profile(await journal.memories(ids, owners), name, session, now)
            lines += [each for each in known if each.memory.source not in sources]
    return lines
