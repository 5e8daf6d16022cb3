"""Habits that are worth a skill: a SKILL.md that a runtime loads, put before a person, who alone can make it one.

The format is that of Agent Skills (agentskills.io), which Claude Code, Codex and opencode read: a folder with the
skill's name, in it a file whose frontmatter has ``name`` and ``description``. A skill says what was observed, in the
commands' shapes; nothing that a tool or a page said stands in it.

An approved skill is to be retired where its habit is none any more, and its steps are begun without being carried
through. That there was no occasion for a skill says nothing against it; that it was left out where there was one does.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory.behaviour import WorkStep
from memory.learning.behaviour.habits import Habits, StepSequence, Trigger
from memory.learning.behaviour.turns import chains

MOST: Final = 5
"""Skills that a project's habits are put forward as."""
MAX_NAME_CHARS: Final = 64
MAX_DESCRIPTION_CHARS: Final = 1024
"""Limits of the format."""
MADE_BY: Final = "palimpsest"


class NoSkill(ValueError):
    """A text is no skill that could be written; the message says why."""


@dataclass(frozen=True, slots=True)
class SkillThresholds:
    """How well a habit must be borne out to be worth a skill."""

    sessions: int = 5
    times: int = 8
    kept: float = 0.5


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that habits suggest. ``mark`` changes with its steps, its name does not; ``sequel`` bears it out."""

    name: str
    mark: str
    text: str
    sequel: StepSequence


@dataclass(frozen=True, slots=True)
class SkillFrontmatter:
    """A skill file's frontmatter, as far as we need it. ``version`` is 0 where nobody says that we made it."""

    name: str
    description: str
    version: int = 0


def skills(habits: Habits, enough: SkillThresholds) -> Iterator[Skill]:
    """The skills that some habits suggest, the longest and best supported first, no two for the same work."""
    worthy = [each for each in habits.sequences if _worthy(each, enough)]
    worthy.sort(key=lambda each: (-len(_acts(each)), -each.sessions, each.families))
    taken: list[frozenset[str]] = []
    names: set[str] = set()
    for sequel in worthy:
        acts = frozenset(_acts(sequel))
        after = _triggers(sequel, habits.triggers)
        name = name_of(sequel, after)
        if name in names or any(2 * len(acts & other) >= min(len(acts), len(other)) for other in taken):
            continue
        taken.append(acts)
        names.add(name)
        mark = _MARK.format(name=name, steps=_THEN.join(sequel.families))
        yield Skill(name, mark, written(name, sequel, after), sequel)
        if len(names) == MOST:
            return


def name_of(sequel: StepSequence, after: Sequence[Trigger]) -> str:
    """A name by what calls for the skill, else by its first command."""
    kinds = _file_kinds(sequel, after)
    words = ["after", "editing", *re.findall(r"[a-z0-9]+", kinds[0].lower())] if kinds else []
    words = words or [*re.findall(r"[a-z0-9]+", _acts(sequel)[0].lower()), "and", "then"]
    return "-".join(words)[:MAX_NAME_CHARS].strip("-")


def written(name: str, sequel: StepSequence, after: Sequence[Trigger]) -> str:
    """The SKILL.md of a habit."""
    commands = [shape for shape in sequel.shapes if not shape.startswith("edit ")]
    kinds = _file_kinds(sequel, after)
    when = f"after {' or '.join(kinds)} files were edited" if kinds else f"when `{commands[0]}` is called for"
    chain = ", then ".join(f"`{each}`" for each in commands)
    description = f"What this project's work always goes through {when}: {chain}. Use before calling the work done."
    lines = [
        "---",
        f"name: {name}",
        f"description: {json.dumps(description[:MAX_DESCRIPTION_CHARS], ensure_ascii=False)}",
        "metadata:",
        f"  made-by: {MADE_BY}",
        '  version: "1"',
        "---",
        "",
        f"# {name.replace('-', ' ').capitalize()}",
        "",
        "## When to use",
        "",
        f"- {when[0].upper()}{when[1:]}",
        *(f"- {_describe(each)}" for each in after),
        "",
        "## Steps",
        "",
        *(f"{number}. {_step(shape)}" for number, shape in enumerate(sequel.shapes, 1)),
        "",
        "Placeholders such as `<path>` and `<text>` stand for what the work at hand needs.",
        "",
        "## Evidence",
        "",
        f"- Observed {sequel.times} times in {sequel.sessions} sessions, the last on {sequel.last.at:%Y-%m-%d}.",
        f"- Once begun it was done to its end in {sequel.kept:.0%} of the cases.",
        "",
    ]
    return "\n".join(lines)


def steps_of(mark: str) -> tuple[str, ...]:
    """The steps of the skill that a mark names; none where it names none."""
    name, _, steps = mark.partition(": ")
    return tuple(steps.split(_THEN)) if steps and name.startswith("skill ") else ()


def head_of(text: str) -> SkillFrontmatter:
    """A skill file's frontmatter, checked.

    Raises:
        NoSkill: when it is missing, or its name could not be the name of a skill's folder.
    """
    found = _FRONT.match(text)
    if found is None:
        raise NoSkill("a skill begins with its frontmatter: a line ---, `name:` and `description:`, a line ---")
    entries = [(each["key"], _plain(each["value"])) for each in _ENTRY.finditer(found["front"])]
    fields = dict(entries)
    if len(fields) < len(entries):
        raise NoSkill("its frontmatter says the same thing twice")
    name, description = fields.get("name", ""), fields.get("description", "")
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME_CHARS:
        raise NoSkill(
            f"{name[:80]!r} is no name of a skill: small letters and digits with single hyphens between them, "
            f"{MAX_NAME_CHARS} at most, since it is the name of its folder, which it must not leave"
        )
    if not 0 < len(description) <= MAX_DESCRIPTION_CHARS:
        raise NoSkill(f"a skill's description has 1 to {MAX_DESCRIPTION_CHARS} characters, this one {len(description)}")
    version = fields.get("version", "") if fields.get("made-by") == MADE_BY else ""
    return SkillFrontmatter(
        name, description, int(version) if version.isascii() and version.isdigit() and len(version) < 6 else 0
    )


def numbered(text: str, version: int) -> str:
    """A skill's file with a version, and with the word that we made it, which is how it is known again."""
    found = _FRONT.match(text)
    if found is None:
        return text
    front = _OURS.sub("", found["front"]).rstrip()
    ours = f'  made-by: {MADE_BY}\n  version: "{version}"'
    if "\nmetadata:\n" in f"\n{front}\n":
        front = f"\n{front}\n".replace("\nmetadata:\n", f"\nmetadata:\n{ours}\n", 1).strip("\n")
    else:
        front = f"{front}\nmetadata:\n{ours}"
    return f"---\n{front}\n---\n{text[found.end() :]}"


def _worthy(sequel: StepSequence, enough: SkillThresholds) -> bool:
    acts = _acts(sequel)
    return (
        len(acts) >= 2
        and sequel.sessions >= enough.sessions
        and sequel.times >= enough.times
        and sequel.kept >= enough.kept
    )


def _acts(sequel: StepSequence) -> list[str]:
    return [family for family in sequel.families if not family.startswith("edit ")]


def _triggers(sequel: StepSequence, triggers: Sequence[Trigger]) -> list[Trigger]:
    """What calls for any of a sequence's commands, the best supported of each kind."""
    found: dict[str, Trigger] = {}
    for trigger in triggers:
        if trigger.then in sequel.families:
            found.setdefault(trigger.when, trigger)
    return list(found.values())[:3]


def _file_kinds(sequel: StepSequence, after: Sequence[Trigger]) -> list[str]:
    every = (*sequel.families, *(trigger.when for trigger in after))
    return list(dict.fromkeys(each.removeprefix("edit ") for each in every if each.startswith("edit ")))


def _describe(trigger: Trigger) -> str:
    return f"After an {trigger.when}, `{trigger.shape}` was run in {trigger.times} of {trigger.occasions} turns"


def _step(shape: str) -> str:
    return f"Edit {shape.removeprefix('edit ')}" if shape.startswith("edit ") else f"`{shape}`"


def _plain(value: str) -> str:
    text = value.strip()
    if text[:1] == '"':
        try:
            data = json.loads(text)
        except ValueError:
            return text
        return data if isinstance(data, str) else text
    return text.strip("'")


_MARK, _THEN = "skill {name}: {steps}", " → "
_FRONT = re.compile(r"\A---[ \t]*\r?\n(?P<front>.{0,8000}?)\r?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_ENTRY = re.compile(
    r"^[ \t]{0,8}(?P<key>name|description|version|made-by)[ \t]*:[ \t]*(?P<value>[^\r\n]*)", re.MULTILINE
)
_OURS = re.compile(r"^[ \t]+(?:made-by|version)[ \t]*:[^\n]*\n?", re.MULTILINE)
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class Omissions:
    """How often the first step of a sequence was taken and the rest was left out, and in how many sessions."""

    times: int = 0
    sessions: int = 0


def lives_on(families: Sequence[str], habits: Habits) -> bool:
    """Whether a sequence is a habit, by itself or as a part of a longer one."""
    size, wanted = len(families), tuple(families)
    return any(
        each.families[place : place + size] == wanted
        for each in habits.sequences
        for place in range(len(each.families) - size + 1)
    )


def omissions(steps: Iterable[WorkStep], families: Sequence[str], since: datetime) -> Omissions:
    """What was left out of a sequence after a time. What was interrupted is not held against it, as in habits."""
    sessions: dict[str, list[WorkStep]] = defaultdict(list)
    for step in steps:
        sessions[step.session].append(step)
    left = {session: sum(_left_out(done, tuple(families), since)) for session, done in sessions.items()}
    return Omissions(sum(left.values()), sum(times > 0 for times in left.values()))


def _left_out(steps: Sequence[WorkStep], families: tuple[str, ...], since: datetime) -> Iterable[bool]:
    for chain, interrupted in chains(steps):
        done = tuple(step.family for step in chain)
        for place, step in enumerate(chain):
            if step.family != families[0] or step.at <= since:
                continue
            followed = done[place : place + len(families)]
            under_way = interrupted and followed == families[: len(followed)]
            yield followed != families and not under_way
