"""JSON schemas of what our endpoints answer, read off the types that their handlers say they return."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from enum import Enum
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec

from memory.hooks.route_request import Answer, Fields
from proxy.api.responses import Json

Schema = dict[str, Any]

REFERENCE: Final = "#/components/schemas/"

_PLAIN: Final[Mapping[Any, Schema]] = {
    Any: {},
    object: {},
    type(None): {"type": "null"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    bytes: {"type": "string", "pattern": "^[0-9a-f]*$"},
}


def answer_type(handler: Callable[..., Any]) -> Any:
    """The type of what a handler tells as JSON; None where it answers something else.

    Raises:
        TypeError: when it does not say what it returns.
    """
    told = get_type_hints(handler, include_extras=True).get("return")
    if get_origin(told) in (Json, Answer):
        return get_args(told)[0]
    if inspect.isclass(told) and issubclass(told, Json | Answer):
        raise TypeError(f"{handler.__qualname__} does not say what its answer holds")
    return told if hasattr(handler, "__wrapped__") else None


class AnswerSchemas:
    """Makes the schemas, and keeps those of objects by their names, to which the others refer."""

    def __init__(self) -> None:
        self.named: dict[str, Schema] = {}
        self._kinds: dict[str, Any] = {}

    def of(self, kind: Any) -> Schema:
        """The schema of a type.

        Raises:
            TypeError: when it is of a sort that is not known here, or two types have one name.
        """
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        origin, inner = get_origin(kind), get_args(kind)
        if origin is Annotated:
            mark = next((each for each in inner[1:] if isinstance(each, Fields)), None)
            return self.of(inner[0]) if mark is None else self._reference(mark.name, mark)
        if origin in (Union, types.UnionType):
            return _either([self.of(each) for each in inner])
        if origin is Literal:
            return _one_of(inner)
        if origin is not None:
            return self._collection(kind, origin, inner)
        if inspect.isclass(kind) and issubclass(kind, Enum):
            return _one_of(each.value for each in kind)
        if _is_record(kind):
            return self._reference(kind.__name__.strip("_").removesuffix("Json"), kind)
        raise TypeError(f"{kind!r} has no schema here")

    def _collection(self, kind: Any, origin: Any, inner: tuple[Any, ...]) -> Schema:
        if origin is tuple and inner[-1] is not Ellipsis:
            # Programs that read OpenAPI do not all know `prefixItems`, which would tell what stands where.
            items = _either([self.of(each) for each in inner])
            return {"type": "array", "items": items, "minItems": len(inner), "maxItems": len(inner)}
        if issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(inner[1])}
        if hasattr(origin, "__iter__"):
            return {"type": "array", "items": self.of(inner[0])}
        raise TypeError(f"{kind!r} has no schema here")

    def _reference(self, name: str, kind: Any) -> Schema:
        if self._kinds.setdefault(name, kind) is not kind:
            raise TypeError(f"two kinds of answers are called {name}: {kind!r} and {self._kinds[name]!r}")
        if name not in self.named:
            self.named[name] = {}  # a type may hold itself
            fields, ways = self._fields(kind)
            told = {"description": _description_of_type(kind)} if _description_of_type(kind) else {}
            required = set[str].intersection(*ways)
            self.named[name] |= {"type": "object", **told, "properties": fields, "required": sorted(required)}
            if all(each - required for each in ways):
                self.named[name]["anyOf"] = [{"required": sorted(each - required)} for each in ways]
        return {"$ref": f"{REFERENCE}{name}"}

    def _fields(self, kind: Any) -> tuple[dict[str, Schema], list[set[str]]]:
        """The fields of an object, and which of them are always there, for each type that it may be of."""
        if get_origin(kind) is Annotated:
            kind = next(each for each in get_args(kind)[1:] if isinstance(each, Fields))
        if isinstance(kind, Fields):
            fields: dict[str, Schema] = {}
            ways: list[set[str]] = [set()]
            for part in kind.of:
                more, of_part = self._fields(part)
                fields |= more
                ways = [(way - more.keys()) | always for way in ways for always in of_part]
            kept = fields.keys() - set(kind.without)
            return {name: schema for name, schema in fields.items() if name in kept}, [way & kept for way in ways]
        if get_origin(kind) in (Union, types.UnionType):
            return self._fields_of_either(get_args(kind))
        hints = kind() if inspect.isfunction(kind) else get_type_hints(kind, include_extras=True)
        if dataclasses.is_dataclass(kind):
            hints = {each.name: hints[each.name] for each in dataclasses.fields(kind)}
        always = {name for name, hint in hints.items() if get_origin(hint) is not NotRequired}
        return {name: self.of(hint if name in always else get_args(hint)[0]) for name, hint in hints.items()}, [always]

    def _fields_of_either(self, kinds: tuple[Any, ...]) -> tuple[dict[str, Schema], list[set[str]]]:
        every = [self._fields(each) for each in kinds]
        fields: dict[str, Schema] = {}
        for name in dict.fromkeys(name for each, _ in every for name in each):
            fields[name] = _either([each[name] for each, _ in every if name in each])
        return fields, [way for _, ways in every for way in ways]


def _either(schemas: list[Schema]) -> Schema:
    distinct = [each for place, each in enumerate(schemas) if each not in schemas[:place]]
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def _one_of(values: Iterable[Any]) -> Schema:
    every = list(values)
    return {"type": "string", "enum": every} if all(isinstance(each, str) for each in every) else {"enum": every}


def _is_record(kind: Any) -> bool:
    return (
        is_typeddict(kind)
        or dataclasses.is_dataclass(kind)
        or (inspect.isclass(kind) and issubclass(kind, msgspec.Struct))
    )


def description_of(text: str) -> str:
    """What a docstring says, for those who do not read Python."""
    plain = re.sub(r":\w+:`~?(?:\w+\.)*(\w+)`", r"`\1`", re.sub(r"\s+", " ", text).strip()).replace("``", "`")
    return re.sub(r"\bNone\b", "null", plain)


def _description_of_type(kind: Any) -> str:
    """What the docstring of a type says, or those of several; empty where there is none, or it is another's."""
    if get_origin(kind) is Annotated:
        return _description_of_type(
            next((each for each in get_args(kind)[1:] if isinstance(each, Fields)), get_args(kind)[0])
        )
    if isinstance(kind, Fields):
        every = [_description_of_type(each) for each in kind.of]
        # What a later part tells of a field takes the place of what an earlier one does.
        told = (_without(each, kind.without, " ".join(every[at + 1 :])) for at, each in enumerate(every))
        return " ".join(filter(None, told))
    if get_origin(kind) in (Union, types.UnionType):
        return " ".join(filter(None, map(_description_of_type, get_args(kind))))
    text = kind.__doc__ or ""
    return "" if text.startswith(f"{kind.__name__}(") else description_of(text)


def _without(text: str, left_out: Iterable[str], later: str) -> str:
    """A description without the clauses that begin with a field that is left out, or of which a ``later`` one tells."""
    gone = {*left_out, *re.findall(r"`(\w+)`", later)}
    told = []
    for sentence in re.split(r"(?<=\.) (?=[A-Z`])", text):
        clauses = re.split(r"; ", sentence.removesuffix("."))
        kept = [each for each in clauses if not ((found := re.match(r"`(\w+)`", each)) and found[1] in gone)]
        told += ["; ".join(kept) + "." if sentence.endswith(".") else "; ".join(kept)] if kept else []
    return " ".join(told)
