"""Make the model of request kinds: ``python -m memory.models.training.request_kind --out memory/models/data``.

With ``--by-author`` nothing is written: authors are left out of training in turn, and what the model says of their
requests is compared with their labels.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from memory.language.static_embedding import StaticEmbedding
from memory.models.training.fitting import FittingPlan, Floats, Network, fit, softmax_slope
from memory.models.training.talk import BREAK, DATA, messages, sessions
from memory.understanding.features import SIZE
from memory.understanding.network import softmax
from memory.understanding.packaged_weights import REQUEST_KIND
from memory.understanding.request_kind import MAX_REQUEST_CHARS, REQUEST_KINDS, request_inputs

PLAN: Final = FittingPlan(widths=(), hidden=64, heads=len(REQUEST_KINDS), epochs=30, batch=64, drop_dense=0.3)
LIFE: Final = "l"
"""How the names of the authors begin who wrote requests about a person's life; all others wrote of work."""
WORK_LABELS: Final = ("none.order", "none.ask", "none.fix")
"""The labels of clauses that ask or order something of an agent at work."""
OFTEN: Final = 3
"""How often each wish is read that an author wrote to tell advice on work from advice on a life: they are few."""
FOLDS: Final = 4
"""Groups of authors that are left out in turn."""


class LabelledRequest(NamedTuple):
    """A request, who wrote it, and the place of its kind."""

    author: str
    text: str
    kind: int


def kind_of(author: str, relations: Mapping[str, str]) -> int:
    """The kind of a request by what it needs of the memories listed for it."""
    if not author.startswith(LIFE):
        return REQUEST_KINDS.index("work")
    if not relations:
        return REQUEST_KINDS.index("known")
    return REQUEST_KINDS.index("told" if "answers" in relations.values() else "advice")


def requests(folder: Path = DATA / "requests") -> list[LabelledRequest]:
    """All requests of the authors, what people at work ask and order in the labelled talk, and wishes for advice on
    either, told apart by an author of their own."""
    work = REQUEST_KINDS.index("work")
    wishes = [
        LabelledRequest("w1", text, REQUEST_KINDS.index(kind))
        for kind, texts in orjson.loads((folder / "kinds.json").read_bytes()).items()
        for text in texts
        for _ in range(OFTEN)
    ]
    at_work = [
        LabelledRequest(str(session["author"]), " ".join(text for label, text in rows if label != BREAK), work)
        for session, _, rows in messages(sessions())
        if any(label in WORK_LABELS for label, _ in rows)
    ]
    return (
        at_work
        + wishes
        + [
            LabelledRequest(project["author"], text, kind_of(project["author"], relations))
            for file in sorted(folder.glob("*.jsonl"))
            for project in map(orjson.loads, file.read_bytes().splitlines())
            for text, relations in project["requests"]
        ]
    )


def fit_request_kinds(examples: Sequence[LabelledRequest], inputs: Floats) -> Network:
    """The network fitted to requests and what is read of them."""
    kinds = np.array([each.kind for each in examples])

    def loss(outputs: Floats, chosen: NDArray[np.int64]) -> Floats:
        return softmax_slope(outputs, kinds[chosen])

    return fit([], inputs, loss, PLAN, SIZE)


def _advice(network: Network, inputs: Floats) -> Floats:
    advice: Floats = softmax(network.outputs([], inputs))[:, REQUEST_KINDS.index("advice")]
    return advice


def _by_author(examples: Sequence[LabelledRequest], inputs: Floats) -> str:
    kinds = np.array([each.kind for each in examples])
    folds = np.array([int("".join(filter(str.isdigit, each.author))) % FOLDS for each in examples])
    shares = np.zeros(len(examples), np.float32)
    for fold in range(FOLDS):
        rest = np.flatnonzero(folds != fold)
        shares[folds == fold] = _advice(fit_request_kinds([examples[at] for at in rest.tolist()], inputs[rest]), inputs[folds == fold])  # fmt: skip  # noqa: E501
    lines = []
    for least in (0.3, 0.5, 0.7):
        taken = (f"{name} {(shares[kinds == at] >= least).mean():.3f}" for at, name in enumerate(REQUEST_KINDS))
        lines.append(f"taken for advice at {least}: " + ", ".join(taken))
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Fit to everything and write the weights, or report by author left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--by-author", action="store_true")
    given = parser.parse_args(arguments)
    examples, embedding = requests(), StaticEmbedding.load()
    read = [each.text[:MAX_REQUEST_CHARS] for each in examples]
    inputs = np.stack([request_inputs(text, embedding.documents([text])[0]) for text in read])
    if given.by_author:
        print(_by_author(examples, inputs))
    if given.out:
        network = fit_request_kinds(examples, inputs)
        np.savez(given.out / REQUEST_KIND, **{name: value.astype(np.float16) for name, value in network.weights.items()})  # type: ignore[arg-type]  # fmt: skip  # noqa: E501


if __name__ == "__main__":
    main(sys.argv[1:])
