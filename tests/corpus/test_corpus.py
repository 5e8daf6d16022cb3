"""What the proxy forwards and answers is what it was, byte for byte. Where that is meant to change:

python -m tests.corpus --write
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import pytest

from tests.corpus import digests
from tests.corpus.fixed import BEGIN, KEY, fixed
from tests.corpus.playing import played
from tests.corpus.scenes import Scene, scenes
from tests.corpus.stage import Exchange

SCENES = [*scenes()]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
async def test_what_is_forwarded_and_answered_has_not_changed(scene: Scene) -> None:
    now = [digests.line(each) for each in await played(scene)]
    assert list(digests.changed(digests.kept()[scene.name], now)) == []


def test_every_line_that_is_kept_is_of_a_scene() -> None:
    assert list(digests.kept()) == [scene.name for scene in SCENES]


def test_ids_and_keys_are_the_same_again_and_what_was_there_before_is_put_back() -> None:
    before = uuid.uuid4, os.urandom, os.environ.get("TZ")
    with fixed():
        first = uuid.uuid4(), uuid.uuid4(), os.urandom(KEY), BEGIN.astimezone().isoformat()
    with fixed():
        assert (uuid.uuid4(), uuid.uuid4(), os.urandom(KEY), BEGIN.astimezone().isoformat()) == first
    assert first[0] != first[1] and first[0].version == 4 and first[3].endswith("09:00:00+00:00")
    assert (uuid.uuid4, os.urandom, os.environ.get("TZ")) == before


def test_a_difference_is_told_by_its_bytes() -> None:
    assert digests.difference(b"same", b"same") == "the same"
    told = digests.difference(b'{"a": 1, "b": 2}', b'{"a": 1, "c": 17, "b": 2}')
    assert told.startswith("bytes 10 to 10 of 16 became 10 to 19 of 25\n")
    assert """now:    b'{"a": 1, "c": 17, "b": 2}'""" in told
    assert digests.difference(b"one", b"one more").startswith("bytes 3 to 3 of 3 became 3 to 8 of 8")


def test_bodies_that_are_kept_tell_what_became_of_an_exchange(tmp_path: Path) -> None:
    before, now = (Exchange("scene/000 asks", (("forwarded", body), ("reply", b"OK"))) for body in (b"abc", b"aXc"))
    assert digests.keep(tmp_path, before, same=True) == []
    assert digests.keep(tmp_path, before, same=False) == []
    [told] = digests.keep(tmp_path, now, same=False)
    assert "0-forwarded: bytes 1 to 2 of 3 became 1 to 2 of 3" in told
    assert (tmp_path / "scene" / "000_asks" / "0-forwarded").read_bytes() == b"abc"
    assert digests.line(before) != digests.line(now)


def test_lines_that_came_and_went_are_told(tmp_path: Path) -> None:
    assert list(digests.changed(["a/0 x  reply=1", "a/1 y  reply=2"], ["a/0 x  reply=1"])) == [("a/1 y  reply=2", "")]
    file = tmp_path / "digests.txt"
    digests.write({"a": ["a/0 x  reply=1"], "b": ["b/0 y  reply=2"]}, file)
    assert digests.kept(file) == {"a": ["a/0 x  reply=1"], "b": ["b/0 y  reply=2"]}
