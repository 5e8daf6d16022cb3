"""What a project's own files say, as facts: read from the branch that work is merged into, when that has moved.

They are the files' word and nobody else's: they are found when they are asked for, stand on no page, and bear out
nothing. What a file does not say any more is put away; what a person has said instead stays.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final, Protocol

from memory.checkout import Checkout, LearnedAt
from memory.fact import Fact, FactKind, Origin, Stability, State, Stream
from memory.features.checkouts.conventions.observation import Observation
from memory.features.checkouts.conventions.observed import is_read, observed
from memory.features.checkouts.files import LARGEST
from memory.features.checkouts.git import blobs, lines
from memory.features.checkouts.looking import CheckoutView
from memory.features.checkouts.sight import CheckoutWatcher
from memory.learning.tombstones import tombstone_of
from memory.scope import OWN_PROJECT, Layer, Scope

SESSION: Final = "the project's own files"
"""Stands in the place of a session."""
MOST_KNOWN: Final = 256

_FACTS: Final = uuid.UUID("0f6f7a0e-5f6b-5c52-9a53-6b0b1f3f2c77")
"""The namespace of the ids: the same sentence of the same owner is the same fact."""


class ObservedJournal(Protocol):
    """What this needs of the journal."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]: ...
    async def observed_in_files(self, owner: str, repository: str) -> list[Fact]: ...
    async def is_forgotten(self, hashes: Sequence[bytes]) -> frozenset[bytes]: ...
    async def learnt_anew(self, learnt: Sequence[LearnedAt]) -> None: ...
    def key(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Changes:
    """Facts to write, the ids of those among them that are known, and where all that holds was seen: at ``at``, whose
    files were looked into for ``owner``."""

    facts: tuple[Fact, ...] = ()
    known: frozenset[str] = frozenset()
    seen: tuple[LearnedAt, ...] = ()
    owner: str = ""
    at: Checkout | None = None


class OwnFiles:
    """Looks into them."""

    def __init__(self, journal: ObservedJournal, sight: CheckoutWatcher) -> None:
        self._journal = journal
        self._sight = sight
        self._known: dict[tuple[str, str], str] = {}

    async def look(self, view: CheckoutView, scope: Scope, now: datetime) -> Changes:
        """What has to be written, where the main branch has moved since the last look."""
        owner, at = scope.owner(Layer.USER_PROJECT), main_of(view)
        unnamed = scope.project is None or scope.project.startswith(OWN_PROJECT)
        if owner is None or unnamed or not at.commit or self._known.get((owner, at.repository)) == at.commit:
            return Changes()
        found = await self._sight.run_git(partial(read, view.root, at.commit))
        return await self._changes(found, owner, at, now)

    async def written(self, changes: Changes) -> None:
        """The facts are written: where they were seen is known from now on."""
        if changes.at is None:
            return
        await self._journal.learnt_anew(changes.seen)
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        self._known[changes.owner, changes.at.repository] = changes.at.commit

    def forget(self) -> None:
        """What is known of the last looks may not be so any more."""
        self._known.clear()

    async def _changes(self, found: Sequence[Observation], owner: str, at: Checkout, now: datetime) -> Changes:
        said = {str(uuid.uuid5(_FACTS, f"{owner}\0{each.text}")): each for each in found}
        key = self._journal.key()
        hashes = {id: tombstone_of(key, owner, each.text) for id, each in said.items()}
        buried = await self._journal.is_forgotten(list(hashes.values()))
        said = {id: each for id, each in said.items() if hashes[id] not in buried}
        held = {fact.id: fact for fact in await self._journal.facts(list(said))}
        new = [_fact(id, each, owner, now) for id, each in said.items() if id not in held]
        back = [
            replace(fact, state=State.ACTIVE, valid_until=None, valid_from=now)
            for fact in held.values()
            if fact.state is State.ARCHIVED and fact.valid_until is not None
        ]
        gone = [
            replace(fact, state=State.ARCHIVED, valid_until=now)
            for fact in await self._journal.observed_in_files(owner, at.repository)
            if fact.id not in said
        ]
        seen = tuple(LearnedAt(id, owner, at, "", each.cites, looked=True) for id, each in said.items())
        return Changes((*new, *back, *gone), frozenset(fact.id for fact in (*back, *gone)), seen, owner, at)


def main_of(view: CheckoutView) -> Checkout:
    """The branch that work is merged into, as it stands; what is checked out, where that cannot be told."""
    commit = view.tips[0] if view.tips else view.checkout.commit
    return Checkout(view.checkout.repository, view.main or view.checkout.branch, commit)


def read(root: str, commit: str) -> tuple[Observation, ...]:
    """What the files of a commit say. Blocks: for a thread."""
    names = lines(root, "-c", "core.quotePath=false", "ls-tree", "--name-only", commit)
    names += lines(root, "-c", "core.quotePath=false", "ls-tree", "--name-only", commit, ".github/workflows/")
    texts: Mapping[str, str] = blobs(root, commit, sorted(filter(is_read, names)), LARGEST)
    return observed(texts, (name for name in names if "/" not in name))


def _fact(id: str, each: Observation, owner: str, now: datetime) -> Fact:
    return Fact(
        id=id,
        text=each.text,
        owner=owner,
        kind=FactKind.CONVENTION,
        category=each.category,
        stream=Stream.PROJECTS,
        layer=Layer.USER_PROJECT,
        origin=Origin.FILE,
        session=SESSION,
        source=b"",
        recorded_at=now,
        valid_from=now,
        confidence=0.6,
        importance=0.4,
        stability=Stability.DRAFT,
    )
