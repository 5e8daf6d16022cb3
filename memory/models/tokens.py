"""Counting tokens with tiktoken, on a vocabulary in the package. Never a download.

tiktoken's own loader would fetch what it does not find, and delete what has another hash than it expects; so the file
is read here. Loading o200k takes a quarter of a second and 45 MB (79 MB while tiktoken keeps its Python copy, which is
only for decoding), so it happens when texts must be counted exactly, in the thread that counts or behind a request that
grows towards its window (see :mod:`memory.services.window.counting`).

One vocabulary is enough: models that read with another one differ by a factor, and that is what calibration learns.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from memory.context.sizes import quick
from memory.language.static_embedding import DATA

log = logging.getLogger(__name__)

SLICE = 4096
"""Characters that are counted at once. tiktoken is quadratic in the length of a word, and fails altogether on some
hundred thousand spaces; cut at spaces, a text has at most one token more for each slice."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary by name, the SHA-256 of its file, and the pattern that cuts a text into what is encoded each by
    itself."""

    name: str
    sha256: str
    pattern: str

    @property
    def file(self) -> str:
        """What its file is called."""
        return f"{self.name}.tiktoken"


O200K = Vocabulary(
    "o200k_base",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "|".join(
        (
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        )
    ),
)
"""OpenAI's from GPT-4o on."""


class TokenCounter:
    """Counts tokens with one vocabulary, whose file lies in ``folder``; may be called from any thread."""

    def __init__(self, vocabulary: Vocabulary = O200K, folder: Path = DATA) -> None:
        self._vocabulary = vocabulary
        self._folder = folder
        self._loading = threading.Lock()
        self._encode: _Encode | None = None
        self._tried = False

    @property
    def ready(self) -> bool:
        """Whether a text can be counted without loading anything first."""
        return self._tried

    @property
    def exact(self) -> bool:
        """Whether texts are counted; False before the first, and where they are only estimated."""
        return self._encode is not None

    def load(self) -> None:
        """Load the vocabulary, once. Where that fails, texts are estimated, and the log says so."""
        with self._loading:
            if not self._tried:
                self._encode = _load(self._vocabulary, self._folder)
                self._tried = True

    def near(self, text: str) -> int:
        """Tokens of a text, estimated where the vocabulary is not loaded: for what is only told, not decided by."""
        return self.count(text) if self._tried else quick(text)

    def count(self, text: str) -> int:
        """Tokens of a text. What looks like a special token is counted as the text that it is."""
        if not self._tried:
            self.load()
        encode = self._encode
        if encode is None:
            return quick(text)
        if len(text) <= SLICE:
            return len(encode(text))
        return sum(len(encode(piece)) for piece in pieces(text))


def pieces(text: str) -> Iterator[str]:
    """A text in pieces of at most :data:`SLICE` characters, cut in front of a space where there is one in the last
    quarter."""
    at, end = 0, len(text)
    while end - at > SLICE:
        cut = max(text.rfind(" ", at + SLICE * 3 // 4, at + SLICE), text.rfind("\n", at + SLICE * 3 // 4, at + SLICE))
        cut = cut if cut > at else at + SLICE
        yield text[at:cut]
        at = cut
    yield text[at:]


class _Encode:
    """tiktoken's encoder, for counting only."""

    def __init__(self, vocabulary: Vocabulary, ranks: dict[bytes, int]) -> None:
        import tiktoken

        encoding = tiktoken.Encoding(
            vocabulary.name, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens={}
        )
        # It keeps a Python dictionary of all words beside its own table, to decode with.
        vars(encoding).pop("_mergeable_ranks", None)
        self._encoding = encoding

    def __call__(self, text: str) -> list[int]:
        return self._encoding.encode_ordinary(text)


def _load(vocabulary: Vocabulary, folder: Path) -> _Encode | None:
    try:
        return _encode(vocabulary, folder)
    except (OSError, ValueError, ImportError) as error:
        log.warning("tokens are estimated, not counted: %s", error)
        return None


@lru_cache(maxsize=1)
def _encode(vocabulary: Vocabulary, folder: Path) -> _Encode:
    """The encoder, loaded once in a process."""
    return _Encode(vocabulary, _ranks(folder / vocabulary.file, vocabulary.sha256))


def _ranks(file: Path, sha256: str) -> dict[bytes, int]:
    """Word → rank, out of a vocabulary's file: a word in base64 and its rank on each line.

    Raises:
        OSError: when it cannot be read.
        ValueError: when it is another file than we know.
    """
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise ValueError(f"{file} is not the vocabulary that it should be")
    try:
        return {base64.b64decode(word): int(rank) for word, rank in (line.split() for line in data.splitlines())}
    except binascii.Error as error:
        raise ValueError(f"{file}: {error}") from error
