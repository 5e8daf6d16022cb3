"""Why a session's newest request stands as it does: what was added since its person last spoke, and what was not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from memory.context.explain import SHOWN, ExplainedCandidate
from memory.context.rank import Memory
from memory.conversation import Conversation
from memory.edits import Act, Entry, Ledger, texts_by_memory
from memory.ports import Journal
from memory.scope import OWN_PROJECT, Layer, Scope
from memory.services.person.commands import Commands, NotFound
from memory.session import Receipt, RequestKind, Session

SESSIONS = 500
"""Sessions that are looked through for the project's."""

OTHERS = 3
"""Other projects that are named where the one that is meant has none."""

_SHEDDING: Final = ("shed", "rotate", "paged")
"""What an entry is about that takes text away or brings it back: the receipt tells of that."""


@dataclass(frozen=True, slots=True)
class WhyReport:
    """``asked`` is what the person said last, ``added`` what memory put behind it and behind what came since; ``page``
    are the memories that the session's page began with, ``earlier`` how many others came before. ``nothing`` says why
    recall gave nothing, where it gave nothing. ``left`` is what recall would look at now for the same words and leave
    out, ``gone`` how many of what was added are forgotten since. ``runtimes`` are those of the sessions seen last."""

    session: Session
    receipt: Receipt
    asked: str
    added: tuple[Memory, ...] = ()
    research: int = 0
    page: tuple[Memory, ...] = ()
    earlier: int = 0
    nothing: str = ""
    left: tuple[ExplainedCandidate, ...] = ()
    gone: int = 0
    runtimes: Mapping[str, str] = field(default_factory=dict)


async def why(journal: Journal, commands: Commands, scope: Scope, tokens: int) -> WhyReport:
    """About the newest request of a person in the scope's project, or of theirs in any where it names none.

    Raises:
        NotFound: when no request of that project came through.
    """
    latest = await journal.latest(SESSIONS, "", scope)
    mine = [each for each in latest if scope.project in (None, each[0].scope.project) and _talks(each[0])]
    person = scope.owner(Layer.USER)
    turns = await journal.turns(person, mine[0][0].id, 1) if mine and person else []
    if not turns:
        where = f"in the project {scope.project!r} " if scope.project else ""
        named = [each[0].scope.project for each in latest if _talks(each[0]) and each[0].scope.project]
        others = [each for each in dict.fromkeys(named) if not each.startswith(OWN_PROJECT)][:OTHERS]
        elsewhere = f"; the last ones were in {', '.join(others)} (--project names one)" if others else ""
        raise NotFound(f"no request {where}has come through yet{elsewhere}")
    session, receipt = mine[0]
    messages = tuple(stored.message for stored in turns[0].messages)
    conversation = Conversation(turns[0].dialect, turns[0].model, messages)
    entries = Ledger(await journal.ledger(session.id)).active(conversation.keys(), conversation.head).entries
    spoken = max((at for at, message in enumerate(messages) if message.spoken), default=0)
    given = [each for each in entries if each[1].act is Act.APPEND and each[1].about not in _SHEDDING]
    page = _memories(entry for _, entry in given if entry.about == "page")
    recent = _memories(entry for at, entry in given if at >= spoken and entry.about == "recall")
    before = _memories(entry for at, entry in given if at < spoken and entry.about == "recall")
    question = messages[spoken].spoken if messages else ""
    owners = session.scope.owners()
    # What was recalled may be another project's that is shared with this one.
    added = await _in_order(journal, recent, await commands.everything_of(session.scope))
    known = texts_by_memory(entry for _, entry in given if entry.about in ("page", "recall"))
    looked = (await commands.explain(question, owners, tokens, session.id, known)).looked if question else ()
    return WhyReport(
        session,
        receipt,
        question,
        added,
        research=sum(bool(entry.text) for at, entry in given if at >= spoken and entry.about == "research"),
        page=await _in_order(journal, page, owners),
        earlier=len(before),
        nothing="" if recent else _why_nothing([entry for at, entry in given if at >= spoken], receipt),
        # What was said in the session itself is no memory for it, and the message is among that.
        left=tuple(
            each
            for each in looked
            if each.fate != SHOWN and each.memory.id not in recent and each.memory.session != session.id
        ),
        gone=len(recent) - len(added),
        runtimes={each.id: each.runtime for each, _ in latest},
    )


def _talks(session: Session) -> bool:
    return session.kind is RequestKind.MAIN


async def _in_order(journal: Journal, ids: Sequence[str], owners: Sequence[str]) -> tuple[Memory, ...]:
    there = {each.id: each for each in await journal.memories(ids, owners)} if ids else {}
    return tuple(there[id] for id in ids if id in there)


def _memories(entries: Iterable[Entry]) -> list[str]:
    return list(dict.fromkeys(memory for entry in entries for memory in entry.memories))


def _why_nothing(entries: Sequence[Entry], receipt: Receipt) -> str:
    reasons = [entry.reason.partition(" ")[2] for entry in entries if entry.about == "recall"]
    return next((each for each in reversed(reasons) if each), receipt.note or receipt.status)
