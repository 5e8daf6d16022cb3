"""A script for sessions of which parts leave the request: where it is, is told by the newest call alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.e2e.script import NOTHING, Action, Call, Script, Step, flow_of


class Walk(Script):
    """Steps whose calls are all different. What is older than the newest call or words may be gone.

    ``pause`` is called once, in the first reply to a request that is smaller than the one before it: when something
    has left.
    """

    pause: Call | None = None
    _before = 0
    _paused: tuple[Call, Step, int] | None = None

    def decide(self, body: Mapping[str, Any], raw: str) -> Action:
        """What to do with a request."""
        if not body.get("tools"):
            return NOTHING
        shrunk, self._before = len(raw) < self._before, len(raw)
        place = self._place(body)
        if place is None:
            return NOTHING
        if self.pause is not None and shrunk:
            pause, self.pause = self.pause, None
            self._paused = (pause, *place)
            return Action(place[0].number, calls=(pause,))
        return self.at(*place, raw)

    def _place(self, body: Mapping[str, Any]) -> tuple[Step, int] | None:
        """The step that a request belongs to, and how many replies of it were given."""
        for event in reversed(list(flow_of(body))):
            if event.call is not None:
                if place := self._behind(event.call):
                    return place
            elif event.spoken:
                begun = self.named(event.text)
                return (begun, 0) if begun else None
        return None

    def _behind(self, call: Call) -> tuple[Step, int] | None:
        if self._paused is not None and _same(self._paused[0], call):
            return self._paused[1:]
        for step in reversed(self.steps.values()):
            for index, known in enumerate(step.calls):
                if _same(known, call):
                    return step, index + 1
        return None


def _same(known: Call, call: Call) -> bool:
    """Whether a call is one that the model made; a client may add to its arguments."""
    return known.tool == call.tool and known.arguments.items() <= call.arguments.items()
