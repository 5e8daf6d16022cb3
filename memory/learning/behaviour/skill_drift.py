"""What turns against an approved skill: its habit is none any more, and its steps are begun without being carried
through.

That there was no occasion for a skill says nothing against it; that it was left out where there was one does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.behaviour import WorkStep
from memory.learning.behaviour.habits import Habits
from memory.learning.behaviour.turns import chains


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
