"""Who may ask what on our own endpoints: by the token that was sent."""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory.client_key import KeyScope
from memory.member import NO_MEMBERS, Asker, Member, Membership
from proxy.auth.tokens import TokenRole

OWNER: Final = "owner"
"""How whoever has the token of the home folder is called in the audit log."""


@dataclass(frozen=True, slots=True)
class Access:
    """What somebody may do. ``user`` is whose memories, None for everybody's, and ``membership`` what they are in
    their ``org``; ``scopes`` is what an issued key is for, None for a token, and ``expires_at`` when the key or token
    ends."""

    who: str
    role: TokenRole
    user: str | None = None
    org: str | None = None
    scopes: tuple[KeyScope, ...] | None = None
    membership: Membership = NO_MEMBERS
    expires_at: datetime | None = None

    @property
    def member(self) -> Member | None:
        """The member that they are of their organisation."""
        return self.membership.member

    @property
    def asker(self) -> Asker:
        """Who asks, as features are told it."""
        everything = self.role is TokenRole.ADMIN and self.user is None
        return Asker(self.user or self.who, everything, self.user, self.org, self.membership)


ALL: Final = Access(OWNER, TokenRole.ADMIN)

ACCESS: Final[ContextVar[Access]] = ContextVar("access")
"""What may be done by who sent the request under way: set at the door."""

_OWN: Final = re.compile(
    r"/palimpsest/api/(branches|candidates|conflicts|content|decisions|drafts|export|facts|forget|habits|holders|hook|import|learnt-on|log|money|names|page|provenance"
    r"|quarantine|remember|research|rules|search|sessions|sync|tools|why)(/|$)"
)
"""What is answered for one user at a time, whom the server chooses; everything else is for admins."""

_FOR_OTHERS: Final = re.compile(r"/(approve|submit|undo|promote)$")
"""What makes a rule for others."""

_TEAM: Final = re.compile(r"/palimpsest/(api/)?(members|keys|organisation)(/|$)")
"""What is about an organisation's members and keys: for them, as far as their roles go, and for admins."""

_LOOKS: Final = re.compile(r"/palimpsest/api/(provenance|tools/memory_(search|get|expand|day))$")
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


def is_change(method: str, path: str) -> bool:
    """Whether a request to an endpoint may change something."""
    return method not in ("GET", "HEAD") and _LOOKS.match(path) is None


def refused(of: Access, method: str, path: str) -> str:
    """Why somebody may not ask this; empty where they may."""
    if of.role is TokenRole.ADMIN:
        return ""
    changes = is_change(method, path)
    if of.role is TokenRole.READ and changes:
        return f"the token {of.who!r} may only read"
    if of.user is not None and _OWN.match(path) is None and not (of.member is not None and _TEAM.match(path)):
        return f"the token {of.who!r} is for the memories of one user, and this is for admins"
    return _why_not_allowed(of, changes, path)


def _why_not_allowed(of: Access, changes: bool, path: str) -> str:
    """Why one user may not ask this, by what their key is for and what they are in their organisation."""
    wanted = KeyScope.MEMBERS if _TEAM.match(path) else KeyScope.MEMORY
    if of.scopes is not None and wanted not in of.scopes:
        return f"the key {of.who!r} is for {' and '.join(of.scopes)}, and this asks for {wanted}"
    # Who only reads sees to their own keys all the same: one that was lost is to be revoked.
    if of.member is not None and of.member.reads_only and changes and wanted is KeyScope.MEMORY:
        return f"{of.member.user} may only read in {of.member.org}"
    # Who is a member of nothing has nobody who could approve what they put forward for others.
    if of.user is not None and of.member is None and _FOR_OTHERS.search(path):
        return f"the token {of.who!r} is for the memories of one user; what holds for others is for admins"
    return ""


def leaves(path: str) -> bool:
    """Whether a form only ends a visit."""
    return path == _LEAVES


def page_refused(of: Access, changes: bool, path: str) -> str:
    """Why somebody may not look at a page, or (``changes``) send its form; empty where they may."""
    if of.role is TokenRole.ADMIN or leaves(path):
        return ""
    if of.role is TokenRole.READ and changes:
        return f"the token {of.who!r} may only read"
    alone = of.user is not None and of.member is None
    if of.user is not None and (_PAGES_OF_ALL.match(path) or (alone and _TEAM.match(path))):
        return f"the token {of.who!r} is for the memories of one user, and this is for admins"
    return _why_not_allowed(of, changes, path)
