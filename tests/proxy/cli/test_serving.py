"""``palimpsest serve`` as a program: it says where it listens, serves, and stops when it is told to."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import weakref
from contextlib import closing
from pathlib import Path

import aiohttp
import pytest

from proxy.cli.log_format import OneLineFormatter
from proxy.cli.serving import (
    ENDING,
    LONG_SECONDS,
    MOST_FREEZES,
    _Ageing,
    _announce,
    _freeze_loaded_objects,
    _on_signals,
    welcome,
)
from proxy.cli.wording import program as program_name
from proxy.settings import Settings
from tests.fake_provider import fake_provider
from tests.proxy.cli.running import program, run, serving


def put(file: Path, content: bytes) -> None:
    file.parent.mkdir(mode=0o700, exist_ok=True)
    file.write_bytes(content)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def modes_of(home: Path) -> dict[Path, int]:
    return {path: mode(path) for path in (home, *sorted(home.rglob("*")))}


async def test_it_says_where_it_listens_stops_when_told_and_has_learned_what_was_said_last(
    home: Path,
) -> None:
    async with fake_provider() as provider, serving("--home", str(home), "--upstream", provider.url) as started:
        told = "".join(started.welcome)
        assert str(home) in told and provider.url in told and "palimpsest connect codex" in told
        announced = home / "server.json"
        assert json.loads(announced.read_text())["url"] == started.url
        assert mode(announced) == 0o600 and mode(home) == 0o700
        status = await program("status", "--json", "--home", str(home))
        assert status.json["running"] and status.json["url"] == started.url

        second = await program("serve", "--port", "0", "--home", str(home))
        assert second.code == 1 and "another palimpsest" in second.err and "Traceback" not in second.err
        port = started.url.rsplit(":", 1)[1]
        third = await program("serve", "--port", port, "--home", str(home.parent / "other"))
        assert third.code == 1 and f"port {port}" in third.err and "in use" in third.err

        copied = home / "copied"
        put(copied, b"")
        copied.chmod(0o644)
        said = "Please remember this decision: the billing service is deployed on port 7443."
        body = {"model": "m", "messages": [{"role": "user", "content": said}]}
        address = f"{started.url}/v1/chat/completions"
        async with aiohttp.ClientSession() as client, client.post(address, json=body) as reply:
            assert reply.status == 200 and "x-palimpsest-status" in reply.headers
            await reply.read()
        code, logged = await started.stop()
        assert code == 0 and "Traceback" not in logged
        assert not announced.exists()
    with closing(sqlite3.connect(home / "journal.db")) as journal:
        facts = [text for (text,) in journal.execute("SELECT text FROM facts")]
    assert any("7443" in text for text in facts)
    put(home.parent / ".git" / "HEAD", b"")
    assert run("remember", "The harbour opens at nine", "--here").code == 0
    modes = modes_of(home)
    assert home / "projects.json" in modes and any(path.parent == home / "index" for path in modes)
    assert [path for path, mode in modes.items() if mode & 0o077] == []


async def test_what_a_client_calls_things_fills_no_log_and_an_interrupt_stops_it_gracefully(home: Path) -> None:
    long = "m\n" + "x" * 100_000
    async with fake_provider() as provider, serving("--home", str(home), "--upstream", provider.url) as started:
        async with aiohttp.ClientSession() as client:
            tool = {"type": "function", "function": {"name": long, "parameters": {}}}
            body = {"model": long, "messages": [{"role": "user", "content": "Hello."}], "tools": [tool], "user": long}
            headers = {f"x-palimpsest-{name}": "y" * 8000 for name in ("session", "user", "project")}
            for path, own in (("", {}), ("/u/" + "z" * 8000, {}), ("", headers)):
                at = f"{started.url}{path}/v1/chat/completions"
                async with client.post(at, json=body, headers=own) as reply:
                    await reply.read()
        started.process.send_signal(signal.SIGINT)
        _, written = await started.process.communicate()
        logged = written.decode()
        assert started.process.returncode == 0 and "Traceback" not in logged
    assert "of 'm" in logged
    assert max(map(len, logged.splitlines())) < 1000 and len(logged) < 10_000


def test_a_line_of_the_log_is_cut_and_printable_and_so_is_what_was_raised() -> None:
    try:
        raise ValueError("z" * 5000)
    except ValueError:
        record = logging.LogRecord(
            "n", logging.ERROR, "f", 1, "said %s", ("a\n\x1b[31mb" + "x" * 5000,), sys.exc_info()
        )
    first, *raised = OneLineFormatter().format(record).split("\n")
    assert "said a  [31mbxxx" in first and first.endswith("characters)")
    assert raised[0].startswith("Traceback") and max(map(len, [first, *raised])) < 600


async def test_faults_before_the_start_are_sentences(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # as it would set it here
    public = run("serve", "--host", "0.0.0.0", "--home", str(home))
    assert public.code == 2 and "credentials" in public.err
    nowhere = run("serve", "--config", "/nowhere/at/all.yaml", "--home", str(home))
    assert nowhere.code == 2 and "no such file" in nowhere.err
    file = home.parent / "file"
    put(file, b"")
    unusable = await program("serve", "--home", str(file / "below"))
    assert unusable.code == 1 and "cannot be used" in unusable.err
    put(home / "token", b"no hexadecimal")
    damaged = await program("serve", "--port", "0", "--home", str(home))
    assert damaged.code == 1 and "damaged" in damaged.err
    for done in (public, nowhere, unusable, damaged):
        assert "Traceback" not in done.err


async def test_it_starts_without_its_stores_and_says_so(home: Path) -> None:
    put(home / "journal.db", b"this is no database, " * 500)
    async with serving("--home", str(home)) as started:
        assert "requests go through without it" in "".join(started.welcome)


async def test_what_was_read_at_the_start_is_not_gone_through_by_the_collector_again() -> None:
    thresholds, callbacks = gc.get_threshold(), list(gc.callbacks)
    try:
        ageing = _Ageing()
        await _freeze_loaded_objects(None, ageing)
        frozen = gc.get_freeze_count()
        assert frozen > 1000
        kept = [[number] for number in range(1000)]
        ageing("start", {"generation": 2})
        ageing("stop", {"generation": 2})
        assert gc.get_freeze_count() <= frozen  # a short one leaves all as it is
        ageing._began -= LONG_SECONDS
        ageing("stop", {"generation": 2})
        assert gc.get_freeze_count() >= frozen - 1000 + len(kept)
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
        gc.callbacks[:] = callbacks


class _Connection:
    """One that leaves a cycle when it ends."""

    def __init__(self) -> None:
        self.handler = self


def _frozen(ageing: _Ageing) -> weakref.ref[_Connection]:
    """A connection that was under way during a long collection, and has ended."""
    connection = _Connection()
    ageing("start", {"generation": 2})
    ageing._began -= LONG_SECONDS
    ageing("stop", {"generation": 2})
    return weakref.ref(connection)


def test_connections_that_were_under_way_in_a_long_collection_do_not_stay_for_ever() -> None:
    try:
        ageing = _Ageing()
        first = _frozen(ageing)
        gc.collect()
        assert first() is not None
        ageing.thaw(idle=False)  # it would hold a reply up
        assert first() is not None
        ageing.thaw(idle=True)
        assert first() is None
        held = [_frozen(ageing) for _ in range(MOST_FREEZES)]
        ageing.thaw(idle=False)
        assert not any(each() for each in held)
    finally:
        gc.unfreeze()


def test_a_disk_on_which_it_cannot_say_where_it_listens_does_not_end_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    (tmp_path / "server.json").mkdir()
    _announce(tmp_path / "server.json", "http://127.0.0.1:1")
    assert "no other command finds this server" in caplog.text


def test_the_welcome_names_a_data_folder_that_is_not_the_usual_one(tmp_path: Path) -> None:
    other, usual = tmp_path / "my home", Path("~/.palimpsest").expanduser()
    told = {home: welcome(Settings(home=home), "http://127.0.0.1:8484", waiting=1) for home in (other, usual)}
    for command in ("open", "doctor", "status", "log", "candidates"):
        assert f"palimpsest {command} --home '{other}'" in told[other]
        assert f"palimpsest {command}" in told[usual]
    assert "--home" not in told[usual]


def test_a_program_beside_the_current_folder_is_named_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = tmp_path / "there" / "bin" / "palimpsest"
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", [str(called)])
    monkeypatch.chdir(tmp_path / "here")
    assert program_name() == str(called)
    monkeypatch.chdir(tmp_path)
    assert program_name() == "there/bin/palimpsest"


@pytest.mark.parametrize("first", ENDING)
async def test_the_second_signal_ends_the_process_whichever_it_is(first: signal.Signals) -> None:
    stop, before = asyncio.Event(), {each: signal.getsignal(each) for each in ENDING}
    try:
        _on_signals(stop.set)
        os.kill(os.getpid(), first)
        await stop.wait()
        assert {signal.getsignal(each) for each in ENDING} == {signal.SIG_DFL}
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def test_an_end_that_hangs_is_ended() -> None:
    hangs = "import threading; from proxy.cli.serving import _end_within; _end_within(0.01); threading.Event().wait()"
    assert subprocess.run([sys.executable, "-c", hangs], capture_output=True, check=False).returncode == 1
