# SPDX-License-Identifier: Apache-2.0
"""Equivalent mutants (Offutt and Pan, Automatically detecting equivalent mutants and infeasible paths, 1997): those
that no program could notice. Yosys shows it, for every set of parameters that a module has in a circuit.

What goes into a register, or into a module inside, becomes an output, and what comes out of them an input (Yosys
manual, `expose -dff -evert -evert-dff`), so that no state is left; a miter of both texts has to be 0 then for all
inputs (`miter -equiv`, `sat -prove`). Results of an `alu` count only for operations that its lane has.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from typing import Final

from tests.targets.tcpa.rtl.mutant_schemata import SYNTHESIS, is_synthesized_alone
from tests.targets.tcpa.rtl.mutations import Mutation

from polyloom import temporary
from polyloom.targets.tcpa.rtl.circuit import Circuit, operand_count
from polyloom.targets.tcpa.rtl.verilog_files import verilog_files
from polyloom.targets.tcpa.rtl.yosys import yosys_command

_OTHER_PARAMETERS: Final = ("divider", "domain", "odometer", "selector")
"""Modules with parameters that are not listed here, of which nothing is shown; nor is of those of floats."""
_KNOWN_RESULTS: Final = """
module known_alu #(
`include "machine.vh"
    , parameter [655:0] KNOWN = 0
) (input [9:0] opcode, input [WORD-1:0] a, b, c, output [WORD-1:0] result);
    wire [WORD-1:0] any;
    alu #(.KNOWN(KNOWN)) alu (.opcode(opcode), .a(a), .b(b), .c(c), .result(any));
    assign result = opcode < 656 && KNOWN[opcode] ? any : 0;
endmodule
"""
_DESIGN: Final = """read_verilog -I{folder} {sources}
{parameters}
hierarchy -top {top}
{inside}
proc
opt -full
dffunmap
opt_clean
rename {top} {folder}
design -stash {folder}
design -reset
"""
_MITER: Final = """design -load own
design -copy-from changed changed
expose -dff -evert -evert-dff own changed
miter -equiv -flatten own changed both
hierarchy -top both
opt -full
sat -verify -prove trigger 0 -timeout 600 both
"""


def is_equivalent(circuit: Circuit, mutation: Mutation) -> bool:
    """Whether the mutated module is its own in each instance of the circuit."""
    # Yosys defines the macro by itself.
    define = "`define" if is_synthesized_alone(mutation) else "`undef"
    texts = {name: f"{define} {SYNTHESIS}\n{text}" for name, text in verilog_files(circuit).items()}
    changed = {**texts, mutation.file: f"{define} {SYNTHESIS}\n{mutation.text}"}
    module = mutation.file.removesuffix(".v")
    if module in _OTHER_PARAMETERS or module.startswith("float_"):
        return False
    return all(_is_miter_zero(texts, changed, module, own) for own in sorted(set(_instances(circuit, module))))


def _instances(circuit: Circuit, module: str) -> Iterator[str]:
    """Parameters of each instance, as options of `chparam`; all others are those of machine.vh."""
    if module not in ("lane", "alu", "unit"):
        yield ""
    elif module == "unit":
        yield from (f"-set OPERANDS {operand_count(unit)}" for unit in circuit.machine.units)
    else:
        for lane in circuit.lanes:
            known = f"-set KNOWN 656'h{sum(1 << opcode for opcode in lane.opcodes):x}"
            timing = f" -set LATENCY {lane.latency} -set BLOCKING {int(lane.blocking)}"
            yield known + (timing if module == "lane" else "")


def _is_miter_zero(texts: Mapping[str, str], changed: Mapping[str, str], module: str, parameters: str) -> bool:
    top = "known_alu" if module == "alu" else module
    inside = "flatten" if module == "alu" else f"blackbox {module} %n"
    chosen = f"chparam {parameters} {top}" if parameters else ""
    with temporary.temporary_folder() as folder:
        script = ""
        for name, own in (("own", texts), ("changed", changed)):
            files = {**own, "known_alu.v": _KNOWN_RESULTS}
            (folder / name).mkdir()
            for file, text in files.items():
                (folder / name / file).write_text(text, encoding="utf-8")
            sources = " ".join(f"{name}/{file}" for file in files if file.endswith(".v"))
            script += _DESIGN.format(folder=name, sources=sources, parameters=chosen, top=top, inside=inside)
        (folder / "script.ys").write_text(script + _MITER, encoding="utf-8")
        command = [*yosys_command(), "-q", "script.ys"]
        return subprocess.run(command, cwd=folder, capture_output=True).returncode == 0
