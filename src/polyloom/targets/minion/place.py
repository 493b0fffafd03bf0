# SPDX-License-Identifier: Apache-2.0
"""Where a program runs: `minion:N` is N minions of the chip, `minion:FILE.toml:N` of a machine that a file describes.

Up to 32 minions are those of shire 0; more are whole shires in numerical order.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.targets.minion.machine import DEFAULT, ERBIUM, MINIONS_PER_SHIRE, Machine, load

MINIONS: Final = 1
"""Where no count is given."""
_NUMBER: Final = re.compile(r"[+-]?[0-9]+")
# Longer numbers are refused before they are converted: Python limits the digits of int(), with an error of its own.
_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class Place:
    """Place of a program: a machine and how many of its minions run. `text` is what the user wrote, and takes no part
    in comparisons.
    """

    machine: Machine
    minions: int = MINIONS
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        own = "" if self.machine.name == DEFAULT else f"{self.machine.name}:"
        return self.text or f"{own}{self.minions}"

    @property
    def shires(self) -> int:
        """Number of shires that take part."""
        return -(-self.minions // MINIONS_PER_SHIRE)


def parse_place(text: str) -> Place:
    """Reader of a place: `[MEMBER or FILE.toml][:N]`, or `N`. Errors: PL0302 to PL0306, PL1300 to PL1302."""
    name, _, last = text.rpartition(":")
    if _NUMBER.fullmatch(last):
        machine, count = load(name or DEFAULT), _count(last)
    else:
        machine, count = load(text or DEFAULT), MINIONS
    _check_count(machine, count)
    return Place(machine, count, text)


def _count(text: str) -> int:
    if len(text) > _DIGITS:
        raise _count_error(f"there are no {text[:_DIGITS]}... minions")
    return int(text)


def _check_count(machine: Machine, count: int) -> None:
    """Errors: PL1302 for a number of minions that the machine does not have, or that is no whole number of shires."""
    if count < 1:
        raise _count_error(f"a program cannot run on {count} minions")
    if count > machine.minions:
        name = f"{ERBIUM}:" if machine.name == ERBIUM else ""
        help = f"write at most minion:{name}{machine.minions}"
        one = "one neighbourhood" if machine.is_erbium else "one shire"
        shires = f"{machine.shires} shires of {MINIONS_PER_SHIRE}" if machine.shires > 1 else one
        raise input_error("PL1302", f"{machine.name} has {machine.minions} minions ({shires}), not {count}", help=help)
    # FLB barriers and the credit masks of a barrier are those of a whole shire (manual, chapters 10 and 11): a shire in
    # part would need code of its own.
    if count > MINIONS_PER_SHIRE and count % MINIONS_PER_SHIRE:
        below = count // MINIONS_PER_SHIRE * MINIONS_PER_SHIRE
        near = [n for n in (below, below + MINIONS_PER_SHIRE) if n <= machine.minions]
        help = f"write {' or '.join(f'minion:{n}' for n in near)}"
        message = f"{count} minions are no whole number of shires, which have {MINIONS_PER_SHIRE} each"
        raise input_error("PL1302", message, help=help)


def _count_error(message: str) -> PolyloomError:
    help = "write 1 to 32 minions, or a multiple of 32 up to 1024, such as minion:32"
    return input_error("PL1302", message, help=help)
