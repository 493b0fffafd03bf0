# SPDX-License-Identifier: Apache-2.0
"""Driver of a kernel on a tile: a function of `ir.ssa` around it, which becomes the program of core T1.

It puts the thread's counters and the configuration of Dst into a known state, enables all lanes, calls what
initializes, and then the kernel once per face of 16 rows, or once per tile; between calls the counter of Dst advances,
as in the vendor's LLK. How many calls there are, the configuration and the arguments are data: whoever loads the
program sets them, so that one program serves all inputs. Kernels here are lowered: of their vectors nothing is left but
calls of `tensix.word`. Contract of entry: docs/sfpi.md; instructions: ISA documentation, page of `SETRWC`, `SETC16` and
`SFPENCC`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.ssa import (
    Access,
    Address,
    Block,
    Branch,
    Constant,
    Data,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Place,
    Return,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_types import I1, I32, SIZE, WIDTH
from polyloom.riscv.backend.push import NUMBERED, WORD
from polyloom.targets.tensix.options import Per
from polyloom.targets.tensix.source.prints import lower_printing
from polyloom.targets.tensix.words.assemble import assemble
from polyloom.targets.tensix.words.isa import Member
from polyloom.targets.tensix.words.numbers import DST_FORMATS
from polyloom.transform.ssa.function_editing import with_operands

FACES: Final = 4
SETUP: Final = ("setup.0", "setup.1")
"""Data: two words that are pushed first, which say what Dst holds."""
CALLS: Final = "calls"
# Thread configuration 1 is the offset of Dst, 2 the base of address modes, 26 and 30 the increments of Dst in modes 3
# and 7. The vendor's start of a vector function selects modes 4 to 7.
_BEFORE: Final = "SETRWC BitMask=15\nSFPENCC 3, 10\n" + "".join(
    f"SETC16 setc16_reg={register}, setc16_value={value}\n" for register, value in ((1, 0), (2, 1), (26, 0), (30, 0))
)
"""Counters 0; all lanes enabled; no offset of Dst, and modes of addressing that do not advance, of the upper four."""
_ROWS: Final = "SETRWC rwc_cr=4, rwc_d=8, BitMask=4\n"
"""Eight rows of Dst further, from where the last call began."""


@dataclass(frozen=True, slots=True)
class Driver:
    """Driver program. `numbers` says, by the number that a word has in the program, of which function it is the
    how-manieth word, in the order of its text; `arguments` is the datum of each parameter, by its name.
    """

    function: Function
    numbers: Mapping[int, tuple[str, int]]
    arguments: Mapping[str, str]


def setup_words(form: str) -> tuple[int, int]:
    """Setup words that say what Dst holds: a format of --in, such as `bf16`. Vector loads and stores without a format
    of their own take the one of SrcB, or 32 bits (ISA documentation, page of `SFPLOAD`, mode 0, and page of `RMWCIB`).
    """
    # Codes of data formats; INT16 (9) implies BF16 in loads and stores, as all but FP16 do (page of `SFPLOAD`).
    source = {"fp16": 1, "uint16": 9}.get(form, 5 if form == "bf16" else 0)
    wide = DST_FORMATS[form] == 32
    first = assemble(f"RMWCIB2 0xE0, {(source & 7) << 5}, 1", "driver", "wormhole").words[0]
    second = assemble(f"RMWCIB3 0x61, {source >> 3 | (0x60 if wide else 0)}, 1", "driver", "wormhole").words[0]
    return first, second


def build_driver(kernel: Function, init: Function | None, per: Per, member: Member) -> Driver:
    """Driver of a lowered kernel and of what initializes. Names of parameters are those of the kernel's; the same name
    in both is one value.
    """
    parts = [_prefix_names(part, prefix) for part, prefix in ((kernel, "kernel"), (init, "init")) if part is not None]
    numbers: dict[int, tuple[str, int]] = {}
    numbered = [_number_words(part, numbers) for part in parts]
    parameters = {p.name: p for part in (init, kernel) if part is not None for p in part.parameters}
    arguments = {name: f"argument.{name}" for name in parameters}
    printed, log = lower_printing(numbered)
    data = (
        *(Data(name, word.to_bytes(4, "little"), 4) for name, word in zip(SETUP, setup_words("bf16"), strict=True)),
        Data(CALLS, (FACES if per == "face" else 1).to_bytes(4, "little"), 4),
        *(Data(name, bytes(max(4, SIZE[parameters[p].type])), 8) for p, name in arguments.items()),
        *log,
        *(datum for part in printed for datum in part.data),
    )
    # Data and externals of parts move to the main function, since a program has one table of each.
    others = tuple(replace(part, data=(), externals=(), others=()) for part in printed)
    main = Function(
        "main",
        None,
        tuple(_driver_blocks(parts, arguments, per, member)),
        data,
        others=others,
        externals=(NUMBERED,),
        pointers=32,
        place=kernel.place,
    )
    return Driver(main, numbers, arguments)


def _driver_blocks(
    parts: Sequence[Function], arguments: Mapping[str, str], per: Per, member: Member
) -> Iterator[Block]:
    kernel, *init = parts
    first: list[Instruction] = []
    first += map(_word, assemble(_BEFORE, "driver", member).words)
    for name in SETUP:
        value = Value(name, I32)
        first += [_load_datum(value, name), _push(value)]
    for part in init:
        first += _call_part(part, arguments, "init")
    calls, done, following, again = (Value(name, type) for name, type in _LOOP)
    first.append(_load_datum(calls, CALLS))
    yield Block(
        "entry",
        (),
        _with_reason("sets counters, lanes and Dst", first),
        Jump(Edge("loop", (integer_constant(I32, 0),))),
    )
    body = [*_call_part(kernel, arguments, "kernel")]
    # A face is two steps of eight rows, a tile four faces.
    body += map(_word, assemble(_ROWS * (2 if per == "face" else 2 * FACES), "driver", member).words)
    body.append(Instruction("add", (done, integer_constant(I32, 1)), (following,)))
    body.append(Instruction("slt", (following, calls), (again,)))
    end = Branch(again, Edge("loop", (following,)), Edge("end"), Place(reason=_CALLS))
    yield Block("loop", (done,), _with_reason(_CALLS, body), end)
    yield Block("end", (), (), Return())


_CALLS: Final = "calls the kernel for each part of Dst"


def _with_reason(reason: str, instructions: Sequence[Instruction]) -> tuple[Instruction, ...]:
    return tuple(replace(i, place=Place(reason=reason)) for i in instructions)


_LOOP: Final = (("calls", I32), ("done", I32), ("following", I32), ("again", I1))


def _word(word: int) -> Instruction:
    return _push(integer_constant(I32, word))


def _push(value: Operand) -> Instruction:
    return Instruction("call", (value, integer_constant(I32, -1)), callee=f"@{NUMBERED.name}")


def _load_datum(value: Value, datum: str) -> Instruction:
    """Load of a datum, volatile: who loads the program changes it."""
    return Instruction("load", (Address(datum),), (value,), access=Access(4, volatile=True))


def _call_part(function: Function, arguments: Mapping[str, str], prefix: str) -> Iterator[Instruction]:
    passed: list[Operand] = []
    for parameter in function.parameters:
        name = f"{prefix}.{parameter.name}"
        datum, type = arguments[parameter.name], parameter.type
        # Arguments are words in L1, whatever their type is.
        if WIDTH[type] < WIDTH[I32]:
            whole = Value(f"{name}.whole", I32)
            yield _load_datum(whole, datum)
            yield Instruction("trunc", (whole,), (Value(name, type),))
        else:
            yield _load_datum(Value(name, type), datum)
        passed.append(Value(name, type))
    # Kernels return nothing: their results are in Dst.
    assert function.result is None, f"@{function.name} returns a value"
    yield Instruction("call", tuple(passed), callee=f"@{function.name}")


def _prefix_names(function: Function, prefix: str) -> Function:
    """Function with names of its own for itself and its data, so that kernel and initialization can share a program."""
    assert not function.others, f"@{function.name} calls other functions"

    def rename_address(operand: Operand) -> Operand:
        return Address(f"{prefix}.{operand.name}", operand.offset) if isinstance(operand, Address) else operand

    data = tuple(replace(datum, name=f"{prefix}.{datum.name}") for datum in function.data)
    blocks = tuple(with_operands(block, rename_address) for block in function.blocks)
    return replace(function, name=f"{prefix}.{function.name}", data=data, blocks=blocks)


def _number_words(function: Function, numbers: dict[int, tuple[str, int]]) -> Function:
    """Function with a number for every word, which `numbers` explains."""
    count = 0

    def number(instruction: Instruction) -> Instruction:
        nonlocal count
        if instruction.called != WORD.name:
            return instruction
        numbers[len(numbers)] = function.name.partition(".")[0], count
        count += 1
        return replace(instruction, operands=(instruction.operands[0], Constant(I32, len(numbers) - 1)))

    return _map_instructions(function, number)


def _map_instructions(function: Function, change: Callable[[Instruction], Instruction]) -> Function:
    blocks = tuple(replace(b, instructions=tuple(map(change, b.instructions))) for b in function.blocks)
    return replace(function, blocks=blocks)
