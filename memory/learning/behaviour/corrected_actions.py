"""What a person corrected of an agent's doing: the action that was wrong, tied to the words that say so.

Either the person said it in the next message, or did not let the action be done. Which of several actions is meant is
told by the words that both have in common; where none has any, it is the last one that changed something if the person
began by objecting, and none if not: "use A, not B" may as well be the next order.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from memory.actions import ActionKind
from memory.behaviour import StepKind
from memory.conversation import Message, Role
from memory.learning.behaviour.commands import simple_commands
from memory.learning.behaviour.steps import AnsweredCall, Window, deed_of
from memory.learning.rule_findings import correction
from memory.learning.speech import spoken_in
from memory.ports import Journaled
from memory.session import RequestKind

MOST: Final = 12
"""Clauses of a message in which a correction is looked for."""
_MAX_REASON_CHARS: Final = 240
_SHORT: Final = 160


@dataclass(frozen=True, slots=True)
class CorrectedAction:
    """``wrong`` is the action, ``right`` what the person said; ``refused``: the action was not let be done, and
    ``right`` (maybe empty) is what the runtime gave back in the person's name. ``family`` names the action's sort."""

    wrong: str
    right: str
    family: str
    source: bytes
    refused: bool = False


def corrected(journaled: Journaled, looked: Window, of: Collection[bytes] | None = None) -> Iterator[CorrectedAction]:
    """The corrections of actions that are new in an exchange; only those ``of`` some messages, by their digests, where
    it is given."""
    if journaled.kind != RequestKind.MAIN:
        return
    for each in looked.seen:
        if each.fresh and each.refused and _wanted(each.message, of) and _acts(each):
            yield CorrectedAction(
                _describe(each), _reason_of_refusal(each.result), _family(each), each.message.digest, refused=True
            )
    for index in sorted(looked.fresh):
        message = journaled.messages[index]
        if message.role is not Role.USER or not (text := message.spoken.strip()) or text.startswith("[Request"):
            continue
        if not _wanted(message, of):
            continue
        done = [each for each in _calls_since_last_word(looked, index) if _acts(each) and not each.refused]
        # What was said is read last: that takes a hundred times as long as to see that nothing was done.
        if not done or (said := _correcting_words(text)) is None:
            continue
        if meant := _meant(said, done):
            yield CorrectedAction(_describe(meant), said.right, _family(meant), message.digest)


def _wanted(message: Message, of: Collection[bytes] | None) -> bool:
    return of is None or message.digest in of


class _Correcting(NamedTuple):
    right: str
    objects: bool


def _correcting_words(value: str) -> _Correcting | None:
    """The words of a message that correct, with what comes right behind them where they are few. What objects to
    something in general is taken for a correction only at the beginning of what is said after work was done."""
    spoken = spoken_in(value[:2000])[:MOST]
    for place, clause in enumerate(spoken):
        if len(clause.words) < 2 or clause.hypothetical or clause.reported:
            continue
        objects = place == 0 and _OBJECTS.match(clause.text.replace("’", "'").lstrip()) is not None
        if not objects and (clause.question or correction(clause) is None):
            continue
        text = clause.text
        if len(clause.words) < 8 and place + 1 < len(spoken):
            text = f"{text} {spoken[place + 1].text}"
        return _Correcting(_cut(text, _MAX_REASON_CHARS), objects)
    return None


def _calls_since_last_word(looked: Window, index: int) -> list[AnsweredCall]:
    """The calls between a message and the one in which a person spoke before it."""
    if not looked.seen:
        return []
    places = range(index - looked.first - 1, -1, -1)
    start = next((place + looked.first for place in places if looked.messages[place].spoken), -1)
    return [each for each in looked.seen if start < each.index < index]


def _meant(said: _Correcting, done: Sequence[AnsweredCall]) -> AnsweredCall | None:
    wanted = _words(said.right)
    common = [len(wanted & _words(_about(each))) for each in reversed(done)]
    most = max(common)
    return done[-1 - common.index(most)] if most or said.objects else None


def _acts(each: AnsweredCall) -> bool:
    if each.action.kind is ActionKind.WRITE:
        return True
    if each.action.kind is ActionKind.RUN:
        return any(not simple.looks for simple in simple_commands(each.action.command))
    return each.action.kind is ActionKind.OTHER and deed_of(each.call.name) is StepKind.CALL


def _family(each: AnsweredCall) -> str:
    ran = [simple.family for simple in simple_commands(each.action.command)]
    return ran[-1] if ran else each.call.name


def _describe(each: AnsweredCall) -> str:
    if each.action.kind is ActionKind.WRITE and each.action.paths:
        return f"the edit of {each.action.paths[0]}"
    text = " ".join((each.action.command or each.call.name).replace("`", "'").split())
    return f"`{_cut(text, _SHORT)}`"


def _about(each: AnsweredCall) -> str:
    return f"{each.action.command} {' '.join(each.action.paths)} {each.call.arguments[:4000]}"


def _reason_of_refusal(result: str) -> str:
    found = _USER_FEEDBACK.search(result[:4000])
    return _cut(" ".join(found["said"].split()), _MAX_REASON_CHARS) if found else ""


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z][a-z0-9_-]{2,40}", text.lower())) - _COMMON


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " …"


_THIS = r"(?:this|that|it|these|those)"
_OBJECTS = re.compile(
    r"(?:(?:but|hm+|um+|oh|ok(?:ay)?|wait|sorry|hey|again|and),? ){0,2}(?:"
    r"(?:no|nah|nope)[,.! ]+(?!problem|worries|need|that's (?:all|it|fine|ok)|thank)"
    r"|(?:please )?(?:don't|do not|stop|never) (?!worry|forget|"
    r"bother|mind)\w+"
    r"|why (?:did|do|are|would) (?:you|we) |(?:you|u) (?:didn't|did not|forgot|missed|broke|removed|deleted|changed|"
    r"left|shouldn't|should not|should have|haven't|only|still|just) "
    rf"|{_THIS}(?:'s| is| are|'re)? (?:still |just |also )*(?:wrong|broken|failing|not (?!bad|sure|urgent)|incorrect|"
    rf"missing|too )|{_THIS} (?:still |just |also )?(?:doesn't|does not|don't|didn't|fails?|broke|breaks)"
    r"|(?:tests?|the tests?|lint|the build|ci|mise run \S+) (?:is|are|keeps?) (?:still )?(?:failing|broken|red)"
    r"|(?:please |can you |could you |let's |we should |i'd |nah )*(?:revert|undo|roll ?back|put (?:it|that) back)"
    r"|instead of |we don't (?:need|want) |i don't (?:want|think we need)|not what )",
    re.IGNORECASE,
)
_USER_FEEDBACK = re.compile(
    r"(?:the user said|user'?s? (?:reason|feedback|message))\s*+(?::\s*+)?(?P<said>\S[^\0]{2,600})", re.I
)
_COMMON_WORDS = "the and that this not you use with for are was have should instead don but can all new old string"
_COMMON = frozenset(_COMMON_WORDS.split())
