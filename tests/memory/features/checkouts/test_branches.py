"""What has become of a branch, in real repositories."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.checkout import Branch, BranchStage
from memory.features.checkouts import upkeep
from memory.features.checkouts.looking import look
from memory.features.checkouts.upkeep import Followed, follow
from tests.memory.features.checkouts.repository import Repository

AT = datetime(2026, 3, 4, tzinfo=UTC)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with a branch ``work`` that has two commits of its own, looked at where it began."""
    repository = Repository(tmp_path / "loom")
    repository.checkout("work", new=True)
    repository.write("a.txt", "one\n")
    repository.commit("one")
    repository.write("b.txt", "two\n")
    repository.commit("two")
    return repository


def followed(repository: Repository, known: Branch | None = None) -> tuple[Branch, Followed]:
    """The branch as it stands now."""
    view = look(str(repository.root))
    assert view is not None
    known = known or Branch(str(repository.root), "work", "", "", BranchStage.OPEN, AT)
    told = follow(view, [known], AT)
    return next(iter(told.branches), known), told


def test_it_is_open_while_it_is_there_and_dropped_when_it_is_gone(repository: Repository) -> None:
    known, told = followed(repository)
    assert known.stage is BranchStage.OPEN and len(told.own["work"]) == 2
    repository.checkout("main")
    repository.git("branch", "-D", "work")
    known, _ = followed(repository, known)
    assert known.stage is BranchStage.DROPPED


def test_one_without_a_commit_of_its_own_is_not_merged(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "loom")
    repository.checkout("work", new=True)
    known, _ = followed(repository)
    assert known.stage is BranchStage.OPEN
    repository.checkout("main")
    repository.commit("main goes on")
    known, _ = followed(repository, known)
    assert known.stage is BranchStage.OPEN


@pytest.mark.parametrize("how", ["fast-forward", "merge", "squash", "rebase"])
def test_it_is_merged_in_whichever_way(repository: Repository, how: str) -> None:
    known, _ = followed(repository)
    repository.checkout("main")
    if how != "fast-forward":
        repository.write("other.txt", "meanwhile\n")
        repository.commit("meanwhile")
    match how:
        case "fast-forward" | "merge":
            repository.git("merge", "-q", "--no-edit", "work")
        case "squash":
            repository.git("merge", "-q", "--squash", "work")
            repository.commit("work, as one")
        case "rebase":
            repository.git("cherry-pick", "main..work")
    repository.git("branch", "-D", "work")
    known, _ = followed(repository, known)
    assert known.stage is BranchStage.MERGED


@pytest.mark.parametrize("how", ["merge", "squash", "one by one"])
def test_what_was_merged_and_reverted_is_told_until_that_is_reverted_too(repository: Repository, how: str) -> None:
    known, _ = followed(repository)
    repository.checkout("main")
    repository.commit("meanwhile")
    if how == "squash":
        repository.git("merge", "-q", "--squash", "work")
        repository.commit("work, as one")
        repository.git("revert", "--no-edit", "HEAD")
    else:
        repository.git("merge", "-q", "--no-ff", "--no-edit", "work")
        if how == "merge":
            repository.git("revert", "--no-edit", "-m", "1", "HEAD")
        else:
            repository.git("revert", "--no-edit", "work", "work~1")
    known, _ = followed(repository, known)
    assert known.stage is BranchStage.REVERTED
    repository.git("revert", "--no-edit", "HEAD")
    known, _ = followed(repository, known)
    assert known.stage is BranchStage.MERGED


@pytest.mark.parametrize("how", ["merge", "squash", "squash, and the name is taken again"])
def test_what_was_merged_stays_so_when_its_branch_goes_on_or_its_name_is_taken_again(
    repository: Repository, how: str
) -> None:
    known, _ = followed(repository)
    repository.checkout("main")
    repository.commit("meanwhile")
    repository.git("merge", "-q", *(["--no-ff", "--no-edit"] if how == "merge" else ["--squash"]), "work")
    if how != "merge":
        repository.commit("work, as one")
    merge = repository.git("rev-parse", "HEAD")
    known, _ = followed(repository, known)
    assert known.stage is BranchStage.MERGED
    if how.endswith("again"):
        repository.git("branch", "-D", "work")
    repository.checkout("work", new=how.endswith("again"))
    repository.write("c.txt", "three\n")
    three = repository.commit("three")
    _, told = followed(repository, known)
    merged = f"work@{known.tip[:7]}"
    assert told.ended == {"work": (merged, (three,))}
    branches = {each.name: each for each in told.branches}
    assert branches["work"].stage is BranchStage.OPEN
    repository.checkout("main")
    repository.git("revert", "--no-edit", *(["-m", "1"] if how == "merge" else []), merge)
    assert followed(repository, branches.get(merged) or replace(known, name=merged))[0].stage is BranchStage.REVERTED


def test_what_was_squashed_long_ago_stays_merged(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MOST", "3")
    known, _ = followed(repository)
    repository.checkout("main")
    repository.git("merge", "-q", "--squash", "work")
    repository.commit("work, as one")
    repository.git("branch", "-D", "work")
    known, _ = followed(repository, known)
    assert known.stage is BranchStage.MERGED
    for number in range(4):
        repository.write("main.txt", f"{number}\n")
        repository.commit("main goes on")
    assert followed(repository, known)[0].stage is BranchStage.MERGED


def test_one_that_was_renamed_goes_on_under_its_new_name(repository: Repository) -> None:
    known, _ = followed(repository)
    repository.git("branch", "-m", "work", "feature/work")
    known, told = followed(repository, known)
    assert (known.name, known.stage, told.renamed) == ("feature/work", BranchStage.OPEN, {"work": "feature/work"})
    repository.git("branch", "-m", "feature/work", "feature/more")
    assert followed(repository, known)[0].name == "feature/more"


def test_one_that_only_a_remote_has_is_there(repository: Repository, tmp_path: Path) -> None:
    known, _ = followed(repository)
    other = tmp_path / "other.git"
    repository.git("clone", "-q", "--bare", str(repository.root), str(other))
    repository.git("remote", "add", "origin", str(other))
    repository.git("fetch", "-q", "origin")
    repository.checkout("main")
    repository.git("branch", "-D", "work")
    assert followed(repository, known)[0].stage is BranchStage.OPEN
