"""The doctor finds what is wrong and says how to mend it."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.conversation import Conversation, Message, Reply, Role, Text, digest
from memory.scope import OWN_PROJECT, Scope
from memory.session import Arrival, Exchange, Receipt, RequestKind, Session
from memory.stores.journal import SqliteJournal
from proxy import diagnosis
from proxy.cli import checks, server_access
from proxy.cli.instance_lock import owned
from proxy.cli.server import RunningServer
from proxy.settings import UpstreamRoute, UpstreamSettings
from tests.memory.stores.derived_facts import AT
from tests.proxy.cli.running import Done, run


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Something that takes connections."""
    listening = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setenv("PALIMPSEST_UPSTREAM", f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
    yield
    listening.close()


def verdicts(done: Done) -> dict[str, str]:
    return {each["what"]: each["verdict"] for each in done.json["findings"]}


@pytest.mark.usefixtures("provider")
def test_a_healthy_installation_is_well_with_a_server_and_without() -> None:
    done = run("doctor", "--json")
    assert done.code == 0 and set(verdicts(done).values()) == {"well"}
    assert {"settings", "data folder", "token vocabularies", "provider", "stores", "embedder", "round trip"} <= set(
        verdicts(done)
    )
    assert "✓ round trip" in run("doctor").out


@pytest.mark.usefixtures("provider")
def test_the_round_trip_leaves_nothing_behind(server: RunningServer) -> None:
    assert run("doctor", "--json").code == 0
    assert server.ask("GET", "api/status")["stored"]["facts"] == 0


@pytest.mark.usefixtures("provider", "server")
def test_the_provider_is_that_of_the_server_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_UPSTREAM", "http://127.0.0.1:1")
    done = run("doctor", "--json")
    assert done.code == 0 and verdicts(done)["provider"] == "well"


def test_a_provider_that_does_not_answer_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_UPSTREAM", "http://127.0.0.1:1")
    done = run("doctor", "--json")
    assert done.code == 1 and verdicts(done)["provider"] == "wrong" and verdicts(done)["round trip"] == "well"


@pytest.mark.parametrize("login", [{"tokens": {"id_token": "x"}}, {"OPENAI_API_KEY": "sk-x"}, {}])
def test_where_logins_of_chatgpt_go_is_tried_where_codex_is_logged_in_so(
    login: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    (tmp_path / "auth.json").write_text(json.dumps(login))
    chatgpt = "http://127.0.0.1:2/backend-api/codex"
    for name in ("OPENAI", "ANTHROPIC", "CHATGPT"):
        monkeypatch.setenv(f"PALIMPSEST__UPSTREAM__{name}", chatgpt if name == "CHATGPT" else "http://127.0.0.1:1")
    told = [each["found"] for each in run("doctor", "--json").json["findings"] if chatgpt in each["found"]]
    assert told == ([f"{chatgpt} takes no connection"] if "tokens" in login else [])
    monkeypatch.setenv("PALIMPSEST_UPSTREAM", "http://127.0.0.1:1")
    assert chatgpt not in run("doctor", "--json").out


def test_settings_that_are_wrong_are_told_one_by_one(home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").write_text("memry: 1\nserver: {hots: x}\n")
    done = run("doctor", "--json")
    assert done.code == 1 and len(done.json["findings"]) == 2


@pytest.mark.usefixtures("provider")
def test_a_folder_that_another_process_holds_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_access, "PATIENCE", 0.0)
    monkeypatch.setattr(server_access, "STARTING", 0.0)
    with owned(home):
        done = run("doctor", "--json")
    assert verdicts(done)["stores"] == "wrong" and "another palimpsest" in done.out


def test_a_folder_that_others_may_read_is_wrong(home: Path) -> None:
    home.mkdir()
    home.chmod(0o755)
    found = diagnosis.home(home, 0)
    assert found.verdict == "wrong" and "chmod" in found.mend
    home.chmod(0o700)
    assert diagnosis.home(home, 0).verdict == "well"
    assert diagnosis.home(home, 2**40).verdict == "wrong"


def test_exchanges_that_could_not_be_taken_back_are_told(home: Path) -> None:
    assert diagnosis.aside(home) is None
    folder = home / "aside"
    folder.mkdir(parents=True)
    (folder / "1-waits").write_text("")
    assert diagnosis.aside(home) is None
    (folder / "2-unreadable.broken").write_text("")
    found = diagnosis.aside(home)
    assert found is not None and found.verdict == "doubtful"
    assert found.found == f"1 exchange cannot be read: {folder / '2-unreadable.broken'}"


@pytest.mark.usefixtures("provider")
def test_clients_that_tell_no_project_are_told_how_to(home: Path) -> None:
    home.mkdir(mode=0o700)

    async def write() -> None:
        journal = SqliteJournal(home / "journal.db", lambda text: text)
        for id, project, runtime in (("s1", f"{OWN_PROJECT}s1", "sdk"), ("s2", "loom", "codex")):
            scope = Scope(user="local", project=project)
            session = Session(id, f"ns:{id}", scope, runtime, AT, AT)
            receipt = Receipt(f"r-{id}", AT, id, RequestKind.MAIN, "ok", "gpt", tokens=300, window=64_000)
            asked = Message(Role.USER, (Text("hi"),), digest(Role.USER, (Text("hi"),)), "hi")
            view, reply = Conversation("openai-chat", "gpt", (asked,)), Reply((Text("hello"),), "stop", None, True)
            arrival = Arrival(scope, RequestKind.MAIN, runtime, "ns", AT)
            await journal.commit(Exchange(f"e-{id}", session, arrival, view, reply, 200, receipt))
        await journal.close()

    asyncio.run(write())
    [told] = [each for each in run("doctor", "--json").json["findings"] if each["what"] == "projects"]
    assert told["verdict"] == "doubtful" and told["found"] == "1 of the 2 sessions seen last told none (sdk)"
    assert "/p/NAME/v1" in told["mend"]


def test_a_damaged_secret_is_told_by_any_command(home: Path) -> None:
    home.mkdir()
    (home / "token").write_text("no token\n")
    done = run("remember", "The harbour code is 4711.")
    assert done.code == 1 and "damaged" in done.err and "token" in done.err


def test_a_file_in_the_folders_place_is_told_as_one(home: Path) -> None:
    home.write_text("")
    found = next(each for each in run("doctor", "--json").json["findings"] if each["what"] == "data folder")
    assert found["verdict"] == "wrong" and "no folder" in found["found"] and "--home" in found["mend"]


def test_stores_that_are_damaged_are_told_with_how_to_mend_them(home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "journal.db").write_bytes(b"this is no database, " * 500)
    [stores] = [each for each in run("doctor", "--json").json["findings"] if each["what"] == "stores"]
    assert stores["verdict"] == "wrong" and "journal.db" in stores["found"] and "palimpsest restore" in stores["mend"]


@pytest.mark.parametrize(
    ("why", "mend"),
    [
        ("journal.db is damaged: … (database disk image is malformed)", "restore"),
        ("the disk is full: the index in /x is not written", "make room"),
        ("2 exchanges wait for the journal, which cannot be written", "do not stop it"),
        ("the index in /x is damaged and has to be made again (…)", "reindex"),
    ],
)
def test_what_is_advised_fits_the_fault(why: str, mend: str) -> None:
    assert mend in checks._mend(why)


def test_package_data_that_cannot_be_read_is_doubtful(tmp_path: Path) -> None:
    assert diagnosis.vocabularies(tmp_path).verdict == diagnosis.windows(tmp_path / "gone").verdict == "doubtful"


def test_a_bridge_without_its_extra_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    route = UpstreamRoute(model="*", bridge="anthropic/*")
    found = next(diagnosis.bridges(UpstreamSettings(routes=(route,))))
    assert found.verdict == "wrong" and "without litellm" in found.found and "[bridge]" in found.mend
    assert [each.verdict for each in diagnosis.language_model("openai/small")] == ["wrong"]
    assert list(diagnosis.language_model(None)) == []


@pytest.mark.usefixtures("provider")
def test_a_bridge_that_has_no_key_is_doubtful(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write_text("")  # so that no stores are opened: a server with such a route imports all of litellm first
    route = "[{model: far-*, bridge: anthropic/m, key_from: NOBODYS_KEY}]"
    monkeypatch.setenv("PALIMPSEST__UPSTREAM__ROUTES", route)
    assert verdicts(run("doctor", "--json"))["bridge"] == "doubtful"
