# SPDX-License-Identifier: Apache-2.0
"""Simulator of a circuit: its Verilog built with Verilator (Verilator 5 manual, "Verilating"), or else with Yosys and a
C++ compiler (`cxxrtl.py`), around the test bench `driver.cpp`, which reads the writes of the configuration bus and
prints what it sees in each cycle.
"""

from __future__ import annotations

import re
import resource
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from polyloom.targets.tcpa.rtl import cxxrtl
from polyloom.targets.tcpa.rtl.bus_addresses import Write
from polyloom.targets.tcpa.rtl.circuit import Circuit
from polyloom.targets.tcpa.rtl.configuration_changes import Loading
from polyloom.targets.tcpa.rtl.tools import run_tool, tool_error
from polyloom.targets.tcpa.rtl.verilog_files import LIBRARY, TOP, verilog_files

TOOL: Final = "verilator"
INSTALL: Final = "apt-get install verilator g++ make"
ISSUE, RESULT, BANK_WRITE, FAULT, BANK_FAULT, ENDED, FINISHED = range(7)
"""Events of driver.cpp."""
_HERE: Final = Path(__file__).parent
_DRIVER: Final = "driver.cpp"
_OPTIONS: Final = (
    *("--cc", "--exe", "--build", "--prefix", "Varray", "--top-module", TOP, "--Mdir", "built"),
    *("--language", "1364-2005", "-Wno-WIDTH", "-Wno-UNOPTFLAT", "--x-assign", "fast", "--x-initial", "fast"),
    # The dataflow pass makes a wide wire of many drivers one concatenation, which copies all of it for each of them.
    "-fno-dfg",
)
_SHARED: Final = ("bank", "domain", "element")
"""Modules with many instances, of whose code Verilator makes one copy if no instance names a wire of another one."""
_INSIDE: Final = ("fifo", "lane", "unit")
"""Modules that become part of the code of their element, however many there are: a call and copies of ports take longer
than what they do. With calls in it, elements at different places are ordered differently, and do not share their code.
"""
_CONTROL: Final = "ports.vlt"
_PORT: Final = re.compile(r"\b(?:input|output)(?: reg)?(?: \[[^]]*])? (\w+)")
_COMMON: Final = frozenset(
    ("clk", "reset", "clear", "load_kind", "load_number", "load_unit", "load_at", "load_part", "load_word", "interval")
)
"""Ports that lead to one wire in all instances: the copy names that wire."""
_COMMON_OF: Final = {"bank": {"load", "ahead", "on"}, "element": {"load", "ended"}}
_RECORD: Final = np.dtype([(n, np.uint32) for n in ("event", "cycle", "place", "first", "second")])


@dataclass(frozen=True, slots=True)
class Simulator:
    """A built simulator of `circuit`, made by `tool`; `build_seconds` of CPU."""

    circuit: Circuit
    program: Path
    build_seconds: float
    tool: str = TOOL


@dataclass(frozen=True, slots=True)
class BusRun:
    """Run of the circuit: what the bus carries before it, and then to fill the banks; the most cycles it may take."""

    loading: Loading
    banks: Sequence[Write]
    cycles: int


Events = NDArray[Any]
"""Records of `driver.cpp`: event, cycle, place (element and unit or lane, or bank), two values."""


def build_simulator(
    circuit: Circuit, folder: Path, optimization: int = 1, replaced: Mapping[str, str] | None = None
) -> Simulator:
    """Simulator in an empty folder; `replaced` are texts in the place of those of the library. Errors: PL0660 without
    tools, PL0661 where one makes nothing.
    """
    own = {"sizes.h": _sizes(circuit), _DRIVER: (_HERE / _DRIVER).read_text(encoding="utf-8")}
    # The later one counts: a test replaces a file to see that the change is noticed.
    texts = {**verilog_files(circuit), **(replaced or {})}
    before = _child_seconds()
    if shutil.which(TOOL) is None:
        program = cxxrtl.build_program(texts, own, folder, optimization, INSTALL)
        return Simulator(circuit, program, _child_seconds() - before, cxxrtl.TOOL)
    header = (_HERE / "verilated_circuit.h").read_text(encoding="utf-8")
    for name, text in {**texts, **own, "circuit.h": header, _CONTROL: port_control()}.items():
        (folder / name).write_text(text, encoding="utf-8")
    # Code that runs once, which is half of it, is not worth optimizing.
    levels = f"OPT_FAST=-O{optimization} OPT_SLOW=-O0 OPT_GLOBAL=-O1"
    flags = ("-CFLAGS", "-std=c++17 -I..", "-MAKEFLAGS", levels)
    command = (TOOL, *_OPTIONS, *flags, _CONTROL, f"{TOP}.v", _DRIVER)
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
    """Control file of Verilator ("Configuration files", inline, public_flat_rd): the ports of shared modules are kept,
    so that their wires are not replaced by those of neighbours. A port that is kept is copied in every cycle; and each
    wire with a clock would be a clock of its own.
    """
    ports = (
        (name, port)
        for name in _SHARED
        for port in _PORT.findall((LIBRARY / f"{name}.v").read_text("utf-8"))
        if port not in _COMMON | _COMMON_OF.get(name, set[str]())
    )
    kept = (f'public_flat_rd -module "{module}*" -var "{port}"' for module, port in ports)
    return "\n".join(["`verilator_config", *(f'inline -module "{name}*"' for name in _INSIDE), *kept, ""])


def simulate(simulator: Simulator, runs: Sequence[BusRun], *, observed: bool = True) -> list[Events]:
    """Events of runs, one after another on one circuit, which keeps its configuration; without `observed` only faults
    and the end. Errors: PL0661.
    """
    asked = b"".join(part for run in runs for part in _pack_run(run, observed))
    head = np.array([len(runs)], "<u8").tobytes()
    output = run_tool(simulator.tool, (str(simulator.program),), head + asked, simulator.program.parent)
    events = np.frombuffer(output, _RECORD)
    ends = np.flatnonzero(events["event"] == FINISHED).tolist()
    found = [events[a:b] for a, b in zip((0, *(n + 1 for n in ends)), ends, strict=False)]
    if len(found) < len(runs) or any(_is_open(own) for own in found):
        raise tool_error(simulator.tool, "the simulator of the circuit reported neither its end nor a fault", "")
    return found


def _pack_run(run: BusRun, observed: bool) -> Iterable[bytes]:
    """A run as driver.cpp reads it."""
    words = np.array([*run.loading.words, *run.banks], np.uint64).reshape(-1, 2)
    packed = np.zeros(len(words), np.dtype([("address", "<u8"), ("word", "<u4")]))
    packed["address"], packed["word"] = words[:, 0], words[:, 1]
    yield np.array([run.cycles, observed, run.loading.whole, len(words)], "<u8").tobytes()
    yield packed.tobytes()


def _is_open(events: Events) -> bool:
    return not len(events) or events[-1]["event"] not in (ENDED, FAULT, BANK_FAULT)


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
        "BANKS": circuit.ports * circuit.capacity("channels"),
        "SETTLE": 4 * elements * circuit.machine.hop_delay + 8,
    }
    return "".join(f"constexpr unsigned {name} = {value};\n" for name, value in sizes.items())
