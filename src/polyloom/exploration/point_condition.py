# SPDX-License-Identifier: Apache-2.0
"""Conditions on points: `elements<=32 and N>=pes_rows`, in Python's notation of comparisons and arithmetic
(docs/explore.md).

A condition is read by Python's own parser and checked to be made of names, numbers, texts, comparisons and arithmetic;
nothing of it is executed as Python. A name that a point has no value of makes every comparison with it false.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, Source, Span

Number = int | float
# No power and no shift: `9**9**9` would take all memory before it could be refused.
_ARITHMETIC: Final[Mapping[type[ast.operator], Callable[[Number, Number], Number]]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: lambda a, b: a % b,
}
_COMPARED: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_HELP: Final = "compare names and numbers, as in `elements <= 32 and N % columns == 0`"
# Python's parser recurses; a longer text could exhaust the stack.
_LONGEST: Final = 1000


@dataclass(frozen=True, slots=True)
class Where:
    """A condition, with the names that it takes."""

    text: str
    tree: ast.expr
    names: frozenset[str]

    def __call__(self, row: Mapping[str, Any]) -> bool:
        """Whether it holds; without a value that it needs, or between a number and a text, it does not."""
        try:
            return bool(_evaluate(self.tree, row))
        except (KeyError, TypeError, ArithmeticError):
            return False


def parse_condition(text: str) -> Where:
    """Parser of conditions. Errors: PL1403."""
    try:
        if len(text) > _LONGEST:
            raise ValueError
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        shown = text if len(text) <= _LONGEST else f"{text[:40]}..."
        raise PolyloomError(Diagnostic("PL1403", f"'{shown}' is no condition", USAGE, help=_HELP)) from None
    _check_syntax(tree, text.strip())
    return Where(text.strip(), tree, frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name)))


def _check_syntax(node: ast.expr, text: str) -> None:
    match node:
        case ast.BoolOp(values=parts):
            pass
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=part):
            parts = [part]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            parts = [left, right]
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARED for op in ops):
            parts = [left, *others]
        case ast.Name() | ast.Constant(value=int() | float() | str()):
            parts = []
        case _:
            raise _condition_error(node, text)
    for part in parts:
        _check_syntax(part, text)


def _condition_error(node: ast.expr, text: str) -> PolyloomError:
    source = Source("--where", text)
    # Offsets of the parser are bytes of UTF-8.
    start, end = (len(text.encode()[:n].decode(errors="ignore")) for n in (node.col_offset, node.end_col_offset or 0))
    span = Span(source, start, end) if "\n" not in text else None
    message = "a condition is made of names, numbers, comparisons and arithmetic"
    return PolyloomError(Diagnostic("PL1403", message, USAGE, span, help=_HELP))


def _evaluate(node: ast.expr, row: Mapping[str, Any]) -> Any:
    match node:
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_evaluate(part, row) for part in parts)
        case ast.BoolOp(values=parts):
            return any(_evaluate(part, row) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return not _evaluate(part, row)
        case ast.UnaryOp(operand=part):
            return -_evaluate(part, row)
        case ast.BinOp(left=left, op=op, right=right):
            return _ARITHMETIC[type(op)](_evaluate_number(left, row), _evaluate_number(right, row))
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [_evaluate(part, row) for part in (left, *others)]
            return all(_COMPARED[type(op)](a, b) for op, a, b in zip(ops, values, values[1:], strict=False))
        case ast.Name(id=name):
            if row[name] is None:
                raise KeyError(name)
            return row[name]
        case ast.Constant(value=value):
            return value
        case _:
            raise AssertionError(node)


def _evaluate_number(node: ast.expr, row: Mapping[str, Any]) -> Number:
    """Texts are compared, and not calculated with: `'x' * 10**9` would fill the memory."""
    value = _evaluate(node, row)
    if not isinstance(value, int | float):
        raise TypeError
    return value
