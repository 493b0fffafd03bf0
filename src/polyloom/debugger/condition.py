# SPDX-License-Identifier: Apache-2.0
"""Conditions and expressions of a debugger: `C[1,2] != 0`, `i == 2 and k > 0`, `nan`, `fault`, `wrong`, `a0`.

The syntax is that of Python's expressions of numbers, read by its own parser and evaluated here, so that a text can
call nothing. Names are checked when a condition is written, with the place of what is unknown.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from polyloom.diagnostics import PolyloomError, Source, Span, input_error, nearest
from polyloom.stepping.history import Entry
from polyloom.stepping.session import Session

EVENTS: Final = ("fault", "nan", "wrong")
"""Names of what may happen in a step."""
_COUNTS: Final = ("cycle", "position")
# No powers and no shifts: numbers of Python grow until the memory is full.
_BINARY: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: operator.mod,
}
_COMPARED: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.UAdd: operator.pos,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """Checked expression; `loops` are the iteration's names in it."""

    text: str
    tree: ast.expr
    loops: frozenset[str]

    def value(self, session: Session) -> Any:
        """Value now; names of loops have those of the last event that tells them. Errors: PL1502."""
        known = {name: value for entry in session.last for name, value in entry.event.iteration}
        return _Evaluation(self.text, session, known).value(self.tree)

    def holds(self, session: Session) -> bool:
        """Whether it holds after the last step: of loops, for some event of it."""
        if not self.loops:
            return _Evaluation(self.text, session, {}).truth(self.tree)
        # One event at a time: loops of two units are no iteration together.
        for entry in session.last:
            known = dict(entry.event.iteration)
            if self.loops <= known.keys() and _Evaluation(self.text, session, known).truth(self.tree):
                return True
        return False


def read_condition(text: str, session: Session) -> Condition:
    """Condition of a text. Errors: PL1502 for names and indices that there are not, PL1503 for what is no
    expression.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise input_error(
            "PL1503", f"'{text}' is no expression", help="write one as in `C[1,2] != 0` or `i == 2 and k == 0`"
        ) from None
    loops = session.loops
    arrays, registers = session.machine.arrays(), _flatten(session.machine.registers())
    known = [*arrays, *loops, *registers, *EVENTS, *_COUNTS]
    # Everything is checked before anything runs: a mistake must not show after an hour.
    for node in ast.walk(tree):
        _check_node(text.strip(), node)
        if isinstance(node, ast.Name) and node.id not in known:
            # Among hundreds of registers some name is near to any mistake.
            help = nearest(node.id, known, "name") if len(known) < 200 else None
            raise input_error(
                "PL1502",
                f"there is no `{node.id}` here",
                span=_span(text.strip(), node),
                help=help or _names_help(arrays),
            )
        if isinstance(node, ast.Subscript):
            _check_subscript(text.strip(), node, arrays)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return Condition(text.strip(), tree, frozenset(used & set(loops) - arrays.keys()))


def has_nan(entry: Entry) -> bool:
    """Whether an event made or stored a NaN."""
    values = (entry.event.result, *(stored.value for stored in entry.event.stores))
    # A vector has a value in each lane.
    return any(isinstance(value, float | np.floating | np.ndarray) and bool(np.any(value != value)) for value in values)


def _names_help(arrays: Mapping[str, Any]) -> str:
    return f"arrays and scalars are {', '.join(arrays) or 'none'}; `info registers` lists registers"


def _check_node(text: str, node: ast.AST) -> None:
    allowed = (
        ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Constant, ast.Name, ast.Subscript, ast.Tuple,
        ast.Load, ast.boolop, ast.operator, ast.unaryop, ast.cmpop,
    )  # fmt: skip
    known = {*_BINARY, *_COMPARED, *_UNARY}
    is_known = isinstance(node, allowed) and not (
        isinstance(node, ast.operator | ast.unaryop | ast.cmpop) and type(node) not in known
    )
    if not is_known or (isinstance(node, ast.Constant) and not isinstance(node.value, int | float)):
        raise input_error(
            "PL1503", f"`{text}` has something that is no number, name, index, comparison or arithmetic",
            help="write an expression as in `C[1,2] != 0` or `i == 2 and k == 0`",
        )  # fmt: skip


def _check_subscript(text: str, node: ast.Subscript, arrays: Mapping[str, Any]) -> None:
    """PL1502 for an element of what is no array, or with another number of indices."""
    name = node.value.id if isinstance(node.value, ast.Name) else ""
    rank = len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
    if name not in arrays or arrays[name].ndim != rank:
        what = f"has {arrays[name].ndim} dimensions" if name in arrays else "is no array"
        raise input_error("PL1502", f"`{name or text}` {what}", span=_span(text, node), help=_names_help(arrays))


def _span(text: str, node: ast.expr) -> Span:
    end = node.end_col_offset if node.end_col_offset is not None else len(text)
    return Span(Source("condition", text), node.col_offset, end)


def _flatten(registers: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Registers by name: those of the first unit that has them."""
    found: dict[str, str] = {}
    for held in registers.values():
        for name, value in held.items():
            found.setdefault(name, value)
    return found


def _number(text: str) -> Any:
    """Value of a register's text, of a FIFO that of its first token; NaN where it is no number."""
    word = text.split()[0] if text.split() else ""
    try:
        # Base 0: program counters and words are shown with 0x, integers without.
        return int(word, 0)
    except ValueError:
        pass  # a float, or no number
    try:
        return float(word)
    except ValueError:
        return float("nan")


@dataclass(frozen=True, slots=True)
class _Evaluation:
    text: str
    session: Session
    loops: Mapping[str, int]

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.name(name)
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return self.element(node, name, index)
            case ast.BinOp(left=left, op=op, right=right):
                # Floats overflow without a fault, as on the machines.
                with np.errstate(all="ignore"):
                    return self.safely(node, lambda: _BINARY[type(op)](self.value(left), self.value(right)))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.truth(operand)
            case ast.UnaryOp(op=op, operand=operand):
                return _UNARY[type(op)](self.value(operand))
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self.truth(value) for value in values)
            case ast.BoolOp(values=values):
                return any(self.truth(value) for value in values)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                values = [self.value(each) for each in (left, *comparators)]
                if any(np.ndim(value) for value in values):
                    raise self.error(node, "an array compares to many values, not to one")
                return all(_COMPARED[type(op)](values[n], values[n + 1]) for n, op in enumerate(ops))
            case _:
                raise input_error("PL1503", f"`{self.text}` is no condition", help="write one as in `C[1,2] != 0`")

    def truth(self, node: ast.expr) -> bool:
        """Whether a value holds. Errors: PL1502 of an array, which is many values."""
        value = self.value(node)
        if np.ndim(value):
            raise self.error(node, "an array is neither true nor false")
        return bool(value)

    def name(self, name: str) -> Any:
        if name in self.loops:
            return self.loops[name]
        if name in EVENTS:
            return self.event_happened(name)
        if name in _COUNTS:
            return self.session.cycle if name == "cycle" else self.session.position
        # Registers come last: an array hides one of its name.
        arrays = self.session.machine.arrays()
        if name in arrays:
            return arrays[name][()] if arrays[name].ndim == 0 else arrays[name]
        return _number(_flatten(self.session.machine.registers()).get(name, ""))

    def event_happened(self, name: str) -> bool:
        if name == "fault":
            return self.session.fault is not None
        return any(has_nan(e) if name == "nan" else e.wrong is not None for e in self.session.last)

    def element(self, node: ast.expr, name: str, index: ast.expr) -> Any:
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        try:
            at = tuple(int(self.value(part)) for part in parts)
        except (ValueError, TypeError, OverflowError):
            # A loop has no value before an operation of it: what stands in its place is a NaN.
            raise self.error(node, f"an index of `{name}` is no number now") from None
        array = self.session.machine.arrays()[name]
        if not all(0 <= i < extent for i, extent in zip(at, array.shape, strict=True)):
            shape = ", ".join(map(str, array.shape))
            raise self.error(node, f"`{name}` has the shape ({shape}), which {list(at)} is outside of")
        return array[at]

    def safely(self, node: ast.expr, compute: Callable[[], Any]) -> Any:
        try:
            return compute()
        except ZeroDivisionError:
            raise self.error(node, "this divides by zero") from None

    def error(self, node: ast.expr, message: str) -> PolyloomError:
        return input_error("PL1502", message, span=_span(self.text, node), help="write another index or condition")
