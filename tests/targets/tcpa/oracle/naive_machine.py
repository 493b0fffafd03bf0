# SPDX-License-Identifier: Apache-2.0
"""A machine for mappings that do without the mapper: one unit per variable, each of which does everything in `latency`
cycles."""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.operations import OPERATIONS, STORED, ElementType
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.machine import FunctionalUnit, Machine
from polyloom.targets.tcpa.words.symbolic import Symbolic


def fitting(symbolic: Symbolic, latency: int = 1) -> tuple[Symbolic, Machine]:
    """A machine of unlimited capacity with the units that `symbolic` names, and `symbolic` bound to it."""
    operations = [o for o in OPERATIONS if o.gives not in STORED]
    latencies: dict[tuple[str, ElementType], int] = {(o.name, t): latency for o in operations for t in o.types}
    mnemonics = {o.name: o.name for o in operations}
    limits = symbolic.limits
    machine = Machine(
        name="naive",
        units=tuple(FunctionalUnit(name, latencies, mnemonics) for name in limits.units),
        destinations=15,
        general_registers=None,
        feedback_registers=None,
        input_registers=None,
        output_registers=None,
        fifo_depth=None,
        instruction_words=None,
        branch_flags=limits.branch_flags,
        channels=None,
        adjacency=None,
        hop_delay=limits.hop_delay,
        control_signals=None,
        signal_sets=None,
        half_spaces=True,
        counter_bits=32,
        generator_dimensions=None,
        delay_bits=32,
        bank_words=None,
    )
    return replace(symbolic, machine=machine.name, machine_hash=machine_file.fingerprint(machine)), machine
