"""The process that plans a night, beside the server (``python -m`` this module), given a job on standard input.

It reads the database by itself and cannot write it; what it plans goes to standard output, owner by owner, each as a
line with the number of bytes that follow; a line on standard input then asks for the next, and tells which facts have
changed. Nothing that it computes stops a stream in the server.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import uuid
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import orjson

from memory.candidate import Candidate
from memory.fact import Fact, Origin, State
from memory.features.nights.consolidation.contradictions import ALIKE
from memory.features.nights.consolidation.cross_project import OtherProjects
from memory.features.nights.consolidation.diff import PlannedNight, written
from memory.features.nights.consolidation.gist import Clusters
from memory.features.nights.consolidation.plan import Rules, plan
from memory.features.nights.consolidation.recurring_subjects import (
    RULES,
    WAS_SAID,
    first_of,
    goes_on_about,
    recurring_subjects,
)
from memory.features.nights.consolidation.shared_wording import saying, wording
from memory.features.nights.consolidation.similarity import LEAST, likenesses, paraphrases
from memory.features.nights.consolidation.snapshot import Snapshot
from memory.features.nights.snapshots import NightInput, Snapshots
from memory.language.common_directions import common_directions, topics, without_common
from memory.language.static_embedding import StaticEmbedding
from memory.ports import SummaryLine, Vector
from memory.scope import Layer, place_of
from memory.settings import NightSettings
from memory.stores.vector_snapshot import vectors_of
from memory.understanding.network import Floats
from memory.understanding.packaged_weights import encoder, reader, recurrence
from memory.understanding.recurring_corrections import Pushback, pushes_back

LEARNT = 200
"""Facts of a project, the newest, whose messages are compared in order to find what recurs."""
MESSAGES = 100
"""Further messages, or pieces of them, the newest, that may bear out what recurs though nothing was learnt of them."""
MANY = 1000
"""Vectors from which on it is worth while to look for those that are kept."""
NICE = 10
"""How far everything else on the machine goes first."""


def plans(
    place: Path | str,
    owners: list[str] | None,
    now: datetime,
    settings: NightSettings,
    since: datetime | None,
    vector_folder: VectorFolder | None = None,
) -> Generator[PlannedNight, Collection[str] | None, None]:
    """The nights of some owners, or of all, of whom there is anything to look at. Of whom there is much, there are
    several: before the next one is asked for, this one is to be written. Vectors that are ``vector_folder`` are not
    made; who asks may send which facts have changed by then, so that the others are not read again."""
    snapshots = Snapshots(place)
    rules = rules_of(settings)
    unread = timedelta(days=settings.preview_days) if settings.preview_days else None
    drafts = timedelta(days=settings.draft_days) if settings.draft_days else None
    # Always the table: it costs nothing, is at hand, and one night compares like another whatever recall uses.
    embedder = StaticEmbedding.load()
    sessions = rules.clusters.candidate_sessions
    for owner in _projects_before_users(snapshots.owners() if owners is None else owners):
        held = _OwnerVectors(
            embedder,
            owner,
            vector_folder if vector_folder is not None and vector_folder.embedder == embedder.name else None,
        )
        looked = snapshots.look(
            owner, now, rules.floor, since, unread, sessions, plain=settings.courtesies, drafts=drafts
        )
        while not looked.nothing:
            snapshot, elsewhere = (
                _snapshot(owner, looked, snapshots, held, sessions),
                _elsewhere(looked, snapshots),
            )
            own = {id: fact for id, fact in elsewhere.facts.items() if fact.owner == owner}
            snapshot = replace(snapshot, facts={**snapshot.facts, **own})
            diff = plan(snapshot, now, rules, lambda: str(uuid.uuid4()), elsewhere)
            reached = looked.fact, looked.passage, looked.unread_upto, looked.heard_upto
            changed = yield PlannedNight(diff, now, len(looked.new), *reached)
            if not looked.more:
                break
            held.forget(changed)
            held.leave(touch.after for change in diff.changes for touch in change.touched)
            looked = snapshots.look(owner, now, rules.floor, sessions=sessions, behind=looked)


@dataclass(frozen=True, slots=True)
class VectorFolder:
    """The folder in which the index keeps the vectors of who has many, and whose they are: ``embedder`` names it."""

    folder: Path
    embedder: str


def rules_of(settings: NightSettings) -> Rules:
    """The settings as a night takes them."""
    return Rules(
        floor=settings.floor,
        days=settings.summaries,
        clusters=Clusters(
            alike=settings.gist.alike,
            facts=settings.gist.facts,
            sessions=settings.gist.sessions,
            corrections=settings.gist.corrections,
            projects=settings.gist.projects,
            candidate_facts=settings.candidates.facts,
            candidate_sessions=settings.candidates.sessions,
            candidate_again=settings.candidates.again,
        ),
    )


class _OwnerVectors:
    """An owner's active facts as far as the nights have come with them, a row for each, and their vectors; and of the
    facts themselves those that were read. What is new is like what was new before."""

    def __init__(self, embedder: StaticEmbedding, owner: str, vector_folder: VectorFolder | None) -> None:
        self._embedder = embedder
        self._owner = owner
        self._vector_folder = vector_folder
        self._vectors = embedder.documents([])
        self.ids: list[str] = []
        self.rows: dict[str, int] = {}
        self._facts: dict[str, Fact] = {}

    def facts(self, ids: Iterable[str], snapshots: Snapshots) -> dict[str, Fact]:
        """Facts by id; unknown ones are left out."""
        wanted = list(ids)
        self._facts.update(snapshots.facts([id for id in wanted if id not in self._facts]))
        return {id: self._facts[id] for id in wanted if id in self._facts}

    def forget(self, changed: Collection[str] | None) -> None:
        """These facts have to be read again; all of them for None."""
        for id in list(self._facts) if changed is None else changed:
            self._facts.pop(id, None)

    @property
    def vectors(self) -> Vector:
        """The vector of each row: zero, which is like nothing, where the fact is active no more."""
        return self._vectors[: len(self.ids)]

    def come(self, texts: Sequence[tuple[str, str]]) -> None:
        """These facts are looked at from now on."""
        fresh = [(id, text) for id, text in texts if id not in self.rows]
        start = len(self.ids)
        self.rows.update((id, row) for row, (id, _) in enumerate(fresh, start))
        self.ids += [id for id, _ in fresh]
        if len(self.ids) > len(self._vectors):
            room = np.zeros((len(self.ids) + start // 2, self._vectors.shape[1]), dtype=np.float32)
            room[:start] = self._vectors[:start]
            self._vectors = room
        self._vectors[start : len(self.ids)] = without_common(self._embed(fresh), common_directions())

    def _embed(self, texts: Sequence[tuple[str, str]]) -> Vector:
        """The vectors of some facts. An owner's whole year takes seconds to be made, and none to be read."""
        read = None
        if self._vector_folder is not None and len(texts) >= MANY:
            read = vectors_of(self._vector_folder.folder, self._owner, [id for id, _ in texts])
        if read is None:
            return self._embedder.documents([text for _, text in texts])
        vectors, there = read
        missing = np.flatnonzero(~there)
        vectors[missing] = self._embedder.documents([texts[row][1] for row in missing.tolist()])
        return vectors

    def leave(self, changed: Iterable[Fact | None]) -> None:
        """Facts have changed: those that are not active any more are like nothing that comes."""
        for fact in changed:
            if fact is not None and fact.state is not State.ACTIVE and fact.id in self.rows:
                self._vectors[self.rows[fact.id]] = 0.0


def _snapshot(owner: str, looked: NightInput, snapshots: Snapshots, held: _OwnerVectors, sessions: int) -> Snapshot:
    held.come(looked.texts)
    rows = sorted(held.rows[id] for id in looked.new if id in held.rows)
    near = likenesses(held.ids, held.vectors, rows, LEAST)
    pairs = [pair for pair in near if pair.cosine >= ALIKE]
    place = place_of(owner)
    of_a_project = place is not None and place[1] is Layer.USER_PROJECT
    # Of a backlog of many nights only the last one: what goes on comes again.
    grouping = of_a_project and not looked.more and bool(looked.new or looked.beside)
    candidates = snapshots.candidates(owner) if grouping else []
    recent = [*(id for id, _ in looked.beside), *held.ids[-LEARNT:]] if grouping else []
    wanted = dict.fromkeys(
        [
            *looked.fading,
            *looked.drafts,
            *looked.rules,
            *(id for pair in near for id in (pair.one, pair.other)),
            *recent,
            *(id for each in candidates for id in each.evidence),
        ]
    )
    facts = {id: fact for id, fact in held.facts(wanted, snapshots).items() if fact.owner == owner}
    silenced = snapshots.silenced(list(facts.values()))
    facts = {id: fact for id, fact in facts.items() if id not in silenced}
    said_by = snapshots.repetitions(
        [id for fact in facts.values() if _may_be_a_rule(fact, sessions) for id in (fact.id, *fact.derived_from)]
    )
    lines: dict[date, list[SummaryLine]] = {}
    for line in looked.lines:
        lines.setdefault(line.day, []).append(line)
    oldest = [id for each in candidates for id in first_of(each.evidence, facts)]
    messages = snapshots.messages(owner, list(dict.fromkeys([*oldest, *recent])), MESSAGES) if grouping else []
    subjects = recurring_subjects(messages, facts, _compared, _pushes_back, sessions)
    return Snapshot(
        owner,
        facts,
        [pair for pair in pairs if pair.one in facts and pair.other in facts],
        looked.active,
        looked.derived,
        looked.fading,
        looked.said,
        looked.learned,
        lines,
        looked.unread,
        said_by,
        looked.heard,
        paraphrases(facts, [pair for pair in near if pair.cosine < ALIKE], encoder()),
        looked.drafts,
        subjects,
        candidates,
        {each.ids[0]: _wording(each.ids, facts, candidates, snapshots) for each in subjects},
    )


def _compared(messages: Sequence[Pushback]) -> Floats:
    return recurrence().log_odds(messages, topics)


def _pushes_back(message: Pushback) -> bool:
    return pushes_back(reader().read(message.said, message.before))


def _wording(
    ids: Sequence[str], facts: Mapping[str, Fact], candidates: Sequence[Candidate], snapshots: Snapshots
) -> str:
    """In which words a rule is put forward that some facts bear out, beside those that bore it out before."""
    known = [id for each in candidates if goes_on_about(ids, each.evidence, facts) for id in each.evidence]
    about = [id for id in dict.fromkeys([*ids, *known]) if id in facts and facts[id].state in WAS_SAID]
    if any(facts[id].origin is Origin.PERSON for id in about):
        # Who has put one of them in other words themselves is not told the old ones.
        return ""
    read = reader()
    return wording([saying(read.read(said, before), before) for said, before in snapshots.sayings(about)], read.core)


def _may_be_a_rule(fact: Fact, sessions: int) -> bool:
    """Whether a fact, or what it stands for, may have been said in so many sessions."""
    return fact.kind in RULES and (fact.sessions >= sessions or bool(fact.supersedes or fact.derived_from))


def _projects_before_users(owners: Iterable[str]) -> list[str]:
    """Projects before their users. What a person has approved for others is left to persons: no night touches it."""
    turns = (Layer.USER_PROJECT, Layer.USER)
    places = {owner: place[1] for owner in owners if (place := place_of(owner)) is not None}
    return [owner for turn in turns for owner, layer in places.items() if layer is turn]


def _elsewhere(looked: NightInput, snapshots: Snapshots) -> OtherProjects:
    if not looked.elsewhere_new:
        return OtherProjects()
    ids = [id for id, _ in looked.elsewhere]
    vectors = topics([text for _, text in looked.elsewhere])
    near = likenesses(ids, vectors, [row for row, id in enumerate(ids) if id in looked.elsewhere_new], LEAST)
    facts = snapshots.facts(list(dict.fromkeys(id for pair in near for id in (pair.one, pair.other))))
    there = [pair for pair in near if pair.one in facts and pair.other in facts]
    far = [pair for pair in there if pair.cosine < ALIKE]
    return OtherProjects(facts, [pair for pair in there if pair.cosine >= ALIKE], paraphrases(facts, far, encoder()))


def main() -> None:
    """Plan what standard input asks for."""
    if hasattr(os, "nice"):  # not on Windows
        os.nice(NICE)
    # An owner's year is hundreds of thousands of objects, in no circle: to look for circles among them, again and
    # again, takes a good part of a night.
    gc.disable()
    job = orjson.loads(sys.stdin.buffer.readline())
    since = datetime.fromisoformat(job["since"]) if job["since"] else None
    now = datetime.fromisoformat(job["now"])
    settings = NightSettings.model_validate(job["settings"])
    vector_folder = VectorFolder(Path(job["kept"]["folder"]), job["kept"]["embedder"]) if job["kept"] else None
    out = sys.stdout.buffer
    place = job["url"] if "url" in job else Path(job["path"])
    planning = plans(place, job["owners"], now, settings, since, vector_folder)
    with contextlib.suppress(StopIteration):
        planned = next(planning)
        while True:
            body = written(planned)
            out.write(b"%d\n" % len(body) + body)
            out.flush()
            line = sys.stdin.buffer.readline()
            if not line:
                return  # nobody waits for more
            planned = planning.send(orjson.loads(line))


if __name__ == "__main__":
    main()
