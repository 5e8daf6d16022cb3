"""``palimpsest completion``: a script with which a shell completes our commands and options.

The script has all names in it, so that pressing Tab starts no Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer


class Shell(StrEnum):
    """A shell for which there is a script."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@dataclass(frozen=True, slots=True)
class Completed:
    """A command: its help in a line, its options, and the words that may stand behind it."""

    help: str
    options: tuple[str, ...]
    words: tuple[str, ...] = ()


def completion(
    shell: Annotated[Shell, typer.Argument(help="bash, zsh or fish", metavar="bash|zsh|fish")],
) -> None:
    """Print a script that completes our commands: eval "$(palimpsest completion bash)" in a shell's start file."""
    print(_SCRIPTS[shell](commands()))


def commands() -> dict[str, Completed]:
    """Every command with what can follow it."""
    from proxy.cli.app import command_line
    from proxy.connect import GUIDES, LAUNCHES

    words = {"connect": tuple(GUIDES), "run": tuple(LAUNCHES), "completion": tuple(Shell)}
    root: Any = typer.main.get_command(command_line())
    return {
        name: Completed(
            (command.get_short_help_str(72) or "").rstrip("."),
            tuple(_options(command)),
            words.get(name, tuple(getattr(command, "commands", ()))),
        )
        for name, command in root.commands.items()
        if not command.hidden
    }


def _options(command: Any) -> Iterator[str]:
    for parameter in command.params:
        if not getattr(parameter, "hidden", False):
            yield from (option for option in parameter.opts if option.startswith("--"))


def _bash(known: Mapping[str, Completed]) -> str:
    return f"""# Completion of palimpsest for bash: eval "$(palimpsest completion bash)"
_palimpsest() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} known=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -le 1 ]; then
        known="{" ".join([*known, "--help", "--version"])}"
    else
        case "${{COMP_WORDS[1]}}" in
{_cases(known)}
        esac
    fi
    while IFS= read -r each; do COMPREPLY+=("$each"); done < <(compgen -W "$known" -- "$word")
}}
complete -o default -F _palimpsest palimpsest"""


def _zsh(known: Mapping[str, Completed]) -> str:
    options = "\n".join(f"        '{name}:{_quoted(each.help)}'" for name, each in known.items())
    return f"""#compdef palimpsest
# Completion of palimpsest for zsh: eval "$(palimpsest completion zsh)"
_palimpsest() {{
    local known
    local -a commands
    commands=(
{options}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    case "${{words[2]}}" in
{_cases(known)}
    esac
    compadd -- ${{=known}}
    _files
}}
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
compdef _palimpsest palimpsest"""


def _cases(known: Mapping[str, Completed]) -> str:
    return "\n".join(
        f'        {name}) known="{" ".join([*each.words, *each.options, "--help"])}" ;;' for name, each in known.items()
    )


def _fish(known: Mapping[str, Completed]) -> str:
    lines = ["# Completion of palimpsest for fish: palimpsest completion fish | source"]
    first = "complete -c palimpsest -n __fish_use_subcommand"
    lines.append(f"{first} -l version -d 'Print the version'")
    for name, each in known.items():
        behind = f"complete -c palimpsest -n '__fish_seen_subcommand_from {name}'"
        lines.append(f"{first} -f -a {name} -d '{_quoted(each.help)}'")
        lines += [f"{behind} -f -a '{' '.join(each.words)}'"] if each.words else []
        lines += [f"{behind} -l {option.removeprefix('--')}" for option in each.options]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """A help text inside single quotes of any of these shells, in which a colon would part it from a name."""
    return text.replace("'", "’").replace("\\", "").replace(":", ";")


_SCRIPTS: dict[Shell, Callable[[Mapping[str, Completed]], str]] = {
    Shell.BASH: _bash,
    Shell.ZSH: _zsh,
    Shell.FISH: _fish,
}
