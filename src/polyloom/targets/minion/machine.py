# SPDX-License-Identifier: Apache-2.0
"""Machine files: how many shires there are, and how each one's 4 MiB are split into L2, a slice of L3 and scratchpad;
or Erbium, which has neither.

A member is a TOML text; `based_on` names a shipped member whose values stand for the keys that are not given. Source of
the sizes: the programmer's reference manual, "Memory map", and what the firmware sets up. The documentation gives each
of the four blocks of 1 MiB one use; here the split is free.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from polyloom.diagnostics import input_error
from polyloom.machine.members import Members
from polyloom.machine.table import Table

# Shipped members are package data beside this file, so that an installed wheel finds them as a clone does.
_MEMBERS: Final = Members(Path(__file__).with_name("machines"), "PL1300", "Minion machine")
DEFAULT: Final = "et-soc-1"
SHIRE_KIB: Final = 4096
"""SRAM of a shire: four banks of 1 MiB."""
MINIONS_PER_SHIRE: Final = 32
SHIRES: Final = 32
"""Compute shires of the chip."""
ERBIUM: Final = "erbium"
FAMILIES: Final = (DEFAULT, ERBIUM)
"""What differs in its memory map; a member without `family` is of the first."""
ERBIUM_MINIONS: Final = 8
_KEYS: Final = ("name", "based_on", "family", "shires", "l2_kib", "l3_kib", "scratchpad_kib")
_SPLIT: Final = ("l2_kib", "l3_kib", "scratchpad_kib")


@dataclass(frozen=True, slots=True)
class Machine:
    """Machine description: how the SRAM of each shire is split, in KiB. A cache of n KiB has n sets: four banks of n /
    4 sets, each of four lines of 64 bytes (programmer's reference manual, "Memory map").
    """

    name: str
    shires: int
    l2_kib: int
    l3_kib: int
    scratchpad_kib: int
    family: str = DEFAULT

    @property
    def is_erbium(self) -> bool:
        """Eight minions over MRAM, without shires' SRAM (sw-sysemu, emu_defines.h)."""
        return self.family == ERBIUM

    @property
    def minions(self) -> int:
        """Number of minions."""
        return ERBIUM_MINIONS if self.is_erbium else self.shires * MINIONS_PER_SHIRE

    @property
    def harts(self) -> int:
        """Number of hart ids, two for each minion."""
        return 2 * self.minions

    @property
    def scratchpad_bytes(self) -> int:
        """Bytes of one shire's scratchpad."""
        return self.scratchpad_kib * 1024


def members() -> tuple[str, ...]:
    """The names of the shipped members, sorted."""
    return _MEMBERS.names()


def load(name_or_path: str) -> Machine:
    """A shipped member, or a file whose name ends in `.toml`. Errors: PL0302 to PL0306, PL1300, PL1301."""
    return read(*_MEMBERS.find(name_or_path))


@lru_cache(64)
def read(text: str, name: str) -> Machine:
    """The member that `text` describes; messages call the text `name`. Errors: PL0302 to PL0306, PL1300, PL1301."""
    table = _MEMBERS.table(text, name, _KEYS)
    if "family" in table.content:
        _check_family(table)
        if table.text("family") == ERBIUM:
            return Machine(table.text("name"), 1, 0, 0, 0, ERBIUM)
    machine = Machine(
        name=table.text("name"),
        shires=table.integer("shires", 1, SHIRES),
        # A cache has at least one set in each bank, and whole ones: multiples of 4 KiB.
        l2_kib=table.integer("l2_kib", 4, SHIRE_KIB),
        l3_kib=table.integer("l3_kib", 4, SHIRE_KIB),
        scratchpad_kib=table.integer("scratchpad_kib", 0, SHIRE_KIB),
    )
    _check_split(table, machine)
    return machine


def resolve(machine: Machine) -> str:
    """Machine file with every key written out, for the record of a run; `read` makes an equal machine of it."""
    rows = [f"name = {json.dumps(machine.name, ensure_ascii=False)}"]
    if machine.is_erbium:
        return "\n".join([*rows, f'family = "{ERBIUM}"']) + "\n"
    return "\n".join([*rows, *(f"{key} = {getattr(machine, key)}" for key in ("shires", *_SPLIT))]) + "\n"


def _check_family(table: Table) -> None:
    """Errors: PL1301 for a family that there is none of, or a split of SRAM that Erbium does not have."""
    family = table.text("family")
    if family not in FAMILIES:
        help = f"write {' or '.join(FAMILIES)}"
        raise input_error("PL1301", f"there is no family '{family}'", span=table.value_span("family"), help=help)
    # Also where a file is based on the member: whatever it splits does not exist.
    split = next((key for key in ("shires", *_SPLIT) if key in table.content), None)
    if family == ERBIUM and split:
        message = f"'{split}' is of shires, which Erbium does not have"
        raise input_error("PL1301", message, span=table.span(split), help=f"leave {split} out")


def _check_split(table: Table, machine: Machine) -> None:
    """Errors: PL1301 where a share is not whole KiB per bank, or the shares are not the 4 MiB of a shire."""
    for key in _SPLIT:
        if getattr(machine, key) % 4:
            message = f"'{key}' is {getattr(machine, key)}, which is no multiple of 4"
            help = "each of a shire's four banks takes a whole number of KiB"
            raise input_error("PL1301", message, span=table.value_span(key), help=help)
    total = machine.l2_kib + machine.l3_kib + machine.scratchpad_kib
    if total != SHIRE_KIB:
        sizes = f"{machine.l2_kib} + {machine.l3_kib} + {machine.scratchpad_kib}"
        rest = SHIRE_KIB - machine.l2_kib - machine.l3_kib
        help = f"write scratchpad_kib = {rest}" if rest >= 0 else "make l2_kib or l3_kib smaller"
        message = f"a shire has {SHIRE_KIB} KiB, and the split takes {sizes} = {total}"
        raise input_error("PL1301", message, span=table.value_span(_final_given_key(table)), help=help)


def _final_given_key(table: Table) -> str:
    """The last key of the split that the file itself gives."""
    path = table.path
    return next((key for key in reversed(_SPLIT) if (*path, key) in table.places.keys), _SPLIT[-1])
