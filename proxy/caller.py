"""Who is asking: from a request's headers, its path, its body and the settings to a scope and a session's key.

In this order: the credential table's entry, our headers, the URL's prefix, what the runtime says of its
surroundings, the person whose machine it is. With a table, a header or a prefix can only narrow what the
credential owns; without one, on a machine's own address, they are believed. A caller who cannot be placed gets
no memory, and the model call goes on.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from urllib.parse import unquote

from memory.learning.redact import redact_name, redact_path
from memory.member import NO_MEMBERS, Membership
from memory.scope import ANY_PROJECT, Layer, ProjectReach, Scope
from memory.session import Mode
from memory.unread_files import NO_FILES, UnreadFiles
from proxy.auth.client_keys import MemberCredential, is_client_key
from proxy.auth.installation_key import InstallationKey, is_installation_key
from proxy.errors import Refusal
from proxy.runtimes import ClientEnvironment, Headers, Runtime, project_of
from proxy.settings import Credential, Settings
from proxy.wire.dialect import RequestView

MAX_NAME_CHARS = 200
"""Characters of the name of an organisation, a user or a project."""


SharedWith = Callable[[str], Sequence[str]]
"""The names of the projects that are shared with one, by its name."""

Issued = Callable[[str], Credential | None]
"""What a key owns that was issued to a user; None where it is not in force."""

Members = Callable[[str, str], Membership]
"""What somebody is in an organisation, as far as that is known."""

ROLE_UNKNOWN_YET = (
    "it cannot be told yet who is a member of its organisation: the journal has not answered since the start"
)

CREDENTIAL = 16
"""Digits of the hash that stands for a credential where a memory came from."""


class Prefix(NamedTuple):
    """What a URL says before its path: ``/k/<key>/o/<org>/u/<user>/p/<project>``, any of them, in any order."""

    key: str | None = None
    org: str | None = None
    user: str | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller's place.

    ``scope`` is empty where there is no memory for it, and ``note`` says why. ``scope.project`` is None where no
    project is known: the session then has one of its own. ``namespace`` keeps the session keys of different
    owners apart; ``session_key`` and ``parent_key`` are the runtime's own ids; ``credential`` is a keyed hash of the
    credential alone. ``also`` are owners of other projects that are shared with this one; ``reach`` are the projects
    that its key owns, and in which memory is not switched off.
    """

    scope: Scope
    namespace: str
    session_key: str | None = None
    parent_key: str | None = None
    directory: str | None = None
    checkout: str | None = None
    mode: Mode = Mode.ON
    note: str = ""
    credential: str = ""
    unread: UnreadFiles = NO_FILES
    also: tuple[str, ...] = ()
    reach: ProjectReach = ANY_PROJECT


def _anybody(org: str, user: str) -> Membership:
    return NO_MEMBERS


def split_prefix(path: str) -> tuple[Prefix, str]:
    """The prefix of a raw (still percent-encoded) path, with or without a query, and the path behind it.

    That path begins with a slash.

    Raises:
        Refusal: 400, when a value is empty, too long, unprintable, or given twice.
    """
    segments: dict[str, str] = {}
    rest = path
    while opened := _SEGMENT.match(rest):
        letter = opened["letter"].lower()
        field = _FIELDS[letter]
        if field in segments:
            raise Refusal(400, f"/{letter}/ stands twice in the URL", "url")
        segments[field] = name(unquote(opened["value"], errors="surrogateescape"), f"/{letter}/ in the URL")
        rest = rest[opened.end() :]
    return Prefix(**segments), rest if rest.startswith("/") else f"/{rest}"


def resolve(
    headers: Headers,
    prefix: Prefix,
    view: RequestView | None,
    runtime: Runtime,
    settings: Settings,
    secret: bytes,
    locate: Callable[[ClientEnvironment], ClientEnvironment] | None = None,
    shared_with: SharedWith = lambda project: (),
    issued: Issued = lambda key: None,
    members: Members = _anybody,
) -> Caller:
    """Who is asking. ``issued`` knows what a key owns that was issued to a user, and ``members`` who is one of an
    organisation. ``locate`` completes a place on this machine, and ``shared_with`` knows which projects of it are
    shared with one; they are asked on a loopback address only.

    Raises:
        Refusal: 400, when one of our headers has a value that cannot be a name.
    """
    claim = Prefix(
        org=_header(headers, "x-palimpsest-org") or prefix.org,
        user=_header(headers, "x-palimpsest-user") or prefix.user,
        project=_header(headers, "x-palimpsest-project") or prefix.project,
    )
    mode = _requested_mode(headers)
    place = runtime.place(view) if view is not None else ClientEnvironment()
    if locate is not None and settings.server.loopback:
        place = locate(place)
    around = project_of(place)
    mode = strictest(mode, place.mode)

    credential = identifying_key(headers, prefix)
    entry, scope, note = _owned_by_credential(credential, claim, around, settings, issued, members)
    mode = strictest(mode, entry.memory_in(scope.project)) if entry else mode
    if scope.project is not None and (project := settings.projects.get(scope.project)) is not None:
        mode = strictest(mode, project.memory)
    note = note or place.why
    identity = runtime.identity(headers, view) if view is not None else None
    shown = entry.key if entry else _stable_part(credential)
    owner = "\0".join(("" if one is None else one) for one in (scope.org, scope.user, claim.project))
    return Caller(
        scope=without_secrets(scope, secret),
        namespace=namespace(f"{shown}\0{owner}", secret),
        session_key=_stored_name(identity.session if identity else None, secret),
        parent_key=_stored_name(identity.parent if identity else None, secret),
        directory=directory_to_keep(place, secret),
        checkout=checkout_to_keep(place, secret),
        mode=mode,
        note=note,
        credential=namespace(f"credential\0{shown}", secret)[:CREDENTIAL] if shown else "",
        unread=place.unread,
        also=shared_owners(scope, settings, secret, shared_with, entry),
        reach=reach_of(settings, entry),
    )


def org_of(headers: Headers, prefix: Prefix, settings: Settings, issued_to: Callable[[str], str | None]) -> str | None:
    """Whose policy holds for a caller: the organisation of the key that says who it is, whatever else it asks for;
    where no keys are told apart, the one that it names. ``issued_to`` knows whose a key is that was issued."""
    key = identifying_key(headers, prefix)
    if is_client_key(key):
        return issued_to(key)
    if settings.credentials:
        entry = _entry_of_credential(settings.credentials, key)
        return entry.org if entry is not None else None
    return _header(headers, "x-palimpsest-org") or prefix.org or settings.org


def person_of(headers: Headers, prefix: Prefix, settings: Settings, secret: bytes, issued: Issued) -> Scope:
    """The person a caller is, and their organisation, whatever is worked on; an empty place where nobody is known.

    Raises:
        Refusal: as :func:`resolve`.
    """
    claim = Prefix(
        org=_header(headers, "x-palimpsest-org") or prefix.org,
        user=_header(headers, "x-palimpsest-user") or prefix.user,
    )
    _, scope, _ = _owned_by_credential(identifying_key(headers, prefix), claim, None, settings, issued, _anybody)
    return without_secrets(Scope(scope.org, scope.user), secret)


def _owned_by_credential(
    credential: str, claim: Prefix, around: str | None, settings: Settings, issued: Issued, members: Members
) -> tuple[Credential | None, Scope, str]:
    """What a credential owns of what is claimed, by its entry where it has one; and why it owns nothing."""
    if is_client_key(credential):
        entry, unknown = issued(credential), "the key is not in force, or not for model calls"
    elif settings.credentials:
        if (entry := _entry_of_credential(settings.credentials, credential)) is None:
            return None, Scope(), "the credential has no entry in the table"
        return _as_member(entry, *_narrow(entry, claim, around), members)
    elif settings.server.loopback:
        return None, Scope(claim.org or settings.org, claim.user or settings.user, claim.project or around), ""
    else:
        return None, Scope(), "other machines can reach us, and there is no table of credentials"
    return (entry, *_narrow(entry, claim, around)) if entry else (None, Scope(), unknown)


def reach_of(settings: Settings, entry: Credential | None = None) -> ProjectReach:
    """Into which projects a caller may look: those that their key owns (any, where none is told apart), and in which
    memory is not switched off."""
    off = frozenset(name for name, project in settings.projects.items() if project.memory is Mode.OFF)
    return ProjectReach(entry.projects if entry else ANY_PROJECT.names, off)


def _as_member(entry: Credential, scope: Scope, note: str, members: Members) -> tuple[Credential, Scope, str]:
    """What is left of a configured entry's rights for whoever it stands for: in an organisation with members these
    alone have memory, as far as their role goes."""
    if scope.org is None or scope.user is None:
        return entry, scope, note
    found = members(scope.org, scope.user)
    if not found.belongs:
        return entry, Scope(), f"{scope.user} is no member of {scope.org}" if found.told else ROLE_UNKNOWN_YET
    return MemberCredential.model_construct(**dict(entry), member=found.member), scope, note


def is_of_organisation(shown_key: str, settings: Settings) -> bool:
    """Whether the settings name a key for somebody of an organisation."""
    entry = _entry_of_credential(settings.credentials, shown_key)
    return entry is not None and entry.org is not None


def shared_owners(
    scope: Scope, settings: Settings, secret: bytes, shared_with: SharedWith, entry: Credential | None = None
) -> tuple[str, ...]:
    """The owners of the projects that are shared with the one of a place, for the same person: those that its
    credential owns, and in which memory is not switched off."""
    if scope.user is None or scope.project is None or not settings.server.loopback:
        return ()
    owners = []
    for project in shared_with(scope.project):
        known = settings.projects.get(project)
        if (entry is None or _owns(entry, project)) and (known is None or known.memory is not Mode.OFF):
            place = without_secrets(replace(scope, project=project), secret)
            owners += [place.owner(Layer.USER_PROJECT), place.owner(Layer.PROJECT)]
    return tuple(filter(None, owners))


def directory_to_keep(place: ClientEnvironment, secret: bytes) -> str | None:
    """A place's directory; a name in it in which a secret stands is called by a keyed hash."""
    return None if place.directory is None else redact_path(place.directory, secret)


def checkout_to_keep(place: ClientEnvironment, secret: bytes) -> str | None:
    """A place's checkout; none where a secret stands in its path, which then names nothing on the disk."""
    checkout = place.checkout
    return checkout if checkout and redact_path(checkout, secret) == checkout else None


def without_secrets(scope: Scope, secret: bytes) -> Scope:
    """A place whose names may be kept: one in which a secret stands is called by a keyed hash."""
    return Scope(_stored_name(scope.org, secret), _stored_name(scope.user, secret), _stored_name(scope.project, secret))


def _stored_name(name: str | None, secret: bytes) -> str | None:
    return None if name is None else redact_name(name, secret)


def key_shown(headers: Headers, prefix: Prefix) -> str:
    """The key that a caller has shown, of whatever kind; empty where it has shown none."""
    return _header(headers, "x-palimpsest-key") or prefix.key or credential_of(headers)


def shows_key(shown_key: str, settings: Settings, key: InstallationKey, issued: Issued, members: Members) -> bool:
    """Whether a caller has shown a key that opens memory: one that was issued to a user, one of the table where there
    is one, else this installation's. One of the table whose person is known to be no member of their organisation
    opens none."""
    if is_client_key(shown_key):
        return issued(shown_key) is not None
    if not settings.credentials:
        return key.matches(shown_key)
    entry = _entry_of_credential(settings.credentials, shown_key)
    if entry is None or entry.org is None or entry.user == "*":
        return entry is not None
    found = members(entry.org, entry.user)
    return found.belongs or not found.told


def identifying_key(headers: Headers, prefix: Prefix) -> str:
    """What says who a caller is, and tells the sessions of different ones apart; empty where nothing does. An
    installation's key does not: every runtime shows the same one, and another one after it was changed."""
    key = _header(headers, "x-palimpsest-key") or prefix.key
    credential = credential_of(headers) if key is None or is_installation_key(key) else key
    return "" if is_installation_key(credential) else credential


def namespace(credential: str, secret: bytes) -> str:
    """A keyed hash that stands for a credential: it cannot be turned back, and differs on every installation."""
    data = credential.encode("utf-8", "surrogateescape")
    return hashlib.blake2b(data, key=secret[:64], digest_size=16).hexdigest()


def credential_of(headers: Headers) -> str:
    """The credential that the client sends for its provider, without its scheme; empty where it sends none."""
    for header in ("authorization", "x-api-key", "api-key", "x-goog-api-key"):
        if value := headers.get(header, "").strip():
            scheme, _, rest = value.partition(" ")
            return rest.strip() if rest and scheme.lower() in ("bearer", "basic", "token") else value
    return ""


def name(value: str, where: str) -> str:
    """A name as it was given, without white space around it.

    Raises:
        Refusal: 400, when it is empty, unprintable or longer than :data:`MAX_NAME_CHARS`.
    """
    value = value.strip()
    if not value:
        raise Refusal(400, f"{where} is empty", where)
    if len(value) > MAX_NAME_CHARS:
        raise Refusal(400, f"{where} has {len(value)} characters; {MAX_NAME_CHARS} are allowed", where)
    if not value.isprintable():
        raise Refusal(400, f"{where} has characters that cannot be printed", where)
    return value


def strictest(*modes: Mode) -> Mode:
    """The mode that lets memory do least."""
    return min(modes, key=(Mode.OFF, Mode.READ_ONLY, Mode.ON).index)


_FIELDS = {"k": "key", "o": "org", "u": "user", "p": "project"}
_SEGMENT = re.compile(r"/(?P<letter>[koupKOUP])/(?P<value>[^/?]*)(?=[/?]|$)")


def _header(headers: Headers, header: str) -> str | None:
    value = headers.get(header)
    return None if value is None else name(value, header)


def _requested_mode(headers: Headers) -> Mode:
    header = headers.get("x-palimpsest-memory")
    if header is None:
        return Mode.ON
    try:
        return Mode(header.strip().lower())
    except ValueError:
        raise Refusal(400, "x-palimpsest-memory is one of off, read-only, on", "x-palimpsest-memory") from None


def _entry_of_credential(table: Sequence[Credential], credential: str) -> Credential | None:
    """The entry of a credential; every row is compared, each in constant time."""
    given = credential.encode("utf-8", "surrogateescape")
    found = None
    for entry in table:
        if hmac.compare_digest(entry.key.encode("utf-8"), given):
            found = entry
    return found


def _narrow(entry: Credential, claim: Prefix, around: str | None) -> tuple[Scope, str]:
    """What is left of an entry's rights after a claim; nothing where the claim reaches beyond them."""
    if claim.org is not None and claim.org != entry.org:
        return Scope(), "the credential does not own the organisation that was asked for"
    if claim.user is not None and claim.user != entry.user and entry.user != "*":
        return Scope(), "the credential does not own the user that was asked for"
    if claim.project is not None and not _owns(entry, claim.project):
        return Scope(), "the credential does not own the project that was asked for"
    user = claim.user if entry.user == "*" else entry.user
    if user is None:
        return Scope(), "the credential stands for several users, and none was named"
    project = claim.project
    if project is None and around is not None and _owns(entry, around):
        project = around
    if project is None and len(entry.projects) == 1 and entry.projects[0] != "*":
        project = entry.projects[0]
    return Scope(entry.org, user, project), ""


def _owns(entry: Credential, project: str) -> bool:
    return "*" in entry.projects or project in entry.projects


def _stable_part(credential: str) -> str:
    """The part of a credential that stays: a login's access token changes by the hour, its sessions do not."""
    if credential.startswith("sk-ant-oat") or (credential.startswith("eyJ") and credential.count(".") == 2):
        return "login"
    return credential
