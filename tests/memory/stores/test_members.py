"""Who is a member of an organisation: there is always an owner, and keys end with the membership."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.candidate import CandidateKind, CandidateState, Proposal
from memory.client_key import ClientKey, KeyScope
from memory.member import UNTOLD, Asker, Member, MemberRefused, MemberRole, Membership
from memory.scope import Layer, Scope
from memory.stores.journal import SqlJournal

AT = datetime(2026, 3, 4, tzinfo=UTC)
ADA = Scope("acme", "ada", "loom")
OWN, ACME = ADA.owner(Layer.USER_PROJECT) or "", ADA.owner(Layer.ORG) or ""


def member(user: str, role: MemberRole = MemberRole.MEMBER, org: str = "acme") -> Member:
    return Member(org, user, role, AT, "owner")


async def team(journal: SqlJournal) -> None:
    await journal.add_member(member("ada", MemberRole.OWNER))
    await journal.add_member(member("bob"))


def key(user: str, org: str | None = "acme", name: str = "laptop") -> ClientKey:
    scopes = (KeyScope.CALLS, KeyScope.MEMORY)
    return ClientKey(name, f"hash of {name}", user, AT, "owner", org, scopes=scopes)


async def test_the_first_member_is_an_owner_and_one_is_added_once(journal: SqlJournal) -> None:
    with pytest.raises(MemberRefused, match="the first one is its owner"):
        await journal.add_member(member("bob"))
    await team(journal)
    with pytest.raises(MemberRefused, match="bob is a member of acme already"):
        await journal.add_member(member("bob", MemberRole.MAINTAINER))
    assert [(each.user, each.role) for each in await journal.members("acme")] == [("ada", "owner"), ("bob", "member")]
    assert await journal.member("acme", "bob") == member("bob")
    assert await journal.member("other", "bob") is None and await journal.members("other") == []
    assert await journal.organisations() == ["acme"]


async def test_a_role_in_a_project_stands_in_the_place_of_the_one_in_the_organisation(journal: SqlJournal) -> None:
    await team(journal)
    bob = await journal.set_role("acme", "bob", MemberRole.MAINTAINER, AT, "ada", "loom")
    assert bob.projects == {"loom": "maintainer"} and bob.maintains("loom") and not bob.maintains(None)
    bob = await journal.set_role("acme", "bob", MemberRole.READ_ONLY, AT, "ada", "loom")
    assert bob.role_in("loom") is MemberRole.READ_ONLY and bob.role_in("sail") is MemberRole.MEMBER
    assert not bob.reads_only
    await journal.remove_member("acme", "bob", AT, "loom")
    assert (await journal.members("acme"))[1] == member("bob")
    for refused in ("loom", ""):
        with pytest.raises(MemberRefused) as error:
            await journal.remove_member("acme", "bob" if refused else "eve", AT, refused)
        assert error.value.missing
    with pytest.raises(MemberRefused, match="eve is no member"):
        await journal.set_role("acme", "eve", MemberRole.MEMBER, AT, "ada")


async def test_a_role_is_given_and_told_in_one_transaction(
    journal: SqlJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await team(journal)

    async def removed_meanwhile(work: object) -> None:
        raise AssertionError("it is read again")

    monkeypatch.setattr(journal._db, "read", removed_meanwhile)
    told = await journal.set_role("acme", "bob", MemberRole.READ_ONLY, AT, "ada", "loom")
    assert (told.role, told.projects) == (MemberRole.MEMBER, {"loom": MemberRole.READ_ONLY})
    told = await journal.set_role("acme", "bob", MemberRole.MAINTAINER, AT, "ada")
    assert (told.role, told.projects) == (MemberRole.MAINTAINER, {"loom": MemberRole.READ_ONLY})
    assert (told.added_at, told.added_by) == (AT, "owner")


async def test_an_organisation_keeps_an_owner(journal: SqlJournal) -> None:
    await team(journal)
    for change in (
        journal.set_role("acme", "ada", MemberRole.MEMBER, AT, "x"),
        journal.remove_member("acme", "ada", AT),
    ):
        with pytest.raises(MemberRefused, match="the only owner"):
            await change
    await journal.set_role("acme", "bob", MemberRole.OWNER, AT, "ada")
    await journal.set_role("acme", "ada", MemberRole.MEMBER, AT, "bob")
    await journal.remove_member("acme", "ada", AT)
    await journal.remove_member("acme", "bob", AT)
    assert await journal.members("acme") == [], "the last one may go"


async def test_a_key_knows_its_member_and_ends_with_the_membership(journal: SqlJournal) -> None:
    assert await journal.add_client_key(key("eve")), "nobody is a member of anything yet"
    await team(journal)
    assert await journal.add_client_key(key("bob", name="phone"))
    assert not await journal.add_client_key(key("carl", name="desk")), "carl is no member"
    assert await journal.add_client_key(key("carl", None, "desk"))
    known = {each.name: each for each in await journal.client_keys()}
    assert known["phone"].member == member("bob") and known["phone"].scopes == (KeyScope.CALLS, KeyScope.MEMORY)
    assert known["laptop"].member is None and known["desk"].member is None
    assert await journal.remove_member("acme", "bob", AT) == ["phone"]
    assert [each.name for each in await journal.client_keys() if each.in_force(AT)] == ["desk", "laptop"]


async def test_what_is_submitted_stays_in_its_words_until_it_is_decided(journal: SqlJournal) -> None:
    def said(text: str, sources: int) -> Proposal:
        return Proposal("c", CandidateKind.KNOWLEDGE, "m", text, text, "decision", sources, sources, ())

    await journal.propose(OWN, [said("My words are private.", 3)], AT)
    [held] = await journal.candidates([OWN])
    await journal.submit(held, ACME, "ada", AT)
    [held] = await journal.submitted(ACME)
    assert (held.submitted_by, held.submitted_at, held.state) == ("ada", AT, CandidateState.WAITING)
    assert await journal.submitted("o:other") == [] and await journal.submitted("") == []
    await journal.propose(OWN, [said("Other words are private.", 5)], AT)
    [held] = await journal.submitted(ACME)
    assert (held.text, held.sources) == ("My words are private.", 5)
    rejected = await journal.decide(held, CandidateState.REJECTED, AT, "no", "bob")
    assert (rejected.decided_by, rejected.submitted_by) == ("bob", "ada")
    await journal.propose(OWN, [said("Other words are private.", 20)], AT)
    assert await journal.submitted(ACME) == []
    [held] = await journal.candidates([OWN])
    assert (held.text, held.state) == ("Other words are private.", CandidateState.WAITING)


async def test_who_is_forgotten_is_named_by_nothing_of_the_organisation(journal: SqlJournal) -> None:
    await team(journal)
    await journal.add_member(Member("acme", "eve", MemberRole.MEMBER, AT, "ada"))
    await journal.propose(
        Scope("acme", "eve", "loom").owner(Layer.USER_PROJECT) or "",
        [Proposal("c", CandidateKind.KNOWLEDGE, "m", "t", "t", "decision", 1, 1, ())],
        AT,
    )
    [held] = await journal.candidates(["up:acme/eve/loom"])
    held = await journal.submit(held, ACME, "eve", AT)
    await journal.decide(held, CandidateState.REJECTED, AT, "", "ada")
    await journal.erase_person(Scope("acme", "ada"))
    assert [(each.user, each.added_by) for each in await journal.members("acme")] == [("bob", "owner"), ("eve", "")]
    [held] = await journal.submitted(ACME)
    assert (held.submitted_by, held.decided_by) == ("eve", "")


def test_who_approves_what() -> None:
    bob = Member("acme", "bob", MemberRole.MEMBER, AT, "ada", {"loom": MemberRole.MAINTAINER})
    asker = Asker("bob", False, "bob", "acme", Membership(bob, organised=True))
    assert asker.approves(OWN, Layer.PROJECT) and not asker.approves(OWN, Layer.ORG) and not asker.owns(OWN)
    assert not asker.approves("up:acme/ada/sail", Layer.PROJECT)
    assert not asker.approves("up:other/ada/loom", Layer.PROJECT), "maintainers are of one organisation"
    assert asker.owns("up:acme/bob/sail") and not asker.owns("p:acme/loom") and not asker.owns("up:/bob/sail")
    assert Asker().approves(OWN, Layer.ORG) and Asker().owns(OWN)
    assert not Asker("bob", False, "bob", "acme").approves("up:acme/bob/loom", Layer.PROJECT)


async def test_whether_an_organisation_has_members_is_told_beside_who_is_none(journal: SqlJournal) -> None:
    assert await journal.membership("acme", "bob") == Membership()
    await journal.add_member(member("ada", MemberRole.OWNER))
    assert await journal.membership("acme", "ada") == Membership(member("ada", MemberRole.OWNER), organised=True)
    assert await journal.membership("acme", "bob") == Membership(organised=True)
    assert await journal.membership("other", "bob") == Membership()


def test_who_changes_what() -> None:
    alone, nobody = Asker("bob", False, "bob", "acme"), Asker("bob", False, "bob", "acme", Membership(organised=True))
    assert alone.changes("p:acme/loom") and not nobody.changes("p:acme/loom") and nobody.changes("up:acme/bob/loom")
    assert not Asker("bob", False, "bob", "acme", UNTOLD).changes("o:acme")
    bob = Member("acme", "bob", MemberRole.READ_ONLY, AT, "ada", {"loom": MemberRole.MEMBER})
    asker = Asker("bob", False, "bob", "acme", Membership(bob, organised=True))
    assert asker.changes("up:acme/bob/loom") and not asker.changes("p:acme/loom")
    assert not asker.changes("up:acme/bob/sail") and not asker.changes("u:acme/bob")
