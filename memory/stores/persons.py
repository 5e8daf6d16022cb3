"""One person in the whole journal: counted, given out, deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from memory.fact import Fact, Passage
from memory.person import PersonsShare
from memory.policy import scope_of_owner
from memory.scope import Layer, Scope
from memory.stores.base import ask_many
from memory.stores.connection import Connection, Row
from memory.stores.erasure import texts_of
from memory.stores.forgetting import unlink
from memory.stores.messages import unseal
from memory.stores.personal_rows import KEPT, PERSONAL, PersonalRows
from memory.stores.queries import QUERIES
from memory.stores.retention import Retention
from memory.stores.rows import fact_of, passage_of

_SECRET = frozenset({"hash"})
"""Columns that are given to nobody: by a key's hash it could be guessed."""


class PersonStore(Retention):
    """The part of the journal that knows all that is one person's."""

    async def share_of(self, person: Scope) -> PersonsShare:
        """What there is of a person (organisation and user), and what of it others share."""

        def work(connection: Connection) -> PersonsShare:
            return _share(connection, person)

        return await self._db.read(work)

    async def rows_of(self, person: Scope, table: str, after: int, limit: int) -> list[dict[str, Any]]:
        """A person's rows of a table behind so many, in a fixed order; none of a table that holds nothing to tell."""
        found = next((each for each in (*PERSONAL, *KEPT) if each.table == table and each.told), None)
        if found is None:
            return []
        query = f"SELECT * FROM {table} WHERE {found.where} ORDER BY {found.order} LIMIT :limit OFFSET :after"

        def work(connection: Connection) -> list[dict[str, Any]]:
            named = _parameters(connection, person) | {"limit": limit, "after": after}
            return [_row_as_json(table, row) for row in connection.execute(query, named)]

        return await self._db.read(work)

    async def refuse_until(self, person: Scope, until: datetime) -> None:
        """What a person has asked until then is not journaled from now on, on whichever server it ends."""
        await self._db.write(lambda connection: self._forgotten_persons.set(connection, person, until))

    async def erase_person(self, person: Scope) -> tuple[list[Fact], list[Passage], Mapping[str, int]]:
        """Delete all that is a person's and nobody else's, in one transaction: the facts and passages that went, and
        how many rows of each table."""
        gone: tuple[list[Fact], list[Passage], dict[str, int]] = ([], [], {})

        def work(connection: Connection) -> int:
            nonlocal gone
            gone = _erase(connection, person)
            return sum(gone[2].values())

        await self._alone(work)
        for cache in (self._opened, self._newly, self._recent):
            cache.clear()
        return gone

    async def scrub_person(self) -> bool:
        """Have what was deleted leave the disk; whether it has."""
        return await self._db.scrub()


def _owners_of_person(connection: Connection, person: Scope) -> list[str]:
    """All owners of what is one person's own, on whatever shelf: of them everywhere, and in each of their projects."""
    there = {row["owner"] for row in connection.execute(QUERIES["owners_everywhere"])}
    mine = {owner for owner in there if _is_whose(scope_of_owner(owner), person)}
    return sorted(mine | {person.owner(Layer.USER) or ""})


def _is_whose(place: Scope, person: Scope) -> bool:
    return place.user is not None and (place.org, place.user) == (person.org, person.user)


def _parameters(connection: Connection, person: Scope) -> dict[str, Any]:
    return {
        "person": person.owner(Layer.USER) or "",
        "owners": orjson.dumps(_owners_of_person(connection, person)).decode(),
        "user": person.user or "",
        "org": person.org or "",
    }


def _share(connection: Connection, person: Scope) -> PersonsShare:
    named = _parameters(connection, person)

    def counted(every: Sequence[PersonalRows]) -> dict[str, int]:
        queries = {each.table: f"SELECT count(*) AS rows FROM {each.table} WHERE {each.where}" for each in every}
        counts = {table: connection.execute(query, named).fetchone()[0] for table, query in queries.items()}
        return {table: count for table, count in counts.items() if count}

    owners = orjson.loads(named["owners"])
    alone, with_others = _shared_facts(connection, named, owners)
    keys = connection.execute(QUERIES["client_keys_all"]).fetchall()
    research = connection.execute(QUERIES["research_of_person"], (named["person"],)).fetchall()
    return PersonsShare(
        tuple(owners),
        counted(PERSONAL),
        counted(KEPT),
        tuple(alone),
        tuple(with_others),
        tuple(row["id"] for row in research),
        tuple(dict.fromkeys(row["name"] for row in keys if (row["user"], row["org"]) == (person.user, person.org))),
        tuple(each.table for each in (*PERSONAL, *KEPT) if each.told),
    )


def _shared_facts(
    connection: Connection, named: Mapping[str, Any], owners: Sequence[str]
) -> tuple[list[Fact], list[Fact]]:
    """The facts that belong to several, as far as this person bears them out: those that nobody else does, and those
    that others do as well."""
    every = [fact_of(row) for row in connection.execute(QUERIES["shared_of_person"], named)]
    # What another person took in from elsewhere is that person's own, whatever session it names.
    found = {fact.id: fact for fact in every if scope_of_owner(fact.owner).user is None}
    theirs = {id for fact in found.values() for id in fact.derived_from}
    known = {row["id"]: row["owner"] for row in ask_many(connection, "facts_get", sorted(theirs))}
    mine, alone = set(owners), dict[str, Fact]()
    while True:
        # What others have said is there under another owner; what is not there any more speaks for nobody.
        more = {
            id: fact
            for id, fact in found.items()
            if id not in alone
            and all(known.get(each, "") in ("", *mine) or each in alone for each in fact.derived_from)
        }
        if not more:
            return list(alone.values()), [fact for id, fact in found.items() if id not in alone]
        alone |= more


def _erase(connection: Connection, person: Scope) -> tuple[list[Fact], list[Passage], dict[str, int]]:
    named = _parameters(connection, person)
    facts = [fact_of(row) for row in connection.execute(QUERIES["facts_of_person"], (named["owners"],))]
    passages = [passage_of(row) for row in connection.execute(QUERIES["passages_of_person"], (named["owners"],))]
    ids = [*(fact.id for fact in facts), *(passage.id for passage in passages)]
    unlink(connection, ids)
    connection.executemany(QUERIES["outbox_add"], [(id, "gone") for id in ids])
    counts = {each.table: connection.execute(_delete(each), named).rowcount for each in PERSONAL}
    _unname(connection, person)
    return facts, passages, {table: count for table, count in counts.items() if count}


def _unname(connection: Connection, person: Scope) -> None:
    """What others have does not say that this person made it, submitted it or decided about it."""
    connection.execute(QUERIES["members_unnamed"], {"org": person.org, "user": person.user})
    connection.execute(QUERIES["client_keys_unnamed"], {"org": person.org, "user": person.user})
    for row in connection.execute(QUERIES["candidates_naming"], {"user": person.user}).fetchall():
        if scope_of_owner(row["owner"]).org == person.org:
            left = {name: "" if row[name] == person.user else row[name] for name in ("submitted_by", "decided_by")}
            connection.execute(QUERIES["candidate_named"], {"id": row["id"], **left})


def _delete(rows: PersonalRows) -> str:
    return f"DELETE FROM {rows.table} WHERE {rows.where}"


def _row_as_json(table: str, row: Row) -> dict[str, Any]:
    """A row as it is given out: bytes as hexadecimal digits, a message as it was said."""
    record = {
        name: value.hex() if isinstance(value, bytes) else value
        for name, value in zip(row.keys(), row, strict=True)
        if name not in _SECRET
    }
    if table == "messages":
        record["body"] = _said(row)
    return {"sort": table, **record}


def _said(row: Row) -> str | None:
    try:
        return "\n".join(texts_of(unseal(row["digest"], row["role"], row["body"], whole=True).parts))
    except ValueError:
        return None
