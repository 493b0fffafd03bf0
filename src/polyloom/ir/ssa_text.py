# SPDX-License-Identifier: Apache-2.0
"""The text of a function of `ir.ssa`, printed completely; `ir.ssa_read` reads it back.

    data @g align 4 constant 01000000
    function f(%n: i32, %k: i8 zeroext) -> i32 {
    entry:
        %c: i1 = slt %n, 4:i32 !7
        branch %c, small(%n), large !7
    ...}

`!7` is the line of the source; a datum's bytes are in hexadecimal. Constants carry their type, floats that decimals do not
give are bits (`0x7fc00000:f32`). The functions that are called, as in `call @g %n`, follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from polyloom.ir.ssa import (
    FLOATS,
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
    Return,
    Switch,
    Terminator,
    Undef,
    Unreachable,
    Value,
    floating,
    number,
)

_ZEROEXT: Final = " zeroext"


def print_ssa(function: Function) -> str:
    """The text, ended by a newline."""
    return "\n".join((*_function(function), ""))


def _function(function: Function) -> Iterator[str]:
    for datum in function.data:
        words = ("data", f"@{datum.name}", f"align {datum.align}", *(["constant"] if datum.constant else []), *([datum.initial.hex()] if datum.initial else []))
        yield " ".join(words)
    extended = [f"{p}{_ZEROEXT * (k in function.unsigned)}" for k, p in enumerate(map(_parameter, function.parameters))]
    result = f" -> {function.result}{_ZEROEXT * (RESULT in function.unsigned)}" if function.result else ""
    yield f"function {function.name}({', '.join(extended)}){result} {{"
    for k, block in enumerate(function.blocks):
        yield f"{block.name}({_parameters(block.parameters)}):" if k and block.parameters else f"{block.name}:"
        yield from (f"    {print_instruction(instruction)}" for instruction in block.instructions)
        yield f"    {_terminator(block.terminator)}{_line(block.terminator.line)}"
    yield "}"
    for other in function.others:
        yield from ("", *_function(other))


def print_instruction(instruction: Instruction) -> str:
    """One line, without indentation."""
    words = [f"%{instruction.result.name}: {instruction.result.type} ="] if instruction.result else []
    words += [instruction.operation, *instruction.flags, *([instruction.callee] if instruction.callee else [])]
    if instruction.operands:
        words.append(_operands(instruction.operands))
    if instruction.access is not None:
        words += _access(instruction.operation, instruction.access)
    return " ".join(words) + _line(instruction.line)


def print_operand(operand: Operand) -> str:
    match operand:
        case Value(name):
            return f"%{name}"
        case Address(name, offset):
            return f"@{name}{offset:+}" if offset else f"@{name}"
        case Undef(type):
            return f"undef:{type}"
        case Constant(type, value):
            return f"{_float(operand) if type in FLOATS else value}:{type}"


def _float(constant: Constant) -> str:
    text = repr(number(constant))
    plain = "n" not in text and floating(constant.type, float(text)) == constant  # no inf, no nan
    return text if plain else f"{constant.value:#x}"


def _access(operation: str, access: Access) -> Iterator[str]:
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


def _line(line: int) -> str:
    return f" !{line}" if line else ""


def _edge(edge: Edge) -> str:
    return f"{edge.block}({_operands(edge.arguments)})" if edge.arguments else edge.block


def _terminator(terminator: Terminator) -> str:
    match terminator:
        case Jump(target):
            return f"jump {_edge(target)}"
        case Branch(condition, then, orelse):
            return f"branch {print_operand(condition)}, {_edge(then)}, {_edge(orelse)}"
        case Switch(value, default, cases):
            return ", ".join((f"switch {print_operand(value)}", _edge(default), *(f"{case}: {_edge(edge)}" for case, edge in cases)))
        case Return(value):
            return "return" if value is None else f"return {print_operand(value)}"
        case Unreachable():
            return "unreachable"
