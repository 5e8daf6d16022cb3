"""Citations are looked up in the time that a request has for it, and never let it wait for more."""

from __future__ import annotations

import asyncio
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.checkout import LearnedAt
from memory.features.checkouts.checking import LARGE, CitationChecker, CitationState, at_hand
from memory.features.checkouts.finding import found
from memory.features.checkouts.looking import DETACHED, CheckoutView, look
from memory.features.checkouts.sight import CheckoutWatcher
from tests.memory.features.checkouts.repository import Repository

TEXT = "The function drain_jobs in src/queue.py takes a limit."
AT, LATER = datetime(2026, 3, 4, tzinfo=UTC), datetime(2026, 3, 5, tzinfo=UTC)
AGES = 60.0


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "loom")


def learnt_in(view: CheckoutView, text: str = TEXT) -> LearnedAt:
    cites = found(text, view)
    assert cites
    return LearnedAt("m", "up:ada/loom", view.checkout, "", cites, looked=True)


def seen_of(repository: Repository) -> CheckoutView:
    view = look(str(repository.root))
    assert view is not None
    return view


def in_time(seconds: float = AGES) -> float:
    return time.perf_counter() + seconds


def test_what_was_looked_up_once_is_at_hand_without_a_file(repository: Repository) -> None:
    view = seen_of(repository)
    learnt, checker = learnt_in(view), CitationChecker()
    assert at_hand([learnt], view, {}, {}) == ({}, [learnt])
    checker.check([learnt], view, in_time())
    verdicts, unknown = at_hand([learnt], view, checker.refresh(view, in_time()), checker.elsewhere)
    assert not unknown and [each.state for each in verdicts["m"]] == [CitationState.HOLDS]


def test_a_file_that_was_written_again_is_searched_again_at_arrival(repository: Repository) -> None:
    view = seen_of(repository)
    learnt, checker = learnt_in(view), CitationChecker()
    checker.check([learnt], view, in_time())
    repository.write("src/queue.py", "PORT = 7100\n\n\ndef drain_all(limit):\n    return limit\n")
    before = at_hand([learnt], view, checker.refresh(view, in_time()), checker.elsewhere)
    assert before == ({}, [learnt]), "it may stand in another file"
    assert checker.lost([learnt], view.root) == list(learnt.cites)
    (repository.root / "src/queue.py").unlink()
    checker.elsewhere[view.root, "drain_jobs"] = view.refs, ""
    verdicts, _ = at_hand([learnt], view, checker.refresh(view, in_time()), checker.elsewhere)
    assert [each.state for each in verdicts["m"]] == [CitationState.GONE]


def test_past_its_time_it_looks_nothing_up(repository: Repository) -> None:
    view = seen_of(repository)
    learnt, checker = learnt_in(view), CitationChecker()
    assert checker.check([learnt], view, in_time(-1.0)) == {}
    checker.check([learnt], view, in_time())
    assert checker.refresh(view, in_time(-1.0)) == {}


def test_a_large_file_is_searched_behind_a_request_only(repository: Repository) -> None:
    repository.write("src/queue.py", "def drain_jobs(limit):\n    return limit\n" + "# filler\n" * (LARGE // 8))
    repository.commit("a large file")
    view = seen_of(repository)
    learnt, checker = learnt_in(view), CitationChecker()
    assert checker.check([learnt], view, in_time(), LARGE) == {}
    assert checker.check([learnt], view, in_time())["m"]
    assert checker.check([learnt], view, in_time(), LARGE)["m"]


async def test_who_waits_is_told_in_time_whatever_the_disk_does(repository: Repository) -> None:
    watcher = CheckoutWatcher(())
    root = str(repository.root)
    view = await watcher.look(root, AT)
    assert view is not None
    learnt, stuck = learnt_in(view), threading.Event()
    await watcher.read(root, [learnt], in_time(), AT)
    try:
        watcher._reading.submit(stuck.wait)
        await watcher.look(root, LATER)
        late = await watcher.read(root, [learnt], in_time(0.002), LATER)
        assert not late.verdicts and late.last is not None, "the reading thread still hangs"
        assert not stuck.is_set()
    finally:
        stuck.set()
    again = await watcher.read(root, [learnt], in_time(), LATER)
    assert again.verdicts and again.verdicts["m"][0].state is CitationState.HOLDS


async def test_a_request_that_is_given_up_takes_the_look_from_nobody(repository: Repository) -> None:
    watcher, busy = CheckoutWatcher(()), threading.Event()
    root = str(repository.root)
    watcher._asking.submit(busy.wait)
    try:
        given_up, waiting = (asyncio.ensure_future(watcher.look(root, AT)) for _ in range(2))
        await asyncio.sleep(0)  # both wait for one look, which has not begun
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
    finally:
        busy.set()
    view = await waiting
    assert view is not None and await watcher.look(root, AT) == view


async def test_what_is_checked_out_on_no_branch_is_known_after_something_was_staged(repository: Repository) -> None:
    watcher, root = CheckoutWatcher(()), str(repository.root)
    repository.git("checkout", "-q", "--detach")
    repository.commit("on no branch")
    view = await watcher.look(root, AT)
    assert view is not None and view.checkout.branch.startswith(DETACHED)
    repository.write("src/staged.py", "LIMIT = 9\n")
    repository.git("add", "-A")
    seen = await watcher.read(root, [], in_time())
    assert seen.fresh is not None and seen.fresh.stale and seen.fresh.checkout == view.checkout
    repository.commit("another one")
    assert (await watcher.read(root, [], in_time())).fresh is None, "it has another commit"


async def test_a_branch_is_not_taken_for_the_commits_on_none_that_it_was_made_of(repository: Repository) -> None:
    watcher, root = CheckoutWatcher(()), str(repository.root)
    repository.git("checkout", "-q", "--detach")
    repository.commit("on no branch")
    assert await watcher.look(root, AT) is not None
    repository.checkout("kept", new=True)
    assert (await watcher.read(root, [], in_time())).fresh is None


async def test_what_a_request_could_not_wait_for_is_known_at_the_next_one(repository: Repository) -> None:
    watcher = CheckoutWatcher(())
    root = str(repository.root)
    view = await watcher.look(root, AT)
    assert view is not None
    learnt = learnt_in(view)
    first = await watcher.read(root, [learnt], in_time(0.0), AT)
    assert not first.verdicts
    await watcher.look(root, LATER)
    watcher._reading.submit(int).result()
    second = await watcher.read(root, [learnt], in_time(0.0), LATER)
    assert second.verdicts and second.verdicts["m"], "it needs no time any more"


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("named", ["drain_jobs", "src/queue.py"])
@pytest.mark.parametrize(("done", "state"), [("rm", CitationState.GONE), ("mv", CitationState.MOVED)])
async def test_the_first_that_is_said_of_what_is_not_there_any_more_is_right(
    repository: Repository, done: str, state: CitationState, named: str, committed: bool
) -> None:
    watcher, root = CheckoutWatcher(()), str(repository.root)
    view = await watcher.look(root, AT)
    assert view is not None
    learnt = learnt_in(view, f"It is in {named}.")
    await watcher.read(root, [learnt], in_time(), AT)
    await watcher.looked_behind()
    repository.git(*(("rm", "-q", "src/queue.py") if done == "rm" else ("mv", "src/queue.py", "src/jobs.py")))
    if committed:
        repository.commit("without the queue")
    told: list[CitationState | None] = []
    for minute in range(1, 4):
        # git takes its time: a request comes before it has answered.
        busy, now = threading.Event(), AT + timedelta(minutes=minute)
        watcher._asking.submit(busy.wait)
        looking = asyncio.ensure_future(watcher.look(root, now))
        await asyncio.sleep(0)
        watcher._reading.submit(int).result()
        seen = await watcher.read(root, [learnt], in_time(0.0), now)
        told.append(seen.verdicts["m"][0].state if seen.verdicts else None)
        busy.set()
        await looking
        await watcher.looked_behind()
    assert told[1:] == [state, state] and told[0] in (None, state)
