"""Look citations up again where they stood, in the time that a request has for it. For a thread of its own.

What was found is kept by the file's time and size: as long as these are the same, only they are looked at.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from memory.checkout import Citation, CitationKind, LearnedAt
from memory.features.checkouts.declared import declared_version
from memory.features.checkouts.files import CheckoutFiles, FileSignature
from memory.features.checkouts.finding import mark_of
from memory.features.checkouts.looking import CheckoutView
from memory.learning.citations import needle

MOST: Final = 8192
"""Citations whose verdict is kept."""


MOST_BYTES: Final = 4 * 2**20
"""Bytes of files that are kept at hand."""


class CitationState(StrEnum):
    """How a citation stands now."""

    HOLDS = "holds"
    CHANGED = "changed"
    MOVED = "moved"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """A citation as it stands now; ``now`` says where it is, or what is there instead."""

    state: CitationState
    cited: Citation
    now: str = ""


class CitationChecker:
    """Looks citations up. Of one thread only."""

    def __init__(self) -> None:
        self._cache: OrderedDict[tuple[str, str, Citation], tuple[FileSignature, CitationVerdict]] = OrderedDict()
        self._contents: OrderedDict[tuple[str, str], tuple[FileSignature, bytes]] = OrderedDict()
        self._bytes = 0
        self.elsewhere: dict[tuple[str, str], tuple[int, str]] = {}
        """Where a symbol stands that is not in its file any more (by root and name): with the references by which that
        was sought, and the file, empty where it is nowhere."""

    def check(
        self, learnt: Sequence[LearnedAt], view: CheckoutView, until: float
    ) -> Mapping[str, tuple[CitationVerdict, ...]]:
        """Verdicts on what memories cite, by their ids; no word of those for which there is no time."""
        found: dict[str, tuple[CitationVerdict, ...]] = {}
        with CheckoutFiles(view.root) as inside:
            for each in learnt:
                verdicts: list[CitationVerdict] = []
                for cited in each.cites:
                    if time.perf_counter() >= until:
                        return found
                    if cited.seen and (verdict := self._verdict(cited, view, inside)) is not None:
                        verdicts.append(verdict)
                found[each.memory] = tuple(verdicts)
        return found

    def _verdict(self, cited: Citation, view: CheckoutView, inside: CheckoutFiles) -> CitationVerdict | None:
        """A citation as it stands; None where that cannot be told."""
        if cited.sort is CitationKind.VERSION:
            other = declared_version(cited, view.built)
            return (
                CitationVerdict(CitationState.CHANGED, cited, other)
                if other
                else CitationVerdict(CitationState.HOLDS, cited)
            )
        try:
            signature = inside.signature(cited.file)
            if signature is None:
                return self._missing(cited, view)
            if cited.sort is CitationKind.FILE and not cited.mark:
                return CitationVerdict(CitationState.HOLDS, cited)
            if cited.file not in view.files:
                return None  # it may be ignored now
            key = (view.root, cited.file, cited)
            known = self._cache.get(key)
            if known is None or known[0] != signature:
                content = self._content(view.root, cited.file, signature, inside)
                if content is None:
                    return None
                verdict = _look(cited, content)
                known = self._cache[key] = signature, verdict
                while len(self._cache) > MOST:
                    self._cache.popitem(last=False)
            self._cache.move_to_end(key)
        except OSError:
            return None
        return self._sought(known[1], view)

    def _content(self, root: str, path: str, signature: FileSignature, inside: CheckoutFiles) -> bytes | None:
        """A file's content, of the last ones at hand: several memories cite the same file."""
        known = self._contents.pop((root, path), None)
        if known is not None:
            self._bytes -= len(known[1])
        content = known[1] if known is not None and known[0] == signature else inside.read(path)
        if content is None:
            return None
        self._contents[root, path] = signature, content
        self._bytes += len(content)
        while self._bytes > MOST_BYTES:
            _, (_, gone) = self._contents.popitem(last=False)
            self._bytes -= len(gone)
        return content

    def _missing(self, cited: Citation, view: CheckoutView) -> CitationVerdict | None:
        """A citation whose file is not there."""
        new = view.renamed.get(cited.file)
        if new is not None:
            return CitationVerdict(CitationState.MOVED, cited, new)
        if cited.file in view.files and cited.sort is CitationKind.FILE:
            return CitationVerdict(CitationState.GONE, cited)
        return (
            CitationVerdict(CitationState.GONE, cited)
            if cited.sort is CitationKind.FILE
            else self._sought(CitationVerdict(CitationState.GONE, cited), view)
        )

    def _sought(self, verdict: CitationVerdict, view: CheckoutView) -> CitationVerdict:
        """What is known of a symbol that is not where it was."""
        if verdict.state is not CitationState.GONE or verdict.cited.sort not in (
            CitationKind.SYMBOL,
            CitationKind.PORT,
        ):
            return verdict
        refs, file = self.elsewhere.get((view.root, verdict.cited.name), (0, ""))
        if refs != view.refs:
            return CitationVerdict(CitationState.CHANGED, verdict.cited, f"not in {verdict.cited.file} any more")
        return CitationVerdict(CitationState.MOVED, verdict.cited, file) if file else verdict


def _look(cited: Citation, content: bytes) -> CitationVerdict:
    """A citation in what its file holds."""
    pattern = needle(cited)
    if pattern is not None:
        return CitationVerdict(CitationState.HOLDS if pattern.search(content) else CitationState.GONE, cited)
    if mark_of(content, cited.line) == cited.mark:
        return CitationVerdict(CitationState.HOLDS, cited)
    if cited.line:
        for number, line in enumerate(content.split(b"\n"), 1):
            if line.strip() and mark_of(line.strip(), 0) == cited.mark:
                return CitationVerdict(CitationState.MOVED, cited, f"line {number} of {cited.file}")
        return CitationVerdict(CitationState.CHANGED, cited, f"was line {cited.line} of {cited.file}")
    return CitationVerdict(CitationState.CHANGED, cited)
