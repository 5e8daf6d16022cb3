"""What a request may take of its model's window."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from memory.context.budget import budget
from memory.edits import Ledger
from memory.services.request import SessionRequest
from memory.services.sessions.live import LiveSession
from memory.services.window.request_size import DOUBTED, Headroom, RequestSize
from memory.services.window.usage_calibration import UsageCalibration
from memory.session import Session
from memory.settings import SheddingSettings
from tests.memory.context.sessions import person, session
from tests.memory.services.window.test_shedding import ARRIVAL, AT

SHARES = SheddingSettings(reserve=500)


class Doubtful:
    """A provider that counts as we do, as far as we know, and may report so much more."""

    def __init__(self, doubt: int) -> None:
        self._doubt = doubt

    def ours(self, session: str, model: str, tokens: int) -> int:
        return tokens

    def doubt(self, session: str, model: str, counted: int) -> int:
        return self._doubt


@pytest.mark.parametrize(("doubt", "free"), [(0, 0), (400, 400), (5000, int(DOUBTED * 10_000))])
def test_what_may_be_dearer_than_it_is_counted_has_to_fit_and_makes_no_shed_deeper(doubt: int, free: int) -> None:
    room = Headroom(SHARES, cast(UsageCalibration, Doubtful(doubt)))
    conversation = session(person("Watch the heron."))
    live = LiveSession(Session("s1", "k", ARRIVAL.scope, "test", AT, AT), Ledger())
    allowed = room.allowed(SessionRequest(conversation, live, ARRIVAL), RequestSize((10, 9_000), 7, 0, 9_017, 10_000))
    usual = budget(10_000, 500, SHARES, 7)
    assert allowed.window == usual.window - free
    assert replace(allowed, window=usual.window) == usual
