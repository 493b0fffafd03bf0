# SPDX-License-Identifier: Apache-2.0
"""Vector functions of the math thread as code of their own, compiled by the passes of vector kernels, which clang's
code calls by the convention of C (RISC-V ELF psABI specification, "Integer Calling Convention").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.diagnostics import Source
from polyloom.frontend.c.llvm import import_functions
from polyloom.ir.ssa import Address, Block, Constant, Function, Instruction, Operand, Return
from polyloom.riscv.backend.core import Placement, compile_program
from polyloom.riscv.backend.push import NUMBERED, WORD
from polyloom.riscv.names import parse_isa
from polyloom.riscv.symbols import symbol_extents
from polyloom.targets.tensix.source.cpp.finish_import import finish_import, refuse_unsupported
from polyloom.targets.tensix.source.cpp.source import import_externals
from polyloom.targets.tensix.source.lower import compile as passes
from polyloom.targets.tensix.source.replace_assignments import replace_assignments
from polyloom.targets.tensix.words.isa import Member
from polyloom.transform.ssa.function_editing import with_operands

_CORE: Final = parse_isa("rv32im")


@dataclass(frozen=True, slots=True)
class VectorCode:
    """Executable of vector functions, and the address of each by its name."""

    elf: bytes
    entries: dict[str, int]


def compile_vectors(module: str, names: Sequence[str], source: Source, member: Member, place: Placement) -> VectorCode:
    """Code of the functions of a module that are kept there, in the order of `names`. Errors: PL0975, PL1260 to PL1269,
    PL1280."""
    found = import_functions(module, source, import_externals())
    lowered: list[Function] = []
    # Names of C++ are not names of the backend's symbols, so functions are numbered.
    for number, each in enumerate(found):
        refuse_unsupported(each, source)
        ready = replace_assignments(finish_import(each))
        lowered.append(_rename_function(passes.lower(ready, passes.Options(member)).function, number))
    main = Function(
        "main",
        None,
        (Block("entry", (), (), Return(None)),),
        tuple(datum for each in lowered for datum in each.data),
        others=tuple(replace(each, data=(), externals=(), others=()) for each in lowered),
        externals=(NUMBERED,),
        pointers=32,
    )
    elf = compile_program(main, _CORE, place).elf
    starts = symbol_extents(elf)
    return VectorCode(elf, {name: starts[_entry_name(number)][0] for number, name in enumerate(names)})


def _entry_name(number: int) -> str:
    return f"vector.{number}"


def _rename_function(function: Function, number: int) -> Function:
    """Function with a name and data of its own, and words that nobody looks for."""
    prefix = _entry_name(number)
    mine = {datum.name for datum in function.data}

    def rename(operand: Operand) -> Operand:
        own = isinstance(operand, Address) and operand.name in mine
        return Address(f"{prefix}.{operand.name}", operand.offset) if own else operand  # type: ignore[union-attr]

    def clear_number(i: Instruction) -> Instruction:
        return replace(i, operands=(i.operands[0], Constant(i.operands[0].type, -1))) if i.called == WORD.name else i

    blocks = tuple(
        replace(block, instructions=tuple(map(clear_number, block.instructions)))
        for block in (with_operands(block, rename) for block in function.blocks)
    )
    data = tuple(replace(datum, name=f"{prefix}.{datum.name}") for datum in function.data)
    return replace(function, name=prefix, blocks=blocks, data=data)
