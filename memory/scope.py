"""Who owns a memory, and who may see it.

A memory belongs to exactly one owner, a string that the server builds. A caller sees the owners that
:meth:`Scope.owners` lists, and the stores filter by them: isolation is one ``owner in (...)``, never a choice
that a model or a tool's text could make.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from urllib.parse import quote, unquote


class Layer(StrEnum):
    """The four layers of ownership, the most specific first."""

    USER_PROJECT = "user-project"
    USER = "user"
    PROJECT = "project"
    ORG = "org"


OWN_PROJECT = "session "
"""With this begins the name of the project of a session of which nobody has said in which project it works."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The caller's place: organisation, user and project, each None where it could not be resolved."""

    org: str | None = None
    user: str | None = None
    project: str | None = None

    def owner(self, layer: Layer) -> str | None:
        """The owner key of a layer, or None where this scope does not reach it."""
        return _owner(self, layer)

    def owners(self) -> tuple[str, ...]:
        """Every owner whose memories may be seen from here, the most specific first."""
        return _owners(self)


@dataclass(frozen=True, slots=True)
class ProjectReach:
    """Into which projects a caller may look: those of their key by ``names`` (``*`` for any), but none in ``without``,
    where memory is switched off."""

    names: tuple[str, ...] = ("*",)
    without: frozenset[str] = frozenset()

    def includes(self, project: str) -> bool:
        """Whether it is one of them."""
        return ("*" in self.names or project in self.names) and project not in self.without


ANY_PROJECT = ProjectReach()
"""That of a caller whose key is for all."""


@lru_cache(maxsize=4096)
def _owner(scope: Scope, layer: Layer) -> str | None:
    org, user, project = (quote(name, safe="") if name else None for name in (scope.org, scope.user, scope.project))
    match layer:
        case Layer.USER_PROJECT:
            return f"up:{org or ''}/{user}/{project}" if user and project else None
        case Layer.USER:
            return f"u:{org or ''}/{user}" if user else None
        case Layer.PROJECT:
            members = org or (f"/{user}" if user else None)
            return f"p:{members}/{project}" if members and project else None
        case Layer.ORG:
            return f"o:{org}" if org else None


@lru_cache(maxsize=1024)
def _owners(scope: Scope) -> tuple[str, ...]:
    return tuple(owner for layer in Layer if (owner := _owner(scope, layer)))


def scope_of(owner: str) -> Scope | None:
    """The place that an owner key of the layer *user-project* is of; None for any other."""
    place = place_of(owner)
    return place[0] if place is not None and place[1] is Layer.USER_PROJECT else None


def place_of(owner: str) -> tuple[Scope, Layer] | None:
    """The place and the layer that an owner key is of; None where it is no such key."""
    kind, _, names = owner.partition(":")
    layer = _LAYERS.get(kind)
    parts = [unquote(name) or None for name in names.split("/")]
    match layer, parts:
        case Layer.USER_PROJECT, [org, str(user), str(project)]:
            place = Scope(org, user, project)
        case Layer.USER, [org, str(user)]:
            place = Scope(org, user)
        case Layer.PROJECT, [None, str(user), str(project)]:
            place = Scope(None, user, project)
        case Layer.PROJECT, [str(org), str(project)]:
            place = Scope(org, None, project)
        case Layer.ORG, [str(org)]:
            place = Scope(org)
        case _:
            return None
    return (place, layer) if layer is not None and place.owner(layer) == owner else None


def is_seen_from(owner: str, scope: Scope) -> bool:
    """Whether an owner's memories are those of a scope's person, in whatever project, or shared with all of their
    organisation."""
    found = place_of(owner)
    if found is None:
        return False
    place, layer = found
    shared = layer is Layer.ORG or (layer is Layer.PROJECT and place.org is not None)
    return place.org == scope.org and (shared or place.user == scope.user)


def owned_by(owner: str, scope: Scope) -> tuple[Scope, Layer] | None:
    """The layer that an owner key is of, and the place in it that is the scope's: the same project, but the scope's own
    user and organisation. None where the key is none, or the scope has no such layer."""
    kind, _, names = owner.partition(":")
    project = unquote(names.rpartition("/")[2]) or None
    layer = _LAYERS.get(kind)
    if layer is None or not names:
        return None
    place = Scope(scope.org, scope.user, project if layer in (Layer.USER_PROJECT, Layer.PROJECT) else None)
    return (place, layer) if place.owner(layer) else None


_LAYERS = {"up": Layer.USER_PROJECT, "u": Layer.USER, "p": Layer.PROJECT, "o": Layer.ORG}
