# SPDX-License-Identifier: Apache-2.0
"""Circuits: cells of an ECP5, or areas in a library of cells, of the parts of a 4x4 array of `mid` without f32, and
bits of its memories (Yosys); then, of a small machine of integers and of `mid`, lines of Verilog, CPU time of the
build, and speed of the simulation with Verilator, on an i32 product that is compared with the model in every cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from polyloom import api, files, temporary
from polyloom.cli import examples
from polyloom.targets.tcpa import cosimulation, machine_file
from polyloom.targets.tcpa.rtl import simulator, synthesis
from polyloom.targets.tcpa.rtl.circuit import Circuit, build_circuit, check_circuit
from polyloom.targets.tcpa.rtl.verilog_files import verilog_files

MACHINE: Final = "mid_integers.toml"
SPARSE: Final = "mid_sparse.toml"
"""With 320 of 2,116 connections in a wrapper."""
WRAPPER: Final = "wrapper"
_AREA: Final = "µm²"
_COUNTED: Final = (4, 4)
_SIMULATED: Final = (("integers.toml", (2, 2), 256), ("integers.toml", (4, 4), 256), ("mid", (4, 4), 64))
"""Machines, regions, and terms of each sum of the product, which fit the banks."""


def rows(liberty: str | None = None) -> Iterator[dict[str, object]]:
    """Cells and memories, then the simulation; areas in the library of the file `liberty` alone."""
    yield from _cell_rows(liberty)
    if liberty is None:
        yield from _simulation_rows()


def _cell_rows(liberty: str | None) -> Iterator[dict[str, object]]:
    machine = machine_file.load(str(examples.folder() / "rtl" / MACHINE))
    circuit = build_circuit(machine, *_COUNTED)
    array = f"in {_COUNTED[0]}x{_COUNTED[1]}"
    text = None if liberty is None else files.read(liberty).decode(errors="replace")
    # Before the synthesis, which takes a while.
    columns = synthesis.ECP5 if text is None else {_AREA: synthesis.read_areas(text)}
    with temporary.temporary_folder() as folder:
        parts = synthesis.synthesize(verilog_files(circuit), folder, text)
    first_name, first = next(iter(columns.items()))
    whole = parts[0].total(first)
    for part in parts:
        cells = {name: round(part.total(weights)) for name, weights in columns.items()}
        share = round(100 * part.count * part.total(first) / whole, 1)
        yield {"part": part.name, array: part.count, **cells, f"% of {first_name}": share}
    yield from _sparse_rows(columns, text)
    for name, figure in synthesis.area_figures(parts, columns[first_name]).items():
        yield {"[area]": name, first_name: round(figure)}
    yield from memory_rows(circuit, array, whole if liberty else None)


def _sparse_rows(columns: Mapping[str, Mapping[str, float]], library: str | None) -> Iterator[dict[str, object]]:
    """The wrapper of the same element with fewer connections."""
    machine = machine_file.load(str(examples.folder() / "rtl" / SPARSE))
    with temporary.temporary_folder() as folder:
        texts = verilog_files(build_circuit(machine, *_COUNTED))
        parts = synthesis.synthesize(texts, folder, library, WRAPPER)
    cells = {name: round(parts[0].total(weights)) for name, weights in columns.items()}
    yield {"part": f"{WRAPPER} of {machine.name}", **cells}


def memory_rows(circuit: Circuit, array: str, cells: float | None) -> Iterator[dict[str, object]]:
    """Bits; and beside the area of the `cells` that of the bits, where the machine's file says what one takes."""
    bits = synthesis.memory_bits(circuit)
    area = circuit.machine.area
    figure = None if cells is None or area is None else area.memory_bit
    for name, number in bits.items():
        yield {"memories": name, f"bits {array}": number, **_bit_area(number, figure)}
    if cells is not None and figure is not None:
        whole = sum(bits.values())
        yield {"memories": "all, and all cells", f"bits {array}": whole, _AREA: round(cells + whole * figure)}


def _bit_area(bits: int, figure: float | None) -> dict[str, object]:
    return {} if figure is None else {_AREA: round(bits * figure)}


def _simulation_rows() -> Iterator[dict[str, object]]:
    """Equal first, then timed without observation."""
    folder = examples.folder() / "rtl"
    random = np.random.default_rng(0)
    for name, region, terms in _SIMULATED:
        member = str(folder / name) if name.endswith(".toml") else name
        machine = machine_file.load(member)
        check_circuit(machine)
        compiled = api.compile(str(folder / "product.c"), on=f"tcpa:{member}")
        shapes = {"A": (16, terms), "B": (terms, 16)}
        given = {array: random.integers(-99, 99, shape, np.int32) for array, shape in shapes.items()}
        data = compiled.instantiate({"n": 16, "m": 16, "k": terms}, pes=region).data
        with temporary.temporary_folder() as built_in:
            circuit = build_circuit(machine, *region)
            # The highest level, for what is timed here is the simulation.
            built = simulator.build_simulator(circuit, built_in, 3)
            found = cosimulation.compare_runs(built, data, given)
            cycles, seconds = cosimulation.time_circuit(built, data, given)
            yield {
                "machine": machine.name,
                "array": f"{region[0]}x{region[1]}",
                "lines of Verilog": sum(text.count("\n") for text in verilog_files(circuit).values()),
                "build s": built.build_seconds,
                "cycles": found.cycles,
                "operations": found.operations,
                "equal": found.difference is None and found.fault is None,
                "element-cycles per second": region[0] * region[1] * cycles / seconds,
            }
