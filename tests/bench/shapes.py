"""What tools are asked and give back at work: figures of recorded sessions, and invented text of the same shapes.

    python -m tests.bench.shapes FOLDER

counts the figures anew. Of the sessions nothing but them is kept. The largest twentieth of all results is not drawn.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path

from tests.bench.sessions import Result, Turn
from tests.bench.transcripts import text_of, transcripts
from tests.proxy.wire.rounds.scripts import Call, Round, Say

PERCENTS = (5, 15, 25, 35, 45, 55, 65, 75, 85, 95)

LOOP = 20
"""Results of tools between two words of a person."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of call: under which names it was recorded, its share of all calls, and the bytes of its arguments and of
    its result at each of :data:`PERCENTS`."""

    names: tuple[str, ...]
    share: float
    arguments: tuple[int, ...]
    results: tuple[int, ...]


SHAPES: Mapping[str, Shape] = {
    "run": Shape(
        ("Bash", "exec_command", "write_stdin", "PowerShell"),
        0.403,
        (68, 84, 102, 121, 139, 158, 185, 219, 283, 515),
        (12, 61, 128, 207, 330, 569, 915, 1627, 3312, 10040),
    ),
    "read": Shape(
        ("Read",),
        0.220,
        (70, 84, 92, 102, 108, 114, 119, 124, 129, 142),
        (582, 1026, 1391, 1796, 2301, 2902, 3820, 5019, 10176, 27080),
    ),
    "edit": Shape(
        ("Edit", "Write", "apply_patch"),
        0.202,
        (200, 351, 465, 636, 789, 1011, 1348, 1885, 2996, 6166),
        (91, 103, 110, 115, 119, 125, 137, 159, 328, 1322),
    ),
    "search": Shape(
        ("Grep", "Glob"),
        0.125,
        (47, 83, 114, 129, 138, 146, 153, 161, 171, 190),
        (16, 42, 89, 163, 286, 494, 850, 1647, 2846, 6628),
    ),
    "note": Shape(
        ("TodoWrite", "TaskUpdate", "TaskCreate"),
        0.050,
        (38, 38, 40, 40, 171, 238, 315, 500, 636, 1032),
        (22, 22, 22, 22, 48, 71, 88, 160, 160, 160),
    ),
}
"""Of 268 sessions with 11,509 results, those of tools that the sessions of one shop alone have left out."""

AT_ONCE: Mapping[int, float] = {1: 0.870, 2: 0.073, 3: 0.030, 4: 0.027}
"""How many calls a reply makes that makes any; four stands for more, too."""

FAILING = 0.09
"""Of what was run; 3.8 % of all results (``python -m tests.bench.errors FOLDER``)."""

_LINES: Mapping[str, tuple[str, ...]] = {
    "run": (
        "tests/orders/test_{word}.py::test_{other}_{number} PASSED",
        "2026-03-02T10:{number:02d}:07Z INFO worker-{number} wrote {word} in {number} ms, {number} left",
        " {word}/{other}_{number}.py | {number} ++++----",
    ),
    "read": (
        "    def {word}_{number}(self, {other}: list[str]) -> int:",
        "        return self.{other}.at({number}) + len({word})",
        "        # The {word} comes before the {other}, at most {number} of them.",
    ),
    "edit": (
        "    {number} -        {word} = {other}[{number}]",
        "    {number} +        {word} = {other}.get({number})",
    ),
    "search": ("orders/{word}.py:{number}:    {other} = {word}({number})",),
    "note": ("[ ] {word} before {other} {number}",),
}
_WORDS = (
    *("row", "batch", "retry", "ledger", "queue", "column", "parcel", "ticket", "cursor", "filter", "window"),
    *("record", "header", "marker", "bucket", "shard", "token", "reader", "writer", "stamp", "digest", "label"),
)
_FAILURE = (
    '\nTraceback (most recent call last):\n  File "orders/{word}.py", line {number}, in {other}\n'
    "    raise ValueError({word})\nValueError: {other} {number} has no {word}\nExit code 1"
)
_STORE = 2**17


@lru_cache(maxsize=64)  # as many agents as are at work at a time, and more
def loop(number: int) -> tuple[Turn, ...]:
    """What an agent hears and its model replies behind a person's question, of which the first turn has only the reply:
    the results of :data:`LOOP` calls or a few more, those of one reply in one request."""
    chance = random.Random(number)
    heard: tuple[Result, ...] = ()
    turns, left = list[Turn](), LOOP
    while left > 0:
        step = len(turns)
        pairs = _calls(chance, f"call-{number}-{step}")
        turns.append(Turn(heard, Round((Say(f"On to step {step}."), *(call for call, _ in pairs)))))
        heard = tuple(result for _, result in pairs)
        left -= len(pairs)
    return (*turns, Turn(heard, Round((Say("That is done."),))))


def _calls(chance: random.Random, name: str) -> list[tuple[Call, Result]]:
    made = []
    [many] = chance.choices([*AT_ONCE], [*AT_ONCE.values()])
    for place in range(many):
        [kind] = chance.choices([*SHAPES], [shape.share for shape in SHAPES.values()])
        shape = SHAPES[kind]
        call = Call(f"{name}-{place}", shape.names[0], _arguments(chance, kind, chance.choice(shape.arguments)))
        made.append((call, Result(call.id, _result(chance, kind, chance.choice(shape.results)))))
    return made


def _arguments(chance: random.Random, kind: str, size: int) -> str:
    path = f"orders/{chance.choice(_WORDS)}_{chance.randrange(1000)}.py"
    match kind:
        case "run":
            given = {"command": f"pytest {path} && git diff --stat"}
        case "read":
            given = {"file_path": f"/home/somebody/projects/shop/{path}"}
        case "edit":
            text = _text(chance, "read", max(size - 90, 8))
            given = {"file_path": path, "old_string": text[: len(text) // 2], "new_string": text[len(text) // 2 :]}
        case "search":
            given = {"pattern": f"{chance.choice(_WORDS)}_{chance.randrange(1000)}", "path": "orders"}
        case _:
            given = {"todos": _text(chance, "note", max(size - 14, 8))}
    return json.dumps(given)


def _result(chance: random.Random, kind: str, size: int) -> str:
    if kind == "run" and chance.random() < FAILING:
        return _text(chance, kind, size) + _filled(chance, _FAILURE)
    return _text(chance, kind, size)


def _text(chance: random.Random, kind: str, size: int) -> str:
    """So many bytes, which begin otherwise each time."""
    begin = chance.randrange(_STORE - size)
    return f"{chance.randrange(10**6)} {_store(kind)[begin : begin + size - 7]}"[:size]


@cache
def _store(kind: str) -> str:
    chance = random.Random(kind)
    lines, size = [], 0
    while size < _STORE:
        lines.append(_filled(chance, chance.choice(_LINES[kind])))
        size += len(lines[-1]) + 1
    return "\n".join(lines)


def _filled(chance: random.Random, line: str) -> str:
    return line.format(word=chance.choice(_WORDS), other=chance.choice(_WORDS), number=chance.randrange(60))


def main(folder: Path) -> None:
    """Print the figures of recorded sessions."""
    arguments, results, at_once = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list), Counter[int]()
    kind_of = {name: kind for kind, shape in SHAPES.items() for name in shape.names}
    for session in transcripts(folder, 0, 0):
        kinds: dict[str, str] = {}
        for body in session.messages:
            if calls := body.get("tool_calls"):
                at_once[len(calls)] += 1
                for call in calls:
                    kinds[call["id"]] = kind = kind_of.get(call["function"]["name"], "")
                    arguments[kind].append(len(call["function"]["arguments"].encode()))
            elif body["role"] == "tool":
                results[kinds.get(body["tool_call_id"], "")].append(len(text_of(body).encode()))
    whole = sum(len(results[kind]) for kind in SHAPES)
    for kind in SHAPES:
        print(kind, f"{len(results[kind]) / whole:.3f}", _at(arguments[kind]), _at(results[kind]), sep="\n    ")
    many = sorted(at_once)
    shares = accumulate(at_once[each] / at_once.total() for each in many)
    print("calls at once, at most:", *(f"{each}: {share:.3f}" for each, share in zip(many, shares, strict=True)))


def _at(values: Sequence[int]) -> list[int]:
    ordered = sorted(values)
    return [ordered[len(ordered) * percent // 100] for percent in PERCENTS]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
