"""What holds for whom: the organisation's own policy, else that of all others, and a person's own days over it."""

from __future__ import annotations

import pytest

from memory.fact import Category, Sensitivity
from memory.policy import NotKept, Policies, scope_of_owner
from memory.scope import Scope
from memory.settings import KeepingSettings, PolicySettings
from proxy.setting_sources import SettingsError
from proxy.settings import load

ADA, EVE = Scope("acme", "ada", "loom"), Scope(None, "eve", "loom")


def test_an_organisations_own_policy_holds_in_place_of_that_of_all_others() -> None:
    policies = Policies({"acme": PolicySettings(personal=False), "*": PolicySettings(restricted=False)}, 40)
    assert not policies.of(ADA).personal and policies.of(ADA).restricted
    for other in (EVE, Scope("other", "kim")):
        assert policies.of(other).personal and not policies.of(other).restricted
    assert policies.of(ADA).keep_days == 40
    assert Policies({"acme": PolicySettings(personal=False)}).of(EVE).keeps_all


def test_a_persons_own_days_hold_before_the_organisations() -> None:
    acme = PolicySettings(keep_days=90, keep_memories_days=300, users={"ada": KeepingSettings(keep_days=7)})
    policies = Policies({"acme": acme}, 365)
    days = [(of.keep_days, of.keep_memories_days) for of in map(policies.of, (ADA, Scope("acme", "bob"), EVE))]
    assert days == [(7, 300), (90, 300), (365, None)]


@pytest.mark.parametrize("shelf", ["", "quarantine/", "research/", "trail/", "quarantine/server/trail/"])
def test_an_owner_is_the_same_ones_on_every_shelf(shelf: str) -> None:
    policies = Policies({"ac/me": PolicySettings(personal=False)})
    assert scope_of_owner(f"{shelf}up:ac%2Fme/ada/loom") == Scope("ac/me", "ada", "loom")
    for owner in ("up:ac%2Fme/ada/loom", "u:ac%2Fme/ada", "p:ac%2Fme/loom", "o:ac%2Fme"):
        assert not policies.of_owner(shelf + owner).personal, owner
    for owner in ("up:/ada/loom", "u:/ada", "p:/ada/loom", "", "nobody's"):
        assert policies.of_owner(shelf + owner).personal, owner


def test_what_may_not_be_kept_is_said_in_words() -> None:
    policy = Policies({"acme": PolicySettings(personal=False, restricted=False)}).of(ADA)
    assert "memory.policies.acme.restricted" in policy.forbids(Sensitivity.RESTRICTED)
    assert "memory.policies.acme.personal" in policy.forbids(Sensitivity.NORMAL, Category.PEOPLE)
    assert policy.forbids(Sensitivity.CONFIDENTIAL, Category.TECHNICAL) == ""
    with pytest.raises(NotKept, match="nothing about people"):
        policy.check(Sensitivity.NORMAL, Category.PERSON)
    assert Policies({}).of(ADA).forbids(Sensitivity.RESTRICTED, Category.PERSON) == ""


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("https://api.anthropic.com", True),
        ("https://API.anthropic.com:443/", True),
        ("https://llm.acme.example/v1", True),
        ("https://llm.acme.example/v1/eu", True),
        ("https://llm.acme.example/v10", False),
        ("https://llm.acme.example", False),
        ("http://api.anthropic.com", False),
        ("https://api.anthropic.com.evil.example", False),
        ("https://api.openai.com/v1", False),
        ("bedrock/claude", True),
        ("openai/gpt", False),
    ],
)
def test_an_upstream_is_allowed_at_or_below_one_that_is_named(address: str, allowed: bool) -> None:
    named = ("https://api.anthropic.com", "https://llm.acme.example/v1", "bedrock/*")
    assert Policies({"acme": PolicySettings(upstreams=named)}).of(ADA).allows(address) is allowed
    assert not Policies({"acme": PolicySettings(upstreams=())}).of(ADA).allows(address)
    assert Policies({}).of(ADA).allows(address)


@pytest.mark.parametrize(
    "policy",
    [{"personel": False}, {"redact": ["card"]}, {"upstreams": ["api.openai.com"]}, {"users": {"ada": {"redact": []}}}],
)
def test_a_fault_in_a_policy_is_told(policy: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=r"memory\.policies\.acme\."):
        load(options={"memory.policies": {"acme": policy}})


def test_days_of_a_kind_hold_for_it_and_a_persons_own_before_all_of_the_organisations() -> None:
    ada = KeepingSettings(keep_memories_days=10, keep_kinds_days={"decision": 500})
    bob = KeepingSettings(keep_kinds_days={"task": 5})
    users = {"ada": ada, "bob": bob}
    acme = PolicySettings(keep_memories_days=300, keep_kinds_days={"task": 30, "passage": 90}, users=users)
    policies = Policies({"acme": acme})
    kinds = ("task", "passage", "decision", "fact")
    found = {name: [policies.of(Scope("acme", name)).days_of(kind) for kind in kinds] for name in ("ada", "bob", "kim")}
    assert found == {"ada": [10, 10, 500, 10], "bob": [5, 90, 300, 300], "kim": [30, 90, 300, 300]}
    assert policies.any_deleted
    with pytest.raises(SettingsError, match="is no kind of memories: passage, decision"):
        load(options={"memory.policies": {"acme": {"keep_kinds_days": {"memo": 1}}}})
