"""What a person has pinned: it never gives way to a stub, and where it leaves with its round, the note says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memory.conversation import Conversation
from memory.edits import ActiveEdits, handle


@dataclass(frozen=True, slots=True)
class PinnedContents:
    """The pinned contents of a request: ``texts`` by their handles, empty of what is no text, and the ``last`` message
    in which each stands whole."""

    texts: Mapping[str, str]
    last: Mapping[str, int]

    def leaving(self, cut: int) -> list[str]:
        """The texts that do not stand in a segment which begins at this message."""
        return [text for name, text in self.texts.items() if text and self.last.get(name, -1) < cut]


def pins(conversation: Conversation, standing: ActiveEdits, texts: Mapping[str, str]) -> PinnedContents:
    """Where what is pinned stands. What stands in the head never leaves."""
    wanted = {name.partition(".")[0] for name in texts}
    last: dict[str, int] = {}
    for index, message in enumerate(conversation.messages if wanted else ()):
        if index in standing.dropped or handle(message.digest, 0).partition(".")[0] not in wanted:
            continue
        stays = index if index >= conversation.head else len(conversation.messages)
        for number in range(len(message.parts)):
            if (index, number) not in standing.replaced:
                name = handle(message.digest, number)
                last[name] = max(stays, last.get(name, stays))
    return PinnedContents(texts, last)
