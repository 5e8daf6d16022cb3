"""The law of the growing prefix: what two successive forwarded requests share is never less than what the client's
own two requests share, in every dialect, whatever the client does to its history, over restarts, and though recall
or preparing as a whole fails in between.

What is recalled here is different at every call, so only the ledger can make it the same again.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memory.conversation import Conversation, Reply, Text
from memory.ports import StoreError
from memory.scope import Scope
from memory.services.context_sources import FrozenPage, Recalled
from memory.services.journaling import ExchangeJournal
from memory.services.prepare import Preparation
from memory.services.sessions.session_matching import SessionMatcher
from memory.session import Arrival, Prepared, RequestKind, Session, ShownMemory
from memory.settings import MemorySettings, RecallSettings
from memory.stores.journal import SqliteJournal
from proxy.wire import dialect_of
from proxy.wire.dialect import Dialect
from tests import fresh_journal

Turn = tuple[str, str]
"""Who speaks (``human``, ``assistant``, ``call``, ``result``) and what."""

Shells = tuple[Preparation, ExchangeJournal]

NOTE = "<note of the client's own>"
"""How a text begins that a client puts behind every request, and drops with the next one."""

REMINDER = " (reminder)"
"""What a client puts behind a person's words, and leaves out later."""

NOW = datetime(2026, 1, 1, tzinfo=UTC)

# What is late is told by `how`, not by the machine that this runs on.
PATIENT = MemorySettings(recall=RecallSettings(deadline_ms=60_000))


class CountingRecaller:
    """Recalls something else every time it is asked, and fails while it is told to."""

    def __init__(self) -> None:
        self.count = itertools.count()
        self.failing = False

    async def recall(
        self, conversation: Conversation, session: Session, arrival: Arrival, tokens: int, present: Mapping[str, str]
    ) -> Recalled:
        self._fail()
        number = next(self.count)
        if number % 3 == 2:
            return Recalled(note="found nothing")
        return Recalled(f"\n\n[memory {number}]", (ShownMemory(f"id{number}", "text", 1.0, {}, 5),))

    async def page(self, scope: Scope) -> FrozenPage:
        self._fail()
        return FrozenPage(f"\n\n[page {next(self.count)}]", ("p",))

    def _fail(self) -> None:
        if self.failing:
            raise StoreError("the index is locked")


async def guard(awaitable: Any, *, default: Any, timeout_seconds: float, operation: str) -> tuple[Any, str]:
    try:
        return await awaitable, ""
    except StoreError as error:
        return default, f"late: {error}"


def chat(history: list[Turn]) -> bytes:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are an agent."}]
    for who, text in history:
        match who:
            case "human":
                messages.append({"role": "user", "content": text})
            case "assistant":
                messages.append({"role": "assistant", "content": text})
            case "call":
                function = {"name": "read", "arguments": orjson.dumps({"path": text}).decode()}
                call = {"id": f"call_{len(messages)}", "type": "function", "function": function}
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"contents of {text}"})
    return orjson.dumps({"model": "m", "messages": messages})


def responses(history: list[Turn]) -> bytes:
    items: list[dict[str, Any]] = [{"type": "message", "role": "developer", "content": "You are an agent."}]
    for who, text in history:
        match who:
            case "human":
                content = [{"type": "input_text", "text": text}]
                items.append({"type": "message", "role": "user", "content": content})
            case "assistant":
                content = [{"type": "output_text", "text": text}]
                items.append({"type": "message", "role": "assistant", "content": content})
            case "call":
                id = f"call_{len(items)}"
                items.append({"type": "function_call", "call_id": id, "name": "read", "arguments": text})
                items.append({"type": "function_call_output", "call_id": id, "output": f"contents of {text}"})
    return orjson.dumps({"model": "m", "input": items})


def anthropic(history: list[Turn]) -> bytes:
    """As Claude Code does it: the newest message is a list with a cache mark, older single texts are strings."""
    messages: list[dict[str, Any]] = []
    for who, text in history:
        match who:
            case "human":
                messages.append({"role": "user", "content": text})
            case "assistant":
                messages.append({"role": "assistant", "content": text})
            case "call":
                id = f"call_{len(messages)}"
                use = {"type": "tool_use", "id": id, "name": "read", "input": {"path": text}}
                result = {"type": "tool_result", "tool_use_id": id, "content": f"contents of {text}"}
                messages.append({"role": "assistant", "content": [use]})
                messages.append({"role": "user", "content": [result]})
    if messages:
        last = messages[-1]
        blocks = last["content"]
        blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
        last["content"] = [*blocks[:-1], {**blocks[-1], "cache_control": {"type": "ephemeral"}}]
    return orjson.dumps({"model": "m", "max_tokens": 10, "system": "You are an agent.", "messages": messages})


def gemini(history: list[Turn]) -> bytes:
    contents: list[dict[str, Any]] = []
    for who, text in history:
        match who:
            case "human":
                contents.append({"role": "user", "parts": [{"text": text}]})
            case "assistant":
                contents.append({"role": "model", "parts": [{"text": text, "thoughtSignature": "Sig=="}]})
            case "call":
                named = {"id": f"call_{len(contents)}", "name": "read"}
                call = {"functionCall": {**named, "args": {"path": text}}, "thoughtSignature": "Sig=="}
                answer = {"functionResponse": {**named, "response": {"output": f"contents of {text}"}}}
                contents += [{"role": "model", "parts": [call]}, {"role": "user", "parts": [answer]}]
    system = {"parts": [{"text": "You are an agent."}]}
    return orjson.dumps({"contents": contents, "systemInstruction": system})


def seen_by_the_model(body: bytes) -> str:
    """What a provider's cache sees: the texts in order, in whatever form they were sent, and each message's end."""
    parsed = orjson.loads(body)
    listed = parsed.get("messages") or parsed.get("input") or parsed["contents"]
    return "".join(f"{_rendered(message)}<end>" for message in listed)


def _rendered(value: Any) -> str:
    match value:
        case str():
            return value
        case list():
            return "".join(map(_rendered, value))
        case dict():
            kept = {key: inner for key, inner in value.items() if key != "cache_control"}
            head = f"<{kept.pop('role', '')}>" if "role" in kept else ""
            return head + "".join(_rendered(kept[key]) for key in kept if key not in ("type", "id", "call_id"))
        case None:
            return ""
    return str(value)


def shared(left: str, right: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


FORMATS: dict[str, Callable[[list[Turn]], bytes]] = {
    "/v1/chat/completions": chat,
    "/v1/responses": responses,
    "/v1/messages": anthropic,
    "/v1beta/models/gemini-3-pro:streamGenerateContent": gemini,
}

ways = st.sampled_from(["well", "well", "without recall", "unprepared", "unprepared and unanswered"])
words = st.sampled_from(["yes", "go on", "read the file", "Where is the bug?", "naïve ☃", "fix it"])
steps = st.lists(
    st.tuples(
        st.sampled_from(["human", "call", "retry", "regenerate", "edit", "restart", "suffix", "reminded", "resumed"]),
        words,
        ways,
    ),
    min_size=2,
    max_size=12,
)


@pytest.mark.parametrize("path", FORMATS)
@pytest.mark.parametrize(("keyed", "noting"), [(True, False), (False, False), (True, True), (False, True)])
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(
    first="well",
    steps=[
        ("call", "yes", "well"),
        ("reminded", "yes", "well"),
        ("resumed", "yes", "unprepared"),
        ("human", "yes", "well"),
    ],
)
@example(
    first="well",
    steps=[
        *[("human", "yes", "well"), ("call", "yes", "well"), ("human", "yes", "well"), ("human", "go on", "well")],
        *[("human", "go on", "well"), ("edit", "yes", "well"), ("retry", "yes", "well"), ("human", "yes", "well")],
    ],
)
@example(
    first="well",
    steps=[
        *[("retry", "yes", "well"), ("reminded", "yes", "well"), ("call", "yes", "well")],
        *[("resumed", "yes", "unprepared"), ("human", "yes", "well")],
    ],
)
@given(first=ways, steps=steps)
def test_what_is_forwarded_shares_as_much_as_what_the_client_sent(
    path: str,
    keyed: bool,
    noting: bool,
    first: str,
    steps: list[tuple[str, str, str]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    asyncio.run(_replay(path, keyed, noting, first, steps, tmp_path_factory.mktemp("journal")))


async def _replay(
    path: str, keyed: bool, noting: bool, first: str, steps: list[tuple[str, str, str]], folder: Path
) -> None:
    """Play a session; a client that is ``noting`` puts a note of its own behind each request, another one each time."""
    dialect = dialect_of(path)
    assert dialect is not None
    recaller = CountingRecaller()
    ids = itertools.count()
    fresh_journal.put(folder / "journal.db")
    journal = SqliteJournal(folder / "journal.db", lambda text: text)
    shells = _shells(journal, recaller, ids)
    history: list[Turn] = []
    pairs: list[tuple[str, str]] = []
    restarted = False
    try:
        for action, text, how in [("human", "hello there", first), *steps]:
            match action:
                case "human":
                    history = [*history, ("human", text)]
                case "call":
                    history = [*history, ("call", text)]
                case "regenerate" if history and history[-1][0] == "assistant":
                    history = history[:-1]
                case "edit" if len(history) > 2:
                    cut = len(history) // 2
                    history = [*history[:cut], ("human", f"instead: {text}")]
                case "suffix" if history:
                    # As aider does it: the live message had a tail that is gone the next time.
                    await _send(shells, dialect, FORMATS[path]([*history, ("human", text + REMINDER)]), keyed)
                    history = [*history, ("human", text)]
                case "reminded":
                    history = [*history, ("human", text + REMINDER)]
                case "resumed":
                    # As Qwen Code does it: what it had put beside a person's words is gone from all that was said.
                    history = [*((who, said.removesuffix(REMINDER)) for who, said in history), ("human", text)]
                case "restart":
                    await journal.close()
                    journal = SqliteJournal(folder / "journal.db", lambda text: text)
                    shells = _shells(journal, recaller, ids)
                    restarted = True
            if restarted and how.startswith("unprepared"):
                # What was added before a restart cannot be made again while the journal cannot be read.
                how = "well"
            noted = [("human", f"{NOTE} {len(pairs)}")] if noting else []
            body = FORMATS[path]([*history, *noted])
            recaller.failing = how == "without recall"
            forwarded = await _send(shells, dialect, body, keyed, how)
            recaller.failing = False
            assert not set(dialect.check(forwarded)) - set(dialect.check(body))
            pairs.append((seen_by_the_model(body), seen_by_the_model(forwarded)))
            if action != "retry":
                history = [*history, ("assistant", f"Done: {text}.")]
        for (own_before, ours_before), (own, ours) in itertools.pairwise(pairs):
            assert shared(ours_before, ours) >= shared(own_before, own)
            assert ours.endswith(f"{NOTE} {pairs.index((own, ours))}<end>") or not noting
    finally:
        await journal.close()


def _spoken(text: str) -> str:
    return "" if text.startswith(NOTE) else text.removesuffix(REMINDER)


def _shells(journal: SqliteJournal, recaller: CountingRecaller, ids: Any) -> Shells:
    def new_id() -> str:
        return f"{next(ids):032x}"

    sessions = SessionMatcher(journal, new_id)
    preparation = Preparation(PATIENT, sessions, recaller, recaller, guard, new_id, lambda: False)
    return preparation, ExchangeJournal(journal, guard, lambda: None, sessions.place)


async def _send(shells: Shells, dialect: Dialect, body: bytes, keyed: bool, how: str = "well") -> bytes:
    preparation, notes = shells
    view = dialect.read(body, _spoken)
    arrival = Arrival(
        Scope(None, "ada", "loom"), RequestKind.MAIN, "generic", "n", NOW, session_key="s" if keyed else None
    )
    prepared: Prepared
    if how.startswith("unprepared"):
        prepared = await preparation.fallback_edits(view.conversation, arrival, "late: more than 100 ms")
    else:
        prepared = await preparation.prepare(view.conversation, arrival)
    await preparation.settle()
    if keyed and how.endswith("unanswered"):
        # Without a key, a session of which nothing was answered is not found after a restart.
        return dialect.write(view, prepared.edits)
    await notes.record(prepared, view.conversation, Reply((Text("whatever"),), "stop", complete=True), 200)
    return dialect.write(view, prepared.edits)
