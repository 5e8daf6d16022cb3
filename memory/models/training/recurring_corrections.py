"""Make what tells who pushes back on the same: ``python -m memory.models.training.recurring_corrections --out
memory/models/data``.

It is fitted to pairs of messages of one project: two corrections of one habit beside all others, as they were written,
and once more with other replies before most of them, since an agent's words often do not show what it did; and to pairs
of talk from several sessions, in which hardly anything recurs. What compares messages of which one answers nothing is
fitted to the same without any replies. With ``--by-author`` nothing is written: authors are left out in turn, and it is
told how many of their habits are found again.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from memory.language.common_directions import topics
from memory.models.training.fitting import Floats, average_precision
from memory.models.training.replacing import replace_tables
from memory.models.training.talk import BREAK, DATA, messages, sessions
from memory.understanding.packaged_weights import RECURRING, reader
from memory.understanding.recurring_corrections import (
    FEWEST,
    LIKENESSES,
    MOST_OF,
    TOGETHER,
    Pushback,
    RecurrenceModel,
    both_answer,
    likenesses,
    linked,
    pushes_back,
    without_stock_sentences,
)

OTHERS_REPLY: Final = 0.6
"""The share of messages that another reply stands before, where replies are changed."""
TALK: Final = 0.3
"""What the pairs of the talk count together beside those of the habits."""
TALK_PAIRS: Final = 40_000
FEWEST_MESSAGES: Final = 8
MOST_MESSAGES: Final = 60
SHRINK: Final = 1e-3
STEPS: Final = 30
PURE: Final = 0.75
MIXED: Final = 0.6
"""The share of one habit from which on a group is that habit, and below which it is none."""


@dataclass(frozen=True, slots=True)
class Project:
    """Messages of one project with who wrote them, the habit that each is about ("" for none), and its session."""

    author: str
    said: list[Pushback]
    habits: NDArray[np.str_]
    sessions: NDArray[np.str_]
    likenesses: Floats

    def pairs(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Each two messages of different sessions by their likenesses, and whether they are about one habit."""
        one, other = np.triu_indices(len(self.said), 1)
        apart = self.sessions[one] != self.sessions[other]
        one, other = one[apart], other[apart]
        same = (self.habits[one] == self.habits[other]) & (self.habits[one] != "")
        return self.likenesses[one, other], same


def _project(author: str, said: list[Pushback], habits: list[str], own_sessions: list[str]) -> Project:
    said = without_stock_sentences(said)
    compared = likenesses(said, topics)
    return Project(author, said, np.array(habits), np.array(own_sessions), compared)


def with_habits(replies: Sequence[str]) -> list[Project]:
    """The projects in which habits recur, each as it was written, then with some of ``replies`` in place of its own,
    then without any."""
    drawn = random.Random(3)
    found = []
    for file in sorted((DATA / "recurring").glob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            turns: list[dict[str, Any]] = orjson.loads(line)["turns"]
            plain = [Pushback(turn["said"], turn["agent"]) for turn in turns]
            changed = [
                Pushback(each.said, drawn.choice(replies) if drawn.random() < OTHERS_REPLY else each.before)
                for each in plain
            ]
            habits, own_sessions = [turn["habit"] or "" for turn in turns], [str(n) for n in range(len(turns))]
            found += [_project(file.stem, said, habits, own_sessions) for said in (plain, changed, _bare(plain))]
    return found


def _bare(said: Sequence[Pushback]) -> list[Pushback]:
    return [Pushback(each.said) for each in said]


def talk() -> list[Project]:
    """The projects of the talk that have several sessions."""
    told: dict[tuple[str, str], list[tuple[str, Pushback]]] = {}
    for session, reply, rows in messages(sessions()):
        if reply:
            said = " ".join(text for label, text in rows if label != BREAK)
            own = told.setdefault((str(session["author"]), str(session.get("project") or session["id"])), [])
            own.append((str(session["id"]), Pushback(said, reply)))
    return [
        _project(author, [each for _, each in own], [""] * len(own), [session for session, _ in own])
        for (author, _), whole in told.items()
        if len(own := whole[:MOST_MESSAGES]) >= FEWEST_MESSAGES and len({session for session, _ in own}) > 1
    ]


def fitted(projects: Sequence[Project], others: Sequence[Project]) -> RecurrenceModel:
    """The model fitted to what recurs in some projects, and to others in which nothing does."""
    with_replies, without = ([each for each in projects if _answers(each) is answers] for answers in (True, False))
    bare = [_project(each.author, _bare(each.said), each.habits.tolist(), each.sessions.tolist()) for each in others]
    both = _regression(with_replies, others), _regression(without, bare)
    return RecurrenceModel(np.stack([weights for weights, _ in both]), np.array([bias for _, bias in both], np.float32))


def _answers(project: Project) -> bool:
    return any(each.before for each in project.said)


def _regression(projects: Sequence[Project], others: Sequence[Project]) -> tuple[Floats, float]:
    """A logistic regression with shrunken weights (iteratively reweighted least squares): its weights and bias."""
    own = [each.pairs() for each in projects]
    inputs, same = np.concatenate([pairs for pairs, _ in own]), np.concatenate([labels for _, labels in own])
    beside = np.concatenate([each.pairs()[0] for each in others])
    beside = beside[np.random.default_rng(1).permutation(len(beside))[:TALK_PAIRS]]
    rows = np.concatenate([inputs, beside]).astype(np.float64)
    wanted = np.concatenate([same, np.zeros(len(beside))])
    counts = np.concatenate([np.ones(len(inputs)), np.full(len(beside), TALK * len(inputs) / len(beside))])
    counts /= counts.sum()
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    rows = np.concatenate([(rows - mean) / spread, np.ones((len(rows), 1))], axis=1)
    shrink = np.append(np.full(len(LIKENESSES), 2 * SHRINK), 0.0)
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-(rows @ weights)))
        slope = rows.T @ (counts * (likely - wanted)) + shrink * weights
        curve = (rows * (counts * likely * (1 - likely))[:, None]).T @ rows + np.diag(shrink)
        weights -= np.linalg.solve(curve, slope)
    own_weights = weights[:-1] / spread
    return own_weights.astype(np.float32), float(weights[-1] - own_weights @ mean)


def report(projects: Sequence[Project], others: Sequence[Project]) -> str:
    """What is found of the habits of authors who are left out in turn, and of talk."""
    lines = []
    for first, name in enumerate(("as they were written", "with other replies before most", "without replies")):
        found = wrong = wanted = 0
        precise = []
        for author in sorted({each.author for each in projects}):
            model = fitted([each for each in projects if each.author != author], others)
            for project in [each for each in projects[first::3] if each.author == author]:
                odds = model.of(project.likenesses, both_answer(project.said))
                one, other = np.triu_indices(len(project.said), 1)
                precise.append(average_precision(odds[one, other], project.pairs()[1]))
                wanted += len(set(project.habits.tolist()) - {""})
                shares = [_share(project.habits[group]) for group in _groups(odds, project)]
                found += len({habit for habit, share in shares if share >= PURE and habit})
                wrong += sum(share < MIXED for _, share in shares)
        lines.append(
            f"habits {name}: {found} of {wanted} found, {wrong} groups of something else; "
            f"pairs' average precision {np.mean(precise):.3f}"
        )
    whole = fitted(projects, others)
    groups = sum(len(_groups(whole.of(each.likenesses, both_answer(each.said)), each)) for each in others)
    lines.append(f"{groups} groups in {len(others)} projects of talk")
    lines += [
        ", ".join(f"{name} {weight:.2f}" for name, weight in zip(LIKENESSES, weights, strict=True))
        for weights in whole.weights
    ]
    return "\n".join(lines)


def _groups(odds: Floats, project: Project) -> list[list[int]]:
    found = []
    for group in linked(odds, project.sessions.tolist(), TOGETHER):
        own = [at for at in group if pushes_back(reader().read(*project.said[at]))]
        if len(own) >= MOST_OF * len(group) and len(set(project.sessions[own].tolist())) >= FEWEST:
            found.append(own)
    return found


def _share(habits: NDArray[np.str_]) -> tuple[str, float]:
    """The habit that most of a group are about, and the share of it."""
    names, counts = np.unique(habits[habits != ""], return_counts=True)
    if not len(names):
        return "", 0.0
    return str(names[counts.argmax()]), float(counts.max() / len(habits))


def main(arguments: Sequence[str]) -> None:
    """Fit to everything and write the weights, or report by author left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--by-author", action="store_true")
    given = parser.parse_args(arguments)
    others = talk()
    projects = with_habits([each.before for project in others for each in project.said])
    if given.by_author:
        print(report(projects, others))
    if given.out:
        model = fitted(projects, others)
        replace_tables(given.out / RECURRING, {"weights": model.weights, "bias": model.bias})


if __name__ == "__main__":
    main(sys.argv[1:])
