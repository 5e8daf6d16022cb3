"""Take in what comes from elsewhere: records of an export, and a person's notes for their agents.

What is known already is left as it is, so that importing twice is importing once; what was forgotten stays
forgotten. Whose memories they become is decided by the scope that the server built: a record's own owner only says
which layer and which project.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from memory.fact import Category, Fact, FactKind, Origin, Passage, Stability
from memory.hooks.chain import Features
from memory.hooks.feature import Feature
from memory.learning.notes import notes
from memory.learning.redact import redact
from memory.learning.tombstones import tombstone_of
from memory.ports import PublishFailed
from memory.scope import Layer, Scope, owned_by
from memory.services.learn import Learner
from memory.services.lessons import rules
from memory.services.manual_facts import in_own_words
from memory.services.page.files import PageFiles
from memory.services.transfer.records import FORMAT, InvalidRecord, Uses, memory_of, uses_of

_NOTES = uuid.UUID("6d1c1d9c-3a0e-5a0b-9f0e-6f1f4b1e7c11")
"""The namespace of the ids of notes: the same note of the same owner is the same fact."""


class ImportJournal(Protocol):
    """What this needs of the journal."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]:
        """Facts by id."""

    async def passages(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Passage]:
        """Passages by id."""

    async def find_facts(self, owners: Sequence[str], text: str, limit: int = 100) -> list[Fact]:
        """Facts that hold a text."""

    async def is_forgotten(self, hashes: Sequence[bytes]) -> frozenset[bytes]:
        """Which of these hashes have a tombstone."""

    async def restore_uses(self, uses: Mapping[str, Uses]) -> None:
        """Write how often memories were shown and used, by session; what is known already stays."""

    async def pin_part(self, person: str, digest: bytes, part: int, at: datetime | None) -> None:
        """A person wants a part whole."""

    async def update(self, fact: Fact) -> bool:
        """Write a known fact anew."""

    def key(self) -> bytes:
        """The key of all keyed hashes."""


@dataclass(slots=True)
class ImportSummary:
    """What became of an import. ``known`` was there already, ``forgotten`` was forgotten before; ``features`` counts
    the records of each feature, by what it calls them; ``faults`` are the places, counted from 0, of what could not be
    taken, and why; ``buried`` are the ids of the memories that were forgotten before."""

    facts: int = 0
    passages: int = 0
    pins: int = 0
    pages: int = 0
    known: int = 0
    forgotten: int = 0
    features: dict[str, int] = field(default_factory=dict)
    faults: list[tuple[int, str]] = field(default_factory=list)
    buried: list[str] = field(default_factory=list)


class Importer:
    """Takes in."""

    def __init__(
        self,
        journal: ImportJournal,
        learner: Learner,
        pages: PageFiles,
        features: Features,
        now: Callable[[], datetime],
        dry: bool = False,
    ) -> None:
        self._journal = journal
        self._learner = learner
        self._pages = pages
        self._features = features
        self._now = now
        self._dry = dry

    def without_writing(self) -> Importer:
        """The same, which only says what would be taken."""
        return Importer(
            self._journal,
            self._learner,
            self._pages,
            self._features,
            self._now,
            dry=True,
        )

    async def records(self, records: Sequence[object], scope: Scope) -> ImportSummary:
        """Take in records of an export; what is none is told, and the rest goes on. A text among them says why there is
        no record in its place."""
        taken = ImportSummary(features=dict.fromkeys(self._features.counted, 0))
        memories: dict[str, tuple[int, Fact | Passage]] = {}
        uses: dict[str, Uses] = {}
        later: list[tuple[int, Feature, Mapping[str, Any]]] = []
        for place, record in enumerate(records):
            try:
                if not isinstance(record, Mapping):
                    raise InvalidRecord(record if isinstance(record, str) else "it is no JSON object")
                if record.get("sort") in ("fact", "passage"):
                    memory = belonging(memory_of(record), scope)
                    memories.setdefault(memory.id, (place, memory))
                    uses[memory.id] = uses_of(record)
                elif (feature := self._features.exporting(str(record.get("sort", "")))) is not None:
                    later.append((place, feature, record))
                else:
                    await self._other(record, scope, taken)
            except InvalidRecord as error:
                taken.faults.append((place, str(error)))
        await self._memories(memories, uses, taken)
        for place, feature, record in later:  # behind the facts that they rest on
            try:
                what = await feature.take(record, scope, self._dry)
                taken.features[feature.counted] += what == "taken"
                taken.known += what == "known"
                taken.forgotten += what == "forgotten"
            except InvalidRecord as error:
                taken.faults.append((place, str(error)))
        return taken

    async def notes(self, text: str, scope: Scope, at: datetime) -> ImportSummary:
        """Take in a person's notes as facts in their own words, a line or bullet each, valid since ``at``: of one
        project where the scope names one, else of all.

        Raises:
            ValueError: when there is nobody whose notes they would be.
        """
        layer = Layer.USER_PROJECT if scope.project else Layer.USER
        owner = scope.owner(layer)
        if owner is None:
            raise ValueError("there is no user whose notes these could be")
        taken = ImportSummary(features=dict.fromkeys(self._features.counted, 0))
        new: list[Fact] = []
        await rules.at_hand()
        for note in notes(redact(text).text):
            id = str(uuid.uuid5(_NOTES, f"{owner}\0{note.text.casefold()}"))
            fact = in_own_words(note.text, owner, layer, id, self._now())
            fact = replace(fact, valid_from=min(at, fact.valid_from))
            new.append(_as_instruction(fact) if note.orders else fact)
        forgotten = await self.forgotten(new)
        held = {fact.id for fact in await self._journal.facts([fact.id for fact in new])}
        unknown: list[Fact] = []
        for place, fact in enumerate(new, 1):
            if why := self._not_kept(fact):
                taken.faults.append((place, why))
            elif fact.id in held:
                taken.known += 1
            elif fact.id in forgotten:
                taken.forgotten += 1
            elif (same := await self._same_fact(fact)) is not None:
                taken.known += 1
                if same.origin is not Origin.PERSON and not self._dry:
                    own = replace(same, origin=Origin.PERSON, stability=Stability.VERIFIED, confidence=1.0)
                    await self._journal.update(own)
                    self._pages.changed(frozenset({owner}))
            else:
                unknown.append(fact)
        taken.facts = len(unknown)
        if unknown and not self._dry:
            await self._learner.remember(unknown)
        return taken

    async def _memories(
        self, memories: Mapping[str, tuple[int, Fact | Passage]], uses: Mapping[str, Uses], taken: ImportSummary
    ) -> None:
        ids = list(memories)
        stored: list[Fact | Passage] = [*await self._journal.facts(ids), *await self._journal.passages(ids)]
        held = {memory.id: memory for memory in stored}
        forgotten = await self.forgotten([memory for _, memory in memories.values()])
        new: list[Fact | Passage] = []
        for id, (place, memory) in memories.items():
            if id in held:
                if held[id].owner == memory.owner:
                    taken.known += 1
                else:
                    taken.faults.append((place, f"a memory of another owner has the id {id}"))
            elif id in forgotten:
                taken.forgotten += 1
                taken.buried.append(id)
            elif why := self._not_kept(memory):
                taken.faults.append((place, why))
            else:
                new.append(memory)
        facts = [memory for memory in new if isinstance(memory, Fact)]
        passages = [memory for memory in new if isinstance(memory, Passage)]
        taken.facts, taken.passages = len(facts), len(passages)
        if new and not self._dry:
            await self._journal.restore_uses({memory.id: uses[memory.id] for memory in new if uses.get(memory.id)})
            await self._learner.remember(facts, passages)

    def _not_kept(self, memory: Fact | Passage) -> str:
        category = memory.category if isinstance(memory, Fact) else None
        return self._learner.policies.of_owner(memory.owner).forbids(memory.sensitivity, category)

    async def _other(self, record: Mapping[str, Any], scope: Scope, taken: ImportSummary) -> None:
        """A line that is no memory."""
        match record.get("sort"):
            case "palimpsest":
                version = record.get("format")
                if not isinstance(version, int) or version > FORMAT:
                    raise InvalidRecord(f"the export has format {version!r}; this version reads up to {FORMAT}")
            case "tombstones":
                pass  # Only their number is told: what was forgotten cannot be told any more.
            case "pin":
                await self._pin(record, scope, taken)
            case "page":
                await self._page(record, scope, taken)
            case other:
                sorts = ", ".join(("fact", "passage", *self._features.exported, "page"))
                raise InvalidRecord(f"sort is {str(other)[:40]!r}; it is {sorts} or pin")

    async def _pin(self, record: Mapping[str, Any], scope: Scope, taken: ImportSummary) -> None:
        person, part = scope.owner(Layer.USER), record.get("part")
        try:
            digest, at = bytes.fromhex(record["digest"]), datetime.fromisoformat(record["at"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidRecord(f"a pin has a digest in hexadecimal digits and a time: {error}") from None
        if person is None or not isinstance(part, int) or not 0 <= part < 10_000 or at.tzinfo is None:
            raise InvalidRecord("a pin has a part, a number from 0, and a time with its zone")
        taken.pins += 1
        if not self._dry:
            await self._journal.pin_part(person, digest, part, at)

    async def _page(self, record: Mapping[str, Any], scope: Scope, taken: ImportSummary) -> None:
        text, owner = record.get("text"), record.get("owner")
        mine = owned_by(owner, scope) if isinstance(owner, str) else None
        if not isinstance(text, str) or mine is None or mine[0].project is None:
            raise InvalidRecord("a page has a text, and an owner that is a user and a project")
        text = redact(text).text.strip()
        own = await self._pages.own(mine[0])
        if text in own:
            taken.known += 1
            return
        taken.pages += 1
        if not self._dry:
            try:
                await self._pages.write(mine[0], f"{own}\n\n{text}".strip())
            except PublishFailed as error:
                taken.pages -= 1
                raise InvalidRecord(str(error)) from error

    async def forgotten(self, memories: Sequence[Fact | Passage]) -> frozenset[str]:
        """The ids of those that were forgotten before."""
        key = self._journal.key()
        hashes = {memory.id: tombstone_of(key, memory.owner, memory.text) for memory in memories}
        buried = await self._journal.is_forgotten(list(hashes.values()))
        return frozenset(id for id, hash in hashes.items() if hash in buried)

    async def _same_fact(self, fact: Fact) -> Fact | None:
        found: Iterable[Fact] = await self._journal.find_facts([fact.owner], fact.text, 20)
        return next((each for each in found if each.text.casefold() == fact.text.casefold()), None)


def belonging(memory: Fact | Passage, scope: Scope) -> Fact | Passage:
    """The memory as one of the scope's person, in the layer and the project that its owner names.

    Raises:
        NoRecord: when the scope's person cannot own it.
    """
    mine = owned_by(memory.owner, scope)
    if mine is None:
        raise InvalidRecord(f"its owner {memory.owner[:80]!r} is none that you may write to")
    target, layer = mine
    owner = target.owner(layer)
    assert owner is not None, "owned_by names a layer that the scope reaches"
    try:
        id = str(uuid.UUID(memory.id))
    except ValueError:
        raise InvalidRecord(f"its id {memory.id[:40]!r} is no UUID") from None
    if isinstance(memory, Fact):
        return replace(memory, id=id, owner=owner, layer=layer)
    return replace(memory, id=id, owner=owner)


def _as_instruction(fact: Fact) -> Fact:
    """A note that orders is kept as an instruction, whatever a rule may have read in it."""
    if fact.kind in (FactKind.CONVENTION, FactKind.PREFERENCE, FactKind.CORRECTION):
        return fact
    return replace(fact, kind=FactKind.CONVENTION, category=Category.WORKFLOWS)
