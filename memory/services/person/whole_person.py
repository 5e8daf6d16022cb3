"""One person everywhere: what memory holds of them, given out or deleted, with what stays and why."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from memory.fact import Fact, Passage
from memory.hooks.chain import Features
from memory.person import PersonsShare
from memory.ports import Forgotten, SetAsideErasure
from memory.scope import Scope, scope_of
from memory.services.page.files import PageFiles
from memory.services.person.erasure_steps import ErasureSteps
from memory.understanding.packaged_weights import clear_caches

log = logging.getLogger(__name__)

LONGEST: Final = timedelta(minutes=10)
"""For how long nothing is journaled of a person whose forgetting did not come to its end, as when the process was
killed."""

PAGES: Final = "pages"
"""Under this name the words that a person wrote on their pages are given out."""


class PersonsJournal(Protocol):
    """What this needs of the journal."""

    async def share_of(self, person: Scope) -> PersonsShare:
        """What there is of a person (organisation and user), and what of it others share."""

    async def rows_of(self, person: Scope, table: str, after: int, limit: int) -> list[dict[str, Any]]:
        """A person's rows of a table behind so many, in a fixed order; none of a table that holds nothing to tell."""

    async def forget(self, ids: Sequence[str], at: datetime, owners: Sequence[str] | None = None) -> Forgotten:
        """Delete memories, what was derived from them and the messages they came from, everywhere in the journal."""

    async def erase_person(self, person: Scope) -> tuple[list[Fact], list[Passage], Mapping[str, int]]:
        """Delete all that is a person's and nobody else's, in one transaction: the facts and passages that went, and
        how many rows of each table."""

    async def refuse_until(self, person: Scope, until: datetime) -> None:
        """What a person has asked until then is not journaled from now on."""

    async def scrub_person(self) -> bool:
        """Have what was deleted leave the disk; whether it has."""

    async def forget_aside(self) -> SetAsideErasure:
        """See :class:`memory.ports.Journal`."""


class LearnsAndRests(Protocol):
    """What learns, and can be kept from it."""

    def resting(self) -> AbstractAsyncContextManager[None]:
        """While this is held nothing is learned."""

    async def drop_from_index(self, ids: Sequence[str]) -> None:
        """Have the index let go of memories."""


class HoldsExchanges(Protocol):
    """What waits for the journal."""

    async def write_pending(self) -> None:
        """Have it written."""


@dataclass(frozen=True, slots=True)
class ErasedPerson:
    """What was deleted of a person: how many ``rows`` of each table, the ``shared`` facts that nobody else bore out, so
    much ``research``, the ``keys`` by name, and ``files``. ``stays`` says what was left, and why; ``faults`` what could
    not be done. ``scrubbed`` is whether the database holds none of it in its log any more."""

    rows: Mapping[str, int]
    shared: int
    research: int
    keys: tuple[str, ...]
    files: tuple[str, ...]
    stays: tuple[str, ...]
    faults: tuple[str, ...]
    scrubbed: bool


class WholePerson:
    """Knows what there is of one person, gives it out and deletes it. ``live`` drops what is remembered of sessions."""

    def __init__(
        self,
        journal: PersonsJournal,
        learner: LearnsAndRests,
        notes: HoldsExchanges,
        pages: PageFiles,
        features: Features,
        live: Callable[[], None],
        now: Callable[[], datetime],
    ) -> None:
        self._journal = journal
        self._learner = learner
        self._notes = notes
        self._pages = pages
        self._features = features
        self._live = live
        self._now = now

    async def share(self, person: Scope) -> PersonsShare:
        """What there is of a person, once all that was said, and what they have changed on their pages, is written."""
        await self._notes.write_pending()
        await self._pages.take_all_edits((await self._journal.share_of(person)).owners)
        share = await self._journal.share_of(person)
        return replace(share, tables=(*share.tables, PAGES))

    async def rows(self, person: Scope, table: str, after: int, limit: int) -> list[dict[str, Any]]:
        """A person's rows of a table behind so many, in a fixed order; none of a table that holds nothing to tell. The
        words that they wrote on their pages lie in files, and are given out as a table too."""
        if table == PAGES:
            return (await self._own_pages(person))[after : after + limit]
        return await self._journal.rows_of(person, table, after, limit)

    async def _own_pages(self, person: Scope) -> list[dict[str, Any]]:
        share = await self._journal.share_of(person)
        every = {*share.owners, *await self._pages.with_own_words()}
        theirs = [each for each in every if (of := scope_of(each)) and (of.org, of.user) == (person.org, person.user)]
        return [
            {"sort": PAGES, "owner": owner, "text": text} for owner, text in (await self._pages.all_own(theirs)).items()
        ]

    async def forget(self, person: Scope) -> ErasedPerson:
        """Delete all that memory holds of a person. Shared facts stay that others bear out as well; what nobody else
        does goes, also where others were given it. Each step is taken whatever became of those before it. What they
        asked before it is done is not journaled when it ends."""
        await self._journal.refuse_until(person, self._now() + LONGEST)
        try:
            return await self._forget(person)
        finally:
            await self._journal.refuse_until(person, self._now())
            # What was begun meanwhile counts as written, and is not.
            self._live()

    async def _forget(self, person: Scope) -> ErasedPerson:
        await self._notes.write_pending()
        steps, files = ErasureSteps(), list[str]()
        async with self._learner.resting():
            # What is learnt until then is theirs as well.
            share = await self._journal.share_of(person)
            whose = sorted({*share.owners, *(fact.owner for fact in share.alone)})
            going = await self._features.forget(whose)
            shared = Forgotten()
            if names := [*(fact.id for fact in share.alone), *share.research]:
                shared = await self._journal.forget(names, self._now())
            facts, passages, rows = await self._journal.erase_person(person)
            gone = replace(shared, facts=(*shared.facts, *facts), passages=(*shared.passages, *passages))
            self._live()
            clear_caches()
            files += await steps.take(self._pages.erase(person), [], "pages may hold it still")
            await steps.take(self._pages.unmake(whose), None, "others' pages may hold it still")
            await steps.take(going.then(gone), None, "what was made of it may hold it still")
        changed, faults = await steps.take(going.files(gone), ([], []), "files may hold it still")
        await steps.take(self._pages.refresh(), None, "pages could not be made anew")
        aside = await steps.take(
            self._journal.forget_aside(), SetAsideErasure(), "what was set aside and is damaged could not be looked for"
        )
        await steps.take(self._drop_from_index(gone.ids), None, "the index has it still, and is asked again to let go")
        scrubbed = await steps.take(self._journal.scrub_person(), False, "what was deleted is not overwritten yet")
        log.info("a person was forgotten: %d rows", sum(rows.values()))
        return ErasedPerson(
            rows,
            len(shared.facts),
            len(share.research),
            share.keys,
            (*files, *changed),
            stays(share),
            (*faults, *steps.faults, *aside.sentences()),
            scrubbed,
        )

    async def _drop_from_index(self, ids: Sequence[str]) -> None:
        async with self._learner.resting():
            await self._learner.drop_from_index(ids)


def stays(share: PersonsShare) -> tuple[str, ...]:
    """What of a person stays behind when all of theirs is deleted, and why."""
    told = []
    if share.with_others:
        told.append(
            f"{len(share.with_others)} shared facts: others said the same, and it was approved for all; that this "
            "person said it too is taken out of them"
        )
    if entries := share.kept.get("audit", 0):
        told.append(f"{entries} entries of the audit log: who asked which endpoint and when, without a text")
    told.append("that somebody was forgotten, in the audit log, which is only ever added to; whom it does not say")
    told.append("what they wrote into other people's sessions is those people's words, and stays with these")
    return tuple(told)
