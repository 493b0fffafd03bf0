# SPDX-License-Identifier: Apache-2.0
"""The part of a command line that belongs to a target: `--on`, and the flags that its options become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from polyloom.cli.arguments import Parser, Request, usage_error
from polyloom.passes import Watch, chosen
from polyloom.targets.entry import BUILT_IN, Entry, entries, loaded
from polyloom.targets.options import Option, taken

if TYPE_CHECKING:
    from polyloom.targets.target import Given, Target

_DEST: Final = "option_of_target_"


def on_option(parser: Parser) -> None:
    examples = ", ".join(entry.example for entry in entries().values())
    parser.add_argument("--on", metavar="TARGET", help=f"TARGET[:PLACE], such as {examples} ({BUILT_IN[0]})")


def target_options(parser: Parser, verb: str) -> None:
    """The flags of all targets for a verb; which of them the chosen target has, `given_options` looks at."""
    for name, flag in sorted(_flags(verb).items()):
        who = f" ({', '.join(flag.targets)})" if len(flag.targets) < len(entries()) else ""
        about, dest = flag.option, f"{_DEST}{name}"
        help = (about.help + who).replace("%", "%%")
        if about.metavar is None:
            parser.add_argument(about.flag, dest=dest, action="store_const", const="", default=None, help=help)
        elif about.repeatable:
            parser.add_argument(about.flag, dest=dest, metavar=about.metavar, action="append", default=None, help=help)
        elif about.const is not None:
            parser.add_argument(about.flag, dest=dest, metavar=about.metavar, nargs="?", const=about.const, help=help)
        else:
            parser.add_argument(about.flag, dest=dest, metavar=about.metavar, help=help)


@dataclass(frozen=True, slots=True)
class _Flag:
    option: Option
    targets: tuple[str, ...]


def _flags(verb: str) -> dict[str, _Flag]:
    """By name; targets share a flag of one name."""
    found: dict[str, _Flag] = {}
    for entry in entries().values():
        for name, option in taken(_options(entry), verb).items():
            known = found.get(name)
            found[name] = _Flag(option, (*(known.targets if known else ()), entry.name))
    return found


def _options(entry: Entry) -> type[Any]:
    return loaded(entry.target).options if entry.options is None else loaded(entry.options)


def given_options(request: Request, target: Target, verb: str) -> dict[str, Any]:
    """The options that are given, as values. Errors: PL0801 for one that the target lacks, and those of reading."""
    known, found = taken(target.options, verb), dict[str, Any]()
    for name, flag in _flags(verb).items():
        text = getattr(request, f"{_DEST}{name}", None)
        if text is None:
            continue
        if name not in known:
            who = " and ".join(flag.targets)
            help = f"leave it out; {who} {'have' if len(flag.targets) > 1 else 'has'} it"
            raise usage_error(f"the target {target.name} has no option {flag.option.flag}", help)
        found[name] = True if known[name].metavar is None else known[name].read(text)
    return found


def given_texts(request: Request, verb: str) -> dict[str, Any]:
    """The options that are given, by name, as they were written; of a flag that is repeated, a list."""
    found = {name: getattr(request, f"{_DEST}{name}", None) for name in _flags(verb)}
    return {name: text for name, text in found.items() if text is not None}


def given(request: Request, data: bytes, verb: str) -> tuple[Target, Given] | None:
    """A file that no target wrote, and the target that `--on` names for it; None where either is missing."""
    from polyloom.targets import registry
    from polyloom.targets.target import Given

    if request.on is None or registry.owner(data) is not None:
        return None
    target, place = registry.split(request.on)
    return target, Given(request.file, data, place, target.options(**given_options(request, target, verb)))


def option_outputs(target: Target, verb: str, given: Mapping[str, Any]) -> list[str]:
    """The files that options have written."""
    known = taken(target.options, verb)
    return [path for name, value in given.items() for path in known[name].writes(value)]


def option_files(target: Target, verb: str, given: Mapping[str, Any]) -> list[str]:
    """The files that options name."""
    known = taken(target.options, verb)
    return [path for name, value in given.items() for path in known[name].files(value)]


def pass_options(parser: Parser) -> None:
    """What is looked at between the passes of a target."""
    help = "print the form after a pass, or after `all`; may be repeated"
    parser.add_argument("--print-after", metavar="PASS", action="append", default=[], help=help)
    parser.add_argument("--verify-each", action="store_true", help="check the form after every pass")


def watch_of(request: Request, target: Target) -> Watch:
    """What `pass_options` declared. Errors: PL0976."""
    after = chosen(request.print_after, target.passes)
    return Watch(verify=True, after=after) if request.verify_each else Watch(after=after)


def printed(watch: Watch) -> str:
    """The forms, each below its pass."""
    return "\n".join(f"after {name}\n\n{text}" for name, text in watch.collected())


def as_data(watch: Watch) -> dict[str, object]:
    """A key of JSON, where something was asked for."""
    found = [{"pass": name, "text": text} for name, text in watch.collected()]
    return {"passes": found} if found else {}
