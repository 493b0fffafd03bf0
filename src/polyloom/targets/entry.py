# SPDX-License-Identifier: Apache-2.0
"""Registration of targets: those of this package, and those that other packages register by the entry point
`polyloom.targets` (Python packaging specification, entry points).

An `Entry` is all that is loaded of a target before it is used, so that `polyloom --help` answers at once. It stands in
the target's `__init__.py` under the name `ENTRY`, which an entry point names too: `toy = "toy_target:ENTRY"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Final, cast

BUILT_IN: Final = ("tcpa", "riscv", "belt", "tensix", "minion")
"""The folders of `polyloom.targets`, the default target first."""
GROUP: Final = "polyloom.targets"


@dataclass(frozen=True, slots=True)
class Entry:
    """Entry of a target. `target` is `module:NAME` of the record, `example` what `--on` may be, for messages. What else
    a target brings is named like the record: its class of options (where there is none, the record is loaded for it),
    verbs (what they do, and the module with `arguments` and `execute`), tables of `bench` (a function that gives rows),
    codes of diagnostics (a mapping like `codes.CODES`), names of `polyloom` in Python.
    """

    name: str
    target: str
    example: str
    options: str | None = None
    verbs: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    bench: Mapping[str, str] = field(default_factory=dict[str, str])
    codes: str | None = None
    names: Mapping[str, str] = field(default_factory=dict[str, str])


@cache
def entries() -> Mapping[str, Entry]:
    """Registered targets, by name; a name of this package is nobody else's."""
    found = {name: cast(Entry, import_module(f"polyloom.targets.{name}").ENTRY) for name in BUILT_IN}
    # Sorted, because the order of installed packages differs from machine to machine.
    for point in sorted(entry_points(group=GROUP), key=lambda p: p.name):
        if point.name not in found:
            found[point.name] = cast(Entry, point.load())
    return found


def record(name: str) -> Any:
    """The `Target` of a registered target."""
    return load_named(entries()[name].target)


def load_named(place: str) -> Any:
    """Object that `module:NAME` names, or the module."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name) if name else import_module(module)
