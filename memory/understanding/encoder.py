"""The encoder: what stands in a text and before it, as one vector for each word piece; and what two heads read in it.

Three layers of all-MiniLM-L6-v2, fitted further to labelled talk and to pairs of statements by
``memory/models/training/encoder.py``. The weights are small integers with a scale for each output. One head says what
each clause of a message is, the other how a newer statement stands to an older one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from memory.understanding.integer_product import product
from memory.understanding.transformer import Floats, Linear, Norm, QuantizedLinear, TransformerBlock, encode

if TYPE_CHECKING:
    from tokenizers import Tokenizer

HEADS: Final = 12
"""Attention heads of a layer."""
BEFORE: Final = 40
"""Word pieces of the text before that are read: its last ones."""
READ: Final = 220
"""Word pieces of a text that are read at once."""
STATEMENT: Final = 70
"""Word pieces of a statement that are read."""
SHORT: Final = 14
"""Words of a short message at most."""
PAIR_LAYERS: Final = 1
"""The last layers of the encoder that pairs have of their own."""
CORE_LAYERS: Final = 2
"""Layers at the top that what finds cores has of its own."""
RELATIONS: Final = ("same", "refines", "replaces", "contradicts", "unrelated")
"""How a newer statement stands to an older one: it says the same, adds or narrows, takes its place, cannot hold
together with it though nothing says that anything changed, or leaves it alone."""
_CORE: Final = ("inputs", "mean", "hidden", "out", "bias")
_UNKNOWN, _START, _END = "[UNK]", "[CLS]", "[SEP]"
Ids = list[int]


@dataclass(frozen=True, slots=True)
class Relation:
    """How likely each of :data:`RELATIONS` is."""

    same: float
    refines: float
    replaces: float
    contradicts: float
    unrelated: float


Relate = Callable[[Sequence[tuple[str, str]]], Sequence[Relation]]
"""Reads how the second, newer statement of each pair stands to the first."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """Word pieces as vectors: small integers ``rows`` times ``scales``, and what their place and their side add."""

    rows: NDArray[np.int8]
    scales: Floats
    places: Floats
    sides: Floats
    norm: Norm

    def __call__(self, ids: NDArray[np.int64], sides: NDArray[np.int64]) -> Floats:
        """The vectors (batch, tokens, width) of pieces; ``sides`` is 0 for the text before and 1 for the text."""
        x: Floats = self.rows[ids].astype(np.float32)
        x *= self.scales[ids][..., None]
        x += self.places[: ids.shape[1]]
        x += self.sides[sides]
        return self.norm(x)


@dataclass(frozen=True, slots=True)
class CoreHead:
    """What finds cores: layers of its own in the place of the upper ones, and a network that reads each word piece
    beside the mean of all."""

    blocks: Sequence[TransformerBlock]
    inputs: Floats
    mean: Floats
    hidden: Floats
    out: Floats
    bias: Floats

    def __call__(self, states: Floats) -> Floats:
        """The log-odds of word pieces out of their states, shape (pieces, width)."""
        before = states @ self.inputs + states.mean(axis=0) @ self.mean + self.hidden
        odds: Floats = (np.maximum(before, 0.0) @ self.out + self.bias)[:, 0]
        return odds


class Encoder:
    """The weights with their word pieces. Deterministic and thread-safe."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        embedded: Embedded,
        blocks: Sequence[TransformerBlock],
        clause: Linear,
        pair: Sequence[Linear],
        core: CoreHead | None = None,
        short_clause: Linear | None = None,
        pair_blocks: Sequence[TransformerBlock] = (),
    ):
        self._tokenizer = tokenizer
        self._embedded = embedded
        self._blocks = blocks
        self._clause = clause
        self._pair = pair
        self._core = core
        self._short_clause = short_clause
        self._pair_blocks = [*blocks[: len(blocks) - len(pair_blocks)], *pair_blocks]
        known = tokenizer.get_vocab()
        self._start, self._end = known[_START], known[_END]

    def clauses(self, text: str, spans: Sequence[tuple[int, int]], before: str) -> Floats:
        """What the head of clauses says of each of some spans of a text, in its order: shape (spans, outputs).
        ``before`` is the assistant's text that it answers."""
        return self.clause_outputs(text, self.clause_states(text, spans, before))

    def clause_outputs(self, text: str, states: Floats) -> Floats:
        """What the head of clauses says of each of some clauses of a text, by what was read of them: shape (clauses,
        outputs)."""
        head = self._short_clause if self._short_clause is not None and is_short(text) else self._clause
        return head(states) if len(states) else np.zeros((0, len(head.bias)), np.float32)

    def clause_states(self, text: str, spans: Sequence[tuple[int, int]], before: str) -> Floats:
        """What is read of each of those spans, before anything is concluded: shape (spans, 2 * width)."""
        before_ids = self._tokenizer.encode(_whole(before[-600:])).ids[-BEFORE:] if before else []
        read = self._tokenizer.encode(_whole(text))
        found = []
        for group, first, last in _groups_read_together(spans, read.offsets):
            # Behind the text before and the two marks around it.
            begin = len(before_ids) + 2 - first
            own = [
                [begin + place for place in range(first, last) if _touches(read.offsets[place], start, end)]
                or [begin + first]
                for start, end in group
            ]
            [states] = self._states([(before_ids, read.ids[first:last])], [[at for each in own for at in each]])
            found += [np.concatenate([states[at].mean(axis=0), states[at[0]]]) for at in own]
        return np.stack(found) if found else np.zeros((0, 0), np.float32)

    def relations(self, pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        """How the second, newer statement of each pair stands to the first."""
        if not pairs:
            return []
        hidden, out = self._pair
        scores = out(np.maximum(hidden(self.pair_states(pairs)), 0.0))
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        return [Relation(*row) for row in (raised / raised.sum(axis=1, keepdims=True)).tolist()]

    def pair_states(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """What is read of each pair of statements, before anything is concluded: shape (pairs, 2 * width)."""
        pieces = {text: self._pieces(text) for text in dict.fromkeys(chain.from_iterable(pairs))}
        ids = [(pieces[older], pieces[newer]) for older, newer in pairs]
        seconds = [range(len(older) + 2, len(older) + len(newer) + 3) for older, newer in ids]
        states = self._states(ids, [[0, *second] for second in seconds], self._pair_blocks)
        return np.stack(
            [
                np.concatenate([own[0], own[second.start : second.stop].mean(axis=0)])
                for second, own in zip(seconds, states, strict=True)
            ]
        )

    def core_odds(self, text: str) -> tuple[list[tuple[int, int]], list[float]]:
        """Where the word pieces of a statement stand in it, and the log-odds that each belongs to its core; nothing
        where these weights do not tell."""
        read = self._tokenizer.encode(_whole(text))
        ids, offsets = read.ids[:READ], read.offsets[:READ]
        if self._core is None or not ids:
            return [], []
        own = range(2, 2 + len(ids))
        blocks = [*self._blocks[:-CORE_LAYERS], *self._core.blocks]
        [states] = self._states([([], ids)], [own], blocks)
        return offsets, self._core(states[own.start : own.stop]).tolist()

    def _pieces(self, text: str) -> Ids:
        ids: Ids = self._tokenizer.encode(_whole(unpointed(text))).ids[:STATEMENT]
        return ids

    def _states(
        self,
        pairs: Sequence[tuple[Ids, Ids]],
        needed: Sequence[Sequence[int]],
        blocks: Sequence[TransformerBlock] | None = None,
    ) -> Floats:
        """The last states of some pairs of pieces, of those places of each that are ``needed``."""
        rows = [[self._start, *one, self._end, *two, self._end] for one, two in pairs]
        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), np.int64)
        sides = np.zeros((len(rows), longest), np.int64)
        mask = np.zeros((len(rows), longest), np.float32)
        wanted = np.zeros((len(rows), longest), np.bool_)
        for at, ((one, _), row) in enumerate(zip(pairs, rows, strict=True)):
            ids[at, : len(row)] = row
            sides[at, len(one) + 2 : len(row)] = 1
            mask[at, : len(row)] = 1.0
            wanted[at, needed[at]] = True
        return encode(self._embedded(ids, sides), mask, blocks or self._blocks, HEADS, wanted)


def encoder_of(stored: Mapping[str, Any]) -> Encoder:
    """The encoder out of its arrays."""

    def linear(name: str) -> Linear:
        weights = stored[f"{name}.rows"].astype(np.float32) * stored[f"{name}.scales"].astype(np.float32)
        return Linear(weights, stored[f"{name}.bias"].astype(np.float32))

    def norm(name: str) -> Norm:
        return Norm(stored[f"{name}.scale"].astype(np.float32), stored[f"{name}.shift"].astype(np.float32))

    def quantized(names: Sequence[str], often: bool) -> QuantizedLinear:
        rows, scales, bias = (
            np.concatenate([stored[f"{name}.{part}"] for name in names], axis=-1) for part in ("rows", "scales", "bias")
        )
        return QuantizedLinear(product(rows, often=often), scales.astype(np.float32), bias.astype(np.float32))

    def block(name: str, often: bool = False) -> TransformerBlock:
        return TransformerBlock(
            looks=quantized([f"{name}.{part}" for part in ("query", "key", "value")], often),
            attended=quantized([f"{name}.attended"], often),
            attended_norm=norm(f"{name}.attended_norm"),
            inner=quantized([f"{name}.inner"], often),
            outer=quantized([f"{name}.outer"], often),
            outer_norm=norm(f"{name}.outer_norm"),
        )

    layers = int(stored["layers"])
    embedded = Embedded(
        rows=stored["pieces.rows"],
        scales=stored["pieces.scales"].astype(np.float32),
        places=stored["places"].astype(np.float32),
        sides=stored["sides"].astype(np.float32),
        norm=norm("pieces.norm"),
    )
    pieces = stored["vocabulary"].tobytes().decode().split("\n")
    pair = [
        Linear(stored[f"pair.{name}.weights"].astype(np.float32), stored[f"pair.{name}.bias"])
        for name in ("hidden", "out")
        if f"pair.{name}.weights" in stored
    ]
    pair_blocks = [block(f"pair.{at}") for at in range(PAIR_LAYERS) if f"pair.{at}.query.rows" in stored]
    core = None
    if "core.inputs" in stored:
        own = [block(f"core.{at}") for at in range(layers - CORE_LAYERS, layers)]
        core = CoreHead(own, *(stored[f"core.{name}"].astype(np.float32) for name in _CORE))
    # Every message is read with these, and few texts with those of the heads alone.
    blocks = [block(str(at), often=True) for at in range(layers)]
    short_clause = linear("short") if "short.rows" in stored else None
    # What was fitted with the encoder is where the head for long messages begins.
    clause = linear("long" if "long.rows" in stored else "clause")
    return Encoder(tokenizer_of(pieces), embedded, blocks, clause, pair, core, short_clause, pair_blocks)


def is_short(message: str) -> bool:
    """Whether a message is so short that a head of its own reads its clauses: nothing in it tells how it is meant but
    the words themselves."""
    return len(message.split()) <= SHORT


def _whole(text: str) -> str:
    """A text with a mark in the place of each half of a surrogate pair, of as many characters."""
    return text.encode("utf-8", "replace").decode()


def unpointed(statement: str) -> str:
    """A statement without the mark at its end: who types with care says nothing else by it."""
    return statement.rstrip(" .!…")


def tokenizer_of(pieces: Sequence[str]) -> Tokenizer:
    """What cuts a text into some word pieces, without case and accents (Wu et al. 2016)."""
    # With the first text that the encoder reads: four megabytes that a start does not need.
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    tokenizer = Tokenizer(WordPiece({piece: at for at, piece in enumerate(pieces)}, unk_token=_UNKNOWN))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


def _groups_read_together(
    spans: Sequence[tuple[int, int]], offsets: Sequence[tuple[int, int]]
) -> list[tuple[list[tuple[int, int]], int, int]]:
    """Spans that are read together, with what stands around them: each group with its first piece and the one behind
    its last. All of a text that can be read at once is one group."""
    found: list[tuple[list[tuple[int, int]], int, int]] = []
    for start, end in spans:
        own = [place for place, offset in enumerate(offsets) if _touches(offset, start, end)] or [0]
        if found and own[-1] < found[-1][2]:
            found[-1][0].append((start, end))
        else:
            first = min(max(own[0] - READ // 4, 0), max(len(offsets) - READ, 0))
            found.append(([(start, end)], first, min(first + READ, len(offsets))))
    return found


def _touches(offset: tuple[int, int], start: int, end: int) -> bool:
    return offset[0] < end and offset[1] > start
