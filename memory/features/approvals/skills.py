"""An approved skill as a file that runtimes load: below the project's folder, versioned, and never over a person's own.

What stood there before is kept beside it (``earlier/v1.md``); taking the approval back brings it back. A skill that is
retired is kept there, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from memory.candidate import Candidate, CandidateDecision, CandidateState, retires
from memory.features.approvals.write_plan import ApprovalRefused, ApprovedFileChange, WritePlan
from memory.learning.behaviour.skills import NoSkill, SkillFrontmatter, head_of, numbered
from memory.ports import PublishedFiles
from memory.scope import Layer, place_of
from memory.settings import ProjectFolder

FILE = "SKILL.md"


WHY = "retired: its steps are not carried through any more"


class Skills:
    """Plans how a skill is written, see :class:`memory.features.approvals.write_plan.Crystallizer`. ``projects`` are
    the folders that persons have named, by the owner of the project."""

    def __init__(self, files: PublishedFiles, projects: Mapping[str, ProjectFolder]) -> None:
        self._files = files
        self._projects = projects

    async def planned(self, candidate: Candidate, retire: bool = False) -> WritePlan:
        files: list[ApprovedFileChange] = []
        for folder, place in self._places(candidate):
            plan = self._changes_taken_back if retire else self._written
            files.extend(await plan(folder, place, candidate.text))
        return WritePlan(tuple(each for each in files if each.before != each.after))

    async def without(self, gone: Candidate) -> tuple[list[ApprovedFileChange], list[str]]:
        """The files without a skill that is forgotten, its earlier versions included, and a sentence about each that
        says something else than what was approved: it is a person's then, and stays.

        Raises:
            NotWritten: when a file cannot be read as it should be.
        """
        try:
            name, project = head_of(gone.text).name, self._project(gone)
        except (NoSkill, ApprovalRefused):
            return [], []
        assert project.folder is not None, "only projects with a folder are named"
        found: list[ApprovedFileChange] = []
        changed: list[str] = []
        for skills in project.skills:
            place = f"{skills}/{name}"
            last = await self._files.read(project.folder, f"{place}/{FILE}")
            held = _frontmatter(last or "").version
            newest = held - 1 if last is not None else await self._newest_kept_version(project.folder, place)
            copies = [f"{place}/earlier/v{number}.md" for number in range(1, newest + 1)]
            for file in [f"{place}/{FILE}", *copies] if held or last is None else []:
                text = await self._files.read(project.folder, file)
                if text is not None and text == numbered(gone.text, _frontmatter(text).version):
                    found.append(ApprovedFileChange(project.folder, file, text, None))
                elif file not in copies and text is not None:
                    warning = "says something else than was approved: look whether what is forgotten stands in it"
                    changed.append(f"{project.folder / file} {warning}")
        return found, changed

    async def set_aside(self, skill: Candidate) -> tuple[list[ApprovedFileChange], list[str]]:
        """The files without a skill, which is kept as the newest of its earlier versions, and a sentence about each
        that says something else than what was approved: it is left as it is.

        Raises:
            Refused: when the skill has no folder.
            NotWritten: when a file cannot be read as it should be.
        """
        found: list[ApprovedFileChange] = []
        changed: list[str] = []
        for folder, place in self._places(skill):
            file = f"{place}/{FILE}"
            last = await self._files.read(folder, file)
            held = _frontmatter(last or "").version
            if last is None:
                continue
            if not held or last != numbered(skill.text, held):
                changed.append(f"{folder / file} says something else than was approved: it is left as it is")
                continue
            copy = f"{place}/earlier/v{held}.md"
            found.append(ApprovedFileChange(folder, file, last, None))
            found.append(ApprovedFileChange(folder, copy, await self._files.read(folder, copy), last))
        return found, changed

    async def brought_back(self, skill: Candidate) -> list[ApprovedFileChange]:
        """The files with a skill that was set aside.

        Raises:
            Refused: when another skill stands there by now, or the skill has no folder.
            NotWritten: when a file cannot be read as it should be.
        """
        found: list[ApprovedFileChange] = []
        for folder, place in self._places(skill):
            file = f"{place}/{FILE}"
            if await self._files.read(folder, file) is not None:
                raise ApprovalRefused(f"{folder / file} is there: it was written since")
            newest = await self._newest_kept_version(folder, place)
            copy = f"{place}/earlier/v{newest}.md"
            last = await self._files.read(folder, copy) if newest else None
            if last is not None and last == numbered(skill.text, newest):
                found += [ApprovedFileChange(folder, file, None, last), ApprovedFileChange(folder, copy, last, None)]
            else:
                found.append(ApprovedFileChange(folder, file, None, numbered(skill.text, newest + 1)))
        return found

    def _places(self, skill: Candidate) -> list[tuple[Path, str]]:
        """Where a skill is written: the project's folder, and the skill's own below it."""
        try:
            name = head_of(skill.text).name
        except NoSkill as error:
            raise ApprovalRefused(str(error)) from None
        project = self._project(skill)
        assert project.folder is not None, "only projects with a folder are named"
        return [(project.folder, f"{skills}/{name}") for skills in project.skills]

    async def _newest_kept_version(self, folder: Path, place: str) -> int:
        """The number of the newest of the earlier versions that are kept; 0 where there is none."""
        number = 0
        while await self._files.read(folder, f"{place}/earlier/v{number + 1}.md") is not None:
            number += 1
        return number

    def _project(self, candidate: Candidate) -> ProjectFolder:
        if candidate.layer is not Layer.PROJECT:
            raise ApprovalRefused("a skill is written into a project's folder: approve it for the project")
        found = place_of(candidate.owner)
        owner = found[0].owner(Layer.PROJECT) if found else None
        project = self._projects.get(owner) if owner else None
        if project is None or project.folder is None:
            name = found[0].project if found and found[0].project else "NAME"
            raise ApprovalRefused(f"name the project's folder in the settings first (projects.{name}.folder)")
        if not project.skills:
            raise ApprovalRefused("the settings name no folder of skills for this project (projects.….skills)")
        return project

    async def _written(self, folder: Path, place: str, text: str) -> list[ApprovedFileChange]:
        before = await self._files.read(folder, f"{place}/{FILE}")
        if before is None:
            version = await self._newest_kept_version(folder, place) + 1
            return [ApprovedFileChange(folder, f"{place}/{FILE}", None, numbered(text, version))]
        held = _frontmatter(before)
        if held.version == 0:
            raise ApprovalRefused(f"{folder / place / FILE} is a skill that somebody else wrote; it is left as it is")
        if before == numbered(text, held.version):
            return []
        copy = f"{place}/earlier/v{held.version}.md"
        return [
            ApprovedFileChange(folder, f"{place}/{FILE}", before, numbered(text, held.version + 1)),
            ApprovedFileChange(folder, copy, await self._files.read(folder, copy), before),
        ]

    async def _changes_taken_back(self, folder: Path, place: str, _: str) -> list[ApprovedFileChange]:
        before = await self._files.read(folder, f"{place}/{FILE}")
        if before is None:
            return []
        held = _frontmatter(before)
        if held.version == 0:
            raise ApprovalRefused(f"{folder / place / FILE} is a skill that somebody else wrote; it is left as it is")
        copy = f"{place}/earlier/v{held.version - 1}.md"
        earlier = await self._files.read(folder, copy) if held.version > 1 else None
        changes = [ApprovedFileChange(folder, f"{place}/{FILE}", before, earlier)]
        if earlier is not None:
            changes.append(ApprovedFileChange(folder, copy, earlier, None))
        return changes


def _frontmatter(text: str) -> SkillFrontmatter:
    """The frontmatter of a file that stands there; of one that cannot be read nobody says that we made it."""
    try:
        return head_of(text)
    except NoSkill:
        return SkillFrontmatter("", "")


class KnownCandidates(Protocol):
    """What this needs of the journal."""

    async def candidates(
        self, owners: Sequence[str], states: Collection[CandidateState] = frozenset(CandidateState)
    ) -> list[Candidate]:
        """The candidates of some owners."""


class Retirements:
    """Plans how a skill is retired, see :class:`memory.features.approvals.write_plan.Crystallizer`. The skill waits for
    the person again when more sessions bear it out."""

    def __init__(self, journal: KnownCandidates, skills: Skills) -> None:
        self._journal = journal
        self._skills = skills

    async def planned(self, candidate: Candidate, retire: bool = False) -> WritePlan:
        every = await self._journal.candidates([candidate.owner])
        skill = next((each for each in every if each.id == retires(candidate)), None)
        if skill is None:
            raise ApprovalRefused("the skill that it would retire is not there any more")
        if (candidate.text, candidate.layer) != (skill.text, skill.layer):
            raise ApprovalRefused("a skill is retired as it was approved: there is nothing to put in other words")
        if retire:
            files = await self._skills.brought_back(skill)
            return WritePlan(tuple(files), decided=(CandidateDecision(skill, CandidateState.APPROVED),))
        if CandidateState.APPROVED not in (skill.state, candidate.state):
            raise ApprovalRefused(f"the skill is not approved, it is {skill.state}: there is nothing to retire")
        changes, left = await self._skills.set_aside(skill)
        return WritePlan(tuple(changes), tuple(left), decided=(CandidateDecision(skill, CandidateState.DEFERRED, WHY),))
