"""``palimpsest trust``: a folder names its project once the person has said so."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.marker import NAME, TRUSTED, Markers, TrustedProjects
from tests.proxy.cli.running import run


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PALIMPSEST_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def named(home: Path, folder: Path) -> str | None:
    return Markers(TrustedProjects(home / TRUSTED)).of(str(folder)).project


def test_a_file_is_trusted_with_its_name_and_no_more(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "is not there" in run("trust").err
    (tmp_path / NAME).write_text('project = "acme/boats"')
    done = run("trust", "-y")
    assert done.code == 0 and "acme/boats" in done.out and named(home, tmp_path / "below") == "acme/boats"
    assert run("trust", str(tmp_path), "--json", "--yes").json == {
        "file": str(tmp_path / NAME),
        "project": "acme/boats",
        "shared_with": [],
    }
    assert run("trust", "--undo").code == 0 and named(home, tmp_path) is None
    assert "is not trusted" in run("trust", "--undo").err
    (tmp_path / NAME).write_text("[")
    assert "cannot be understood" in run("trust", "-y").err


def test_what_is_shared_is_asked_for_and_trusted_with_the_project(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / NAME).write_text('project = "acme/lib"\nshared_with = ["acme/boats"]')
    monkeypatch.setattr("typer.testing._NamedTextIOWrapper.isatty", lambda self: True, raising=False)
    refused = run("trust", str(tmp_path), stdin="\n")
    assert "also recalled in 'acme/boats'" in refused.out + refused.err
    assert Markers(TrustedProjects(home / TRUSTED)).shared_with("acme/boats") == ()
    done = run("trust", str(tmp_path), "--yes")
    assert "the project acme/lib, shared with acme/boats" in done.out
    assert Markers(TrustedProjects(home / TRUSTED)).shared_with("acme/boats") == ("acme/lib",)
    assert run("trust", str(tmp_path), "--undo").code == 0
    assert Markers(TrustedProjects(home / TRUSTED)).shared_with("acme/boats") == ()


def test_a_folder_is_trusted_by_whatever_way_it_is_named(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "boat" / "src").mkdir(parents=True)
    (tmp_path / "boat" / NAME).write_text('project = "acme/boats"')
    (tmp_path / "link").symlink_to(tmp_path / "boat")
    monkeypatch.chdir(tmp_path / "boat" / "src")
    for way in ("..", str(tmp_path / "link"), str(tmp_path / "link" / "src" / "..")):
        assert run("trust", way, "-y").code == 0
        assert named(home, tmp_path / "boat") == named(home, tmp_path / "link") == "acme/boats", way
        assert run("trust", way, "--undo").code == 0 and named(home, tmp_path / "boat") is None


def test_nothing_is_trusted_without_a_clear_yes(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / NAME).write_text('project = "acme/boats"')
    assert "--yes" in run("trust", str(tmp_path)).err and "--yes" in run("trust", str(tmp_path), "--json").err
    # Somebody sits at the terminal.
    monkeypatch.setattr("typer.testing._NamedTextIOWrapper.isatty", lambda self: True, raising=False)
    assert "nothing was changed" in run("trust", str(tmp_path), stdin="\n").err and named(home, tmp_path) is None
    assert run("trust", str(tmp_path), stdin="y\n").code == 0 and named(home, tmp_path) == "acme/boats"


def test_what_is_damaged_is_not_written_over(home: Path, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text('project = "acme/boats"')
    home.mkdir()
    for damaged in (b"[", b'{"/boat": "\xff"}'):
        (home / TRUSTED).write_bytes(damaged)
        assert "damaged" in run("trust", str(tmp_path), "-y").err
        assert (home / TRUSTED).read_bytes() == damaged
