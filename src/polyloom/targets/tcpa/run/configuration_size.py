# SPDX-License-Identifier: Apache-2.0
"""Configuration size: the words of 32 bits that a configuration is on the bus of the circuit (docs/rtl.md).

Instructions, which a file holds in words of variable length, count with all their fields there. What a machine has
without limit counts with what the configuration uses.
"""

from __future__ import annotations

from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.words.concrete import Concrete, Domain, bank_route
from polyloom.targets.tcpa.words.isa import File
from polyloom.targets.tcpa.words.sides import SIDES

_CONTROLLER = 6
"""Words of the controller besides extents and signals."""
_OPERATION = 4
"""Words of an instruction's operation and its three sources."""
_GENERATOR = 4
"""Words of a generator besides coefficients and domain: its base, its delay, the two limits of its window."""


def count_words(machine: Machine, concrete: Concrete) -> int:
    """Words on the configuration bus, without the contents of banks."""
    rank = len(concrete.extents)
    dims = machine.generator_dimensions or max(1, rank)
    domains = (*concrete.controller.signals, *(g.domain for g in concrete.generators))
    instructions = sum(len(program) for each in concrete.classes for program in each.programs)
    return (
        concrete.rows * concrete.columns
        + instructions * _instruction_words(machine, concrete)
        + sum(len(each.feedback_depths) + len(each.input_depths) for each in concrete.classes)
        + sum(map(len, concrete.wrappers))
        + _count_route_words(concrete)
        # The controller's outermost digit has no limit in the epilogue.
        + (_CONTROLLER + rank + max(0, rank - 1))
        + sum(len(g.coefficients) + _GENERATOR for g in concrete.generators)
        + sum(_domain_words(domain, dims) for domain in domains)
    )


def _instruction_words(machine: Machine, concrete: Concrete) -> int:
    """A destination has a bit, a signal that a branch reads a byte, a target of it 16 bits."""
    # The widths are those of the circuit (verilog/unit.v), which does not encode destinations: none is compared there.
    files = (File.RD, machine.general_registers), (File.FD, machine.feedback_registers)
    destinations = sum(
        max(1, used_registers(concrete, file) if own is None else own)
        for file, own in (*files, (File.IO, machine.output_registers))
    )
    flags = machine.branch_flags
    return _OPERATION + sum((bits + 31) // 32 for bits in (destinations, 8 * flags, 16 << flags))


def used_registers(concrete: Concrete, file: File) -> int:
    """Registers of a file that instructions write: one more than the highest."""
    programs = (program for each in concrete.classes for program in each.programs)
    written = (d for program in programs for i in program for d in i.destinations)
    return max((d.index + 1 for d in written if d.file is file), default=0)


def _count_route_words(concrete: Concrete) -> int:
    """Connections of the routes of banks, element by element: those that routes share count once."""
    found = set[tuple[object, ...]]()
    for g in concrete.generators:
        side = SIDES.index(g.side)
        for left, where in zip(range(g.links, -1, -1), bank_route(concrete, g), strict=True):
            inner = ((side + 2) % 4, g.channel) if left else (len(SIDES), g.register)
            found.add((where, (side, g.channel), inner, concrete.arrays[g.array].is_output))
    return len(found)


def _domain_words(domain: Domain, dims: int) -> int:
    """Bounds of every dimension and a word of choices per convex set; its slanted faces, of which sets share equal
    ones."""
    halves = {half for convex in domain for half in convex.half_spaces}
    return sum(len(half.coefficients) + 1 for half in halves) + len(domain) * (2 * dims + 1)
