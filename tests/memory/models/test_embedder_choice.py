"""A model that is damaged is told as one, with what to do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memory.language import static_embedding
from memory.models import embedder_choice
from memory.models.embedder_choice import choose_embedder


@pytest.mark.parametrize("content", [b"junk" * 100, b"", b"\x05\0\0\0\0\0\0\0{"])
def test_damaged_weights_are_told_with_how_to_mend_them(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / "minilm"
    folder.mkdir()
    with pytest.raises(FileNotFoundError):
        choose_embedder("minilm", tmp_path)
    (folder / "model.safetensors").write_bytes(content)
    with pytest.raises(ValueError, match="palimpsest embedder use minilm"):
        choose_embedder("minilm", tmp_path)


def test_a_damaged_table_is_told_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(static_embedding.DATA, tmp_path / "data")
    table = tmp_path / "data" / static_embedding.TABLE
    table.write_bytes(table.read_bytes()[:100_000])
    monkeypatch.setattr(static_embedding, "DATA", tmp_path / "data")
    with pytest.raises(ValueError, match="install it again"):
        embedder_choice.choose_embedder("static", tmp_path)


def test_a_name_that_stands_for_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there are static"):
        choose_embedder("other", tmp_path)
