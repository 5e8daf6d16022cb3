"""A habit is put before a person, and only what they approve is written: below the named folder, versioned, undone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from memory.candidate import Candidate, CandidateKind, CandidateState, Proposal
from memory.features.approvals.decisions import Approval
from memory.features.approvals.write_plan import ApprovalRefused
from memory.features.behaviour.feature import BehaviourFeature
from memory.learning.behaviour.habits import mine
from memory.parts import Memory
from memory.scope import Layer, Scope
from memory.settings import ProjectFolder
from tests import rooms
from tests.fake_provider import fake_provider
from tests.memory.features.behaviour.test_observing import play
from tests.memory.learning.behaviour.making import AT
from tests.running import Running, running

WORK = [("cargo fmt", ""), ("cargo clippy --all", "ok"), ("cargo test", "ok")]
OTHER = [("cargo fmt", ""), ("just check", "ok"), ("just ship", "ok")]
SCOPE = Scope(None, "local", "loom")
OWNER = SCOPE.owner(Layer.USER_PROJECT) or ""
SKILL = "---\nname: check-it\ndescription: What is always done.\n---\n\nRun `make check`.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The project's own folder."""
    (tmp_path / "loom").mkdir()
    return tmp_path / "loom"


@pytest_asyncio.fixture
async def proxy(tmp_path: Path, folder: Path) -> AsyncIterator[Running]:
    settings = {"projects": {"loom": {"folder": str(folder)}}, "memory__learning__skills": {"sessions": 3, "times": 3}}
    async with fake_provider() as provider, running(provider, tmp_path / "home", **settings) as proxy:
        yield proxy


def nothing_in(folder: Path) -> bool:
    """Whether a folder is empty."""
    return not list(folder.iterdir())


def memory(proxy: Running) -> Memory:
    assert proxy.edge.memory is not None
    return proxy.edge.memory


async def put_forward(proxy: Running, text: str = SKILL, id: str = "a", layer: Layer = Layer.PROJECT) -> Candidate:
    proposal = Proposal(id, CandidateKind.SKILL, f"skill {id}", "check-it", text, "instance", 9, 5, (), layer)
    await memory(proxy).journal.propose(OWNER, [proposal], AT)
    return await rooms.candidates(memory(proxy)).candidate(id, [OWNER])


async def approved(proxy: Running, id: str, undo: bool = False) -> Approval:
    approving = rooms.approvals(memory(proxy))
    shown = await approving.approve(id, [OWNER], undo=undo)
    assert not shown.done
    return await approving.approve(id, [OWNER], confirm=shown.confirm, undo=undo)


async def test_a_habit_waits_for_a_person_and_is_written_where_runtimes_read_it(proxy: Running, folder: Path) -> None:
    for number in range(5):
        await play(proxy, f"Do piece {number}.", WORK, f"s{number}")
    [waiting] = await rooms.candidates(memory(proxy)).candidates([OWNER], {CandidateState.WAITING})
    assert (waiting.kind, waiting.title) == (CandidateKind.SKILL, "cargo-fmt-and-then")
    assert "`cargo clippy --all`" in waiting.text and nothing_in(folder)
    shown = await rooms.approvals(memory(proxy)).approve(waiting.id, [OWNER])
    assert "+name: cargo-fmt-and-then" in shown.files[0].diff and nothing_in(folder)
    await approved(proxy, waiting.id)
    for skills in (".claude/skills", ".agents/skills"):
        assert "cargo test" in (folder / skills / "cargo-fmt-and-then" / "SKILL.md").read_text()


async def test_a_forgotten_habit_takes_its_skill_along(proxy: Running, folder: Path) -> None:
    for number in range(5):
        await play(proxy, f"Do piece {number}.", WORK, f"s{number}")
    [waiting] = await rooms.candidates(memory(proxy)).candidates([OWNER], {CandidateState.WAITING})
    await approved(proxy, waiting.id)
    gone = await memory(proxy).commands.forget(waiting.evidence, [OWNER])
    assert len(gone.files) == 2 and not gone.faults
    assert not list((folder / ".claude/skills").iterdir()) and not list((folder / ".agents/skills").iterdir())


async def test_a_forgotten_habit_is_neither_told_nor_put_forward_again_nor_is_a_half_of_it(proxy: Running) -> None:
    for number in range(5):
        await play(proxy, f"Do piece {number}.", WORK, f"s{number}")
    [waiting] = await rooms.candidates(memory(proxy)).candidates([OWNER], {CandidateState.WAITING})
    await memory(proxy).commands.forget(waiting.evidence, [OWNER])
    for number in range(5, 9):
        await play(proxy, f"Do piece {number}.", WORK, f"s{number}")
    assert (await memory(proxy).features.of(BehaviourFeature).observing.habits(OWNER)).sequences == ()
    assert await rooms.candidates(memory(proxy)).candidates([OWNER]) == []
    assert not [fact for fact in await memory(proxy).commands.facts([OWNER]) if "cargo" in fact.text]


async def test_a_forgotten_habit_does_not_come_back_in_other_words(proxy: Running) -> None:
    for number in range(5):
        await play(proxy, f"Do piece {number}.", WORK, f"s{number}")
    before = (await memory(proxy).features.of(BehaviourFeature).observing.habits(OWNER)).sequences
    [waiting] = await rooms.candidates(memory(proxy)).candidates([OWNER], {CandidateState.WAITING})
    await memory(proxy).commands.forget(waiting.evidence, [OWNER])
    # The same steps, taken otherwise so often that they would be told otherwise.
    other = [(f"{command} --offline", printed) for command, printed in WORK]
    for number in range(5, 15):
        await play(proxy, f"Do piece {number}.", other, f"s{number}")
    memory_ = memory(proxy)
    mined = mine(await memory_.journal.steps(OWNER, 1000)).sequences
    assert {each.families for each in before} <= {each.families for each in mined}
    assert {each.shapes for each in mined}.isdisjoint({each.shapes for each in before})
    assert (await memory_.features.of(BehaviourFeature).observing.habits(OWNER)).sequences == ()
    assert not [fact for fact in await memory_.commands.facts([OWNER]) if "cargo" in fact.text]


async def test_a_skill_that_a_person_has_changed_stays_and_is_told(proxy: Running, folder: Path) -> None:
    for number in range(5):
        await play(proxy, f"Do piece {number}.", WORK, f"s{number}")
    [waiting] = await rooms.candidates(memory(proxy)).candidates([OWNER], {CandidateState.WAITING})
    await approved(proxy, waiting.id)
    file = folder / ".claude/skills/cargo-fmt-and-then/SKILL.md"
    file.write_text(f"{file.read_text()}\nAnd be quick.\n")
    gone = await memory(proxy).commands.forget(waiting.evidence, [OWNER])
    assert "be quick" in file.read_text()
    [fault] = gone.faults
    assert fault.startswith(f"{file} says something else")
    assert gone.files == (str(folder / ".agents/skills/cargo-fmt-and-then/SKILL.md"),)


async def test_a_habit_that_is_none_any_more_waits_no_longer(proxy: Running) -> None:
    for number in range(4):
        await play(proxy, f"Do piece {number}.", WORK, f"s{number}")
    for number in range(14):
        await play(proxy, f"Do other piece {number}.", OTHER, f"t{number}")
    states = {each.mark: each.state for each in await rooms.candidates(memory(proxy)).candidates([OWNER])}
    old = [state for mark, state in states.items() if "clippy" in mark]
    assert old == [CandidateState.DEFERRED]


async def test_a_changed_skill_keeps_the_earlier_version_and_undoing_brings_it_back(
    proxy: Running, folder: Path
) -> None:
    first = folder / ".claude/skills/check-it/SKILL.md"
    await put_forward(proxy)
    await approved(proxy, "a")
    was = first.read_text()
    await put_forward(proxy, SKILL.replace("make check", "make all"), "b")
    done = await approved(proxy, "b")
    assert {each.file.name for each in done.files} == {"SKILL.md", "v1.md"}
    assert "make all" in first.read_text() and 'version: "2"' in first.read_text()
    assert (first.parent / "earlier/v1.md").read_text() == was
    await approved(proxy, "b", undo=True)
    assert first.read_text() == was and not (first.parent / "earlier").exists()
    await approved(proxy, "a", undo=True)
    assert not first.exists() and not first.parent.exists()


async def test_a_skill_of_a_persons_own_is_never_written_over(proxy: Running, folder: Path) -> None:
    own = folder / ".agents/skills/check-it/SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text(SKILL.replace("make check", "my own way"))
    await put_forward(proxy)
    with pytest.raises(ApprovalRefused, match="somebody else wrote"):
        await approved(proxy, "a")
    assert "my own way" in own.read_text()


@pytest.mark.parametrize("name", ["../../outside", "/etc/x", "a/../../b"])
async def test_a_name_that_would_leave_its_folder_is_refused_and_nothing_is_lost(proxy: Running, name: str) -> None:
    held = await put_forward(proxy, SKILL.replace("check-it", name))
    with pytest.raises(ApprovalRefused, match="must not leave"):
        await approved(proxy, "a")
    assert (await rooms.candidates(memory(proxy)).candidate("a", [OWNER])) == held


async def test_a_link_out_of_the_folder_is_not_followed(proxy: Running, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (folder / ".claude").symlink_to(tmp_path / "elsewhere")
    await put_forward(proxy)
    with pytest.raises(Exception, match="link"):
        await approved(proxy, "a")
    assert nothing_in(tmp_path / "elsewhere")


async def test_where_no_folder_is_named_nothing_can_be_approved(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:
        await put_forward(proxy)
        with pytest.raises(ApprovalRefused, match=r"projects\.loom\.folder"):
            await approved(proxy, "a")


async def test_a_skill_is_a_projects(proxy: Running) -> None:
    held = await put_forward(proxy)
    with pytest.raises(ApprovalRefused, match="project's folder"):
        await rooms.approvals(memory(proxy)).approve(held.id, [OWNER], layer=Layer.ORG)
    assert ProjectFolder().skills == (".claude/skills", ".agents/skills")
    assert replace(held, state=CandidateState.WAITING) == held


async def test_a_skill_without_an_occasion_is_not_to_be_retired(proxy: Running) -> None:
    for number in range(5):
        await play(proxy, f"Do piece {number}.", WORK, f"s{number}")
    [skill] = await rooms.candidates(memory(proxy)).candidates([OWNER], {CandidateState.WAITING})
    await approved(proxy, skill.id)
    other = [("make docs", "ok"), ("make publish", "ok")]
    for number in range(14):
        await play(proxy, f"Do other piece {number}.", other, f"t{number}")
    kinds = [each.kind for each in await rooms.candidates(memory(proxy)).candidates([OWNER])]
    assert CandidateKind.RETIREMENT not in kinds


async def test_a_forgotten_habit_leaves_a_skill_for_which_another_candidate_was_approved(
    proxy: Running, folder: Path
) -> None:
    for number in range(5):
        await play(proxy, f"Do piece {number}.", WORK, f"s{number}")
    [waiting] = await rooms.candidates(memory(proxy)).candidates([OWNER], {CandidateState.WAITING})
    await approved(proxy, waiting.id)
    file = folder / ".claude/skills/cargo-fmt-and-then/SKILL.md"
    other = await put_forward(proxy, waiting.text, "b")
    await approved(proxy, other.id)
    gone = await memory(proxy).commands.forget(waiting.evidence, [OWNER])
    assert not gone.files and file.is_file()
