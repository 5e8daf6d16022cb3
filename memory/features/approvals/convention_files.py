"""Where the files lie that shared knowledge is written into, and what may stand in a line of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from memory.candidate import Candidate
from memory.fact import Sensitivity
from memory.features.approvals.write_plan import ApprovalRefused
from memory.learning.redact import redact
from memory.learning.sensitivity import sensitivity
from memory.scope import Layer, place_of
from memory.settings import ProjectFolder

MAX_RULE_CHARS = 1000
"""Characters of a rule."""


@dataclass(frozen=True, slots=True)
class ConventionFile:
    """The file that an owner's shared facts are written into: a name below a folder."""

    folder: Path
    name: str


def checked(text: str) -> str:
    """A rule's text, on one line and without secrets.

    Raises:
        ApprovalRefused: when it is empty, too long, or nobody else's business.
    """
    words_said = " ".join(redact(text).text.split())
    if not words_said:
        raise ApprovalRefused("a rule needs a text")
    if len(words_said) > MAX_RULE_CHARS:
        raise ApprovalRefused(f"a rule has {MAX_RULE_CHARS} characters at most; this has {len(words_said)}")
    if (how := sensitivity(words_said)) is not Sensitivity.NORMAL:
        raise ApprovalRefused(
            f"this is {how.value} and stays with you; put it in other words with --text if others shall know"
        )
    return words_said


def places(projects: Mapping[str, ProjectFolder], pages: Path) -> Callable[[str], ConventionFile | None]:
    """Where the shared facts of an owner are written: a project's file where its folder is configured (by owner), an
    organisation's page below the folder of the pages."""

    def place(owner: str) -> ConventionFile | None:
        found = place_of(owner)
        if found is not None and found[1] is Layer.ORG:
            # The @ keeps it apart from the folders of users; a key has no character that a file's name may not have.
            return ConventionFile(pages, f"@{owner.removeprefix('o:')}/ORG.md")
        project = projects.get(owner)
        return ConventionFile(project.folder, project.conventions) if project and project.folder else None

    return place


def shared_owner(candidate: Candidate) -> str:
    """The owner for whom a candidate is approved."""
    found = place_of(candidate.owner)
    owner = found[0].owner(candidate.layer) if found and candidate.layer in (Layer.PROJECT, Layer.ORG) else None
    if owner is None:
        missing = "organisation (the setting `org`)" if candidate.layer is Layer.ORG else "project"
        raise ApprovalRefused(f"there is no {missing} for whom this could be approved")
    return owner


def no_folder(candidate: Candidate) -> str:
    """That a candidate is written into no file, as a note."""
    found = place_of(candidate.owner)
    project = found[0].project if found else ""
    return f"it is written into no file: the settings name no folder for it (projects.{project}.folder)"
