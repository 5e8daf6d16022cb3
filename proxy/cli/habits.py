"""``palimpsest habits``: how work is done in each project, with what bears it out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from proxy.cli import shown, wording
from proxy.cli.call import Call, takes


@takes("project", "at_here", "user")
def habits(
    call: Call,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many of each sort.")] = 5,
) -> None:
    """Show what is done again and again in each project, what is run after what, and what put errors right."""
    told = call.ask("GET", "api/habits", {"limit": limit})
    if call.as_json:
        shown.as_json(told)
        return
    console = shown.screen()
    if not told["projects"]:
        console.print("nothing was seen yet: habits are learnt from what agents do in sessions")
    for each in told["projects"]:
        for line in lines(each):
            console.print(line, soft_wrap=True)


def lines(told: dict[str, Any]) -> Iterator[str]:
    """A project's habits, a line each."""
    yield f"{shown.where(told['owner'])}: {wording.count(told['sessions'], 'session')}, {told['steps']} steps"
    for each in told["sequences"]:
        support = f"{wording.count(each['sessions'], 'session')}, {wording.count(each['times'], 'time')}"
        yield f"  {' → '.join(each['steps'])}  ({support}, kept {each['kept']:.0%})"
    for each in told["triggers"]:
        support = f"{each['times']} of {wording.count(each['occasions'], 'turn')}"
        yield f"  after {each['when']}: {each['then']}  ({support}, {wording.count(each['sessions'], 'session')})"
    for each in told["conventions"]:
        support = f"{each['times']} of {each['edits']}, {wording.count(each['sessions'], 'session')}"
        yield f"  {each['rule']}  ({support})"
    for name, mark in (("fixes", "fixed"), ("corrections", "corrected")):
        for each in told[name]:
            when = f"{each['id'][: shown.SHORT]}, {shown.day(each['at'])}"
            yield f"  {mark}: {each['text']}  ({when}, {wording.count(each['sessions'], 'session')})"
    for each in told["skills"]:
        turned = f"; it is no habit any more: approve {each['id'][: shown.SHORT]} --undo takes it back"
        gone = turned if each["turned"] and each["state"] == "approved" else ""
        yield f"  skill {each['name']}: {each['state']} ({each['why']}){gone}"
    ended = ", ".join(f"{number} {outcome}" for outcome, number in sorted(told["ended"].items()))
    if ended:
        yield f"  sessions: {ended}"
