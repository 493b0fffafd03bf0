# SPDX-License-Identifier: Apache-2.0
"""Machine variants of a sweep: the resolved description of each, with keys of it set to other values.

A target gives the description as TOML. A key that is set is one at its top, such as `fifo_depth`; the machine's name
then says what was set, so that no configuration is taken for one of the shipped machine.
"""

from __future__ import annotations

import json
import re
import tomllib
from os.path import isfile
from typing import Final

from polyloom import files
from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.exploration.space import Words
from polyloom.targets import registry
from polyloom.targets.target import Place, Target, need

_BARE: Final = re.compile(r"[+-]?[0-9]+|true|false|\[.*\]")


def machine_description(target: Target, place: Place) -> str:
    """All that a row's key has to know of a machine: its resolved description, or the text of files that the place
    names."""
    if target.machine_of is not None:
        return target.machine_of(place)
    # Without a resolved description, the text of every file that the place names decides the row.
    return "\n".join(files.read(part).decode("utf-8", "replace") for part in str(place).split(":") if _is_file(part))


def _is_file(text: str) -> bool:
    return text.endswith(".toml") and isfile(text)


def change_machine(target: Target, place: Place, settings: Words) -> str | None:
    """Machine variant: the description with keys set; None where there is none to set. Errors: PL0801, PL1409."""
    if not settings:
        return None
    having = registry.target_names(lambda t: t.with_machine is not None)
    text: str = need(target, "with_machine", having) and need(target, "machine_of", having)(place)
    # Keys of tables, such as a unit's, would need a path; names at the top are unique.
    known = {name for name, value in tomllib.loads(text).items() if not isinstance(value, list | dict)}
    for name, value in settings:
        if name not in known or name == "name":
            help = nearest(name, sorted(known - {"name"}), "key")
            message = f"the machine of {registry.place_text(target, place)} has no key '{name}' that can be set"
            raise PolyloomError(Diagnostic("PL1409", message, USAGE, help=help))
        text = _with_key(text, name, value if _BARE.fullmatch(value) else json.dumps(value))
    suffix = "-".join(re.sub(r"[^A-Za-z0-9_-]", "_", f"{name}-{value}") for name, value in settings)
    return _with_key(text, "name", json.dumps(f"{tomllib.loads(text)['name']}-{suffix}"))


def _with_key(text: str, key: str, value: str) -> str:
    """The line of a key at the top, written anew: a resolved description has one line for each."""
    line = re.compile(rf"^{re.escape(key)} = .*$", re.MULTILINE)
    return line.sub(lambda _: f"{key} = {value}", text, count=1)
