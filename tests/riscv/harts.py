# SPDX-License-Identifier: Apache-2.0
"""Small programs on the interpreter, for tests."""

from __future__ import annotations

from dataclasses import dataclass

from polyloom.riscv import names
from polyloom.riscv.assemble import assemble
from polyloom.riscv.image import raw_image
from polyloom.riscv.model import Machine

BASE, SCRATCH = 0x1000, 0x4000
"""Where programs stand, and where their data do."""
WIDE, NARROW = names.parse_isa("rv64gc_zicond_zbb"), names.parse_isa("rv32gc_zicond_zbb")


def machine(text: str, isa: names.Isa = WIDE) -> Machine:
    """A machine with `text` at BASE."""
    return Machine(raw_image(assemble(text, isa, BASE).data, isa, BASE))


@dataclass(frozen=True, slots=True)
class Bench:
    """A machine whose instructions are run one at a time."""

    machine: Machine
    places: dict[str, int]

    def step(self, line: str) -> None:
        """Runs one of the instructions, and no other."""
        place = self.places[line]
        assert self.machine.run(place, stop=place + 4).instructions == 1


def bench(lines: list[str], isa: names.Isa) -> Bench:
    """A bench of 4-byte instructions."""
    return Bench(machine("\n".join(lines), isa), {line: BASE + 4 * n for n, line in enumerate(lines)})
