# SPDX-License-Identifier: Apache-2.0
"""Completion scripts of bash, zsh and fish: what may stand at each place of a command line, in the language of each
shell. Sources: Bash Reference Manual, "Programmable Completion"; zsh's manual, `_arguments`; fish's manual, `complete`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

_LICENCE: Final = "# SPDX-License-Identifier: Apache-2.0"
_BASH: Final = """{licence}
_polyloom() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" offered='' files=''
  if [ "$COMP_CWORD" -eq 1 ]; then
    offered='{verbs} --help --version'
  else
    case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD - 1]}}" in
      *' =') files=1 ;;
{values}
      *)
        case "${{COMP_WORDS[1]}} $word" in
{options}
{operands}
        esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$word"))
  if [ -n "$files" ]; then
    compopt -o filenames 2> /dev/null
    local IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -F _polyloom polyloom
"""
_ZSH: Final = """#compdef polyloom
{licence}
_polyloom() {{
  local -a verbs=(
{verbs}
  )
  if (( CURRENT == 2 )); then
    _describe command verbs
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
{commands}
  esac
}}
_polyloom "$@"
"""


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a command line: an option, or an operand, which has no spellings; `values` are all that may stand there,
    if they are known.
    """

    spellings: tuple[str, ...]
    metavar: str
    help: str
    takes_value: bool
    repeats: bool
    is_file: bool
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Command:
    """A verb."""

    name: str
    about: str
    places: tuple[Place, ...]

    def options(self) -> Iterator[Place]:
        return (place for place in self.places if place.spellings)

    def operands(self) -> Iterator[Place]:
        return (place for place in self.places if not place.spellings)


def bash_script(commands: tuple[Command, ...]) -> str:
    """Script for bash, also of version 3, which macOS has: no associative arrays."""
    values = [
        f"      {_pattern_text(command.name, place.spellings)}) {_completions([place])} ;;"
        for command in commands
        for place in command.options()
        if place.takes_value
    ]
    options = [
        f"          '{command.name} -'*) offered='{' '.join(s for p in command.options() for s in p.spellings)}' ;;"
        for command in commands
    ]
    operands = [f"          '{command.name} '*) {_completions(list(command.operands()))} ;;" for command in commands]
    return _BASH.format(
        licence=_LICENCE,
        verbs=" ".join(command.name for command in commands),
        values="\n".join(values),
        options="\n".join(options),
        operands="\n".join(operands),
    )


def _pattern_text(command: str, spellings: tuple[str, ...]) -> str:
    return "|".join(f"'{command} {spelling}'" for spelling in spellings)


def _completions(places: list[Place]) -> str:
    # The shell completes names of files better than a list could.
    if any(place.is_file for place in places):
        return "files=1"
    return f"offered={_quote_word(' '.join(value for place in places for value in place.values))}"


def zsh_script(commands: tuple[Command, ...]) -> str:
    """Script for zsh, the file `_polyloom`."""
    verbs = [f"    {_quote_word(f'{command.name}:{_escape_specification(command.about)}')}" for command in commands]
    made = [
        "\n".join([f"    {command.name}) _arguments -s : \\", *_zsh_arguments(command), "      ;;"])
        for command in commands
    ]
    return _ZSH.format(licence=_LICENCE, verbs="\n".join(verbs), commands="\n".join(made))


def _zsh_arguments(command: Command) -> Iterator[str]:
    for place in command.options():
        value = f":{_escape_specification(place.metavar)}:{_zsh_action(place)}" if place.takes_value else ""
        for spelling in place.spellings:
            repeated = "*" if place.repeats else ""
            yield f"      {_quote_word(f'{repeated}{spelling}[{_escape_specification(place.help)}]{value}')} \\"
    for place in command.operands():
        repeated = "*" if place.repeats else ""
        yield f"      {_quote_word(f'{repeated}:{_escape_specification(place.metavar)}:{_zsh_action(place)}')} \\"


def _zsh_action(place: Place) -> str:
    return "_files" if place.is_file else f"({' '.join(place.values)})" if place.values else " "


def _escape_specification(text: str) -> str:
    """Escapes of brackets and colons, which end the parts of a specification (zsh's manual, `_arguments`)."""
    for mark in ("\\", "[", "]", ":"):
        text = text.replace(mark, f"\\{mark}")
    return text


def fish_script(commands: tuple[Command, ...]) -> str:
    """The script of fish."""
    lines = [_LICENCE, "complete -c polyloom -f"]
    for command in commands:
        lines.append(f"complete -c polyloom -n __fish_use_subcommand -a {command.name} -d {_quote_word(command.about)}")
        here = f"complete -c polyloom -n '__fish_seen_subcommand_from {command.name}'"
        for place in command.options():
            names = " ".join(f"-l {s[2:]}" if s.startswith("--") else f"-s {s[1:]}" for s in place.spellings)
            value = "" if not place.takes_value else " -r -F" if place.is_file else f" -x{_fish_values(place)}"
            lines.append(f"{here} {names}{value} -d {_quote_word(place.help)}")
        for place in command.operands():
            if place.is_file or place.values:
                lines.append(f"{here}{' -F' if place.is_file else _fish_values(place)}")
    return "\n".join([*lines, ""])


def _fish_values(place: Place) -> str:
    return f" -a {_quote_word(' '.join(place.values))}" if place.values else ""


def _quote_word(text: str) -> str:
    """A word of a shell: an apostrophe stands outside of the quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


SCRIPTS: Final[Mapping[str, Callable[[tuple[Command, ...]], str]]] = {
    "bash": bash_script,
    "zsh": zsh_script,
    "fish": fish_script,
}
