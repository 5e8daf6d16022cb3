"""How a message is sealed: looked through once, and no longer than anybody waits for."""

from __future__ import annotations

import base64
import random

import pytest

from memory.conversation import Message, Reasoning, Role, Text, ToolCall, ToolResult, digest
from memory.learning.redact import redact as of_secrets
from memory.stores import messages
from memory.stores.messages import MAX_TEXT_CHARS, Redactor, seal, shortened, unseal


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


def test_of_a_text_that_no_model_reads_its_beginning_and_its_end_are_read_and_all_of_it_is_kept() -> None:
    text = "a" * MAX_TEXT_CHARS + f" token {KEY} " + "b" * (2 * messages.END)
    sealed = seal(told := said(text), redactor())
    assert sealed.digest == told.digest and len(sealed.body) < 100_000
    message = unseal(sealed.digest, sealed.role, sealed.body)
    [kept] = message.parts
    assert isinstance(kept, Text)
    assert kept.text.startswith("a" * (MAX_TEXT_CHARS - messages.END)) and kept.text.endswith("b" * messages.END)
    assert "characters are left out here]" in kept.text and len(message.spoken) == len(kept.text) < MAX_TEXT_CHARS + 100
    whole = unseal(sealed.digest, sealed.role, sealed.body, whole=True)
    assert whole.parts == (Text(text.replace(KEY, "[secret: github token]")),) and whole.spoken == whole.parts[0].text


def test_a_long_text_without_a_secret_can_be_given_back_word_for_word() -> None:
    parts = (ToolResult("call_1", (Text("log line\n" * (MAX_TEXT_CHARS // 8)),), False), Text("short"))
    sealed = seal(Message(Role.TOOL, parts, digest(Role.TOOL, parts), ""), redactor())
    assert not sealed.redacted
    assert unseal(sealed.digest, sealed.role, sealed.body, whole=True).parts == parts


def test_a_body_of_before_is_whole_as_it_is_and_a_damaged_one_is_told() -> None:
    sealed = seal(said("hello"), redactor())
    assert unseal(sealed.digest, sealed.role, sealed.body, whole=True) == unseal(*(sealed.digest, "user", sealed.body))
    with pytest.raises(ValueError, match="not a sealed message"):
        unseal(sealed.digest, sealed.role, sealed.body[:-5])


def test_any_other_text_is_kept_as_it_is() -> None:
    text = "a" * MAX_TEXT_CHARS
    assert shortened(text) is text


KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def redactor() -> Redactor:
    made = Redactor(lambda text: of_secrets(text).text)
    made.key = b"of the journal"
    return made


def test_a_secret_that_stands_as_a_name_is_not_kept_and_joins_as_before() -> None:
    parts = (
        Reasoning("so", f"signed {KEY}"),
        ToolCall(KEY, f"run_{KEY}", "{}"),
        ToolResult(KEY, (Text("done"),), False),
    )
    sealed = seal(Message(Role.ASSISTANT, parts, digest(Role.ASSISTANT, parts), ""), redactor())
    told = unseal(sealed.digest, sealed.role, sealed.body)
    assert sealed.redacted and KEY not in repr(told)
    _, call, result = told.parts
    assert isinstance(call, ToolCall) and isinstance(result, ToolResult)
    assert call.id == result.call_id != call.name and call.name.startswith("secret-")


def test_ordinary_names_and_signatures_are_kept_as_they_are() -> None:
    signature = base64.b64encode(random.Random(5).randbytes(600)).decode()
    parts = (
        Reasoning("so", signature),
        Reasoning("so", base64.urlsafe_b64encode(random.Random(6).randbytes(600)).decode()),
        ToolCall("call_Q2x8Zk1mP0sT7uVwYa3bCdEf", "mcp__boat__read_file", "{}"),
        ToolResult("toolu_01A09q90qw90lq917835lq9", (Text("done"),), False),
    )
    sealed = seal(Message(Role.ASSISTANT, parts, digest(Role.ASSISTANT, parts), ""), redactor())
    assert not sealed.redacted and unseal(sealed.digest, sealed.role, sealed.body).parts == parts
