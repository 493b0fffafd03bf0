# SPDX-License-Identifier: Apache-2.0
"""Printer of functions of `ir.ssa`, completely; `ir.ssa_read` reads them back.

    data @g align 4 constant 01000000
    function f(%n: i32, %k: i8 zeroext) -> i32 {
    entry:
        %c: i1 = slt %n, 4:i32 !7
        branch %c, small(%n), large !7
    ...}

`!7` is the line of the source, and with `places` `!7:3` that and the column, `!"util.h":7:3` where the file is not the
function's. A datum's bytes are in hexadecimal; `8=@f` behind them is a pointer to f at byte 8. Constants carry their
type, floats that decimals do not give are bits (`0x7fc00000:f32`). What is called, as in `call @g %n`, follows. Lines
`external @f(i32x8, ptr) -> (i32x8, i32) reads ordered` come before all that; a line `pointers 32` comes first.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

from polyloom.ir.ssa import (
    NOWHERE,
    RESULT,
    Access,
    Address,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Place,
    Return,
    Switch,
    Terminator,
    Undef,
    Unreachable,
    Value,
    float_constant,
    float_value,
)
from polyloom.ir.ssa_externals import External
from polyloom.ir.ssa_types import FLOATS

_ZEROEXT: Final = " zeroext"
_RESTRICT: Final = " restrict"
_POINTERS: Final = 64
"""As wide as pointers are where the text does not say it."""
NO_EFFECT: Final = "none"


def print_ssa(function: Function, places: bool = False) -> str:
    """The text, ended by a newline. With `places` it is complete; else files and columns of the source are left out."""
    return "\n".join((*_print_head(function), *_print_function(function, places), ""))


def _print_head(function: Function) -> Iterator[str]:
    if function.pointers != _POINTERS:
        yield f"pointers {function.pointers}"
    yield from map(print_external, function.externals)
    for datum in function.data:
        words = (
            "data",
            f"@{datum.name}",
            f"align {datum.align}",
            *(["constant"] if datum.constant else []),
            *([datum.initial.hex()] if datum.initial else []),
            *(f"{place}={print_operand(address)}" for place, address in datum.addresses),
        )
        yield " ".join(words)


def print_external(external: External) -> str:
    """A line for an external function, with its effects or `none`."""
    results = ", ".join(map(str, external.results))
    given = f" -> {results if len(external.results) == 1 else f'({results})'}" if external.results else ""
    return (
        f"external @{external.name}({', '.join(map(str, external.parameters))}){given} "
        f"{' '.join(external.effects) or NO_EFFECT}"
    )


def _print_function(function: Function, places: bool) -> Iterator[str]:
    home = function.place.file

    def place(of: Place) -> str:
        if not places:
            return f" !{of.line}" if of.line else ""
        # A file is named only where it is another than the function's: most lines stay short.
        file = f"{_quote_file(of.file)}:" if of.file != home else ""
        return f" !{file}{of.line}{f':{of.column}' if of.column else ''}" if of != NOWHERE else ""

    extended = [
        f"{p}{_ZEROEXT * (k in function.unsigned)}{_RESTRICT * (k in function.restricted)}"
        for k, p in enumerate(map(_parameter, function.parameters))
    ]
    result = f" -> {function.result}{_ZEROEXT * (RESULT in function.unsigned)}" if function.result else ""
    origin = (
        f" !{_quote_file(home)}:{function.place.line}:{function.place.column}"
        if places and function.place != NOWHERE
        else ""
    )
    yield f"function {function.name}({', '.join(extended)}){result} {{{origin}"
    for k, block in enumerate(function.blocks):
        yield f"{block.name}({_parameters(block.parameters)}):" if k and block.parameters else f"{block.name}:"
        yield from (
            f"    {_print_instruction(instruction)}{place(instruction.place)}" for instruction in block.instructions
        )
        yield f"    {_print_terminator(block.terminator)}{place(block.terminator.place)}"
    yield "}"
    for other in function.others:
        yield from ("", *_print_function(other, places))


def _quote_file(file: str) -> str:
    return json.dumps(file, ensure_ascii=False)


def print_instruction(instruction: Instruction) -> str:
    """Text of an instruction: one line, without indentation."""
    return _print_instruction(instruction) + (f" !{instruction.place.line}" if instruction.place.line else "")


def _print_instruction(instruction: Instruction) -> str:
    words = [f"{_parameters(instruction.results)} ="] if instruction.results else []
    words += [instruction.operation, *instruction.flags, *([instruction.callee] if instruction.callee else [])]
    if instruction.operands:
        words.append(_operands(instruction.operands))
    if instruction.access is not None:
        words += _print_access(instruction.operation, instruction.access)
    return " ".join(words)


def print_operand(operand: Operand) -> str:
    match operand:
        case Value(name):
            return f"%{name}"
        case Address(name, offset):
            return f"@{name}{offset:+}" if offset else f"@{name}"
        case Undef(type):
            return f"undef:{type}"
        case Constant(type, value):
            return f"{_print_float(operand) if type.scalar in FLOATS else value}:{type}"


def _print_float(constant: Constant) -> str:
    text = repr(float_value(constant))
    plain = "n" not in text and float_constant(constant.type, float(text)) == constant  # neither inf nor nan
    return text if plain else f"{constant.value:#x}"


def _print_access(operation: str, access: Access) -> Iterator[str]:
    if operation != "fence":
        yield f"align {access.align}"
    if access.volatile:
        yield "volatile"
    if access.order:
        yield access.order


def _operands(operands: Iterable[Operand]) -> str:
    return ", ".join(map(print_operand, operands))


def _parameters(values: Iterable[Value]) -> str:
    return ", ".join(map(_parameter, values))


def _parameter(value: Value) -> str:
    return f"%{value.name}: {value.type}"


def _edge(edge: Edge) -> str:
    return f"{edge.block}({_operands(edge.arguments)})" if edge.arguments else edge.block


def _print_terminator(terminator: Terminator) -> str:
    match terminator:
        case Jump(target):
            return f"jump {_edge(target)}"
        case Branch(condition, then, orelse):
            return f"branch {print_operand(condition)}, {_edge(then)}, {_edge(orelse)}"
        case Switch(value, default, cases):
            return ", ".join(
                (f"switch {print_operand(value)}", _edge(default), *(f"{case}: {_edge(edge)}" for case, edge in cases))
            )
        case Return(value):
            return "return" if value is None else f"return {print_operand(value)}"
        case Unreachable():
            return "unreachable"
