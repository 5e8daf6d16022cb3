"""Where somebody finds nothing: who else has memories in this data folder, or in which other projects they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memory.hooks.command import count

MOST = 5
"""Names that are told."""


def hints(told: Mapping[str, Any], project: str | None) -> Iterator[str]:
    """Sentences about where memories are that somebody may have meant who found none, in a ``project`` if one was
    named; none where they have some that they could have found."""
    if told["mine"]:
        if project is not None and project not in told["projects"]:
            elsewhere = f"{count(told['mine'], 'memory')}, none of them in {project} alone"
            named = _several(f"{name} {number}" for name, number in told["projects"].items())
            yield f"{told['user']} has {elsewhere}" + (f": by project {named}" if named else "")
        return
    here = [each for each in told["others"] if each["org"] == told["org"]]
    away = [each for each in told["others"] if each["org"] != told["org"]]
    if here:
        named = _several(f"{each['user']} {each['memories']}" for each in here)
        yield f"{told['user']} has no memories here, others have: {named} (--user names one of them)"
    if away:
        named = _several(f"{each['user']} of {each['org'] or 'no organisation'} {each['memories']}" for each in away)
        yield f"{'and' if here else told['user'] + ' has no memories here,'} in another organisation: {named}" + (
            " (`org` in the settings, or PALIMPSEST__ORG, names it)"
        )


def _several(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - MOST} more" if len(every) > MOST else ""
    return ", ".join(every[:MOST]) + more
