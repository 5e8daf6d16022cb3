"""Questions, memories and small searches for the tests of context, each with what a test does not care about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import count

from memory.context.diversity import diverse
from memory.context.lexical import WeightedQuery, weigh
from memory.context.question import RecallQuestion, ask
from memory.context.rank import Memory, Scored, rank
from memory.conversation import Conversation, Message, Role, Text, ToolResult
from memory.fact import Category, Fact, FactKind, Origin, Passage, Stream
from memory.language.terms import document_terms, product
from memory.ports import IndexHit, TermRarity
from memory.scope import Layer

NOW = datetime(2026, 5, 20, 12, 0, tzinfo=UTC)
SAID = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)

_number = count(1)


def person(text: str) -> Message:
    return Message(Role.USER, (Text(text),), b"p" + text.encode(), spoken=text)


def model(text: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),), b"m" + text.encode())


def tool(output: str) -> Message:
    return Message(Role.TOOL, (ToolResult("call", (Text(output),)),), b"t" + output.encode())


def conversation(*messages: Message) -> Conversation:
    return Conversation("openai-chat", "model", messages)


def asked(text: str) -> RecallQuestion:
    question = ask(conversation(person(text)))
    assert question is not None
    return question


def fact(text: str, **more: object) -> Fact:
    number = next(_number)
    told: dict[str, object] = {
        "id": f"f{number:04}",
        "owner": "u:/ann",
        "kind": FactKind.FACT,
        "category": Category.PERSON,
        "stream": Stream.IDENTITY,
        "layer": Layer.USER,
        "origin": Origin.USER,
        "session": "earlier",
        "source": b"fact%d" % number,
        "recorded_at": SAID,
        "valid_from": SAID,
    }
    return Fact(text=text, **(told | more))  # type: ignore[arg-type]


def passage(text: str, turn: int = 1, **more: object) -> Passage:
    number = next(_number)
    told: dict[str, object] = {
        "id": f"p{number:04}",
        "owner": "u:/ann",
        "origin": Origin.USER,
        "speaker": "user",
        "session": "earlier",
        "source": b"turn%d" % number,
        "at": SAID,
    }
    return Passage(text=text, turn=turn, **(told | more))  # type: ignore[arg-type]


def counted(memories: Sequence[Memory]) -> TermRarity:
    """Document frequencies among some memories."""
    frequency: Counter[int] = Counter()
    for memory in memories:
        frequency.update(document_terms(memory.text).keys())
    return TermRarity(len(memories), frequency)


def found(question: RecallQuestion, memories: Sequence[Memory], cosine: float = 0.2) -> list[tuple[IndexHit, Memory]]:
    """Candidates as an index gives them, all with one cosine."""
    weighed = weigh(question, counted(memories))
    return [
        (
            IndexHit(each.id, cosine, product(document_terms(each.text), weighed.sparse)),
            each,
        )
        for each in memories
    ]


def weighed_for(question: RecallQuestion, memories: Sequence[Memory]) -> WeightedQuery:
    return weigh(question, counted(memories))


def recalled(text: str, memories: Sequence[Memory], cosine: float = 0.2, **more: object) -> list[Scored]:
    """What a message recalls of some memories, in the order in which it should be packed."""
    question = ask(conversation(person(text)))
    if question is None:
        return []
    weighed = weigh(question, counted(memories))
    return diverse(rank(question, weighed, found(question, memories, cosine), NOW, **more))  # type: ignore[arg-type]


def scored(*memories: Memory) -> list[Scored]:
    """Memories with falling scores, as they come out of a ranking."""
    return [Scored(memory, 1.0 - place / 1000) for place, memory in enumerate(memories)]


CHATTER = [
    passage("We hiked up to the lake last weekend and had a picnic there.", 11),
    passage("The pasta at the new place on the corner was better than expected.", 13),
    passage("My sister Ida moved to Lisbon in March for her new job at the museum.", 15),
    passage("I repaired the old bicycle, the chain had been slipping for weeks.", 17),
    passage("The concert was cancelled, so we watched a film about whales at home.", 19),
]
"""A store of talk that has nothing to do with work."""
