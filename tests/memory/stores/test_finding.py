"""Memories found by what a person remembers of them: the beginning of an id, a word, or that they are somebody's."""

from memory.ports import Lesson
from memory.research import QUESTIONS, TRAILS
from memory.stores.journal import SqlJournal
from tests.memory.stores.derived_facts import ANN, BOB, fact, owner, passage


async def keep(journal: SqlJournal) -> None:
    facts = (fact("Sails are red", id="aa11"), fact("Sails are blue", id="aa22", scope=BOB), fact("50% off", id="b1"))
    passages = (passage("The sails were mended", id="aa33"), passage("the MAST broke", id="c1", scope=BOB))
    owners = {owner(ANN): 3, owner(BOB): 2}
    await journal.learn(Lesson(0, facts, passages, documents=owners))


async def test_the_beginning_of_an_id_names_facts_and_passages_of_the_asker_only(journal: SqlJournal) -> None:
    await keep(journal)
    assert sorted(await journal.begins("aa", [owner(ANN)])) == ["aa11", "aa33"]
    assert await journal.begins("aa2", [owner(ANN)]) == []
    assert await journal.begins("aa", [owner(ANN)], limit=1) == ["aa11"]
    assert await journal.begins("AA", [owner(ANN)]) == []


async def test_passages_are_found_by_a_text_in_them(journal: SqlJournal) -> None:
    await keep(journal)
    assert [each.id for each in await journal.find_passages([owner(ANN), owner(BOB)], "mast")] == ["c1"]
    assert await journal.find_passages([owner(ANN)], "mast") == []
    assert await journal.find_passages([owner(ANN)], "%") == []


async def test_every_owner_is_known(journal: SqlJournal) -> None:
    assert await journal.owners() == []
    await keep(journal)
    assert await journal.owners() == [owner(ANN), owner(BOB)]


async def test_the_projects_of_an_organisation_that_have_research_are_known(journal: SqlJournal) -> None:
    owners = ("p:acme/loom", "p:acme/sail", "p:acme2/loom", "p:/acme/rope", "u:acme/ann")
    shelves = [*(QUESTIONS + each for each in owners), f"{TRAILS}p:acme/mast", "p:acme/keel"]
    await journal.learn(Lesson(0, documents=dict.fromkeys(shelves, 4)))
    assert await journal.projects_with_research("acme") == ["p:acme/loom", "p:acme/sail"]
    await journal.learn(Lesson(0, documents={f"{QUESTIONS}p:acme/sail": -4}))
    assert await journal.projects_with_research("acme") == ["p:acme/loom"]
    assert await journal.projects_with_research("acm") == await journal.projects_with_research("a/b") == []
