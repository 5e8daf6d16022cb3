"""Every client that was recorded, played to recall: its own bodies, of which only its prose is cut.

They are recorded by ``make e2e ARGS='recorded'`` (``tests/e2e/recorded.py``); ``senders`` has more runtimes, by hand.
"""

from __future__ import annotations

import json

import orjson
import pytest

from memory.session import RequestKind
from proxy.runtimes import recognise
from tests.e2e.clients import CLIENTS
from tests.e2e.install import PACKAGES
from tests.e2e.prefixes import Pair, growth
from tests.e2e.recorded import ERRAND, FAILURE, MORE, QUESTION, REQUESTS
from tests.e2e.script import messages_of
from tests.proxy.runtimes.memories import OPENS, OTHERS, PROJECT, REMEDY, RIGHT, Told, others_in, told
from tests.proxy.runtimes.recordings import NAMES, RECORDED, Request, recorded
from tests.running import Running

UNKNOWN = {"cline": "ai-sdk"}
"""What a client's sub-agents are known for, where nothing in their requests is the client's: Cline's have the system
prompt that the model gave them."""
PAGE = "<memory-page>"

in_one_loop = pytest.mark.asyncio(loop_scope="module")
every = pytest.mark.parametrize("client", RECORDED)
every_with_tools = pytest.mark.parametrize("client", [name for name in RECORDED if CLIENTS[name].tools])
every_with_subagents = pytest.mark.parametrize("client", [name for name in RECORDED if CLIENTS[name].delegates])


async def send(proxy: Running, client: str, request: Request) -> str:
    """Send it as the client does; what was done with it."""
    own = {"Authorization": f"Bearer {client}"}
    status, reply, headers = await proxy.post(request.path, request.sent, **own, **request.headers, **PROJECT)
    assert status == 200, reply
    return headers["x-palimpsest-status"]


@every
def test_the_recording_is_of_the_version_that_is_played(client: str) -> None:
    told = json.loads((REQUESTS / f"{client}.json").read_text(encoding="utf-8"))
    assert told["client"] == PACKAGES[client]


@every
def test_each_is_known_for_what_it_is_and_what_it_asks_for(client: str) -> None:
    for request in recorded(client):
        view = request.view
        runtime = recognise(request.headers, view)
        known = UNKNOWN if request.turn and not request.holding(QUESTION) else NAMES
        assert runtime.name == known.get(client, NAMES.get(client, client))
        kind = runtime.kind(request.headers, view).request
        assert (kind in (RequestKind.MAIN, RequestKind.SUBAGENT)) == request.turn, (kind, request.sent[:300])


@every
def test_a_persons_words_are_told_from_what_the_client_puts_around_them(client: str) -> None:
    [asked, *_] = (one for one in recorded(client) if one.turn)
    conversation = asked.view.conversation
    assert conversation.messages[conversation.newest].spoken.strip('"\n ') == f"{QUESTION} [step-0001]"


@every_with_subagents
def test_an_errand_is_told_from_what_the_client_puts_around_it(client: str) -> None:
    [first, *_] = (one for one in recorded(client) if one.turn and one.holding(ERRAND) and not one.holding(MORE))
    conversation = first.view.conversation
    assert conversation.messages[conversation.newest].spoken.strip('"\n ') == f"{ERRAND} [step-0002]"


@in_one_loop
@every
async def test_of_six_memories_the_right_one_stands_behind_the_persons_words(client: str, told_once: Told) -> None:
    proxy, provider = await told_once.memories(*OTHERS, RIGHT, **{"memory.page.enabled": False})
    [asked, *_] = (one for one in recorded(client) if one.turn)
    await send(proxy, client, asked)
    forwarded = provider.last.body
    assert "7443" in told(forwarded) and not others_in(told(forwarded)), told(forwarded)
    body = orjson.loads(forwarded)
    assert asked.holding(OPENS, body) == asked.holding(QUESTION)
    own, now = messages_of(asked.body), messages_of(body)
    assert [one for at, one in enumerate(now) if at not in asked.holding(OPENS, body)] == [
        one for at, one in enumerate(own) if at not in asked.holding(QUESTION)
    ]
    assert not asked.dialect.check(forwarded)


@in_one_loop
@every
async def test_the_page_stands_in_one_place_which_is_behind_the_first_words(client: str, told_once: Told) -> None:
    proxy, provider = await told_once.memories("I prefer British spelling.")
    for request in (one for one in recorded(client) if one.turn and one.holding(QUESTION)):
        await send(proxy, client, request)
        places = request.holding(PAGE, orjson.loads(provider.last.body))
        # Who rewrites the history of a resumed session leaves nothing there to which it belongs.
        assert len(places) == 1 and (places == request.holding(QUESTION)[:1] or not CLIENTS[client].appends)
        assert b"British spelling" in provider.last.body


@in_one_loop
@every_with_tools
async def test_a_failing_command_brings_its_remedy_into_its_own_result(client: str, told_once: Told) -> None:
    proxy, provider = await told_once.memories(*OTHERS, REMEDY, **{"memory.page.enabled": False})
    asked, failed, *_ = (one for one in recorded(client) if one.turn)
    await send(proxy, client, asked)
    await send(proxy, client, failed)
    forwarded = provider.last.body
    assert "vendor.sh" in told(forwarded) and not others_in(told(forwarded)), told(forwarded)
    assert failed.holding(OPENS, orjson.loads(forwarded)) == failed.holding(FAILURE)


@in_one_loop
@every
async def test_the_whole_session_keeps_its_prefix_and_side_requests_get_nothing(client: str, told_once: Told) -> None:
    proxy, provider = await told_once.memories(*OTHERS, RIGHT, REMEDY)
    pairs: list[Pair] = []
    for request in recorded(client):
        status = await send(proxy, client, request)
        if request.turn:
            pairs.append(Pair(request.body, orjson.loads(provider.last.body)))
        else:
            assert provider.last.body == request.sent, status
    grown = growth(pairs)
    turns = sum(request.turn for request in recorded(client))
    assert grown.compared >= min(turns - 1, 3) and grown.edited >= 2 and not grown.shorter, grown


@every
def test_the_session_was_resumed(client: str) -> None:
    assert any(one.holding(QUESTION) and one.holding(MORE) for one in recorded(client) if one.turn)


@every_with_subagents
def test_the_session_had_a_subagent(client: str) -> None:
    turns = [one for one in recorded(client) if one.turn]
    assert any(one.holding(ERRAND) and not one.holding(MORE) for one in turns)
