# SPDX-License-Identifier: Apache-2.0
"""Latency against clock: one element of a small machine of i32, placed and routed for an ECP5 with latency 1, 2 and 3
of the operations that have 1 in its file, the others as much longer; beside the clock, the cycles of an i32 product
on 4x4 elements with these latencies, and the time that follows. The clock is the median of three seeds of the placer.
Each row takes minutes.

Latency 1 means operands, operation and write-back in one cycle; with 2, a register stands before the write-back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from polyloom import api, temporary
from polyloom.cli import examples
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.rtl import place_and_route, synthesis
from polyloom.targets.tcpa.rtl.circuit import build_circuit, check_circuit
from polyloom.targets.tcpa.rtl.verilog_files import verilog_files

MACHINE: Final = "prototype.toml"
_LATENCIES: Final = (1, 2, 3)
_SEEDS: Final = (1, 2, 3)
_SIZE: Final = {"n": 16, "m": 16, "k": 64}
_REGION: Final = (4, 4)


def rows() -> Iterator[dict[str, object]]:
    """One row per latency."""
    place_and_route.nextpnr_command()
    machine = machine_file.load(str(examples.folder() / "rtl" / MACHINE))
    for latency in _LATENCIES:
        yield _row(with_more_latency(machine, latency - 1), latency)


def with_more_latency(machine: Machine, more: int) -> Machine:
    """The machine with `more` cycles for every operation."""
    units = (replace(u, latencies={key: n + more for key, n in u.latencies.items()}) for u in machine.units)
    return replace(machine, units=tuple(units))


def _row(machine: Machine, latency: int) -> dict[str, object]:
    check_circuit(machine)
    with temporary.temporary_folder() as folder:
        cycles = product_cycles(machine, folder)
    with temporary.temporary_folder() as folder:
        placed = place_and_route.place_element(verilog_files(build_circuit(machine, 1, 1)), folder, _SEEDS)
    clock = median(placed.clocks)
    cells = {
        name: round(sum(n * weights.get(cell, 0) for cell, n in placed.cells.items()))
        for name, weights in synthesis.ECP5.items()
    }
    return {
        "latency": latency,
        **cells,
        "MHz": round(clock, 1),
        "slowest": round(min(placed.clocks), 1),
        "fastest": round(max(placed.clocks), 1),
        "cycles": cycles,
        "µs": round(cycles / clock, 1),
    }


def product_cycles(machine: Machine, folder: Path) -> int:
    """Cycles of a product of 16x16x64 on the model, on 4x4 elements."""
    text = folder / "machine.toml"
    text.write_text(machine_file.resolve(machine), encoding="utf-8")
    compiled = api.compile(str(examples.folder() / "rtl" / "product.c"), on=f"tcpa:{text}")
    a, b = (np.ones(shape, np.int32) for shape in ((_SIZE["n"], _SIZE["k"]), (_SIZE["k"], _SIZE["m"])))
    cycles = compiled.instantiate(_SIZE, pes=_REGION).run(A=a, B=b).cycles
    assert cycles is not None
    return cycles
