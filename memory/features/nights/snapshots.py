"""What a night looks at, read by another process beside the one that owns the database; it cannot write."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from memory.candidate import Candidate, CandidateKind
from memory.fact import Category, Fact, FactKind, Passage, State
from memory.features.nights.consolidation.compaction import LONG
from memory.features.nights.consolidation.recurring_subjects import Message
from memory.features.nights.consolidation.snapshot import RepeatedStatement
from memory.ports import SummaryLine
from memory.scope import Layer, place_of
from memory.stores.base import ask_many
from memory.stores.candidates import silenced, with_evidence
from memory.stores.connection import Connection, Row
from memory.stores.listing import line_of
from memory.stores.queries import QUERIES, many
from memory.stores.rows import fact_of, listed, passage_of, when
from memory.understanding.recurring_corrections import Pushback

FADING = 5000
"""Facts that one night may archive: the rest comes the night after."""
BESIDE = 200
"""Drafts of an owner, and what was said again, that are compared with what is new."""
UNREAD = 5000
"""Memories of each kind that one night may put in short, and passages of which it may leave something out."""
SLICE = 500
"""New facts that one night looks at: where there are more, nights follow one another, so that none of them is written
for long. What is learnt in a day is one night."""
PIECES = 4
"""Pieces that a message has at most, on the average, for as many messages to be read as are asked for."""
SEVERAL = 2
"""Projects in which something may recur."""
_LAST = 2**63 - 1
CONDENSED = timedelta(days=4)
"""How far before the last night the days lie that may still have to be put in short."""


@dataclass(frozen=True, slots=True)
class NightInput:
    """What one owner's night has to look at. ``new`` are ids of active facts; ``texts`` are the active facts, and only
    read where something is new: all of them, or those behind what was looked at last; ``fact`` and ``passage`` are how
    far it looks."""

    new: frozenset[str]
    texts: Sequence[tuple[str, str]]
    active: dict[Category, int]
    derived: frozenset[str]
    fading: Sequence[str]
    said: Sequence[Passage]
    learned: Sequence[Fact]
    lines: Sequence[SummaryLine]
    fact: int
    passage: int
    elsewhere: Sequence[tuple[str, str]] = ()
    """What may recur in a user's projects, and what the user holds already; only read where something is new."""
    elsewhere_new: frozenset[str] = frozenset()
    unread: Sequence[Fact | Passage] = ()
    unread_upto: int = 0
    heard: Sequence[Passage] = ()
    """What was said since the last night looked for courtesies, and how far it looked."""
    heard_upto: int = 0
    rules: Sequence[str] = ()
    """New ones that may be a rule for others, though nothing is like them."""
    drafts: Sequence[str] = ()
    """Those that have waited for too long."""
    beside: Sequence[tuple[str, str]] = ()
    """The newest drafts, and what was said again in other words: both may bear out a rule that was said otherwise. Only
    read where something is new, or was read with doubt since the last night."""
    more: bool = False
    """Whether there is more that is new, behind ``fact``."""

    @property
    def nothing(self) -> bool:
        """Whether there is nothing for a night to do."""
        work = self.said or self.learned or self.lines or self.unread or self.heard
        return not (self.new or self.beside or self.fading or self.drafts or work or self.elsewhere_new)


class Snapshots:
    """Reads the database at ``place``: a file, or a server's URL."""

    def __init__(self, place: Path | str) -> None:
        self._place = place

    def owners(self) -> list[str]:
        """Everyone who has, or had, memories, and the users of all projects."""
        with self._reading() as connection:
            names = [row["name"] for row in connection.execute(QUERIES["owners_all"])]
        places = [place for name in names if (place := place_of(name)) is not None]
        users = [user for scope, layer in places if layer is Layer.USER_PROJECT and (user := scope.owner(Layer.USER))]
        return list(dict.fromkeys([*names, *users]))

    def facts(self, ids: Sequence[str]) -> dict[str, Fact]:
        """Facts by id; unknown ones are left out."""
        with self._reading() as connection:
            return {row["id"]: fact_of(row) for row in ask_many(connection, "facts_get", ids)}

    def silenced(self, facts: Sequence[Fact]) -> frozenset[str]:
        """The ids of those of some facts that are archived and speak for nothing any more."""
        if not any(fact.state is State.ARCHIVED for fact in facts):
            return frozenset()
        with self._reading() as connection:
            key = bytes(connection.execute(QUERIES["meta_get"], ("key",)).fetchone()["value"])
            return silenced(connection, facts, key)

    def candidates(self, owner: str) -> list[Candidate]:
        """The knowledge that was put forward to an owner, whatever has become of it."""
        with self._reading() as connection:
            rows = connection.execute(many("candidates_of", 1), (owner,)).fetchall()
            return with_evidence(connection, [row for row in rows if row["kind"] == CandidateKind.KNOWLEDGE])

    def sayings(self, ids: Sequence[str]) -> list[tuple[str, str]]:
        """The messages in which facts were said, without what is confidential, each with the agent's words before it;
        oldest first."""
        with self._reading() as connection:
            told = _messages(ask_many(connection, "snapshot_sayings", ids))
        return [(each.said, each.before) for each in told.values()]

    def messages(self, owner: str, ids: Sequence[str], newest: int) -> list[Message]:
        """Those messages, and the ``newest`` that the owner's person answered to an agent and nothing was learnt of.
        Where several of the facts were learnt of one message, or what was said is not kept, each has its own words."""
        pieces = newest * PIECES
        with self._reading() as connection:
            told = _messages(ask_many(connection, "snapshot_sayings", ids))
            rows = connection.execute(QUERIES["snapshot_messages"], {"owner": owner, "limit": pieces}).fetchall()
            facts = {row["id"]: row for row in ask_many(connection, "facts_get", ids)}
        terse = _messages(reversed(rows))
        if len(rows) == pieces and len(terse) > 1:
            # The oldest may have begun before.
            del terse[next(iter(terse))]
        found = []
        for (session, turn), each in ({**dict(list(terse.items())[-newest:]), **told}).items():
            if len(each.facts) == 1 or (each.before and not each.facts):
                found.append(Message(Pushback(each.said, each.before), session, turn, tuple(each.facts)))
            else:
                found += [Message(Pushback(facts[id]["text"], each.before), session, turn, (id,)) for id in each.facts]
        known = {id for each in told.values() for id in each.facts}
        rest = (row for id, row in facts.items() if id not in known)
        # Nobody knows in which turn they were said: each is a message of its own.
        found += [Message(Pushback(row["text"]), row["session"], -at, (row["id"],)) for at, row in enumerate(rest, 1)]
        return found

    def repetitions(self, ids: Sequence[str]) -> dict[str, list[RepeatedStatement]]:
        """In which sessions facts, or those that they absorbed, were said."""
        found: dict[str, list[RepeatedStatement]] = {}
        with self._reading() as connection:
            for row in ask_many(connection, "snapshot_said_by", ids):
                found.setdefault(row["id"], []).append(
                    RepeatedStatement(FactKind(row["kind"]), row["session"], row["times"])
                )
        return found

    def look(
        self,
        owner: str,
        now: datetime,
        floor: float,
        since: datetime | None = None,
        unread: timedelta | None = None,
        sessions: int = SEVERAL,
        behind: NightInput | None = None,
        plain: bool = False,
        drafts: timedelta | None = None,
    ) -> NightInput:
        """What is new of an owner since the last night, or since a moment, all of one state of the database.
        ``unread``: with what is older than that and was never shown; ``plain``: with what was said; ``drafts``:
        with those that have waited for that long; ``sessions`` is in
        how many of them a rule must have been said; ``behind``: only the facts behind those that were looked at last,
        which was a moment ago."""
        with self._reading() as connection:
            if behind is not None:
                return _next_new_facts(connection, owner, behind, sessions)
            row = connection.execute(QUERIES["night_cursor_get"], (owner,)).fetchone()
            after, heard = (row["fact"], row["passage"]) if row else (0, 0)
            last = when(row["at"]) if row else None
            upto = connection.execute(QUERIES["snapshot_upto"]).fetchone()
            new, reached = _new(connection, owner, after, last, since, SLICE)
            doubted = connection.execute(QUERIES["snapshot_doubted"], (owner, after)).fetchone() is not None
            fading = {"owner": owner, "now": now.timestamp(), "floor": floor, "limit": FADING}
            passages, passage = _passages_of_past_days(
                connection, owner, 0 if since else heard, upto["passage"], now, since
            )
            old, old_upto = (
                _unread_memories(connection, owner, row["unread"] if row else 0, now - unread) if unread else ([], 0)
            )
            midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
            first = min([passages[0].at if passages else midnight, (last or datetime.fromtimestamp(0, now.tzinfo))])
            first = first.astimezone(now.tzinfo).replace(hour=0, minute=0, second=0, microsecond=0)
            learned = connection.execute(
                QUERIES["snapshot_learned"], (owner, first.timestamp(), midnight.timestamp())
            ).fetchall()
            days = (first - CONDENSED).date().isoformat() if first.year > 1970 else ""
            return NightInput(
                new,
                _texts(connection, owner, 0, reached or upto["fact"]) if new or doubted else [],
                _active(connection, owner),
                _derived(connection, owner),
                [row["id"] for row in connection.execute(QUERIES["snapshot_fading"], fading)],
                passages,
                [fact_of(row) for row in learned],
                [
                    line_of(row)
                    for row in connection.execute(many("summaries_between", 1), (owner, days, now.date().isoformat()))
                ],
                reached or upto["fact"],
                passage,
                *_recurring_across_projects(connection, owner, after, since),
                old,
                old_upto,
                *_passages_after(connection, owner, row["plain"] if row else 0, upto["passage"] if plain else 0),
                _rules(connection, sessions, new),
                _drafts(connection, owner, now - drafts) if drafts else [],
                _beside(connection, owner) if new or doubted else [],
                bool(reached),
            )

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """One state of the database, for as short as possible: its log cannot be cut off meanwhile."""
        if isinstance(self._place, str):
            from memory.stores.postgresql.reading import reading  # needs an extra

            with reading(self._place) as found:
                yield found
            return
        connection = sqlite3.connect(
            f"file:{quote(str(self._place))}?mode=ro", uri=True, isolation_level=None, timeout=10
        )
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()


@dataclass(slots=True)
class _Told:
    """A message with the agent's words before it, and the facts that were learnt of it."""

    pieces: list[str]
    before: str
    facts: list[str]

    @property
    def said(self) -> str:
        return " ".join(self.pieces)


def _messages(rows: Iterable[Row]) -> dict[tuple[str, int], _Told]:
    """Messages by session and turn, out of rows that tell of their pieces."""
    found: dict[tuple[str, int], _Told] = {}
    for row in rows:
        told = found.setdefault((row["session"], row["turn"]), _Told([], row["before"] or "", []))
        if row["text"] not in told.pieces:
            told.pieces.append(row["text"])
        if row["fact"] and row["fact"] not in told.facts:
            told.facts.append(row["fact"])
    return found


def _recurring_across_projects(
    connection: Connection, owner: str, after: int, since: datetime | None
) -> tuple[list[tuple[str, str]], frozenset[str]]:
    """What a user's projects hold that may recur, where there are several of them and something in them is new."""
    place = place_of(owner)
    if place is None or place[1] is not Layer.USER:
        return [], frozenset()
    beginning = f"up:{owner.removeprefix('u:')}/"
    projects = [row["name"] for row in connection.execute(QUERIES["owners_all"]) if row["name"].startswith(beginning)]
    if len(projects) < SEVERAL:
        return [], frozenset()
    new = frozenset(id for each in projects for id in _new(connection, each, after, None, since, most=-1)[0])
    rows = connection.execute(many("snapshot_elsewhere", len(projects)), tuple(projects)).fetchall() if new else []
    fresh = new.intersection(row["id"] for row in rows)
    if not fresh:
        return [], frozenset()
    own = _texts(connection, owner, 0, _LAST)
    return [*((row["id"], row["text"]) for row in rows), *own], fresh


def _next_new_facts(connection: Connection, owner: str, behind: NightInput, sessions: int) -> NightInput:
    upto = connection.execute(QUERIES["snapshot_upto"]).fetchone()["fact"]
    new, reached = _new(connection, owner, behind.fact, None, None, SLICE)
    return NightInput(
        new=new,
        texts=_texts(connection, owner, behind.fact, reached or upto) if new else [],
        active=behind.active,
        derived=_derived(connection, owner),
        fading=(),
        said=(),
        learned=(),
        lines=(),
        fact=reached or upto,
        passage=0,
        rules=_rules(connection, sessions, new),
        more=bool(reached),
    )


def _texts(connection: Connection, owner: str, after: int, upto: int) -> list[tuple[str, str]]:
    rows = connection.execute(QUERIES["snapshot_texts"], (owner, after, upto))
    return [(row["id"], row["text"]) for row in rows]


def _active(connection: Connection, owner: str) -> dict[Category, int]:
    rows = connection.execute(QUERIES["snapshot_active"], (owner,))
    return {Category(row["category"]): row["held"] for row in rows}


def _derived(connection: Connection, owner: str) -> frozenset[str]:
    rows = connection.execute(QUERIES["snapshot_derived"], (owner,))
    return frozenset(id for row in rows for id in listed(row["derived_from"]))


def _drafts(connection: Connection, owner: str, until: datetime) -> list[str]:
    parameters = {"owner": owner, "until": until.timestamp(), "limit": FADING}
    return [row["id"] for row in connection.execute(QUERIES["snapshot_drafts"], parameters)]


def _beside(connection: Connection, owner: str) -> list[tuple[str, str]]:
    rows = connection.execute(QUERIES["snapshot_beside"], {"owner": owner, "limit": BESIDE}).fetchall()
    return [(row["id"], row["text"]) for row in reversed(rows)]


def _rules(connection: Connection, sessions: int, new: frozenset[str]) -> list[str]:
    return [row["id"] for row in ask_many(connection, "snapshot_rules", sorted(new), (sessions,))]


def _new(
    connection: Connection,
    owner: str,
    after: int,
    last: datetime | None,
    since: datetime | None,
    most: int,
) -> tuple[frozenset[str], int]:
    """The active facts that were learnt, or used, since the last night, at most so many of them where a moment does not
    say which; the row after which there are more, else 0."""
    reached = 0
    if since is not None:
        rows = connection.execute(QUERIES["snapshot_since"], (since.timestamp(), owner)).fetchall()
    else:
        rows = connection.execute(QUERIES["snapshot_new"], (after, owner, most)).fetchall()
        reached = rows[-1]["number"] if len(rows) == most else 0
        if last is not None:
            # Texts of times are compared, whatever their zones: a day more is looked at.
            day = (last - timedelta(days=1)).date().isoformat()
            used = connection.execute(QUERIES["snapshot_used"], (owner, day)).fetchall()
            rows += [row for row in used if (at := when(row["used_at"])) is not None and at >= last]
    return frozenset(row["id"] for row in rows), reached


def _unread_memories(
    connection: Connection, owner: str, after: int, until: datetime
) -> tuple[list[Fact | Passage], int]:
    """Old memories that nobody was shown, and how far was looked among the passages."""
    parameters = {"owner": owner, "after": after, "until": until.timestamp(), "long": LONG, "limit": UNREAD}
    facts = [fact_of(row) for row in connection.execute(QUERIES["snapshot_old_facts"], parameters)]
    rows = connection.execute(QUERIES["snapshot_old_session"], parameters).fetchall()
    upto = connection.execute(QUERIES["snapshot_old_upto"], parameters).fetchone()["number"]
    if len(rows) == UNREAD:
        upto = min(upto, rows[-1]["number"])
    return [*facts, *map(passage_of, rows)], max(upto, after)


def _passages_after(connection: Connection, owner: str, after: int, newest: int) -> tuple[list[Passage], int]:
    """What was said behind a row, up to the newest, and how far was looked."""
    if newest <= after:
        return [], after
    rows = connection.execute(QUERIES["snapshot_heard"], (after, owner, UNREAD)).fetchall()
    return [passage_of(row) for row in rows], rows[-1]["number"] if len(rows) == UNREAD else newest


def _passages_of_past_days(
    connection: Connection, owner: str, behind: int, newest: int, now: datetime, since: datetime | None
) -> tuple[list[Passage], int]:
    """What was said on days that are over, in order of time, and the last row before the first of today's. ``since`` a
    moment everything: the days of a night that was taken back are put in short again."""
    rows = connection.execute(QUERIES["snapshot_said"], (behind, owner, since.timestamp() if since else 0)).fetchall()
    today = [row for row in rows if datetime.fromisoformat(row["at"]).astimezone(now.tzinfo).date() >= now.date()]
    upto = min((row["number"] for row in today), default=newest + 1) - 1
    over = {row["number"] for row in rows} - {row["number"] for row in today}
    passages = sorted((passage_of(row) for row in rows if row["number"] in over), key=lambda each: (each.at, each.id))
    return passages, upto
