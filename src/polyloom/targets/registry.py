# SPDX-License-Identifier: Apache-2.0
"""Registry of targets: by name, loaded when they are asked for, and the target that wrote a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from os import PathLike
from os.path import exists
from typing import Final, cast

from polyloom import files
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, input_error, nearest
from polyloom.targets.entry import BUILT_IN, entries, record
from polyloom.targets.target import Kind, Place, Target

_OTHERS: Final = ("target", "machine", "place", "device", "backend")
"""What other tools call `on`."""


@cache
def find_target(name: str) -> Target:
    """The target called `name`. Errors: PL0805."""
    if name not in entries():
        help = f"{nearest(name, entries(), 'target')}; write for instance --on {entries()[BUILT_IN[0]].example}"
        raise PolyloomError(Diagnostic("PL0805", f"there is no target '{name}'", USAGE, help=help))
    return cast(Target, record(name))


def default_target() -> Target:
    """The target where none is named."""
    return find_target(BUILT_IN[0])


def load_targets() -> Iterator[Target]:
    """Targets, each loaded."""
    return map(find_target, entries())


def target_names(what: Callable[[Target], bool]) -> list[str]:
    """Names of the targets of which something holds."""
    return [target.name for target in load_targets() if what(target)]


def form_takers(form: str) -> list[Target]:
    """Targets that take sources of this form."""
    return [target for target in load_targets() if any(f.name == form for f in target.takes)]


def split_place(on: str | None) -> tuple[Target, Place]:
    """Reader of `TARGET[:PLACE]`; None is the default. Errors: PL0805, and the target's own."""
    name, _, rest = (BUILT_IN[0] if on is None else str(on)).partition(":")
    target = find_target(name)
    return target, target.place(rest)


def check_place_keyword(given: Mapping[str, object]) -> None:
    """Errors: PL0801 for keywords that name a target by another word than `on`."""
    for name, value in given.items():
        # A parameter of the kernel may have such a name; it is meant as `on` only if its value is a target.
        if name in _OTHERS and isinstance(value, str) and value.partition(":")[0] in entries():
            message, help = f"`{name}` does not name a target", f'write on="{value}"'
            raise PolyloomError(Diagnostic("PL0801", message, USAGE, help=help))


def place_text(target: Target, place: Place | None) -> str:
    """Text of a place that `split_place` reads."""
    return target.name if place is None or not str(place) else f"{target.name}:{place}"


def read_program_file(path: str | PathLike[str]) -> bytes:
    """Bytes of a program file. Errors: PL0807, of a file that is not there with the command that writes one of its
    kind.
    """
    try:
        return files.read(path)
    except PolyloomError as error:
        found = error.diagnostics[0]
        # A misspelt name is mended first: the file may exist under another one.
        how = (
            None if (found.help or "").startswith("did you mean") or exists(str(path)) else _writing_command(str(path))
        )
        raise error if how is None else PolyloomError(replace(found, help=how)) from None


def _writing_command(path: str) -> str | None:
    """Help line: the command that writes a file of that ending."""
    for target in load_targets():
        for kind in target.kinds:
            if path.endswith(kind.suffix):
                is_made = target.instantiate is not None and not kind.symbolic
                words = "instantiate FILE N=VALUE..." if is_made else f"compile SOURCE --on {target.name}"
                return f"write it first: `polyloom {words} -o {path}`"
    return None


def owner_of_file(data: bytes) -> tuple[Target, Kind] | None:
    """Target that wrote a file, and its kind."""
    return next(((target, kind) for target in load_targets() if (kind := target.owns(data)) is not None), None)


def require_owner(name: str, data: bytes) -> tuple[Target, Kind]:
    """Owner of a file. Errors: PL0810 where nobody wrote it, in which the file is called `name`."""
    found = owner_of_file(data)
    if found is not None:
        return found
    kinds = ", ".join(f"{k.suffix} ({k.title})" for target in load_targets() for k in target.kinds)
    note = f"its first bytes are {data[:4]!r}" if data else "it is empty"
    takers = [target.name for target in form_takers("image")]
    foreign = f"; a program of other tools needs --on {' or --on '.join(takers)}" if takers else ""
    raise input_error(
        "PL0810", f"'{name}' is not a file that polyloom wrote", notes=(note,), help=f"give one of: {kinds}{foreign}"
    )
