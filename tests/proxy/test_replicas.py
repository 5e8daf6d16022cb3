"""Several servers over one PostgreSQL journal: one growing prefix, whoever takes a request; everything learnt once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from qdrant_client import AsyncQdrantClient

from memory.ports import StoreError
from memory.scope import Scope
from memory.stores.postgresql.journal import PostgresJournal
from proxy.setting_sources import SettingsError
from proxy.settings import load
from tests import postgresql
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.homes import LESSONS, QUESTION
from tests.proxy.test_forget_person import traces
from tests.running import Running, running


@pytest.fixture
def database(server: postgresql.TestServer, tmp_path: Path) -> str:
    return server.database(tmp_path)


@pytest.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with fake_provider() as found:
        yield found


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 (what another replica does is found out by looking)
            await asyncio.sleep(0.02)


class Replicas:
    """Servers over one database, each with a home of its own."""

    def __init__(self, provider: FakeProvider, database: str, folder: Path, stack: AsyncExitStack) -> None:
        self._provider, self._database, self._folder, self._stack = provider, database, folder, stack
        self.every: list[Running] = []
        self._started = 0

    async def start(self, **options: Any) -> Running:
        """One more."""
        self._started += 1
        home = self._folder / f"replica-{self._started}"
        settings = {"memory.postgresql.url": self._database, "memory.postgresql.replicas": True, **options}
        started = await self._stack.enter_async_context(running(self._provider, home, **settings))
        assert started.edge.memory is not None, started.edge.memory_fault
        self.every.append(started)
        return started

    def working(self) -> list[Running]:
        """Those that do the work."""
        return [each for each in self.every if each.edge.memory is not None and each.edge.memory.works]

    async def learned(self) -> None:
        """Wait until everything is learned from and can be found on each of them."""
        for each in self.every:
            while each.edge.beside:
                await asyncio.wait(each.edge.beside)
        (worker,) = self.working()
        await worker.learned()
        for each in self.every:
            memory = each.edge.memory
            assert memory is not None
            while await memory.journal.waiting():  # noqa: ASYNC110 (it is brought up to date beside)
                await asyncio.sleep(0.02)


@pytest.fixture
async def replicas(provider: FakeProvider, database: str, tmp_path: Path) -> AsyncIterator[Replicas]:
    async with AsyncExitStack() as stack:
        found = Replicas(provider, database, tmp_path, stack)
        for _ in range(2):
            await found.start()
        await until(lambda: len(found.working()) == 1)
        yield found


async def say(replica: Running, session: str, *texts: str) -> None:
    """A chat of a session that its client names, or, where that is empty, does not name."""
    named = {"x_session_id": session} if session else {}
    said = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
    body = {"model": "m", "messages": said}
    status, reply, _ = await replica.post("/v1/chat/completions", body, x_palimpsest_project="loom", **named)
    assert status == 200, reply


def messages(body: bytes) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = orjson.loads(body)["messages"]
    return found


async def counted(replica: Running, table: str) -> int:
    memory = replica.edge.memory
    assert memory is not None
    return int(await memory.journal._db.read(lambda c: c.execute(f"SELECT count(*) AS n FROM {table}").fetchone()["n"]))


async def test_sessions_go_on_with_the_same_bytes_whichever_replica_takes_them(
    replicas: Replicas, provider: FakeProvider
) -> None:
    first, second = replicas.every
    for number, lesson in enumerate(LESSONS):
        await (first, second)[number % 2].chat(lesson, session=f"lesson-{number}")
    await replicas.learned()
    sent: dict[str, list[Mapping[str, Any]]] = {}
    # One is known by its id, the other by what was said in it.
    openings = {"named": QUESTION, "": f"Quickly: {QUESTION}"}
    texts: list[str] = []
    for turn in range(6):
        for number, (named, opening) in enumerate(openings.items()):
            replica = replicas.every[(turn + number) % 2]
            await say(replica, named, opening, *texts)
            now = messages(provider.last.body)
            before = sent.get(named, [])
            assert now[: len(before)] == before, (turn, named)
            sent[named] = now
        texts += ["OK.", f"And what of {LESSONS[turn % len(LESSONS)]}"]
    assert "7443" in str(sent["named"][0]) and "7443" in str(sent[""][0])
    assert await counted(first, "sessions") == len(LESSONS) + 2
    for each in replicas.every:
        assert not each.edge.degradations.since(1000)


@pytest.mark.parametrize("named", ["s", ""], ids=["by its id", "by its trail"])
async def test_two_that_decide_about_the_same_message_send_the_same(
    replicas: Replicas, provider: FakeProvider, named: str
) -> None:
    first, second = replicas.every
    await first.chat(LESSONS[2], session="lesson")
    await replicas.learned()
    # Only one of them finds anything: without agreement they would send different things.
    memory = second.edge.memory
    assert memory is not None
    memory.recall.index = await _nothing(memory.recall.index)
    texts = [QUESTION]
    sent = []
    for _ in range(3):
        before = len(provider.requests)
        await asyncio.gather(*(say(each, named, *texts) for each in replicas.every))
        one, other = (messages(each.body) for each in provider.requests[before:])
        assert one == other
        sent.append(one)
        texts += ["OK.", QUESTION + " Say it again."]
    assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(sent))
    assert await counted(first, "sessions") == 2


async def _nothing(index: Any) -> Any:
    class Empty:
        """An index in which nothing is found."""

        def __getattr__(self, name: str) -> Any:
            return getattr(index, name)

        async def search(self, *asked: Any, **named: Any) -> list[Any]:
            return []

    return Empty()


async def test_each_exchange_is_learnt_once_and_another_one_goes_on_where_the_first_ends(
    replicas: Replicas, provider: FakeProvider
) -> None:
    (worker,) = replicas.working()
    other = next(each for each in replicas.every if each is not worker)
    await other.chat(LESSONS[0], session="lesson-0")
    await replicas.learned()
    facts = await counted(other, "facts")
    assert facts > 0
    await worker.runner.cleanup()
    replicas.every.remove(worker)
    await other.chat(LESSONS[1], session="lesson-1")
    await until(lambda: replicas.working() == [other])
    await replicas.learned()
    assert await counted(other, "facts") > facts
    passages = await counted(other, "passages")
    late = await replicas.start()
    await replicas.learned()
    assert await counted(late, "passages") == passages
    await late.chat(QUESTION, session="asks")
    assert "PostgreSQL 16" in provider.last.body.decode()


async def test_a_page_that_one_has_made_tells_what_another_has_learnt_since(
    replicas: Replicas, provider: FakeProvider
) -> None:
    (worker,) = replicas.working()
    other = next(each for each in replicas.every if each is not worker)
    await other.chat("Hello there, are you well?", session="before")
    assert "Grace" not in provider.last.body.decode()
    await other.chat(LESSONS[3], session="lesson")
    await replicas.learned()
    memory = other.edge.memory
    assert memory is not None
    scope = Scope(None, "local", "loom")
    async with asyncio.timeout(60):
        while "Grace" not in (await memory.pages.page(scope)).text:  # noqa: ASYNC110 (it is made beside)
            await asyncio.sleep(0.02)
    await other.chat("Good evening, are you well?", session="after")
    assert "Grace" in provider.last.body.decode()


async def test_what_is_forgotten_is_gone_from_all_of_them_and_no_owner_gets_anothers(
    replicas: Replicas, provider: FakeProvider
) -> None:
    first, second = replicas.every
    (worker,) = replicas.working()
    other = second if worker is first else first
    await first.chat(LESSONS[2], session="lesson")
    await replicas.learned()
    await other.chat(QUESTION, session="asks")
    assert "7443" in provider.last.body.decode()
    status, _, _ = await other.post(
        "/u/eve/v1/chat/completions",
        {"model": "m", "messages": [{"role": "user", "content": QUESTION}]},
        x_palimpsest_project="loom",
    )
    assert status == 200 and "7443" not in provider.last.body.decode()
    memory = worker.edge.memory
    assert memory is not None
    ids = [fact.id for fact in await memory.commands.facts(["up:/local/loom"])]
    ids += [each.id for each in await memory.journal.find_passages(["up:/local/loom"], "7443")]
    refused = await asking(other)("POST", "api/forget", {"ids": ids}, status=503)
    assert "another replica does the work" in refused["error"]
    await asking(worker)("POST", "api/forget", {"ids": ids}, x_palimpsest_project="loom")
    await other.chat("On which port does the staging gateway listen?", session="later")
    assert "7443" not in provider.last.body.decode()
    await other.chat(QUESTION, "OK.", "Thanks.", session="asks")
    assert "7443" not in str(messages(provider.last.body)[0]["content"])


async def test_while_the_database_is_away_each_goes_on_as_it_knows_its_sessions(
    replicas: Replicas, provider: FakeProvider, server: postgresql.TestServer
) -> None:
    texts = [QUESTION]
    for each in replicas.every:
        await say(each, "s", *texts)
        texts += ["OK.", "And then?"]
    before = messages(provider.last.body)
    server.pause()
    try:
        for each in replicas.every:
            await say(each, "s", *texts)
            now = messages(provider.last.body)
            assert now[: len(before)] == before
            before, texts = now, [*texts, "OK.", "And after that?"]
    finally:
        server.resume()
    for each in replicas.every:
        memory = each.edge.memory
        assert memory is not None
        await memory.exchange_journal.write_pending()
        assert not memory.exchange_journal.pending and not memory.exchange_journal.lost
    for each in replicas.every:
        await say(each, "s", *texts)
        now = messages(provider.last.body)
        assert now[: len(before)] == before
        before, texts = now, [*texts, "OK.", "And at last?"]
    await until(lambda: len(replicas.working()) == 1)
    await replicas.learned()
    assert await counted(replicas.every[0], "exchanges") == 6
    assert await counted(replicas.every[0], "sessions") == 1


async def test_a_sub_agent_is_one_though_its_errand_was_given_through_another_replica(
    replicas: Replicas, provider: FakeProvider
) -> None:
    first, second = replicas.every
    errand = "Find out which retry limit the courier service has, and report the file."
    arguments = orjson.dumps({"description": "look", "prompt": errand}).decode()

    async def sends_one_out(request: web.Request) -> web.StreamResponse:
        call = {"id": "c1", "type": "function", "function": {"name": "Task", "arguments": arguments}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return web.json_response(
            {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
        )

    provider.answer = sends_one_out
    await say(first, "parent", "How often does the courier try again?")
    provider.answer = None
    await say(second, "child", errand)
    memory = second.edge.memory
    assert memory is not None
    kinds = await memory.journal._db.read(lambda c: c.execute("SELECT kind FROM sessions ORDER BY number").fetchall())
    assert [row["kind"] for row in kinds] == ["main", "sub-agent"]


@pytest.mark.parametrize("begun", [True, False], ids=["a session that stands", "a session that begins"])
async def test_of_who_is_forgotten_while_another_one_prepares_a_request_nothing_is_left(
    replicas: Replicas, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: bool
) -> None:
    (worker,) = replicas.working()
    other = next(each for each in replicas.every if each is not worker)
    memory, mark = other.edge.memory, "zirkonfalke"
    assert memory is not None
    secret = f"The vault of the harbour office opens with the word {mark}."

    async def ask(session: str, *texts: str) -> None:
        said = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(texts)]
        path, body = f"/u/{mark}/v1/chat/completions", {"model": "m", "messages": said}
        status, reply, _ = await other.post(path, body, x_session_id=session, x_palimpsest_project="loom")
        assert status == 200, reply

    await ask("said", f"Remember for ever: {secret}")
    await replicas.learned()
    arrived, released, agree = asyncio.Event(), asyncio.Event(), memory.journal.agree

    async def held(*asked: Any) -> Any:
        arrived.set()
        await released.wait()
        return await agree(*asked)

    monkeypatch.setattr(memory.journal, "agree", held)
    talk = ["said", f"Remember for ever: {secret}", "OK."] if begun else ["asks"]
    asked = asyncio.create_task(ask(*talk, f"Which word opens the vault? {secret}"))
    await arrived.wait()
    assert await asyncio.to_thread(lambda: [*traces(tmp_path / "no files", mark, database)])
    await asking(worker)("POST", f"api/person/forget?user={mark}")
    released.set()
    await asked
    for each in replicas.every:
        while each.edge.beside:
            await asyncio.wait(each.edge.beside)
    assert not other.edge.degradations.since(1000)
    report = await asking(worker)("GET", f"api/person?user={mark}")
    assert report["would_go"] == {}
    await replicas.learned()
    # Of an index in a folder of a replica it is said that it is to be made anew.
    assert await asyncio.to_thread(lambda: [*traces(tmp_path / "no files", mark, database)]) == []


@pytest.mark.filterwarnings("ignore:Payload indexes have no effect")
async def test_replicas_share_the_index_of_a_qdrant_server(
    provider: FakeProvider, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is the client's own engine, one for both: there is no Qdrant server on this machine."""
    engine = AsyncQdrantClient(":memory:")
    shut = engine.close

    async def stays(*, grpc_grace: float | None = None) -> None:
        """It is the others', too."""

    monkeypatch.setattr(engine, "close", stays)
    for place in ("index_server", "generations"):
        monkeypatch.setattr(f"memory.stores.{place}.client_of", lambda *asked, **named: engine)
    async with AsyncExitStack() as stack:
        found = Replicas(provider, database, tmp_path, stack)
        for _ in range(2):
            await found.start(**{"memory.qdrant.url": "http://qdrant:6333"})
        await until(lambda: len(found.working()) == 1)
        await found.every[1].chat(LESSONS[2], session="lesson")
        await found.learned()
        (index,) = {each.edge.memory.generation.number for each in found.every if each.edge.memory is not None}
        assert index == 1
        for number, each in enumerate(found.every):
            await each.chat(QUESTION, session=f"asks-{number}")
            assert "7443" in provider.last.body.decode()
            assert not each.edge.degradations.since(1000)
    await shut()


async def test_metrics_say_which_replica_does_the_work_and_how_its_database_is(replicas: Replicas) -> None:
    memories = [each.edge.memory for each in replicas.every]
    await until(lambda: all(each is not None and each.journal._db.round_trip for each in memories))
    told = [await measured(each) for each in replicas.every]
    assert sorted(each["palimpsest_works"] for each in told) == [0, 1]
    assert len({name for each in told for name in each if name.startswith("palimpsest_replica_info{replica=")}) == 2
    for each in told:
        assert each["palimpsest_journal_answers"] == 1 and each["palimpsest_journal_waiting"] == 0
        assert 0 < each["palimpsest_journal_round_trip_seconds"] < 60


async def measured(replica: Running) -> dict[str, float]:
    headers = {"Authorization": f"Bearer {replica.edge.token}"}
    async with replica.client.get(f"{replica.url}/palimpsest/metrics", headers=headers) as reply:
        lines = [line for line in (await reply.text()).splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


async def test_who_is_about_to_end_leaves_the_work_at_once_and_goes_on_with_requests(
    replicas: Replicas, provider: FakeProvider
) -> None:
    (worker,) = replicas.working()
    other = next(each for each in replicas.every if each is not worker)
    worker.edge.draining.begun.set()
    await until(lambda: replicas.working() == [other])
    await worker.chat(LESSONS[2], session="lesson")
    await replicas.learned()
    assert await counted(other, "facts") > 0
    assert not worker.edge.degradations.since(1000) and not other.edge.degradations.since(1000)


async def test_where_another_one_works_the_own_endpoints_that_read_begin_no_work(
    replicas: Replicas, provider: FakeProvider
) -> None:
    for each in replicas.every:
        each.edge.draining.begun.set()
    await until(lambda: not replicas.working())
    first, second = replicas.every
    await first.chat(LESSONS[2], session="lesson")
    while first.edge.beside:
        await asyncio.wait(first.edge.beside)
    await asking(second)("POST", "api/provenance", {"from": {"program": "qwen-code"}}, x_palimpsest_project="loom")
    assert await counted(first, "exchanges") == 1 and await counted(first, "facts") == 0


async def test_a_fact_that_no_message_taught_is_gone_from_the_page_of_each(
    replicas: Replicas, provider: FakeProvider
) -> None:
    (worker,) = replicas.working()
    other = next(each for each in replicas.every if each is not worker)
    text = "We decided to keep the ledger in copper drawers."
    ask = asking(worker)
    await ask("POST", "api/remember", {"text": text}, status=201, x_palimpsest_project="loom")
    await replicas.learned()
    memory = other.edge.memory
    assert memory is not None
    scope = Scope(None, "local", "loom")
    async with asyncio.timeout(60):
        while "copper" not in (await memory.pages.page(scope)).text:  # noqa: ASYNC110 (it is made beside)
            await asyncio.sleep(0.02)
    facts = (await ask("GET", "api/facts", x_palimpsest_project="loom"))["facts"]
    known = [each["id"] for each in facts if "copper" in each["text"]]
    await ask("POST", "api/forget", {"ids": known}, x_palimpsest_project="loom")
    await other.chat("Good evening, are you well?", session="after")
    assert "copper" not in provider.last.body.decode()


async def test_stores_of_which_the_common_key_cannot_be_had_are_opened_again(
    provider: FakeProvider, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_meta, asked = PostgresJournal.first_meta, list[str]()

    async def fails_at_first(journal: PostgresJournal, name: str, value: bytes) -> bytes:
        asked.append(name)
        if len(asked) == 1:
            raise StoreError("the database is busy")
        return await first_meta(journal, name, value)

    monkeypatch.setattr(PostgresJournal, "first_meta", fails_at_first)
    monkeypatch.setattr("proxy.opening.REOPEN_SECONDS", 0.05)
    settings = {"memory.postgresql.url": database, "memory.postgresql.replicas": True}
    async with running(provider, tmp_path / "late", **settings) as late:
        assert late.edge.memory is None and "busy" in late.edge.memory_fault
        await until(lambda: late.edge.memory is not None)
        assert asked == ["identity", "identity"] and not late.edge.memory_fault


async def test_what_replicas_cannot_do_together_is_refused(
    replicas: Replicas, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (worker,) = replicas.working()
    other = next(each for each in replicas.every if each is not worker)
    for each, status in ((worker, 200), (other, 503)):
        async with each.client.get(f"{each.url}/palimpsest/ready?role=work") as reply:
            assert reply.status == status
        async with each.client.get(f"{each.url}/palimpsest/ready") as reply:
            assert reply.status == 200
        assert (await asking(each)("GET", "health"))["why"] == []
    assert "not paused for one replica" in (await asking(worker)("POST", "api/pause", {}, status=503))["error"]
    assert worker.edge.identity_key == other.edge.identity_key
    monkeypatch.setattr("memory.stores.postgresql.writer.SECONDS", -2)
    with pytest.raises(StoreError, match="in use by another server"):
        PostgresJournal(database, tmp_path / "alone", str)


def test_settings_that_replicas_cannot_share_are_faults(tmp_path: Path) -> None:
    for options, why in (
        ({}, "needs postgresql.url"),
        ({"memory.postgresql.url": "postgresql://db/p", "memory.tools.offer": True}, "tools.offer"),
    ):
        with pytest.raises(SettingsError, match=why):
            load(options={"home": str(tmp_path), "memory.postgresql.replicas": True, **options})
