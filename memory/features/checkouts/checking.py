"""Look citations up again where they stood, in the time that a request has for it. For a thread of its own.

What was found is kept by the file's time, size and number: as long as these are the same, only they are looked at. When
a request arrives they are, for the files that were asked for last; by the time that it is known what is to be shown,
its verdicts need no file any more.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from memory.checkout import Citation, CitationKind, LearnedAt
from memory.features.checkouts.declared import declared_version
from memory.features.checkouts.files import CheckoutFiles, FileSignature
from memory.features.checkouts.finding import mark_of
from memory.features.checkouts.looking import CheckoutView
from memory.learning.citations import needle
from memory.lru import LruDict

MOST_CHECKOUTS: Final = 16
"""Checkouts that are kept in sight."""
MOST_FILES: Final = 512
"""Files of a checkout of which it is kept what was found in them."""
MOST_CITATIONS: Final = 256
"""Citations of a file whose verdicts are kept."""
SOUGHT: Final = (CitationKind.SYMBOL, CitationKind.PORT)
"""What may stand in another file, where it is not in its own any more."""
AT_ARRIVAL: Final = 256
"""Files that are looked at when a request arrives: those that were asked for last."""
LARGE: Final = 64 * 1024
"""Bytes of a file that is searched while a request waits; what a larger one says is known at the next one."""
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


@dataclass(slots=True)
class CitedFile:
    """A file as it was when it was looked at, and what was found in it of its citations (None where that cannot be
    told); ``signature`` is None where there is no such file."""

    signature: FileSignature | None
    found: dict[Citation, CitationVerdict | None] = field(default_factory=dict)


Elsewhere = Mapping[tuple[str, str], tuple[int, str]]
"""Where a symbol stands that is not in its file any more (by root and name): with the references by which that was
sought, and the file, empty where it is nowhere."""


Reached = Mapping[tuple[str, Citation], tuple[str, bool]]
"""Whether what was awaited came where a checkout goes on from (by root and citation): with the commit that was checked
out when that was asked."""
_NONE_REACHED: Final[Reached] = {}


@dataclass(frozen=True, slots=True)
class Unknown:
    """That a citation has still to be looked up."""


UNKNOWN: Final = Unknown()


def verdict_of(
    cited: Citation,
    view: CheckoutView,
    file: CitedFile | None,
    elsewhere: Elsewhere,
    reached: Reached = _NONE_REACHED,
) -> CitationVerdict | Unknown | None:
    """A citation as it stands, by what is at hand of its file; None where that cannot be told."""
    verdict = _stands(cited, view, file, elsewhere)
    missed = isinstance(verdict, CitationVerdict) and verdict.state is not CitationState.HOLDS
    return None if missed and not _was_ever_here(cited, view, reached) else verdict


def _was_ever_here(cited: Citation, view: CheckoutView, reached: Reached) -> bool:
    """Whether it was ever there where this checkout comes from: what was awaited came with a commit, which another
    branch has not."""
    if not cited.seen or not cited.at:
        return cited.seen
    return reached.get((view.root, cited)) == (view.checkout.commit, True)


def _stands(
    cited: Citation, view: CheckoutView, file: CitedFile | None, elsewhere: Elsewhere
) -> CitationVerdict | Unknown | None:
    if cited.sort is CitationKind.VERSION:
        other = declared_version(cited, view.built)
        return CitationVerdict(CitationState.CHANGED if other else CitationState.HOLDS, cited, other or "")
    if file is None:
        return UNKNOWN
    if file.signature is None:
        return _missing_file_verdict(cited, view, elsewhere)
    if cited.sort is CitationKind.FILE and not cited.mark:
        return CitationVerdict(CitationState.HOLDS, cited)
    if cited.file not in view.files:
        return None  # it may be ignored now
    verdict = file.found.get(cited, UNKNOWN)
    return _symbol_verdict(verdict, view, elsewhere) if isinstance(verdict, CitationVerdict) else verdict


def at_hand(
    learnt: Sequence[LearnedAt],
    view: CheckoutView,
    files: Mapping[str, CitedFile],
    elsewhere: Elsewhere,
    reached: Reached = _NONE_REACHED,
) -> tuple[dict[str, tuple[CitationVerdict, ...]], list[LearnedAt]]:
    """Verdicts on what memories cite, by their ids, from what is at hand; and those memories of which something has
    still to be looked up. Asks no file."""
    known: dict[str, tuple[CitationVerdict, ...]] = {}
    unknown: list[LearnedAt] = []
    for each in learnt:
        there = filter(_is_looked_up, each.cites)
        verdicts = [verdict_of(cited, view, files.get(cited.file), elsewhere, reached) for cited in there]
        if any(isinstance(verdict, Unknown) for verdict in verdicts):
            unknown.append(each)
        else:
            known[each.memory] = tuple(verdict for verdict in verdicts if isinstance(verdict, CitationVerdict))
    return known, unknown


class CitationChecker:
    """Looks citations up. Of one thread only; what :meth:`refresh` gives is for others to read."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._files: LruDict[str, LruDict[str, CitedFile]] = LruDict(MOST_CHECKOUTS)
        self._contents: OrderedDict[tuple[str, str], tuple[FileSignature, bytes]] = OrderedDict()
        self._bytes = 0
        self.elsewhere: dict[tuple[str, str], tuple[int, str]] = {}
        self.reached: dict[tuple[str, Citation], tuple[str, bool]] = {}

    def check(
        self, learnt: Sequence[LearnedAt], view: CheckoutView, until: float, largest: int = MOST_BYTES
    ) -> Mapping[str, tuple[CitationVerdict, ...]]:
        """Verdicts on what memories cite, by their ids; no word of those for which there is no time, or of which a file
        is larger."""
        found: dict[str, tuple[CitationVerdict, ...]] = {}
        looked: dict[str, CitedFile] = {}
        with CheckoutFiles(view.root) as inside:
            for each in learnt:
                verdicts: list[CitationVerdict | Unknown | None] = []
                for cited in each.cites:
                    if self._clock() >= until:
                        return found
                    if _is_looked_up(cited):
                        verdicts.append(self._verdict(cited, view, inside, looked, largest))
                if not any(isinstance(verdict, Unknown) for verdict in verdicts):
                    found[each.memory] = tuple(each for each in verdicts if isinstance(each, CitationVerdict))
        return found

    def lost(self, learnt: Sequence[LearnedAt], root: str) -> list[Citation]:
        """What memories cite and is not in its file as it was, by the last look at that."""
        files = self._files.get(root) or LruDict[str, CitedFile](MOST_FILES)
        lost: list[Citation] = []
        for cited in filter(_is_looked_up, {cited for each in learnt for cited in each.cites}):
            file = files.get(cited.file)
            if file is None:
                continue
            found = file.found.get(cited)
            if file.signature is None or (found is not None and found.state is not CitationState.HOLDS):
                lost.append(cited)
        return lost

    def refresh(self, view: CheckoutView, until: float) -> Mapping[str, CitedFile]:
        """The files of a checkout that were asked for last as they are now, by their paths, with all that was looked up
        of them looked up again where they were written since. As far as there is time."""
        files = self._files.get(view.root) or LruDict[str, CitedFile](MOST_FILES)
        looked: dict[str, CitedFile] = {}
        with CheckoutFiles(view.root) as inside:
            for path in list(reversed(files))[:AT_ARRIVAL]:
                if self._clock() >= until:
                    break
                before = files[path]
                try:
                    file = self._file(view.root, path, inside)
                    if file is not before and file.signature is not None and path in view.files:
                        for cited in tuple(before.found):
                            self._look(cited, view.root, file, inside)
                except OSError:
                    continue
                looked[path] = file
        return looked

    def _verdict(
        self,
        cited: Citation,
        view: CheckoutView,
        inside: CheckoutFiles,
        looked: dict[str, CitedFile],
        largest: int,
    ) -> CitationVerdict | Unknown | None:
        """A citation as it stands; its file is looked at once at most."""
        try:
            if cited.sort is not CitationKind.VERSION and cited.file not in looked:
                looked[cited.file] = self._file(view.root, cited.file, inside)
            file = looked.get(cited.file)
            verdict = verdict_of(cited, view, file, self.elsewhere, self.reached)
            if (
                verdict is UNKNOWN
                and file is not None
                and file.signature is not None
                and cited not in file.found
                and file.signature.size <= largest
            ):
                self._look(cited, view.root, file, inside)
                verdict = verdict_of(cited, view, file, self.elsewhere, self.reached)
        except OSError:
            return None
        return verdict

    def _file(self, root: str, path: str, inside: CheckoutFiles) -> CitedFile:
        """A file as it is now, with what was found in it as long as it is the same.

        Raises:
            OSError: when it cannot be told whether it is there.
        """
        files = self._files.use(root, LruDict(MOST_FILES))
        signature = inside.signature(path)
        file = files.get(path)
        if file is None or file.signature != signature:
            file = CitedFile(signature)
        return files.put(path, file)

    def _look(self, cited: Citation, root: str, file: CitedFile, inside: CheckoutFiles) -> None:
        """Look a citation up in its file, if that is one that is read.

        Raises:
            OSError: when it cannot be read.
        """
        assert file.signature is not None
        content = self._content(root, cited.file, file.signature, inside)
        if len(file.found) >= MOST_CITATIONS:
            file.found.clear()
        file.found[cited] = _look(cited, content) if content is not None else None

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


def _is_looked_up(cited: Citation) -> bool:
    """Whether a citation is looked up: what is awaited and lies nowhere is not."""
    return cited.seen or bool(cited.file)


def _missing_file_verdict(cited: Citation, view: CheckoutView, elsewhere: Elsewhere) -> CitationVerdict | Unknown:
    new = view.renamed.get(cited.file)
    if new is not None:
        return CitationVerdict(CitationState.MOVED, cited, new)
    if view.stale:
        return UNKNOWN
    return _symbol_verdict(CitationVerdict(CitationState.GONE, cited), view, elsewhere)


def _symbol_verdict(verdict: CitationVerdict, view: CheckoutView, elsewhere: Elsewhere) -> CitationVerdict | Unknown:
    """What is known of a symbol that is not where it was: before it was sought elsewhere, nothing."""
    cited = verdict.cited
    if verdict.state is not CitationState.GONE or cited.sort not in SOUGHT:
        return verdict
    refs, file = elsewhere.get((view.root, cited.name), (0, ""))
    if refs != view.refs:
        return UNKNOWN
    return CitationVerdict(CitationState.MOVED, cited, file) if file else verdict


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
