"""Who may ask what on our own endpoints: by the token that was sent."""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from proxy.auth.tokens import TokenRole

OWNER: Final = "owner"
"""How whoever has the token of the home folder is called in the audit log."""


@dataclass(frozen=True, slots=True)
class Access:
    """What somebody may do. ``user`` is whose memories, None for everybody's."""

    who: str
    role: TokenRole
    user: str | None = None
    org: str | None = None


ALL: Final = Access(OWNER, TokenRole.ADMIN)

ACCESS: Final[ContextVar[Access]] = ContextVar("access")
"""What may be done by who sent the request under way: set at the door."""

_OWN: Final = re.compile(
    r"/palimpsest/api/(branches|candidates|conflicts|content|decisions|drafts|export|facts|forget|habits|hook|import|learnt-on|log|money|names|page|provenance"
    r"|quarantine|remember|research|search|sessions|sync|tools|why)(/|$)"
)
"""What is answered for one user at a time, whom the server chooses; everything else is for admins."""

_FOR_OTHERS: Final = re.compile(r"/(approve|undo|promote)$")
"""What makes a rule for others."""

_LOOKS: Final = frozenset({"/palimpsest/api/provenance"})
"""What is asked with a body, and only looks."""


_PAGES_OF_ALL: Final = re.compile(r"/palimpsest/(nights|status|settings)(/|$)")
"""Pages that show, or change, what is everybody's."""

_LEAVES: Final = "/palimpsest/logout"


def access() -> Access:
    """What may be done by who sent the request under way."""
    return ACCESS.get()


def is_for_one_user(path: str) -> bool:
    """Whether an endpoint answers for one user at a time."""
    return _OWN.match(path) is not None


def refused(of: Access, method: str, path: str) -> str:
    """Why somebody may not ask this; empty where they may."""
    if of.role is TokenRole.ADMIN:
        return ""
    if of.role is TokenRole.READ and method not in ("GET", "HEAD") and path not in _LOOKS:
        return f"the token {of.who!r} may only read"
    if of.user is not None and _OWN.match(path) is None:
        return f"the token {of.who!r} is for the memories of one user, and this is for admins"
    if of.user is not None and _FOR_OTHERS.search(path):
        return f"the token {of.who!r} is for the memories of one user; what holds for others is for admins"
    return ""


def page_refused(of: Access, changes: bool, path: str) -> str:
    """Why somebody may not look at a page, or (``changes``) send its form; empty where they may."""
    if of.role is TokenRole.ADMIN or path == _LEAVES:
        return ""
    if of.role is TokenRole.READ and changes:
        return f"the token {of.who!r} may only read"
    if of.user is not None and _PAGES_OF_ALL.match(path):
        return f"the token {of.who!r} is for the memories of one user, and this is for admins"
    if of.user is not None and _FOR_OTHERS.search(path):
        return f"the token {of.who!r} is for the memories of one user; what holds for others is for admins"
    return ""
