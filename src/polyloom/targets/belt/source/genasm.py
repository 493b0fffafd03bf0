# SPDX-License-Identifier: Apache-2.0
"""*genasm*: the text of a module of `targets.belt.ir`, printed completely; `genasm_read` reads it back.

    data @taps align 4 constant 01000000
    function dot(%n: w, %x: w, %y: w) -> w {
    entry:
        %t: b = gtrs %n, 0:w !2
        branch %t, loop(0:w, 0:w), done(0:w) !2
    loop loop(%i: w, %s: w) expected 100:
        %a: w = load w %x, %i * 4 + 8
        %c: w = call @f(%a)
        store w %y, %i * 4, %c
        leavetr %q, done(%s)
        order 0 -> 2 distance 1
        next %j, %r
    done(%r: w):
        return %r
    }

An operation is `results = name [width] operands`. A memory address is a base and, after a comma, an index times its
scale; then an offset. Numbers carry their type and have a sign; `none:w` is None. `order` names accesses by their
position in the block. `!7:3` is a place in the source, `!"util.h":7:3` one in another file than the function's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from polyloom.ir.ssa import NOWHERE, Data, Place
from polyloom.targets.belt.source.ir import (
    Address,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Jump,
    Loop,
    Module,
    Nothing,
    Op,
    Operand,
    Order,
    Return,
    Terminator,
    Value,
)
from polyloom.targets.belt.value_types import BYTES
from polyloom.twos_complement import sign_extend

LOADS = ("load", "loads", "loadu")


def print_genasm(module: Module) -> str:
    """Genasm text of a module, ended by a newline; `genasm_read` gives an equal module."""
    parts = ["\n".join(_function(function)) for function in module.functions]
    data = "".join(f"{_datum(datum)}\n" for datum in module.data)
    return data + "\n\n".join(parts) + "\n"


def print_op(op: Op) -> str:
    """Text of one operation, one line, without indentation and place."""
    return _op(op)


def print_operand(operand: Operand) -> str:
    """Text of an operand; constants as signed numbers of their width, lanes included in the type."""
    match operand:
        case Value(name):
            return f"%{name}"
        case Address(name, offset):
            return f"@{name}{offset:+}" if offset else f"@{name}"
        case Nothing(type):
            return f"none:{type}"
        case Constant(type, bits):
            return f"{sign_extend(bits, 8 * BYTES[type.width])}:{type}"


def _datum(datum: Data) -> str:
    words = (f"data @{datum.name}", f"align {datum.align}", *(["constant"] if datum.constant else []))
    return " ".join((*words, *([datum.initial.hex()] if datum.initial else [])))


def _function(function: Function) -> Iterator[str]:
    """Lines of a function: head, blocks in their order, closing brace."""
    # Places in the function's own file are printed without its name, which is on the head already.
    home = function.place.file
    results = f" -> {', '.join(map(str, function.results))}" if function.results else ""
    first = function.blocks[0]
    place = function.place
    origin = f" !{_quote(place.file)}:{place.line}:{place.column}" if place != NOWHERE else ""
    yield f"function {function.name}({_parameters(first.parameters)}){results} {{{origin}"
    for k, block in enumerate(function.blocks):
        yield _head(block, bool(k), home)
        yield from (f"    {_op(op)}{_place(op.place, home)}" for op in block.ops)
        # Behind the operations, whose positions they name.
        yield from (f"    {_order(order)}" for order in block.order)
        if isinstance(block, Loop):
            yield f"    next {_operands(block.next)}".rstrip()
        else:
            yield f"    {_terminator(block.terminator)}{_place(block.terminator.place, home)}"
    yield "}"


def _head(block: Block | Loop, shows: bool, home: str) -> str:
    """First line of a block or loop. The first block prints no parameters: they are the function's."""
    parameters = f"({_parameters(block.parameters)})" if shows and block.parameters else ""
    if isinstance(block, Block):
        return f"{block.name}{parameters}:"
    expected = f" expected {block.expected}" if block.expected is not None else ""
    reason = f" open {_quote(block.reason)}" if block.reason else ""
    return f"loop {block.name}{parameters}{expected}{reason}{_place(block.place, home)}:"


def _op(op: Op) -> str:
    """Text of an operation: results, name, width, operands, edge."""
    words = [f"{_parameters(op.results)} ="] if op.results else []
    words += [op.name, *([op.width] if op.width else []), *(["volatile"] if op.volatile else [])]
    if op.name in LOADS or op.name == "store":
        return " ".join((*words, _access(op)))
    if op.callee:
        predicate = 1 if op.name == "calltr" else 0
        called = f"@{op.callee}({_operands(op.operands[predicate:])})"
        return " ".join((*words, ", ".join((*map(print_operand, op.operands[:predicate]), called))))
    given = [*map(print_operand, op.operands), *([_edge(op.edge)] if op.edge is not None else [])]
    return " ".join((*words, ", ".join(given))).rstrip()


def _access(op: Op) -> str:
    """Memory operand `base, index * scale + offset, value`, as the Mill's loads and stores address memory."""
    stored = op.operands[-1:] if op.name == "store" else ()
    address = op.operands[: len(op.operands) - len(stored)]
    text = print_operand(address[0])
    if len(address) > 1:
        text += f", {print_operand(address[1])} * {op.scale}"
    if op.offset:
        text += f" {'-' if op.offset < 0 else '+'} {abs(op.offset)}"
    return ", ".join((text, *map(print_operand, stored)))


def _order(order: Order) -> str:
    distance = f" distance {order.distance}" if order.distance else ""
    return f"order {order.source} -> {order.sink}{distance}"


def _terminator(terminator: Terminator) -> str:
    """Text of a terminator; a branch with its sense, where a profile gave one."""
    match terminator:
        case Jump(edge):
            return f"jump {_edge(edge)}"
        case Branch(condition, then, orelse, likely):
            sense = "" if likely is None else " likely" if likely else " unlikely"
            return f"branch {print_operand(condition)}, {_edge(then)}, {_edge(orelse)}{sense}"
        case Return(values):
            return f"return {_operands(values)}".rstrip()


def _edge(edge: Edge) -> str:
    return f"{edge.target}({_operands(edge.arguments)})" if edge.arguments else edge.target


def _operands(operands: Iterable[Operand]) -> str:
    return ", ".join(map(print_operand, operands))


def _parameters(values: Iterable[Value]) -> str:
    return ", ".join(f"%{value.name}: {value.type}" for value in values)


def _place(place: Place, home: str) -> str:
    if place == NOWHERE:
        return ""
    file = f"{_quote(place.file)}:" if place.file != home else ""
    return f" !{file}{place.line}{f':{place.column}' if place.column else ''}"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
