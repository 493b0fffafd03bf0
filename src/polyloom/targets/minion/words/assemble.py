# SPDX-License-Identifier: Apache-2.0
"""Assembly text to a bare-metal program: RV64IMFC, the packed instructions, control registers by name, and tensor
operations in their notation (tensor_statement.py).

The file has a symbol for each label and a note with the source line of each address.
"""

from __future__ import annotations

from typing import Final

from polyloom.diagnostics import input_error
from polyloom.ir.ssa import Place
from polyloom.riscv import assemble as assembler
from polyloom.riscv import note as notes
from polyloom.riscv import source_lines
from polyloom.riscv.assembly.macros import Opener
from polyloom.riscv.assembly.open_files import refuse_files
from polyloom.riscv.backend.link import assembly_executable
from polyloom.targets.minion.memory_map import RESET
from polyloom.targets.minion.words.isa import CSRS, ISA
from polyloom.targets.minion.words.tensor_statement import expand_statement

TARGET: Final = "minion"
KIND: Final = "assembly"
_VERSION: Final = 1
# Control registers by the vendor's names, and tensor operations as pseudo-instructions; all else is the assembler of
# RISC-V.
DIALECT: Final = assembler.Dialect(CSRS, expand_statement)


def assemble_lines(
    text: str, base: int = RESET, name: str = "<assembly>", open_file: Opener = refuse_files
) -> assembler.Assembled:
    """The bytes of lines of assembly, wherever they come from. Errors: PL0902 to PL0906, PL1370."""
    return assembler.assemble(text, ISA, base, name, DIALECT, open_file)


def assemble(text: str, name: str, base: int = RESET, open_file: Opener = refuse_files) -> bytes:
    """An executable that starts at the label `_start`, or at the first instruction. Errors: PL0902 to PL0906,
    PL1370, PL1371."""
    made = assemble_lines(text, base, name, open_file)
    if made.code_end == base:
        raise input_error("PL1371", f"{name} has no instruction", help="write at least one, such as `ebreak`")
    lines = source_lines.encode_lines({address: Place(name, line) for address, line in made.lines.items()})
    note = {"target": TARGET, "version": _VERSION, "kind": KIND, source_lines.KEY: lines}
    return assembly_executable(made, ISA, notes.note_text(note))
