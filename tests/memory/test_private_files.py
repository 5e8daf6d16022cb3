import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.private_files import private_files, share


@pytest.fixture(autouse=True)
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_new_files_are_their_owners_alone_and_a_projects_have_the_persons_own_mode(tmp_path: Path) -> None:
    with private_files(tmp_path), private_files(tmp_path):
        (tmp_path / "index").mkdir()
        for name in ("index/segment", "RULES.md"):
            (tmp_path / name).write_text("text")
        share(tmp_path / "RULES.md")
    assert mode(tmp_path / "index") == 0o700 and mode(tmp_path / "index" / "segment") == 0o600
    assert mode(tmp_path / "RULES.md") == 0o644
    (tmp_path / "after").write_text("text")
    share(tmp_path / "after")
    assert mode(tmp_path / "after") == 0o644


def test_what_others_could_read_is_closed_and_what_a_link_leads_to_is_not(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    (home / "index").mkdir(parents=True)
    elsewhere.write_text("text")
    (home / "index" / "segment").write_text("text")
    (home / "hook").write_text("text")
    (home / "hook").chmod(0o755)
    (home / "link").symlink_to(elsewhere)
    with private_files(home):
        assert mode(home / "index" / "segment") == 0o600 and mode(home / "hook") == 0o700
        assert mode(home) == mode(home / "index") == 0o700
    assert mode(elsewhere) == 0o644


def test_a_data_folder_that_is_a_link_is_closed_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(mode=0o755)
    (tmp_path / "home").symlink_to(tmp_path / "real")
    with private_files(tmp_path / "home"):
        assert mode(tmp_path / "real") == 0o700
