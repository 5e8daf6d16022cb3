"""A session's steps cut into pieces: turns, between two words of a person, and chains, done in one go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from memory.behaviour import StepKind, StepOutcome, WorkStep

ACTS: Final = frozenset({StepKind.EDIT, StepKind.RUN, StepKind.CALL})
"""Steps that do something, as against looking and planning."""


def turns(steps: Iterable[WorkStep]) -> Iterator[list[WorkStep]]:
    """What was done between two words of a person."""
    turn: list[WorkStep] = []
    for step in steps:
        if step.deed is StepKind.PERSON:
            if turn:
                yield turn
            turn = []
        else:
            turn.append(step)
    if turn:
        yield turn


def chains(steps: Iterable[WorkStep]) -> Iterator[tuple[list[WorkStep], bool]]:
    """What was done in one go, step by step, and whether a step that failed or was refused ended it; the same step
    several times running counts as one."""
    chain: list[WorkStep] = []
    for step in steps:
        if step.deed is StepKind.PERSON or step.outcome is not StepOutcome.DONE:
            if chain:
                yield chain, step.deed is not StepKind.PERSON
            chain = []
        elif step.deed in ACTS:
            if chain and chain[-1].family == step.family:
                chain[-1] = step
            else:
                chain.append(step)
    if chain:
        yield chain, False
