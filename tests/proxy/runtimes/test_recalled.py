"""Every runtime, played to recall: of six memories the one that belongs here comes, and lands where it should."""

from __future__ import annotations

import orjson
import pytest

from proxy.runtimes import RUNTIMES, recognise, user_text
from proxy.wire import dialect_of
from proxy.wire.slices import cut, items_of
from tests.proxy.runtimes.memories import OPENS, OTHERS, PROJECT, REMEDY, RIGHT, Told, others_in, told
from tests.proxy.runtimes.recordings import NAMES, RECORDED
from tests.proxy.runtimes.senders import SENDERS, TALK, Json, Sender, Turn
from tests.running import Running

DECIDED = "We decided that the staging gateway listens on port 7443."
SMALL_TALK = (
    "Hello there.",
    "Good day.",
    "Continue.",
    "Go on, please.",
    "Yes, port.",
    "The gateway?",
    "Staging.",
    "Sounds good to me.",
    "Thanks, looks good.",
)
ASKED_THEN = (
    "How are the tests run here?",
    "Which branch do we release from?",
    "Where does the staging gateway write its logs?",
    "Can you check whether the staging gateway port is free?",
)
PRINTED = "make: checking\nerror: libwombat.so.3 not found\nmake: *** stopped"
PAGE = "<memory-page>"

in_one_loop = pytest.mark.asyncio(loop_scope="module")
every = pytest.mark.parametrize("name", SENDERS)
every_format = pytest.mark.parametrize("name", {sender.path: name for name, sender in SENDERS.items()}.values())
every_with_tools = pytest.mark.parametrize("name", [name for name, sender in SENDERS.items() if sender.tools])
every_with_sides = pytest.mark.parametrize("name", [name for name, sender in SENDERS.items() if sender.sides])


@every
def test_each_is_known_for_what_it_is(name: str) -> None:
    sender = SENDERS[name]
    dialect = dialect_of(sender.path)
    assert dialect is not None
    view = dialect.read(orjson.dumps(sender.body([TALK[0]])), user_text)
    headers = {key.replace("_", "-"): value for key, value in sender.headers.items()}
    assert recognise(headers, view).name == sender.runtime
    assert view.conversation.messages[view.conversation.newest].spoken == TALK[0][1]


def test_no_runtime_is_left_out() -> None:
    by_hand = {sender.runtime for sender in SENDERS.values()}
    assert {runtime.name for runtime in RUNTIMES} == by_hand | {NAMES.get(client, client) for client in RECORDED}


async def send(proxy: Running, sender: Sender, body: Json) -> tuple[bytes, str]:
    """Send a body as its runtime does; the bytes that were sent, and what was done with them."""
    sent = orjson.dumps(body)
    own = {"Authorization": f"Bearer {sender.runtime} {sender.path}"}
    status, reply, headers = await proxy.post(sender.path + sender.query, sent, **own, **sender.headers, **PROJECT)
    assert status == 200, reply
    return sent, headers["x-palimpsest-status"]


def holding(body: Json | bytes, sender: Sender, mark: str) -> list[int]:
    """Which of a body's messages hold something, counted from the end."""
    messages = (orjson.loads(body) if isinstance(body, bytes) else body)[sender.listed]
    return [index - len(messages) for index, message in enumerate(messages) if mark in orjson.dumps(message).decode()]


def _without(body: bytes, sender: Sender, places: list[int]) -> list[bytes]:
    """The bytes of all of a body's parts but the messages at these places, counted from the end."""
    _, fields = cut(body)
    items = items_of(fields[sender.listed])
    kept = [item for index, item in enumerate(items) if index - len(items) not in places]
    return [bytes(raw) for raw in (*kept, *(raw for name, raw in fields.items() if name != sender.listed))]


@in_one_loop
@every
async def test_of_six_memories_the_right_one_stands_behind_the_persons_words(name: str, told_once: Told) -> None:
    sender = SENDERS[name]
    proxy, provider = await told_once.memories(*OTHERS, RIGHT, **{"memory.page.enabled": False})
    sent, _ = await send(proxy, sender, sender.body([TALK[0]]))
    forwarded = provider.last.body
    assert "7443" in told(forwarded) and not others_in(told(forwarded)), told(forwarded)
    words = holding(sent, sender, TALK[0][1])
    assert holding(forwarded, sender, OPENS) == words
    assert _without(sent, sender, words) == _without(forwarded, sender, words)


@in_one_loop
@every_format
@pytest.mark.parametrize("page", [True, False])
async def test_small_talk_of_old_never_comes(name: str, page: bool, told_once: Told) -> None:
    sender = SENDERS[name]
    proxy, provider = await told_once.memories(*SMALL_TALK, *OTHERS, RIGHT, **{"memory.page.enabled": page})
    await send(proxy, sender, sender.body([TALK[0]]))
    recalled = told(provider.last.body)
    assert "7443" in recalled and not others_in(recalled), recalled
    assert not [each for each in SMALL_TALK if each in recalled], recalled


@in_one_loop
@pytest.mark.parametrize("name", {sender.path: name for name, sender in SENDERS.items() if sender.tools}.values())
async def test_what_only_tells_a_time_too_is_no_answer_to_when(name: str, told_once: Told) -> None:
    sender = SENDERS[name]
    moved = "The nightly backup of the ledger starts at 04:30, when the disks are idle."
    proxy, provider = await told_once.memories(*OTHERS, moved, **{"memory.page.enabled": False})
    await send(proxy, sender, sender.body([("human", "When does the nightly backup of the ledger start?")]))
    recalled = told(provider.last.body)
    assert "04:30" in recalled and not others_in(recalled), recalled


@in_one_loop
@every
async def test_nothing_comes_beside_a_page_that_answers(name: str, told_once: Told) -> None:
    sender = SENDERS[name]
    proxy, provider = await told_once.memories(*SMALL_TALK, *OTHERS, DECIDED, *ASKED_THEN)
    await send(proxy, sender, sender.body([TALK[0]]))
    forwarded = provider.last.body
    assert DECIDED in forwarded.decode() and not others_in(forwarded.decode())
    assert told(forwarded) == ""


@in_one_loop
@every_format
async def test_what_answers_the_other_half_comes_beside_a_page_that_answers_one(name: str, told_once: Told) -> None:
    sender = SENDERS[name]
    moved = "The nightly backup starts at 04:30, when the disks are idle."
    proxy, provider = await told_once.memories(*SMALL_TALK, *OTHERS, DECIDED, moved)
    await send(proxy, sender, sender.body([("human", f"{TALK[0][1][:-1]}, and when does the nightly backup start?")]))
    forwarded = provider.last.body
    assert DECIDED in forwarded.decode() and "04:30" in told(forwarded)
    assert not [each for each in SMALL_TALK if each in told(forwarded)], told(forwarded)


@in_one_loop
@every
async def test_the_page_stands_behind_the_first_words_and_nowhere_else(name: str, told_once: Told) -> None:
    sender = SENDERS[name]
    proxy, provider = await told_once.memories("I prefer British spelling.")
    for turns in _growing(sender):
        sent, _ = await send(proxy, sender, sender.body(turns, len(turns)))
        first = min(holding(sent, sender, TALK[0][1]))
        assert holding(provider.last.body, sender, PAGE) == [first]
        assert b"British spelling" in provider.last.body


@in_one_loop
@every_with_tools
async def test_a_failing_command_brings_its_remedy_into_its_own_result(name: str, told_once: Told) -> None:
    sender = SENDERS[name]
    proxy, provider = await told_once.memories(*OTHERS, REMEDY, **{"memory.page.enabled": False})
    begun: list[Turn] = [("human", "Please check the build.")]
    await send(proxy, sender, sender.body(begun, 1))
    sent, _ = await send(proxy, sender, sender.body([*begun, ("call", PRINTED)], 2))
    forwarded = provider.last.body
    assert "vendor.sh" in told(forwarded) and not others_in(told(forwarded)), told(forwarded)
    assert holding(forwarded, sender, OPENS) == holding(sent, sender, "error: libwombat")


@in_one_loop
@every_with_sides
async def test_side_requests_get_nothing(name: str, told_once: Told) -> None:
    sender = SENDERS[name]
    proxy, provider = await told_once.memories(*OTHERS, RIGHT)
    for side in sender.sides:
        sent, status = await send(proxy, sender, side(sender))
        assert provider.last.body == sent, status


@in_one_loop
@every
async def test_the_prefix_grows_whatever_the_runtime_adds_anew(name: str, told_once: Told) -> None:
    sender = SENDERS[name]
    before: tuple[list[bytes], list[bytes]] | None = None
    proxy, provider = await told_once.memories(*OTHERS, RIGHT, REMEDY)
    for number, turns in enumerate(_growing(sender)):
        sent, _ = await send(proxy, sender, sender.body(turns, number))
        now = _messages(sent, sender), _messages(provider.last.body, sender)
        if before is not None:
            assert _shared(before[1], now[1]) >= _shared(before[0], now[0]) > 0
        assert now[0] != now[1], "nothing was added: then nothing is seen of what is made again"
        before = now


def _growing(sender: Sender) -> list[list[Turn]]:
    """The requests of one session, a retry among them."""
    turns: list[Turn] = [TALK[0]]
    requests = [list(turns), list(turns)]
    more: tuple[Turn, ...] = (("call", PRINTED), ("call", "ok"), TALK[1], ("human", "Good. What else?"))
    for turn in more:
        if turn[0] != "call" or sender.tools:
            turns.append(turn)
            if turn[0] != "assistant":
                requests.append(list(turns))
    return requests


def _messages(body: bytes, sender: Sender) -> list[bytes]:
    return [orjson.dumps(message) for message in orjson.loads(body)[sender.listed]]


def _shared(left: list[bytes], right: list[bytes]) -> int:
    return next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
