"""What every runtime can be asked: is it you, which agent is it, what is this request for, and where does it run.

A runtime is the client program. :class:`Runtime` answers as well as can be answered for a client that nobody
wrote rules for; each file beside this one knows one client better. All of it is pure: headers (lower-cased
names) and a view go in, a value comes out, and no rule raises on anything that a client may send.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec

from memory.conversation import INSTRUCTING, Conversation, Message, Role, Text
from memory.session import Patience, RequestKind
from proxy.runtimes.environment import ClientEnvironment, place_in
from proxy.runtimes.side_requests import side_request_kind, talked
from proxy.wire.dialect import RequestView

Headers = Mapping[str, str]

MAX_KEY_CHARS = 200
"""Characters of an id that is kept as it is; a longer or unprintable one is replaced by its hash."""


class Identity(NamedTuple):
    """Whose request it is: ``session`` differs for every agent, ``parent`` is the session that spawned it.

    Each is None where the client does not say; then the session is found by its trail.
    """

    session: str | None = None
    parent: str | None = None


class RequestPurpose(NamedTuple):
    """What a request is for.

    ``extends`` says that it carries the session's own history. ``unsure`` says that no tools were offered by a
    runtime whose turns usually offer some: if the session's other requests have tools, it is a side request.
    """

    request: RequestKind
    extends: bool = True
    unsure: bool = False


@dataclass(frozen=True, slots=True)
class SideRequestSign:
    """How a request that is no turn gives itself away; all that is given must hold.

    ``system`` begins a line of the system prompt, and ``tools`` says whether any are offered. A text part of the first
    user message begins with ``first``, and nobody has answered it; one of the last begins with ``last``, and there is
    a history that it can be about. So a person who speaks of the same in the midst of a talk, or at its beginning, is
    not taken for the client.
    """

    kind: RequestKind
    extends: bool
    system: str = ""
    first: str = ""
    last: str = ""
    tools: bool | None = None


ANYWHERE = (SideRequestSign(RequestKind.COMPACTION, False, first="<role>\nContext Extraction Assistant", tools=False),)
"""Signs that hold whichever client it is: they are other clients' signs, seen behind a bare SDK."""


class Runtime:
    """A client program. The base is the one that nothing is known of."""

    name = "generic"
    offers_tools = False
    """Whether its ordinary turns always offer tools."""
    signs: tuple[SideRequestSign, ...] = ()
    """How its side requests and compactions are told, tried in order before :data:`ANYWHERE`."""
    resends = False
    """Whether, over a WebSocket, it sends its whole history where it is told that the provider has not got the response
    from which it goes on."""
    patience: Patience | None = None
    """When it compacts a session by itself, where it decides by the usage that is reported."""

    def recognises(self, headers: Headers, view: RequestView) -> bool:
        """Whether the request comes from this client."""
        return True

    def own_identity(self, headers: Headers, view: RequestView) -> Identity:
        """The ids in this client's own words."""
        return Identity()

    def is_subagent(self, headers: Headers, view: RequestView) -> bool:
        """Whether the request says that it is a sub-agent's, beside having a parent."""
        return False

    def own_kind(self, headers: Headers, view: RequestView) -> RequestPurpose | None:
        """What the client itself says the request is for; None where it does not say."""
        return None

    def identity(self, headers: Headers, view: RequestView) -> Identity:
        """The agent's ids: ours first, then the client's own, then the headers that several clients share."""
        own = self.own_identity(headers, view)
        session = own.session or headers.get("x-session-id") or headers.get("x-session-affinity")
        parent = own.parent or headers.get("x-parent-session-id")
        if given := headers.get("x-palimpsest-session"):
            # A header set once for a whole program cannot tell its agents apart; the program's own ids can.
            session, parent = (f"{given}/{session}", given) if own.parent else (given, parent)
        return Identity(_key(session), _key(headers.get("x-palimpsest-parent") or parent))

    def kind(self, headers: Headers, view: RequestView) -> RequestPurpose:
        """What the request is for. What no rule knows is a main turn: an SDK's request without tools is one."""
        if kind := self.own_kind(headers, view):
            return kind
        for sign in (*self.signs, *ANYWHERE):
            if shows(sign, view):
                return RequestPurpose(sign.kind, sign.extends)
        if (about := side_request_kind(view.conversation)) is not None:
            return RequestPurpose(about, talked(view.conversation))
        identity = self.identity(headers, view)
        subagent = self.is_subagent(headers, view) or identity.parent is not None
        # A client that names its sessions names those of its titles and summaries, too, or gives these their own.
        named = identity.session is not None and "x-palimpsest-session" not in headers
        unsure = (self.offers_tools or named) and not view.conversation.tools
        return RequestPurpose(RequestKind.SUBAGENT if subagent else RequestKind.MAIN, True, unsure)

    def attributed(self, conversation: Conversation) -> Conversation:
        """The conversation without a person's words where the client put others into the user's role, which no text
        shows by itself."""
        return conversation

    def place(self, view: RequestView) -> ClientEnvironment:
        """Where the client runs, in its own words: the system prompt, and the blocks it puts into user messages."""
        found = place_in(preamble(view))
        for text in environment(view):
            if found.directory and found.date:
                break
            more = place_in(text)
            found = replace(
                found,
                directory=found.directory or more.directory,
                remote=found.remote or more.remote,
                date=found.date or more.date,
            )
        return found


def shows(sign: SideRequestSign, view: RequestView) -> bool:
    """Whether a request shows a sign."""
    conversation = view.conversation
    if sign.tools is not None and bool(conversation.tools) != sign.tools:
        return False
    if sign.first and (talked(conversation) or not _begins_with(first_user(view), sign.first)):
        return False
    if sign.last and not (talked(conversation) and any(_begins_with(each, sign.last) for each in _last_users(view))):
        return False
    return not sign.system or _begins_a_line(sign.system, preamble(view))


def _begins_a_line(opening: str, text: str) -> bool:
    """Whether a line of a text begins so, the mark of a list or a heading aside."""
    at = text.find(opening)
    while at >= 0:
        if not text[text.rfind("\n", 0, at) + 1 : at].strip(_LINE_MARKS):
            return True
        at = text.find(opening, at + 1)
    return False


_LINE_MARKS = " \t\r#*>-"

BEGINNING = 100
"""Messages of a history in which a client says how it was set up, and where it runs."""


def preamble(view: RequestView) -> str:
    """The system prompt, wherever it stands: outside the messages, or in those of the system and the developer."""
    return view.conversation.once("preamble", _preamble)


def _preamble(conversation: Conversation) -> str:
    texts = [conversation.instructions]
    texts += [message.text for message in conversation.messages[:BEGINNING] if message.role in INSTRUCTING]
    return "\n".join(filter(None, texts))


def first_user(view: RequestView) -> Message | None:
    """The first message in the user's role."""
    return next((message for message in view.conversation.messages if message.role is Role.USER), None)


def last_user(view: RequestView) -> Message | None:
    """The last message but for the system's, if it is in the user's role."""
    last = view.conversation.last
    return last if last is not None and last.role is Role.USER else None


def _last_users(view: RequestView) -> Iterator[Message]:
    """The last message but for the system's, if it is in the user's role, and those before it as far as nobody but the
    client speaks: it may put a text of its own behind an order of its own."""
    for message in reversed(view.conversation.messages):
        if message.role in INSTRUCTING:
            continue
        if message.role is not Role.USER:
            return
        yield message
        if message.spoken or message.results:
            return


def field_of(view: RequestView, name: str) -> Any:
    """A top-level field of the body; None where it is missing, or no decoder of ours can read it."""
    try:
        return view.field(name)
    except (msgspec.DecodeError, RecursionError):
        return None


def environment(view: RequestView) -> Iterator[str]:
    """Texts in the user's role that the client wrote about its surroundings, the earliest first."""
    for message in view.conversation.messages[:BEGINNING]:
        if message.role is Role.USER:
            for part in message.parts:
                if isinstance(part, Text) and _ENVIRONMENT.match(part.text[:200]):
                    yield part.text


_ENVIRONMENT = re.compile(r"(?i)\s*<(?:env|cwd|[\w:-]{0,40}(?:system|environment|context|workspace)[\w:-]{0,40})>")
"""How a block begins that a client put in the user's role to say where it is."""
_STAMP = re.compile(r"\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d[^\]\n]{0,40}\]\s*")


def _begins_with(message: Message | None, opening: str) -> bool:
    """Whether a text part of a message begins with ``opening``, white space and a time stamp aside."""
    if message is None:
        return False
    for part in message.parts:
        if isinstance(part, Text):
            start = part.text[: len(opening) + 400].lstrip()
            if stamp := _STAMP.match(start):
                start = start[stamp.end() :]
            if start.startswith(opening):
                return True
    return False


def _key(value: str | None) -> str | None:
    """An id as a session is filed under it."""
    value = (value or "").strip()
    if not value:
        return None
    if len(value) <= MAX_KEY_CHARS and value.isprintable():
        return value
    return hashlib.blake2b(value.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
