"""Where settings come from: a file, what a command has changed, the environment; each as a layer of dotted keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

HOME = "~/.palimpsest"

_CHOSEN = "embedder"
_NAMES = ("projects", "memory.windows")
"""Settings whose keys are names, which may have dots in them."""


class SettingsError(Exception):
    """One or more settings are wrong; ``faults`` has a sentence for each."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


def data_folder(file: Path | None, environment: Mapping[str, str], home: Path | None) -> Path | None:
    """The data folder that the settings name, for who needs no other of them; None where they cannot be read, and have
    to be read whole to be told what is wrong."""
    faults: list[str] = []
    layers = [*file_layer(file, faults), *environment_layers(environment)]
    named = home or next((layer["home"] for _, layer in reversed(layers) if "home" in layer), HOME)
    if faults or any(_unknown_variables(environment)) or not isinstance(named, str | Path):
        return None
    return Path(named).expanduser().absolute()


def _duplicate_keys(text: str) -> Iterator[str]:
    """Sentences about keys that stand twice in one place. YAML forbids it, PyYAML takes the last one and says nothing:
    whoever appends a second ``memory:`` loses all of the first."""
    import yaml

    places: list[yaml.Node | None] = [yaml.compose(text, yaml.SafeLoader)]
    seen: set[int] = set()
    while places:
        place = places.pop()
        if place is None or id(place) in seen:
            continue
        seen.add(id(place))
        if isinstance(place, yaml.SequenceNode):
            places += place.value
        elif isinstance(place, yaml.MappingNode):
            lines: dict[str, int] = {}
            for key, value in place.value:
                places.append(value)
                if isinstance(key, yaml.ScalarNode):
                    line = key.start_mark.line + 1
                    if key.value in lines:
                        yield f"{key.value} stands twice, in lines {lines[key.value]} and {line}: make one of them"
                    lines.setdefault(key.value, line)


def file_layer(file: Path | None, faults: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The settings of a YAML file; what is wrong with it is added to ``faults``."""
    if file is None:
        return
    # Here and below: where nobody has set anything, nothing is to be read as YAML.
    import yaml

    try:
        text = file.read_text(encoding="utf-8")
        data = yaml.safe_load(text)
    except FileNotFoundError:
        nowhere = " (it is a link that leads nowhere)" if file.is_symlink() else ""
        faults.append(f"{file}: there is no such file{nowhere}")
        return
    except IsADirectoryError:
        faults.append(f"{file}: it is a folder, where a file with settings is expected: move it away")
        return
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        faults.append(f"{file}: cannot be read as YAML: {' '.join(str(error).split())}")
        return
    faults.extend(f"{file}: {twice}" for twice in _duplicate_keys(text))
    if data is None:
        return
    if not isinstance(data, dict):
        faults.append(f"{file}: holds {type(data).__name__}, where keys with values are expected")
        return
    yield str(file), dict(leaves(data, into_lists=False))


def choose_for_home(home: Path, embedder: str) -> None:
    """Remember which embedder a person has changed to; it stands over the file's, and below the environment's."""
    file = home / _CHOSEN
    file.touch(mode=0o600)
    file.write_text(embedder + "\n", encoding="utf-8")


def chosen_layer(home: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The embedder that a command changed to."""
    try:
        chosen = (Path(str(home)).expanduser() / _CHOSEN).read_text(encoding="utf-8").strip()
    except (OSError, ValueError, RuntimeError):
        return
    if chosen:
        yield "palimpsest embedder use", {"memory.embedder": chosen}


PREFIX: Final = "PALIMPSEST_"
"""How every variable of ours begins."""

_SHORT: Final = {f"{PREFIX}HOME": "home", f"{PREFIX}UPSTREAM": "upstream.url"}
"""Variables that have a shorter name than their settings'."""

_FILE: Final = f"{PREFIX}CONFIG"
"""The variable that names the settings file."""

_OTHER_VARIABLES: Final = frozenset((*_SHORT, _FILE, f"{PREFIX}KEY", f"{PREFIX}USER"))
"""Variables of ours, and of our files for containers, that are no settings by their names."""

_TESTS: Final = f"{PREFIX}TEST_"
"""How those begin that our tests alone read."""

_OF_SERVICE = re.compile(
    r"PALIMPSEST_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)"
)
_ADDRESS_OF_SERVICE = re.compile(r"PALIMPSEST_(?:\w+_)?PORT=(?:tcp|udp|sctp)://.*")
"""What Kubernetes sets in each container for a service whose name begins as ours do, by its name; and one by its value
too, as with a number in it a setting is meant."""

_OF_ANYTHING: Final = ("apikey", "key", "name", "token", "password", "secret", "url", "user")
_OF_LINK = re.compile(r"PALIMPSEST_(?:\w+_)?(?:NAME=/[\w.-]+/[\w.-]+|ENV_\w+=.*)", re.DOTALL)
"""What Docker sets in each container that is linked to one whose name begins as ours do."""

_NEAR: Final = 0.75
"""How alike a name must be to one that there is to be taken for a slip in it."""


def environment_layers(environment: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The settings of the environment, variable by variable."""
    for name, key in _SHORT.items():
        if environment.get(name):
            yield name, {key: environment[name]}
    for name in sorted(environment):
        if name.startswith("PALIMPSEST__"):
            key = name.removeprefix("PALIMPSEST__").lower().replace("__", ".")
            yield name, {key: _yaml_of_variable(environment[name])}


def misspelt_variables(environment: Mapping[str, str], settings: Iterable[str]) -> Iterator[str]:
    """Sentences about variables that begin as ours do and are none, by the dotted keys of the ``settings``: passed
    over, what they should have changed would stand as it is, such as the provider that prompts and keys are sent to,
    or whether there is memory at all."""
    unknown = list(_unknown_variables(environment))
    # Of a setting that has a shorter one too, that is told.
    known = [*map(as_variable, settings), *_SHORT, _FILE] if unknown else []
    for name in unknown:
        meant = _meant(name[len(PREFIX) :], known) or (
            ": that of a setting is in capitals, with two underscores behind PALIMPSEST and between its parts, such as "
            "PALIMPSEST__MEMORY__MODE"
        )
        yield f"{name}: there is no such variable{meant}"


def as_variable(key: str) -> str:
    """The environment variable of a setting, by its dotted key."""
    return f"{PREFIX}_{key.replace('.', '__').upper()}"


def _unknown_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """The variables that begin as ours do, in whatever case, and are neither a setting by their form nor one of the
    others."""
    for name in sorted(environment):
        if (
            name.upper().startswith(PREFIX)
            and name not in _OTHER_VARIABLES
            and not name.startswith((f"{PREFIX}_", _TESTS))
            and not _OF_SERVICE.fullmatch(name)
            and not _ADDRESS_OF_SERVICE.fullmatch(f"{name}={environment[name]}")
            and not _OF_LINK.fullmatch(f"{name}={environment[name]}")
        ):
            yield name


def _meant(name: str, known: Iterable[str]) -> str:
    """The question whether the one of the known names is meant that a name is nearest to; empty where none is near."""
    wanted = _squeezed(name)
    names = {_squeezed(each.removeprefix(PREFIX)): each for each in known}
    # A key or a name alone may be that of anything: whoever sends it where it is not meant to go tells it there.
    telling = wanted not in _OF_ANYTHING
    ends = [each for each in names if telling and each.endswith(wanted)] if wanted not in names else [wanted]
    found = ends if len(ends) == 1 else get_close_matches(wanted, names, 1, _NEAR)
    return f" (is {names[found[0]]} meant?)" if found else ""


def _squeezed(name: str) -> str:
    """A name without its case and what separates its parts."""
    return re.sub(r"[\W_]", "", name).lower()


def _yaml_of_variable(text: str) -> Any:
    """An environment variable's text as YAML, so that numbers, lists and null can be said."""
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def put(target: dict[str, Any], path: list[str], value: Any, key: str, source: str, faults: list[str]) -> None:
    """Write a value at its path."""
    *parents, last = path
    for parent in parents:
        inner = target.setdefault(parent, {})
        if not isinstance(inner, dict):
            faults.append(f"{key} ({source}): {parent} is a single value, it has no keys of its own")
            return
        target = inner
    target[last] = value


def leaves(data: Mapping[str, Any], at: str = "", into_lists: bool = False) -> Iterator[tuple[str, Any]]:
    """Each dotted key with its value."""
    for name, value in data.items():
        key = f"{at}{name}"
        if isinstance(value, dict) and value and key not in _NAMES:
            yield from leaves(value, key + ".", into_lists)
        else:
            yield key, value


def is_secret(key: str) -> bool:
    """Whether a setting is never shown."""
    return key.endswith((".key", "api_key")) or key.startswith("credentials") or "postgresql" in key.split(".")


def sentence(fault: Any, sources: Mapping[str, str], settings: Iterable[str]) -> str:
    """What is wrong with a value, and where it came from; ``settings`` are the dotted keys that there are."""
    key = ".".join(str(step) for step in fault["loc"])
    source = sources.get(key) or next((s for at, s in sources.items() if at.startswith(key) or key.startswith(at)), "")
    value = fault.get("input")
    shown = "" if isinstance(value, dict) or is_secret(key) else f" is {value!r}"
    message = fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden":
        names = map(as_variable, settings) if source.startswith(PREFIX) else settings
        message = f"there is no such setting{_meant(key, names)}"
        shown = ""
    elif fault["type"] in ("model_type", "model_attributes_type", "dict_type"):
        message = "keys with values are expected below it"
    where = f" ({source})" if source else ""
    return f"{key}{shown}{where}: {message}" if key else message
