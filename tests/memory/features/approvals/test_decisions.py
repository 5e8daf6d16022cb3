"""Candidates decided by a person, over a real journal and real files in a throwaway folder."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from memory.bootstrap import open_memory
from memory.candidate import Candidate, CandidateKind, CandidateState, Proposal
from memory.fact import Fact, FactKind, MemoryTier, Origin, Sensitivity, State
from memory.features.approvals.convention_files import BEGIN, END
from memory.features.approvals.conventions import MOST
from memory.features.approvals.decisions import Approval, StaleDecision
from memory.features.approvals.write_plan import ApprovalRefused
from memory.parts import Memory
from memory.ports import Lesson, PublishFailed
from memory.scope import Layer, Scope
from memory.services.person.commands import Ambiguous, NotFound
from memory.settings import MemorySettings, ProjectFolder
from tests import rooms
from tests.memory.services.person.test_commands import unguarded
from tests.memory.stores.derived_facts import AT, fact

ADA = Scope("acme", "ada", "boat")
EVE = Scope("acme", "eve", "boat")
OTHER = Scope("evil", "ada", "boat")
OWNER, SHARED = ADA.owner(Layer.USER_PROJECT) or "", ADA.owner(Layer.PROJECT) or ""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "boat"
    made.mkdir()
    return made


@pytest_asyncio.fixture
async def memory(tmp_path: Path, folder: Path) -> AsyncIterator[Memory]:
    projects = {SHARED: ProjectFolder(folder=folder)}
    opened = await open_memory(MemorySettings(), tmp_path / "home", unguarded, projects)
    assert opened is not None
    yield opened
    await opened.close()


def uid(name: str) -> str:
    """An id as the index takes it."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, name))


async def put_forward(
    memory: Memory, text: str = "Use tabs in Python files", id: str = "rule", scope: Scope = ADA, **more: object
) -> Candidate:
    """A candidate as a night makes one: a gist and the facts it was drawn from."""
    owner = scope.owner(Layer.USER_PROJECT) or ""
    sources = [fact(f"{text} {n}", id=uid(f"{id}-{n}"), scope=scope, kind=FactKind.CORRECTION) for n in range(3)]
    ids = tuple(each.id for each in sources)
    gist = replace(sources[0], id=uid(f"{id}-gist"), text=text, tier=MemoryTier.LONG_TERM, derived_from=ids, **more)  # type: ignore[arg-type]
    await memory.journal.learn(Lesson(0, (*sources, gist)))
    proposal = Proposal(id, CandidateKind.KNOWLEDGE, gist.id, text, text, "correction", 14, 9, (gist.id, *ids))
    assert await memory.journal.propose(owner, [proposal], AT) == [id]
    return await rooms.candidates(memory).candidate(id, [owner])


async def approved(memory: Memory, id: str = "rule", owners: tuple[str, ...] = (OWNER,), **how: object) -> Approval:
    shown = await rooms.approvals(memory).approve(id, owners, **how)  # type: ignore[arg-type]
    assert not shown.done
    return await rooms.approvals(memory).approve(id, owners, confirm=shown.confirm, **how)  # type: ignore[arg-type]


async def one(memory: Memory, id: str) -> Fact:
    [found] = await memory.journal.facts([id])
    return found


def section(*lines: str) -> str:
    return "\n".join([BEGIN, "## Conventions", "", *(f"- {line}" for line in lines), END, ""])


async def test_what_is_approved_rises_to_the_project_and_stands_in_its_file(memory: Memory, folder: Path) -> None:
    await put_forward(memory)
    shown = await rooms.approvals(memory).approve("rule", [OWNER])
    assert "+- Use tabs in Python files" in shown.files[0].diff and not (folder / "CONVENTIONS.md").exists()
    assert (await rooms.candidates(memory).candidate("rule", [OWNER])).state is CandidateState.WAITING
    done = await approved(memory)
    assert (folder / "CONVENTIONS.md").read_text() == section("Use tabs in Python files")
    rule = await one(memory, done.candidate.fact)
    assert (rule.owner, rule.layer, rule.origin, rule.tier) == (SHARED, Layer.PROJECT, Origin.PERSON, MemoryTier.SHARED)
    assert (
        set(rule.derived_from) == {uid(f"rule-{n}") for n in (0, 1, 2, "gist")}
        and rule.sensitivity is Sensitivity.NORMAL
    )
    assert (await one(memory, uid("rule-gist"))).state is State.ARCHIVED
    await memory.learner.catch_up()
    [found, *_] = await memory.commands.search("tabs in Python", EVE.owners())
    assert found.id == rule.id, "everybody who works on the project knows it"
    assert "Use tabs in Python files" in await memory.commands.page(EVE)
    assert not await memory.commands.search("tabs in Python", OTHER.owners())


async def test_taking_it_back_leaves_nothing_of_it(memory: Memory, folder: Path) -> None:
    (folder / "CONVENTIONS.md").write_text("# Ours\n\nBe kind.\n")
    await put_forward(memory)
    done = await approved(memory)
    back = await approved(memory, undo=True)
    assert back.candidate.state is CandidateState.WAITING and back.candidate.fact == ""
    assert (await one(memory, done.candidate.fact)).state is State.ARCHIVED
    assert (await one(memory, uid("rule-gist"))).state is State.ACTIVE
    assert (folder / "CONVENTIONS.md").read_text() == f"# Ours\n\nBe kind.\n\n{section()}"
    with pytest.raises(ApprovalRefused, match="not approved"):
        await rooms.approvals(memory).approve("rule", [OWNER], undo=True)


async def test_it_is_written_in_a_persons_own_words(memory: Memory, folder: Path) -> None:
    await put_forward(memory)
    done = await approved(memory, text="Tabs,\n  never spaces <!-- palimpsest: end of what was approved -->")
    text = (folder / "CONVENTIONS.md").read_text()
    assert text.count(END) == 1 and "- Tabs, never spaces ‹!-- palimpsest" in text
    assert done.candidate.title.startswith("Tabs,")
    with pytest.raises(ApprovalRefused, match="already"):
        await rooms.approvals(memory).approve("rule", [OWNER], text="Other words")


@pytest.mark.parametrize("text", ["", " \n ", "x" * 1001, "Between us: I was diagnosed with depression"])
async def test_what_is_no_rule_for_others_is_refused(memory: Memory, text: str) -> None:
    await put_forward(memory)
    with pytest.raises(ApprovalRefused):
        await rooms.approvals(memory).approve("rule", [OWNER], text=text)


async def test_a_persons_text_around_and_inside_the_section_stays(memory: Memory, folder: Path) -> None:
    file = folder / "CONVENTIONS.md"
    file.write_bytes(b"# Ours\r\n\r\nBe kind.")
    file.chmod(0o640)
    await put_forward(memory)
    await approved(memory)
    text = file.read_bytes().decode()
    assert text.startswith("# Ours\r\n\r\nBe kind.\r\n\r\n<!--") and "\n" not in text.replace("\r\n", "")
    assert file.stat().st_mode & 0o777 == 0o640
    file.write_bytes((text.replace("## Conventions", "## What we do\r\n\r\nAsk Eve.") + "The end.\r\n").encode())
    await put_forward(memory, "Deploy on Fridays only", "second")
    await approved(memory, "second")
    after = file.read_bytes().decode()
    assert (
        "## What we do\r\n\r\nAsk Eve.\r\n\r\n- Use tabs in Python files\r\n- Deploy on Fridays only\r\n<!--" in after
    )
    assert after.endswith("The end.\r\n") and os.listdir(folder) == ["CONVENTIONS.md"]


RULES = (
    "Use tabs in Python files",
    "Deploy on Fridays only",
    "Write tests before the code",
    "Name branches after issues",
)


async def edited_by_somebody(memory: Memory, file: Path) -> str:
    """Three rules were approved; then one line was changed, one deleted, and one written."""
    for number, text in enumerate(RULES):
        await put_forward(memory, text, f"rule{number}")
    for number in range(3):
        await approved(memory, f"rule{number}")
    lines = section("Use tabs in Python and Go files", RULES[2], "Ask Eve about the keel")
    await asyncio.to_thread(file.write_text, lines)
    return lines


async def waiting_lines(memory: Memory) -> dict[str, str]:
    found = await rooms.candidates(memory).candidates([OWNER], {CandidateState.WAITING})
    return {each.title: each.id for each in found if each.kind is CandidateKind.LINE}


async def test_what_somebody_did_to_the_lines_is_no_rule_when_another_is_approved(memory: Memory, folder: Path) -> None:
    file = folder / "CONVENTIONS.md"
    before = await edited_by_somebody(memory, file)
    shown = await rooms.approvals(memory).approve("rule3", [OWNER])
    assert len(shown.notes) == 3 and all("candidate of its own" in note for note in shown.notes)
    assert await waiting_lines(memory) == {}, "showing writes nothing"
    done = await approved(memory, "rule3")
    assert {each.text for each in await memory.journal.shared(SHARED)} == set(RULES)
    assert file.read_text() == before.replace(END, f"- {RULES[3]}\n{END}"), "nothing of it is touched"
    assert done.candidate.state is CandidateState.APPROVED
    lines = await waiting_lines(memory)
    assert set(lines) == {
        "Use tabs in Python and Go files (was: Use tabs in Python files)",
        "delete: Deploy on Fridays only",
        "Ask Eve about the keel",
    }
    await memory.learner.catch_up()
    assert "keel" not in await memory.commands.page(EVE)
    again = await approved(memory, "rule3")
    assert not again.files and len(again.notes) == 3 and await waiting_lines(memory) == lines


async def test_what_somebody_did_to_the_lines_is_approved_one_by_one(memory: Memory, folder: Path) -> None:
    file = folder / "CONVENTIONS.md"
    await edited_by_somebody(memory, file)
    await approved(memory, "rule3")
    for title, id in (await waiting_lines(memory)).items():
        assert (await approved(memory, id)).candidate.title == title
    held = await memory.journal.shared(SHARED)
    assert {each.text for each in held} == {
        "Use tabs in Python and Go files",
        RULES[2],
        "Ask Eve about the keel",
        RULES[3],
    }
    assert {each.origin for each in held} == {Origin.PERSON}
    assert file.read_text() == section("Use tabs in Python and Go files", RULES[2], "Ask Eve about the keel", RULES[3])
    by_id = {each.id: each for each in await rooms.candidates(memory).candidates([OWNER])}
    assert by_id["rule0"].state is CandidateState.APPROVED and by_id["rule0"].text == "Use tabs in Python and Go files"
    assert by_id["rule1"].state is CandidateState.REJECTED and "deleted" in by_id["rule1"].reason
    assert (await one(memory, uid("rule1-gist"))).state is State.ACTIVE, "the user knows it still"
    again = await approved(memory, "rule3")
    assert not again.files and not again.notes, "nothing is left to do"


async def test_what_somebody_did_and_a_person_rejects_is_as_if_it_was_not_done(memory: Memory, folder: Path) -> None:
    file = folder / "CONVENTIONS.md"
    await edited_by_somebody(memory, file)
    await approved(memory, "rule3")
    for id in (await waiting_lines(memory)).values():
        await rooms.approvals(memory).decide(id, [OWNER], CandidateState.REJECTED, "not ours")
    again = await approved(memory, "rule3")
    assert not again.notes and {each.text for each in await memory.journal.shared(SHARED)} == set(RULES)
    text = file.read_text()
    assert all(f"- {rule}\n" in text for rule in RULES)
    assert not (await approved(memory, "rule3")).files and await waiting_lines(memory) == {}


async def test_a_line_that_is_gone_again_is_not_approved(memory: Memory, folder: Path) -> None:
    file = folder / "CONVENTIONS.md"
    await edited_by_somebody(memory, file)
    await approved(memory, "rule3")
    file.write_text(section(*RULES))
    for id in (await waiting_lines(memory)).values():
        with pytest.raises(ApprovalRefused, match=r"any more"):
            await rooms.approvals(memory).approve(id, [OWNER])
    assert not (await approved(memory, "rule3")).notes


async def test_a_line_is_approved_in_other_words_and_without_its_secret(memory: Memory, folder: Path) -> None:
    file = folder / "CONVENTIONS.md"
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    file.write_text(section("Ask Eve about the keel", f"Push with {key}"))
    await put_forward(memory)
    await approved(memory)
    lines = await waiting_lines(memory)
    assert key not in str(lines)
    await approved(memory, lines["Ask Eve about the keel"], text="Ask Eve about the mast")
    await approved(memory, next(id for title, id in lines.items() if title.startswith("Push")))
    text = file.read_text()
    assert "- Ask Eve about the mast\n" in text and "keel" not in text and key not in text
    back = await approved(memory, lines["Ask Eve about the keel"], undo=True)
    assert back.candidate.state is CandidateState.WAITING and "mast" not in file.read_text()


async def test_of_many_lines_a_few_are_put_forward_at_a_time(memory: Memory, folder: Path) -> None:
    words = ("keel", "mast", "sail", "hull", "deck", "oar")
    file = folder / "CONVENTIONS.md"
    file.write_text(section(*(f"{one} belongs to {other}" for one in words for other in words)))
    await put_forward(memory)
    done = await approved(memory)
    assert len(await waiting_lines(memory)) == MOST and "16 more" in done.notes[-1]


async def test_approving_again_does_not_take_what_was_done_to_its_own_line(memory: Memory, folder: Path) -> None:
    file = folder / "CONVENTIONS.md"
    await put_forward(memory)
    first = await approved(memory)
    file.write_text(section("Use tabs in all files"))
    again = await approved(memory)
    assert again.candidate.text == "Use tabs in Python files" and again.candidate.fact == first.candidate.fact
    assert file.read_text() == section("Use tabs in all files")
    [line] = (await waiting_lines(memory)).values()
    changed = await approved(memory, line)
    assert (await one(memory, first.candidate.fact)).state is State.SUPERSEDED
    rule = await rooms.candidates(memory).candidate("rule", [OWNER])
    assert rule.text == "Use tabs in all files" and rule.fact == changed.candidate.fact
    back = await approved(memory, undo=True)
    assert back.candidate.state is CandidateState.WAITING and file.read_text() == section()
    assert (await one(memory, uid("rule-gist"))).state is State.ACTIVE


async def test_a_rule_whose_line_was_deleted_is_written_again_where_it_is_approved_again(
    memory: Memory, folder: Path
) -> None:
    file = folder / "CONVENTIONS.md"
    await put_forward(memory)
    await approved(memory)
    file.write_text(section())
    again = await approved(memory)
    assert file.read_text() == section("Use tabs in Python files") and not again.notes


async def test_a_section_that_is_gone_is_written_again_and_takes_nothing_with_it(memory: Memory, folder: Path) -> None:
    await put_forward(memory)
    await approved(memory)
    (folder / "CONVENTIONS.md").unlink()
    again = await approved(memory)
    assert "written again" in again.notes[0]
    assert (folder / "CONVENTIONS.md").read_text() == section("Use tabs in Python files")


async def test_what_was_confirmed_must_be_what_is_written(memory: Memory, folder: Path) -> None:
    await put_forward(memory)
    shown = await rooms.approvals(memory).approve("rule", [OWNER])
    (folder / "CONVENTIONS.md").write_text("# New\n")
    with pytest.raises(StaleDecision):
        await rooms.approvals(memory).approve("rule", [OWNER], confirm=shown.confirm)
    with pytest.raises(StaleDecision):
        await rooms.approvals(memory).approve("rule", [OWNER], confirm=shown.confirm, text="Something else")
    assert (folder / "CONVENTIONS.md").read_text() == "# New\n" and await memory.journal.shared(SHARED) == []


@pytest.mark.parametrize("marks", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}\n{BEGIN}\n{END}", f"{BEGIN}\n{END}\n{END}"])
async def test_broken_marks_are_told_with_their_lines_and_nothing_is_written(
    memory: Memory, folder: Path, marks: str
) -> None:
    file = folder / "CONVENTIONS.md"
    file.write_text(f"# Ours\n{marks}\n")
    await put_forward(memory)
    with pytest.raises(ApprovalRefused, match=r"CONVENTIONS.md.*line 2"):
        await rooms.approvals(memory).approve("rule", [OWNER])
    assert file.read_text() == f"# Ours\n{marks}\n"


async def test_no_link_is_followed(memory: Memory, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    (folder / "CONVENTIONS.md").symlink_to(outside)
    await put_forward(memory)
    with pytest.raises(PublishFailed, match="link"):
        await rooms.approvals(memory).approve("rule", [OWNER])
    assert outside.read_text() == "mine\n"


async def test_what_is_no_text_is_left_alone(memory: Memory, folder: Path) -> None:
    file = folder / "CONVENTIONS.md"
    file.write_bytes(b"\xff\xfe\x00")
    await put_forward(memory)
    with pytest.raises(PublishFailed, match="UTF-8"):
        await rooms.approvals(memory).approve("rule", [OWNER])
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(PublishFailed, match="no file"):
        await rooms.approvals(memory).approve("rule", [OWNER])


async def test_without_a_folder_only_the_facts_rise(memory: Memory) -> None:
    scope = Scope("acme", "ada", "car")
    owner = scope.owner(Layer.USER_PROJECT) or ""
    await put_forward(memory, scope=scope)
    done = await approved(memory, owners=(owner,))
    assert not done.files and "projects.car.folder" in done.notes[0]
    assert [each.text for each in await memory.journal.shared(scope.owner(Layer.PROJECT) or "")]


async def test_on_a_persons_own_machine_a_project_is_theirs(memory: Memory) -> None:
    mine, yours = Scope(user="ada", project="boat"), Scope(user="eve", project="boat")
    await put_forward(memory, scope=mine)
    done = await approved(memory, owners=mine.owners())
    assert not done.files, "the folder is the organisation's"
    rule = await one(memory, done.candidate.fact)
    assert rule.owner in mine.owners() and rule.owner not in yours.owners()


async def test_knowledge_of_an_organisation_stands_on_its_page(memory: Memory, tmp_path: Path) -> None:
    await put_forward(memory)
    done = await approved(memory, layer=Layer.ORG)
    assert (tmp_path / "home" / "pages" / "@acme" / "ORG.md").read_text() == section("Use tabs in Python files")
    assert (await one(memory, done.candidate.fact)).owner == "o:acme"
    alone = Scope(user="ada", project="boat")
    await put_forward(memory, id="alone", scope=alone)
    with pytest.raises(ApprovalRefused, match="no organisation"):
        await rooms.approvals(memory).approve("alone", alone.owners(), layer=Layer.ORG)


async def test_only_those_whose_sessions_bear_it_out_decide(memory: Memory) -> None:
    await put_forward(memory)
    for owners in (list(EVE.owners()), [SHARED], []):
        with pytest.raises(NotFound):
            await rooms.approvals(memory).approve("rule", owners)
        with pytest.raises(NotFound):
            await rooms.approvals(memory).decide("rule", owners, CandidateState.REJECTED)


async def test_an_id_may_be_cut_short_where_it_is_clear(memory: Memory) -> None:
    await put_forward(memory, id="abcd1")
    await put_forward(memory, "Deploy on Fridays only", id="abcd2")
    with pytest.raises(Ambiguous):
        await rooms.candidates(memory).candidate("abcd", [OWNER])
    assert (await rooms.candidates(memory).candidate("abcd2", [OWNER])).title == "Deploy on Fridays only"


async def test_rejected_and_deferred_are_kept_and_may_still_be_approved(memory: Memory) -> None:
    await put_forward(memory)
    rejected = await rooms.approvals(memory).decide("rule", [OWNER], CandidateState.REJECTED, "we use spaces")
    assert (rejected.state, rejected.reason) == (CandidateState.REJECTED, "we use spaces")
    await rooms.approvals(memory).decide("rule", [OWNER], CandidateState.DEFERRED)
    done = await approved(memory)
    assert done.candidate.state is CandidateState.APPROVED
    with pytest.raises(ApprovalRefused, match="take that back first"):
        await rooms.approvals(memory).decide("rule", [OWNER], CandidateState.REJECTED)


async def test_a_rule_that_is_there_is_not_approved_twice_and_a_rival_is_told(memory: Memory) -> None:
    await put_forward(memory)
    await approved(memory)
    await put_forward(memory, "Spaces are used everywhere in Go", "second")
    with pytest.raises(ApprovalRefused, match="already"):
        await rooms.approvals(memory).approve("second", [OWNER], text="use tabs in python files")
    shown = await rooms.approvals(memory).approve("second", [OWNER], text="Never use tabs in Python files")
    assert any("contradict" in note for note in shown.notes)


async def test_that_what_bears_it_out_was_changed_since_is_told(memory: Memory) -> None:
    held = await put_forward(memory)
    assert not any("any more" in note for note in (await rooms.approvals(memory).approve("rule", [OWNER])).notes)
    await memory.fact_reviser.update(held.mark, "Use spaces in Python files", [OWNER])
    shown = await rooms.approvals(memory).approve("rule", [OWNER])
    assert any("may not hold any more" in note and "Use tabs" in note for note in shown.notes)


async def test_what_is_forgotten_takes_its_line_out_of_the_file(memory: Memory, folder: Path) -> None:
    file = folder / "CONVENTIONS.md"
    await put_forward(memory)
    await put_forward(memory, "Deploy on Fridays only", "second")
    done = await approved(memory)
    await approved(memory, "second")
    gone = await memory.commands.forget([done.candidate.fact], ADA.owners())
    assert gone.files == (str(file),) and not gone.faults
    assert file.read_text() == section("Deploy on Fridays only")
    assert [each.id for each in await rooms.candidates(memory).candidates([OWNER])] == ["second"]


async def test_a_rule_in_other_words_outlives_one_of_its_many_sources(memory: Memory, folder: Path) -> None:
    await put_forward(memory)
    done = await approved(memory, text="Indent by tabs")
    await memory.commands.forget([uid("rule-1")], ADA.owners())
    assert (await one(memory, done.candidate.fact)).derived_from == tuple(sorted(map(uid, ("rule-0", "rule-2"))))
    assert (folder / "CONVENTIONS.md").read_text() == section("Indent by tabs")
    await memory.commands.forget([uid("rule-0"), uid("rule-2")], ADA.owners())
    assert await memory.journal.facts([done.candidate.fact]) == []
    assert (folder / "CONVENTIONS.md").read_text() == section()


async def test_a_rule_goes_with_the_fact_whose_words_it_has(memory: Memory, folder: Path) -> None:
    await put_forward(memory)
    done = await approved(memory)
    await memory.commands.forget([uid("rule-gist")], ADA.owners())
    assert await memory.journal.facts([done.candidate.fact]) == []
    assert (folder / "CONVENTIONS.md").read_text() == section()


async def test_a_fact_rises_to_all_projects_of_its_user(memory: Memory) -> None:
    held = await memory.commands.remember("I prefer short answers", ADA)
    risen = await rooms.approvals(memory).promote(held, Layer.USER)
    assert isinstance(risen, Fact) and risen.owner == ADA.owner(Layer.USER) and risen.derived_from == (held.id,)
    assert (await one(memory, held.id)).state is State.ARCHIVED
    await memory.learner.catch_up()
    car = Scope("acme", "ada", "car")
    assert [each.id for each in await memory.commands.search("short answers", car.owners())] == [risen.id]
    with pytest.raises(ApprovalRefused, match="already"):
        await rooms.approvals(memory).promote(risen, Layer.USER)


async def test_to_rise_to_others_it_has_to_be_approved(memory: Memory, folder: Path) -> None:
    held = await memory.commands.remember("Always squash before a merge", ADA)
    put = await rooms.approvals(memory).promote(held, Layer.PROJECT)
    assert (
        isinstance(put, Candidate) and put.state is CandidateState.WAITING and await memory.journal.shared(SHARED) == []
    )
    assert (await rooms.approvals(memory).promote(held, Layer.PROJECT)) == put, "it is put forward once"
    done = await approved(memory, put.id)
    assert (folder / "CONVENTIONS.md").read_text() == section("Always squash before a merge")
    rule = await one(memory, done.candidate.fact)
    to_org = await rooms.approvals(memory).promote(rule, Layer.ORG)
    assert isinstance(to_org, Candidate) and to_org.layer is Layer.ORG
    secret = await memory.commands.remember("Between us: the launch is on Friday", ADA)
    with pytest.raises(ApprovalRefused, match="stays with"):
        await rooms.approvals(memory).promote(secret, Layer.PROJECT)


async def test_there_is_no_way_up_where_there_is_no_such_layer(memory: Memory) -> None:
    alone = await memory.commands.remember("Use short names", Scope(user="ada"))
    for layer in (Layer.PROJECT, Layer.ORG):
        with pytest.raises(ApprovalRefused, match="no "):
            await rooms.approvals(memory).promote(alone, layer)


async def test_a_rule_that_was_set_right_elsewhere_takes_the_old_lines_place(memory: Memory, folder: Path) -> None:
    await put_forward(memory)
    done = await approved(memory)
    await memory.fact_reviser.update(done.candidate.fact, "Use spaces in Python files", ADA.owners())
    await put_forward(memory, "Deploy on Fridays only", "second")
    again = await approved(memory, "second")
    assert not again.notes
    lines = section("Use spaces in Python files", "Deploy on Fridays only")
    assert (folder / "CONVENTIONS.md").read_text() == lines
    assert (await approved(memory, "second")).files == ()


async def test_what_was_taken_back_or_changed_is_counted_among_the_evidence_and_not_shown(memory: Memory) -> None:
    candidate = await put_forward(memory)
    gone, changed, holds = [await one(memory, uid(f"rule-{n}")) for n in range(3)]
    changes = replace(gone, state=State.ARCHIVED), replace(changed, state=State.SUPERSEDED)
    await memory.journal.learn(Lesson(0, changes))
    facts, withheld = await rooms.candidates(memory).evidence(candidate, ADA)
    assert ({each.id for each in facts}, withheld) == ({holds.id, uid("rule-gist")}, 2)
    skill = replace(candidate, kind=CandidateKind.SKILL)
    assert len((await rooms.candidates(memory).evidence(skill, ADA))[0]) == 4


async def test_what_bore_an_approved_rule_out_is_still_shown(memory: Memory) -> None:
    await put_forward(memory)
    done = await approved(memory)
    assert (await one(memory, uid("rule-gist"))).state is State.ARCHIVED
    facts, withheld = await rooms.candidates(memory).evidence(done.candidate, ADA)
    assert (len(facts), withheld) == (4, 0)


async def test_what_rose_to_its_user_bears_its_rule_out_as_long_as_it_holds(memory: Memory) -> None:
    candidate = await put_forward(memory)
    risen = await rooms.approvals(memory).promote(await one(memory, uid("rule-0")), Layer.USER)
    assert isinstance(risen, Fact)
    assert len((await rooms.candidates(memory).evidence(candidate, ADA))[0]) == 4
    await memory.fact_reviser.update(risen.id, "Use spaces in Python files", ADA.owners())
    facts, withheld = await rooms.candidates(memory).evidence(candidate, ADA)
    assert uid("rule-0") not in {each.id for each in facts} and withheld == 1
