# SPDX-License-Identifier: Apache-2.0
"""Prints whole-array programs; `ir.arrays.read` reads back an equal one, up to spans.

program smooth(N) where N >= 0 {
argument x: f32[N]
argument y: f32[N]
  y[$0 + 1] : [N - 2] = add.f32(x[$0] : [N - 2], x[$0 + 2] : [N - 2])
}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from polyloom.ir.arrays.program import (
    Apply,
    Cases,
    Constant,
    Contract,
    For,
    Form,
    Gather,
    If,
    Program,
    Read,
    Reduce,
    Scan,
    Statement,
    Store,
    Value,
    View,
)


def print_arrays(program: Program) -> str:
    """The whole text, ending in a newline."""
    lines = [f"program {program.name}({', '.join(program.parameters)}) where {program.assumptions} {{"]
    for s in program.storage:
        lines.append(f"{s.role} {'' if s.writable else 'constant '}{s.name}: {s.dtype}{_list(s.shape)}")
    return "\n".join([*lines, *_statements(program.body, "  "), "}", ""])


def _statements(statements: Sequence[Statement], margin: str) -> Iterator[str]:
    for statement in statements:
        match statement:
            case Store(target=target, value=value):
                yield f"{margin}{print_value(target)} = {print_value(value)}"
            case For(loop=loop, lower=lower, upper=upper, body=body, step=step):
                down = " downwards" if step == -1 else ""
                yield f"{margin}for {loop} from {_list(lower)} below {_list(upper)}{down} {{"
                yield from _statements(body, margin + "  ")
                yield f"{margin}}}"
            case If(condition=condition, body=body, orelse=orelse):
                yield f"{margin}if {condition} {{"
                yield from _statements(body, margin + "  ")
                yield f"{margin}}} else {{"
                yield from _statements(orelse, margin + "  ")
                yield f"{margin}}}"


def print_value(value: Value) -> str:
    """One value, as an operand of others."""
    match value:
        case Constant(value=number, dtype=dtype):
            return f"{dtype}({number!r})"
        case Form(value=form, dtype=dtype, shape=shape):
            return f"form.{dtype}({form}) : {_list(shape)}"
        case Read(name=name, dtype=_, index=index, shape=shape):
            return f"{name}{_list(index)} : {_list(shape)}"
        case View(source=source, index=index, shape=shape):
            return f"view({print_value(source)}){_list(index)} : {_list(shape)}"
        case Gather(source=source, index=index, axis=axis):
            return f"gather([{axis}], {_values((source, index))})"
        case Apply(operation=operation, dtype=dtype, operands=operands):
            return f"apply.{operation}.{dtype}({_values(operands)})"
        case Contract(labels=labels, result=result, operands=operands):
            return f'contract("{",".join(labels)}->{result}", {_values(operands)})'
        case Reduce(operation=operation, axes=axes, source=source):
            return f"reduce.{operation}({_list(axes)}, {print_value(source)})"
        case Scan(operation=operation, axis=axis, source=source):
            return f"scan.{operation}([{axis}], {print_value(source)})"
        case Cases(condition=condition, inside=inside, outside=outside, shape=shape):
            return f"cases({condition}, {_values((inside, outside))}) : {_list(shape)}"


def _values(values: Sequence[Value]) -> str:
    return ", ".join(map(print_value, values))


def _list(items: Sequence[Any]) -> str:
    return f"[{', '.join(map(str, items))}]"
