"""All features, one behind the other in the order of their list; what each may take of a request, of a night and of a
look at health is settled here."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, Final, TypeVar

from memory.fact import Fact, Passage
from memory.hooks.feature import (
    Feature,
    FeatureErasure,
    FeatureLesson,
    FeatureQuestion,
    FeatureRequest,
    Follower,
    MemoryMark,
)
from memory.ports import Forgotten, Guard, Journaled
from memory.session import Arrival, Session

F = TypeVar("F", bound=Feature)

REQUEST_TOKENS: Final = 200
"""What one feature may add to a request."""
NIGHT_SECONDS: Final = 600.0
HEALTH_SECONDS: Final = 2.0
CONFIRMED_SECONDS: Final = 2.0
"""A person waits for it."""
MARK_SECONDS: Final = 0.002
"""What all features together may take to say how memories are shown, where nothing else is set; each sees to that
itself."""
MARK_FAILS: Final = 0.1
"""After so many seconds more one that does not is given up, and counted."""

_BYTES_PER_TOKEN: Final = 4
_TAG: Final = re.compile(r"<(?=\s*+(?:/\s*+)?from-[\w-]+\s*>)")


class Features:
    """The open features."""

    def __init__(self, features: Iterable[Feature], guard: Guard, mark_seconds: float = MARK_SECONDS) -> None:
        self._features = tuple(features)
        self._guard = guard
        self._mark_seconds = mark_seconds

    def __iter__(self) -> Iterator[Feature]:
        return iter(self._features)

    def open(self, features: Iterable[Feature]) -> None:
        """These are open from now on: core's services, which call the chain, are what features are opened with."""
        self._features = tuple(features)

    def start(self) -> None:
        """Memory is open: what goes on beside the requests begins."""
        for each in self._features:
            each.start()

    async def stop(self) -> None:
        """And ends."""
        for each in self._features:
            await each.stop()

    def of(self, kind: type[F]) -> F:
        """The open feature of a class.

        Raises:
            LookupError: when there is none.
        """
        for each in self._features:
            if isinstance(each, kind):
                return each
        raise LookupError(f"there is no feature {kind.name!r}")

    def port(self, kind: type[Any]) -> Any:
        """What a feature does for a port of core; None where none does."""
        return next((filled for each in self._features if (filled := each.port(kind)) is not None), None)

    @property
    def followers(self) -> tuple[Follower, ...]:
        """The workers of features that follow the journal."""
        return tuple(chain.from_iterable(each.followers() for each in self._features))

    def exporting(self, sort: str) -> Feature | None:
        """The feature whose records have this sort."""
        return next((each for each in self._features if sort and each.exported == sort), None)

    @property
    def exported(self) -> tuple[str, ...]:
        """The sorts of all records of features."""
        return tuple(each.exported for each in self._features if each.exported)

    @property
    def counted(self) -> tuple[str, ...]:
        """What an import calls the records of each feature that has any."""
        return tuple(each.counted for each in self._features if each.exported)

    async def arrived(self, session: Session, arrival: Arrival) -> None:
        """A request of a session has come."""
        for each in self._features:
            if type(each).arrived is not Feature.arrived:
                await each.arrived(session, arrival)

    async def marks(
        self, session: Session, arrival: Arrival, memories: Sequence[Fact | Passage]
    ) -> Mapping[str, MemoryMark]:
        """How memories are shown; what several say of one stands behind it side by side."""
        marked: dict[str, MemoryMark] = {}
        until = time.perf_counter() + self._mark_seconds
        for each in self._features:
            if type(each).marks is Feature.marks or not memories:
                continue
            # Without any time left, too, a feature says what must not be shown.
            left = max(until - time.perf_counter(), 0.0)
            marks, _ = await self._guard(
                each.marks(session, arrival, memories, left),
                default=dict[str, MemoryMark](),
                timeout_seconds=MARK_FAILS + self._mark_seconds,
                operation=f"marking what is shown ({each.name})",
            )
            for id, mark in marks.items():
                other = marked.get(id, MemoryMark())
                words = "; ".join(filter(None, (other.words, mark.words)))
                marked[id] = MemoryMark(
                    words, other.weight * mark.weight, mark.sure and (other.sure or not other.words)
                )
        return marked

    async def before_request(self, request: FeatureRequest, tokens: int, seconds: float) -> str:
        """What they add, framed; those that come first have first what is left of the tokens."""
        added: list[str] = []
        for each in self._features:
            most = min(REQUEST_TOKENS, tokens)
            if type(each).before_request is Feature.before_request or most <= 0 or seconds <= 0:
                continue
            text, _ = await self._guard(
                each.before_request(request, most),
                default="",
                timeout_seconds=seconds,
                operation=f"adding to a request ({each.name})",
            )
            framed = f"<from-{each.name}>\n{_TAG.sub('&lt;', text.strip())}\n</from-{each.name}>"
            cost = -(-len(framed.encode()) // _BYTES_PER_TOKEN)
            if text.strip() and cost <= most:
                tokens -= cost
                added.append(framed)
        return "\n".join(added)

    async def after_exchange(self, exchange: Journaled) -> FeatureLesson:
        """What all of them noticed, as one."""
        found = [await each.after_exchange(exchange) for each in self._features]

        async def then() -> None:
            for each in found:
                await each.then()

        observed = [each.observed for each in found if each.observed is not None]
        checkouts = [each.checkout for each in found if each.checkout is not None]
        assert len(observed) < 2, "only one feature tells how work was done"
        return FeatureLesson(
            tuple(chain.from_iterable(each.facts for each in found)),
            frozenset().union(*(each.known for each in found)),
            observed[0] if observed else None,
            then,
            checkouts[0] if checkouts else None,
        )

    async def confirmed(self, fact: Fact) -> None:
        """A person has said that a fact still holds."""
        for each in self._features:
            if type(each).confirmed is not Feature.confirmed:
                await self._guard(
                    each.confirmed(fact),
                    default=None,
                    timeout_seconds=CONFIRMED_SECONDS,
                    operation=f"noting what was confirmed ({each.name})",
                )

    async def night(self, at: datetime) -> None:
        for each in self._features:
            await self._guard(
                each.night(at), default=None, timeout_seconds=NIGHT_SECONDS, operation=f"a night's work ({each.name})"
            )

    async def forget(self, owners: Sequence[str]) -> FeatureErasure:
        """How all of them let go. It is awaited whole: what fails is told to the person."""
        going = [await each.forget(owners) for each in self._features]

        def texts(memory: Fact | Passage) -> Iterable[str]:
            return chain.from_iterable(each.texts(memory) for each in going)

        async def then(gone: Forgotten) -> None:
            for each in going:
                await each.then(gone)

        async def files(gone: Forgotten) -> tuple[list[str], list[str]]:
            written, faults = zip(*[await each.files(gone) for each in going], strict=True) if going else ((), ())
            return [*chain.from_iterable(written)], [*chain.from_iterable(faults)]

        return FeatureErasure(texts, then, files)

    def metrics(self) -> Mapping[str, float]:
        """All numbers, by feature and name."""
        return {f"{each.name}_{name}": value for each in self._features for name, value in each.metrics().items()}

    async def asks(self, owners: Sequence[str]) -> list[FeatureQuestion]:
        """What a person is asked about the memories of these owners."""
        asked: list[FeatureQuestion] = []
        for each in self._features:
            questions, _ = await self._guard(
                each.asks(owners), default=(), timeout_seconds=HEALTH_SECONDS, operation=f"what it asks ({each.name})"
            )
            asked += questions
        return asked

    async def health(self) -> list[str]:
        """What is wrong, in sentences."""
        why: list[str] = []
        for each in self._features:
            sentence, fault = await self._guard(
                each.health(), default=(), timeout_seconds=HEALTH_SECONDS, operation=f"asking how it is ({each.name})"
            )
            why += [*sentence, *([f"{each.name} does not answer: {fault}"] if fault else [])]
        return why
