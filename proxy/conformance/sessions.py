"""Sessions: the prefix that a provider caches grows, whatever a proxy adds.

Where a proxy has a memory these cases give it something to add, and say beside their result whether it did.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from proxy.conformance.bench import Bench
from proxy.conformance.case import case, must

CACHE: Final = "https://platform.openai.com/docs/guides/prompt-caching"
COMPACTION: Final = "https://platform.claude.com/docs/en/build-with-claude/compaction"
TURNS: Final = 6
PAUSES_SECONDS: Final = (1.5, 3.0, 6.0)
"""How long a memory is left alone to learn what was said, before it is asked again."""
SYLLABLES: Final = (
    ("bor", "cal", "den", "fen", "har", "kel", "mor", "tarn"),
    ("ra", "le", "vi", "no"),
    ("wick", "stow"),
)
"""Parts of a name that nothing else has."""
SUMMARIZE: Final = "Summarize this conversation so far, so that the work can go on from the summary alone."
SUMMARY: Final = (
    "This session is being continued from a previous conversation.\n\n<summary>\n1. Caf\u00e9 {}: the parser takes "
    '"quoted" commas.\n2. Left: tests for C:\\data.\n</summary>'
)
"""What a client puts in the place of its history."""


@case(
    "prefix.grows",
    "two successive requests of a session share no shorter a beginning at the provider than at the client",
    why="a cached token costs a tenth; one byte changed at the front is the whole price again",
    source=CACHE,
)
async def grows(on: Bench) -> str:
    taught = await teach(on)
    session, asked, first = await asked_until_known(on, taught[0])
    texts, told = [asked], GrowingSession([on.json(asked)], [first])
    for number in range(1, TURNS):
        asked = taught[1].question if number == TURNS // 2 else f"And what of part {number} of it?"
        texts += [f"Very well, {number}.", asked]
        await told.goes_on(on, session, on.json(*texts))
    told.must_have_grown()
    return told.added(taught)


@case(
    "prefix.compacted",
    "where a client puts a summary in its history's place, the summary arrives as it was written, and the beginning "
    "grows from there",
    why="a summary is all that is left of a long session; what a proxy held on to of the old one must not break it",
    source=COMPACTION,
)
async def compacted(on: Bench) -> str:
    taught = await teach(on)
    session, asked, _ = await asked_until_known(on, taught[0])
    before = [asked, "Very well.", "And what else?", "Nothing else."]
    await on.arrives(on.json(*before, SUMMARIZE), session)
    summary = SUMMARY.format(uuid.uuid4().hex)
    texts = [summary, "I go on from there.", "Is it done now?"]
    told = GrowingSession([], [])
    for asked in (taught[1].question, taught[0].question):
        await told.goes_on(on, session, on.json(*texts))
        there = [text for text in on.format.texts(json.loads(told.came[-1])) if summary in text]
        must(len(there) == 1, f"the summary stands in {len(there)} of the texts that arrived, not in one")
        must(there[0].startswith(summary), f"before the summary stands {there[0][: there[0].index(summary)][:200]!r}")
        texts += ["Not yet.", asked]
    await told.goes_on(on, session, on.json(*texts))
    told.must_have_grown()
    return told.added(taught)


@case(
    "prefix.again",
    "the same request again arrives as the same bytes",
    why="a client tries again after a fault, and should find its own cache",
    source=CACHE,
)
async def again(on: Bench) -> None:
    session = new_session(on)
    body = on.json(
        f"We decided that the harbour of {uuid.uuid4().hex} opens at nine.", "Very well.", "When does it open?"
    )
    first = (await on.arrives(body, session)).body
    second = (await on.arrives(body, session)).body
    must(first == second, "the second one is another one")


@case(
    "prefix.tools",
    "in an agent's loop of calls and results the beginning grows as the client's does",
    why="a loop sends its whole history a hundred times",
    source=CACHE,
)
async def loop(on: Bench) -> None:
    session, told = new_session(on), GrowingSession([], [])
    first = on.format.with_history(on.model, on.format.work)
    key = on.format.history_key(first)
    second = {**first, key: [*first[key], *on.format.body(on.model, "x", "Read.", "Go on.")[key][1:]]}
    for each in (first, second):
        await told.goes_on(on, session, json.dumps(each).encode())
    told.must_have_grown()


def new_session(on: Bench) -> dict[str, str]:
    """A new session's headers."""
    return {"x-session-id": uuid.uuid4().hex, **on.memory}


@dataclass(slots=True)
class GrowingSession:
    """The requests of a session: the bodies as the client sent them, and as they arrived."""

    sent: list[bytes]
    came: list[bytes]

    async def goes_on(self, on: Bench, session: Mapping[str, str], body: bytes) -> None:
        """Send the next request."""
        self.sent.append(body)
        self.came.append((await on.arrives(body, session)).body)

    def must_have_grown(self) -> None:
        """Every request must share with the one before what the client's own shares.

        Raises:
            CaseFailed: where one does not.
        """
        for number in range(1, len(self.sent)):
            own, there = (_shared_prefix_length(*bodies[number - 1 : number + 1]) for bodies in (self.sent, self.came))
            must(there >= own, f"request {number + 1} shares {there} bytes with the one before, the client's own {own}")

    def added(self, taught: Iterable[Taught]) -> str:
        """What to say beside a result: whether a memory took part in it."""
        assert not any(each.answer.encode() in body for each in taught for body in self.sent)
        carried = [sum(each.answer.encode() in body for body in self.came) for each in taught]
        if not any(carried):
            return "nothing added"
        return f"what was taught was added to {max(carried)} of {len(self.came)} requests"


@dataclass(frozen=True, slots=True)
class Taught:
    """What a session says, how another one asks for it, and the answer, which that one never says."""

    text: str
    question: str
    answer: str


async def teach(on: Bench) -> tuple[Taught, Taught]:
    """Two things that one session says, as a person who works with a client would. Who has a memory has them then."""
    name = "".join(secrets.choice(part) for part in SYLLABLES).capitalize()
    ports = [str(secrets.randbelow(9000) + 20_000) for _ in range(2)]
    taught = tuple(
        Taught(
            f"Please remember that the {what} of {name} listens on port {port}.",
            f"On which port does the {what} of {name} listen?",
            port,
        )
        for what, port in zip(("staging database", "mail gateway"), ports, strict=True)
    )
    session, texts = new_session(on), list[str]()
    for each in taught:
        texts.append(each.text)
        await on.arrives(on.json(*texts), session)
        texts.append("Very well.")
    return taught[0], taught[1]


async def asked_until_known(on: Bench, taught: Taught) -> tuple[dict[str, str], str, bytes]:
    """A new session that asks for what was taught: its headers, its first text, and its first request as it arrived. A
    memory learns behind a reply, some when nobody asks: other sessions ask before this one, until the answer comes
    along. Where it never does there is no memory, and that is no fault."""
    for pause in (*PAUSES_SECONDS, 0.0):
        session = new_session(on)
        # The very same words might be taken for a client's second try.
        asked = f"Session {session['x-session-id'][:6]}. {taught.question}"
        body = (await on.arrives(on.json(asked), session)).body
        if taught.answer.encode() in body:
            break
        await asyncio.sleep(pause)
    return session, asked, body


def _shared_prefix_length(one: bytes, other: bytes) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
