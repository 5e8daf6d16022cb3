"""The corpus: what clients send and providers say, scene by scene. Words of our own, in the shapes of real clients."""

from __future__ import annotations

import gzip
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from tests.bench.sessions import FORMATS, RESPONSES, Growing, Person, Result, Turn, made_up
from tests.corpus.stage import Stage
from tests.memory.features.subagents.errands import PROMPT, REPORT, REWORDED
from tests.proxy.runtimes.recordings import NAMES, RECORDED, recorded
from tests.proxy.runtimes.senders import SENDERS, TALK, Sender
from tests.proxy.runtimes.senders import Turn as Spoken
from tests.proxy.wire.rounds.scripts import Call, Round, Say, Think
from tests.proxy.wire.shapes import BY_PATH

Play = Callable[[Stage], Awaitable[None]]

SHEDDING = {"memory.default_window": 12_000, "memory.shedding.reserve": 800}
SKILLS = {"memory.learning.skills.sessions": 3, "memory.learning.skills.times": 3}
LESSONS = (
    "We decided to use PostgreSQL 16 for the billing service, because SQLite locks under our load.",
    "I prefer short answers without bullet points. My name is Ada and I live in Lisbon.",
    "No, that is wrong: the staging gateway listens on port 7443, not on 8080.",
    "Remember for ever: never push to main without a review by Grace.",
    "Yesterday we moved the nightly backup from 02:00 to 04:30, and Tom found that the disk was full.",
    "Between us: I was at the doctor's on Monday, and the loan for the flat was refused.",
)
QUESTIONS = (
    "Which database does the billing service use?",
    "On which port does the staging gateway listen, and when does the backup run?",
    "What did we do yesterday?",
    "Write a haiku about rain.",
)


@dataclass(frozen=True)
class Scene:
    """One scene: its name, how it is played, and dotted settings."""

    name: str
    play: Play
    options: Mapping[str, Any] = field(default_factory=dict)


def scenes() -> Iterator[Scene]:
    """All scenes, in order."""
    yield Scene("runtimes", _runtimes)
    yield Scene("odd", _odd)
    for name, path in FORMATS.items():
        yield Scene(f"memory-{name}", _of(path, _memory))
        yield Scene(f"tools-{name}", _of(path, _tools), {"memory.tools.offer": True})
        yield Scene(f"long-{name}", _of(path, _long), SHEDDING)
        yield Scene(f"research-{name}", _of(path, _research))
        yield Scene(f"habits-{name}", _of(path, _habits), SKILLS)
    yield Scene("overflow", _overflow)
    yield Scene("quiet", _quiet, {"memory.mode": "read-only"})


def _of(path: str, play: Callable[[Stage, str], Awaitable[None]]) -> Play:
    return lambda stage: play(stage, path)


async def _runtimes(stage: Stage) -> None:
    """A talk and side requests of every client that there is, by hand or as recorded: what one of them teaches helps
    the next."""
    for name, sender in SENDERS.items():
        spoken: list[Spoken] = [("human", f"In {name} we always run `make check` before a commit. {TALK[0][1]}")]
        path = sender.path + sender.query
        await stage.send(f"{name}, asks", path, sender.body(spoken, 1), _says("On 7443."), **sender.headers)
        spoken += [TALK[1], ("human", "Check it."), ("call", "ok: 41 passed, 1 skipped")]
        await stage.send(f"{name}, works", path, sender.body(spoken, 2), _says("It is fine."), **sender.headers)
        for number, side in enumerate(sender.sides):
            await stage.send(f"{name}, side {number}", path, side(sender), _says("A title"), **_headers(sender))
        stage.clock.pass_by(hours=3)
    by_hand = {sender.runtime for sender in SENDERS.values()}
    for client in (each for each in RECORDED if NAMES.get(each, each) not in by_hand):
        for number, request in enumerate(recorded(client)):
            label = f"{client}, recorded {number}"
            await stage.send(label, request.path, request.sent, _says("On 7443."), **request.headers)
        stage.clock.pass_by(hours=3)
    await stage.export()


def _headers(sender: Sender) -> dict[str, str]:
    return {key: str(value) for key, value in sender.headers.items()}


async def _odd(stage: Stage) -> None:
    """Bodies that are no rule: unknown fields, odd numbers, compressed, broken; and paths that are none of ours."""
    for path, bodies in BY_PATH.items():
        for number, body in enumerate(bodies):
            await stage.send(f"shape {number}", path, body, x_session_id="odd")
            again = body.replace(b'"content":"Hello."', b'"content":"Hello again."')
            await stage.send(f"shape {number} again", path, again, x_session_id="odd")
        await stage.send("not JSON", path, b'{"model": ')
        await stage.send("compressed", path, gzip.compress(bodies[0], mtime=0), Content_Encoding="gzip")
        await stage.send("refused", path, bodies[0], 429, x_session_id="refused")
    await stage.send("embeddings", "/v1/embeddings", b'{"model":"e","input":["a",1e0]}')


async def _memory(stage: Stage, path: str) -> None:
    """What is taught in one session is there in the next, in its place, and gone when it is forgotten."""
    for number, lesson in enumerate(LESSONS):
        talk = Growing(path, ())
        await stage.turn("teaches", talk, _said(lesson, "I will mind that."), **_in(f"teach-{number}"))
        await stage.turn("goes on", talk, _said("Thanks. What else?", "Nothing else."), **_in(f"teach-{number}"))
        stage.clock.pass_by(hours=5)
    await _questions(stage, path, "before")
    await stage.night()
    told = await stage.ask("page", "GET", "api/page?project=loom")
    own = "# My words\n\n- Always answer in English.\n- Deploys happen on Thursdays only.\n"
    await stage.ask("own words", "PUT", "api/page?project=loom", {"own": own})
    streams = {each["stream"]: each["text"] for each in told["files"] if "- " in each["text"]}
    edited = {name: _without_a_line(text) + "- The mascot is an otter.\n" for name, text in streams.items()}
    if edited:
        await stage.ask("edits", "PUT", "api/page?project=loom", {"files": edited})
    await _questions(stage, path, "edited")
    assert await stage.forget("staging gateway port")
    await _questions(stage, path, "forgotten")
    await stage.night()
    await stage.ask("nights", "GET", "api/nights?project=loom")
    await stage.export()


async def _questions(stage: Stage, path: str, when: str) -> None:
    talk = Growing(path, ())
    for number, question in enumerate(QUESTIONS):
        said = _said(question, "PostgreSQL 16, and 7443." if number < 2 else "As you say.")
        await stage.turn(f"asks {when}", talk, said, **_in(f"ask-{when}"))
    stage.clock.pass_by(days=2)


async def _tools(stage: Stage, path: str) -> None:
    """The model asks memory in the middle of its reply, beside calls of the client's own and alone."""
    await stage.turn("teaches", Growing(path, ()), _said(LESSONS[0], "Good."), **_in("teach"))
    search = Call("m1", "memory_search", '{"query": "database decision"}')
    note = Call("m2", "memory_note", '{"action": "add", "text": "The billing tests need a running PostgreSQL."}')
    day = Call("m3", "memory_day", '{"date": "2026-03-02"}')
    wrong = Call("m4", "memory_get", "{}")
    bash = Call("c1", "bash", '{"command": "ls"}')
    look = Turn((Person("Which database did we choose?"),), Round((Say("You chose PostgreSQL 16."),), (80, 9), "r2"))
    both = Turn((Person("Are you sure? Look at the files too."),), Round((Say("I look."), bash), (90, 9), "r4"))
    done = Turn((Result("c1", "3 files"),), Round((Say("Quite sure."),), (99, 9), "r5"))
    talk = Growing(path, (both,))
    thought = Think("Hm.", "Sig==") if path != RESPONSES else Say("Hm. ")
    hidden = (Round((thought, Say("Let me look. "), search), (50, 5)), Round((note, day), (60, 5), "r1b"))
    await stage.turn("asks memory", talk, look, *hidden, **_in("ask"))
    await stage.turn("asks both", talk, both, Round((wrong,), (70, 5), "r3"), **_in("ask"))
    await stage.turn("hears of both", talk, done, **_in("ask"))
    await stage.turn("goes on", talk, _said("Good. And the tests?", "They need it too."), **_in("ask"))
    await stage.export()


async def _long(stage: Stage, path: str) -> None:
    """A session of many times its window: it is trimmed, folded and rotated, and what was shed comes back."""
    turns = made_up(45)
    talk = Growing(path, turns)
    for number, turn in enumerate(turns):
        await stage.turn("works", talk, _used(turn, number), **_in("long"))
        if number % 15 == 14:
            stage.clock.pass_by(hours=1)
    first = next(part.text for part in turns[1].heard if isinstance(part, Result))
    named = next((word for word in first.split() if word.startswith(("settle_", "archive_"))), first.split()[-1])
    back = _said(f"What was it that {named} said at the beginning? Quote it.", "It said so.")
    await stage.turn("comes back to it", talk, back, **_in("long"))
    await stage.ask("page", "GET", "api/page?project=loom")


async def _research(stage: Stage, path: str) -> None:
    """A parent sends a child out, which reports; the next child with the same question is given what it found."""
    spawn = Call("c1", "task", orjson.dumps({"description": "Study the retry policy", "prompt": PROMPT}).decode())
    read = Call("t1", "read", '{"path": "billing/retry.py"}')
    sends = Turn((Person("How do we retry?"),), Round((Say("I send somebody."), spawn), id="p1"))
    hears = Turn((Result("c1", f"<task_result>\n{REPORT}</task_result>"),), Round((Say("It retries five times."),)))
    looks = Turn((Person(PROMPT),), Round((read,), id="k1"))
    reports = Turn((Result("t1", "max_attempts = 5\n" * 40),), Round((Say(REPORT),), id="k2"))
    parent, child = Growing(path, (sends,)), Growing(path, (looks,))
    await stage.turn("parent sends", parent, sends, **_in("parent"))
    await stage.turn("child looks", child, looks, **_in("child"))
    await stage.turn("child reports", child, reports, **_in("child"))
    await stage.turn("parent hears", parent, hears, **_in("parent"))
    stage.clock.pass_by(days=1)
    later = Growing(path, (looks,))
    parented = _in("later") | {"x_parent_session_id": "another"}
    await stage.turn("another child", later, _said(REWORDED, "I know it already: five times."), **parented)
    await stage.turn("goes on", later, _said("And the jitter?", "0.2."), **parented)
    found = await stage.ask("research", "GET", "api/research?project=loom")
    assert found["research"]
    await stage.export()
    await stage.ask("forget", "DELETE", f"api/research/{found['research'][0]['id']}?project=loom")
    gone = Growing(path, ())
    await stage.turn("forgotten", gone, _said(PROMPT, "Let me see."), **_in("gone", x_parent_session_id="another"))
    await stage.export()


ERROR = (
    'Traceback (most recent call last):\n  File "/tmp/build-{n}/report.py", line {n}, in <module>\n'
    "    import tabulate\nModuleNotFoundError: No module named 'tabulate'"
)
WORK = (("cargo fmt", ""), ("cargo clippy --all", "ok"), ("cargo test", "12 passed"), ("git commit -m 'a b'", "[main]"))


async def _habits(stage: Stage, path: str) -> None:
    """The same work is done in session after session; an error comes back, and what put it right with it."""
    for number in range(6):
        await _worked(stage, path, f"Do piece {number}.", WORK, f"habit-{number}")
        stage.clock.pass_by(hours=20)
    failed = ("python report.py", ERROR.format(n=3))
    mended = (failed, ("pip install tabulate==0.9", "Successfully installed tabulate-0.9.0"), (failed[0], "42 rows"))
    then = "No, the report should be in UTC, not local time."
    await _worked(stage, path, "Make the report.", mended, "fix-1", then)
    again = (failed[0], ERROR.format(n=17))
    await _worked(stage, path, "Write the report of March.", (again,), "fix-2")
    await stage.ask("habits", "GET", "api/habits?project=loom")
    assert await stage.forget("tabulate")
    await _worked(stage, path, "And the report of April.", (again,), "fix-3")
    await stage.ask("habits", "GET", "api/habits?project=loom")
    await stage.export()


async def _worked(
    stage: Stage, path: str, words: str, rounds: Sequence[tuple[str, str]], session: str, then: str = ""
) -> None:
    heard: tuple[Person | Result, ...] = (Person(words),)
    turns = []
    for number, (command, printed) in enumerate(rounds):
        call = Call(f"{session}-{number}", "bash", orjson.dumps({"command": command}).decode())
        turns.append(Turn(heard, Round((call,), id=f"{session}-{number}")))
        heard = (Result(call.id, printed),)
    turns.append(Turn(heard, Round((Say("Done."),))))
    talk = Growing(path, turns)
    for turn in turns:
        await stage.turn("works", talk, turn, **_in(session))
    if then:
        await stage.turn("is corrected", talk, _said(then, "In UTC, then."), **_in(session))


async def _overflow(stage: Stage) -> None:
    """A provider that refuses a request for its length gets it once more, shorter."""
    turns = made_up(12)
    for path in FORMATS.values():
        talk = Growing(path, turns)
        for turn in turns[:-1]:
            await stage.turn("works", talk, turn, **_in(f"over{path}"))
        body = talk.hear(turns[-1])
        await stage.send("too long", path, body, 400, _says("It fits now."), **_in(f"over{path}"))


async def _quiet(stage: Stage) -> None:
    """Memory that may be read and not written."""
    for path in FORMATS.values():
        await stage.turn("teaches", Growing(path, ()), _said(LESSONS[0], "Good."), **_in("teach"))
        await stage.turn("asks", Growing(path, ()), _said(QUESTIONS[0], "I do not know."), **_in("ask"))
        off = _in("off", x_palimpsest_memory="off")
        await stage.turn("off", Growing(path, ()), _said(QUESTIONS[0], "I do not know."), **off)


def _says(text: str) -> Round:
    return Round((Say(text),))


def _said(asked: str, told: str) -> Turn:
    return Turn((Person(asked),), _says(told))


def _used(turn: Turn, number: int) -> Turn:
    """The same turn, with a usage that grows as a provider's does."""
    return Turn(turn.heard, Round(turn.reply.parts, (1000 + 90 * number, 20), f"r{number}"))


def _without_a_line(text: str) -> str:
    """A page's text of which a person has taken the first line of memory out."""
    lines = text.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith("- "))
    return "".join(lines[:first] + lines[first + 1 :])


def _in(session: str, **more: str) -> dict[str, str]:
    return {"x_session_id": session, "x_palimpsest_project": "loom", **more}
