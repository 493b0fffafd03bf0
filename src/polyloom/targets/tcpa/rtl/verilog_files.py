# SPDX-License-Identifier: Apache-2.0
"""Verilog files of a circuit (IEEE 1364-2001): the library in `verilog/`, one module per part, and `machine.vh`, the
parameters that all of them include.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from polyloom.targets.tcpa.rtl.circuit import (
    AFFINE,
    DELAY_BITS,
    WORD,
    Circuit,
    Lane,
    adjacency_sets,
    operand_count,
)
from polyloom.targets.tcpa.words.isa import OPCODES

HEADER: Final = "machine.vh"
TOP: Final = "array"
LIBRARY: Final = Path(__file__).with_name("verilog")
_KNOWN: Final = 656
"""Bits of a lane's set of opcodes: 16 types for each of 41 operations."""
_LINE: Final = 120


def verilog_files(circuit: Circuit) -> dict[str, str]:
    """Texts by file name."""
    library = {path.name: path.read_text(encoding="utf-8") for path in sorted(LIBRARY.rglob("*.v"))}
    return {HEADER: machine_header(circuit), **library}


def machine_header(circuit: Circuit) -> str:
    """Parameter list of every module (IEEE 1364-2001, 12.2)."""
    c = circuit
    fifos = c.capacity("feedback_registers") + c.capacity("input_registers")
    sizes = {
        "ROWS": c.rows,
        "COLUMNS": c.columns,
        "WORD": WORD,
        "RD": c.capacity("general_registers"),
        "FD": c.capacity("feedback_registers"),
        "ID": c.capacity("input_registers"),
        "OD": c.capacity("output_registers"),
        "FIFO": c.bits("fifo_depth"),
        "PC": c.bits("instruction_words"),
        "FLAGS": c.machine.branch_flags,
        "CHANNELS": c.capacity("channels"),
        "HOP": c.machine.hop_delay,
        "SIGNALS": c.capacity("control_signals"),
        "SETS": c.capacity("signal_sets"),
        "GENERATOR_SETS": c.generator_sets,
        "HALVES": c.half_space_count,
        "DIMS": c.capacity("generator_dimensions"),
        "DIGIT": c.machine.counter_bits,
        "BANK": c.bits("bank_words"),
        "DELAY": DELAY_BITS,
        "AFFINE": AFFINE,
        "UNITS": len(c.machine.units),
        "LANES": len(c.lanes),
        "INDEX": (c.capacity("general_registers") + fifos - 1).bit_length(),
        "SOURCE": (c.sources - 1).bit_length(),
    }
    lines = [f"// SPDX-License-Identifier: Apache-2.0\n// The machine '{c.machine.name}'."]
    lines += [f"parameter {name} = {value}," for name, value in sizes.items()]
    lines += [
        "parameter FIFOS = FD + ID, REGISTERS = RD + FIFOS, DEST = RD + FD + OD, N = ROWS * COLUMNS,",
        "parameter SOURCES = OD + 4 * CHANNELS, SINKS = ID + 4 * CHANNELS,",
        "parameter PORTS = 2 * (ROWS + COLUMNS), BANKS = PORTS * CHANNELS, DRAIN = 260 + HOP * 4 * N * CHANNELS,",
        "// Words of an instruction.",
        "parameter PARTS = 4 + (DEST + 31) / 32 + (FLAGS + 3) / 4 + ((1 << FLAGS) + 1) / 2,",
        _vector("UNIT_OPERANDS", 8, [operand_count(unit) for unit in c.machine.units]),
        _vector("ADJACENCY", c.sources, adjacency_sets(c)),
        _vector("LANE_UNIT", 8, [lane.unit for lane in c.lanes]),
        _vector("LANE_LATENCY", 8, [lane.latency for lane in c.lanes]),
        _vector("LANE_BLOCKING", 1, [int(lane.blocking) for lane in c.lanes]),
        _vector("LANE_KNOWN", _KNOWN, [_opcode_set(lane) for lane in c.lanes]).removesuffix(","),
    ]
    return "\n".join(lines) + "\n"


def _opcode_set(lane: Lane) -> int:
    assert max(lane.opcodes) < _KNOWN <= OPCODES
    return sum(1 << opcode for opcode in lane.opcodes)


def _vector(name: str, width: int, values: list[int]) -> str:
    """One parameter with an item per lane, the first one in the lowest bits."""
    items = ",\n".join(f"  {width}'h{value:x}" for value in reversed(values))
    return f"parameter [{width * len(values)}-1:0] {name} = {{\n{items}\n}},"
