"""What the parts of the journal ask of a database, whichever engine it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from memory.stores.connection import Connection, Work

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RowSecurity:
    """How far an engine itself keeps owners apart, whatever a query leaves out: whether it does, of which tables, and
    of which others that hold something of somebody's it does not."""

    in_force: bool
    covered: tuple[str, ...]
    not_covered: tuple[str, ...]


class Engine(Protocol):
    """A thread that writes, some that read, and an async face."""

    @property
    def folder(self) -> Path:
        """Where what belongs to it lies on this machine."""

    @property
    def there(self) -> bool:
        """Whether what is written now will be found again."""

    @property
    def trouble(self) -> str:
        """Why what is asked or written now would fail, as far as is known without asking; empty where it would not."""

    def try_again(self) -> None:
        """Have it found out whether there is still :attr:`trouble`; nobody waits for that."""

    @property
    def round_trip(self) -> float:
        """Seconds that the newest answer took; 0 where nothing is waited for, as with a file."""

    @property
    def replica(self) -> str:
        """How this process is called among those that share the database; empty where it is alone."""

    @property
    def shared(self) -> bool:
        """Whether other processes write at the same time, so that what this one remembers may be out of date."""

    @property
    def works(self) -> bool:
        """Whether this process does what one alone must do."""

    async def work_is_done(self) -> bool:
        """Whether this process, or another one that was heard of lately, does what one alone must do.

        Raises:
            StoreFault: what was reported.
        """

    @property
    def row_security(self) -> RowSecurity | None:
        """How far the engine itself keeps owners apart; None where it is a file that has one user."""

    async def leave_work(self) -> None:
        """Leave what one alone must do to another process, where there may be one, and do not take it again."""

    async def write(self, work: Work[T], *, anywhere: bool = False) -> T:
        """Run ``work`` in a transaction; its result, after the COMMIT. It may be run twice when a first attempt was
        rolled back: it must change nothing but the database. ``anywhere`` is what every process may write; all else
        is refused where another one works.

        Raises:
            StoreFault: what was reported; nothing of ``work`` is then in the database.
        """

    def heed(self, connection: Connection) -> Callable[[], None]:
        """Ask what other processes have changed, before something is read that must not be out of date; it is heard
        when what is given is called, at the latest before that is used."""

    def own_indexes(self, connection: Connection) -> frozenset[int] | None:
        """The generations of the index that are this process's own; None where all processes have the same."""

    def claim_index(self, connection: Connection, generation: int) -> None:
        """A generation of the index is this process's own, where each has one."""

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
