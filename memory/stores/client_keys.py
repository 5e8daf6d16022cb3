"""The keys that were issued to users of clients, in the journal's database: every server on it knows them."""

from __future__ import annotations

from datetime import datetime

import orjson

from memory.client_key import ClientKey, KeysAndMembers, KeyScope
from memory.member import Member
from memory.stores.base import JournalPart
from memory.stores.connection import Connection, Row
from memory.stores.members import members_of
from memory.stores.queries import QUERIES


class ClientKeyStore(JournalPart):
    """The part of the journal that knows who was issued a key."""

    async def client_keys(self) -> list[ClientKey]:
        """Every one that was issued, in force or not, with what its user is in their organisation."""
        return list((await self.keys_and_members()).keys)

    async def keys_and_members(self) -> KeysAndMembers:
        """The same, and every member of an organisation, with a key or without."""

        def work(connection: Connection) -> KeysAndMembers:
            members = members_of(connection.execute(QUERIES["members_all"]))
            known = {(each.org, each.user): each for each in members}
            rows = connection.execute(QUERIES["client_keys_all"])
            return KeysAndMembers(
                tuple(_key_of(row, known.get((row["org"], row["user"]))) for row in rows), tuple(members)
            )

        return await self._db.read(work)

    async def add_client_key(self, key: ClientKey) -> bool:
        """Issue one; False where one of its name has not been revoked, or its user is no member of an organisation that
        has members."""
        row = {
            "hash": key.hash,
            "name": key.name,
            "user": key.user,
            "org": key.org,
            "projects": orjson.dumps(key.projects).decode(),
            "scopes": orjson.dumps(key.scopes).decode(),
            "mode": "read-only" if key.read_only else "on",
            "made_at": key.made_at.isoformat(),
            "made_by": key.made_by,
            "expires_at": key.expires_at.isoformat() if key.expires_at else None,
        }

        def work(connection: Connection) -> bool:
            return connection.execute(QUERIES["client_key_add"], row).rowcount > 0

        return await self._db.write(work, anywhere=True)

    async def revoke_client_key(self, name: str, at: datetime) -> bool:
        """Take one back; False where none of that name is in force."""

        def work(connection: Connection) -> bool:
            return connection.execute(QUERIES["client_key_revoke"], (at.isoformat(), name)).rowcount > 0

        return await self._db.write(work, anywhere=True)


def _key_of(row: Row, member: Member | None) -> ClientKey:
    expires, revoked = (datetime.fromisoformat(row[at]) if row[at] else None for at in ("expires_at", "revoked_at"))
    return ClientKey(
        name=row["name"],
        hash=row["hash"],
        user=row["user"],
        made_at=datetime.fromisoformat(row["made_at"]),
        made_by=row["made_by"],
        org=row["org"],
        projects=tuple(orjson.loads(row["projects"])),
        read_only=row["mode"] != "on",
        expires_at=expires,
        revoked_at=revoked,
        scopes=tuple(KeyScope(scope) for scope in orjson.loads(row["scopes"])),
        member=member,
    )
