"""Fit what reads the relation of two statements, on the lower states of an encoder that is there:
``python -m memory.models.training.pair_layer --out memory/models/data`` (extra ``training``).

The encoder learns from pairs that share a subject or nothing at all. In a project most pairs share the project, the
people and the manner, and no subject; and what sounds like a change is read beside all that was said before. Those are
added here: the last layer is copied and fitted further, so that what the encoder says of clauses stays as it is. With
``--fold N`` nothing is written: a quarter of the authors is left out, and what is said of their pairs is compared with
their labels. Every figure about relations in the documentation comes from there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from memory.models.training import adamw, encoder
from memory.models.training.adamw import paced
from memory.models.training.examples import (
    Example,
    StatementPair,
    asides,
    neighbours,
    pairs,
    related,
    told_over_weeks,
)
from memory.models.training.packing import embedded_of, layer_of, packed_layer
from memory.models.training.replacing import replace_tables
from memory.models.training.talk import sessions
from memory.understanding.encoder import PAIR_LAYERS, RELATIONS
from memory.understanding.packaged_weights import ENCODER

EPOCHS: Final = 2
RATE: Final = 2e-4
HIDDEN: Final = 64
DROP_HEAD: Final = 0.2
Array = NDArray[Any]
Batch = dict[str, Array]
Weights = dict[str, Any]


def examples(talk: Sequence[dict[str, Any]]) -> tuple[list[StatementPair], NDArray[np.bool_]]:
    """The authors' pairs, and behind them those of one session, with a mark at these."""
    by_authors, of_sessions = [*related(asides(talk)), *told_over_weeks()], neighbours(talk)
    return [*by_authors, *of_sessions], np.arange(len(by_authors) + len(of_sessions)) >= len(by_authors)


def started(arrays: Mapping[str, Array]) -> tuple[Weights, Weights]:
    """The weights that stay as they are, and those that the fitting begins with."""
    width = arrays["places"].shape[1]
    drawn = np.random.default_rng(1)

    def head(*shape: int, scale: float) -> tuple[Array, Array]:
        return (drawn.standard_normal(shape) * scale).astype(np.float32), np.zeros(shape[1], np.float32)

    layers = [layer_of(arrays, str(at)) for at in range(int(arrays["layers"]))]
    fitted = {
        "layers": layers[-PAIR_LAYERS:],
        "hidden": head(2 * width, HIDDEN, scale=0.05),
        "out": head(HIDDEN, len(RELATIONS), scale=0.1),
    }
    return {**embedded_of(arrays), "layers": layers[:-PAIR_LAYERS]}, fitted


def scores(lower: Weights, fitted: Weights, batch: Batch, key: Any = None) -> Any:
    """What is said of each pair: shape (batch, relations)."""
    weights = {**lower, "layers": [*lower["layers"], *fitted["layers"]]}
    x = encoder.states(weights, batch, key)
    second = batch["mask"] * batch["sides"]
    mean = (x * second[..., None]).sum(axis=1) / jnp.maximum(second.sum(axis=1, keepdims=True), 1.0)
    both = jnp.concatenate([x[:, 0], mean], axis=-1)
    if key is not None:
        both = jnp.where(jax.random.bernoulli(key, 1 - DROP_HEAD, both.shape), both / (1 - DROP_HEAD), 0.0)
    hidden = jax.nn.relu(both @ fitted["hidden"][0] + fitted["hidden"][1])
    return hidden @ fitted["out"][0] + fitted["out"][1]


def loss(fitted: Weights, lower: Weights, batch: Batch, key: Any) -> Any:
    """The mean cross-entropy of the relations."""
    likely = jax.nn.log_softmax(scores(lower, fitted, batch, key))
    own = jnp.take_along_axis(likely, batch["relation"][:, None], axis=-1)[:, 0]
    return -(own * batch["counted"]).sum() / jnp.maximum(batch["counted"].sum(), 1.0)


def fit(lower: Weights, fitted: Weights, read: Sequence[Example]) -> Weights:
    """The weights fitted to some pairs, with a head that learns ten times as fast."""
    lower = jax.tree.map(jnp.asarray, lower)
    pace = paced(fitted, 1.0) | {name: paced(fitted[name], 10.0) for name in ("hidden", "out")}
    ready: Weights = adamw.fit(
        fitted,
        lambda fitted, batch, key: loss(fitted, lower, batch, key),
        partial(encoder.batches, read),
        lambda *_: pace,
        epochs=EPOCHS,
        rate=RATE,
    )
    return ready


def packed(fitted: Weights) -> dict[str, Array]:
    """The arrays of the layer that was fitted, and of the head."""
    arrays: dict[str, Array] = {}
    for at, layer in enumerate(fitted["layers"]):
        arrays |= packed_layer(f"pair.{at}", layer)
    for name in ("hidden", "out"):
        arrays[f"pair.{name}.weights"] = fitted[name][0].astype(np.float16)
        arrays[f"pair.{name}.bias"] = fitted[name][1].astype(np.float32)
    return arrays


def report(lower: Weights, fitted: Weights, read: Sequence[Example], near: NDArray[np.bool_]) -> str:
    """How well what is said of some pairs agrees with their labels, in a few lines; ``near`` marks those of one
    session, which are all unrelated."""
    run = jax.jit(scores)
    lines = []
    for name, chosen in (("by authors", ~near), ("of one session", near)):
        shares, labels = [], []
        for batch in encoder.batches([each for each, own in zip(read, chosen, strict=True) if own], None):
            counted = batch["counted"] > 0
            shares.append(np.asarray(jax.nn.softmax(run(lower, fitted, batch)))[counted])
            labels.append(batch["relation"][counted])
        found, wanted = np.concatenate(shares), np.concatenate(labels)
        odds = found[:, RELATIONS.index("replaces")] + found[:, RELATIONS.index("contradicts")]
        lines.append(f"{len(wanted)} pairs {name}: right {(found.argmax(axis=1) == wanted).mean():.3f}")
        for title, mark in (("same >= .6", found[:, 0] >= 0.6), ("at odds >= .4", odds >= 0.4)):
            of = "  ".join(
                f"{each} {mark[wanted == at].mean():.3f}" for at, each in enumerate(RELATIONS) if (wanted == at).any()
            )
            lines.append(f"  {title}: {of}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Write the encoder with what reads relations, or report about authors who are left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--fold", type=int, default=None)
    given = parser.parse_args(arguments)
    if given.fold is not None and given.out:
        parser.error("what is fitted without a quarter of the authors is reported, not written")
    arrays, tokenizer, ends = encoder.packaged(without="pair.")
    stated, near = examples(sessions())
    read = pairs(stated, tokenizer, *ends)
    left_out = encoder.fold_of((each.author for each in read), given.fold)
    lower, fitted = started(arrays)
    fitted = fit(lower, fitted, [each for each in read if each.author not in left_out])
    if left_out:
        own = [at for at, each in enumerate(read) if each.author in left_out]
        print(report(lower, fitted, [read[at] for at in own], near[own]))
    if given.out:
        replace_tables(given.out / ENCODER, arrays | packed(fitted))


if __name__ == "__main__":
    main(sys.argv[1:])
