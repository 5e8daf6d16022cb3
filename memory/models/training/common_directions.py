"""Make what the vectors of all texts have in common: ``python -m memory.models.training.common_directions --out
memory/models/data``. It is made after the embedder's table, of as many messages and replies of each language."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from memory.language.common_directions import COMMON
from memory.language.static_embedding import StaticEmbedding
from memory.models.training.fitting import Floats
from memory.models.training.talk import BREAK, messages, sessions

LANGUAGES: Final = ("en", "de", "es")
OF_EACH: Final = 1200
DIRECTIONS: Final = 2


def common() -> Floats:
    """Their mean, and the directions in which they differ most."""
    by_language: dict[str, list[str]] = {}
    for session, reply, rows in messages(sessions()):
        said = " ".join(text for label, text in rows if label != BREAK)
        by_language.setdefault(str(session["lang"]), []).extend([said, reply] if reply else [])
    drawn = random.Random(2)
    texts = [text for name in LANGUAGES for text in drawn.sample(by_language[name], OF_EACH)]
    vectors = StaticEmbedding.load().documents(texts)
    mean = vectors.mean(axis=0)
    _, _, directions = np.linalg.svd(vectors - mean, full_matrices=False)
    return np.vstack([mean, directions[:DIRECTIONS]]).astype(np.float32)


def main(arguments: Sequence[str]) -> None:
    """Write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    np.save(parser.parse_args(arguments).out / COMMON, common())


if __name__ == "__main__":
    main(sys.argv[1:])
