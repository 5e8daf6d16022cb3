"""Files are looked at inside the allowed folders, and nowhere else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memory.features.subagents.folders import AllowedFolders, Look
from memory.research import Research, ResearchSource, SourceKind

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def read(sources: tuple[ResearchSource, ...], directory: Path) -> Research:
    return Research("i", "o", "p", "q", NOW, NOW, sources=sources, directory=str(directory))


def test_a_file_whose_content_differs_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one")
    (tmp_path / "b.py").write_text("two")
    folders = AllowedFolders([str(tmp_path)])
    named = tuple(ResearchSource(SourceKind.FILE, name) for name in ("a.py", "b.py", "c.py"))
    marked = folders.marked(named, str(tmp_path))
    assert [bool(source.mark) for source in marked] == [True, True, False]
    assert folders.changed(read(marked, tmp_path)).files == ()
    (tmp_path / "a.py").write_text("another")
    (tmp_path / "b.py").unlink()
    assert folders.changed(read(marked, tmp_path)).files == ("a.py", "b.py")


def test_one_look_reads_each_file_once_and_no_more_than_it_has_room_for(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).write_text(name * 10)
    folders = AllowedFolders([str(tmp_path)])
    before = read(
        folders.marked(tuple(ResearchSource(SourceKind.FILE, name) for name in "abc"), str(tmp_path)), tmp_path
    )
    for name in "abc":
        (tmp_path / name).write_text(name * 11)
    few = Look(files=2)
    assert folders.changed(before, few).files == ("a", "b") and few.missed == 1
    assert folders.changed(before, few).files == ("a", "b") and few.files == 0
    light = Look(bytes=12)
    assert folders.changed(before, light).files == ("a",) and light.missed == 2


def test_nothing_outside_is_looked_at(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("x")
    (inside / "link").symlink_to(outside / "secret")
    folders = AllowedFolders([str(inside)])
    named = tuple(
        ResearchSource(SourceKind.FILE, name) for name in ("../out/secret", "link", str(outside / "secret"), "a\0b")
    )
    assert not any(source.mark for source in folders.marked(named, str(inside)))
    assert not any(source.mark for source in AllowedFolders([]).marked(named, str(outside)))
    assert folders.commit(str(outside)) == ""


def test_the_commit_of_a_checkout_is_read(tmp_path: Path) -> None:
    git = tmp_path / ".git"
    (git / "refs" / "heads").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "refs" / "heads" / "main").write_text("a" * 40 + "\n")
    (tmp_path / "src").mkdir()
    assert AllowedFolders([str(tmp_path)]).commit(str(tmp_path / "src")) == "a" * 40
    (git / "HEAD").write_text("ref: ../../etc/passwd\n")
    assert AllowedFolders([str(tmp_path)]).commit(str(tmp_path)) == ""
