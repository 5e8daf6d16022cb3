"""Where memories were learnt, in the journal's database: checkouts, what is cited of them, and branches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from memory.checkout import Branch, BranchStage, Checkout, Citation, CitationKind, LearnedAt
from memory.fact import Fact, Passage
from memory.ports import Lesson
from memory.stores.base import JournalPart, ask_many
from memory.stores.connection import Connection, Row
from memory.stores.messages import Redact
from memory.stores.queries import QUERIES
from memory.stores.rows import fact_of, stamp, when

MOST_BRANCHES = 200
"""Branches of a repository that are followed."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many facts were learnt on a branch, and what has become of it."""

    repository: str
    branch: str
    staged: bool
    facts: int
    stage: BranchStage
    since: datetime | None


class CheckoutStore(JournalPart):
    """The part of the journal that knows where memories were learnt."""

    async def learnt(self, memories: Sequence[str]) -> dict[str, LearnedAt]:
        """Where memories were learnt, by their ids, as far as that is known."""

        def work(connection: Connection) -> dict[str, LearnedAt]:
            if self._db.empty("checkouts", connection):
                return {}
            return {row["memory"]: _learnt_of(row) for row in ask_many(connection, "checkouts_of", memories)}

        return await self._few(work, len(memories))

    async def unlooked(self, repository: str, limit: int) -> list[tuple[str, str]]:
        """Memories of a repository of which nobody has looked for what they cite: id and text; facts first, the newest
        first."""
        return await self._rows("checkouts_unlooked", lambda row: (row["memory"], row["text"]), repository, limit)

    async def looked(self, cited: Mapping[str, Sequence[Citation]]) -> None:
        """Write what memories cite."""
        rows = [(self._redact(cites_text(cites)), _cites_unseen(cites), memory) for memory, cites in cited.items()]
        await self._db.write(lambda connection: connection.executemany(QUERIES["checkout_looked"], rows))

    async def awaiting(self, repository: str, limit: int) -> list[LearnedAt]:
        """Memories in use that name what their repository does not hold yet: facts first, the newest first."""
        return await self._rows("checkouts_awaiting", _learnt_of, repository, limit)

    async def learnt_anew(self, learnt: Sequence[LearnedAt]) -> None:
        """Write where memories were seen now, instead of what was known of that."""
        rows = [_row(each, self._redact) for each in learnt]
        await self._db.write(lambda connection: connection.executemany(QUERIES["checkout_anew"], rows))

    async def observed_in_files(self, owner: str, repository: str) -> list[Fact]:
        """What holds of what the files of an owner's repository say."""
        return await self._rows("checkouts_observed", fact_of, owner, repository)

    async def branches(self, repository: str) -> list[Branch]:
        """The branches of a repository on which something was learnt; those that nobody has looked at are open."""

        def work(connection: Connection) -> list[Branch]:
            rows = connection.execute(QUERIES["branches_in"], (repository, MOST_BRANCHES))
            never = datetime.min.replace(tzinfo=UTC)
            return [
                Branch(
                    repository,
                    row["name"],
                    row["tip"],
                    row["base"],
                    BranchStage(row["stage"]),
                    when(row["since"]) or never,
                )
                for row in rows
            ]

        return await self._db.read(work)

    async def anchors(self, repository: str, branch: str) -> list[tuple[str, str, str]]:
        """What was learnt on a branch: id, the commit then, and the one by which others know it, if there is one."""
        return await self._rows(
            "checkouts_on", lambda row: (row["memory"], row["commit_id"], row["anchor"]), repository, branch
        )

    async def follow(
        self,
        branches: Sequence[Branch],
        renamed: Mapping[str, str],
        ended: Mapping[str, tuple[str, Sequence[str]]],
        anchors: Mapping[str, str],
        repository: str,
    ) -> frozenset[str]:
        """Write what has become of branches of a repository: first their new names (``renamed``, old to new), then
        what those are called that are ``ended`` (by the old name the new one, and the commits of the branch that has
        the old one now), then the commits by which memories are known elsewhere (``anchors``); whose memories that
        concerns."""

        def work(connection: Connection) -> frozenset[str]:
            for old, new in renamed.items():
                connection.execute(QUERIES["checkout_renamed"], (self._redact(new), repository, old))
                connection.execute(QUERIES["branch_drop"], (repository, old))
            for old, (new, own) in ended.items():
                moved = (self._redact(new), repository, old, orjson.dumps([*own]).decode())
                connection.execute(QUERIES["checkout_ended"], moved)
            connection.executemany(QUERIES["checkout_anchored"], [(to, memory) for memory, to in anchors.items()])
            owners: set[str] = set()
            for each in branches:
                rows = (
                    each.repository,
                    self._redact(each.name),
                    each.tip,
                    each.base,
                    each.stage.value,
                    stamp(each.since),
                )
                connection.execute(QUERIES["branch_write"], rows)
                found = connection.execute(QUERIES["checkouts_owners"], (each.repository, each.name))
                owners.update(row["owner"] for row in found)
            return frozenset(owners)

        return await self._db.write(work)

    async def learnt_on(self, branch: str, owners: Sequence[str], limit: int) -> list[str]:
        """Ids of the facts of some owners that were learnt on a branch, the newest first."""
        return await self._rows("checkouts_branch", lambda row: row["memory"], branch, limit, owners=owners)

    async def counted(self, owners: Sequence[str], limit: int) -> list[Counted]:
        """The branches on which facts of some owners were learnt, the newest first."""
        return await self._rows(
            "checkouts_counted",
            lambda row: Counted(
                row["repository"],
                row["branch"],
                bool(row["staged"]),
                row["facts"],
                _stage_of(row),
                when(row["since"]),
            ),
            limit,
            owners=owners,
        )

    async def learnt_after(self, owner: str, after: str, limit: int) -> list[LearnedAt]:
        """An owner's memories that were learnt in a checkout, behind an id, in the order of the ids."""
        return await self._rows("checkouts_after", _learnt_of, owner, after, limit)

    async def learn_where(self, learnt: LearnedAt) -> bool:
        """Write where a memory was learnt; whether that was not known."""

        def work(connection: Connection) -> bool:
            return connection.execute(QUERIES["checkout_write"], _row(learnt, self._redact)).rowcount > 0

        return await self._db.write(work)


def write_checkout(connection: Connection, lesson: Lesson, at: Checkout, redact: Redact) -> None:
    """Write where the new memories of a lesson were learnt, in a transaction that is under way. What was learnt on a
    branch and is said again elsewhere holds there too."""
    memories: tuple[Fact | Passage, ...] = (*lesson.facts, *lesson.passages)
    for memory in memories:
        if (staged := lesson.learnt.get(memory.id)) is not None:
            here = Checkout(at.repository, at.branch, at.commit, staged)
            connection.execute(QUERIES["checkout_write"], _row(LearnedAt(memory.id, memory.owner, here), redact))
    again = [(use.memory, at.repository, redact(at.branch)) for use in lesson.uses if use.said]
    connection.executemany(QUERIES["checkout_said_elsewhere"], again)


def forget_checkouts(connection: Connection, memories: Sequence[str]) -> None:
    """Let go of where these memories were learnt, and of branches on which nothing else was."""
    connection.executemany(QUERIES["forget_checkout"], [(id,) for id in memories])
    connection.execute(QUERIES["forget_branches"])


def cites_text(cites: Sequence[Citation]) -> str:
    """Citations for their column."""
    rows = [[each.sort, each.name, each.file, each.line, each.mark, each.seen, each.at] for each in cites]
    return orjson.dumps([row if row[-1] else row[:-1] for row in rows]).decode()


def cites_of(text: str) -> tuple[Citation, ...]:
    """The inverse of :func:`cites_text`."""
    cites = orjson.loads(text) if text != "[]" else ()
    return tuple(Citation(CitationKind(sort), *rest) for sort, *rest in cites)


def _cites_unseen(cites: Sequence[Citation]) -> bool:
    return not all(each.seen for each in cites)


def _row(learnt: LearnedAt, redact: Redact) -> tuple[Any, ...]:
    at = learnt.checkout
    cites = redact(cites_text(learnt.cites))
    branch = redact(at.branch)
    known = cites, learnt.anchor, learnt.looked, _cites_unseen(learnt.cites)
    return learnt.memory, learnt.owner, at.repository, branch, at.commit, at.staged, *known


def _stage_of(row: Row) -> BranchStage:
    """What has become of the branch: of one that nobody has looked at nothing yet."""
    return (BranchStage(row["stage"]) if row["stage"] else BranchStage.OPEN) if row["staged"] else BranchStage.MERGED


def _learnt_of(row: Row) -> LearnedAt:
    return LearnedAt(
        row["memory"],
        row["owner"],
        Checkout(row["repository"], row["branch"], row["commit_id"], bool(row["staged"])),
        row["anchor"],
        cites_of(row["cites"]),
        bool(row["looked"]),
        _stage_of(row),
        when(row["since"]),
    )
