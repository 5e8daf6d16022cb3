"""One owner of a home folder, and no token for anybody who is not the owner."""

from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path

import pytest

from proxy.cli.faults import CommandError
from proxy.cli.home_owner import ANNOUNCED, owner
from proxy.cli.instance_lock import owned
from proxy.cli.options import loaded
from proxy.cli.server import running
from proxy.cli.server_access import in_process, reach


def test_a_home_has_one_owner_at_a_time(home: Path) -> None:
    assert owner(home) is None
    with owned(home):
        assert owner(home) == os.getpid()
        with pytest.raises(CommandError, match=f"process {os.getpid()}"), owned(home, patience=0.0):
            pass
    assert owner(home) is None
    with owned(home, patience=0.0):
        pass


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError, match="cannot be used"), owned(tmp_path / "file" / "below"):
        pass


def test_what_listens_where_a_dead_server_did_gets_no_token(home: Path) -> None:
    """Its port may be anybody's by now."""
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        home.mkdir(mode=0o700)
        (home / "token").write_text("0" * 64)
        url = f"http://127.0.0.1:{stranger.getsockname()[1]}"
        for number in (os.getpid(), 999_999_999):
            (home / ANNOUNCED).write_text(json.dumps({"url": url, "pid": number}))
            assert running(loaded().settings.home) is None
        with owned(home):
            (home / ANNOUNCED).write_text(json.dumps({"url": url, "pid": 999_999_999}))
            assert running(loaded().settings.home) is None
        stranger.setblocking(False)
        with pytest.raises(BlockingIOError):
            stranger.accept()


def test_a_server_that_just_starts_is_waited_for(home: Path) -> None:
    with owned(home), in_process(loaded()) as starting:
        said = threading.Timer(
            0.3, (home / ANNOUNCED).write_text, [json.dumps({"url": starting.url, "pid": os.getpid()})]
        )
        said.start()
        with reach(loaded()) as found:
            assert found.url == starting.url
        said.join()


@pytest.mark.parametrize("told", ["", "[]", "{}", '{"url": 7}', "\x00"])
def test_an_announcement_that_is_none_is_passed_over(home: Path, told: str) -> None:
    with owned(home):
        (home / "token").write_text("0" * 64)
        (home / ANNOUNCED).write_text(told)
        assert running(loaded().settings.home) is None
