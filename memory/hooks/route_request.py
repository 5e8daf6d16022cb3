"""What a feature's route is asked, checked, and free of any word of HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory.scope import Scope


@dataclass(frozen=True, slots=True)
class RouteRequest:
    """``owners`` are those whose memories may be seen, as the server has built them; ``names`` are the path's, ``body``
    has no fields but those that the route names."""

    scope: Scope
    owners: tuple[str, ...]
    limit: int
    now: datetime
    names: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
