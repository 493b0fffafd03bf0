# SPDX-License-Identifier: Apache-2.0
"""Bare-metal programs: the pipeline of compile.py for a core without a system, with code and data where a `Placement`
puts them, and an entry that needs no start-up code.

The program starts at its first instruction, which sets the stack pointer and calls the function; where that returns,
`ebreak` stops the core. The function has no parameters: its inputs are its data, which whoever loads the file may
change first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.diagnostics import infeasible
from polyloom.ir.ssa import Data, Function, Place
from polyloom.passes import Watch
from polyloom.riscv.backend.build import Builder
from polyloom.riscv.backend.code import SP, ZERO, Block, Code, Op, Reg
from polyloom.riscv.backend.compile import finish_code, lower_functions, source_places
from polyloom.riscv.backend.data import Layout
from polyloom.riscv.backend.link import executable, link_functions
from polyloom.riscv.names import Isa

START: Final = "_start"
_STARTS: Final = Place(reason="starts the program")
_ENDS: Final = Place(reason="ends the program")


@dataclass(frozen=True, slots=True)
class Placement:
    """Memory map: code begins at the address `code`, data end before `end`, the stack grows down from `stack`."""

    code: int
    end: int
    stack: int


@dataclass(frozen=True, slots=True)
class Program:
    """Result of a bare-metal compilation.

    `data` has the addresses of the data by name. `marks` has, by number, the addresses of the words for the coprocessor
    beside the core that stand in the code or are stored from there (push.py). `places` has the source place by address.
    """

    elf: bytes
    code_bytes: int
    data: Mapping[str, int]
    marks: Mapping[int, int]
    places: Mapping[int, Place] = field(default_factory=dict[int, Place])


def compile_program(
    function: Function,
    isa: Isa,
    placement: Placement,
    note: Callable[[Program], bytes] | None = None,
    watch: Watch | None = None,
) -> Program:
    """Compilation for a bare core. `note` gives the note, from the program without one. Errors: those of
    `compile_function`, and PL0932 where code and data do not fit the placement.
    """
    assert not function.parameters, f"@{function.name} takes {len(function.parameters)} parameters"
    # Constants of 64 bits stay in code (`words=False`): the room for data is exact, and cannot grow while instructions
    # are selected.
    layout = Layout(function.data, _data_base(function.data, placement.end), words=False)
    codes = [finish_code(code, watch) for code in lower_functions(function, isa, layout, watch)]
    linked, starts = link_functions([_entry(function.name, isa, placement.stack), *codes])
    words, marks = linked.words, linked.marks
    # Code grows up from below, data end at the top: what lies between is the room for both.
    room = layout.base - placement.code
    if len(words) > room:
        message = f"@{function.name} takes {len(words)} bytes of code, and there is room for {room}"
        raise infeasible("PL0932", message, help="unroll less, or split the function")
    # Numbers below 0 are words that nobody asks for.
    found = {number: placement.code + offset for number, offset in marks.items() if number >= 0}
    places = {placement.code + at: place for at, place in source_places(linked, starts, function).items()}
    # The note describes the program that it is a part of: the file is made twice, first without a note.
    made = Program(b"", len(words), dict(layout.places), found, places)
    text = b"" if note is None else note(made)
    functions = {name: placement.code + start for name, start in starts.items()}
    data = layout.linked(functions, function.pointers // 8)
    elf = executable(data, placement.code, words, isa, starts, text, base=layout.base)
    return replace(made, elf=elf)


def _data_base(data: Sequence[Data], end: int) -> int:
    """Base address of data that end before `end`, aligned to 16 bytes. Constants of floats take no room on a core
    without floating point.
    """
    size = sum(len(datum.initial) + datum.align for datum in data)
    return (end - size) // 16 * 16


def _entry(name: str, isa: Isa, stack: int) -> Code:
    """Start-up code: sets sp, calls the function, stops at `ebreak`."""
    # The builder writes into a virtual register; every register but zero in its instructions becomes sp.
    # There is no caller to return to: the debugger, or the model, sees the core stop.
    builder = Builder(isa)
    register = builder.constant(stack)
    ops = [
        Op(op.mnemonic, tuple(_to_stack_pointer(o) if o != ZERO else o for o in op.operands), _STARTS)
        for op in builder.ops
    ]
    assert register.is_virtual
    return Code(START, isa, (Block("start", (*ops, Op("call", (name,), _STARTS), Op("ebreak", (), _ENDS))),))


def _to_stack_pointer(operand: Reg | int | str) -> Reg | int | str:
    return SP if isinstance(operand, Reg) else operand
