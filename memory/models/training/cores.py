"""Fit what finds the core of a statement, on the lowest states of an encoder that is there:
``python -m memory.models.training.cores --out memory/models/data`` (extra ``training``).

The first layer is the encoder's own; the two above it are copied and fitted further, so that what it says of clauses
and pairs stays as it is. Half of the statements are read once more with a few words of the moment before or behind
them. With ``--fold N`` nothing is written: a quarter of the people whose talk it is, is left out, and what is said of
their statements is compared with what was marked in them. Every figure about cores in the documentation comes from
there.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory.models.training import adamw, encoder
from memory.models.training.adamw import paced
from memory.models.training.examples import groups
from memory.models.training.packing import embedded_of, layer_of, packed_layer
from memory.models.training.replacing import replace_tables
from memory.models.training.talk import messages, sessions
from memory.understanding.cores import parted
from memory.understanding.encoder import CORE_LAYERS, READ
from memory.understanding.packaged_weights import ENCODER

EPOCHS: Final = 3
RATE: Final = 2e-4
HIDDEN: Final = 64
DROP_HEAD: Final = 0.2
MESSY: Final = 0.5
"""The share of statements that are read once more with something of the moment beside them."""
TOKENS: Final = 768
"""Word pieces of a batch, padding counted."""
LENGTHS: Final = (16, 24, 32, 48, 64, 96, 128, READ + 4)
_MOMENT: Final = ("none.feel", "none.ack", "none.state", "none.suppose")
_JOINTS: Final = (", ", ". ", " ", " and ")
_HEAD: Final = ("inputs", "mean", "hidden", "out", "bias")
Array = NDArray[Any]
Batch = dict[str, Array]
Weights = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Marked:
    """A statement whose core is marked: whether each word piece belongs to it."""

    author: str
    text: str
    ids: list[int]
    offsets: list[tuple[int, int]]
    inside: Array
    beside: bool


def marked(talk: Sequence[dict[str, Any]], tokenizer: Tokenizer) -> list[Marked]:
    """The statements with their cores, and again with something of the moment beside them."""
    moments = defaultdict(list)
    for session, _, rows in messages(talk):
        for label, text in rows:
            if label in _MOMENT and 2 <= len(text.split()) <= 12 and "\n" not in text:
                moments[str(session["lang"])].append(text.rstrip(" .!"))
    drawn = np.random.default_rng(0)
    found = []
    for row in groups("cores"):
        text, inside = row["text"], _inside(row["text"], row["core"])
        found.append(_marked(row["author"], text, inside, tokenizer, beside=False))
        others = moments[row["lang"]]
        if drawn.random() >= MESSY or not others:
            continue
        other, joint = others[drawn.integers(len(others))], _JOINTS[drawn.integers(len(_JOINTS))]
        if drawn.random() < 0.5:
            before = other + joint
            text, inside = before + text, np.concatenate([np.zeros(len(before), np.bool_), inside])
        else:
            bare = text.rstrip(" .!")
            behind = joint + other
            text, inside = bare + behind, np.concatenate([inside[: len(bare)], np.zeros(len(behind), np.bool_)])
        found.append(_marked(row["author"], text, inside, tokenizer, beside=True))
    return found


def _inside(text: str, runs: Sequence[str]) -> Array:
    """Whether each character of a text stands in one of the runs, which follow each other in it."""
    inside = np.zeros(len(text), np.bool_)
    at = 0
    for run in runs:
        start = text.index(run, at)
        at = start + len(run)
        inside[start:at] = True
    return inside


def _marked(author: str, text: str, inside: Array, tokenizer: Tokenizer, *, beside: bool) -> Marked:
    read = tokenizer.encode(text)
    offsets = read.offsets[:READ]
    pieces = np.array([inside[start:end].mean() > 0.5 for start, end in offsets], np.float32)
    return Marked(author, text, read.ids[:READ], offsets, pieces, beside)


def started(arrays: Mapping[str, Array]) -> Weights:
    """The weights that the fitting begins with."""
    width = arrays["places"].shape[1]
    drawn = np.random.default_rng(1)

    def head(*shape: int, scale: float) -> Array:
        return (drawn.standard_normal(shape) * scale).astype(np.float32)

    layers = [layer_of(arrays, str(at)) for at in range(int(arrays["layers"]))]
    return {
        "encoder": {**embedded_of(arrays), "layers": layers},
        "inputs": head(width, HIDDEN, scale=0.05),
        "mean": head(width, HIDDEN, scale=0.05),
        "hidden": np.zeros(HIDDEN, np.float32),
        "out": head(HIDDEN, 1, scale=0.1),
        "bias": np.zeros(1, np.float32),
    }


def odds(weights: Weights, batch: Batch, key: Any = None) -> Any:
    """The log-odds that each word piece belongs to the core: shape (batch, pieces)."""
    x = encoder.states(weights["encoder"], batch, key)
    own = batch["counted"][..., None]
    mean = (x * own).sum(axis=1, keepdims=True) / jnp.maximum(own.sum(axis=1, keepdims=True), 1.0)
    if key is not None:
        x = jnp.where(jax.random.bernoulli(key, 1 - DROP_HEAD, x.shape), x / (1 - DROP_HEAD), 0.0)
    hidden = jax.nn.relu(x @ weights["inputs"] + mean @ weights["mean"] + weights["hidden"])
    return (hidden @ weights["out"] + weights["bias"])[..., 0]


def loss(weights: Weights, batch: Batch, key: Any) -> Any:
    """The mean cross-entropy of the pieces."""
    scores = odds(weights, batch, key)
    own = batch["counted"]
    return ((jnp.logaddexp(0.0, scores) - scores * batch["inside"]) * own).sum() / jnp.maximum(own.sum(), 1.0)


def fit(weights: Weights, examples: Sequence[Marked], ends: tuple[int, int]) -> Weights:
    """The weights fitted to some statements, with the layers below those that are fitted as they are, and a head that
    learns ten times as fast."""
    pace = paced(weights, 0.0) | dict.fromkeys(_HEAD, 10.0)
    layers = pace["encoder"]["layers"]
    layers[-CORE_LAYERS:] = paced(layers[-CORE_LAYERS:], 1.0)
    fitted: Weights = adamw.fit(
        weights,
        loss,
        lambda rng: (batch for _, batch in batches(examples, ends, rng)),
        lambda *_: pace,
        epochs=EPOCHS,
        rate=RATE,
    )
    return fitted


def batches(
    examples: Sequence[Marked], ends: tuple[int, int], rng: np.random.Generator | None
) -> Iterator[tuple[list[Marked], Batch]]:
    """The statements in batches of one length, in any order; without ``rng`` in their own as far as that goes. Each is
    read as a message with nothing before it."""
    by_length = defaultdict(list)
    for each in examples:
        by_length[next(length for length in LENGTHS if len(each.ids) + 3 <= length)].append(each)
    chosen = []
    for length, own in sorted(by_length.items()):
        ordered = [own[at] for at in rng.permutation(len(own))] if rng else own
        rows = max(TOKENS // length, 1)
        chosen += [(ordered[at : at + rows], rows, length) for at in range(0, len(ordered), rows)]
    for at in rng.permutation(len(chosen)) if rng else range(len(chosen)):
        some, rows, length = chosen[at]
        yield some, _batch(some, rows, length, ends)


def _batch(some: Sequence[Marked], rows: int, length: int, ends: tuple[int, int]) -> Batch:
    batch: Batch = {
        "ids": np.zeros((rows, length), np.int32),
        "sides": np.zeros((rows, length), np.int32),
        "mask": np.zeros((rows, length), np.float32),
        "inside": np.zeros((rows, length), np.float32),
        "counted": np.zeros((rows, length), np.float32),
    }
    start, end = ends
    for row, each in enumerate(some):
        many = len(each.ids) + 3
        batch["ids"][row, :many] = [start, end, *each.ids, end]
        batch["sides"][row, 2:many] = 1
        batch["mask"][row, :many] = 1.0
        batch["inside"][row, 2 : many - 1] = each.inside
        batch["counted"][row, 2 : many - 1] = 1.0
    return batch


def packed(weights: Weights) -> dict[str, Array]:
    """The arrays of the layers that were fitted, and of the head."""
    arrays: dict[str, Array] = {}
    layers = weights["encoder"]["layers"]
    for at in range(len(layers) - CORE_LAYERS, len(layers)):
        arrays |= packed_layer(f"core.{at}", layers[at])
    for name in _HEAD:
        arrays[f"core.{name}"] = weights[name].astype(np.float32 if weights[name].ndim == 1 else np.float16)
    return arrays


def report(weights: Weights, examples: Sequence[Marked], ends: tuple[int, int]) -> str:
    """How well cores agree with what was marked, in a few lines: of words, and of whole statements."""
    run = jax.jit(odds)
    lines = []
    for beside in (False, True):
        both = missed = wrong = statements = harmed = 0
        for some, batch in batches([each for each in examples if each.beside is beside], ends, None):
            scores = np.asarray(run(weights, batch))
            for row, each in enumerate(some):
                words, stays = parted(each.text, each.offsets, scores[row, 2 : 2 + len(each.ids)].tolist())
                inside = [_is_inside(each, *word) for word in words]
                lost = sum(own and not stay for own, stay in zip(inside, stays, strict=True))
                wrong += lost
                both += sum(not own and not stay for own, stay in zip(inside, stays, strict=True))
                missed += sum(not own and stay for own, stay in zip(inside, stays, strict=True))
                statements, harmed = statements + 1, harmed + (lost > 0)
        name = "with something beside them" if beside else "as they are"
        lines.append(
            f"statements {name}: {statements}  words cut: precision {both / max(both + wrong, 1):.3f} recall "
            f"{both / max(both + missed, 1):.3f}  statements that lost a word of their core {harmed / statements:.3f}"
        )
    return "\n".join(lines)


def _is_inside(each: Marked, start: int, end: int) -> bool:
    own = [inside for (a, b), inside in zip(each.offsets, each.inside.tolist(), strict=True) if a < end and b > start]
    return not own or sum(own) > 0.5 * len(own)


def main(arguments: Sequence[str]) -> None:
    """Write the encoder with what finds cores, or report about people who are left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--fold", type=int, default=None)
    given = parser.parse_args(arguments)
    arrays, tokenizer, ends = encoder.packaged(without="core.")
    examples = marked(sessions(), tokenizer)
    left_out = encoder.fold_of((each.author for each in examples), given.fold)
    fitted = fit(started(arrays), [each for each in examples if each.author not in left_out], ends)
    if left_out:
        print(report(fitted, [each for each in examples if each.author in left_out], ends))
    if given.out:
        replace_tables(given.out / ENCODER, arrays | packed(fitted))


if __name__ == "__main__":
    main(sys.argv[1:])
