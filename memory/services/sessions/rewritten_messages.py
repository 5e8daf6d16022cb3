"""What was added to a message whose client has written it anew: it belongs to the words, and they are still there.

A client may leave out of a message what it had put around a person's words. The message is another one then, at which
the ledger holds nothing; what stood behind the words goes on behind them. Where the client has broken its own prefix,
no provider has what follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from memory.conversation import Conversation
from memory.edits import Act, Entry, Key, Ledger
from memory.ports import Journal
from memory.scope import Layer, Scope

MOST = 16
"""Messages that are looked up, the newest: a client writes those of its last turns anew."""


async def moved_entries(journal: Journal, scope: Scope, ledger: Ledger, conversation: Conversation) -> list[Entry]:
    """The entries of messages that are gone from a history, at those that say the same and were never sent before."""
    keys = conversation.keys()
    bare = [
        index
        for index, message in enumerate(conversation.messages)
        if message.spoken and index != conversation.newest and not ledger.at([keys[index]])
    ][-MOST:]
    gone = _gone(ledger, frozenset(keys)) if bare else {}
    if not gone:
        return []
    person = scope.owner(Layer.USER) or ""

    async def words(digest: bytes) -> str | None:
        found = await journal.messages_by_digest(person, digest.hex(), 1)
        return found[0].message.spoken if found else None

    said = [(key, await words(key[0])) for key in list(gone)[-MOST:]]
    spoken_often = Counter(message.spoken for message in conversation.messages)
    moved: list[Entry] = []
    for index in bare:
        message, (digest, occurrence) = conversation.messages[index], keys[index]
        same = [key for key, spoken in said if spoken == message.spoken]
        # Which of several that say the same it was, nobody knows.
        if len(same) != 1 or spoken_often[message.spoken] > 1:
            continue
        [before] = same
        if message.takes is None or await words(digest) is not None:
            continue
        moved += [replace(entry, digest=digest, occurrence=occurrence, form=message.takes) for entry in gone[before]]
    return moved


def _gone(ledger: Iterable[Entry], stand: frozenset[Key]) -> dict[Key, list[Entry]]:
    """What was added at messages that do not stand in a history any more, or hidden behind them."""
    found: dict[Key, list[Entry]] = {}
    for entry in ledger:
        if entry.act in (Act.APPEND, Act.INSERT) and entry.key not in stand:
            found.setdefault(entry.key, []).append(entry)
    return {key: entries for key, entries in found.items() if any(entry.text for entry in entries)}
