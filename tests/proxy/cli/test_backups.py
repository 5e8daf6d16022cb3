"""``palimpsest backup``, ``restore`` and ``verify``, with a server and without one."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from memory.stores import sealed
from memory.stores.backups.backup import backups_in
from proxy.cli.server import RunningServer
from tests.proxy.cli.running import beside, run

SAID = "The mooring is number twelve."
BOAT = ("--project", "boat")


def test_a_backup_beside_a_running_server_is_listed_and_looked_through(home: Path, server: RunningServer) -> None:
    run("remember", SAID, *BOAT)
    done = run("backup")
    assert done.code == 0 and "1 fact, 0 passages in" in done.out and "has its keys" in done.out
    [(folder, _)] = backups_in(home / "backups")
    assert str(folder) in run("backup", "--list").out
    assert run("verify", str(folder)).out == f"{folder} holds together\n"
    assert run("verify").code == 0
    told = server.ask("GET", "api/backups")
    assert [each["folder"] for each in told["backups"]] == [str(folder)] and told["verified"]
    refused = run("restore", "-y")
    assert refused.code == 1 and "stop it first" in refused.err


def test_the_newest_is_put_back_and_what_was_there_is_told(home: Path, tmp_path: Path) -> None:
    with beside(home):
        run("remember", SAID, *BOAT)
        run("page", "--write", "-", *BOAT, stdin="Ask me before you deploy.")
        before, page = run("export").out, run("page", *BOAT).out
    assert run("backup", "--to", str(tmp_path / "disk")).code == 0
    with beside(home):
        run("remember", "The mooring has moved.", *BOAT)
        run("page", "--write", "-", *BOAT, stdin="Deploy at once.")
    asked = run("restore")
    assert asked.code == 2 and "Say --yes" in asked.err and run("export").out != before
    done = run("restore", "--yes")
    assert done.code == 0, done.err
    assert "restored: 1 fact" in done.out and "delete it once you miss nothing" in done.out
    assert (run("export").out, run("page", *BOAT).out) == (before, page)
    assert SAID in run("search", "mooring", *BOAT).out
    found = {each["what"]: each for each in run("doctor", "--json").json["findings"]}
    assert found["restored"]["verdict"] == "doubtful" and "replaced-" in found["restored"]["found"]
    [aside] = home.glob("replaced-*")
    assert "replaced-" in run("forget", "--query", "mooring", "-y", *BOAT).out and aside.exists()


def test_a_schedule_is_kept_by_the_server_until_it_is_ended(home: Path, tmp_path: Path) -> None:
    run("remember", SAID)
    told = run("backup", "--every", "1d", "--to", str(tmp_path / "disk"), "--keep", "3")
    assert "the server makes one in" in told.out and "every 1d, and keeps 3" in told.out
    state = json.loads((home / "backups.json").read_text())
    assert (state["every"], state["keep"], state["place"]) == (86_400.0, 3, str(tmp_path / "disk"))
    assert "none is made by itself" in run("backup", "--every", "never").out
    assert json.loads((home / "backups.json").read_text())["every"] is None


@pytest.mark.parametrize("every", ["1", "h", "-1h", "1y", "1m", "١h"])
def test_what_is_no_span_of_time_is_refused(every: str) -> None:
    run("remember", SAID)
    assert run("backup", "--every", every).code == 2


def test_an_encrypted_backup_is_one_file_that_only_its_passphrase_opens(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealed, "WORK", 10)
    secret, other = tmp_path / "secret", tmp_path / "other"
    secret.write_text("twelve moorings\n")
    other.write_text("thirteen moorings\n")
    run("remember", SAID, *BOAT)
    before, disk = run("export").out, tmp_path / "disk"
    done = run("backup", "--encrypt", "--passphrase-file", str(secret), "--to", str(disk))
    [file] = disk.iterdir()
    assert done.code == 0 and str(file) in done.out and file.name.endswith(".age")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and b"mooring" not in file.read_bytes()
    assert str(file) in run("backup", "--list").out and not list(home.glob(".sealing-*"))
    opens = ("--passphrase-file", str(secret))
    assert "holds together" in run("verify", str(file), *opens).out
    assert "passphrase" in run("verify", str(file), "--passphrase-file", str(other)).err
    assert "--passphrase-file" in run("restore", str(file), "-y").err
    assert f"the newest is {file}" in run("restore", "-y").err
    run("remember", "The mooring has moved.", *BOAT)
    done = run("restore", str(file), "-y", *opens)
    assert done.code == 0, done.err
    assert run("export").out == before and not list(home.glob(".opened-*"))
    assert run("backup", "--encrypt", "--passphrase-file", str(tmp_path / "none")).code == 2
    other.write_text("short\n")
    assert "at least 12" in run("backup", "--encrypt", "--passphrase-file", str(other)).err
    assert "cron" in run("backup", "--encrypt", "--every", "1d", *opens).err


def test_what_is_forgotten_may_be_in_an_encrypted_backup_and_that_is_told(
    home: Path, server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealed, "WORK", 10)
    secret = tmp_path / "secret"
    secret.write_text("twelve moorings\n")
    id = run("remember", SAID, *BOAT, "--json").json["id"]
    encrypted = ("backup", "--encrypt", "--passphrase-file", str(secret))
    assert run(*encrypted).code == 0
    assert run("forget", id, *BOAT).code == 0
    assert any("may hold it still" in why for why in server.ask("GET", "health")["why"])
    [file] = (home / "backups").glob("*.age")
    file.unlink()
    assert run(*encrypted).code == 0
    assert not any("may hold it still" in why for why in server.ask("GET", "health")["why"])


def test_a_damaged_journal_says_what_to_do_and_that_helps(home: Path) -> None:
    with beside(home):
        for number in range(8):
            run("remember", f"Buoy {number} has light number {number * 7}.", *BOAT)
    run("backup")
    good = (home / "journal.db").read_bytes()
    (home / "journal.db").write_bytes(good[:8192] + b"\xff" * 16_384 + good[24_576:])
    looked = run("verify")
    assert looked.code == 1 and "does not hold together" in looked.out and "palimpsest restore" in looked.out
    done = run("restore", "--salvage", "-y")
    assert done.code == 0 and done.out.startswith("salvaged: "), done.err
    assert run("verify").code == 0
    assert run("restore", "-y").code == 0
    assert len(run("facts", "--json", *BOAT).json["facts"]) == 8


def test_where_there_is_nothing_it_says_so(home: Path, tmp_path: Path) -> None:
    assert "nothing to back up" in run("backup").err
    assert "there is no backup in" in run("restore", "-y").err
    assert "there is no backup yet" in run("backup", "--list").out
    assert "no journal" in run("verify").err
    assert (
        "is no backup" in run("verify", str(tmp_path)).err and "is no backup" in run("restore", str(tmp_path), "-y").err
    )
