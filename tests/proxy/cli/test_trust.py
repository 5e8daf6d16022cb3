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
    assert "names no project" in run("trust").err
    (tmp_path / NAME).write_text('project = "acme/boats"')
    done = run("trust", "-y")
    assert done.code == 0 and "acme/boats" in done.out and named(home, tmp_path / "below") == "acme/boats"
    assert run("trust", str(tmp_path), "--json").json == {"file": str(tmp_path / NAME), "project": "acme/boats"}
    assert run("trust", "--undo").code == 0 and named(home, tmp_path) is None
    assert "is not trusted" in run("trust", "--undo").err
    (tmp_path / NAME).write_text("[")
    assert "cannot be understood" in run("trust", "-y").err
