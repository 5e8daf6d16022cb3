"""What was learnt on which branch, over HTTP and on the command line, and in an export."""

from __future__ import annotations

import asyncio
import shlex
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.features.checkouts import gone as looking_for_gone
from memory.features.checkouts.commands import format_branches, gone
from memory.features.checkouts.gone import KEPT, Gone, questions
from memory.scope import Layer, Scope
from proxy.cli import checks
from proxy.cli.memories import cited_place
from proxy.cli.server import RunningServer
from tests.memory.features.checkouts.working import Working, working
from tests.memory.stores.derived_facts import fact
from tests.proxy.api.asking import asking
from tests.proxy.cli.running import run
from tests.proxy.web.browsing import Browser, Html, let_in

QUEUE = "The retry queue lives in src/queue.py and listens on port 7100."


async def test_branches_and_what_was_learnt_on_one_are_told(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        ask = asking(on.proxy)
        on.repository.checkout("feature/retry", new=True)
        await on.say(QUEUE)
        [(fact, _)] = (await on.facts()).values()
        at = f"project={on.repository.root}"
        [line] = format_branches(await ask("GET", f"api/branches?{at}"))
        assert line.startswith("feature/retry: 1 fact, open") and str(on.repository.root) in line
        [said] = (await ask("GET", f"api/learnt-on/feature/retry?{at}"))["facts"]
        assert said["text"] == QUEUE == fact.text and said["stage"] == "open" and said["checkout"]["staged"]
        assert list(map(cited_place, said["checkout"]["cites"])) == ["7100 in src/queue.py"]
        assert (await ask("GET", f"api/learnt-on/main?{at}"))["facts"] == []
        assert (await ask("GET", f"api/learnt-on/feature/retry?{at}&user=bob"))["facts"] == []


async def test_it_goes_with_an_export_and_comes_with_an_import(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        ask = asking(on.proxy)
        on.repository.checkout("retry", new=True)
        await on.say(QUEUE)
        [(fact, learnt)] = (await on.facts()).values()
        records = await on.feature.export(fact.owner, "", 10)
        [record] = [each for each in records if each["id"] == fact.id]
        assert record["branch"] == learnt.checkout.branch == "retry"
        assert (await ask("POST", "api/import/records", record))["known"] == 1
        other = record | {"id": "00000000-0000-4000-8000-000000000000"}
        assert (await ask("POST", "api/import/records", other))["forgotten"] == 1
        assert (await ask("POST", "api/import/records", record | {"commit": "HEAD; rm"}))["faults"]


async def test_what_cites_code_that_is_gone_is_asked_about(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        ask = asking(on.proxy)
        await on.say(QUEUE)
        at = f"project={on.repository.root}"
        assert list(gone(await ask("GET", f"api/gone?{at}"))) == ["all that is remembered of the code is there"]
        on.repository.write("src/queue.py", "PORT = 7300\n")
        on.repository.commit("queue: another port")
        told = await ask("GET", f"api/gone?{at}")
        [held] = told["gone"]
        assert held["text"] == QUEUE and held["mark"].startswith("gone since") and told["count"] == 1
        line, hint = gone(told)
        assert line.startswith(held["id"][:8]) and "palimpsest confirm" in hint
        assert (await ask("GET", f"api/gone?{at}&user=bob"))["gone"] == []
        project = str(on.repository.root)
        wanted = {
            "text": f"1 fact cites code that is gone from {project}",
            "command": f"palimpsest gone --project {project}",
        }
        assert await asked(on) == [wanted]
        browser = await let_in(on.proxy)
        today, review = await browser.get(""), await reviewed(browser)
        assert wanted["text"] in today.text and wanted["command"] in today.text
        assert QUEUE in review.text and held["mark"] in review.text
        server = RunningServer(on.proxy.url, on.proxy.edge.token)
        assert [each.found for each in await asyncio.to_thread(lambda: list(checks.asked(server)))] == [wanted["text"]]
        await ask("POST", f"api/forget?{at}", {"ids": [held["id"]]})
        assert await asked(on) == []


async def test_what_a_person_confirms_though_its_code_is_gone_is_settled_until_it_goes_again(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        ask, at = asking(on.proxy), f"project={on.repository.root}"
        there = (on.repository.root / "src/queue.py").read_text()
        await on.say(QUEUE)

        async def commit(text: str) -> list[str]:
            on.repository.write("src/queue.py", text)
            on.repository.commit("queue: written again")
            await on.seen()
            return [each["text"] for each in (await ask("GET", f"api/gone?{at}"))["gone"]]

        assert await commit("PORT = 7300\n") == [QUEUE]
        assert len(await asked(on)) == 1
        [held] = (await ask("GET", f"api/gone?{at}"))["gone"]
        assert "gone since" in await on.say("On which port does the retry queue listen?")
        await ask("POST", f"api/facts/{held['id']}/confirm?{at}", {})
        assert (await ask("GET", f"api/gone?{at}"))["gone"] == [] and await asked(on) == []
        told = await on.say("Which port was it that the retry queue listens on?")
        assert QUEUE in told and "gone since" not in told
        assert await commit("PORT = 7400\n") == [], "another change brings nothing back that could go"
        assert await commit(there) == []
        assert await commit("PORT = 7500\n") == [QUEUE]


async def test_what_a_person_confirms_is_noted_behind_them_where_git_takes_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking_for_gone, "AT_ONCE_SECONDS", 0.05)
    async with working(tmp_path) as on:
        ask, at = asking(on.proxy), f"project={on.repository.root}"
        await on.say(QUEUE)
        on.repository.write("src/queue.py", "PORT = 7300\n")
        on.repository.commit("queue: another port")
        [held] = (await ask("GET", f"api/gone?{at}"))["gone"]
        hangs = threading.Event()
        hanging = asyncio.ensure_future(on.feature.sight.run_git(lambda: hangs.wait(20)))
        try:
            await ask("POST", f"api/facts/{held['id']}/confirm?{at}", {})
            assert not hanging.done()
        finally:
            hangs.set()
        await on.feature.gone_code.stop()
        assert (await ask("GET", f"api/gone?{at}"))["gone"] == []


LOOKING = "Code that is gone is being looked for"


async def reviewed(browser: Browser) -> Html:
    """The page of reviews, once git has answered."""
    while LOOKING in (page := await browser.get("review")).text:
        pass
    return page


async def test_a_git_that_hangs_holds_the_page_of_reviews_up_for_no_more_than_a_moment(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await on.say(QUEUE)
        on.repository.write("src/queue.py", "PORT = 7300\n")
        on.repository.commit("queue: another port")
        browser, hangs = await let_in(on.proxy), threading.Event()
        hanging = asyncio.ensure_future(on.feature.sight.run_git(lambda: hangs.wait(20)))
        try:
            page = await browser.get("review")
            assert not hanging.done() and LOOKING in page.text and "Nothing waits for you" in page.text
        finally:
            hangs.set()
        assert await hanging
        page = await reviewed(browser)
        assert QUEUE in page.text and "gone since" in page.text


async def asked(on: Working) -> list[dict[str, str]]:
    """What the status says that waits for a person."""
    told: list[dict[str, str]] = (await asking(on.proxy)("GET", "api/status"))["asked"]
    return told


async def test_a_turn_that_is_marked_gone_is_listed_and_counted(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        said = "The trace of last night ends in drain_jobs in src/queue.py, why?"
        await on.say(said)
        assert said not in await on.facts()
        at = f"project={on.repository.root}"
        on.repository.write("src/queue.py", "PORT = 7300\n")
        on.repository.commit("queue: another port")
        told = await asking(on.proxy)("GET", f"api/gone?{at}")
        assert [(each["sort"], each["text"]) for each in told["gone"]] == [("turn", said)]
        assert (told["count"], told["facts"], told["turns"]) == (1, 0, 1)
        line, hint = gone(told)
        assert "drain_jobs" in line and "1 turn of talk was only said" in hint
        [question] = await asked(on)
        assert question["text"].startswith("1 turn of talk cites code that is gone from ")


async def test_how_much_is_gone_is_kept_for_a_minute_and_until_something_is_forgotten(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await on.say(QUEUE)
        (fact, _) = (await on.facts())[QUEUE]
        now = datetime.now(UTC)
        on.feature.gone_code._now = lambda: now
        assert await asked(on) == []
        on.repository.write("src/queue.py", "PORT = 7300\n")
        on.repository.commit("queue: another port")
        now += KEPT - timedelta(seconds=1)
        assert await asked(on) == [], "it was found less than a minute ago"
        now += timedelta(seconds=1)
        assert len(await asked(on)) == 1
        await on.memory.commands.forget([fact.id], [fact.owner])
        assert await asked(on) == []


async def test_what_is_forgotten_while_it_is_counted_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path) as on:
        await on.say(QUEUE)
        (fact, _) = (await on.facts())[QUEUE]
        on.repository.write("src/queue.py", "PORT = 7300\n")
        on.repository.commit("queue: another port")
        of = on.feature.gone_code.of

        async def forgetting(owners: Sequence[str], now: datetime) -> Gone:
            found = await of(owners, now)
            if found.facts:
                await on.memory.commands.forget([fact.id], [fact.owner])
            return found

        monkeypatch.setattr(on.feature.gone_code, "of", forgetting)
        await on.feature.gone_code._look((fact.owner,))
        assert await on.feature.gone_code.asks([fact.owner]) == ()


@pytest.mark.parametrize("project", ["loom", "ada/loom", "my loom", "x'; touch pwned; '", "$(id)", "-", "é"])
def test_a_command_names_a_project_as_a_shell_takes_it(project: str) -> None:
    held = replace(fact("TokenBucket"), owner=Scope(user="ada", project=project).owner(Layer.USER_PROJECT) or "")
    [question] = questions(Gone(facts=[held]))
    assert shlex.split(question.command) == ["palimpsest", "gone", "--project", project]


def test_the_command_line_lists_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PALIMPSEST__SERVER__PORT", "1")
    run("remember", "The harbour opens at nine.")
    assert run("branches", "--json").json == {"branches": []}
    assert "nothing was learnt on a branch retry" in run("facts", "--branch", "retry").out
    assert run("facts", "--branch", "retry", "--kind", "fact").code != 0
