"""How a client is pointed at us for a single run: variables, arguments, and files that go when it ends.

Nothing of a client's own configuration is touched, so that nothing is left behind. Each line here was looked up in the
client's documentation or source. Pure: nothing is read or written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import yaml

from proxy.connect.guides import plan
from proxy.connect.machine import Machine
from proxy.connect.plan import Address
from proxy.connect.windows import TIMES, WINDOW

FOLDER = "{folder}"
"""Stands in variables and arguments for the folder in which a run's files lie."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A client's run. ``arguments`` come before those that the person gave; ``files`` are written by name into a folder
    of the run's own; ``warnings`` are what its user should know."""

    environment: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def within(self, folder: str) -> Launch:
        """The same with the folder of its files put in."""
        environment = {name: value.replace(FOLDER, folder) for name, value in self.environment.items()}
        arguments = tuple(each.replace(FOLDER, folder) for each in self.arguments)
        return Launch(environment, arguments, self.files, self.warnings)


class NotLaunchable(Exception):
    """A client cannot be pointed at us for one run as it is set up; the message says why, and what to do."""


Way = Callable[[Address, Machine, Sequence[str]], Launch]


def launch(client: str, given: Sequence[str], address: Address, machine: Machine) -> Launch:
    """What starts a client so that it reaches us, whatever its own configuration says.

    Args:
        client: its name, one of :data:`LAUNCHES`; any other is given the variables that most programs read.
        given: the arguments that it is started with.
        address: where it finds us.
        machine: what is on this machine.

    Raises:
        NotLaunchable: when its own configuration leaves nothing to say for a run.
    """
    way = LAUNCHES.get(client)
    run = (way or _by_variables)(address, machine, given)
    environment = {**run.environment, **_past_proxies(machine.environment)}
    warnings = plan(client, address, machine).warnings if way else ()
    return Launch(environment, run.arguments, run.files, (*warnings, *run.warnings))


def _past_proxies(environment: Mapping[str, str]) -> dict[str, str]:
    """Where there is a proxy on the way to the network, what keeps it out of the way to this machine."""
    if not any(environment.get(name) for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")):
        return {}
    variables = {name: environment.get(name, "") for name in ("NO_PROXY", "no_proxy")}
    return {name: ",".join(filter(None, [value, "127.0.0.1", "localhost", "::1"])) for name, value in variables.items()}


def _claude(address: Address, machine: Machine, given: Sequence[str]) -> Launch:
    """2.1: what settings files say under ``env`` outweighs the environment, and ``--settings`` outweighs the files."""
    environment = {"ANTHROPIC_BASE_URL": address.url(version=False)}
    if "--settings" in given or any(each.startswith("--settings=") for each in given):
        return Launch(environment)
    return Launch(environment, ("--settings", json.dumps({"env": environment})))


def _codex(address: Address, machine: Machine, given: Sequence[str]) -> Launch:
    """0.169: ``-c`` sets a value of its configuration for one run, written in TOML."""
    [change] = plan("codex", address, machine).changes
    provider = change.values[("model_providers", "palimpsest")]
    table = ",".join(f"{key}={json.dumps(value)}" for key, value in provider.items())
    values = ('model_provider="palimpsest"', f"model_providers.palimpsest={{{table}}}")
    return Launch(arguments=tuple(part for value in values for part in ("-c", value)))


def _opencode(address: Address, machine: Machine, given: Sequence[str]) -> Launch:
    """1.18: ``OPENCODE_CONFIG_CONTENT`` outweighs its files, and is merged with them."""
    own = machine.environment.get("OPENCODE_CONFIG_CONTENT", "")
    [change] = plan("opencode", address, machine).changes
    return Launch({"OPENCODE_CONFIG_CONTENT": change.apply(own)})


def _qwen(address: Address, machine: Machine, given: Sequence[str]) -> Launch:
    """0.24: the environment outweighs ``env`` in its settings, and the system's settings outweigh a person's."""
    environment = {"OPENAI_BASE_URL": address.url()}
    if "QWEN_CODE_SYSTEM_SETTINGS_PATH" in machine.environment:
        return Launch(environment)
    [change] = plan("qwen", address, machine).changes
    file = "settings.json"
    return Launch(environment | {"QWEN_CODE_SYSTEM_SETTINGS_PATH": f"{FOLDER}/{file}"}, files={file: change.apply("")})


def _pi(address: Address, machine: Machine, given: Sequence[str]) -> Launch:
    """0.87: an extension changes a provider's address; its folder holds logins and sessions and stays where it is."""
    providers = (("openai", address.url()), ("anthropic", address.url(version=False)))
    lines = [f"  pi.registerProvider({json.dumps(name)}, {{ baseUrl: {json.dumps(url)} }});" for name, url in providers]
    text = "\n".join(["export default function (pi: any) {", *lines, "}", ""])
    return Launch(arguments=("--extension", f"{FOLDER}/palimpsest.ts"), files={"palimpsest.ts": text})


def _aider(address: Address, machine: Machine, given: Sequence[str]) -> Launch:
    """0.86: a variable that begins with ``AIDER_`` outweighs its file; it tells no place, so the project stands in the
    address, and it summarizes by its own estimate, so it is told a large window."""
    return Launch(
        {
            "AIDER_OPENAI_API_BASE": address.url(placeless=True),
            "OPENAI_API_BASE": address.url(placeless=True),
            "ANTHROPIC_API_BASE": address.url(placeless=True, version=False),
            "AIDER_MAX_CHAT_HISTORY_TOKENS": str(TIMES * WINDOW),
        }
    )


def _kilo(address: Address, machine: Machine, given: Sequence[str]) -> Launch:
    """7.7: ``KILO_CONFIG_CONTENT`` outweighs its files, and is merged with them, as opencode's does."""
    own = machine.environment.get("KILO_CONFIG_CONTENT", "")
    [change] = plan("kilo", address, machine).changes
    return Launch({"KILO_CONFIG_CONTENT": change.apply(own)})


def _crush(address: Address, machine: Machine, given: Sequence[str]) -> Launch:
    """0.96: its catalogue of providers asks these variables for an address, and a ``base_url`` of a file outweighs
    them. Its files hold keys, models and skills and stay where they are."""
    environment = {"OPENAI_API_ENDPOINT": address.url(), "ANTHROPIC_API_ENDPOINT": address.url(version=False)}
    warnings = []
    for name, held in _providers(machine.texts.get(machine.crush, "")).items():
        url = held.get("base_url")
        if url and not address.is_reached_by(str(url)):
            warnings.append(f"{name} has a base_url of its own in {machine.crush}, which is asked for its models")
        elif url and (address.project or address.user) and url not in environment.values():
            warnings.append(f"what {machine.crush} says of {name} outweighs the project and the user of this run")
    return Launch(environment, warnings=tuple(warnings))


def _providers(text: str) -> Mapping[str, Mapping[str, object]]:
    try:
        held = json.loads(text or "{}")
    except ValueError:
        return {}
    providers = held.get("providers") if isinstance(held, dict) else None
    every = providers.items() if isinstance(providers, dict) else ()
    return {name: provider for name, provider in every if isinstance(provider, dict)}


def _cn(address: Address, machine: Machine, given: Sequence[str]) -> Launch:
    """1.5: ``--config`` outweighs all else, and the addresses stand at each model: it is given its own configuration
    with ours in it. A model with an address of its own keeps it: its key is for that provider."""
    by_hand = "palimpsest connect cn shows what to write at each model"
    if any(each == "--config" or each.startswith("--config=") for each in given):
        raise NotLaunchable(f"cn asks the file of --config alone for its models' addresses: {by_hand}")
    try:
        held = yaml.safe_load(machine.texts.get(machine.cn, ""))
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise NotLaunchable(f"{machine.cn} is no YAML: {by_hand}") from error
    models = held.get("models") if isinstance(held, dict) else None
    listed = [each for each in models if isinstance(each, dict)] if isinstance(models, list) else []
    urls = {"openai": address.url(), "anthropic": f"{address.url()}/"}
    open_to_us = [each for each in listed if not each.get("apiBase") or address.is_reached_by(str(each["apiBase"]))]
    ours = [each for each in open_to_us if str(each.get("provider")) in urls]
    if not ours:
        raise NotLaunchable(
            f"{machine.cn} has no model of provider openai or anthropic without an apiBase of its own: {by_hand}"
        )
    for each in ours:
        each["apiBase"] = urls[each["provider"]]
    others = [str(each.get("name") or each.get("uses") or each.get("model")) for each in listed if each not in ours]
    warnings = (f"without memory, as {machine.cn} says: {', '.join(others)}",) if others else ()
    file = "config.yaml"
    text = yaml.safe_dump(held, sort_keys=False, allow_unicode=True)
    return Launch(arguments=("--config", f"{FOLDER}/{file}"), files={file: text}, warnings=warnings)


def _launch_by_guide(client: str) -> Way:
    """By the variables of the client's guide alone."""
    return lambda address, machine, given: Launch(plan(client, address, machine).environment)


def _by_variables(address: Address, machine: Machine, given: Sequence[str]) -> Launch:
    """Any other program, a script with an SDK say: the names that most of them read. It may tell no place."""
    openai, anthropic = address.url(placeless=True), address.url(placeless=True, version=False)
    return Launch({"OPENAI_BASE_URL": openai, "OPENAI_API_BASE": openai, "ANTHROPIC_BASE_URL": anthropic})


LAUNCHES: dict[str, Way] = {
    "claude": _claude,
    "codex": _codex,
    "opencode": _opencode,
    "qwen": _qwen,
    "pi": _pi,
    "aider": _aider,
    "gemini": _launch_by_guide("gemini"),
    "copilot": _launch_by_guide("copilot"),
    "kilo": _kilo,
    "goose": _launch_by_guide("goose"),
    "crush": _crush,
    "cn": _cn,
}
"""Every client that can be started for a single run."""

ONLY_CONNECTED = frozenset({"cline", "openclaw", "zed"})
"""Clients that read their address from a file of their own alone."""
