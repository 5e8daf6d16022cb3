"""Memories that are near by the names that they share."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.context.graph import MOST, Spread, names_in, names_in_question, near, push
from memory.ports import Graph
from tests.memory.context.making import fact, passage


def graph_of(**names: str) -> Graph:
    """A graph of memories by id, each with its names."""
    standing = {id: tuple(said.split()) for id, said in names.items()}
    degrees: dict[str, int] = {}
    for found in standing.values():
        for name in found:
            degrees[name] = degrees.get(name, 0) + 1
    return Graph(standing, degrees)


BRIDGE = graph_of(owns="heron petra", moved="petra graz", other="otto basel")


def test_a_memory_is_filed_under_its_names_and_its_speaker() -> None:
    assert names_in(passage("Ida: I met Otto in Basel.", speaker="Ida")) == ("otto", "basel", "ida")
    assert names_in(fact("the mascot is an otter", entities=("Otter",))) == ("otter",)
    assert names_in(passage("nothing here")) == ()
    assert names_in_question("Where does the owner of Heron live?") == ("heron",)


def test_one_goes_from_name_to_name() -> None:
    found = near(BRIDGE, ["heron"], [])
    assert list(found) == ["owns", "moved"]
    assert found["owns"] == 1.0 and 0.0 < found["moved"] < 1.0


def test_what_was_found_already_seeds_lightly() -> None:
    assert near(BRIDGE, ["heron"], ["other"])["other"] < near(BRIDGE, ["heron"], [])["owns"]
    assert near(BRIDGE, [], ["other"]) == {}


def test_a_name_that_stands_everywhere_says_nothing() -> None:
    everywhere = graph_of(**{f"m{n}": "petra" for n in range(70)})
    assert near(everywhere, ["petra"], []) == {}
    assert near(BRIDGE, ["unknown"], []) == {}


def test_no_more_than_a_few_are_brought() -> None:
    many = graph_of(**{f"m{n:02}": "petra" for n in range(50)})
    found = near(many, ["petra"], [])
    assert len(found) == MOST
    assert list(found) == sorted(found)


names = st.lists(st.sampled_from("abcdefg"), max_size=4, unique=True).map(" ".join)


@given(
    st.dictionaries(st.sampled_from([f"m{n}" for n in range(12)]), names),
    st.sampled_from("abcdefg"),
    st.integers(1, 50),
)
def test_mass_is_neither_made_nor_negative_and_the_same_every_time(
    standing: dict[str, str], seed: str, pushes: int
) -> None:
    graph = graph_of(**standing)
    settled = push(graph, {seed: 1.0}, Spread(pushes=pushes))
    assert all(share >= 0 for share in settled.values())
    assert sum(settled.values()) <= 1.0 + 1e-9
    assert settled == push(graph, {seed: 1.0}, Spread(pushes=pushes))


def test_mass_that_is_left_comes_to_rest_nearby() -> None:
    settled = push(BRIDGE, {"heron": 1.0})
    assert settled["owns"] > settled["moved"]
    assert "other" not in settled
