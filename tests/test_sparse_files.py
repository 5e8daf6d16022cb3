"""What is looked for in a home's files is found in them, wherever it stands, and a copy is the same."""

from __future__ import annotations

from pathlib import Path

from tests.sparse_files import copy_tree, read_written

FAR = 5 * 2**20


def sparse(file: Path) -> Path:
    with file.open("wb") as opened:
        opened.write(b"first")
        opened.seek(FAR)
        opened.write(b"second")
        opened.truncate(3 * FAR)
    return file


def test_what_was_written_is_read_and_the_holes_are_not(tmp_path: Path) -> None:
    read = read_written(sparse(tmp_path / "file"))
    assert read.startswith(b"first") and b"second" in read
    (tmp_path / "none").write_bytes(b"")
    assert read_written(tmp_path / "none") == b""
    (tmp_path / "small").write_bytes(b"a\0b")
    assert read_written(tmp_path / "small") == b"a\0b"


def test_a_copy_is_the_same_and_takes_no_more_room(tmp_path: Path) -> None:
    (tmp_path / "home" / "below").mkdir(parents=True)
    file = sparse(tmp_path / "home" / "below" / "file")
    (tmp_path / "home" / "left.sock").write_bytes(b"x")
    copy_tree(tmp_path / "home", tmp_path / "copy", "*.sock")
    copied = tmp_path / "copy" / "below" / "file"
    assert copied.read_bytes() == file.read_bytes()
    assert copied.stat().st_blocks <= file.stat().st_blocks
    assert [each.name for each in (tmp_path / "copy").iterdir()] == ["below"]
