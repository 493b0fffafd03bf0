# SPDX-License-Identifier: Apache-2.0
"""Legalization: functions of `ir.ssa` as functions whose operations an instruction set has. Legal ones are kept, others
are made of legal ones.

The meaning does not change, so that `ir.ssa_interpret` runs the result as it does the original; it is not what clang's
-O1 would write, but each rule is short. What no instruction set here can do is refused with its line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir.ssa import (
    ATOMICS,
    NOWHERE,
    Constant,
    Edge,
    Function,
    Instruction,
    Operand,
    Place,
    Switch,
    Terminator,
    integer_constant,
)
from polyloom.ir.ssa_types import F32, F64, I1, PTR, SCALARS, SIZE, WIDTH, Type
from polyloom.names import fresh_name
from polyloom.riscv.backend import legal_atomics, legal_division, legal_floats, legal_integers, legal_memory
from polyloom.riscv.backend.editor import Editor
from polyloom.riscv.backend.push import WORD
from polyloom.riscv.names import Isa
from polyloom.transform.ssa.function_editing import on_each_function

Rule = Callable[[Editor, Instruction, Isa], bool]
_RULES: Final[dict[str, Rule]] = {
    **dict.fromkeys(("mul", "sdiv", "udiv", "srem", "urem"), legal_division.legalize_division),
    **dict.fromkeys(("shl", "lshr", "ashr"), legal_integers.legalize_wide_shift),
    **dict.fromkeys(("fptosi", "fptoui", "sitofp", "uitofp"), legal_floats.legalize_conversion),
    **dict.fromkeys(("load", "store"), legal_memory.legalize_access),
    "rmw": legal_atomics.legalize_rmw,
    "cas": legal_atomics.legalize_cas,
    "call": lambda editor, instruction, isa: _CALLS.get(instruction.callee, _keep_instruction)(
        editor, instruction, isa
    ),
}
"""By operation. A rule says whether it has replaced the instruction."""


def _keep_instruction(editor: Editor, instruction: Instruction, isa: Isa) -> bool:
    del editor, instruction, isa
    return False


_CALLS: Final[dict[str, Rule]] = {
    **dict.fromkeys(("smin", "smax", "umin", "umax", "usub.sat", "abs"), legal_integers.legalize_minmax),
    **dict.fromkeys(("uadd.sat", "sadd.sat", "ssub.sat"), legal_integers.legalize_saturating),
    **dict.fromkeys(("ctpop", "ctlz", "cttz"), legal_integers.legalize_bit_counts),
    "bswap": legal_integers.legalize_byte_swap,
    **dict.fromkeys(("fshl", "fshr"), legal_integers.legalize_funnel_shift),
    **dict.fromkeys(("minnum", "maxnum"), legal_floats.legalize_minnum),
    **dict.fromkeys(("memcpy", "memmove", "memset"), legal_memory.legalize_bulk),
}


def legalize(function: Function, isa: Isa) -> Function:
    """The program with legal operations, and with the routine that divides where a function calls it.

    Errors: PL0930 for floats that the instruction set does not have, PL0931 for what is not supported at all.
    """
    # A name that no function of the program has: a user may call one so.
    name = fresh_name("unsigned_division", {member.name for member in function.program})
    done = _legalize_function(function, isa, name)
    if not any(i.called == name for f in done.program for b in f.blocks for i in b.instructions):
        return done
    divides = replace(legal_division.division_routine(), name=name, pointers=function.pointers)
    return replace(done, others=(*done.others, _legalize_function(divides, isa, name)))


@on_each_function
def _legalize_function(function: Function, isa: Isa, division: str) -> Function:
    def rule(editor: Editor, instruction: Instruction) -> None:
        _check_instruction(function, instruction, isa)
        if not _RULES.get(instruction.operation, _keep_instruction)(editor, instruction, isa):
            editor.keep(instruction)

    # Addresses of 64 bits would not fit the pointers of structures that clang has laid out for 32; the other way round
    # pointers in memory are refused one by one (`_check_instruction`).
    if isa.xlen > function.pointers:
        help = f"read it for riscv{isa.xlen}-unknown-elf"
        raise _unsupported_error(
            function, NOWHERE, f"what was read for pointers of {function.pointers} bits, on RV{isa.xlen},", help
        )
    for block in function.blocks:
        for parameter in block.parameters if block is not function.blocks[0] else ():
            _check_type(function, parameter.type, isa, block.terminator.place)
    for type in (*(p.type for p in function.parameters), *([function.result] if function.result else [])):
        _check_type(function, type, isa, NOWHERE)
    return Editor(function, rule, division).run(_legalize_terminator)


def _legalize_terminator(editor: Editor, terminator: Terminator) -> None:
    """A switch becomes a search by comparisons; every other end stays."""
    if isinstance(terminator, Switch):
        _switch_search(editor, terminator.value, sorted(terminator.cases, key=lambda case: case[0]), terminator.default)
    else:
        editor.end(terminator)


_LINEAR: Final = 3
"""As many cases are compared one after the other."""


def _switch_search(editor: Editor, value: Operand, cases: list[tuple[int, Edge]], default: Edge) -> None:
    """Switch lowering: binary search over the sorted cases, linear for a few (Bernstein 1985, without jump tables)."""
    middle = len(cases) // 2
    if not cases:
        editor.jump(default.block, *default.arguments)
        return
    rest = editor.fresh("case")
    if len(cases) <= _LINEAR:
        case, target = cases[0]
        found = editor.make("eq", I1, value, integer_constant(value.type, case))
        editor.branch(found, target, Edge(rest) if len(cases) > 1 else default)
        if len(cases) > 1:
            editor.begin(rest)
            _switch_search(editor, value, cases[1:], default)
        return
    other = editor.fresh("case")
    # Binary search: cases are sorted as signed numbers, except for i1, whose 1 would be -1.
    below = editor.make("slt" if value.type != I1 else "ult", I1, value, integer_constant(value.type, cases[middle][0]))
    editor.branch(below, Edge(rest), Edge(other))
    for name, part in ((rest, cases[:middle]), (other, cases[middle:])):
        editor.begin(name)
        _switch_search(editor, value, part, default)


def _check_instruction(function: Function, instruction: Instruction, isa: Isa) -> None:
    """Refuses what has no lowering: external functions, dynamic arrays, atomics without A, pointers that do not fit."""
    operation, place = instruction.operation, instruction.place
    types = [*(o.type for o in instruction.operands), *(result.type for result in instruction.results)]
    # Words for a coprocessor take the encodings of compressed instructions, so that a core with C cannot have both.
    is_word = instruction.called == WORD.name and isa.xlen == 32 and "c" not in isa.extensions
    if instruction.called in {external.name for external in function.externals} and not is_word:
        raise _unsupported_error(
            function, place, f"the external function `{instruction.called}`", "compile it for the machine that has it"
        )
    for type in types:
        _check_type(function, type, isa, place)
    if operation == "alloca" and not isinstance(instruction.operands[0], Constant):
        raise _unsupported_error(
            function,
            place,
            "an array of a size that is known at run time only",
            "give it a constant size, or pass it as a parameter",
        )
    if operation in ATOMICS and "a" not in isa.extensions:
        raise input_error(
            "PL0930",
            f"@{function.name}{_location_text(function, place)}: "
            "an atomic read-modify-write needs the extension a, which "
            f"{isa} does not have",
            help=f"run it on rv{isa.xlen}gc, or read and write with plain variables",
        )
    if operation in ("load", "store", *ATOMICS):
        accessed = types[0] if operation == "store" else types[-1]
        if accessed == PTR and isa.xlen < function.pointers:
            raise _unsupported_error(
                function,
                place,
                "a pointer in memory on RV32, where the model of C's memory has pointers of 64 bits,",
                "compile it for rv64",
            )
        # Two loads are not single-copy atomic (RISC-V unprivileged manual, RVWMO, "Load Value Axiom" speaks of bytes of
        # one operation).
        if instruction.access and instruction.access.order and SIZE[accessed] * 8 > isa.xlen and accessed != PTR:
            raise _unsupported_error(
                function,
                place,
                f"an atomic access of {WIDTH[accessed]} bits on RV{isa.xlen}",
                "use a narrower type, or compile it for rv64",
            )


def _check_type(function: Function, type: Type, isa: Isa, place: Place) -> None:
    if type not in SCALARS:
        what = "a vector" if type.lanes else "a pointer into another address space"
        raise _unsupported_error(function, place, f"{what}, {type},", "compile it for a machine that has such values")
    needed = {F32: "f", F64: "d"}.get(type)
    if needed and needed not in isa.extensions:
        what = "float" if type == F32 else "double"
        raise input_error(
            "PL0930",
            f"@{function.name}{_location_text(function, place)}: "
            f"`{what}` needs the extension {needed}, which {isa} does "
            "not have",
            help=f"run it on rv{isa.xlen}gc, or on integers",
        )


def _unsupported_error(function: Function, place: Place, what: str, help: str) -> PolyloomError:
    return input_error(
        "PL0931", f"@{function.name}{_location_text(function, place)}: {what} is not supported", help=help
    )


def _location_text(function: Function, place: Place) -> str:
    words = place.words(function.place.file)
    return f", {words}" if words else ""
