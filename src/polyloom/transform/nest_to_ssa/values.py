# SPDX-License-Identifier: Apache-2.0
"""Expressions of nests as values of `ir.ssa`.

A comparison stays an i1 as long as it decides; it becomes a number where it is one. A selection whose arms access
memory or take long evaluates one arm, as the source does; others are selects (if-conversion; Allen, Kennedy,
Porterfield and Warren 1983). An element that is read twice by one statement is loaded once, if nothing was stored in
between.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from polyloom.ir.nest import Apply, Expression, Index, Nest, Storage, accesses, expression_type
from polyloom.ir.operations import BY_NAME, FLOATS, UNSIGNED, ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.ssa import Access, Branch, Jump, Operand, Value, integer_constant
from polyloom.ir.ssa_types import I1, SIZE
from polyloom.transform.nest_to_ssa.forms import Forms
from polyloom.transform.nest_to_ssa.operations import (
    TYPES,
    constant,
    convert,
    is_nonzero,
    operate,
    relation,
)
from polyloom.transform.nest_to_ssa.writer import Writer

_SHORT: Final = 2
"""Operations of an arm that is evaluated in any case."""
# Divisions and roots take longer than a branch, even one that is mispredicted.
_LONG: Final = ("div", "rem", "floordiv", "mod", "sqrt")
_LOGIC: Final = ("and", "or", "xor")


class Values:
    """Writer of expressions. `bases` are the addresses of arrays and variables, `loaded` what the statement has loaded
    (mutable).
    """

    def __init__(self, nest: Nest, writer: Writer, forms: Forms, bases: dict[str, Operand]) -> None:
        self.nest, self.writer, self.forms, self.bases = nest, writer, forms, bases
        self.storage = {s.name: s for s in nest.storage}
        self.loaded: dict[Reference, Operand] = {}

    def value(self, expression: Expression) -> Operand:
        """Value of an expression, of its element type."""
        match expression:
            case Reference():
                return self.element(expression)
            case Constant():
                return constant(expression.value, expression.dtype)
            case Index():
                return self.index(expression)
            case Apply(operation="select"):
                return self.selection(expression)
            case Apply(operation=operation, dtype=dtype, operands=operands):
                result = TYPES[BY_NAME[operation].result(dtype)]
                if BY_NAME[operation].compares or self.is_logic(expression):
                    # In the element types a comparison is an i32 of 0 or 1, as in C.
                    return self.writer.put("zext", result, self.truth(expression))
                if operation.startswith("to_") and operation in ("to_bool", *_WIDENED) and self.is_truth(operands[0]):
                    return self.writer.put("zext", result, self.truth(operands[0]))
                given = tuple([self.value(operand) for operand in operands])
                if len(given) == 1 and BY_NAME[operation].gives is not None:
                    return convert(self.writer, operation, dtype, given[0])
                return operate(self.writer, operation, dtype, given)

    def truth(self, expression: Expression) -> Operand:
        """Truth of an integer, whether it is not 0, as an i1."""
        match expression:
            case Apply(operation=operation, dtype=dtype, operands=(a, b)) if BY_NAME[operation].compares:
                return self.relation(operation, dtype, a, b)
            case Apply(operation=operation, operands=(a, b)) if self.is_logic(expression):
                return self.writer.put(operation, I1, self.truth(a), self.truth(b))
            case Apply(operation="to_i32" | "to_bool", operands=(operand,)) if self.is_truth(operand):
                return self.truth(operand)
            case _:
                return is_nonzero(self.writer, self.value(expression))

    def relation(self, operation: str, dtype: ElementType, a: Expression, b: Expression) -> Operand:
        """Comparison; that of a truth with 0 is the truth itself or its contrary."""
        # `x != 0` of a comparison is what front ends write for a condition; it costs nothing this way.
        zero = next((n for n, x in enumerate((a, b)) if isinstance(x, Constant) and x.value == 0), None)
        other = (b, a)[zero] if zero is not None else None
        if operation in ("eq", "ne") and other is not None and self.is_truth(other):
            found = self.truth(other)
            return found if operation == "ne" else self.writer.put("xor", I1, found, integer_constant(I1, 1))
        return relation(self.writer, operation, dtype, self.value(a), self.value(b))

    def is_truth(self, expression: Expression) -> bool:
        """Whether an integer is 0 or 1 because it is made of comparisons."""
        return isinstance(expression, Apply) and (
            BY_NAME[expression.operation].compares
            or self.is_logic(expression)
            or (expression.operation in ("to_i32", "to_bool") and self.is_truth(expression.operands[0]))
        )

    def is_logic(self, expression: Apply) -> bool:
        return expression.operation in _LOGIC and all(map(self.is_truth, expression.operands))

    def index(self, index: Index) -> Operand:
        """Affine form as data: wrapped to the type, or rounded."""
        form, type = self.forms.affine(index.value), TYPES[index.dtype]
        if index.dtype in FLOATS:
            return self.writer.put("sitofp", type, form)
        return form if form.type == type else self.writer.put("trunc", type, form)

    def address(self, reference: Reference) -> Operand:
        storage = self.storage[reference.name]
        base = self.bases[reference.name]
        return self.forms.pointer(base, storage, SIZE[TYPES[storage.dtype]], reference.index)

    def element(self, reference: Reference) -> Operand:
        """Element: a scalar argument, or a load that the statement shares."""
        storage = self.storage[reference.name]
        base = self.bases[reference.name]
        if is_by_value(storage):
            return base
        # Two reads of an element differ in their places only.
        key = replace(reference, span=None)
        if key not in self.loaded:
            address = self.address(reference)
            self.loaded[key] = self.writer.emit("load", TYPES[storage.dtype], address, access=access(storage))
        return self.loaded[key]

    def selection(self, expression: Apply) -> Operand:
        """Selection of one of two values, by `select` or by a branch."""
        test, *arms = expression.operands
        condition = self.truth(test)
        if not self.is_constant_operand(condition) and any(map(self.is_long, arms)):
            return self.branched(condition, arms[0], arms[1])
        return self.writer.select(condition, self.value(arms[0]), self.value(arms[1]))

    def is_constant_operand(self, condition: Operand) -> bool:
        return not isinstance(condition, Value)

    def is_long(self, arm: Expression) -> bool:
        """Whether an arm is better not evaluated where the other one is chosen."""
        # A load that the source does not execute may be outside of its array.
        loads = (r for r in accesses(arm) if r.index and replace(r, span=None) not in self.loaded)
        return any(True for _ in loads) or _count_operations(arm) > _SHORT

    def branched(self, condition: Operand, a: Expression, b: Expression) -> Operand:
        """Selection by blocks, whose join has the value as its parameter."""
        writer = self.writer
        then, orelse, join = writer.fresh("then"), writer.fresh("else"), writer.fresh("join")
        result = Value(writer.fresh("chosen"), TYPES[expression_type(a, self.nest)])
        writer.end(Branch(condition, writer.jump(then), writer.jump(orelse), writer.place))
        for name, arm in ((then, a), (orelse, b)):
            writer.begin(name)
            with self.scoped_loads():
                found = self.value(arm)
            writer.end(Jump(writer.jump(join, found), writer.place))
        writer.begin(join, result)
        return result

    @contextmanager
    def scoped_loads(self) -> Generator[None]:
        """Scope of an arm: what is loaded there is not known behind, where the other arm may have been executed."""
        known = dict(self.loaded)
        yield
        self.loaded = known


_WIDENED: Final = tuple(f"to_{dtype}" for dtype in ("i8", "i16", "i32", *UNSIGNED))


def is_by_value(storage: Storage) -> bool:
    """Whether the argument is the value, not an address."""
    return storage.role == "argument" and not storage.shape and not storage.writable


def access(storage: Storage) -> Access:
    return Access(SIZE[TYPES[storage.dtype]])


def _count_operations(expression: Expression) -> int:
    """Operations of an expression; a long one counts as more than an arm may have."""
    if not isinstance(expression, Apply):
        return 0
    own = _SHORT + 1 if expression.operation in _LONG else 1
    return own + sum(map(_count_operations, expression.operands))
