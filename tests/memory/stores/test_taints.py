"""In a turn of any length it is known what was read in it, and little of it is read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Message, Role, Text, ToolCall, ToolResult, digest
from memory.fact import Origin
from memory.learning.lesson import learn
from memory.learning.taint import taint_of
from memory.stores.exchanges import BEFORE, OPENING
from memory.stores.history_cache import join
from memory.stores.journal import SqlJournal
from memory.stores.sessions import RunningTaints
from tests.memory.stores.derived_facts import assistant, exchange, user


def called(tool: str, number: int) -> list[Message]:
    """A call of a tool, and its result."""
    call = (ToolCall(f"c{number}", tool, "{}"),)
    result = (ToolResult(f"c{number}", (Text(f"{tool} {number}"),)),)
    return [
        Message(Role.ASSISTANT, call, digest(Role.ASSISTANT, call)),
        Message(Role.TOOL, result, digest(Role.TOOL, result)),
    ]


def told(text: str) -> Message:
    """What a runtime says in a person's place."""
    parts = (Text(text),)
    return Message(Role.USER, parts, digest(Role.USER, parts))


class Stored:
    """Messages that are read, and how many were."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = {message.digest: message for message in messages}
        self.read = 0

    def __call__(self, keys: Sequence[bytes]) -> Mapping[bytes, Message]:
        self.read += len(keys)
        return {key: self._messages[key] for key in keys}


def behind(taints: RunningTaints, messages: Sequence[Message], stored: Stored) -> Origin | None:
    return taints.behind(join([message.digest for message in messages]), of="s", read=stored)


async def test_a_page_that_was_read_early_in_a_long_turn_taints_its_end(journal: SqlJournal) -> None:
    messages = [user("mend the build"), *called("webfetch", 0)]
    messages += [message for number in range(1, OPENING + BEFORE) for message in called("read_file", number)]
    await journal.commit(exchange("e1", messages, "read"))
    on = [*messages, *called("read_file", 9_999)]
    found = "The limit of the pump is fifty litres."
    await journal.commit(exchange("e2", on, found))
    await journal.commit(exchange("e3", [*on, assistant(found), user("thanks")], "You are welcome aboard."))
    await journal.commit(exchange("e4", [user("and you?")], "fine"))
    whole, cut, after, short = await journal.unlearned(10)
    assert (whole.between, whole.taint) == ((), None)
    assert len(cut.between) > BEFORE
    assert cut.taint is after.taint is Origin.WEB
    assert [(piece.text, piece.origin) for piece in learn(cut).pieces] == [(found, Origin.WEB)]
    assert learn(after).pieces[-1].origin is Origin.ASSISTANT
    assert short.taint is None


async def test_a_notice_just_behind_what_is_left_out_is_told_by_what_stands_before_it(journal: SqlJournal) -> None:
    messages = [user("mend the build"), *(assistant(f"step {number}") for number in range(OPENING + 2 * BEFORE))]
    messages[-1 - BEFORE] = told("The errand is done.")
    await journal.commit(exchange("e1", messages[:-1], "read"))
    await journal.commit(exchange("e2", messages, "The limit of the pump is fifty litres."))
    cut = (await journal.unlearned(2))[1]
    assert cut.messages[OPENING].text == "The errand is done."
    assert learn(cut).pieces[-1].origin is Origin.TOOL


def test_a_notice_is_told_by_what_an_earlier_exchange_ended_with() -> None:
    messages = [user("go"), assistant("I went."), told("The errand is done.")]
    taints, stored = RunningTaints(), Stored(messages)
    assert behind(taints, messages[:2], stored) is None
    assert behind(taints, messages, stored) is Origin.TOOL


KINDS = st.lists(st.sampled_from(("user", "said", "read_file", "webfetch", "Task", "told")), max_size=60)


@given(KINDS, KINDS, st.booleans())
def test_reckoned_on_it_is_what_it_is_when_all_is_read(before: list[str], after: list[str], rewritten: bool) -> None:
    messages: list[Message] = []
    for number, kind in enumerate((*before, *after)):
        if kind == "user":
            messages.append(user(f"word {number}"))
        elif kind == "said":
            messages.append(assistant(f"reply {number}"))
        elif kind == "told":
            messages.append(told(f"notice {number}"))
        else:
            messages += called(kind, number)
    taints, stored = RunningTaints(), Stored(messages)
    behind(taints, messages[: len(before)], stored)
    later = messages[1:] if rewritten else messages
    assert behind(taints, later, stored) is taint_of(later)


def test_of_a_long_turn_only_what_is_new_is_read_again() -> None:
    messages = [user("go"), *called("webfetch", 0)]
    messages += [message for number in range(1, 1000) for message in called("read_file", number)]
    taints, stored = RunningTaints(), Stored(messages)
    assert behind(taints, messages[:-2], stored) is Origin.WEB
    assert stored.read == len(messages) - 2
    assert behind(taints, messages, stored) is Origin.WEB
    assert stored.read <= len(messages) + 1


def test_only_so_many_sessions_are_kept_in_mind() -> None:
    messages = [user("go"), *called("webfetch", 0)]
    history, stored = join([message.digest for message in messages]), Stored(messages)
    taints = RunningTaints(most=1)
    for of in ("a", "b", "a"):
        assert taints.behind(history, of=of, read=stored) is Origin.WEB
    assert stored.read == 9
