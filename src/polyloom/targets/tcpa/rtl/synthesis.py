# SPDX-License-Identifier: Apache-2.0
"""Synthesis of a circuit with Yosys (Yosys manual, `synth_ecp5`, `abc`, `stat`), module by module: cells of a Lattice
ECP5, or of the user's library in the Liberty format, and the bits of its memories.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from polyloom.diagnostics import input_error
from polyloom.targets.tcpa.rtl.circuit import DELAY_BITS, WORD, Circuit
from polyloom.targets.tcpa.rtl.tools import run_tool, tool_error
from polyloom.targets.tcpa.rtl.verilog_files import TOP
from polyloom.targets.tcpa.rtl.yosys import TOOL, yosys_command

PARTS: Final = (
    TOP,
    *("element", "unit", "lane", "alu", "divider", "fifo", "wrapper", "selector", "hop"),
    *("controller", "delay_line", "bank", "generator", "domain"),
)
ECP5: Final[Mapping[str, Mapping[str, int]]] = {
    "LUT4": {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6},
    "FF": {"TRELLIS_FF": 1},
    "DP16KD": {"DP16KD": 1},
    "MULT18": {"MULT18X18D": 1},
}
"""Cells by what they take of the device: a carry of two bits takes two LUT4, a memory of 16 x 4 bits takes the six of
three slices (ECP5 family data sheet, "Slice")."""
_RESULT: Final = "cells.json"
_MODULE: Final = re.compile(r"\\?(?:\$paramod(?:\$[0-9a-f]+)?\\)?(\w+).*", re.DOTALL)
_CELL: Final = re.compile(r'\bcell\s*\(\s*"?([^\s")]+)"?\s*\)|\barea\s*:\s*"?([0-9.eE+-]+)"?\s*;')
_NO_ABC9: Final = "-noabc9"
"""Option of newer tools, in which abc9 is the default and has ended with exit code 0 and no netlist."""
_LIBRARY: Final = "cells.lib"
# Memories stay memories: as registers they would hide everything else.
_GATES: Final = f"""-run begin:fine
alumacc; share; opt; memory -nomap; opt_clean
opt -fast -full; techmap; opt -fast
dfflibmap -liberty {_LIBRARY}; abc -liberty {_LIBRARY}; opt_clean"""


@dataclass(frozen=True, slots=True)
class Part:
    """A module: how many the array has, and the mean of its instances, whose parameters may differ."""

    name: str
    count: int
    cells: Mapping[str, float]
    """By cell type, with those of the modules inside."""

    def total(self, weights: Mapping[str, float]) -> float:
        """Weighted sum of the cells of one."""
        return sum(number * weights.get(cell, 0) for cell, number in self.cells.items())


def synthesize(texts: Mapping[str, str], folder: Path, liberty: str | None = None, top: str = TOP) -> tuple[Part, ...]:
    """Parts of the circuit of these files from module `top` down, in cells of an ECP5, or of the library whose text
    `liberty` is, made in an empty folder. Errors: PL0660, PL0661.
    """
    for name, text in {**texts, **({_LIBRARY: liberty} if liberty else {})}.items():
        (folder / name).write_text(text, encoding="utf-8")
    sources = " ".join(name for name in texts if name.endswith(".v"))
    mapping = f"synth -top {top} {_GATES}" if liberty else f"synth_ecp5 -top {top} -noflatten {_abc_option(folder)}"
    script = f"read_verilog -I. {sources}\nhierarchy -top {top}\n{mapping}\ntee -q -o {_RESULT} stat -json\n"
    return read_parts(_run_yosys(script, folder), top)


def _abc_option(folder: Path) -> str:
    help = run_tool(TOOL, (*yosys_command(), "-p", "help synth_ecp5"), b"", folder).decode(errors="replace")
    return _NO_ABC9 if _NO_ABC9 in help else ""


def _run_yosys(script: str, folder: Path) -> str:
    """What the script has written. Errors: PL0660, PL0661."""
    (folder / "script.ys").write_text(script, encoding="utf-8")
    output = run_tool(TOOL, (*yosys_command(), "-q", "script.ys"), b"", folder)
    result = folder / _RESULT
    if not result.is_file():
        raise tool_error(TOOL, f"`{TOOL}` ended without an error and without a result", output.decode(errors="replace"))
    return result.read_text(encoding="utf-8")


def read_parts(text: str, top: str = TOP) -> tuple[Part, ...]:
    """Parts of the result of `stat -json`, from module `top` down. Errors: PL0661 where it has no cells."""
    modules = _read_modules(text)
    # A module with parameters is named after its file and a hash of them.
    own = {name.removeprefix("\\"): Counter[str](m["num_cells_by_type"]) for name, m in modules.items()}
    counts = _count_instances(own, top)
    if not _cell_counts(own, top):
        raise tool_error(TOOL, f"`{TOOL}` ended without an error and without cells", text)
    found = list[Part]()
    for part in PARTS:
        variants = [name for name in own if _base_name(name) == part and counts[name]]
        if not variants:
            continue
        count, cells = sum(counts[v] for v in variants), Counter[str]()
        for variant in variants:
            for cell, number in _cell_counts(own, variant).items():
                cells[cell] += number * counts[variant]
        found.append(Part(part, count, {cell: number / count for cell, number in cells.items()}))
    return tuple(found)


def _read_modules(text: str) -> Mapping[str, Mapping[str, Any]]:
    # Yosys 0.23 prints lines of its other format behind the modules, where modules are nested twice.
    start = re.search(r'"modules":\s*', text)
    return {} if start is None else json.JSONDecoder().raw_decode(text, start.end())[0]


def _base_name(module: str) -> str:
    match = _MODULE.fullmatch(module)
    return match[1] if match else module


def _count_instances(own: Mapping[str, Counter[str]], top: str) -> Counter[str]:
    """Instances of every module in the hierarchy below `top`, which counts itself."""
    counts = Counter({top: 1})
    for cell, number in own.get(top, Counter[str]()).items():
        if cell in own:
            for name, inside in _count_instances(own, cell).items():
                counts[name] += number * inside
    return counts


def _cell_counts(own: Mapping[str, Counter[str]], module: str) -> Counter[str]:
    cells = Counter[str]()
    for cell, number in own.get(module, Counter[str]()).items():
        for name, inside in (_cell_counts(own, cell) if cell in own else {cell: 1}).items():
            cells[name] += number * inside
    return cells


def read_areas(text: str) -> dict[str, float]:
    """Areas of the cells of a library (Liberty reference manual, `area`), in its unit, which is µm² in most. Errors:
    PL0310."""
    areas, cell = dict[str, float](), None
    for name, area in _CELL.findall(text):
        if name:
            cell = name
        elif cell is not None:
            # The first one in a group is the cell's.
            areas.setdefault(cell, float(area))
    if not areas:
        raise input_error("PL0310", "the file is no Liberty library: it has no cell with an area", help="name a .lib")
    return areas


def area_figures(parts: Iterable[Part], weights: Mapping[str, float]) -> dict[str, float]:
    """The figures of a machine's area table: an element has the links and delay lines of its share."""
    by_name = {part.name: part for part in parts}
    whole = {name: part.count * part.total(weights) for name, part in by_name.items()}
    elements = sum(whole.get(name, 0) for name in ("element", "hop", "delay_line"))
    return {
        "element": elements / by_name["element"].count,
        "bank": by_name["bank"].total(weights),
        "controller": by_name["controller"].total(weights),
    }


def memory_bits(circuit: Circuit) -> dict[str, int]:
    """Bits of the memories of the whole array."""
    c, elements = circuit, circuit.rows * circuit.columns
    flags = c.machine.branch_flags
    # The words of an instruction, as in verilog_files.py.
    words = 4 + -(-c.destinations // 32) + -(-flags // 4) + -(-(1 << flags) // 2)
    fifos = c.capacity("feedback_registers") + c.capacity("input_registers")
    return {
        "instructions": elements * len(c.machine.units) * words * 32 << c.bits("instruction_words"),
        "FIFOs": elements * fifos * WORD << c.bits("fifo_depth"),
        "banks": c.ports * c.capacity("channels") * WORD << c.bits("bank_words"),
        "delay lines": (elements - 1) * (c.capacity("control_signals") + 1) << DELAY_BITS,
    }
