"""What recorded sessions of agents show of how work is done, project by project, and what looking for it costs.

``python -m tests.bench.habits FOLDER [--fixes N] [--corrections N]``: the five most frequent sequences of each project
with their support, its triggers, conventions, how its sessions ended; with the options so many fixes, or corrections of
an agent's action, drawn at random with a fixed seed, to be judged by hand. Nothing of the recordings is kept.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

from memory.behaviour import Fix, WorkStep
from memory.learning.behaviour.corrected_actions import CorrectedAction, corrected
from memory.learning.behaviour.fixes import fixes
from memory.learning.behaviour.habits import Habits, mine
from memory.learning.behaviour.steps import steps, window
from memory.ports import Journaled
from memory.scope import Scope
from memory.session import Session
from proxy.runtimes.user_text import user_text
from proxy.wire.openai_chat import OpenAIChat
from tests.bench.transcripts import Transcript, transcripts

START = datetime(2026, 1, 1, tzinfo=UTC)


class Read:
    """All that was found in one project's sessions."""

    def __init__(self) -> None:
        self.steps: list[WorkStep] = []
        self.fixes: list[Fix] = []
        self.corrected: list[CorrectedAction] = []
        self.exchanges = 0
        self.seconds = 0.0

    def add(self, transcript: Transcript, number: int) -> None:
        """Read a session exchange by exchange, as the worker does."""
        for journaled in exchanges(transcript, number):
            began = time.process_time()
            if looked := window(journaled):
                self.steps.extend(steps(journaled, looked))
                self.fixes.extend(fixes(journaled, looked))
                self.corrected.extend(corrected(journaled, looked))
            self.seconds += time.process_time() - began
            self.exchanges += 1


def exchanges(transcript: Transcript, number: int) -> Iterator[Journaled]:
    """The session's requests as the journal would give them."""
    body = json.dumps({"model": "m", "messages": transcript.messages}).encode()
    messages = OpenAIChat().read(body, user_text).conversation.messages
    at = START + timedelta(hours=number)
    session = Session(transcript.id, "", Scope(None, "u", transcript.source), "bench", at, at)
    seen = 0
    for index, body_ in enumerate(transcript.messages):
        if body_["role"] == "assistant" and index and transcript.messages[index - 1]["role"] in ("user", "tool"):
            reply = messages[index]
            fresh = tuple(i for i in range(seen, index) if i != seen - 1)
            yield Journaled(index, f"{transcript.id}-{index}", session, "main", at, messages[:index], fresh, reply)
            seen = index + 1  # The reply is known when it is sent back.
    if seen < len(messages):
        fresh = tuple(range(seen, len(messages)))
        yield Journaled(len(messages), transcript.id, session, "main", at, messages, fresh, None)


def told(project: str, habits: Habits, read: Read) -> Iterator[str]:
    """A project's habits in lines."""
    yield f"\n== {project}: {habits.sessions} sessions, {habits.steps} steps, {read.exchanges} exchanges"
    yield f"   {1000 * read.seconds / max(read.exchanges, 1):.2f} ms of CPU an exchange"
    for each in habits.sequences[:5]:
        support = f"{each.sessions} sessions, {each.times} times, kept {each.kept:.0%}"
        yield f"   sequence  {' → '.join(each.shapes)}  ({support})"
    for trigger in habits.triggers[:5]:
        support = f"{trigger.times} of {trigger.occasions} turns, {trigger.sessions} sessions"
        yield f"   trigger   {trigger.when} ⇒ {trigger.shape}  ({support})"
    for rule in habits.conventions[:8]:
        yield f"   rule      {rule.question} {rule.answer}  ({rule.times} of {rule.edits}, {rule.sessions} sessions)"
    outcomes = [ended.outcome for ended in habits.ended]
    yield "   sessions  " + ", ".join(f"{outcomes.count(each)} {each}" for each in sorted(set(outcomes)))
    yield f"   {len(read.fixes)} fixes, {len(read.corrected)} corrections of an action"


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--fixes", type=int, default=0)
    parser.add_argument("--corrections", type=int, default=0)
    asked: SimpleNamespace = parser.parse_args(namespace=SimpleNamespace())
    projects: dict[str, Read] = {}
    for number, transcript in enumerate(transcripts(asked.folder, 0, 0)):
        projects.setdefault(transcript.source, Read()).add(transcript, number)
    for project, read in sorted(projects.items()):
        print("\n".join(told(project, mine(read.steps), read)))
    drawn = random.Random(5)
    found = [(project, fix) for project, read in sorted(projects.items()) for fix in read.fixes]
    for project, fix in drawn.sample(found, min(asked.fixes, len(found))):
        print(f"\n[{project}] {fix.failed}\n  {fix.error[:300]!r}\n  between: {fix.between}\n  worked: {fix.worked}")
    wrongs = [(project, each) for project, read in sorted(projects.items()) for each in read.corrected]
    for number, (project, each) in enumerate(drawn.sample(wrongs, min(asked.corrections, len(wrongs)))):
        print(f"\n{number + 1} [{project}]{' refused' * each.refused} {each.wrong}\n  {each.right}")


if __name__ == "__main__":
    main()
