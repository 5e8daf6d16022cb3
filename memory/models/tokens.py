"""Counting tokens with tiktoken, on the vocabularies that litellm carries. Never a download.

tiktoken's own loader would fetch what it does not find, and delete what has another hash than it expects; so the file
is read here. Loading o200k takes a quarter of a second and 45 MB (79 MB while tiktoken keeps its Python copy, which is
only for decoding), so it happens when the first text is counted, in the thread that counts.

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
from pathlib import Path

from memory.context.sizes import quick
from memory.models import bundled

log = logging.getLogger(__name__)

SLICE = 4096
"""Characters that are counted at once. tiktoken is quadratic in the length of a word, and fails altogether on some
hundred thousand spaces; cut at spaces, a text has at most one token more for each slice."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A vocabulary by name: its file (named, as tiktoken does, by the SHA-1 of its address), that file's SHA-256, and
    the pattern that splits a text into what is encoded word by word."""

    name: str
    file: str
    sha256: str
    pattern: str


O200K = Vocabulary(
    "o200k_base",
    "fb374d419588a4632f3f557e76b4b70aebbca790",
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

CL100K = Vocabulary(
    "cl100k_base",
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "|".join(
        (
            r"'(?i:[sdmt]|ll|ve|re)",
            r"[^\r\n\p{L}\p{N}]?+\p{L}++",
            r"\p{N}{1,3}+",
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
            r"\s++$",
            r"\s*[\r\n]",
            r"\s+(?!\S)",
            r"\s",
        )
    ),
)
"""OpenAI's before."""


def vocabulary_of(model: str) -> Vocabulary:
    """The vocabulary that is nearest to a model's own: OpenAI's older one for GPT-3.5 and the first GPT-4."""
    name = model.lower().rpartition("/")[2]
    older = name.startswith(("gpt-3.5", "gpt-35", "text-embedding-")) or (
        name.startswith("gpt-4") and not name.startswith(("gpt-4o", "gpt-4.", "gpt-41", "gpt-45"))
    )
    return CL100K if older else O200K


class Tokens:
    """Counts tokens with one vocabulary; may be called from any thread."""

    def __init__(self, vocabulary: Vocabulary = O200K) -> None:
        self._vocabulary = vocabulary
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
                self._encode = _load(self._vocabulary)
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


def _load(vocabulary: Vocabulary) -> _Encode | None:
    folder = bundled.vocabularies()
    try:
        if folder is None:
            raise FileNotFoundError("litellm carries no vocabularies")
        return _Encode(vocabulary, _ranks(folder / vocabulary.file, vocabulary.sha256))
    except (OSError, ValueError, ImportError) as error:
        log.warning("tokens are estimated, not counted: %s", error)
        return None


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
