"""What a project has approved, given out as a file for its repository, and what others' file says, taken as proposals.

Nothing of such a file is believed: whoever can open a pull request can write there. A line becomes a candidate, by the
name of who committed it, and no more until a person approves it; what that person has forgotten or rejected before is
not asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from memory.candidate import Candidate, CandidateState, Proposal, proposed
from memory.fact import Fact, MemoryTier
from memory.features.checkouts import files
from memory.features.checkouts.git import committers
from memory.features.checkouts.sight import CheckoutWatcher
from memory.features.checkouts.tracked import NAME, Line, Rule, Written, parsed, visible, written
from memory.hooks.route_request import RouteRefused
from memory.learning.redact import redact
from memory.learning.shared_line import line
from memory.learning.tombstones import tombstone_of
from memory.scope import Layer, Scope

MOST: Final = 50
"""Proposals that are put forward at a time."""
DEEPEST: Final = 40
NOT_COMMITTED: Final = "somebody, not committed yet"


class SharingJournal(Protocol):
    """What this needs of the journal."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]: ...
    async def shared(self, owner: str) -> list[Fact]: ...
    async def propose(self, owner: str, proposals: Sequence[Proposal], at: datetime) -> list[str]: ...
    async def candidates(
        self, owners: Sequence[str], states: frozenset[CandidateState] = frozenset(CandidateState)
    ) -> list[Candidate]: ...
    async def is_forgotten(self, hashes: Sequence[bytes]) -> frozenset[bytes]: ...
    def key(self) -> bytes: ...


class NotTracked(RouteRefused):
    """There is no such file; the message says why."""


@dataclass(slots=True)
class Taken:
    """What became of a file's lines: what is ``proposed`` now, each with its words and who committed them; how many are
    rules already (``known``), were ``proposed before``, or forgotten; and how many more there are to propose."""

    proposed: list[tuple[str, str]] = field(default_factory=list)
    known: int = 0
    before: int = 0
    forgotten: int = 0
    more: int = 0


class Sharing:
    """Gives out and takes in."""

    def __init__(self, journal: SharingJournal, sight: CheckoutWatcher, new_id: Callable[[], str]) -> None:
        self._journal = journal
        self._sight = sight
        self._new_id = new_id

    async def given_out(self, scope: Scope, text: str) -> tuple[Written, int]:
        """The file with what is approved for a project, and how much that is. ``text`` is what it says now."""
        rules, _ = await self._rules(scope)
        ids = [each.id for each in parsed(text)]
        known = [fact.id for fact in await self._journal.facts(ids, [_shared(scope)]) if fact.tier is MemoryTier.SHARED]
        ended = frozenset(known) - {rule.id for rule in rules}
        return written(rules, ended, text), len(rules)

    async def take(self, scope: Scope, folder: str, now: datetime, dry: bool) -> Taken:
        """Propose what a folder's file says.

        Raises:
            NotTracked: when there is none that may be read.
        """
        root, path = placed(folder)
        if not files.allowed(root, self._sight.folders):
            raise NotTracked(f"{root} is no checkout of yours, or not below memory.checkouts.folders")
        content, who = await self._sight.run_git(partial(_read, root, path))
        owner, shared = scope.owner(Layer.USER_PROJECT), _shared(scope)
        if owner is None:
            raise NotTracked("there is no user to whom it could be proposed")
        rules, facts = await self._rules(scope)
        held, lines = {rule.id: rule for rule in rules}, content.splitlines()
        said = {rule.said.casefold() for rule in rules}
        taken, proposals = Taken(), list[tuple[Proposal, str]]()
        marks = {each.mark for each in await self._journal.candidates([owner])}
        for each in parsed(content):
            rule = held.get(each.id)
            by = who.get(lines[each.number - 1], NOT_COMMITTED)
            old = facts[each.id] if rule is not None else ""
            proposal = proposed(self._new_id(), each.id, redact(each.said).text, by, old, rule.said if rule else "")
            if each.said.casefold() in said:
                taken.known += 1
            elif proposal.mark in marks:
                taken.before += 1
            elif await self._buried(each, (owner, shared)):
                taken.forgotten += 1
            else:
                proposals.append((proposal, by))
        taken.more = max(len(proposals) - MOST, 0)
        taken.proposed = [(proposal.title, by) for proposal, by in proposals[:MOST]]
        if not dry:
            await self._journal.propose(owner, [proposal for proposal, _ in proposals[:MOST]], now)
        return taken

    async def _rules(self, scope: Scope) -> tuple[list[Rule], dict[str, str]]:
        """What is approved, and by the id that stays the id of the fact that says it now."""
        owner = _shared(scope)
        rules: list[Rule] = []
        facts: dict[str, str] = {}
        for fact in await self._journal.shared(owner):
            first, before = fact, set[str]()
            while ended := [
                each
                for each in await self._journal.facts(first.supersedes, [owner])
                if each.tier is MemoryTier.SHARED and each.text not in before
            ]:
                first = ended[0]
                before.add(visible(line(first)))
            rules.append(Rule(first.id, visible(line(fact)), fact.kind, frozenset(before)))
            facts[first.id] = fact.id
        return rules, facts

    async def _buried(self, each: Line, owners: Sequence[str]) -> bool:
        key = self._journal.key()
        return bool(await self._journal.is_forgotten([tombstone_of(key, owner, each.said) for owner in owners]))


def placed(folder: str) -> tuple[str, str]:
    """The checkout that a folder lies in, and the file's path in it.

    Raises:
        NotTracked: when it lies in none.
    """
    at = Path(folder)
    if at.is_absolute() and ".." not in at.parts:
        for root in (at, *at.parents)[:DEEPEST]:
            if (root / ".git").exists():
                return str(root), str((at / NAME).relative_to(root))
    raise NotTracked(f"{folder} lies in no git checkout on the machine that the server runs on")


def _read(root: str, path: str) -> tuple[str, dict[str, str]]:
    try:
        content = files.read(root, path)
    except OSError as error:
        raise NotTracked(f"{path} cannot be read: {error.strerror}") from None
    if content is None:
        raise NotTracked(f"there is no {path} in {root} that could be read")
    return content.decode("utf-8", "replace"), dict(committers(root, path))


def _shared(scope: Scope) -> str:
    owner = scope.owner(Layer.PROJECT)
    if owner is None:
        raise NotTracked("there is no project: run it in the project's folder, or say --project")
    return owner
