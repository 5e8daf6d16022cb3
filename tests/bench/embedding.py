"""How well an embedder finds: recall@k on the paraphrase pairs and, with EVAL_HOME, on LoCoMo's dialogues.

    python -m tests.bench.embedding [--embedder static|minilm] [--folder DIR] [--table DIR] [--weight W]

Paraphrases: each query looks for its own sentence among all of the pairs' sentences, and then with the dialogue
turns as distractors. LoCoMo (categories 1 to 4): a document is one turn, "Speaker: text"; recall is the share of
a question's evidence turns in the top k, its mean over conversations. Rows: bm25 alone, cosine with a plain
query, cosine with an idf-weighted query, and "ABS cov + W·cos", BM25 as coverage (score ÷ the best that this
query could score) plus the cosine.
"""

import argparse
import gzip
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memory.language.words import stems

Floats = NDArray[np.float32]
PARAPHRASES = Path(__file__).parent.parent / "data" / "paraphrases.tsv"
CUTS = (5, 10, 20)


class Embedder(Protocol):
    """What the bench needs of an embedder."""

    def documents(self, texts: Sequence[str]) -> Floats: ...

    def query(self, text: str, idf: Callable[[str], float] | None = None) -> Floats: ...


@dataclass
class Bm25:
    """Okapi BM25 (k1 = 1.5, b = 0.75) over stems, whose scores are coverage: in [0, 1), comparable across queries."""

    texts: Sequence[str]
    _postings: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        bags = [stems(text) for text in self.texts]
        self._lengths = np.array([len(bag) for bag in bags], np.float32)
        self._mean = float(self._lengths.mean()) or 1.0
        for n, bag in enumerate(bags):
            for term, count in Counter(bag).items():
                self._postings.setdefault(term, []).append((n, count))

    def idf(self, stem: str) -> float:
        """ln(1 + (N − df + ½) / (df + ½)), at its largest for a stem that no text has."""
        df = len(self._postings.get(stem, ()))
        return math.log(1 + (len(self.texts) - df + 0.5) / (df + 0.5))

    def coverage(self, query: str) -> Floats:
        """Every text's score divided by the score of an endless text made of the query's words only."""
        scores = np.zeros(len(self.texts), np.float32)
        best = 0.0
        for term in stems(query):
            weight = self.idf(term)
            best += weight * 2.5
            for n, count in self._postings.get(term, ()):
                norm = 1.5 * (0.25 + 0.75 * float(self._lengths[n]) / self._mean)
                scores[n] += weight * count * 2.5 / (count + norm)
        return scores / np.float32(best) if best else scores


def rank_of(scores: Floats, target: int) -> int:
    """The place of a document, 0 the first; ties count against it."""
    return int((scores >= scores[target]).sum()) - 1


def paraphrases(
    embedder: Embedder, pairs: Sequence[tuple[str, str]], distractors: Sequence[str]
) -> dict[str, list[float]]:
    """Recall@1, @5, @10 in per cent by method."""
    texts = [memory for memory, _ in pairs] + list(distractors)
    bm25 = Bm25(texts)
    vectors = embedder.documents(texts)
    ranks: dict[str, list[int]] = {}
    for n, (_, query) in enumerate(pairs):
        covered = bm25.coverage(query)
        cosine = vectors @ embedder.query(query, bm25.idf)
        plain = vectors @ embedder.query(query, None)
        for method, scores in (
            ("plain query", plain),
            ("idf query", cosine),
            ("cov + cos idf", covered + cosine),
        ):
            ranks.setdefault(method, []).append(rank_of(scores, n))
    return {m: [100 * float(np.mean([r < k for r in found])) for k in (1, 5, 10)] for m, found in ranks.items()}


def load_locomo(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def turns_of(conversation: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The ids and the texts of a conversation's turns."""
    turns = [turn for session in conversation["sessions"] for turn in session["turns"]]
    return [t["id"] for t in turns], [f"{t['speaker']}: {t['text']}" for t in turns]


def locomo(embedder: Embedder, conversations: Sequence[dict[str, Any]], weight: float) -> dict[str, list[float]]:
    """Recall@5, @10, @20 in per cent by method, the mean over conversations."""
    means: dict[str, list[list[float]]] = {}
    for conversation in conversations:
        ids, texts = turns_of(conversation)
        place = {i: n for n, i in enumerate(ids)}
        bm25 = Bm25(texts)
        vectors = embedder.documents(texts)
        found: dict[str, list[list[float]]] = {}
        for question in conversation["questions"]:
            gold = {place[i] for i in question["evidence"] if i in place}
            if not gold or question["category"] == "adversarial":
                continue
            covered = bm25.coverage(question["question"])
            plain = vectors @ embedder.query(question["question"], None)
            weighted = vectors @ embedder.query(question["question"], bm25.idf)
            for method, scores in (
                ("bm25", covered),
                ("cos plain query", plain),
                ("cos idf query", weighted),
                (f"cov + {weight:g}·cos plain", covered + weight * plain),
                (f"cov + {weight:g}·cos idf", covered + weight * weighted),
            ):
                order = np.argsort(-scores, kind="stable")
                found.setdefault(method, []).append([len(gold & set(order[:k].tolist())) / len(gold) for k in CUTS])
        for method, rows in found.items():
            means.setdefault(method, []).append(np.mean(rows, 0).tolist())
    return {method: (100 * np.mean(rows, 0)).tolist() for method, rows in means.items()}


def show(title: str, cuts: Sequence[int], rows: dict[str, list[float]]) -> None:
    print(f"{title}\n{'':28}" + "".join(f"{f'R@{k}':>7}" for k in cuts))
    for method, values in rows.items():
        print(f"  {method:26}" + "".join(f"{v:7.1f}" for v in values))


def read_pairs(path: Path = PARAPHRASES) -> list[tuple[str, str]]:
    """The (memory, query) pairs of the file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(memory, query) for memory, query in (line.split("\t") for line in lines if line)]


def report(embedder: Embedder, weight: float) -> None:
    """Print every table for which there is data."""
    pairs = read_pairs()
    show(f"paraphrases, {len(pairs)} pairs among themselves", (1, 5, 10), paraphrases(embedder, pairs, ()))
    home = os.environ.get("EVAL_HOME")
    if not home:
        print("set EVAL_HOME for LoCoMo")
        return
    conversations = load_locomo(Path(home) / "data" / "membench" / "dev" / "locomo.jsonl.gz")
    turns = [text for conversation in conversations for text in turns_of(conversation)[1]]
    show(f"paraphrases among {len(turns)} dialogue turns", (1, 5, 10), paraphrases(embedder, pairs, turns))
    show("LoCoMo, categories 1 to 4", CUTS, locomo(embedder, conversations, weight))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", choices=("static", "minilm"), default="static")
    parser.add_argument("--folder", type=Path, help="where the MiniLM weights are")
    parser.add_argument("--table", type=Path, help="another static table than the one shipped")
    parser.add_argument("--weight", type=float, default=1.0, help="of the cosine beside the coverage")
    options = parser.parse_args()
    embedder: Embedder
    if options.embedder == "minilm":
        from memory.models.minilm import MiniLmEmbedding

        embedder = MiniLmEmbedding.load(options.folder)
    else:
        from memory.language.static_embedding import StaticEmbedding

        embedder = StaticEmbedding.load(options.table)
    report(embedder, options.weight)


if __name__ == "__main__":
    main()
