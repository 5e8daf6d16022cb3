import contextlib
import errno
import json
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.connect import (
    GUIDES,
    Address,
    FileChangedSince,
    Machine,
    NotEditable,
    carry_out,
    connected_files,
    look,
    plan,
    preview,
    undo,
    undo_preview,
)

ADDRESS = Address(around="github.com/acme/demo")

CONFIGS: Mapping[str, bytes] = {
    "opencode": b'{\n  // mine\n  "theme": "dark",\n  "provider": {"x": {"options": {"apiKey": "sk-1"}},},\n}\n',
    "codex": b'# mine\nmodel = "m"\r\n[tools]\nx = 1\n',
    "claude": b'{"permissions": {"allow": ["Bash"]}, "env": {"A": "1"}}',
    "qwen": b'{"model": {"name": "q"}}\n',
    "pi": b'{"providers": {"fake": {"baseUrl": "http://x", "models": []}}}',
    "cline": b'{"version": 1, "providers": {}}',
    "openclaw": b"{ models: { mode: 'merge', providers: {} } }\n",
    "aider": b"model: gpt\n",
    "kilo": b'{"model": "x/y"}',
    "gemini": b'{"security": {"auth": {"selectedType": "gemini-api-key"}}}',
    "zed": b'// Zed settings\n{\n  "theme": "One Dark",\n  "language_models": {"openai": {"version": "1"},},\n}\n',
    "crush": b'{"providers": {"openai": {"api_key": "$OPENAI_API_KEY"}}}',
}


def machine(tmp_path: Path) -> Machine:
    (tmp_path / "work").mkdir(exist_ok=True)
    return Machine(tmp_path / "home", tmp_path / "work")


@pytest.mark.parametrize("runtime", GUIDES)
@pytest.mark.parametrize("exists", [False, True])
def test_what_is_written_is_undone_to_the_byte(runtime: str, exists: bool, tmp_path: Path) -> None:
    wanted, kept = plan(runtime, ADDRESS, machine(tmp_path)), tmp_path / "kept"
    before = {}
    for change in wanted.changes:
        if exists:
            change.path.parent.mkdir(parents=True, exist_ok=True)
            change.path.write_bytes(CONFIGS[runtime])
            change.path.chmod(0o640)
        before[change.path] = change.path.read_bytes() if exists else None
    written = carry_out(preview(wanted), kept)
    assert written == [change.path for change in wanted.changes]
    for change in wanted.changes:
        assert "127.0.0.1:8484" in f"{change.path.read_text()} {wanted.environment}"
        assert change.path.stat().st_mode & 0o777 == (0o640 if exists else 0o600)
    assert carry_out(preview(wanted), kept) == []
    assert undo(wanted, kept) == written
    for path, content in before.items():
        assert (path.read_bytes() if path.exists() else None) == content
        assert not exists or path.stat().st_mode & 0o777 == 0o640
    assert undo(wanted, kept) == []
    if not exists:
        assert not (tmp_path / "home").exists()
    assert not list(kept.glob("*"))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60) | st.text(alphabet='{}",:ab \n/*', max_size=40).map(str.encode))
def test_any_file_is_left_alone_or_undone_to_the_byte(tmp_path: Path, content: bytes) -> None:
    for runtime in ("claude", "codex", "aider"):
        wanted, kept = plan(runtime, ADDRESS, machine(tmp_path)), tmp_path / "kept"
        file = wanted.changes[0].path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        with contextlib.suppress(NotEditable):
            carry_out(preview(wanted), kept)
        undo(wanted, kept)
        assert file.read_bytes() == content


def test_a_project_stands_in_the_address_of_those_that_tell_none(tmp_path: Path) -> None:
    for runtime in (
        "aider",
        "openai-agents",
        "pydantic-ai",
        "langgraph",
        "openai-sdk",
        "anthropic-sdk",
    ):
        there = plan(runtime, ADDRESS, machine(tmp_path))
        assert "/p/github.com%2Facme%2Fdemo" in there.snippet
        assert any("is the project github.com/acme/demo" in note for note in there.notes)
        assert "/p/default" in plan(runtime, Address(), machine(tmp_path)).snippet
    told = ("opencode", "codex", "claude", "qwen", "pi", "cline", "openclaw", "gemini", "kilo", "crush", "zed", "goose")
    for runtime in told:
        assert "/p/" not in plan(runtime, ADDRESS, machine(tmp_path)).snippet
        mine = Address(project="my work", user="ann", key="k-1", server="https://mem.example/")
        assert "https://mem.example/k/k-1/u/ann/p/my%20work" in plan(runtime, mine, machine(tmp_path)).snippet


@pytest.mark.parametrize("project", ["/srv/the boat", "it's ours", None])
def test_curl_says_the_project_in_a_header_as_it_is_called(project: str | None, tmp_path: Path) -> None:
    for address in (Address(around=project), Address(project=project)):
        there = plan("curl", replace(address, key="k-1"), machine(tmp_path))
        words = shlex.split(there.example.replace("\\\n", ""))
        assert words[1] == "http://127.0.0.1:8484/k/k-1/v1/chat/completions"
        assert f"x-palimpsest-project: {project or 'default'}" in words
        assert not any("/p/" in note for note in there.notes)


def test_a_runtime_without_a_guide_gets_no_project_unless_it_tells_none_itself(tmp_path: Path) -> None:
    there = plan("other", Address(around="/srv/a"), machine(tmp_path))
    assert there.environment["OPENAI_BASE_URL"] == "http://127.0.0.1:8484/v1"
    assert there.environment["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:8484"
    assert any("/p/%2Fsrv%2Fa/v1" in note for note in there.notes)


def test_a_users_change_is_not_lost_by_undoing(tmp_path: Path) -> None:
    wanted, kept = plan("claude", ADDRESS, machine(tmp_path)), tmp_path / "kept"
    file = wanted.changes[0].path
    file.parent.mkdir(parents=True)
    file.write_bytes(b'{"a": 1}')
    carry_out(preview(wanted), kept)
    file.write_bytes(file.read_bytes().replace(b'"a": 1', b'"a": 2'))
    edited = file.read_bytes()
    with pytest.raises(FileChangedSince, match="was changed after") as told:
        undo(wanted, kept)
    assert told.value.backup is not None
    assert told.value.backup.read_bytes() == b'{"a": 1}'
    assert file.read_bytes() == edited
    carry_out(preview(plan("claude", Address(project="p"), machine(tmp_path))), kept)
    with pytest.raises(FileChangedSince):
        undo(wanted, kept)
    undo(wanted, kept, force=True)
    assert file.read_bytes() == b'{"a": 1}'


def test_what_was_written_is_undone_when_the_runtime_reads_another_file_by_now(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    before = plan("kilo", ADDRESS, machine(tmp_path))
    file = before.changes[0].path
    carry_out(preview(before), kept)
    commented = file.with_suffix(".jsonc")
    commented.write_text("{}")
    now = plan("kilo", ADDRESS, replace(machine(tmp_path), present=frozenset([commented])))
    assert now.changes[0].path == commented
    assert undo(now, kept) == [file]
    assert not file.exists() and commented.read_text() == "{}"


def test_what_was_written_below_a_checkout_is_undone_at_its_root_and_no_other_runtimes_is(tmp_path: Path) -> None:
    kept, here = tmp_path / "kept", machine(tmp_path)
    below = replace(here, directory=here.directory / "src")
    for runtime in ("aider", "codex"):
        carry_out(preview(plan(runtime, ADDRESS, below)), kept)
    written = below.directory / ".aider.conf.yml"
    assert undo(plan("aider", ADDRESS, replace(below, checkout=here.directory)), kept) == [written]
    assert not written.exists()
    assert undo(plan("codex", ADDRESS, below), kept)


def test_connecting_again_elsewhere_is_undone_to_the_first_state(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    for server in ("http://127.0.0.1:1", "http://127.0.0.1:2"):
        wanted = plan("codex", Address(server), machine(tmp_path))
        carry_out(preview(wanted), kept)
    assert "127.0.0.1:2" in wanted.changes[0].path.read_text()
    undo(wanted, kept)
    assert not wanted.changes[0].path.exists()


def test_a_file_that_changed_since_it_was_shown_is_not_written(tmp_path: Path) -> None:
    wanted = plan("qwen", ADDRESS, machine(tmp_path))
    shown = preview(wanted)
    file = wanted.changes[0].path
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    with pytest.raises(FileChangedSince):
        carry_out(shown, tmp_path / "kept")
    assert file.read_text() == "{}"


def test_what_could_not_be_written_is_not_connected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept"
    wanted = plan("qwen", ADDRESS, machine(tmp_path))
    file = wanted.changes[0].path
    file.parent.parent.mkdir(parents=True, exist_ok=True)
    file.parent.write_text("no folder")
    with pytest.raises(OSError, match=r"exists|directory"):
        carry_out(preview(wanted), kept)
    assert connected_files(kept) == [] and not list(kept.iterdir())
    file.parent.unlink()
    with monkeypatch.context() as full:
        full.setattr(os, "replace", replaced_unless(file))
        with pytest.raises(OSError, match="no space"):
            carry_out(preview(wanted), kept)
    assert connected_files(kept) == [] and not file.parent.exists()
    carry_out(preview(wanted), kept)
    first = file.read_bytes()
    again = plan("qwen", Address("http://127.0.0.1:2"), machine(tmp_path))
    with monkeypatch.context() as full:
        full.setattr(os, "replace", replaced_unless(file))
        with pytest.raises(OSError, match="no space"):
            carry_out(preview(again), kept)
    assert connected_files(kept) == [file] and file.read_bytes() == first
    assert undo(wanted, kept) == [file] and not file.exists()


def replaced_unless(full: Path) -> Callable[[str, Path], None]:
    """How files are put in place where there is room, which one of them finds none of."""
    real = os.replace

    def replaced(source: str, target: Path) -> None:
        if target == full:
            raise OSError(errno.ENOSPC, "no space left on device")
        real(source, target)

    return replaced


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    wanted, kept = plan("claude", ADDRESS, machine(tmp_path)), tmp_path / "kept"
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    file = wanted.changes[0].path
    file.parent.mkdir(parents=True)
    file.symlink_to(real)
    carry_out(preview(wanted), kept)
    assert file.is_symlink()
    assert "ANTHROPIC_BASE_URL" in real.read_text()
    undo(wanted, kept)
    assert file.is_symlink()
    assert real.read_text() == "{}"


def test_a_link_to_a_file_that_is_not_there_yet_is_left_so(tmp_path: Path) -> None:
    wanted, kept = plan("claude", ADDRESS, machine(tmp_path)), tmp_path / "kept"
    real = tmp_path / "dotfiles" / "claude.json"
    file = wanted.changes[0].path
    file.parent.mkdir(parents=True)
    file.symlink_to(real)
    carry_out(preview(wanted), kept)
    assert file.is_symlink() and "ANTHROPIC_BASE_URL" in real.read_text()
    undo(wanted, kept)
    assert file.is_symlink() and not real.parent.exists()


def test_the_difference_is_shown_without_secrets(tmp_path: Path) -> None:
    wanted = plan("opencode", ADDRESS, machine(tmp_path))
    file = wanted.changes[0].path
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"provider": {"openai": {"options": {"apiKey": "sk-hidden"}}}}, indent=2))
    (shown,) = preview(wanted)
    assert '+        "baseURL": "http://127.0.0.1:8484/v1"' in shown.diff
    assert "sk-hidden" not in shown.diff
    assert shown.after is not None
    assert b"sk-hidden" in shown.after
    carry_out([shown], tmp_path / "kept")
    assert '-        "baseURL"' in undo_preview(wanted, tmp_path / "kept")[0].diff


def test_backups_are_for_the_users_eyes_only(tmp_path: Path) -> None:
    wanted, kept = plan("codex", ADDRESS, machine(tmp_path)), tmp_path / "kept"
    wanted.changes[0].path.parent.mkdir(parents=True)
    wanted.changes[0].path.write_text("")
    carry_out(preview(wanted), kept)
    assert kept.stat().st_mode & 0o777 == 0o700
    for file in kept.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600


def test_logins_are_found_and_warned_of(tmp_path: Path) -> None:
    def found(**environment: str) -> Machine:
        return look(tmp_path, tmp_path, environment)

    assert "claude?" in found().logins
    assert "claude?" not in found(ANTHROPIC_API_KEY="sk").logins
    codex = tmp_path / ".codex" / "auth.json"
    codex.parent.mkdir()
    codex.write_text(json.dumps({"OPENAI_API_KEY": None, "tokens": {"access_token": "x"}}))
    claude = tmp_path / ".claude" / ".credentials.json"
    claude.parent.mkdir()
    claude.write_text(json.dumps({"claudeAiOauth": {"accessToken": "x"}}))
    opencode = tmp_path / ".local" / "share" / "opencode" / "auth.json"
    opencode.parent.mkdir(parents=True)
    opencode.write_text(json.dumps({"anthropic": {"type": "oauth", "access": "x"}}))
    machine = found(ANTHROPIC_API_KEY="sk")
    assert machine.logins == {"codex", "claude", "opencode"}
    for runtime in ("codex", "claude", "opencode"):
        assert plan(runtime, ADDRESS, machine).warnings
    told = " ".join(plan("codex", ADDRESS, machine).warnings)
    assert "chatgpt.com" in told and "UPSTREAM" not in told
    assert "requires_openai_auth = true" in plan("codex", ADDRESS, machine).snippet
    assert not plan("qwen", ADDRESS, machine).warnings
    codex.write_text("not json")
    assert "codex" not in found().logins
    codex.write_text(json.dumps({"OPENAI_API_KEY": "sk-kept"}))
    snippets = [plan("codex", ADDRESS, found(**keys)).snippet for keys in ({}, {"OPENAI_API_KEY": "sk-told"})]
    assert ["requires_openai_auth" in snippet for snippet in snippets] == [True, False]


def test_folders_follow_the_runtimes_own_variables(tmp_path: Path) -> None:
    environment = {
        "CODEX_HOME": str(tmp_path / "cx"),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "cl"),
        "XDG_CONFIG_HOME": str(tmp_path / "xdg"),
    }
    machine = look(tmp_path, tmp_path, environment)
    paths = [plan(runtime, ADDRESS, machine).changes[0].path for runtime in ("codex", "claude", "opencode")]
    assert paths == [
        tmp_path / "cx" / "config.toml",
        tmp_path / "cl" / "settings.json",
        tmp_path / "xdg/opencode/opencode.json",
    ]


@pytest.mark.parametrize("runtime", ["opencode", "kilo"])
def test_of_a_runtimes_two_files_the_one_that_wins_is_written(runtime: str, tmp_path: Path) -> None:
    folder = tmp_path / ".config" / runtime
    folder.mkdir(parents=True)
    assert plan(runtime, ADDRESS, look(tmp_path, tmp_path, {})).changes[0].path == folder / f"{runtime}.json"
    (folder / f"{runtime}.jsonc").write_text("{}")
    assert plan(runtime, ADDRESS, look(tmp_path, tmp_path, {})).changes[0].path == folder / f"{runtime}.jsonc"


def test_gemini_is_looked_for_in_the_home_that_its_variable_names(tmp_path: Path) -> None:
    settings = tmp_path / "elsewhere" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"security": {"auth": {"selectedType": "oauth-personal"}}}')
    found = look(tmp_path, tmp_path, {"GEMINI_CLI_HOME": str(tmp_path / "elsewhere")})
    assert plan("gemini", ADDRESS, found).changes[0].path == settings and "gemini" in found.logins
    assert "gemini" not in look(tmp_path, tmp_path, {}).logins


def test_aider_is_connected_at_the_root_of_the_repository_that_its_project_is(tmp_path: Path) -> None:
    inside = tmp_path / "repository" / "src"
    inside.mkdir(parents=True)
    assert plan("aider", ADDRESS, look(tmp_path, inside, {})).changes[0].path == inside / ".aider.conf.yml"
    (tmp_path / "repository" / ".git").mkdir()
    assert plan("aider", ADDRESS, look(tmp_path, inside, {})).changes[0].path == inside.parent / ".aider.conf.yml"


def test_every_guide_can_be_read_and_says_something(tmp_path: Path) -> None:
    for runtime in GUIDES:
        wanted = plan(runtime, ADDRESS, machine(tmp_path))
        assert wanted.runtime == runtime
        assert "127.0.0.1:8484" in wanted.snippet
        assert wanted.notes
        assert os.linesep not in wanted.title
    with pytest.raises(KeyError):
        plan("unknown", ADDRESS, machine(tmp_path))
