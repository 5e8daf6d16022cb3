"""What leaves a request for which no plan was ready in time, so that it fits all the same.

A plan reads a session; this only adds up sizes. Whole rounds leave, the oldest first, and the note of before stands
for them too; where the newest round alone is too large, its results give way, the largest first and the newest last.

A result that is pinned, or that could not be given back word for word, never gives way to a stub. With its round it
leaves as any other does, because the request would not fit: what is pinned is said in the note then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from memory.context.budget import Budget
from memory.context.continuity import enclosed, harmless
from memory.context.protection import beginnings, last_round, pins
from memory.context.shed_plan import FRAME, Replacement, SegmentCut, ShedPlan, stub
from memory.conversation import Conversation, Message, ToolResult
from memory.edits import Act, ActiveEdits, ContentTier, handle
from memory.session import Shed

WHY = "no plan was ready in time"

LEAST = 60
"""Tokens of a result that gives way."""


def fallback_trim(
    conversation: Conversation,
    sizes: Sequence[int],
    parts: Callable[[int], Sequence[int]],
    budget: Budget,
    standing: ActiveEdits,
    pinned: Mapping[str, str | None],
    may_leave: Callable[[Message, int], bool],
    warm: bool = True,
) -> ShedPlan:
    """What leaves at once, down to where a trim begins, if the request is too large for its window.

    ``sizes`` are the messages' tokens as they stand, ``parts`` says what the parts of one come to as the client sent
    it, ``pinned`` are the texts that stay whatever leaves, by their handles: None for one that cannot be said in a note
    yet, whose round stays then. ``may_leave`` says whether a message's result, by its part's number, can be given back;
    only those that would leave are asked about.
    """
    total = budget.fixed + sum(sizes)
    if total <= budget.window:
        return ShedPlan(tokens=total)
    head, begin = conversation.head, max(conversation.head, standing.dropped.stop)
    earlier = next((entry.text for _, entry in standing.entries if entry.act is Act.CUT), "")
    lines = {name: harmless(text) for name, text in pinned.items() if text is not None}
    held = pins(conversation, standing, {name: line for name, line in lines.items() if line not in earlier})
    unsaid = pins(conversation, standing, dict.fromkeys(pinned.keys() - lines.keys(), ""))
    newest = min([last_round(conversation), *unsaid.last.values()])
    places = [place for place in beginnings(conversation) if begin < place <= newest] if head else []
    cut, left = None, total
    for place in places:
        text = _note(earlier, held.leaving(place))
        more = (len(text) - len(earlier)) // 4 + 1
        cut, left = SegmentCut(place, text), total - sum(sizes[begin:place]) + more
        if left <= budget.trim:
            break
    replaced: list[Replacement] = []
    whole = _removable_results(conversation, parts, standing, cut.message if cut else begin, pinned, may_leave)
    while left > budget.window and (found := next(whole, None)):
        index, number, tokens = found
        shown = stub(ContentTier.L0, "", "", tokens, handle(conversation.messages[index].digest, number))
        replaced.append(Replacement(index, number, ContentTier.L0, shown, WHY))
        left -= tokens - FRAME
    if cut is None and not replaced:
        return ShedPlan(
            tokens=total, why=f"what must stay is larger than the window: {total} of {budget.window} tokens"
        )
    first = head - 1 if cut is not None else min(each.message for each in replaced)
    rewritten = max(left - budget.fixed - sum(sizes[:first]), 0)
    shed = Shed("rotate" if cut is not None else "fold", WHY, total - left, rewritten, warm)
    return ShedPlan(tuple(sorted(replaced, key=lambda each: (each.message, each.part))), cut, shed, left)


def _note(earlier: str, lines: Sequence[str]) -> str:
    """The note of before, and what is pinned and leaves now."""
    if earlier and not lines:
        return earlier
    note = "Earlier messages of this session are not shown any more."
    return f"{earlier}\n{enclosed([note, *(f'- {line}' for line in lines)])}".lstrip()


def _removable_results(
    conversation: Conversation,
    parts: Callable[[int], Sequence[int]],
    standing: ActiveEdits,
    begin: int,
    pinned: Collection[str],
    may_leave: Callable[[Message, int], bool],
) -> Iterator[tuple[int, int, int]]:
    """The results that are still whole and may give way, from a message on, with their tokens: the largest first, the
    newest last."""
    messages = conversation.messages
    found = [
        (index, number, tokens)
        for index in range(begin, len(messages))
        for number, tokens in enumerate(parts(index))
        if tokens >= LEAST
        and isinstance(messages[index].parts[number], ToolResult)
        and (index, number) not in standing.replaced
    ]
    newest = max((each[:2] for each in found), default=None)
    for index, number, tokens in sorted(found, key=lambda each: (each[:2] == newest, -each[2], each[:2])):
        message = messages[index]
        if handle(message.digest, number) not in pinned and may_leave(message, number):
            yield index, number, tokens
