"""What is looked for that could leave a request, and when."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context import visible_history
from memory.context.sizes import quick
from memory.conversation import (
    Conversation,
    Form,
    Image,
    Message,
    Opaque,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    digest,
)
from memory.edits import Act, Entry, Ledger, handle
from memory.learning.redact import Redacted, redact
from memory.ports import Journal
from memory.scope import Scope
from memory.services.context_sources import FrozenPage
from memory.services.deadline import Deadline
from memory.services.request import SessionRequest
from memory.services.sessions.live import LiveSession
from memory.services.tiers import in_short
from memory.services.window import fitting, redaction_verdicts, sheddable_parts
from memory.services.window.counting import RequestCounter
from memory.services.window.decision import Decision
from memory.services.window.paging import PageIn
from memory.services.window.request_size import ModelTable, RequestSizer
from memory.services.window.sheddable_parts import comes_back
from memory.services.window.shedding import Shedder
from memory.services.window.usage_calibration import MetaStore, ReportedWindows, UsageCalibration
from memory.session import Arrival, RequestKind, Session
from memory.settings import SheddingSettings
from memory.stores.messages import seal
from memory.tiers.shape import Hint
from tests.memory.context.sessions import rounds, said, session

T = TypeVar("T")
AT = datetime(2026, 3, 4, tzinfo=UTC)
ARRIVAL = Arrival(Scope(None, "ada", "loom"), RequestKind.MAIN, "test", "n", AT)


class Looked(Exception):
    """It was looked for what could leave."""


class AskedJournal:
    """The first thing that is read when something could leave."""

    async def shelved(self, session: str, digests: list[bytes]) -> dict[bytes, object]:
        raise Looked


class Plain:
    """A provider that counts as we do, and a model with a small window."""

    def expected(self, session: str, model: str, counted: int) -> int:
        return counted

    def ours(self, session: str, model: str, tokens: int) -> int:
        return tokens

    def doubt(self, session: str, model: str, counted: int) -> int:
        return 0

    def of(self, model: str) -> int:
        return 10_000

    def prices(self, model: str) -> None:
        return None


class Keeps:
    """A journal that has nothing yet of a session, but what a person has pinned."""

    def __init__(self, *pinned: str) -> None:
        self.pins = frozenset(pinned)

    async def shelved(self, session: str, digests: list[bytes]) -> dict[bytes, object]:
        return {}

    async def pinned(self, session: str) -> frozenset[str]:
        return self.pins

    async def facts_of(self, owners: list[str]) -> list[object]:
        return []


class Halves:
    """Counts half of what is estimated, once it is loaded."""

    ready = False

    def load(self) -> None:
        self.ready = True

    def count(self, text: str) -> int:
        self.load()
        return quick(text) // 2


class Exact:
    """Counts as is estimated, and has nothing to load."""

    ready = True

    def load(self) -> None:
        """There is nothing to load."""

    def count(self, text: str) -> int:
        return quick(text)


async def guard(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    return await awaitable, ""


def live_session() -> LiveSession:
    return LiveSession(Session("s1", "k", Scope(None, "ada", "loom"), "test", AT, AT), Ledger())


def shells(journal: object, counting: RequestCounter, reported: object = None) -> tuple[RequestSizer, Shedder]:
    """The shells that weigh and shed, over a model with a small window."""
    plain = Plain()
    told, windows = cast(UsageCalibration, reported or plain), cast(ModelTable, plain)
    loads = RequestSizer(counting, told, windows)
    return loads, Shedder(SheddingSettings(reserve=500), cast(Journal, journal), loads, told, windows)


async def decided(tokens: int, live: LiveSession, arrival: Arrival = ARRIVAL) -> Decision:
    text = "the heron nests at the northern pier " * (tokens * 4 // 37)
    parts = (Text(text),)
    conversation = Conversation(
        "openai-chat", "m", (Message(Role.USER, parts, digest(Role.USER, parts), text, Form.SUFFIX),)
    )
    loads, shedding = shells(AskedJournal(), RequestCounter(Halves(), guard, lambda model: 10_000))
    request = SessionRequest(conversation, live, arrival)
    load = loads.of(request, request.edits())
    assert load.total > 8000
    return await shedding.decide(request, request.standing(), load)


async def test_nothing_leaves_for_an_estimate_that_is_too_high() -> None:
    assert await decided(11_000, live_session()) == Decision()


async def test_what_does_not_fit_by_an_exact_count_leaves() -> None:
    with pytest.raises(Looked):
        await decided(30_000, live_session())


async def test_a_cold_cache_is_the_moment_to_look_and_a_warm_one_is_not() -> None:
    live = live_session()
    live.looked = 7000
    with pytest.raises(Looked):
        await decided(16_000, live)
    live.read_at = AT
    assert await decided(16_000, live, replace(ARRIVAL, at=AT + timedelta(minutes=1))) == Decision()
    with pytest.raises(Looked):
        await decided(16_000, live, replace(ARRIVAL, at=AT + timedelta(days=1)))


class Remembered(AskedJournal):
    """A journal that knows what the provider reported of the newest turn, which was as large as the request is now."""

    def __init__(self, last: bytes) -> None:
        self.last = last

    async def newest_usage(self, session: str, model: str) -> tuple[Usage, int, bytes]:
        return Usage(input=9_000), 1, self.last


@pytest.mark.parametrize("known", [True, False], ids=["a start in between", "a new session"])
async def test_after_a_start_a_session_is_judged_by_what_was_reported_of_it(known: bool) -> None:
    text = "the heron nests at the northern pier " * 1200
    parts = (Text(text),)
    message = Message(Role.USER, parts, digest(Role.USER, parts), text, Form.SUFFIX)
    conversation = Conversation("openai-chat", "m", (message,))
    counting = RequestCounter(Halves(), guard, lambda model: 10_000)
    journal = cast(Journal, Remembered(message.digest))
    reported = UsageCalibration(counting, cast(MetaStore, journal), cast(ReportedWindows, journal), guard)
    await counting.exact(conversation)
    counted = counting.weigh(conversation).total
    # What is usual of the model would make it too large.
    for _ in range(5):
        reported.learned("another", "m", counted, Usage(input=int(counted * 1.6)))
    loads, shedding = shells(journal, counting, reported)
    live = replace(live_session(), known=known, read_at=AT)
    request = SessionRequest(conversation, live, ARRIVAL)
    deciding = shedding.decide(request, request.standing(), loads.of(request, request.edits()))
    if known:
        assert await deciding == Decision()
        assert reported.expected("s1", "m", counted) == 9_000
    else:
        with pytest.raises(Looked):
            await deciding


@pytest.mark.parametrize("late", [True, False])
async def test_only_where_its_plan_is_late_a_request_is_kept_out_of_the_replys_share(late: bool) -> None:
    told = "\n".join(f"line {line} names symbol_{line}" for line in range(180))
    played = [("Read", {"file_path": f"src/file_{number}.py"}, told) for number in range(6)]
    loads, shedding = shells(AskedJournal(), RequestCounter(Halves(), guard))
    live = live_session()
    live.ledger.write(Entry(bytes(16), 7, "[stub]", Form.SUFFIX, "shed old", act=Act.REPLACE))
    conversation = session(*rounds(*played))
    load = loads.of(SessionRequest(conversation, live, ARRIVAL), ())
    padding = ToolResult("c5", (Text(told + "word " * (9_650 - load.total)),))
    conversation = session(*rounds(*played)[:-1], said(Role.TOOL, padding))
    request = SessionRequest(conversation, live, ARRIVAL)
    load = loads.of(request, ())
    assert 9_500 < load.total < 9_790
    decided = shedding.fallback_trim(request, load, late)
    assert (decided.cut is not None) == late
    much = replace(load, sizes=(*load.sizes[:-1], load.sizes[-1] + 400))
    assert shedding.fallback_trim(request, much, late).cut is not None


KEY = "sk-ant-api03-" + "Ab1x" * 20


def told(name: str, more: str = "", lines: int = 180) -> str:
    return "\n".join([*(f"{name} line {line} names symbol_{line}" for line in range(lines)), more])


@pytest.mark.parametrize("waits", [True, False], ids=["planned", "at once"])
async def test_of_new_results_what_is_pinned_or_holds_a_secret_never_gives_way_to_a_stub(waits: bool) -> None:
    calls = [ToolCall(f"c{number}", "Read", "{}") for number in range(4)]
    older = rounds(("Read", {"file_path": "a.py"}, told("older", f"key {KEY}", 30)), first=90)
    texts = [told("pinned"), told("secret", f"key {KEY}"), told("plain"), told("newest")]
    newest = [said(Role.TOOL, ToolResult(call.id, (Text(text),))) for call, text in zip(calls, texts, strict=True)]
    conversation = session(*older, said(Role.ASSISTANT, *calls), *newest)
    pins = (handle(older[1].digest, 0), handle(newest[0].digest, 0))
    live = live_session()
    live.ledger.write(Entry(bytes(16), 7, "[stub]", Form.SUFFIX, "shed old", act=Act.REPLACE))
    live.pinned = frozenset(pins)
    loads, shedding = shells(Keeps(*pins), RequestCounter(Exact(), guard))
    request = SessionRequest(conversation, live, ARRIVAL)
    load = loads.of(request, ())
    load = replace(load, window=int(3.8 * load.sizes[-1]))
    if waits:
        decided = await shedding.decide(request, request.standing(), load)
    else:
        decided = shedding.fallback_trim(request, load)

    assert {entry.digest for entry in decided.entries} == {newest[2].digest}
    # It would not fit else, so the round before leaves, with its secret; what is pinned is said without that.
    assert decided.cut is not None and decided.cut.message == 4
    assert "older line 29 names symbol_29" in decided.cut.text and KEY not in decided.cut.text


async def test_what_makes_new_results_shorter_is_read_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    line = in_short.line

    async def at_hand() -> None:
        order.append("read")

    def made(text: str, hint: Hint) -> str:
        order.append("made" if threading.current_thread() is not threading.main_thread() else "made in the loop")
        return line(text, hint)

    monkeypatch.setattr(in_short, "at_hand", at_hand)
    monkeypatch.setattr(in_short, "line", made)
    call = ToolCall("c", "Read", "{}")
    conversation = session(said(Role.ASSISTANT, call), said(Role.TOOL, ToolResult("c", (Text(told("new")),))))
    loads, shedding = shells(Keeps(), RequestCounter(Exact(), guard))
    request = SessionRequest(conversation, live_session(), ARRIVAL)
    load = loads.of(request, ())
    await shedding.decide(request, request.standing(), replace(load, window=load.sizes[-1] // 2))
    assert order[:2] == ["read", "made"]


async def test_what_leaves_at_once_is_the_same_however_far_is_looked_back(monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = session(*rounds(*(("Read", {"file_path": f"{n}.py"}, told(str(n))) for n in range(12))))
    live = live_session()
    loads, shedding = shells(AskedJournal(), RequestCounter(Exact(), guard))
    request = SessionRequest(conversation, live, ARRIVAL)
    live.ledger.write(Entry(*request.keys[12], "The note of before.", Form.SUFFIX, "rotate", act=Act.CUT))
    load = loads.of(request, request.edits())
    decided = shedding.fallback_trim(request, load)
    assert decided.cut is not None and decided.cut.message > 12
    monkeypatch.setattr(visible_history, "REACH", 4_000)
    assert shedding.fallback_trim(request, load) == decided


@pytest.mark.parametrize("waits", [True, False], ids=["planned", "at once"])
async def test_long_results_are_looked_at_for_secrets_beside_and_once(
    monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    held, looked = list[int](), list[str]()

    def counted(text: str) -> Redacted:
        looked.append(text)
        if threading.current_thread() is threading.main_thread():
            held.append(len(text))
        return redact(text)

    monkeypatch.setattr(sheddable_parts, "redact", counted)
    calls = [ToolCall(f"c{number}", "Read", "{}") for number in range(9)]
    texts = [told(f"s{number}", f"key {KEY}" if number == 3 else "", 800) for number in range(7)]
    texts += [told(f"s{number}", lines=200) for number in (7, 8)]
    newest = [said(Role.TOOL, ToolResult(call.id, (Text(text),))) for call, text in zip(calls, texts, strict=True)]
    older = rounds(("Read", {"file_path": "a.py"}, told("older")), first=90)
    live = live_session()
    live.ledger.write(Entry(bytes(16), 7, "[stub]", Form.SUFFIX, "shed old", act=Act.REPLACE))
    loads, shedding = shells(Keeps(), RequestCounter(Exact(), guard))
    request = SessionRequest(session(*older, said(Role.ASSISTANT, *calls), *newest), live, ARRIVAL)
    load = loads.of(request, ())
    load = replace(load, window=load.total // 2)

    if waits:
        await shedding.decide(request, request.standing(), load)
        assert not held and len(looked) == 10
    else:
        # What is short gives way at once, what is long only once it is known; the round before leaves all the same.
        decided = shedding.fallback_trim(request, load)
        assert decided.cut is not None
        assert {entry.digest for entry in decided.entries} == {each.digest for each in newest[7:]}
        assert 0 < sum(held) <= redaction_verdicts.AT_ONCE < len(texts[0])
        await shedding.settle()
    held.clear()
    looked.clear()
    decided = shedding.fallback_trim(request, load)
    left = {entry.digest for entry in decided.entries}
    assert len(left) > 2 and newest[3].digest not in left
    assert not looked


@pytest.mark.parametrize("waits", [True, False], ids=["planned", "at once"])
async def test_what_is_pinned_and_long_is_looked_at_for_secrets_beside(
    monkeypatch: pytest.MonkeyPatch, waits: bool
) -> None:
    held = list[int]()

    def counted(text: str) -> Redacted:
        if threading.current_thread() is threading.main_thread():
            held.append(len(text))
        return redact(text)

    monkeypatch.setattr(sheddable_parts, "redact", counted)
    monkeypatch.setattr(fitting, "redact", counted)
    older = rounds(
        ("Read", {"file_path": "a.py"}, told("first")),
        ("Read", {"file_path": "b.py"}, told("pinned", f"key {KEY}", 800)),
    )
    conversation = session(*older, *rounds(("Read", {"file_path": "c.py"}, told("newest")), first=8))
    pin = handle(older[3].digest, 0)
    live = live_session()
    live.ledger.write(Entry(bytes(16), 7, "[stub]", Form.SUFFIX, "shed old", act=Act.REPLACE))
    live.pinned = frozenset({pin})
    loads, shedding = shells(Keeps(pin), RequestCounter(Exact(), guard))
    reported, request = cast(UsageCalibration, Plain()), SessionRequest(conversation, live, ARRIVAL)

    async def page(scope: Scope) -> FrozenPage:
        return FrozenPage()

    fits = fitting.WindowFitter(loads, shedding, cast(PageIn, None), reported, page, guard)
    load = loads.of(request, ())
    load = replace(load, window=2 * load.sizes[-1])

    def said_of(fit: fitting.Fit) -> list[str]:
        return [entry.text for entry in fit.entries if entry.act is Act.CUT]

    if waits:
        monkeypatch.setattr(loads, "of", lambda request, edits: load)
        [note] = said_of(await fits.fit_after_refusal(request, (), Deadline(60)))
    else:
        # It cannot be said in the note yet, so its round stays until it can.
        late = fits.fit_without_plan(request, load)
        [note] = said_of(late)
        assert older[2].digest in {entry.digest for entry in late.entries} and "pinned line" not in note
        await shedding.settle()
        [note] = said_of(fits.fit_without_plan(request, load))
    assert "pinned line 799 names symbol_799" in note and KEY not in note
    assert sum(held) <= redaction_verdicts.AT_ONCE < len(told("pinned", lines=800))


async def test_verdicts_that_are_kept_are_bounded() -> None:
    known = redaction_verdicts.RedactionVerdicts(comes_back, limit=3)
    messages = [said(Role.TOOL, ToolResult("c", (Text(f"{n}" + f" {KEY}" * (n % 2)),))) for n in range(8)]
    assert await known.of([(each, 0) for each in messages]) == [n % 2 == 0 for n in range(8)]
    assert len(known._known) <= 3


def parts() -> st.SearchStrategy[ToolResult]:
    """Results with secrets in some of their texts, pictures and unknown parts."""
    words = st.sampled_from(["Bring the harbour in order.", f"The key is {KEY}.", "", f"password: {KEY[20:40]}"])
    pictures = st.sampled_from(
        ["data:image/png;base64,AAAA", f"https://a.example/p.png?token={KEY}", "https://a.example"]
    )
    inner = st.one_of(
        words.map(Text), pictures.map(Image), words.map(lambda word: Opaque("x", json.dumps({"said": word})))
    )
    return st.lists(inner, max_size=4).map(lambda content: ToolResult("c1", tuple(content)))


@given(result=parts())
def test_what_comes_back_is_what_the_journal_keeps_word_for_word(result: ToolResult) -> None:
    message = said(Role.TOOL, result)
    assert comes_back(result) != seal(message, lambda text: redact(text).text).redacted
