"""In whose name a request is one of a session: no other owner's request can name, or come upon, a session of it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache

from memory.session import Arrival


def in_own_namespace(arrival: Arrival) -> Arrival:
    """The arrival with a namespace of its credential *and* its scope."""
    scope = arrival.scope
    owner = (arrival.namespace, scope.org or "", scope.user or "")
    return replace(arrival, namespace=_hashed(*owner, scope.project or ""), whose=_hashed(*owner))


@lru_cache(maxsize=1024)
def _hashed(*names: str) -> str:
    return hashlib.blake2b("\x00".join(names).encode("utf-8", "replace"), digest_size=12).hexdigest()


def session_key(arrival: Arrival, key: str | None) -> str | None:
    """A runtime's own session id in the caller's namespace."""
    return None if key is None else f"{arrival.namespace}:{arrival.runtime}:{key}"
