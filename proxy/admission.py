"""Requests take turns: of those that come at once, one begins to be prepared in a few passes of the loop.

Preparing takes milliseconds without a pause. Of sixteen requests that come together all would be prepared in one pass,
and whatever else waits for its next step meanwhile (bytes of a reply, an exchange on its way into the journal, what is
learned) would have that step only after all of them.

A burst is over soon, and all of it is served. Where more requests come than can be prepared, the queue never empties:
a *standing queue*, as Nichols and Jacobson call it ("Controlling Queue Delay", 2012), which makes everybody wait and
serves nobody better. Those who waited in one are told for how long, so that memory can take that much less.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

PASSES = 4
"""Passes of the loop from one beginning to the next: what waits for its next steps has so many of them meanwhile, and
a reply's way into the journal takes about as many."""

STANDING_SECONDS = 1.0
"""A queue that was never empty for so long is a standing one: in that time a hundred requests begin."""

STANDING_TURNS = 20
"""And so many of them have to have begun meanwhile: where fewer did, the loop itself stood still for a while."""


class AdmissionQueue:
    """Who has waited longest begins next. Nobody waits for another one's end: what waits for a disk or for a service
    lets the next one begin. ``clock`` tells seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._begun = False
        self._since = 0.0
        self._served = 0

    async def take(self) -> float:
        """Wait until nobody else has begun in the last passes of the loop; at once where nobody has.

        Returns:
            How many seconds it waited in a standing queue; 0 where it waited in none.
        """
        loop = asyncio.get_running_loop()
        if not self._begun:
            self._begun = True
            loop.call_soon(self._pass, PASSES)
            return 0.0
        came = self._clock()
        if not self._waiting:
            self._since, self._served = came, 0
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        await turn
        now = self._clock()
        self._served += 1
        standing = now - self._since >= STANDING_SECONDS and self._served >= STANDING_TURNS
        return now - came if standing else 0.0

    def _pass(self, left: int) -> None:
        if left > 1:
            asyncio.get_running_loop().call_soon(self._pass, left - 1)
            return
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # else its client has gone
                turn.set_result(None)
                asyncio.get_running_loop().call_soon(self._pass, PASSES)
                return
        self._begun = False
