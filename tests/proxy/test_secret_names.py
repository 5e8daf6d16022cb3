"""A secret that a client sends as a name, of a project, a session, a model or a call, is kept and logged nowhere."""

from __future__ import annotations

import contextlib
import logging
import zlib
from pathlib import Path

import pytest

from memory.learning.redact import also_redact
from proxy.app import make_app
from proxy.cli.log_format import OneLineFormatter
from proxy.settings import load
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.running import Running, running
from tests.sparse_files import read_written

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
TALK = ("Use tabs in Python files, please remember that.", "I shall.", "Thanks. Where is the pump?")


def kept(home: Path) -> str:
    """All that lies in the home, read as text, with what is compressed."""
    told = [str(file.relative_to(home)) for file in home.rglob("*")]
    for file in (file for file in home.rglob("*") if file.is_file()):
        data = read_written(file)
        told.append(data.decode("latin-1"))
        at = data.find(b"\x78\x01")
        while at >= 0:
            with contextlib.suppress(zlib.error):
                told.append(zlib.decompressobj().decompress(data[at:]).decode("latin-1"))
            at = data.find(b"\x78\x01", at + 1)
    return "\n".join(told)


async def ask(proxy: Running, session: str, project: str, model: str, call: str) -> None:
    user, assistant, last = ({"role": role, "content": text} for role, text in zip(ROLES, TALK, strict=True))
    name = f"read_{call}"
    called = {"id": call, "type": "function", "function": {"name": name, "arguments": "{}"}}
    messages = [user, assistant | {"tool_calls": [called]}, {"role": "tool", "tool_call_id": call, "content": "ok"}]
    headers = {
        "x_session_id": session,
        "x_parent_session_id": f"{session}-parent",
        "x_palimpsest_project": project,
        "x_palimpsest_user": f"ada {call}",
    }
    body = {"model": model, "messages": [*messages, last]}
    status, reply, _ = await proxy.post("/v1/chat/completions", body, **headers)
    assert status == 200, reply


ROLES = ("user", "assistant", "user")


async def test_no_name_with_a_secret_in_it_is_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        for _ in range(2):
            await ask(proxy, KEY, KEY, f"model-{KEY}", KEY)
        assert f"model-{KEY}".encode() in provider.last.body, "the provider gets what the client said"
        await proxy.learned()
        assert proxy.edge.memory is not None
        counts = await proxy.edge.memory.journal.counts()
        assert counts.sessions == 1, "the same name is the same session"
    told = kept(tmp_path)
    assert KEY not in told and "secret-" in told
    assert KEY not in "\n".join(OneLineFormatter().format(record) for record in caplog.records)


async def test_numbers_that_the_settings_name_are_kept_nowhere(tmp_path: Path) -> None:
    card, account = "4012 8888 8888 1881", "DE89 3704 0044 0532 0130 00"
    async with (
        fake_provider() as provider,
        running(provider, tmp_path, memory__redact=["cards", "ibans"]) as proxy,
    ):
        await proxy.chat(f"Remember that the test card is {card} and the account {account}.", session=f"of {card}")
        assert card.encode() in provider.last.body, "the provider gets what the client said"
        await proxy.learned()
    told = kept(tmp_path)
    assert card not in told and account not in told
    assert "[secret: card number]" in told and "[secret: iban]" in told


@pytest.mark.parametrize("mode", ["off", "on"])
async def test_numbers_that_the_settings_name_are_logged_nowhere_without_memory_either(
    mode: str, tmp_path: Path
) -> None:
    (tmp_path / "journal.db").mkdir()  # the stores cannot be opened
    record = logging.LogRecord("x", logging.WARNING, "", 0, "of %s", ("card-4012888888881881",), None)
    assert "4012888888881881" in OneLineFormatter().format(record)
    make_app(load(options={"home": str(tmp_path), "memory.redact": ["cards"]}).settings)
    assert "card-[secret: card number]" in OneLineFormatter().format(record), "before memory is opened"
    also_redact(())
    options = {"memory__mode": mode, "memory__redact": ["cards"]}
    async with fake_provider() as provider, running(provider, tmp_path, **options) as proxy:
        assert proxy.edge.memory is None
        assert "card-[secret: card number]" in OneLineFormatter().format(record)


async def test_no_name_that_a_hook_tells_is_kept_with_a_secret_in_it(tmp_path: Path) -> None:
    checkout = tmp_path / KEY
    (checkout / ".git").mkdir(parents=True)
    home = tmp_path / "home"
    async with fake_provider() as provider, running(provider, home) as proxy:
        for place in (str(checkout), f"/w/{KEY}/sub"):
            told = {"client": f"client-{KEY}", "session": KEY, "event": "prompt", "text": TALK[0], "directory": place}
            receipt = (await asking(proxy)("POST", "api/hook", told))["receipt"]
            assert receipt and (await asking(proxy)("POST", "api/hook", {**told, "event": "reply"}))["journaled"]
        await proxy.learned()
        assert proxy.edge.memory is not None
        assert (await proxy.edge.memory.journal.counts()).exchanges == 2
    assert KEY not in kept(home)


async def test_ordinary_names_are_kept_as_they_are(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        await ask(proxy, "0192f0c1-7c1e-7d3a-9a51-3f0d2c6b8e11", "loom", "gpt-5.2", "call_Q2x8Zk1mP0sT7uVwYa3bCdEf")
        await proxy.learned()
    told = kept(tmp_path)
    for name in ("0192f0c1-7c1e-7d3a-9a51-3f0d2c6b8e11", "loom", "gpt-5.2", "call_Q2x8Zk1mP0sT7uVwYa3bCdEf"):
        assert name in told
    assert "secret-" not in told


def test_a_line_of_the_log_holds_no_secret() -> None:
    record = logging.LogRecord("x", logging.WARNING, "", 0, "the window of %r is not known", (f"m-{KEY}",), None)
    assert KEY not in OneLineFormatter().format(record)
