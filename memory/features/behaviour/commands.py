"""``palimpsest habits``: how work is done in each project, with what bears it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memory.hooks.command import Command
from memory.hooks.wording import SHORT, count, day, where


def told(answer: Mapping[str, Any]) -> Iterator[str]:
    """Every project's habits."""
    if not answer["projects"]:
        yield "nothing was seen yet: habits are learnt from what agents do in sessions"
    for each in answer["projects"]:
        yield from lines(each)


def lines(told: dict[str, Any]) -> Iterator[str]:
    """A project's habits, a line each."""
    yield f"{where(told['owner'])}: {count(told['sessions'], 'session')}, {told['steps']} steps"
    for each in told["sequences"]:
        support = f"{count(each['sessions'], 'session')}, {count(each['times'], 'time')}"
        yield f"  {' → '.join(each['steps'])}  ({support}, kept {each['kept']:.0%})"
    for each in told["triggers"]:
        support = f"{each['times']} of {count(each['occasions'], 'turn')}"
        yield f"  after {each['when']}: {each['then']}  ({support}, {count(each['sessions'], 'session')})"
    for each in told["conventions"]:
        support = f"{each['times']} of {each['edits']}, {count(each['sessions'], 'session')}"
        yield f"  {each['rule']}  ({support})"
    for name, mark in (("fixes", "fixed"), ("corrections", "corrected")):
        for each in told[name]:
            when = f"{each['id'][:SHORT]}, {day(each['at'])}"
            yield f"  {mark}: {each['text']}  ({when}, {count(each['sessions'], 'session')})"
    for each in told["skills"]:
        turned = f"; it is no habit any more: approve {each['id'][:SHORT]} --undo takes it back"
        gone = turned if each["turned"] and each["state"] == "approved" else ""
        yield f"  skill {each['name']}: {each['state']} ({each['why']}){gone}"
    ended = ", ".join(f"{number} {outcome}" for outcome, number in sorted(told["ended"].items()))
    if ended:
        yield f"  sessions: {ended}"


COMMANDS = (
    Command(
        "habits",
        "Show what is done again and again in each project, what is run after what, and what put errors right.",
        "habits",
        told,
        limited="How many of each sort.",
        limit=5,
    ),
)
