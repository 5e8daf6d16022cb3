"""How many requests a person, and their organisation, may send in a day (``memory.quotas``), counted at the door.

Who is over it is told 429, in the client's format. Memory is a guest: where it is not open, or does not answer, nobody
is counted and nobody is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from memory.settings import REQUESTS
from proxy import metrics
from proxy.caller import Prefix, person_of
from proxy.edge import Edge
from proxy.errors import Refusal
from proxy.limits import Limited
from proxy.runtimes import Headers
from proxy.wire.dialect import Dialect
from proxy.wire.refusals import limit_headers

if TYPE_CHECKING:
    from memory.services.quota_use import QuotaLeft

HEADER = "x-palimpsest-quota-requests"
"""What is left of a day's requests, and how many those are: ``12/500``."""


class QuotaReached(Limited):
    """There are no more requests today."""

    def __init__(self, quota: QuotaLeft, headers: Mapping[str, str]) -> None:
        metrics.LIMITED.labels("requests a day").inc()
        Refusal.__init__(self, 429, f"{quota.used_up}: there is more in {quota.seconds} s")
        self.retry_after = quota.seconds
        self.headers = {**headers, HEADER: f"0/{quota.most}"}


async def take_request(headers: Headers, prefix: Prefix, edge: Edge, dialect: Dialect) -> dict[str, str]:
    """Count a request of a caller; the header that tells how many are left today, where any number is set.

    Raises:
        QuotaReached: when there is none left.
    """
    quotas = edge.settings.memory.quotas
    if not quotas or (memory := await edge.opened_in_time()) is None:
        return {}
    person = person_of(headers, prefix, edge.settings, edge.identity_key, edge.client_keys.of)
    left = await memory.quota_use.left(person, REQUESTS)
    if left is None:
        return {}
    if not left.left:
        until = edge.now() + timedelta(seconds=left.seconds)
        raise QuotaReached(left, limit_headers(dialect.name, left.most, until, left.seconds))
    memory.quota_use.count(person, REQUESTS, 1)
    return {HEADER: f"{left.left - 1}/{left.most}"}


def give_back_request(headers: Headers, prefix: Prefix, edge: Edge) -> None:
    """Take a request of a caller for not sent that :func:`take_request` counted."""
    if edge.settings.memory.quotas and (memory := edge.memory) is not None:
        person = person_of(headers, prefix, edge.settings, edge.identity_key, edge.client_keys.of)
        memory.quota_use.give_back(person, REQUESTS, 1)
