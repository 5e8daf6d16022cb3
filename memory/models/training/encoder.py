"""Make the encoder: ``python -m memory.models.training.encoder --out memory/models/data`` (extra ``training``).

The first layers of all-MiniLM-L6-v2 are fitted further to two tasks at once: what each clause of the labelled talk is,
and how the newer statement of each pair stands to the older one. Word pieces that neither the training data nor common
English needs are left out. With ``--without a,b`` those authors are left out of training, and what the encoder says of
them is compared with their labels: every figure about it in the documentation comes from there.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory.language.static_embedding import DATA as TABLES
from memory.models.minilm import fetch, safetensors
from memory.models.training import adamw
from memory.models.training.adamw import paced
from memory.models.training.clauses import KINDS, fit_boundary
from memory.models.training.examples import LENGTHS, Example, asides, groups, of_message, pairs, related
from memory.models.training.fitting import average_precision
from memory.models.training.packing import LINEAR, NORMS, as_small_integers, packed_layer, packed_linear, packed_norm
from memory.models.training.replacing import replace_tables
from memory.models.training.talk import gaps, sessions, spanned
from memory.understanding.clauses import ClauseSplitter
from memory.understanding.encoder import HEADS as ATTENTION
from memory.understanding.encoder import RELATIONS, tokenizer_of
from memory.understanding.network import FLAGS, LASTING_KINDS, SCOPES, softmax
from memory.understanding.packaged_weights import ENCODER

LAYERS: Final = 3
COMMON: Final = 9000
"""Word pieces of plain letters among the first of the vocabulary are kept, used in the data or not."""
OUTPUTS: Final = KINDS + len(SCOPES) + len(FLAGS)
EPOCHS: Final = 3
RATE: Final = 1.5e-4
TOKENS: Final = 1536
"""Word pieces of a batch, padding counted."""
DROP: Final = 0.15
DROP_HEAD: Final = 0.2
PLAIN: Final = "plain"
"""The folder of short messages, each with a plain rule or something like one."""
OFTEN: Final = 2
"""How often each of those is read: they are few, and unlike the rest."""
MIXED: Final = ("aside", "findings", "life")
"""The folders of messages in which what lasts stands beside what looks just like it: told with a request, in a finding
about code, in a talk about the person's life."""
BESIDE: Final = 0.4
"""What scope and flags weigh beside the kind."""
RARE: Final = (6.0, 2.0, 2.0, 4.0)
"""What a clause weighs that has one of the flags: few have, and most of them could go unseen at little cost."""
FOLDS: Final = 4
_MODEL: Final = "encoder.layer.{}."
Weights = dict[str, Any]
Array = NDArray[Any]
Batch = dict[str, Array]


def pruned(tokenizer: Tokenizer, texts: Iterable[str]) -> list[int]:
    """The word pieces to keep, in the order of the vocabulary: special ones, single characters of the scripts in the
    texts, what the texts use at least twice, and common pieces of plain letters."""
    used: Counter[int] = Counter()
    for text in texts:
        used.update(tokenizer.encode(text, add_special_tokens=False).ids)
    names = {at: name for name, at in tokenizer.get_vocab().items()}

    def is_used(at: int) -> bool:
        name = names[at]
        bare = name.removeprefix("##")
        plain = re.fullmatch("[a-z]+", bare) is not None
        return (
            name in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
            or used[at] >= 2
            or (plain and at < COMMON)
            or (len(bare) == 1 and (plain or used[at] > 0))
        )

    return [at for at in range(len(names)) if is_used(at)]


def started_on(minilm: Path | None, texts: Sequence[str]) -> tuple[Weights, list[str]]:
    """The weights that the fitting begins with, out of MiniLM, and the word pieces that some texts need."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = fetch(minilm or Path(scratch))
        original = Tokenizer.from_file(str(folder / "tokenizer.json"))
        original.no_padding()
        original.no_truncation()
        source = {name: np.array(tensor) for name, tensor in safetensors(folder / "model.safetensors").items()}
    kept = pruned(original, texts)
    names = {at: name for name, at in original.get_vocab().items()}
    return started(source, kept, np.random.default_rng(0)), [names[at] for at in kept]


def started(weights: Mapping[str, NDArray[np.float32]], pieces: Sequence[int], rng: np.random.Generator) -> Weights:
    """The weights that the fitting begins with."""

    def linear(name: str) -> tuple[Array, Array]:
        return weights[f"{name}.weight"].T.copy(), weights[f"{name}.bias"].copy()

    def norm(name: str) -> tuple[Array, Array]:
        return weights[f"{name}.weight"].copy(), weights[f"{name}.bias"].copy()

    def head(outputs: int) -> tuple[Array, Array]:
        drawn = rng.standard_normal((2 * width, outputs)) * 0.02
        return drawn.astype(np.float32), np.zeros(outputs, np.float32)

    width = weights["embeddings.LayerNorm.bias"].shape[0]
    return {
        "pieces": weights["embeddings.word_embeddings.weight"][list(pieces)].copy(),
        "places": weights["embeddings.position_embeddings.weight"][: LENGTHS[-1]].copy(),
        "sides": weights["embeddings.token_type_embeddings.weight"].copy(),
        "norm": norm("embeddings.LayerNorm"),
        "layers": [
            {own: linear(_MODEL.format(at) + name) for own, name in LINEAR.items()}
            | {own: norm(_MODEL.format(at) + name) for own, name in NORMS.items()}
            for at in range(LAYERS)
        ],
        "clause": head(OUTPUTS),
        "pair": head(len(RELATIONS)),
    }


def states(weights: Weights, batch: Batch, key: Any = None) -> Any:
    """The last hidden states; with a ``key`` some of what is added is dropped."""
    keys = [None] * (2 * LAYERS + 1) if key is None else list(jax.random.split(key, 2 * LAYERS + 1))
    rows, length = batch["ids"].shape
    x = weights["pieces"][batch["ids"]] + weights["places"][:length] + weights["sides"][batch["sides"]]
    x = _dropped(_normed(x, weights["norm"]), keys[-1], DROP)
    padding = jnp.where(batch["mask"] > 0, 0.0, -1e9)[:, None, None, :]
    size = x.shape[-1] // ATTENTION

    def split(flat: Any) -> Any:
        return flat.reshape(rows, length, ATTENTION, size).transpose(0, 2, 1, 3)

    for at, layer in enumerate(weights["layers"]):
        query, key_, value = (split(_through(x, layer[name])) for name in ("query", "key", "value"))
        shares = jax.nn.softmax(query @ key_.transpose(0, 1, 3, 2) * size**-0.5 + padding, axis=-1)
        mixed = (shares @ value).transpose(0, 2, 1, 3).reshape(rows, length, -1)
        x = _normed(x + _dropped(_through(mixed, layer["attended"]), keys[2 * at], DROP), layer["attended_norm"])
        inner = jax.nn.gelu(_through(x, layer["inner"]), approximate=False)
        x = _normed(x + _dropped(_through(inner, layer["outer"]), keys[2 * at + 1], DROP), layer["outer_norm"])
    return x


def clause_outputs(weights: Weights, batch: Batch, key: Any = None) -> Any:
    """What is said of each clause of each message: shape (batch, clauses, outputs)."""
    x = states(weights, batch, key)
    both = jnp.concatenate([batch["pool"] @ x, batch["first"] @ x], axis=-1)
    return _through(_dropped(both, key, DROP_HEAD), weights["clause"])


def pair_outputs(weights: Weights, batch: Batch, key: Any = None) -> Any:
    """What is said of each pair: shape (batch, relations)."""
    x = states(weights, batch, key)
    second = batch["mask"] * batch["sides"]
    mean = (x * second[..., None]).sum(axis=1) / jnp.maximum(second.sum(axis=1, keepdims=True), 1.0)
    return _through(_dropped(jnp.concatenate([x[:, 0], mean], axis=-1), key, DROP_HEAD), weights["pair"])


def loss(weights: Weights, batch: Batch, key: Any) -> Any:
    """What is to be made small: cross-entropies of kind, scope and flags, or of the relation."""
    if "relation" in batch:
        return _cross_entropy(pair_outputs(weights, batch, key), batch["relation"], batch["counted"])
    outputs = clause_outputs(weights, batch, key)
    counted, kinds = batch["counted"], batch["kind"]
    flagged = outputs[..., KINDS + len(SCOPES) :]
    known = (counted * (kinds < len(LASTING_KINDS)))[..., None]
    marked = batch["flags"]
    weight = known * (1.0 + marked * (jnp.asarray(RARE) - 1.0))
    of_flags = ((jnp.logaddexp(0.0, flagged) - flagged * marked) * weight).sum() / jnp.maximum(known.sum(), 1.0)
    of_scope = _cross_entropy(
        outputs[..., KINDS : KINDS + len(SCOPES)], jnp.maximum(batch["scope"], 0), counted * (batch["scope"] >= 0)
    )
    return _cross_entropy(outputs[..., :KINDS], kinds, counted) + BESIDE * (of_scope + of_flags)


def fit(weights: Weights, examples: Sequence[Example]) -> Weights:
    """The weights fitted to some examples, with heads, which begin with nothing, that learn ten times as fast."""
    fitted: Weights = adamw.fit(
        weights,
        loss,
        partial(batches, examples),
        lambda weights, head: paced(weights, 1.0) | {head: paced(weights[head], 10.0)},
        epochs=EPOCHS,
        rate=RATE,
        head=lambda batch: "pair" if "relation" in batch else "clause",
    )
    return fitted


def batches(examples: Sequence[Example], rng: np.random.Generator | None) -> Iterator[Batch]:
    """The examples in batches of one task and one length, in any order; without ``rng`` in their own as far as that
    goes."""

    def shape(at: int) -> tuple[bool, int]:
        return examples[at].relation >= 0, next(size for size in LENGTHS if len(examples[at].ids) <= size)

    order = sorted(range(len(examples)), key=lambda at: (*shape(at), rng.random() if rng else at))
    groups = []
    for (_, length), own in groupby(order, key=shape):
        members = list(own)
        rows = max(TOKENS // length, 1)
        groups += [(members[at : at + rows], rows, length) for at in range(0, len(members), rows)]
    if rng:
        rng.shuffle(groups)
    for chosen, rows, length in groups:
        yield _batch([examples[at] for at in chosen], rows, length)


def _batch(chosen: Sequence[Example], rows: int, length: int) -> Batch:
    batch: Batch = {
        "ids": np.zeros((rows, length), np.int32),
        "sides": np.zeros((rows, length), np.int32),
        "mask": np.zeros((rows, length), np.float32),
    }
    for row, example in enumerate(chosen):
        batch["ids"][row, : len(example.ids)] = example.ids
        batch["sides"][row, example.before : len(example.ids)] = 1
        batch["mask"][row, : len(example.ids)] = 1.0
    if chosen[0].relation >= 0:
        batch["relation"] = np.zeros(rows, np.int32)
        batch["relation"][: len(chosen)] = [each.relation for each in chosen]
        batch["counted"] = (np.arange(rows) < len(chosen)).astype(np.float32)
        return batch
    many = 16 if length <= 96 else 32
    batch |= {
        "pool": np.zeros((rows, many, length), np.float32),
        "first": np.zeros((rows, many, length), np.float32),
        "counted": np.zeros((rows, many), np.float32),
        "kind": np.zeros((rows, many), np.int32),
        "scope": np.full((rows, many), -1, np.int32),
        "flags": np.zeros((rows, many, len(FLAGS)), np.float32),
    }
    for row, example in enumerate(chosen):
        for column, (own, kind, scope, flags) in enumerate(example.clauses[:many]):
            batch["pool"][row, column, own] = 1.0 / len(own)
            batch["first"][row, column, own[0]] = 1.0
            batch["counted"][row, column] = 1.0
            batch["kind"][row, column] = kind
            batch["scope"][row, column] = scope
            batch["flags"][row, column] = flags
    return batch


def packed(weights: Weights, vocabulary: Sequence[str]) -> dict[str, Array]:
    """The arrays of an encoder: matrices as small integers with a scale for each output, the rest in half precision."""
    arrays: dict[str, Array] = {
        "vocabulary": np.frombuffer("\n".join(vocabulary).encode(), np.uint8),
        "layers": np.array(LAYERS),
        "places": weights["places"].astype(np.float16),
        "sides": weights["sides"].astype(np.float16),
    }
    arrays["pieces.rows"], arrays["pieces.scales"] = as_small_integers(weights["pieces"], 1)
    arrays |= packed_norm("pieces.norm", weights["norm"])
    for at, layer in enumerate(weights["layers"]):
        arrays |= packed_layer(f"{at}", layer)
    return arrays | packed_linear("clause", weights["clause"]) | packed_linear("pair", weights["pair"])


def figures(weights: Weights, examples: Sequence[Example]) -> str:
    """How well the encoder agrees with the labels of some examples, in a few lines."""
    lines = []
    for of_pairs in (False, True):
        own = [each for each in examples if (each.relation >= 0) is of_pairs]
        outputs, wanted = [], []
        run = jax.jit(pair_outputs if of_pairs else clause_outputs)
        for batch in batches(own, None):
            counted = batch["counted"] > 0
            outputs.append(np.asarray(run(weights, batch))[counted])
            wanted.append(batch["relation" if of_pairs else "kind"][counted])
        if not own:
            continue
        scores, labels = np.concatenate(outputs), np.concatenate(wanted)
        kinds = scores if of_pairs else scores[:, :KINDS]
        shares = softmax(kinds)
        if of_pairs:
            lines.append(
                f"pairs n {len(labels)}  right {(shares.argmax(axis=1) == labels).mean():.3f}  average precision"
            )
            for at, name in enumerate(RELATIONS):
                lines.append(f"  {name} {average_precision(shares[:, at], labels == at):.3f}")
        else:
            odds, lasts = shares[:, : len(LASTING_KINDS)].sum(axis=1), labels < len(LASTING_KINDS)
            kind = (kinds[lasts][:, : len(LASTING_KINDS)].argmax(axis=1) == labels[lasts]).mean()
            precise = average_precision(odds, lasts)
            lines.append(f"clauses n {len(labels)}  average precision of keeping {precise:.3f}  kind {kind:.3f}")
            lines += [
                f"  at {least}: {lasts[odds >= least].mean():.3f}/{(odds[lasts] >= least).mean():.3f}"
                for least in (0.5, 0.75, 0.9, 0.95)
            ]
    return "\n".join(lines)


def _through(x: Any, own: tuple[Any, Any]) -> Any:
    return x @ own[0] + own[1]


def _normed(x: Any, own: tuple[Any, Any]) -> Any:
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-12) * own[0] + own[1]


def _dropped(x: Any, key: Any, share: float) -> Any:
    return x if key is None else jnp.where(jax.random.bernoulli(key, 1 - share, x.shape), x / (1 - share), 0.0)


def _cross_entropy(scores: Any, wanted: Any, counted: Any) -> Any:
    likely = jnp.take_along_axis(jax.nn.log_softmax(scores), wanted[..., None], axis=-1)[..., 0]
    return -(likely * counted).sum() / jnp.maximum(counted.sum(), 1.0)


def packaged(without: str) -> tuple[dict[str, Array], Tokenizer, tuple[int, int]]:
    """The arrays of the encoder that is in the package, but for those whose names begin so, what cuts a text into its
    word pieces, and the pieces with which a text begins and ends."""
    with np.load(TABLES / ENCODER) as stored:
        arrays = {name: array for name, array in stored.items() if not name.startswith(without)}
    tokenizer = tokenizer_of(arrays["vocabulary"].tobytes().decode().split("\n"))
    return arrays, tokenizer, ends_of(tokenizer)


def ends_of(tokenizer: Tokenizer) -> tuple[int, int]:
    """The pieces with which a text begins and ends."""
    known = tokenizer.get_vocab()
    return known["[CLS]"], known["[SEP]"]


def fold_of(authors: Iterable[str], fold: int | None) -> set[str]:
    """A quarter of some authors, to be left out; nobody without ``fold``."""
    drawn: list[str] = np.random.default_rng(0).permutation(sorted(set(authors))).tolist()
    return set() if fold is None else set(drawn[fold::FOLDS])


def main(arguments: Sequence[str]) -> None:
    """Fit to everything and write the weights, or report about authors who are left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--without", default="")
    parser.add_argument("--minilm", type=Path, default=None, help="a folder with MiniLM's two files")
    given = parser.parse_args(arguments)
    talk = sessions()
    cut = ClauseSplitter(fit_boundary(*gaps(talk)))
    read_more = [*talk, *(each for each in groups(PLAIN) for _ in range(OFTEN))]
    read_more += [each for folder in MIXED for each in groups(folder)]
    messages = spanned(read_more, cut.split, lambda sentence: [sentence])
    texts = [text for each in messages for text in (each.text, each.before)]
    for each in [*groups("statements"), *groups("passing")]:
        texts += [each["older"], *(text for _, text, *_ in each["newer"])]
    weights, vocabulary = started_on(given.minilm, texts)
    tokenizer = tokenizer_of(vocabulary)
    ends = ends_of(tokenizer)
    read = filter(None, (of_message(each, tokenizer, *ends) for each in messages))
    examples = [*read, *pairs(related(asides(talk)), tokenizer, *ends)]
    left_out = frozenset(given.without.split(",")) - {""}
    fitted = fit(weights, [each for each in examples if each.author not in left_out])
    if left_out:
        print(figures(fitted, [each for each in examples if each.author in left_out]))
    if given.out:
        arrays = packed(fitted, vocabulary)
        replace_tables(given.out / ENCODER, arrays)


if __name__ == "__main__":
    main(sys.argv[1:])
