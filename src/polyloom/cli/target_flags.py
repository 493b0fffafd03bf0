# SPDX-License-Identifier: Apache-2.0
"""Flags of a target on a command line: `--on`, and the flags that its options become."""

from __future__ import annotations

from argparse import SUPPRESS
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from polyloom.cli.arguments import Parser, Request, usage_error
from polyloom.passes import Watch, select_passes
from polyloom.targets.entry import BUILT_IN, Entry, entries, load_named
from polyloom.targets.options import Option, verb_options

# Loading a target takes time that `--help` must not: its types are needed for checking alone.
if TYPE_CHECKING:
    from polyloom.targets.target import Given, Target

_DEST: Final = "option_of_target_"
WHERE: Final = "where"
"""The group of --on."""
_WITH_DEFAULT: Final = ("run", "compile")
"""Verbs of which the default target is known before a file is read."""


def named_targets(verb: str, words: Sequence[str]) -> tuple[str, ...]:
    """Targets that `--on` names in a command line that is not parsed yet, or the default."""
    places = [value for flag, value in pairwise(words) if flag == "--on"]
    places += [word.partition("=")[2] for word in words if word.startswith("--on=")]
    names = dict.fromkeys(place.strip().partition(":")[0] for text in places for place in text.split(","))
    # Unknown names are reported later, when `--on` itself is read.
    known = tuple(name for name in names if name in entries())
    return known or (BUILT_IN[:1] if verb in _WITH_DEFAULT else ())


def on_option(parser: Parser) -> None:
    examples = ", ".join(entry.example for entry in entries().values())
    parser.group(WHERE).add_argument(
        "--on", metavar="TARGET", help=f"TARGET[:PLACE], such as {examples} ({BUILT_IN[0]})"
    )


def target_options(parser: Parser, verb: str) -> None:
    """Flags of all targets for a verb; which of them the chosen target has is checked by `given_options`."""
    for name, flag in sorted(_verb_flags(verb).items(), key=lambda found: (*found[1].order, found[0])):
        shown = [target for target in flag.targets if not parser.chosen or target in parser.chosen]
        about, dest = flag.by_target[(shown or flag.targets)[0]], f"{_DEST}{name}"
        group = parser.group(_group_title(flag, shown, verb))
        who = "" if parser.chosen else f" ({', '.join(flag.targets)})"
        help = (about.help + who).replace("%", "%%") if shown else SUPPRESS
        if about.metavar is None:
            group.add_argument(about.flag, dest=dest, action="store_const", const="", default=None, help=help)
        elif about.repeatable:
            group.add_argument(about.flag, dest=dest, metavar=about.metavar, action="append", default=None, help=help)
        # An option whose value may be left out.
        elif about.const is not None:
            group.add_argument(about.flag, dest=dest, metavar=about.metavar, nargs="?", const=about.const, help=help)
        else:
            group.add_argument(about.flag, dest=dest, metavar=about.metavar, help=help)
    others = {target for flag in _verb_flags(verb).values() for target in flag.targets} - {*parser.chosen}
    if parser.chosen and others:
        shown = [target for target in entries() if target in others]
        parser.epilog = f"other targets have options of their own: {parser.prog} --help --on {'|'.join(shown)}"


def _group_title(flag: _Flag, targets: Sequence[str], verb: str) -> str:
    """The title of a flag's group."""
    return f"{'compilation' if flag.compiles else verb} ({', '.join(targets)})"


@dataclass(frozen=True, slots=True)
class _Flag:
    """Flag that targets share by name, with the option of each."""

    by_target: Mapping[str, Option]

    @property
    def option(self) -> Option:
        """Of the first target that has it."""
        return next(iter(self.by_target.values()))

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(self.by_target)

    @property
    def compiles(self) -> bool:
        """Whether it says how a program is compiled; else it says how one runs."""
        return "compile" in self.option.verbs

    @property
    def order(self) -> tuple[list[int], bool]:
        """Order of groups in help: by targets, and compilation first."""
        return [list(entries()).index(target) for target in self.targets], not self.compiles


def _verb_flags(verb: str) -> dict[str, _Flag]:
    """Flags of a verb by name; targets share a flag of one name."""
    found: dict[str, _Flag] = {}
    for entry in entries().values():
        for name, option in verb_options(_option_class(entry), verb).items():
            known = found[name].by_target if name in found else dict[str, Option]()
            found[name] = _Flag({**known, entry.name: option})
    return found


def _option_class(entry: Entry) -> type[Any]:
    return load_named(entry.target).options if entry.options is None else load_named(entry.options)


def given_options(request: Request, target: Target, verb: str) -> dict[str, Any]:
    """Values of the options that are given. Errors: PL0801 for one that the target lacks, and those of reading."""
    known, found = verb_options(target.options, verb), dict[str, Any]()
    for name, flag in _verb_flags(verb).items():
        text = getattr(request, f"{_DEST}{name}", None)
        if text is None:
            continue
        # All targets' flags are declared, as the target may only be known from the file: what it lacks is refused here.
        if name not in known:
            who = " and ".join(flag.targets)
            help = f"leave it out; {who} {'have' if len(flag.targets) > 1 else 'has'} it"
            raise usage_error(f"the target {target.name} has no option {flag.option.flag}", help)
        found[name] = True if known[name].metavar is None else known[name].read(text)
    return found


def given_texts(request: Request, verb: str) -> dict[str, Any]:
    """Texts of the options that are given, by name; of a flag that is repeated, a list."""
    found = {name: getattr(request, f"{_DEST}{name}", None) for name in _verb_flags(verb)}
    return {name: text for name, text in found.items() if text is not None}


def given_file(request: Request, data: bytes, verb: str) -> tuple[Target, Given] | None:
    """File that no target wrote, and the target that `--on` names for it; None where either is missing."""
    from polyloom.targets import registry
    from polyloom.targets.target import Given

    if request.on is None or registry.owner_of_file(data) is not None:
        return None
    target, place = registry.split_place(request.on)
    return target, Given(request.file, data, place, target.options(**given_options(request, target, verb)))


def option_outputs(target: Target, verb: str, given: Mapping[str, Any]) -> list[str]:
    """Paths that options have written."""
    known = verb_options(target.options, verb)
    return [path for name, value in given.items() for path in known[name].writes(value)]


def option_files(target: Target, verb: str, given: Mapping[str, Any]) -> list[str]:
    """Paths that options name as inputs."""
    known = verb_options(target.options, verb)
    return [path for name, value in given.items() for path in known[name].files(value)]


def pass_options(parser: Parser) -> None:
    """Flags that print and check the forms between the passes of a target."""
    help = "print the form after a pass, or after `all`; may be repeated"
    group = parser.group("passes")
    group.add_argument("--print-after", metavar="PASS", action="append", default=[], help=help)
    group.add_argument("--verify-each", action="store_true", help="check the form after every pass")


def pass_watch(request: Request, target: Target) -> Watch:
    """Watch of passes, from the flags of `pass_options`. Errors: PL0976."""
    after = select_passes(request.print_after, target.passes)
    return Watch(verify=True, after=after) if request.verify_each else Watch(after=after)


def forms_text(watch: Watch) -> str:
    """The forms, each below its pass."""
    return "\n".join(f"after {name}\n\n{text}" for name, text in watch.collect_texts())


def as_data(watch: Watch) -> dict[str, object]:
    """A key of JSON, where something was asked for."""
    found = [{"pass": name, "text": text} for name, text in watch.collect_texts()]
    return {"passes": found} if found else {}
