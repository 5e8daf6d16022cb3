"""The relevance model with the weights of the package: what it says of a memory and a request."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.agent_recall import FEW
from memory.language.static_embedding import DATA, StaticEmbedding
from memory.understanding.packaged_weights import RELEVANCE, relevance
from memory.understanding.relevance import RELATIONS, ReadableMemory, inputs, shared, side

RULE = ReadableMemory("Branches carry the ticket number, like HARP-212-fix-the-valve.", "rule", False)
PORT = ReadableMemory("The thermostat simulator answers on 7411.", "fact", False)
OWNER = ReadableMemory("Odalys owns the firmware releases, ask her before you tag one.", "person", False)
MEMORIES = [RULE, PORT, OWNER]


@pytest.mark.parametrize(
    ("asked", "best"),
    [
        ("which port does the simulator listen on?", PORT),
        ("who do I talk to about a firmware release?", OWNER),
        ("open a branch for HARP-230", RULE),
    ],
)
def test_what_a_request_needs_comes_first(asked: str, best: ReadableMemory) -> None:
    shares = relevance().shown(asked, MEMORIES)
    assert MEMORIES[int(np.argmax(shares))] == best


def test_what_has_nothing_to_do_with_any_memory_is_likely_for_none() -> None:
    assert max(relevance().shown("how tall is the tower of Pisa?", MEMORIES)) < 0.3


@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=4))
def test_any_texts_have_a_judgement_and_always_the_same(asked: str, texts: list[str]) -> None:
    known = [ReadableMemory(text, "fact", False) for text in texts]
    judged = relevance().judge(asked, known)
    assert judged.shape == (len(texts), len(RELATIONS))
    assert np.allclose(judged.sum(axis=1), 1.0, atol=1e-4)
    assert (judged == relevance().judge(asked, known)).all()


def test_who_else_is_asked_about_changes_nothing() -> None:
    alone = relevance().shown("open a branch for HARP-230", [RULE])
    assert relevance().shown("open a branch for HARP-230", MEMORIES)[0] == pytest.approx(alone[0], abs=1e-5)


def test_many_at_once_are_judged_as_each_pair_is_in_training() -> None:
    asked = "open a branch for HARP-230"
    with np.load(DATA / RELEVANCE) as stored:
        tables = {name: stored[name] * stored[f"{name}_scale"] for name in ("requests", "memories")}
        weights = {name: stored[name].astype(np.float32) for name in ("W1", "b1", "W2", "b2")}
    embed = StaticEmbedding.load().documents
    request = side(asked, "r", embed([asked])[0])
    for memory, judged in zip(MEMORIES, relevance().judge(asked, MEMORIES), strict=True):
        known = side(memory.text, "m", embed([memory.text])[0])
        bags = [
            tables[name][list(each.rows)].sum(axis=0) / np.sqrt(len(each.rows) + 1.0)
            for name, each in (("requests", request), ("memories", known))
        ]
        numbers = shared(request, known, memory.kind, memory.personal, asks=False)
        one = np.concatenate([*bags, inputs(request, known, numbers)])
        scores = np.maximum(one @ weights["W1"] + weights["b1"], 0.0) @ weights["W2"] + weights["b2"]
        shares = np.exp(scores - scores.max())
        assert judged == pytest.approx(shares / shares.sum(), abs=1e-3)


def test_the_end_of_a_long_request_counts_as_much_as_its_beginning() -> None:
    asked, story = "which port does the simulator listen on?", "We had a long day of it with the valves. " * 12
    [alone] = relevance().shown(story, [PORT])
    for text in (f"{story}{asked}", f"{asked} {story}"):
        assert relevance().shown(text, [PORT])[0] > max(5 * alone, FEW.answers)
