"""``connect``: shown, written after the difference was shown, and put back to the byte."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from proxy.cli import prompts, service
from proxy.cli.server import RunningServer
from proxy.connect import GUIDES
from tests.proxy.cli.running import run

pytestmark = pytest.mark.usefixtures("person")


def test_without_a_name_every_runtime_is_listed() -> None:
    assert set(run("connect", "--json").json["runtimes"]) == set(GUIDES)
    assert all(name in run("connect").out for name in GUIDES)


@pytest.mark.parametrize("runtime", GUIDES)
def test_each_runtime_is_pointed_at_the_server_that_runs(runtime: str, server: RunningServer) -> None:
    done = run("connect", runtime)
    assert done.code == 0 and server.url in done.out


def test_curl_names_the_project_of_a_clone_as_the_other_clients_there_do(tmp_path: Path, home: Path) -> None:
    home.mkdir()
    (tmp_path / ".git").mkdir()
    for remote, project in (("", str(tmp_path)), ("git@github.com:acme/demo.git", "github.com/acme/demo")):
        (tmp_path / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n' if remote else "")
        (home / "projects.json").unlink(missing_ok=True)
        done = run("connect", "curl")
        assert "%2F" not in done.out and f"x-palimpsest-project: {project}" in done.out
        assert json.loads((home / "projects.json").read_text()) == {str(tmp_path): project}


def test_a_file_is_written_and_put_back_to_the_byte(person: Path, home: Path) -> None:
    file = person / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text('# mine\nmodel = "gpt-5"\n')
    done = run("connect", "codex", "--write", "--yes")
    assert done.code == 0 and "+model_provider" in done.out and f"written: {file}" in done.out
    assert "# mine" in file.read_text() and "palimpsest" in file.read_text()
    assert "connected already" in run("connect", "codex", "--write", "--yes").out
    undone = run("connect", "codex", "--undo", "--yes")
    assert undone.code == 0 and f"put back: {file}" in undone.out
    assert file.read_text() == '# mine\nmodel = "gpt-5"\n'
    assert "nothing of it was written by us" in run("connect", "codex", "--undo").out


def test_variables_that_no_file_can_hold_are_told_with_their_values(person: Path) -> None:
    done = run("connect", "gemini", "--write", "--yes")
    assert "\nexport GOOGLE_GEMINI_BASE_URL=http://" in done.out


def test_where_nothing_is_to_be_put_back_it_is_told_what_still_is_connected(person: Path) -> None:
    run("connect", "codex", "--write", "--yes")
    assert f"still connected: {person / '.codex' / 'config.toml'}" in run("connect", "claude", "--undo").out


def test_a_file_that_was_changed_since_is_not_put_back_unasked(person: Path) -> None:
    file = person / ".codex" / "config.toml"
    run("connect", "codex", "--write", "--yes")
    file.write_text(file.read_text() + "# changed\n")
    refused = run("connect", "codex", "--undo", "--yes")
    assert refused.code == 1 and "was changed" in refused.err and "--force" in refused.err
    assert run("connect", "codex", "--undo", "--force", "--yes").code == 0


def test_a_file_that_is_not_ours_to_change_is_told_with_its_line_and_what_to_put_there(person: Path) -> None:
    file = person / ".codex" / "config.toml"
    file.parent.mkdir()
    before = 'model = "gpt-5"\nmodel_providers = { x = { name = "x", base_url = "http://x", api_key = "s3cret" } }\n'
    file.write_text(before)
    done = run("connect", "codex", "--write", "--yes")
    assert done.code == 1 and f"{file}:2: `model_providers` is an inline table" in done.err
    assert "[model_providers.palimpsest]\n" in done.err and 'model_provider = "palimpsest"' in done.err
    assert "s3cret" not in done.err and file.read_text() == before


def test_where_nobody_answers_that_is_told(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert "answers at" not in run("connect", "codex").err
    monkeypatch.setenv("PALIMPSEST_HOME", str(tmp_path / "other"))
    assert "Nobody answers at http://127.0.0.1:1 yet" in run("connect", "codex").err
    assert "palimpsest service install" in run("connect", "codex", "--json").json["warnings"][-1]
    monkeypatch.setenv("PALIMPSEST__SERVER__PORT", server.url.rpartition(":")[2])
    assert "Something else answers at" in run("connect", "codex").err
    assert "answers at" not in run("connect", "codex", "--undo").err


def test_where_nobody_answers_a_service_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[object] = []
    monkeypatch.setattr(prompts, "is_interactive", lambda: True)
    monkeypatch.setattr(service, "offered", lambda settings: "systemd")
    monkeypatch.setattr(service, "install", lambda **given: called.append(given["yes"]))
    assert "with systemd?" in run("connect", "codex", "--write", stdin="n\n").out and called == []
    run("connect", "claude", "--write", stdin="y\n")
    assert called == [True]
    run("connect", "qwen", "--write", "--yes")
    assert called == [True]


def test_claudes_status_line_shows_how_memory_stands(person: Path, home: Path) -> None:
    file = person / ".claude" / "settings.json"
    assert run("connect", "claude", "--write", "--yes", "--statusline").code == 0
    told = json.loads(file.read_text())
    line = told["statusLine"]
    assert line["type"] == "command" and shlex.split(line["command"])[-3:] == ["statusline", "--home", str(home)]
    done = subprocess.run(line["command"], shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "palimpsest: not running\n")
    assert run("connect", "claude", "--undo", "--yes").code == 0 and not file.exists()


def test_where_there_are_credentials_a_key_has_to_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST__CREDENTIALS", "[{key: a-long-random-key, user: ada}]")
    refused = run("connect", "openai-sdk")
    assert refused.code == 2 and "--key" in refused.err
    assert "/k/a-long-random-key/" in run("connect", "openai-sdk", "--key", "a-long-random-key").out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("connect", "emacs"), "there is no guide"),
        (("connect", "emacs"), "palimpsest connect other"),
        (("connect", "codex", "--write", "--undo"), "either"),
        (("connect", "curl", "--write"), "no file to write"),
        (("connect", "claude", "--write", "--with-mcp"), "writes for opencode"),
        (("connect", "codex", "--write", "--statusline"), "for claude only"),
    ],
)
def test_what_cannot_be_done_is_told(arguments: tuple[str, ...], sentence: str) -> None:
    done = run(*arguments)
    assert done.code == 2 and sentence in done.err
