"""``service`` with a manager that writes down what it is told, and a server that is there when it was told to start."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from proxy.cli import service as module
from proxy.cli.call import Call
from proxy.cli.faults import CommandError
from proxy.cli.home_owner import ANNOUNCED
from proxy.cli.server import RunningServer
from tests.proxy.cli.running import run

MANAGER = """\
#!/bin/sh
echo "$@" >> {told}
case "$*" in *show-environment*) exit {there};; *--property*) cat {state};; *enable*) exit {enabled};; esac
"""


class Manager:
    """A ``systemctl`` of our own."""

    def __init__(self, folder: Path) -> None:
        self.file, self.log, self.state = folder / "systemctl", folder / "told", folder / "state"
        folder.mkdir()
        self.log.touch()
        self.says("not-found", 0)
        self.answers()

    def says(self, load: str, process: int) -> None:
        """How the service stands."""
        active = "active" if process else "inactive"
        self.state.write_text(f"LoadState={load}\nActiveState={active}\nMainPID={process}\n")

    def answers(self, there: int = 0, enabled: int = 0) -> None:
        """With which exit codes."""
        self.file.write_text(MANAGER.format(told=self.log, state=self.state, there=there, enabled=enabled))
        self.file.chmod(0o755)

    @property
    def told(self) -> list[str]:
        """What changed something of all it was told since the last look."""
        lines = self.log.read_text().replace("--user ", "").splitlines()
        self.log.write_text("")
        return [line for line in lines if not line.startswith(("show", "show-environment"))]


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manager:
    made = Manager(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(module, "START_SECONDS", 0.2)
    return made


@pytest.fixture
def units(tmp_path: Path) -> Path:
    return tmp_path / "config" / "systemd" / "user"


def test_it_is_installed_stopped_started_and_taken_away(
    manager: Manager, units: Path, server: RunningServer, home: Path
) -> None:
    manager.says("not-found", os.getpid())
    done = run("service", "install", "--yes")
    assert done.code == 0 and f"runs at {server.url}" in done.out and "+ListenStream=127.0.0.1:1" in done.out
    assert f"--home {home}" in (units / "palimpsest.service").read_text()
    assert manager.told == ["daemon-reload", "enable --now palimpsest.socket palimpsest.service"]

    manager.says("loaded", os.getpid())
    told = run("service", "status", "--json")
    assert told.code == 0 and (told.json["process"], told.json["url"]) == (os.getpid(), server.url)
    assert "runs at" in run("service", "start").out and manager.told == []
    assert run("service", "stop", "--json").json == {"running": False}
    assert manager.told == ["stop palimpsest.socket palimpsest.service"]

    gone = run("service", "uninstall", "--yes")
    assert gone.code == 0 and "-WantedBy=default.target\n-Also" in gone.out and list(units.iterdir()) == []
    assert manager.told == ["disable --now palimpsest.socket palimpsest.service", "daemon-reload"]
    assert "not installed" in run("service", "uninstall").out


def test_installed_again_it_is_stopped_first(manager: Manager, server: RunningServer) -> None:
    manager.says("loaded", os.getpid())
    assert run("service", "install", "--yes").code == 0
    assert [line.split()[0] for line in manager.told] == ["daemon-reload", "stop", "enable"]


def test_one_that_failed_is_started_anew(manager: Manager, units: Path, server: RunningServer, home: Path) -> None:
    manager.says("loaded", os.getpid())
    run("service", "install", "--yes")
    manager.says("loaded", 0)
    (home / ANNOUNCED).unlink()
    assert run("service", "status").code == 1
    assert "does not listen yet" in run("service", "start").err
    told = [line.split()[0] for line in manager.told]
    assert told == ["daemon-reload", "stop", "enable", "stop", "reset-failed", "start"]


def test_nothing_is_done_where_it_is_only_to_be_said(manager: Manager, units: Path) -> None:
    done = run("service", "install", "--dry-run")
    assert done.code == 0 and "+[Socket]" in done.out and "$ systemctl --user daemon-reload" in done.out
    told = run("service", "install", "--dry-run", "--json").json
    assert not told["installed"] and str(units / "palimpsest.socket") in told["files"]
    assert not units.exists() and manager.told == []


def test_where_no_manager_answers_nothing_is_changed(manager: Manager, units: Path) -> None:
    manager.answers(there=1)
    done = run("service", "install", "--yes")
    assert done.code == 1 and "palimpsest serve" in done.err and not units.exists()


def test_where_the_manager_refuses_what_was_written_is_gone_again(manager: Manager, units: Path) -> None:
    manager.answers(enabled=3)
    done = run("service", "install", "--yes")
    assert done.code == 1 and "enable --now" in done.err and list(units.iterdir()) == []
    (units / "palimpsest.service").write_text("mine\n")
    assert run("service", "install", "--yes").code == 1
    assert (units / "palimpsest.service").read_text() == "mine\n"


def test_a_server_that_was_started_by_hand_is_not_fought(manager: Manager, units: Path, server: RunningServer) -> None:
    done = run("service", "install", "--yes")
    assert done.code == 1 and f"process {os.getpid()}" in done.err and not units.exists()


def test_what_is_not_installed_is_not_started(manager: Manager) -> None:
    assert run("service", "start").code == run("service", "stop").code == 2
    told = run("service", "status", "--json")
    assert told.code == 1 and told.json["installed"] is False


def test_what_only_this_shell_knows_is_told(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST__MEMORY__MODE", "read-only")
    told = run("service", "install", "--dry-run").err
    assert "PALIMPSEST__MEMORY__MODE is set in this shell only" in told and "PORT" not in told


def test_a_program_that_is_there_for_one_call_is_no_service(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    passing = "/home/ada/.cache/uv/archive-v0/x/bin/palimpsest"
    monkeypatch.setattr(shutil, "which", lambda name, **_: passing)
    done = run("service", "install", "--yes")
    assert done.code == 1 and "uv tool install palimpsest-proxy" in done.err


def test_on_a_mac_it_is_launchd_and_elsewhere_nothing(
    manager: Manager, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Call().loaded().settings
    monkeypatch.setenv("HOME", str(tmp_path))
    made = module.installation(settings, None, "darwin")
    assert list(made.files) == [tmp_path / "Library" / "LaunchAgents" / "dev.palimpsest.proxy.plist"]
    with pytest.raises(CommandError, match="systemd and launchd only"):
        module.installation(settings, None, "win32")


LAUNCHD = """\
#!/bin/sh
case "$*" in
  "print gui/"*/*)
    [ -s {left} ] || exit 113
    echo "state = {word}"; tail -c +2 {left} > {left}.new; mv {left}.new {left};;
  print*) ;;
  *) echo "$1 $(wc -c < {left})" >> {told};;
esac
case "$1" in bootout) exit 36;; esac
"""


@pytest.fixture
def launchd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A ``launchctl`` that takes three looks to let go of an agent, as a Mac takes seconds, and says at once that it is
    doing so; what it was told, and a letter for each look to come."""
    folder = tmp_path / "bin"
    folder.mkdir()
    told, left = folder / "told", folder / "left"
    told.touch()
    left.write_text("...")
    file = folder / "launchctl"
    file.write_text(LAUNCHD.format(told=told, left=left, word="SIGTERMed"))
    file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(module, "installation", partial(module.installation, platform="darwin"))
    monkeypatch.setattr(module, "EVERY", 0.0)
    return told, left


def test_an_agent_is_loaded_anew_only_when_the_one_before_is_gone(
    launchd: tuple[Path, Path], server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, _ = launchd
    monkeypatch.setattr(module, "_not_by_hand", lambda *_: None)
    assert run("service", "install", "--yes").code == 0
    assert told.read_text().splitlines() == ["bootout 2", "enable 0", "bootstrap 0"]


def test_one_that_does_not_go_is_told(
    launchd: tuple[Path, Path], server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, _ = launchd
    monkeypatch.setattr(module, "_not_by_hand", lambda *_: None)
    monkeypatch.setattr(module, "UNLOAD_SECONDS", -1e6)
    done = run("service", "install", "--yes")
    assert done.code == 1 and "has it still" in done.err and told.read_text().splitlines() == ["bootout 2"]


class Clock:
    """A clock that each wait moves by minutes."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += 200


def test_an_agent_has_as_long_to_go_as_its_server_has_to_end(
    launchd: tuple[Path, Path], server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, left = launchd
    monkeypatch.setattr(module, "_not_by_hand", lambda *_: None)
    monkeypatch.setenv("PALIMPSEST__SERVER__DRAIN__REPLY_SECONDS", "600")
    left.write_text("." * 4)
    monkeypatch.setattr(module, "time", Clock())
    assert run("service", "install", "--yes").code == 0
    assert told.read_text().splitlines() == ["bootout 3", "enable 0", "bootstrap 0"]


def test_a_refusal_that_changes_nothing_is_told_at_once(
    launchd: tuple[Path, Path], server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, left = launchd
    monkeypatch.setattr(module, "_not_by_hand", lambda *_: None)
    (tmp_path / "bin" / "launchctl").write_text(LAUNCHD.format(told=told, left=left, word="running"))
    left.write_text("." * 100)
    monkeypatch.setattr(module, "REFUSED_SECONDS", -1.0)
    done = run("service", "install", "--yes")
    assert done.code == 1 and "launchd refused to stop it" in done.err and len(left.read_text()) > 90


def test_a_manager_that_answers_when_the_server_has_ended_is_waited_for_that_long(
    manager: Manager, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: dict[str, float] = {}
    ran = subprocess.run

    def noted(command: Sequence[str], *, timeout: float, **options: Any) -> subprocess.CompletedProcess[str]:
        waits[command[2]] = timeout
        return ran(command, timeout=timeout, **options)

    monkeypatch.setattr(subprocess, "run", noted)
    monkeypatch.setenv("PALIMPSEST__SERVER__DRAIN__REPLY_SECONDS", "600")
    manager.says("loaded", os.getpid())
    run("service", "install", "--yes")
    assert waits["stop"] > 625 > 60 == waits["enable"]
    run("service", "uninstall", "--yes")
    assert waits["disable"] > 625
