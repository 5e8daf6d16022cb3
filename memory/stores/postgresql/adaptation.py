"""How values are sent and read.

Everything but bytes is sent as untyped text, so that a place has the type of what it stands beside: the statements are
SQLite's, which has no types, and so each is planned at run time just as the tests prepare it.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.types.string import StrDumperUnknown


class _Text(StrDumperUnknown):
    def dump(self, obj: str) -> Buffer | None:
        # PostgreSQL's texts hold no NUL.
        return super().dump(obj.replace("\0", "\ufffd") if "\0" in obj else obj)


class _Number(Dumper):
    oid = 0

    def dump(self, obj: Any) -> Buffer | None:
        return repr(obj).encode()

    def quote(self, obj: Any) -> Buffer:
        # In statements that psycopg makes itself a number is a number.
        return repr(obj).encode()


class _Flag(Dumper):
    oid = 0

    def dump(self, obj: Any) -> Buffer | None:
        # Taken by a column of yes or no and by a number's.
        return b"1" if obj else b"0"


class _Numeric(Loader):
    """A sum of whole numbers."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text or "N" in text else int(text)


def adapt(connection: psycopg.Connection[Any]) -> None:
    """Have a connection send and read values so."""
    adapters = connection.adapters
    adapters.register_dumper(str, _Text)
    adapters.register_dumper(int, _Number)
    adapters.register_dumper(float, _Number)
    adapters.register_dumper(bool, _Flag)
    adapters.register_loader("numeric", _Numeric)
