# SPDX-License-Identifier: Apache-2.0
"""Simulator of a circuit: its Verilog built with Verilator (Verilator 5 manual, "Verilating") around the test bench
`driver.cpp`, which reads the writes of the configuration bus and prints what it sees in each cycle.
"""

from __future__ import annotations

import re
import resource
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tcpa.rtl.bus_words import Write
from polyloom.targets.tcpa.rtl.circuit import Circuit
from polyloom.targets.tcpa.rtl.tools import missing_tool, run_tool, tool_error
from polyloom.targets.tcpa.rtl.verilog_files import LIBRARY, TOP, verilog_files

TOOL: Final = "verilator"
INSTALL: Final = "apt-get install verilator g++ make"
ISSUE, RESULT, BANK_WRITE, FAULT, BANK_FAULT, ENDED = range(6)
"""Events of driver.cpp."""
_DRIVER: Final = Path(__file__).with_name("driver.cpp")
_OPTIONS: Final = (
    *("--cc", "--exe", "--build", "--prefix", "Varray", "--top-module", TOP, "--Mdir", "built"),
    *("--language", "1364-2005", "-Wno-WIDTH", "-Wno-UNOPTFLAT", "--x-assign", "fast", "--x-initial", "fast"),
)
_SHARED: Final = ("bank", "domain", "element", "unit")
"""Modules with many instances, of whose code Verilator makes one copy if no instance names a wire of another one."""
_CONTROL: Final = "ports.vlt"
_PORT: Final = re.compile(r"\b(?:input|output)(?: reg)?(?: \[[^]]*])? (?!clk\b|reset\b)(\w+)")
_RECORD: Final = np.dtype([(n, np.uint32) for n in ("event", "cycle", "place", "first", "second")])


@dataclass(frozen=True, slots=True)
class Simulator:
    """A built simulator of `circuit`; `build_seconds` of CPU."""

    circuit: Circuit
    program: Path
    build_seconds: float


Events = NDArray[Any]
"""Records of `driver.cpp`: event, cycle, place (element and unit or lane, or bank), two values."""


def build_simulator(
    circuit: Circuit, folder: Path, optimization: int = 1, replaced: Mapping[str, str] | None = None
) -> Simulator:
    """Simulator in an empty folder; `replaced` are texts in the place of those of the library. Errors: PL0660
    without Verilator, PL0661 where it makes nothing.
    """
    if shutil.which(TOOL) is None:
        raise missing_tool(TOOL, "simulates circuits", f"`{INSTALL}`")
    own = {"sizes.h": _sizes(circuit), _CONTROL: port_control()}
    for name, text in {**verilog_files(circuit), **own, **(replaced or {})}.items():
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copyfile(_DRIVER, folder / "driver.cpp")
    before = _child_seconds()
    # Code that runs once, which is half of it, is not worth optimizing.
    levels = f"OPT_FAST=-O{optimization} OPT_SLOW=-O0 OPT_GLOBAL=-O1"
    flags = ("-CFLAGS", "-std=c++17", "-MAKEFLAGS", levels)
    command = (TOOL, *_OPTIONS, *flags, _CONTROL, f"{TOP}.v", "driver.cpp")
    # Without paths of the user: a makefile cannot name folders with spaces.
    output = run_tool(TOOL, command, b"", folder)
    program = folder / "built" / "Varray"
    # Tools have ended with 0 and made nothing.
    if not program.is_file():
        raise tool_error(
            TOOL, f"`{TOOL}` ended without an error and without a program", output.decode(errors="replace")
        )
    return Simulator(circuit, program, _child_seconds() - before)


def port_control() -> str:
    """Control file of Verilator ("Configuration files", public_flat_rd): the ports of shared modules are kept, so that
    their wires are not replaced by those of neighbours. Clocks are: each wire with a clock would be one of its own.
    """
    ports = ((name, port) for name in _SHARED for port in _PORT.findall((LIBRARY / f"{name}.v").read_text("utf-8")))
    return "\n".join(["`verilator_config", *(f'public_flat_rd -module "{m}*" -var "{p}"' for m, p in ports), ""])


def simulate(simulator: Simulator, writes: Iterable[Write], cycles: int, *, observed: bool = True) -> Events:
    """Events of a run, of at most `cycles` cycles; without `observed` only faults and the end. Errors: PL0661."""
    words = np.array(list(writes), np.uint64).reshape(-1, 2)
    packed = np.zeros(len(words), np.dtype([("address", "<u8"), ("word", "<u4")]))
    packed["address"], packed["word"] = words[:, 0], words[:, 1]
    head = np.array([cycles, observed, len(words)], "<u8").tobytes()
    output = run_tool(TOOL, (str(simulator.program),), head + packed.tobytes(), simulator.program.parent)
    events = np.frombuffer(output, _RECORD)
    if not len(events) or events[-1]["event"] not in (ENDED, FAULT, BANK_FAULT):
        raise tool_error(TOOL, "the simulator of the circuit reported neither its end nor a fault", "")
    return events


def _child_seconds() -> float:
    """CPU seconds of all processes that have ended (getrusage(2), Linux manual)."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _sizes(circuit: Circuit) -> str:
    """Sizes of the top's ports, which the test bench takes apart."""
    elements = circuit.rows * circuit.columns
    sizes = {
        "ELEMENTS": elements,
        "UNITS": len(circuit.machine.units),
        "LANES": len(circuit.lanes),
        "PC_BITS": circuit.bits("instruction_words") + 1,
        "BANKS": circuit.ports * circuit.capacity("channels"),
        "BANK_BITS": circuit.bits("bank_words"),
        "SETTLE": 4 * elements * circuit.machine.hop_delay + 8,
    }
    return "".join(f"constexpr unsigned {name} = {value};\n" for name, value in sizes.items())
