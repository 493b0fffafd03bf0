# SPDX-License-Identifier: Apache-2.0
"""A sum in a scalar of the function as one in the element to which it is stored, with the chain of operations that
becomes of it between: additions and multiplications of vectors' elements, conversions, relu, saturation.

    s = 0 (or an integer of a vector); for ...: s += a * b; t = to_f32(s + bias[m]) * scale[m]; y[...] = sat8(t)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from polyloom.analysis.contraction import UNARY
from polyloom.ir.nest import Apply, Expression, Nest, Statement
from polyloom.ir.pla import Constant, Reference

_INTEGERS = ("i32",)


@dataclass(frozen=True, slots=True)
class Stored:
    """The statements that begin the sum and add to it, and what becomes of it: operations with their other operand, if
    there is one."""

    sum: Sequence[Statement]
    links: tuple[tuple[str, Reference | None], ...]


def accumulator_chain(nest: Nest, found: Sequence[Statement]) -> Stored | None:
    """Scalar accumulator and the chain of operations up to its store (the epilogue of a fused kernel; CUTLASS calls it
    so); None where the statements are anything else.
    """
    begin, add, *stores = found
    name = begin.assign.target.name
    if add.assign.target.name != name or not _is_scalar(nest, name) or not _in_order(begin, add, stores):
        return None
    values = dict[str, Expression]()
    for store in stores[:-1]:
        if not _is_scalar(nest, store.assign.target.name):
            return None
        values[store.assign.target.name] = _substitute_scalars(store.assign.value, values)
    target = stores[-1].assign.target
    # The last store is the result, and a result is an array.
    if _is_scalar(nest, target.name):
        return None
    links = list[tuple[str, Reference | None]]()
    if not _is_chain(nest, _substitute_scalars(stores[-1].assign.value, values), name, links):
        return None
    first = begin.assign.value
    if isinstance(first, Reference) and nest[name].dtype in _INTEGERS and nest[first.name].shape:
        # Integers may be added in any order.
        links.append(("add", first))
        begin = replace(begin, assign=replace(begin.assign, value=Constant(0, nest[name].dtype)))
    return Stored([_with_element(each, name, target) for each in (begin, add)], tuple(links[::-1]))


def _is_scalar(nest: Nest, name: str) -> bool:
    return nest[name].role == "local" and not nest[name].shape


def _in_order(begin: Statement, add: Statement, stores: Sequence[Statement]) -> bool:
    """Whether all stand in one body, one behind the other; the addition in loops of its own."""
    level = len(begin.loops)
    if any(s.loops != begin.loops or s.domain != begin.domain for s in stores) or add.loops[:level] != begin.loops:
        return False
    all_ = (begin, add, *stores)
    # Positions in the common body; the rest of each order must be the same body.
    places = [statement.order[level][0] for statement in all_]
    return places == sorted(set(places)) and len({statement.order[:level] for statement in all_}) == 1


def _substitute_scalars(value: Expression, values: Mapping[str, Expression]) -> Expression:
    """Forward substitution of scalars into an expression."""
    if isinstance(value, Apply):
        return replace(value, operands=tuple(_substitute_scalars(operand, values) for operand in value.operands))
    return values.get(value.name, value) if isinstance(value, Reference) else value


def _is_chain(nest: Nest, value: Expression, name: str, links: list[tuple[str, Reference | None]]) -> bool:
    """Operations from the last one to the first, down to the sum."""
    if not isinstance(value, Apply):
        return isinstance(value, Reference) and value.name == name
    inner = [operand for operand in value.operands if _names(operand, name)]
    others = [operand for operand in value.operands if not _names(operand, name)]
    if len(inner) != 1:
        return False
    if not others and value.operation in UNARY:
        links.append((value.operation, None))
    # A maximum with 0 is relu, which targets have as one operation.
    elif len(others) == 1 and value.operation == "max" and isinstance(others[0], Constant) and others[0].value == 0:
        links.append(("relu", None))
    elif len(others) == 1 and value.operation in ("add", "mul") and isinstance(others[0], Reference):
        # A scalar operand is no vector along output channels.
        if not nest[others[0].name].shape:
            return False
        links.append((value.operation, others[0]))
    else:
        return False
    return _is_chain(nest, inner[0], name, links)


def _names(value: Expression, name: str) -> bool:
    if isinstance(value, Apply):
        return any(_names(operand, name) for operand in value.operands)
    return isinstance(value, Reference) and value.name == name


def _with_element(statement: Statement, name: str, target: Reference) -> Statement:
    def replace_accumulator(value: Expression) -> Expression:
        if isinstance(value, Apply):
            return replace(value, operands=tuple(map(replace_accumulator, value.operands)))
        return target if isinstance(value, Reference) and value.name == name else value

    assign = replace(statement.assign, target=target, value=replace_accumulator(statement.assign.value))
    return replace(statement, assign=assign)
