"""Files in folders that a person has named: inside them and nowhere else, whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from memory.ports import PublishFailed
from memory.private_files import private_files
from memory.stores.published_files import LARGEST, PublishedFolders

FILES = PublishedFolders()


@pytest.mark.parametrize("name", ["../x.md", "/etc/x.md", "a/../../x.md", "", ".", "a\0b"])
async def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for work in (FILES.read(folder, name), FILES.replace(folder, name, None, "x")):
        with pytest.raises(PublishFailed):
            await work
    assert os.listdir(tmp_path) == ["in"] and os.listdir(folder) == []


async def test_a_link_on_the_way_is_not_followed(tmp_path: Path) -> None:
    folder, outside = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    outside.mkdir()
    (folder / "skills").symlink_to(outside)
    (folder / "dangling").symlink_to(tmp_path / "nothing")
    for name in ("skills/x.md", "dangling"):
        with pytest.raises(PublishFailed, match="link"):
            await FILES.replace(folder, name, None, "x")
    assert os.listdir(outside) == []


async def test_folders_on_the_way_are_made_and_an_empty_one_goes_with_its_file(tmp_path: Path) -> None:
    await FILES.replace(tmp_path, "skills/deploy/SKILL.md", None, "Deploy.\r\n")
    assert await FILES.read(tmp_path, "skills/deploy/SKILL.md") == "Deploy.\r\n"
    await FILES.replace(tmp_path, "skills/deploy/SKILL.md", "Deploy.\r\n", None)
    assert os.listdir(tmp_path / "skills") == []
    assert await FILES.read(tmp_path, "skills/deploy/SKILL.md") is None
    await FILES.replace(tmp_path, "nothing/there.md", None, None)


async def test_a_file_that_changed_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("theirs")
    for before in (None, "mine"):
        with pytest.raises(PublishFailed, match="changed"):
            await FILES.replace(tmp_path, "x.md", before, "new")
    assert (tmp_path / "x.md").read_text() == "theirs" and os.listdir(tmp_path) == ["x.md"]


async def test_the_mode_stays_and_a_new_file_has_the_one_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("a")
    (tmp_path / "x.md").chmod(0o604)
    await FILES.replace(tmp_path, "x.md", "a", "b")
    await FILES.replace(tmp_path, "y.md", None, "b")
    (tmp_path / "z.md").write_text("")
    assert (tmp_path / "x.md").stat().st_mode & 0o777 == 0o604
    assert (tmp_path / "y.md").stat().st_mode == (tmp_path / "z.md").stat().st_mode


async def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "large.md").write_bytes(b"x" * (LARGEST + 1))
    (tmp_path / "folder.md").mkdir()
    for name in ("large.md", "folder.md"):
        with pytest.raises(PublishFailed, match=name):
            await FILES.read(tmp_path, name)
    with pytest.raises(PublishFailed, match="cannot be opened"):
        await FILES.read(tmp_path / "missing", "x.md")


async def test_new_folders_have_the_mode_of_any_new_folder(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with private_files(tmp_path / "home"):
            await FILES.replace(tmp_path, "a/b/SKILL.md", None, "x")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b", "a/b/SKILL.md")]
    assert modes == [0o755, 0o755, 0o644]
