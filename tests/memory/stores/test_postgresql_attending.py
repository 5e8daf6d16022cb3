"""A thread with a connection of its own survives whatever goes wrong with it, and does not hurry."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import psycopg
import pytest

from memory.stores.postgresql import attending
from memory.stores.postgresql.attending import AGAIN_SECONDS, Attendant
from memory.stores.postgresql.connection import PostgresConnection
from memory.stores.postgresql.pulse import Pulse


class Clock:
    """A clock that goes only when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        """Seconds."""
        return self.now


class Held:
    """A connection that does nothing."""

    def close(self) -> None:
        """Let go of it."""


class Unlucky(Attendant):
    """What fails each time in another way, after so many seconds, and then comes to its end."""

    def __init__(self, connect: Callable[[], PostgresConnection], clock: Clock, *fails: tuple[float, Exception]):
        super().__init__(connect, "unlucky")
        self.paused: list[float | None] = []
        self._clock = clock
        self._fails = list(fails)

    def _attend(self, connection: PostgresConnection) -> None:
        if self._fails:
            seconds, error = self._fails.pop(0)
            self._clock.now += seconds
            raise error

    def _waited(self, seconds: float | None, connection: PostgresConnection | None = None) -> bool:
        self.paused.append(seconds)
        self._clock.now += seconds or 0.0
        return False


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(attending, "time", SimpleNamespace(monotonic=found.monotonic))
    return found


def held() -> PostgresConnection:
    return cast(PostgresConnection, Held())


def run(attendant: Attendant) -> None:
    """Attend until it comes to its end by itself."""
    attendant.start()
    attendant._thread.join()
    attendant.close()


def test_no_error_in_connecting_ends_it(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    errors: list[Exception] = [psycopg.OperationalError("away"), OSError("away"), RuntimeError("not thought of")]

    def connect() -> PostgresConnection:
        if errors:
            raise errors.pop(0)
        return held()

    unlucky = Unlucky(connect, clock)
    run(unlucky)
    assert unlucky.paused == [0.0, *[AGAIN_SECONDS] * 3]
    assert "not thought of" in caplog.text


def test_a_connection_that_is_lost_at_once_is_not_made_again_at_once(clock: Clock) -> None:
    lost = psycopg.OperationalError("lost")
    unlucky = Unlucky(held, clock, (0.0, lost), (0.25 * AGAIN_SECONDS, lost), (2 * AGAIN_SECONDS, lost))
    run(unlucky)
    assert unlucky.paused == [0.0, AGAIN_SECONDS, 0.75 * AGAIN_SECONDS, 0.0]


def test_a_connection_that_cannot_be_let_go_of_ends_nothing(clock: Clock) -> None:
    class Stuck(Held):
        def close(self) -> None:
            raise psycopg.OperationalError("lost")

    made: list[Held] = [Stuck(), Held()]
    unlucky = Unlucky(lambda: cast(PostgresConnection, made.pop(0)), clock, (0.0, psycopg.OperationalError("lost")))
    run(unlucky)
    assert (made, unlucky.paused) == ([], [0.0, AGAIN_SECONDS])


@pytest.mark.parametrize("error", [psycopg.OperationalError("away"), RuntimeError("not thought of")])
def test_a_database_that_cannot_be_reached_does_not_count_as_hanging(error: Exception) -> None:
    def connect() -> PostgresConnection:
        raise error

    pulse = Pulse(connect, 10.0)
    with pytest.raises(type(error)):
        pulse._connected()
    assert (pulse.away, pulse.left) == (True, 10.0)
    pulse.close()
