"""Whether a habit that a person corrects again and again, in ever other words, becomes one convention to approve.

python -m tests.bench.stories [--only stories_a] [--words]

The stories lie in ``tests/data/changes``. Each is played session by session through memory's own path, with a night
behind each day; then what is put forward is read. A story is won where one candidate (or, of a rule that was said in
several projects, one memory of the person's own) shows the gist, and nothing that is put forward of it lacks it.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Mapping
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from memory.bootstrap import open_memory
from memory.fact import Fact, Origin, State
from memory.scope import Layer, Scope
from tests import rooms
from tests.bench.changes import BEGAN, Life, quiet, read, shows, unguarded


async def told(life: Life, story: Mapping[str, Any]) -> tuple[list[str], list[str], list[Fact]]:
    """The texts of what is put forward of a story, what the person's own layer holds, and all that was learnt."""
    user = f"user-{story['id']}"
    for day, turns in groupby(story["turns"], key=lambda turn: int(turn["day"])):
        for (_, project), session in groupby(
            turns, key=lambda turn: (turn["session"], turn.get("project", story["project"]))
        ):
            said = [pair for turn in session for pair in ((turn["ask"], turn["agent"]), (turn["said"], "All right."))]
            await life.say(user, project, BEGAN + timedelta(days=day), said)
        life.clock[0] = BEGAN + timedelta(days=day, hours=16)
        await rooms.nights(life.memory).runner.run()
    scopes = {Scope(user=user, project=turn.get("project", story["project"])) for turn in story["turns"]}
    owners = {owner for scope in scopes for layer in Layer if (owner := scope.owner(layer))}
    facts = await life.memory.journal.facts_of(sorted(owners))
    waiting = await rooms.candidates(life.memory).candidates(sorted(owners))
    own = [
        fact.text
        for fact in facts
        if fact.layer is Layer.USER and fact.state is State.ACTIVE and fact.origin is not Origin.BEHAVIOUR
    ]
    return [each.text for each in waiting], own, facts


async def play(stories: list[dict[str, Any]], words: bool) -> tuple[int, int, int]:
    """How many stories are won, in how many something wrong was put forward, and how many there are."""
    won = wrong = 0
    for story in stories:
        forward, own, facts = await lived(story)
        several = len({turn.get("project") for turn in story["turns"]} - {None}) > 1
        good = [text for text in (own if several else forward) if shows(text, story["gist"])]
        bad = [] if several else [text for text in forward if not shows(text, story["gist"])]
        won += bool(good) and not bad
        wrong += bool(bad)
        if words:
            print(
                story["id"],
                story["gist_words"],
                f"won={bool(good) and not bad}",
                *(f"+ {text}" for text in forward),
                sep="\n  ",
            )
            print(
                "   learnt:",
                *(f"{fact.kind.value} {fact.state.value} {fact.text}" for fact in facts),
                sep="\n     ",
            )
    return won, wrong, len(stories)


async def lived(story: Mapping[str, Any]) -> tuple[list[str], list[str], list[Fact]]:
    """The same of a story in a memory of its own: their clocks all begin on one day."""
    clock = [BEGAN]
    with tempfile.TemporaryDirectory(prefix="palimpsest-stories-") as home:
        memory = await open_memory(quiet(), Path(home), unguarded, now=lambda: clock[0])
        assert memory is not None
        try:
            return await told(Life(memory, clock), story)
        finally:
            await memory.close()


def main() -> None:
    """Play the stories and print the count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="stories", help="files whose name begins so")
    parser.add_argument("--words", action="store_true", help="print each story with what became of it")
    given = parser.parse_args()
    won, wrong, count = asyncio.run(play(read(given.only), given.words))
    print(f"{won} of {count} stories became a convention in clear words; in {wrong} something else was put forward")


if __name__ == "__main__":
    main()
