"""``palimpsest run``: small programs on the PATH stand for clients, and meet the real server."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from proxy.cli.home_owner import announced
from proxy.cli.supervisor import TRIES, pause_before
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.cli.running import ROOT, Done, clean_environment, run, serving

CLIENT = r"""
import json, os, pathlib, sys, time, urllib.request
told = {"arguments": sys.argv[1:], "url": os.environ.get("ANTHROPIC_BASE_URL"), "asked": []}
files = pathlib.Path(os.environ["TOLD"])

def tell():
    (files / "told.new").write_text(json.dumps(told))
    (files / "told.new").rename(files / "told.json")

def ask():
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello there."}]}
    headers = {"Content-Type": "application/json", "x-api-key": "k", "anthropic-version": "2023-06-01"}
    request = urllib.request.Request(told["url"] + "/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=180) as reply:
        told["asked"].append([reply.status, reply.headers.get("x-palimpsest-status")])

ask()
tell()
while "--again" in sys.argv and not (files / "end").exists():
    if (files / "go").exists():
        (files / "go").unlink()
        ask()
        tell()
    time.sleep(0.02)
print("the client ends")
sys.exit(7)
"""


@pytest.fixture
def bin(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("claude", "aider"):
        file = folder / name
        file.write_text(f"#!{sys.executable}\n{CLIENT}")
        file.chmod(0o755)
    return folder


def surroundings(home: Path, bin: Path, provider: FakeProvider) -> dict[str, str]:
    return {
        "PATH": f"{bin}:{os.environ['PATH']}",
        "HOME": str(home.parent),
        "TOLD": str(home.parent),
        "PALIMPSEST_HOME": str(home),
        "PALIMPSEST_UPSTREAM": provider.url,
        # Taken by nobody: the server's own default might be.
        "PALIMPSEST__SERVER__PORT": "0",
        "ANTHROPIC_API_KEY": "k",
    }


def configure(home: Path, upstream: str) -> None:
    """Say in the data folder's own file who the provider is."""
    home.mkdir(mode=0o700)
    (home / "config.yaml").write_text(f"upstream: {{url: '{upstream}'}}\n")


def damage(home: Path) -> None:
    """Keep every server from starting here."""
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "token").write_text("no hexadecimal")


def told(home: Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((home.parent / "told.json").read_text())
    return read


@asynccontextmanager
async def client(around: dict[str, str], *arguments: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """``palimpsest run`` as a program, while its client runs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proxy", "run", "claude", *arguments),
        env=clean_environment(PYTHONPATH=str(ROOT), **around),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def ended(around: dict[str, str], *arguments: str) -> Done:
    """How ``palimpsest run`` ended."""
    async with client(around, *arguments) as process:
        out, err = await process.communicate()
    return Done(process.returncode or 0, out.decode(), err.decode())


async def soon(so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    for _ in range(9000):
        if so():
            return
        await asyncio.sleep(0.02)
    pytest.fail("it has not come to be so in three minutes")


async def until(home: Path, asked: int) -> list[list[Any]]:
    """What the client was answered, when it has asked so often."""
    await soon(lambda: (home.parent / "told.json").exists() and len(told(home)["asked"]) >= asked)
    answers: list[list[Any]] = told(home)["asked"]
    return answers


async def once_more(home: Path) -> list[Any]:
    """What the client is answered that asks again."""
    before = len(told(home)["asked"])
    (home.parent / "go").touch()
    return (await until(home, before + 1))[-1]


async def killed(home: Path) -> int:
    """The number of the server that was killed."""
    there = announced(home)
    assert there is not None
    os.kill(there.process, signal.SIGKILL)
    await soon(lambda: announced(home) != there)
    return there.process


@contextmanager
def nothing_left(home: Path) -> Iterator[None]:
    before = set(home.parent.iterdir())
    yield
    assert announced(home) is None
    after = {path for path in home.parent.iterdir() if path.name not in ("told.json", "go", "end", "home")}
    assert after <= before


async def test_a_server_that_runs_is_used_stays_and_is_there_again_when_it_dies(home: Path, bin: Path) -> None:
    async with fake_provider() as provider, serving("--home", str(home), "--upstream", provider.url) as started:
        around = surroundings(home, bin, provider)
        done = await ended(around)
        assert done.code == 7, done.err
        assert told(home)["url"] == started.url
        there = announced(home)
        assert there is not None and there.url == started.url
        (home.parent / "told.json").unlink()
        async with client(around, "--again") as process:
            await until(home, 1)
            first = await killed(home)
            await soon(lambda: announced(home) is not None)
            (home.parent / "go").touch()
            assert [status for status, _ in await until(home, 2)] == [200, 200]
            there = announced(home)
            assert there is not None and there.process != first and there.url == started.url
            (home.parent / "end").touch()
            await process.communicate()
        assert process.returncode == 7 and announced(home) is None


async def test_a_server_that_dies_in_mid_session_is_there_again_and_one_that_cannot_live_gives_way_to_a_relay(
    home: Path, bin: Path
) -> None:
    async with fake_provider() as provider, client(surroundings(home, bin, provider), "--again") as process:
        await until(home, 1)
        first = await killed(home)
        (home.parent / "go").touch()
        assert [status for status, _ in await until(home, 2)] == [200, 200]
        there = announced(home)
        assert there is not None and there.process != first and there.url == told(home)["url"]
        damage(home)
        await killed(home)
        (home.parent / "go").touch()
        assert [status for status, _ in await until(home, 3)] == [200, 200, 200]
        (home.parent / "end").touch()
        await process.communicate()
        assert process.returncode == 7 and announced(home) is None


async def test_a_standby_says_why_keeps_the_settings_and_gives_way_to_a_server_that_lives(
    home: Path, bin: Path
) -> None:
    async with fake_provider() as provider:
        around = surroundings(home, bin, provider)
        configure(home, around.pop("PALIMPSEST_UPSTREAM"))
        with nothing_left(home):
            async with client(around, "--again") as process:
                await until(home, 1)
                await killed(home)
                await soon(lambda: announced(home) is not None)
                secret = (home / "token").read_text()
                damage(home)
                await killed(home)
                status, why = await once_more(home)
                assert status == 200 and "a standby relays" in why and "by signal 9" in why, why
                (home / "token").write_text(secret)
                await soon(lambda: announced(home) is not None)
                # Until it has gone, the standby listens beside the server.
                while "a standby relays" in why:
                    status, why = await once_more(home)
                    assert status == 200
                (home.parent / "end").touch()
                await process.communicate()


def test_a_server_that_does_not_live_is_tried_again_after_growing_pauses() -> None:
    pauses = [pause_before(failures) for failures in range(20)]
    assert pauses[:TRIES] == [0.0] * TRIES and pauses == sorted(pauses)
    assert 0 < pauses[TRIES] < pauses[TRIES + 1] < pauses[-1] == 60.0


async def test_a_client_has_memory_with_its_own_arguments_and_exit_code_and_the_last_of_two_stops_the_server(
    home: Path, bin: Path
) -> None:
    async with fake_provider() as provider:
        around = surroundings(home, bin, provider)
        with nothing_left(home):
            async with client(around, "--again") as first:
                await until(home, 1)
                url = told(home)["url"]
                second = await ended(around, "-p", "--debug", "hello  there", "--json")
                assert second.code == 7 and "the client ends" in second.out, second.err
                said = told(home)
                assert said["url"] == url and announced(home) is not None
                first.terminate()
                await first.communicate()
                # What ends the command ends its client.
                assert first.returncode == 128 + signal.SIGTERM
        assert len(provider.requests) == 2
    assert said["arguments"][2:] == ["-p", "--debug", "hello  there", "--json"]
    assert json.loads(said["arguments"][1])["env"]["ANTHROPIC_BASE_URL"] == said["url"]
    assert said["asked"][0][0] == 200 and said["asked"][0][1] is not None
    assert "the journal" not in (home / "server.log").read_text()


def test_what_cannot_be_run_is_told(home: Path, bin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(bin))
    missing = run("run", "codex")
    assert missing.code == 127 and "install it" in missing.err
    assert "connect cline" in run("run", "cline").err
    (home).mkdir()
    (home / "config.yaml").write_text("credentials: [{key: a-long-random-text-of-mine, user: ada}]\n")
    assert run("run", "claude").code == 2
    assert "--json" not in run("run", "--help").out


async def test_a_server_that_does_not_start_is_told_with_its_own_words(home: Path, bin: Path) -> None:
    damage(home)
    async with fake_provider() as provider:
        done = await ended(surroundings(home, bin, provider))
    assert done.code == 1 and "did not start" in done.err and "token" in done.err and "Traceback" not in done.err


@pytest.mark.parametrize(("client", "how"), [("openclaw", "connect openclaw --write"), ("zed", "connect zed --write")])
def test_what_only_reads_a_file_is_told_how_that_is_written(client: str, how: str) -> None:
    done = run("run", client)
    assert done.code == 2 and f"palimpsest {how}, then start it" in done.err
