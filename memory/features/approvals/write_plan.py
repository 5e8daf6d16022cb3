"""What approving a candidate would write, as a value that can be shown first: facts, decisions, files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Protocol

from memory.candidate import Candidate, CandidateDecision, Proposal
from memory.fact import Fact
from memory.hooks.route_request import RouteRefused


class ApprovalRefused(RouteRefused):
    """It cannot be approved, or taken back, as it is; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class ApprovedFileChange:
    """A file below ``folder``, as it is and as it will be; None where there is none."""

    folder: Path
    name: str
    before: str | None
    after: str | None

    @property
    def file(self) -> Path:
        """The whole path."""
        return self.folder / self.name

    @property
    def diff(self) -> str:
        """What changes, as a unified diff."""
        before, after = (_lines(text) for text in (self.before, self.after))
        return "".join(unified_diff(before, after, str(self.file), str(self.file), n=2))


@dataclass(frozen=True, slots=True)
class WritePlan:
    """What is going to be written.

    ``made`` are new facts, ``changed`` others as they become, ``decided`` what becomes of other candidates beside the
    one at hand, ``fact`` the shared fact that it becomes. ``proposals`` are what somebody did to the file, which is
    asked for by itself. ``notes`` tell in sentences what else a person should know.
    ``owner`` is whose file it is, ``standing`` the facts whose lines stand in it afterwards.
    """

    files: tuple[ApprovedFileChange, ...] = ()
    notes: tuple[str, ...] = ()
    made: tuple[Fact, ...] = ()
    changed: tuple[Fact, ...] = ()
    decided: tuple[CandidateDecision, ...] = ()
    fact: str = ""
    owner: str = ""
    standing: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()


class Crystallizer(Protocol):
    """Knows into what an approved candidate of a kind is written."""

    async def planned(self, candidate: Candidate, retire: bool = False) -> WritePlan:
        """What approving it would write, its text and its layer as they are given, or, with ``retire``, taking the
        approval back. Writes nothing.

        Raises:
            Refused: when that cannot be done.
            NotWritten: when a file cannot be read as it should be.
        """


def mark_of(candidate: Candidate, writing: WritePlan, retire: bool) -> str:
    """A name for exactly this, so that what is written is what was shown."""
    parts: Iterable[str] = (
        *(candidate.id, candidate.state, candidate.text, candidate.layer, str(retire), *writing.notes),
        *(f"{each.file}\0{each.before}\0{each.after}" for each in writing.files),
    )
    return hashlib.blake2b("\0\0".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _lines(text: str | None) -> list[str]:
    lines = (text or "").splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ no line end\n"
    return lines
