"""Rows ↔ nouns: how sessions, facts, passages, ledger entries and receipts stand in their tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

import orjson

from memory.conversation import Form, Usage
from memory.edits import Act, Entry
from memory.edits import ContentTier as ContentTier
from memory.fact import (
    Category,
    Fact,
    FactKind,
    Gaps,
    MemoryTier,
    Origin,
    Passage,
    Sensitivity,
    Stability,
    State,
    Stream,
)
from memory.scope import Layer, Scope
from memory.session import HiddenRound, Receipt, RequestKind, Session, Shed, ShownMemory, WindowSources
from memory.stores.connection import Connection, Row
from memory.stores.errors import StoreFault

Redact = Callable[[str], str]


def when(text: str | None) -> datetime | None:
    """A time out of its column."""
    return None if text is None else datetime.fromisoformat(text)


def stamp(time: datetime | None) -> str | None:
    """A time for its column. Naive times are refused: nobody could say later when that was."""
    if time is None:
        return None
    if time.tzinfo is None:
        raise ValueError(f"a time without its zone cannot be stored: {time.isoformat()}")
    return time.isoformat()


def names(items: tuple[str, ...]) -> str:
    """A tuple of strings for its column."""
    return orjson.dumps(items).decode()


def listed(text: str) -> tuple[str, ...]:
    """The inverse of :func:`names`."""
    return () if text == "[]" else tuple(orjson.loads(text))


def session_row(session: Session) -> dict[str, Any]:
    """A session for its table; the person by name."""
    return {
        "id": session.id,
        "key": session.key,
        "person": session.scope.owner(Layer.USER) or "",
        "org": session.scope.org,
        "user": session.scope.user,
        "project": session.scope.project,
        "runtime": session.runtime,
        "kind": session.kind.value,
        "parent": session.parent,
        "segment": session.segment,
        "forked_from": session.forked_from,
        "started_at": stamp(session.started_at),
        "seen_at": stamp(session.seen_at),
        "seen": session.seen_at.timestamp(),
        "credential": session.credential,
        "held_out": session.held_out,
    }


def session_of(row: Row) -> Session:
    """A session out of its table."""
    return Session(
        id=row["id"],
        key=row["key"],
        scope=Scope(row["org"], row["user"], row["project"]),
        runtime=row["runtime"],
        started_at=datetime.fromisoformat(row["started_at"]),
        seen_at=datetime.fromisoformat(row["seen_at"]),
        kind=RequestKind(row["kind"]),
        parent=row["parent"],
        segment=row["segment"],
        forked_from=row["forked_from"],
        credential=row["credential"],
        held_out=None if row["held_out"] is None else bool(row["held_out"]),
    )


def fact_row(fact: Fact, redact: Redact) -> dict[str, Any]:
    """A fact for its table, free of secrets."""
    return {
        "id": fact.id,
        "text": redact(fact.text),
        "owner": fact.owner,
        "kind": fact.kind.value,
        "category": fact.category.value,
        "stream": fact.stream.value,
        "layer": fact.layer.value,
        "origin": fact.origin.value,
        "session": fact.session,
        "source": fact.source,
        "recorded_at": stamp(fact.recorded_at),
        "recorded": fact.recorded_at.timestamp(),
        "valid_from": stamp(fact.valid_from),
        "confidence": fact.confidence,
        "importance": fact.importance,
        "surprise": fact.surprise,
        "tier": fact.tier.value,
        "sensitivity": fact.sensitivity.value,
        "stability": fact.stability.value,
        "state": fact.state.value,
        "access": fact.access,
        "sessions": fact.sessions,
        "used_at": stamp(fact.used_at),
        "valid_until": stamp(fact.valid_until),
        "superseded_at": stamp(fact.superseded_at),
        "supersedes": names(fact.supersedes),
        "contradicts": names(fact.contradicts),
        "derived_from": names(fact.derived_from),
        "expires_at": stamp(fact.expires_at),
        "pinned": fact.pinned,
        "wrong": redact(fact.wrong),
        "entities": names(tuple(map(redact, fact.entities))),
        "device": fact.device,
        "preview": fact.preview,
        "core": redact(fact.core),
    }


# Looking a member up is a tenth of calling its class, and a search reads hundreds of them.
_KINDS = {each.value: each for each in FactKind}
_CATEGORIES = {each.value: each for each in Category}
_STREAMS = {each.value: each for each in Stream}
_LAYERS = {each.value: each for each in Layer}
_ORIGINS = {each.value: each for each in Origin}
_TIERS = {each.value: each for each in MemoryTier}
_SENSITIVITIES = {each.value: each for each in Sensitivity}
_STABILITIES = {each.value: each for each in Stability}
_STATES = {each.value: each for each in State}


_FACT = (
    "number", "id", "text", "owner", "kind", "category", "stream", "layer", "origin", "session", "source",
    "recorded_at", "recorded", "valid_from", "confidence", "importance", "surprise", "tier", "sensitivity",
    "stability", "state", "access", "sessions", "used_at", "valid_until", "superseded_at", "supersedes", "contradicts",
    "derived_from", "expires_at", "pinned", "wrong", "entities", "device", "preview",
    "core",
)  # fmt: skip


def check_columns(connection: Connection) -> None:
    """See that the columns of facts stand in the order in which :func:`fact_of` takes them.

    Raises:
        StoreFault: when they do not: each of them would be taken for another one.
    """
    columns = [column[0] for column in connection.execute("SELECT * FROM facts LIMIT 0").description or ()]
    if tuple(columns[: len(_FACT)]) != _FACT:
        raise StoreFault(f"the columns of facts stand in another order than this version knows: {', '.join(columns)}")


def fact_of(row: Row) -> Fact:
    """A fact out of its table, whose columns come first in the row. They are taken in their order, which is checked
    when the journal is opened, because to look each of them up by its name takes several times as long."""
    (
        _, id, text, owner, kind, category, stream, layer, origin, session, source, recorded_at, _, valid_from,
        confidence, importance, surprise, tier, sensitivity, stability, state, access, sessions, used_at, valid_until,
        superseded_at, supersedes, contradicts, derived_from, expires_at, pinned, wrong, entities, device, preview,
        core, *_,
    ) = row  # fmt: skip
    return Fact(
        id, text, owner, _KINDS[kind], _CATEGORIES[category], _STREAMS[stream], _LAYERS[layer], _ORIGINS[origin],
        session, source, datetime.fromisoformat(recorded_at), datetime.fromisoformat(valid_from),
        confidence, importance, surprise, _TIERS[tier], _SENSITIVITIES[sensitivity], _STABILITIES[stability],
        _STATES[state], access, sessions, when(used_at), when(valid_until), when(superseded_at),
        listed(supersedes), listed(contradicts), listed(derived_from), when(expires_at),
        bool(pinned), wrong, listed(entities), device, preview, core,
    )  # fmt: skip


def passage_row(passage: Passage, redact: Redact) -> dict[str, Any]:
    """A passage for its table, free of secrets."""
    return {
        "id": passage.id,
        "text": redact(passage.text),
        "owner": passage.owner,
        "origin": passage.origin.value,
        "speaker": passage.speaker,
        "session": passage.session,
        "source": passage.source,
        "at": stamp(passage.at),
        "turn": passage.turn,
        "piece": passage.piece,
        "question": passage.question,
        "sensitivity": passage.sensitivity.value,
        "preview": passage.preview,
        "gaps": gaps_row(passage.gaps),
    }


def gaps_row(gaps: Gaps) -> str:
    """What is left out of a passage, for its column."""
    return orjson.dumps(gaps).decode() if gaps else ""


def gaps_of(text: str) -> Gaps:
    """What is left out of a passage, out of its column."""
    return tuple((start, end) for start, end in orjson.loads(text)) if text else ()


def passage_of(row: Row) -> Passage:
    """A passage out of its table."""
    return Passage(
        id=row["id"],
        text=row["text"],
        owner=row["owner"],
        origin=_ORIGINS[row["origin"]],
        speaker=row["speaker"],
        session=row["session"],
        source=row["source"],
        at=datetime.fromisoformat(row["at"]),
        turn=row["turn"],
        piece=row["piece"],
        question=bool(row["question"]),
        sensitivity=_SENSITIVITIES[row["sensitivity"]],
        preview=row["preview"],
        gaps=gaps_of(gaps) if (gaps := row["gaps"]) else (),
    )


def entry_row(entry: Entry, session: int) -> dict[str, Any]:
    """A ledger entry for its table, as it may be stored, in the order of its columns. Its mark makes
    writing it twice the same as writing it once."""
    entry = entry.at_rest()
    row: list[Any] = [entry.digest.hex(), entry.occurrence, entry.text, entry.form.value, entry.reason]
    if entry.act is not Act.APPEND:
        # Only then, so that an addition has the same mark as before there was anything else.
        row += [entry.act.value, entry.part, entry.tier.value]
    return {
        "session": session,
        "mark": hashlib.blake2b(orjson.dumps(row), digest_size=16).digest(),
        "digest": entry.digest,
        "occurrence": entry.occurrence,
        "text": entry.text,
        "form": entry.form.value,
        "reason": entry.reason,
        "memories": names(entry.memories),
        "act": entry.act.value,
        "part": entry.part,
        "tier": entry.tier.value,
    }


def entry_of(row: Row) -> Entry:
    """A ledger entry out of its table."""
    return Entry(
        digest=row["digest"],
        occurrence=row["occurrence"],
        text=row["text"],
        form=Form(row["form"]),
        reason=row["reason"],
        memories=listed(row["memories"]),
        act=Act(row["act"]),
        part=row["part"],
        tier=ContentTier(row["tier"]),
    )


def receipt_text(receipt: Receipt, redact: Redact, stored: Mapping[str, Fact | Passage] | None = None) -> str:
    """A receipt as JSON. What is ``stored`` was looked through for secrets when it was written, and is not looked
    through again with every request that it is shown in."""
    clean = stored or {}
    fields = {field: getattr(receipt, field) for field in _RECEIPT} | {"note": redact(receipt.note)}
    fields["steps"] = dict(receipt.steps)
    fields["shed"] = (
        None if receipt.shed is None else {**asdict(receipt.shed), "parts": [*map(redact, receipt.shed.parts)]}
    )
    fields["shown"] = [
        {
            "memory": each.memory,
            "text": each.text if each.memory in clean and clean[each.memory].text == each.text else redact(each.text),
            "score": each.score,
            "why": dict(each.why),
            "tokens": each.tokens,
        }
        for each in receipt.shown
    ]
    return orjson.dumps(fields, option=orjson.OPT_SERIALIZE_NUMPY).decode()


_RECEIPT = tuple(field.name for field in fields(Receipt))


def receipt_of(text: str) -> Receipt:
    """The inverse of :func:`receipt_text`."""
    data = orjson.loads(text)
    data["at"] = datetime.fromisoformat(data["at"])
    data["kind"] = RequestKind(data["kind"])
    data["shown"] = tuple(ShownMemory(**shown) for shown in data["shown"])
    data["paged"] = tuple(data.get("paged", ()))
    data["hidden"] = tuple(
        HiddenRound(tuple(each["tools"]), Usage(**each["usage"]) if each["usage"] else None)
        for each in data.get("hidden", ())
    )
    if data.get("shed"):
        data["shed"] = Shed(**{**data["shed"], "parts": tuple(data["shed"]["parts"])})
    if data.get("sources"):
        data["sources"] = WindowSources(**data["sources"])
    return Receipt(**data)
