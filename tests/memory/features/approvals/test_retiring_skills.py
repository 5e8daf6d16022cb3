"""A skill whose steps are left out again and again is put forward to be retired, and a person decides."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import pytest_asyncio

from memory.candidate import Candidate, CandidateKind, CandidateState
from memory.features.approvals.write_plan import ApprovalRefused
from tests import rooms
from tests.fake_provider import fake_provider
from tests.memory.features.approvals.test_skills import OTHER, OWNER, SKILL, WORK, approved, memory
from tests.memory.features.behaviour.test_observing import play
from tests.running import Running, running
from tests.sparse_files import copy_tree


class Retiring(NamedTuple):
    """A proxy, the project's own folder, a skill that was approved, and its retirement, which waits for a person."""

    proxy: Running
    folder: Path
    skill: Candidate
    retirement: Candidate


@asynccontextmanager
async def opened(place: Path) -> AsyncIterator[Running]:
    """A proxy with its home and its project in a folder."""
    projects = {"loom": {"folder": str(place / "loom")}}
    settings = {"projects": projects, "memory__learning__skills": {"sessions": 3, "times": 3}}
    async with fake_provider() as provider, running(provider, place / "home", **settings) as proxy:
        yield proxy


async def followed_no_longer(place: Path) -> tuple[Candidate, Candidate]:
    """Sessions that follow a skill, and many that leave its steps out."""
    (place / "loom").mkdir()
    async with opened(place) as proxy:
        for number in range(5):
            await play(proxy, f"Do piece {number}.", WORK, f"s{number}")
        [skill] = await rooms.candidates(memory(proxy)).candidates([OWNER], {CandidateState.WAITING})
        await approved(proxy, skill.id)
        for number in range(14):
            await play(proxy, f"Do other piece {number}.", OTHER, f"t{number}")
        waiting = await rooms.candidates(memory(proxy)).candidates([OWNER], {CandidateState.WAITING})
        [retirement] = [each for each in waiting if each.kind is CandidateKind.RETIREMENT]
    return skill, retirement


Played = tuple[Path, Path, Candidate, Candidate]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Where it was played, a copy of what was there in the end, the skill and its retirement."""
    base = tmp_path_factory.mktemp("retiring")
    place = base / "place"
    place.mkdir()
    skill, retirement = asyncio.run(followed_no_longer(place))
    copy_tree(place, base / "kept")
    return place, base / "kept", skill, retirement


@pytest_asyncio.fixture
async def retiring(played: Played) -> AsyncIterator[Retiring]:
    """All is as it was in the end; in the same place, which what was approved names."""
    place, kept, skill, retirement = played
    shutil.rmtree(place)
    copy_tree(kept, place)
    async with opened(place) as proxy:
        yield Retiring(proxy, place / "loom", skill, retirement)


async def test_a_skill_that_is_followed_no_longer_is_retired_by_a_person_and_kept(retiring: Retiring) -> None:
    proxy, folder, skill, retirement = retiring
    assert (retirement.title, retirement.text) == (skill.title, skill.text)
    assert "omissions in" in retirement.why and retirement.sessions >= 3
    file = folder / ".claude/skills/cargo-fmt-and-then/SKILL.md"
    was = file.read_text()
    done = await approved(proxy, retirement.id)
    assert not file.exists() and (file.parent / "earlier/v1.md").read_text() == was
    assert {each.file.name for each in done.files} == {"SKILL.md", "v1.md"}
    assert (await rooms.candidates(memory(proxy)).candidate(skill.id, [OWNER])).state is CandidateState.DEFERRED
    await approved(proxy, retirement.id, undo=True)
    assert file.read_text() == was and not (file.parent / "earlier").exists()
    assert (await rooms.candidates(memory(proxy)).candidate(skill.id, [OWNER])).state is CandidateState.APPROVED


async def test_what_is_written_after_a_retirement_is_a_later_version(retiring: Retiring) -> None:
    proxy, folder, _, retirement = retiring
    await approved(proxy, retirement.id)
    waiting = await rooms.candidates(memory(proxy)).candidates([OWNER], {CandidateState.WAITING})
    [other] = [each for each in waiting if each.kind is CandidateKind.SKILL]
    await approved(proxy, other.id)
    file = folder / ".claude/skills/cargo-fmt-and-then/SKILL.md"
    assert "just ship" in file.read_text() and 'version: "2"' in file.read_text()
    assert "clippy" in (file.parent / "earlier/v1.md").read_text()
    with pytest.raises(ApprovalRefused, match="written since"):
        await rooms.approvals(memory(proxy)).approve(retirement.id, [OWNER], undo=True)


async def test_a_skill_that_a_person_has_changed_is_left_where_it_stands_when_it_is_retired(
    retiring: Retiring,
) -> None:
    proxy, folder, _, retirement = retiring
    file = folder / ".claude/skills/cargo-fmt-and-then/SKILL.md"
    file.write_text(f"{file.read_text()}\nAnd be quick.\n")
    done = await approved(proxy, retirement.id)
    assert "be quick" in file.read_text()
    assert done.notes == (f"{file} says something else than was approved: it is left as it is",)
    assert not (folder / ".agents/skills/cargo-fmt-and-then/SKILL.md").exists()


async def test_a_skill_that_is_followed_again_is_not_to_be_retired_any_more(retiring: Retiring) -> None:
    proxy, _, _, retirement = retiring
    for number in range(8):
        await play(proxy, f"Do it as before {number}.", WORK, f"u{number}")
    now = await rooms.candidates(memory(proxy)).candidate(retirement.id, [OWNER])
    assert (now.state, now.reason) == (CandidateState.DEFERRED, "its steps are not left out any more")


async def test_forgetting_its_habit_takes_a_retired_skill_along(retiring: Retiring) -> None:
    proxy, folder, skill, retirement = retiring
    await approved(proxy, retirement.id)
    kept = folder / ".claude/skills/cargo-fmt-and-then/earlier/v1.md"
    assert kept.exists()
    await memory(proxy).commands.forget(skill.evidence, [OWNER])
    assert not kept.exists()
    left = {each.id for each in await rooms.candidates(memory(proxy)).candidates([OWNER])}
    assert not left & {skill.id, retirement.id}


async def test_a_retirement_is_not_put_in_other_words(retiring: Retiring) -> None:
    proxy, _, _, retirement = retiring
    with pytest.raises(ApprovalRefused, match="other words"):
        await rooms.approvals(memory(proxy)).approve(retirement.id, [OWNER], text=SKILL)
