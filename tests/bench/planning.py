"""How long it takes to plan a shed: CPU milliseconds, the best of several runs, on a made-up session.

    python -m tests.bench.planning [--messages 2000] [--longest 400]

``longest`` bounds the characters of a content, so that so many messages are what a large window may hold (two thousand
are 165,000 tokens). What a session's earlier plans have read of it is at hand, as it is in a server; ``first`` is
without.
"""

from __future__ import annotations

import argparse
import gc
import time

from memory.context import entity_coverage
from memory.context.budget import budget, remaining
from memory.context.shed import plan
from memory.context.shed_plan import ShedPlan
from memory.edits import Ledger
from memory.settings import SheddingSettings
from tests.bench.sessions import CHAT, Person, Result, Turn, made_up
from tests.bench.shedding import Play, Recorded, Rules
from tests.bench.transcripts import Body, Transcript
from tests.proxy.wire.rounds.scripts import said

RUNS = 9
WINDOWS = {"fits": 1.6, "fits, and is looked through": 1.2, "does not fit": 0.98, "is many times too large": 0.3}
"""Windows, as shares of the session's tokens."""


def messages_of(turns: list[Turn], longest: int) -> list[Body]:
    """A session in the Chat format, its contents cut to so many characters."""
    found: list[Body] = []
    for turn in turns:
        for each in turn.heard:
            match each:
                case Person(text):
                    found.append({"role": "user", "content": text})
                case Result(call, text):
                    found.append({"role": "tool", "tool_call_id": call, "content": text[:longest]})
        found += said(CHAT, turn.reply)
    return found[:-1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=2000)
    parser.add_argument("--longest", type=int, default=400)
    arguments = parser.parse_args()
    bodies = messages_of(made_up(arguments.messages // 2 + 1), arguments.longest)[: arguments.messages]
    play = Play(Recorded.of(Transcript("made up", "made up", tuple(bodies), 0)), Rules())
    play.journaled = len(bodies)
    conversation = play.recorded.conversation
    standing = Ledger().active(play.keys, conversation.head)
    pieces = play.pieces(len(bodies), conversation.head, standing)
    sizes = [each.tokens if each else 0 for each in play.forwarded(len(bodies), standing)]
    print(f"{len(bodies):,} messages, {sum(sizes):,} tokens, {len(pieces):,} parts that may be shed")
    print(f"{'the session':28} {'first':>8} {'CPU ms':>8}  what comes of it")
    gc.collect()
    gc.freeze()
    # As in a server.
    gc.set_threshold(5000, 5, 80)
    for name, share in WINDOWS.items():
        allowed = budget(int(sum(sizes) * share), 4_000, SheddingSettings(), play.budget.fixed)
        entity_coverage._read = entity_coverage._Read(entity_coverage.READ)
        spent = []
        for _ in range(RUNS):
            began = time.process_time()
            made: ShedPlan = plan(conversation, pieces, sizes, allowed, standing, True, remaining(len(bodies) // 2))
            spent.append((time.process_time() - began) * 1000)
        step = made.shed.step if made.shed else "nothing"
        print(f"{name:28} {spent[0]:8.1f} {min(spent):8.1f}  {step}, {made.tokens:,} tokens left")


if __name__ == "__main__":
    main()
