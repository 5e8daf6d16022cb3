"""What the parts of the journal ask of a database, whichever engine it is."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, TypeVar

from memory.stores.connection import Connection, Work

T = TypeVar("T")


class Engine(Protocol):
    """A thread that writes, some that read, and an async face."""

    @property
    def folder(self) -> Path:
        """Where what belongs to it lies on this machine."""

    @property
    def there(self) -> bool:
        """Whether what is written now will be found again."""

    async def write(self, work: Work[T]) -> T:
        """Run ``work`` in a transaction; its result, after the COMMIT. It may be run twice when a first attempt was
        rolled back: it must change nothing but the database.

        Raises:
            StoreFault: what was reported; nothing of ``work`` is then in the database.
        """

    def later(self, work: Work[object]) -> None:
        """Run ``work`` at the beginning of the next transaction. Nobody hears of it, and a crash may lose it."""

    async def caught_up(self) -> None:
        """Have all of that done now."""

    async def read(self, work: Work[T]) -> T:
        """Run ``work`` in a reader's thread.

        Raises:
            StoreFault: what was reported.
        """

    async def look(self, work: Work[T]) -> T:
        """Run ``work``, which takes a fraction of a millisecond, on the shortest way.

        Raises:
            StoreFault: what was reported.
        """

    def state(self, table: str) -> int:
        """A number that is another one whenever rows have come into a counted table since, or changed in it."""

    def empty(self, table: str, connection: Connection) -> bool:
        """Whether nothing at all stands in a counted table."""

    async def scrub(self) -> bool:
        """Have what was deleted leave the disk; whether it has."""

    async def give_back(self, pages: int) -> bool:
        """Give so many empty pages back to the file system; whether there may be more."""

    async def close(self) -> None:
        """Finish what is queued and let go. Closing twice does nothing."""
