# SPDX-License-Identifier: Apache-2.0
"""Scalar operations on data: `arith` and `math`, as a table of operations of `ir.operations`; the sign of an integer is
that of the operation (MLIR language reference, dialects arith and math).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from xdsl.dialects import builtin
from xdsl.ir import Operation

from polyloom.diagnostics import Span
from polyloom.frontend.loops import make
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import CTYPE
from polyloom.frontend.mlir.element_types import SIGNED_OF, UNSIGNED_OF, element_type, integer_width, is_kind
from polyloom.frontend.mlir.lowering.builder import Builder
from polyloom.frontend.mlir.lowering.values import Number, integer_constant
from polyloom.ir.numbers import element_constant
from polyloom.ir.operations import BY_NAME, FLOATS, ElementType

# By operation: that of the table, and the sign in which it works ("" for either).
SIMPLE: Final[dict[str, tuple[str, str]]] = {
    **{f"arith.{name}f": (name, "") for name in ("add", "sub", "mul", "div")},
    **{f"arith.{name}i": (name, "") for name in ("add", "sub", "mul", "and", "or", "xor")},
    "arith.negf": ("neg", ""),
    "arith.shli": ("shl", ""),
    "arith.divsi": ("div", "s"),
    "arith.divui": ("div", "u"),
    "arith.remsi": ("rem", "s"),
    "arith.remui": ("rem", "u"),
    "arith.floordivsi": ("floordiv", "s"),
    "arith.shrsi": ("shr", "s"),
    "arith.shrui": ("shr", "u"),
    "arith.minsi": ("min", "s"),
    "arith.maxsi": ("max", "s"),
    "arith.minui": ("min", "u"),
    "arith.maxui": ("max", "u"),
    "arith.maxnumf": ("max", ""),
    "arith.minnumf": ("min", ""),
    "math.absf": ("abs", ""),
    "math.absi": ("abs", "s"),
    "math.fma": ("madd", ""),
    "math.roundeven": ("rint", ""),
    **{f"math.{name}": (name, "") for name in ("exp", "exp2", "log", "sin", "cos", "tanh", "sqrt")},
    **{f"math.{name}": (name, "") for name in ("floor", "ceil", "round", "trunc")},
}
"""arith and math operations that are one operation of `ir.operations`."""
CONVERSIONS: Final = {
    **{f"arith.{name}": "s" for name in ("extsi", "sitofp", "fptosi", "trunci", "index_cast")},
    **{f"arith.{name}": "u" for name in ("extui", "uitofp", "fptoui", "index_castui")},
    **{f"arith.{name}": "" for name in ("extf", "truncf")},
}
_SINGLE: Final = ("exp", "exp2", "log", "sin", "cos", "tanh")


def operation_node(name: str, dtype: ElementType, operands: Sequence[Node], at: Span) -> Node:
    """An operation on operands of a type."""
    return make.operation_node(name, dtype, tuple(operands), Node("", at))


def convert(node: Node, source: ElementType, to: ElementType, at: Span) -> Node:
    return node if source == to else make.cast(node, CTYPE[to], at)


def with_sign(dtype: ElementType, sign: str) -> ElementType:
    """The integer type of the same width that has a sign, or has none."""
    if sign == "u":
        return UNSIGNED_OF.get(dtype, dtype)
    return SIGNED_OF.get(dtype, dtype) if sign == "s" else dtype


class Scalars(Builder):
    """Expressions of data."""

    def data(self, value: Any, operation: Operation) -> tuple[Node, ElementType]:
        """A value as data, and its type. Raises PL0173 for integers of 64 bits that are no index."""
        return self.number_data(self.number(value), operation, str(value.type))

    def number_data(self, found: Number, operation: Operation, written: str) -> tuple[Node, ElementType]:
        at = self.span(operation)
        if found.dtype is None:
            message = f"{operation.name} computes with data of the type {written}, which no operation has"
            help = "element types are i1, integers of 8, 16 and 32 bits, f16, f32 and f64; use one of these"
            raise self.refuse("PL0173", message, operation, help)
        if found.data is not None:
            return found.data, found.dtype
        if found.truth is not None:
            return replace(found.truth, ctype=CTYPE["bool"]), "bool"
        assert found.integer is not None
        return make.cast(found.integer, CTYPE[found.dtype], at), found.dtype

    def apply(self, name: str, sign: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        """An operation of the table on numbers of one type. Half precision is computed in single, which gives the same
        bits for sums, products, quotients and roots (Figueroa 1995)."""
        at = self.span(operation)
        parts = [self.number_data(v, operation, written) for v in values]
        dtype = parts[0][1]
        # MLIR's integers have no sign, its operations do: operands are reinterpreted, the result is put back.
        inner: ElementType = "f32" if dtype == "f16" else with_sign(dtype, sign)
        if inner == "bool":
            inner = "u8" if name not in ("and", "or", "xor") else inner
        if inner == "f64" and name in _SINGLE:
            message = f"{operation.name} of f64 has no kernel"
            raise self.refuse("PL0172", message, operation, "use f32: these functions are of single precision")
        if not BY_NAME[name].accepts_type(inner):
            message = f"{operation.name} of {written} is no operation"
            raise self.refuse("PL0172", message, operation, "use a type that the operation has")
        operands = [convert(node, of, inner, at) for node, of in parts]
        if name == "sub" and inner not in FLOATS and operands[0].kind == "real" and operands[0].value == 0:
            # MLIR has no negation of integers.
            name, operands = "neg", operands[1:]
        made = operation_node(name, inner, operands, at)
        reads = frozenset[str]().union(*(v.reads for v in values))
        found = BY_NAME[name].result(inner)
        result = dtype if found == inner else found
        return Number(result, convert(made, found, result, at), reads=reads)

    def apply_typed(self, name: str, dtype: ElementType, values: Sequence[Number], operation: Operation) -> Number:
        """An operation of the table in the type that it names."""
        at = self.span(operation)
        parts = [self.number_data(v, operation, dtype) for v in values]
        made = operation_node(name, dtype, [convert(node, of, dtype, at) for node, of in parts], at)
        reads = frozenset[str]().union(*(v.reads for v in values))
        return Number(BY_NAME[name].result(dtype), made, reads=reads)

    def compare(self, name: str, sign: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        """A comparison of data, as a truth."""
        at = self.span(operation)
        parts = [self.number_data(v, operation, written) for v in values]
        inner = with_sign("f32" if parts[0][1] == "f16" else parts[0][1], sign)
        if inner == "bool":
            inner = "u8"
            # The one bit is the sign: true is less than false.
            parts = parts[::-1] if sign == "s" and name not in ("eq", "ne") else parts
        opcode = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}[name]
        sides = [convert(node, of, inner, at) for node, of in parts]
        # A condition keeps its relation, which branches and selections use as it is.
        made = make.binary_operation(opcode, (sides[0], sides[1]), CTYPE["bool"], at)
        return Number("bool", truth=made, reads=values[0].reads | values[1].reads)

    def truth_operand(self, found: Number, operation: Operation) -> Node:
        """A number as a condition."""
        if found.truth is not None:
            return found.truth
        node, _ = self.number_data(found, operation, "i1")
        return node

    def join(self, opcode: str, a: Node, b: Node, at: Span) -> Node:
        return make.binary_operation(opcode, (a, b), CTYPE["bool"], at)

    def negate(self, node: Node, at: Span) -> Node:
        return Node("unary", at, CTYPE["bool"], (node,), "!")

    def convert_number(self, found: Number, to: Any, sign: str, operation: Operation) -> Number:
        """A conversion; what counts keeps its integer that never wraps."""
        dtype, at = element_type(to), self.span(operation)
        is_float = dtype in FLOATS or dtype == "f16"
        integer = None if is_float or dtype == "bool" else found.integer
        if (operation.name == "arith.trunci" and dtype in ("i8", "i16")) or (sign == "u" and _is_negative(integer)):
            # A number that is cut to a few bits, or read without its sign, is another one: it is data from here on.
            integer = None
        if found.dtype is None and found.integer is not None and dtype is not None:
            return Number(dtype, make.cast(found.integer, CTYPE[dtype], at), integer)
        if dtype is None or found.dtype is None:
            return Number(None, None, integer, reads=found.reads)
        if found.data is None and found.integer is not None:
            return Number(dtype, make.cast(found.integer, CTYPE[dtype], at), integer, reads=found.reads)
        node, of = self.number_data(found, operation, str(to))
        # The sign of fptoui is that of its result; of all others, that of the operand.
        is_result = operation.name in ("arith.fptoui",)
        source = of if is_result else with_sign(of, sign)
        target = with_sign(dtype, "u") if is_result else dtype
        if source == "bool" and sign == "s":
            # The one bit is the sign: true is -1.
            node = operation_node("neg", "i32", [convert(node, of, "i32", at)], at)
            return Number(dtype, convert(node, "i32", dtype, at), reads=found.reads)
        if dtype == "bool" and source != "bool":
            inner: ElementType = "i32" if is_float_type(of) else with_sign(of, "s")
            # trunci keeps the lowest bit, unlike a conversion to bool, which asks whether any bit is set.
            low = operation_node("and", inner, [convert(node, of, inner, at), make.constant(1, CTYPE[inner], at)], at)
            return Number("bool", convert(low, inner, "bool", at), reads=found.reads)
        # Sign first, then width: extui of an i8 goes through u8, sitofp of an unsigned array through i32.
        made = convert(convert(convert(node, of, source, at), source, target, at), target, dtype, at)
        return Number(dtype, made, integer, reads=found.reads)

    def constant(self, attribute: Any, kind: Any, operation: Operation) -> Number:
        """A constant number. Raises PL0173."""
        at = self.span(operation)
        value = attribute.value.data
        dtype = element_type(kind)
        if is_kind(kind, builtin.IndexType | builtin.IntegerType):
            width = integer_width(kind) or 64
            number = int(value)
            # Signless: the same bits are written as -1 and as 255.
            if number >= 1 << (width - 1) and width > 1:
                number -= 1 << width
            node = make.literal(number, at)
            if width == 1:
                held = make.constant(int(bool(number)), CTYPE["bool"], at)
                return Number("bool", held)
            is_index = is_kind(kind, builtin.IndexType)
            data = None if dtype is None or is_index else make.constant(number, CTYPE[dtype], at)
            return Number(dtype, data, node)
        if dtype is None:
            help = "element types are i1, integers of 8, 16 and 32 bits, f16, f32 and f64; use one of these"
            raise self.refuse("PL0173", f"constants of the type {kind} are no data", operation, help)
        found = element_constant(float(value), dtype)
        return Number(dtype, make.constant(float(value) if found is None else found, CTYPE[dtype], at))


def _is_negative(integer: Node | None) -> bool:
    constant = integer_constant(integer)
    return constant is not None and constant < 0


def is_float_type(dtype: ElementType) -> bool:
    return dtype in FLOATS or dtype == "f16"
