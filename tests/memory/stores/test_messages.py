"""How a message is sealed: looked through once, and no longer than anybody waits for."""

from __future__ import annotations

from memory.conversation import Message, Role, Text, digest
from memory.stores import messages
from memory.stores.messages import LONGEST, seal, shortened, unseal


def said(text: str) -> Message:
    parts = (Text(text),)
    return Message(Role.USER, parts, digest(Role.USER, parts), text)


def test_what_a_person_said_is_looked_through_once_where_it_is_the_whole_of_a_part() -> None:
    seen: list[str] = []

    def redact(text: str) -> str:
        seen.append(text)
        return text

    seal(said("hello"), redact)
    assert seen == ["hello"]


def test_of_a_text_that_no_model_reads_its_beginning_and_its_end_are_kept() -> None:
    text = "a" * LONGEST + "b" * LONGEST
    told = said(text)
    sealed = seal(told, lambda text: text)
    assert sealed.redacted, "it cannot be given back word for word"
    assert sealed.digest == told.digest
    [kept] = unseal(sealed.digest, sealed.role, sealed.body).parts
    assert isinstance(kept, Text)
    assert kept.text.startswith("a" * (LONGEST - messages.END)) and kept.text.endswith("b" * messages.END)
    assert f"[{LONGEST} characters are not kept]" in kept.text
    assert len(kept.text) < LONGEST + 100


def test_any_other_text_is_kept_as_it_is() -> None:
    text = "a" * LONGEST
    assert shortened(text) is text
