"""An approved skill as a file that runtimes load: below the project's folder, versioned, and never over a person's own.

What stood there before is kept beside it (``earlier/v1.md``); taking the approval back brings it back. A skill that is
retired is kept there, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memory.candidate import Candidate
from memory.day.approval.writing import FileChange, Refused, Writing
from memory.learning.behaviour.skills import Head, NoSkill, head_of, numbered
from memory.ports import LastingFiles
from memory.scope import Layer, place_of
from memory.settings import ProjectFolder

FILE = "SKILL.md"


class Skills:
    """Plans how a skill is written, see :class:`memory.day.approval.writing.Crystallizer`. ``projects`` are the folders
    that persons have named, by the owner of the project."""

    def __init__(self, files: LastingFiles, projects: Mapping[str, ProjectFolder]) -> None:
        self._files = files
        self._projects = projects

    async def planned(self, candidate: Candidate, retire: bool = False) -> Writing:
        """See :class:`memory.day.approval.writing.Crystallizer`."""
        files: list[FileChange] = []
        for folder, place in self._places(candidate):
            plan = self._taken_back if retire else self._written
            files.extend(await plan(folder, place, candidate.text))
        return Writing(tuple(each for each in files if each.before != each.after))

    async def without(self, gone: Candidate) -> tuple[list[FileChange], list[str]]:
        """The files without a skill that is forgotten, its earlier versions included, and a sentence about each that
        says something else than what was approved: it is a person's then, and stays.

        Raises:
            NotWritten: when a file cannot be read as it should be.
        """
        try:
            name, project = head_of(gone.text).name, self._project(gone)
        except (NoSkill, Refused):
            return [], []
        assert project.folder is not None, "only projects with a folder are named"
        found: list[FileChange] = []
        changed: list[str] = []
        for skills in project.skills:
            place = f"{skills}/{name}"
            last = await self._files.read(project.folder, f"{place}/{FILE}")
            held = _head(last or "").version
            newest = held - 1 if last is not None else await self._newest(project.folder, place)
            kept = [f"{place}/earlier/v{number}.md" for number in range(1, newest + 1)]
            for file in [f"{place}/{FILE}", *kept] if held or last is None else []:
                text = await self._files.read(project.folder, file)
                if text is not None and text == numbered(gone.text, _head(text).version):
                    found.append(FileChange(project.folder, file, text, None))
                elif file not in kept and text is not None:
                    told = "says something else than was approved: look whether what is forgotten stands in it"
                    changed.append(f"{project.folder / file} {told}")
        return found, changed

    async def set_aside(self, skill: Candidate) -> tuple[list[FileChange], list[str]]:
        """The files without a skill, which is kept as the newest of its earlier versions, and a sentence about each
        that says something else than what was approved: it is left as it is.

        Raises:
            Refused: when the skill has no folder.
            NotWritten: when a file cannot be read as it should be.
        """
        found: list[FileChange] = []
        changed: list[str] = []
        for folder, place in self._places(skill):
            file = f"{place}/{FILE}"
            last = await self._files.read(folder, file)
            held = _head(last or "").version
            if last is None:
                continue
            if not held or last != numbered(skill.text, held):
                changed.append(f"{folder / file} says something else than was approved: it is left as it is")
                continue
            kept = f"{place}/earlier/v{held}.md"
            found.append(FileChange(folder, file, last, None))
            found.append(FileChange(folder, kept, await self._files.read(folder, kept), last))
        return found, changed

    async def brought_back(self, skill: Candidate) -> list[FileChange]:
        """The files with a skill that was set aside.

        Raises:
            Refused: when another skill stands there by now, or the skill has no folder.
            NotWritten: when a file cannot be read as it should be.
        """
        found: list[FileChange] = []
        for folder, place in self._places(skill):
            file = f"{place}/{FILE}"
            if await self._files.read(folder, file) is not None:
                raise Refused(f"{folder / file} is there: it was written since")
            newest = await self._newest(folder, place)
            kept = f"{place}/earlier/v{newest}.md"
            last = await self._files.read(folder, kept) if newest else None
            if last is not None and last == numbered(skill.text, newest):
                found += [FileChange(folder, file, None, last), FileChange(folder, kept, last, None)]
            else:
                found.append(FileChange(folder, file, None, numbered(skill.text, newest + 1)))
        return found

    def _places(self, skill: Candidate) -> list[tuple[Path, str]]:
        """Where a skill is written: the project's folder, and the skill's own below it."""
        try:
            name = head_of(skill.text).name
        except NoSkill as error:
            raise Refused(str(error)) from None
        project = self._project(skill)
        assert project.folder is not None, "only projects with a folder are named"
        return [(project.folder, f"{skills}/{name}") for skills in project.skills]

    async def _newest(self, folder: Path, place: str) -> int:
        """The number of the newest of the earlier versions that are kept; 0 where there is none."""
        number = 0
        while await self._files.read(folder, f"{place}/earlier/v{number + 1}.md") is not None:
            number += 1
        return number

    def _project(self, candidate: Candidate) -> ProjectFolder:
        if candidate.layer is not Layer.PROJECT:
            raise Refused("a skill is written into a project's folder: approve it for the project")
        found = place_of(candidate.owner)
        owner = found[0].owner(Layer.PROJECT) if found else None
        project = self._projects.get(owner) if owner else None
        if project is None or project.folder is None:
            name = found[0].project if found and found[0].project else "NAME"
            raise Refused(f"name the project's folder in the settings first (projects.{name}.folder)")
        if not project.skills:
            raise Refused("the settings name no folder of skills for this project (projects.….skills)")
        return project

    async def _written(self, folder: Path, place: str, text: str) -> list[FileChange]:
        before = await self._files.read(folder, f"{place}/{FILE}")
        if before is None:
            version = await self._newest(folder, place) + 1
            return [FileChange(folder, f"{place}/{FILE}", None, numbered(text, version))]
        held = _head(before)
        if held.version == 0:
            raise Refused(f"{folder / place / FILE} is a skill that somebody else wrote; it is left as it is")
        if before == numbered(text, held.version):
            return []
        kept = f"{place}/earlier/v{held.version}.md"
        return [
            FileChange(folder, f"{place}/{FILE}", before, numbered(text, held.version + 1)),
            FileChange(folder, kept, await self._files.read(folder, kept), before),
        ]

    async def _taken_back(self, folder: Path, place: str, _: str) -> list[FileChange]:
        """The skill without what was approved: as it was before, or gone."""
        before = await self._files.read(folder, f"{place}/{FILE}")
        if before is None:
            return []
        held = _head(before)
        if held.version == 0:
            raise Refused(f"{folder / place / FILE} is a skill that somebody else wrote; it is left as it is")
        kept = f"{place}/earlier/v{held.version - 1}.md"
        earlier = await self._files.read(folder, kept) if held.version > 1 else None
        changes = [FileChange(folder, f"{place}/{FILE}", before, earlier)]
        if earlier is not None:
            changes.append(FileChange(folder, kept, earlier, None))
        return changes


def _head(text: str) -> Head:
    """The frontmatter of a file that stands there; of one that cannot be read nobody says that we made it."""
    try:
        return head_of(text)
    except NoSkill:
        return Head("", "")
