"""The ledger: what holds for a request of all that was ever decided."""

from __future__ import annotations

from memory.conversation import Conversation, Form, Message, Role, Text, digest
from memory.edits import Act, Append, ContentTier, Drop, Entry, Ledger, Replace, handle, named


def said(role: Role, text: str) -> Message:
    parts = (Text(text),)
    return Message(role, parts, digest(role, parts), spoken=text if role is Role.USER else "", takes=Form.SUFFIX)


def talk(*texts: str) -> Conversation:
    """A system prompt, then a person and an assistant in turn."""
    roles = [Role.SYSTEM, *(Role.USER, Role.ASSISTANT) * len(texts)]
    return Conversation("chat", "m", tuple(said(role, text) for role, text in zip(roles, texts, strict=False)))


TALK = talk("system", "one", "two", "three", "four", "five")


def entry(index: int, text: str, reason: str, act: Act = Act.APPEND, tier: ContentTier = ContentTier.L2) -> Entry:
    return Entry(*TALK.keys()[index], text, Form.SUFFIX, reason, act=act, tier=tier)


def edits(*entries: Entry, of: Conversation = TALK) -> tuple[object, ...]:
    return Ledger(entries).active(of.keys(), of.head).edits


def test_the_last_replacement_of_a_part_holds() -> None:
    first = entry(2, "overview", "shed fold", Act.REPLACE, ContentTier.L1)
    then = entry(2, "line", "shed fold", Act.REPLACE, ContentTier.L0)
    assert edits(first, then) == (Replace(2, 0, "line"),)


def test_a_cut_drops_what_is_between_the_head_and_its_message_and_speaks_at_the_head() -> None:
    page, recall = entry(1, "page", "page"), entry(5, "recall", "recall")
    gone, shed = entry(3, "gone", "recall"), entry(2, "stub", "shed", Act.REPLACE, ContentTier.L0)
    cut = entry(4, "note", "rotate", Act.CUT)
    assert edits(page, gone, shed, recall, cut) == (
        Append(1, "note", Form.SUFFIX),
        Drop(2, 2),
        Append(5, "recall", Form.SUFFIX),
    )


def test_of_several_cuts_the_furthest_holds_and_one_whose_message_is_gone_does_not() -> None:
    cuts = entry(3, "first note", "rotate", Act.CUT), entry(4, "second note", "rotate", Act.CUT)
    assert Append(1, "second note", Form.SUFFIX) in edits(*cuts)
    shorter = talk("system", "one", "two", "three")
    assert edits(*cuts, of=shorter) == (Append(1, "first note", Form.SUFFIX), Drop(2))
    assert edits(*cuts, of=talk("system", "one")) == ()


def test_a_cut_in_a_conversation_in_which_nobody_spoke_does_nothing() -> None:
    silent = Conversation("chat", "m", TALK.messages[2:3])
    assert edits(Entry(*silent.keys()[0], "note", Form.SUFFIX, "rotate", act=Act.CUT), of=silent) == ()


def test_what_was_paged_in_goes_with_the_message_that_carried_it() -> None:
    paged, recall = entry(3, "lines", "paged"), entry(3, "fact", "recall")
    assert edits(paged, recall) == (Append(3, "lines", Form.SUFFIX), Append(3, "fact", Form.SUFFIX))
    shed = entry(3, "stub", "shed", Act.REPLACE, ContentTier.L0)
    assert edits(paged, recall, shed) == (Replace(3, 0, "stub"), Append(3, "fact", Form.SUFFIX))


def test_a_handle_names_its_message_and_part() -> None:
    name = handle(bytes(range(16)), 3)
    assert name == "000102030405.3"
    assert named(name) == named(f" {name.upper()} ") == ("000102030405", 3)
    assert named("000102030405") == ("000102030405", 0)
    assert [named(text) for text in ("", "xyz", "0001", "000102030405.", "../etc")] == [None] * 5
