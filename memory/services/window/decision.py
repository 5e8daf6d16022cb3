"""What was decided to leave a request, as it is to be written into its session's ledger."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace

from memory.context.shed_plan import SegmentCut, ShedPlan
from memory.context.visible_history import VisibleHistory
from memory.conversation import Form, Message
from memory.edits import Act, Entry
from memory.session import Shed


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be written into the ledger. A rotation's ``cut`` still wants its page. ``unkept`` are the messages
    that something leaves and that the journal does not have; ``late`` says that it was made for the request before."""

    entries: tuple[Entry, ...] = ()
    cut: SegmentCut | None = None
    shed: Shed | None = None
    warning: str = ""
    unkept: tuple[Message, ...] = ()
    late: bool = False


def decision(planned: ShedPlan, seen: VisibleHistory, shelved: Container[bytes]) -> Decision:
    """A plan for what is looked at of a request, as a decision about the whole of it. ``shelved`` are the digests of
    the messages that the journal has."""
    conversation, standing = seen.conversation, seen.standing
    entries = []
    for each in planned.replacements:
        form = conversation.messages[each.message].takes or Form.SUFFIX
        entries.append(
            Entry(
                *seen.keys[each.message],
                each.text,
                form,
                f"shed {each.why}".strip(),
                act=Act.REPLACE,
                part=each.part,
                tier=each.tier,
            )
        )
    left = {each.message for each in planned.replacements}
    cut = planned.cut
    if cut is not None:
        left.update(range(max(conversation.head, standing.dropped.stop), cut.message))
        cut = replace(cut, message=seen.place(cut.message))
    unkept = [message for index in sorted(left) if (message := conversation.messages[index]).digest not in shelved]
    return Decision(tuple(entries), cut, planned.shed, planned.why, tuple(unkept))
