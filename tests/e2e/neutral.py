"""A client's requests made neutral: nothing of the machine, the day and the run, and of the client's own prose no more
than how its lines begin.

What decides what a proxy makes of a request stays as it is: every key and every part in its place, roles, tags, names
of tools and parameters, and all that the person, the model and the tools said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any

KEPT_WORDS = 12
"""Of a line of prose."""
KEPT_FIRST, KEPT_LAST = 12, 6
"""Lines of a long text; between them those that name a place or a day, and tags."""
TOOL_WORDS = 6
"""What a tool says of itself is kept where it is no longer than that."""
CUT = "…"
DAY = date(2026, 11, 20)
"""The day on which all is said to have happened."""
MOMENT_MS = "1795171200000"

_IDS = (
    re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    re.compile(r"(?<![0-9A-Za-z])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{16,64}\b"),
    re.compile(r"(?<=ses_)[0-9A-Za-z]{20,40}\b"),
)
_TIME = re.compile(r"(?<=\d[T ])[0-2]\d:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?")
_MOMENT_MS = re.compile(r'(?<=_unix_ms":)\d{13}')
_NAMES_A_PLACE = re.compile(r"/srv/|/home/|20\d\d|^\s*<")


class Neutral:
    """What stands for what: the same for the same thing throughout a recording. ``places`` are paths and names of the
    machine, and what stands for each; ``day`` is the one on which it was recorded."""

    def __init__(self, places: Mapping[str, str], day: date) -> None:
        every = {**places, **{_slug(path): _slug(other) for path, other in places.items() if path.startswith("/")}}
        self._places = sorted(every.items(), key=lambda pair: -len(pair[0]))
        self._days = list(zip(_written(day), _written(DAY), strict=True))
        self._ids: dict[str, str] = {}
        self._times: dict[str, str] = {}

    def text(self, text: str) -> str:
        """A text without anything of this machine, this day and this run."""
        for told, other in self._places:
            text = text.replace(told, other)
        for pattern in _IDS:
            text = pattern.sub(lambda found: self._id(found[0]), text)
        text = _TIME.sub(lambda found: self._time(found[0]), text)
        for day, other in self._days:
            text = text.replace(day, other)
        return _MOMENT_MS.sub(MOMENT_MS, text)

    def body(self, body: Mapping[str, Any], said: Iterable[str]) -> dict[str, Any]:
        """A request's body. What holds one of the texts that were ``said`` is not cut."""
        kept = tuple(said)
        tools = {key: self._each(body[key], _tool_text) for key in ("tools",) if key in body}
        rest = {key: value for key, value in body.items() if key != "tools"}
        told = self._each(rest, lambda text: text if any(each in text for each in kept) else prose(text))
        return {key: tools[key] if key in tools else told[key] for key in body}

    def _each(self, value: Any, cut: Callable[[str], str]) -> Any:
        if isinstance(value, str):
            return cut(self.text(value))
        if isinstance(value, list):
            return [self._each(inner, cut) for inner in value]
        if isinstance(value, dict):
            return {self.text(key): self._each(inner, cut) for key, inner in value.items()}
        return value

    def _id(self, told: str) -> str:
        """Another one of the same form."""
        if told not in self._ids:
            number = f"{len(self._ids) + 1:x}"
            shape = re.sub(r"[0-9A-Za-z]", "0", told)
            self._ids[told] = f"a{shape[1 : len(shape) - len(number)]}{number}"
        return self._ids[told]

    def _time(self, told: str) -> str:
        if told not in self._times:
            hour, minute = divmod(len(self._times), 60)
            self._times[told] = re.sub(
                r"^..:..(:..)?", lambda at: f"{9 + hour:02}:{minute:02}{':00' if at[1] else ''}", told
            )
            self._times[told] = re.sub(r"\.\d+$", ".000", self._times[told])
        return self._times[told]


def prose(text: str) -> str:
    """A text of the client's, cut to how its lines begin."""
    lines = [_beginning(line) for line in text.split("\n")]
    if len(lines) <= KEPT_FIRST + KEPT_LAST:
        return "\n".join(lines)
    middle = [line for line in lines[KEPT_FIRST:-KEPT_LAST] if _NAMES_A_PLACE.search(line)]
    return "\n".join([*lines[:KEPT_FIRST], CUT, *middle, *lines[-KEPT_LAST:]])


def _beginning(line: str) -> str:
    """A line's first words, and the tag that it ends with. A line of fields, of JSON or of one long word is whole."""
    found = re.match(rf"\s*(?:\S+\s+){{{KEPT_WORDS}}}", line)
    if found is None or " | " in line or line.lstrip().startswith(("{", "[{")):
        return line
    closing = re.search(r"</?[\w-]+>\s*$", line)
    return f"{found[0].rstrip()} {CUT}{closing[0] if closing else ''}"


def _tool_text(text: str) -> str:
    return text if len(text.split()) <= TOOL_WORDS else CUT


def _written(day: date) -> tuple[str, ...]:
    """A day as clients write it; the weekday alone stands before a day in figures."""
    forms = (
        "%A, %B {0}, %Y",
        "%a %b {0} %Y",
        "%a %b %d %Y",
        "%a %Y-%m-%d",
        "%Y-%m-%d",
        "{1}/{0}/%Y",
        "%m/%d/%Y",
        "%Y%m%d",
    )
    return tuple(day.strftime(form.format(day.day, day.month)) for form in forms)


def _slug(path: str) -> str:
    """A path as some clients make a name of it."""
    return re.sub(r"[^0-9A-Za-z]", "-", path)
