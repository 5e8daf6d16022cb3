"""Where in a repository something was learnt, and what of its code a text cites. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class CitationKind(StrEnum):
    """What is cited."""

    FILE = "file"
    SYMBOL = "symbol"
    COMMAND = "command"
    PORT = "port"
    VERSION = "version"


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in the code that a text names.

    ``file`` is where it was found when the text was learnt (relative to the checkout; a cited file is its own),
    ``line`` the line of it that the text names, counted from 1, ``mark`` a hash of what was cited there: of the line
    where one is named, else of the whole file. ``seen``: it was there. What was not is awaited, and ``file`` is then
    where it lies without being in any commit yet; ``at`` is the commit that it was seen in when it was awaited before.
    """

    sort: CitationKind
    name: str
    file: str = ""
    line: int = 0
    mark: str = ""
    seen: bool = False
    at: str = ""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checkout as it stood at a moment. ``repository`` is the folder beside whose ``.git`` all of its worktrees are
    kept; ``branch`` is empty where none is checked out, ``commit`` where there is none yet; ``staged``: the branch is
    not the one that work is merged into, so that what is learnt on it does not hold for the project yet."""

    repository: str
    branch: str = ""
    commit: str = ""
    staged: bool = False


class BranchStage(StrEnum):
    """What has become of a branch."""

    OPEN = "open"
    MERGED = "merged"
    REVERTED = "reverted"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch on which something was learnt: its newest commit, the one that it began at, and since when it is in its
    stage."""

    repository: str
    name: str
    tip: str
    base: str
    stage: BranchStage
    since: datetime


@dataclass(frozen=True, slots=True)
class LearnedAt:
    """Where a memory was learnt. ``anchor`` is the first commit of its branch by which others know it, ``stage`` what
    has become of the branch, ``since`` when. ``looked``: it was looked for what it cites."""

    memory: str
    owner: str
    checkout: Checkout
    anchor: str = ""
    cites: tuple[Citation, ...] = ()
    looked: bool = False
    stage: BranchStage = BranchStage.MERGED
    since: datetime | None = None
