# SPDX-License-Identifier: Apache-2.0
"""Sweep of the floating-point modules: the netlist that Yosys makes of each operation, compiled with vectors as wires
(`bit_slices.py`), beside the host's arithmetic (`reference.h`). `make floats` prints what was compared: all operands of
E4M3 and E5M2, all of f16 but of fused products, all of one operand of f32, and COUNT random ones of all else.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.build_cache import kept_program
from tests.targets.tcpa.rtl.floats.golden_floats import (
    BINARY,
    COMPARISONS,
    E4M3,
    E5M2,
    F16,
    F32,
    NUMBERS,
    UNARY,
    Format,
)
from tests.targets.tcpa.rtl.floats.sweep.bit_slices import GATES, circuit_function

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.rtl import verilog_files
from polyloom.targets.tcpa.rtl.tools import missing_tool, run_tool
from polyloom.targets.tcpa.rtl.yosys import TOOL, yosys_command

FOLDER: Final = Path(__file__).parent
COMPILER: Final = "g++"
# Contracted products and sums would be rounded once, and no flag may flush subnormals to zero.
_FLAGS: Final = ("-std=c++17", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w")
_SYNTHESIS: Final = f"proc; flatten; opt_expr; opt_clean; techmap; opt_clean; abc -fast -g {GATES}; opt_clean"
FORMATS: Final = {form.name: form for form in (E4M3, E5M2, F16, F32)}


@dataclass(frozen=True, slots=True)
class Operation:
    """One circuit: `operation.v` with parameters, where the first comparison stands for all. `is_adder`: of a lane
    without products."""

    name: str
    number: int
    operands: int
    is_signed: bool = False
    is_adder: bool = False

    def drawn(self, form: Format, count: int) -> int:
        """How many random operands are compared, or 0 for all of them where they have at most 32 bits."""
        bits = 32 if self.number == NUMBERS["to_f32"] else (form.size - 1).bit_length()
        return 0 if bits * self.operands <= 32 else count


OPERATIONS: Final = (
    *(Operation(name, NUMBERS[name], 2) for name in BINARY if name not in COMPARISONS),
    Operation("compare", NUMBERS["eq"], 2),
    *(Operation(f"{name}_adder", NUMBERS[name], 2, is_adder=True) for name in ("add", "sub")),
    *(Operation(name, NUMBERS[name], 1) for name in UNARY),
    Operation("from_i32", NUMBERS["to_f32"], 1, is_signed=True),
    Operation("from_u32", NUMBERS["to_f32"], 1),
    Operation("madd", NUMBERS["madd"], 3),
)


@dataclass(frozen=True, slots=True)
class Row:
    """What was compared; `difference` has the first operands, the circuit's word and the host's."""

    operation: Operation
    compared: int
    differences: int
    seconds: float
    difference: str

    def line(self, form: Format) -> str:
        figures = f"{self.compared:>13,} {self.differences:>13,} {self.seconds:>8.1f}"
        return f"{form.name:6} {self.operation.name:10} {figures} {self.difference}".rstrip()


def synthesis_script(form: Format, operations: Sequence[Operation], sources: Sequence[str]) -> str:
    """Commands of Yosys that write one netlist per operation."""
    lines = [f"read_verilog {' '.join(sources)}", "design -save library"]
    for operation in operations:
        sizes = {
            "EXP": form.exponent,
            "MAN": form.fraction,
            "OPERATION": operation.number,
            "IS_SIGNED": int(operation.is_signed),
            "ADDER": int(operation.is_adder),
        }
        parameters = " ".join(f"-chparam {name} {value}" for name, value in sizes.items())
        lines += ["design -load library", f"hierarchy -top operation {parameters}", _SYNTHESIS]
        lines.append(f"write_json {operation.name}.json")
    return "\n".join(lines) + "\n"


def circuit_source(operations: Sequence[Operation], folder: Path) -> str:
    """C++ of the netlists in a folder, with their table."""
    texts, rows = ['#include "slices.h"\n'], list[str]()
    for operation in operations:
        modules = json.loads((folder / f"{operation.name}.json").read_text(encoding="utf-8"))["modules"]
        (module,) = (m for m in modules.values() if "top" in m["attributes"])
        texts.append(circuit_function(f"circuit_{operation.name}", module))
        is_signed = str(operation.is_signed).lower()
        row = f'"{operation.name}", {operation.number}, {is_signed}, {operation.operands}, circuit_{operation.name}'
        rows.append(f"    {{{row}}},\n")
    texts.append(f"const Operation operations[] = {{\n{''.join(rows)}}};\nconst int operation_count = {len(rows)};\n")
    return "\n".join(texts)


def build_sweep(
    folder: Path, form: Format, operations: Sequence[Operation], level: int, replaced: Mapping[str, str] | None = None
) -> Path:
    """Program of sweep.cpp; `replaced` are texts in the place of those of the library. Errors: PL0660, PL0661."""
    yosys = yosys_command()
    if shutil.which(COMPILER) is None:
        raise missing_tool(COMPILER, "compiles the sweep", f"`apt-get install {COMPILER}`")
    library = sorted(verilog_files.LIBRARY.glob("floats/*.v"))
    for path in (*FOLDER.glob("*.h"), FOLDER / "sweep.cpp", FOLDER / "operation.v", *library):
        shutil.copy(path, folder)
    for name, text in (replaced or {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    script = synthesis_script(form, operations, ["operation.v", *(path.name for path in library)])
    (folder / "script.ys").write_text(script, encoding="utf-8")
    run_tool(TOOL, (*yosys, "-q", "script.ys"), b"", folder)
    (folder / "circuits.cpp").write_text(circuit_source(operations, folder), encoding="utf-8")
    widths = (f"-DEXP={form.exponent}", f"-DMAN={form.fraction}")
    command = (COMPILER, *_FLAGS, f"-O{level}", *widths, "-o", "sweep", "sweep.cpp", "circuits.cpp")
    run_tool(COMPILER, command, b"", folder)
    return folder / "sweep"


def run_sweep(program: Path, operation: Operation, count: int, seed: int) -> Row:
    """Compares `count` random operands, rounded up to a block, or all of them where it is 0."""
    command = (program, operation.name, str(count), str(seed))
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    compared, differences, seconds, difference = (*done.stdout.split(maxsplit=3), "")[:4]
    return Row(operation, int(compared), int(differences), float(seconds), difference.strip())


def _parts(form: Format, level: int) -> Iterator[str | bytes]:
    """Whatever decides the program."""
    yield repr((form.name, level))
    for path in sorted((*FOLDER.iterdir(), *verilog_files.LIBRARY.glob("floats/*.v"))):
        if path.is_file():
            yield path.read_bytes()
    for tool in (yosys_command(), (COMPILER, "-march=native", "-Q", "--help=target")):
        yield subprocess.run([*tool, "--version"], capture_output=True).stdout


def kept_sweep(form: Format, operations: Sequence[Operation], level: int) -> Path:
    """The program, built if there is none yet."""
    parts = (*(operation.name for operation in operations), *_parts(form, level))
    name = f"sweep{len(operations)}-{form.name}"
    return kept_program(name, parts, lambda folder: build_sweep(folder, form, operations, level))


def main(words: Sequence[str]) -> int:
    count, seed = (int(word) for word in words[:2])
    print(f"seed {seed}\nformat operation       compared   differences        s", flush=True)
    differences = 0
    for form in (FORMATS[name] for name in words[2:] or FORMATS):
        program = kept_sweep(form, OPERATIONS, 3)
        for operation in OPERATIONS:
            row = run_sweep(program, operation, operation.drawn(form, count), seed)
            print(row.line(form), flush=True)
            differences += row.differences
    print(f"{differences} differences")
    return int(differences > 0)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except PolyloomError as error:
        sys.exit(str(error))
