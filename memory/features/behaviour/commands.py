"""``palimpsest habits``: how work is done in each project, with what bears it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memory.hooks.command import SHORT, Command, count, day, where


def format_habits(answer: Mapping[str, Any]) -> Iterator[str]:
    """Every project's habits."""
    if not answer["projects"]:
        yield "nothing was seen yet: habits are learnt from what agents do in sessions"
    for each in answer["projects"]:
        yield from lines(each)


def lines(data: dict[str, Any]) -> Iterator[str]:
    """A project's habits, a line each."""
    yield f"{where(data['owner'])}: {count(data['sessions'], 'session')}, {data['steps']} steps"
    for each in data["sequences"]:
        support = f"{count(each['sessions'], 'session')}, {count(each['times'], 'time')}"
        yield f"  {' → '.join(each['steps'])}  ({support}, kept {each['kept']:.0%})"
    for each in data["triggers"]:
        support = f"{each['times']} of {count(each['occasions'], 'turn')}"
        yield f"  after {each['when']}: {each['then']}  ({support}, {count(each['sessions'], 'session')})"
    for each in data["conventions"]:
        support = f"{each['times']} of {each['edits']}, {count(each['sessions'], 'session')}"
        yield f"  {each['rule']}  ({support})"
    for name, mark in (("fixes", "fixed"), ("corrections", "corrected")):
        for each in data[name]:
            when = f"{each['id'][:SHORT]}, {day(each['at'])}"
            yield f"  {mark}: {each['text']}  ({when}, {count(each['sessions'], 'session')})"
    for each in data["skills"]:
        turned = f"; it is no habit any more: approve {each['id'][:SHORT]} --undo takes it back"
        gone = turned if each["turned"] and each["state"] == "approved" else ""
        yield f"  skill {each['name']}: {each['state']} ({each['why']}){gone}"
    ended = ", ".join(f"{number} {outcome}" for outcome, number in sorted(data["ended"].items()))
    if ended:
        yield f"  sessions: {ended}"


COMMANDS = (
    Command(
        "habits",
        "Show what is done again and again in each project, what is run after what, and what put errors right.",
        "habits",
        format_habits,
        limited="How many of each sort.",
        limit=5,
    ),
)
