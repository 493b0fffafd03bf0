# SPDX-License-Identifier: Apache-2.0
"""Integers that count: affine maps, the dialect `index`, and arithmetic on indices and on integers that become indices.

They never wrap: no size that memory has room for leaves the range of its type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from xdsl.dialects import builtin
from xdsl.ir import Operation
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineMap,
    AffineSymExpr,
)

from polyloom.diagnostics import Span
from polyloom.frontend.loops import make
from polyloom.frontend.loops.tree import Node
from polyloom.frontend.loops.types import INTEGER
from polyloom.frontend.mlir.element_types import element_type, is_integer, is_kind, is_truth, scalar_type
from polyloom.frontend.mlir.expanded_functions import EXPANDED
from polyloom.frontend.mlir.lowering.expanded import FunctionExpansion
from polyloom.frontend.mlir.lowering.scalars import CONVERSIONS, SIMPLE
from polyloom.frontend.mlir.lowering.values import Number, combine, extreme, integer, integer_constant
from polyloom.ir.numbers import type_limits
from polyloom.ir.operations import INTEGERS

_OPCODES: Final = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "divs": "/",
    "divu": "/",
    "rems": "%",
    "remu": "%",
    "floordivs": "//",
    "and": "&",
    "shl": "<<",
    "shru": ">>",
}
"""By operation of `index`; a shift to the right is defined of what is not negative."""
_ARITH: Final = {
    "arith.addi": "add",
    "arith.subi": "sub",
    "arith.muli": "mul",
    "arith.divsi": "divs",
    "arith.divui": "divu",
    "arith.remsi": "rems",
    "arith.remui": "remu",
    "arith.floordivsi": "floordivs",
    "arith.ceildivsi": "ceildivs",
    "arith.ceildivui": "ceildivu",
    "arith.maxsi": "maxs",
    "arith.minsi": "mins",
    "arith.maxui": "maxu",
    "arith.minui": "minu",
    "arith.andi": "and",
    "arith.shli": "shl",
    "arith.shrui": "shru",
}
# An i1 is one bit in two's complement: sums and differences wrap to "exclusive or", and with a sign true is -1, so that
# the signed minimum is "or" (MLIR language reference, dialect arith).
_TRUTHS: Final = {
    **dict.fromkeys(("arith.andi", "arith.muli", "arith.minui", "arith.maxsi"), "&&"),
    **dict.fromkeys(("arith.ori", "arith.maxui", "arith.minsi"), "||"),
    **dict.fromkeys(("arith.xori", "arith.addi", "arith.subi"), "^"),
}
_KIND: Final = {
    AffineBinaryOpKind.Add: "+",
    AffineBinaryOpKind.Mul: "*",
    AffineBinaryOpKind.FloorDiv: "//",
    AffineBinaryOpKind.Mod: "mod",
}
PREDICATES: Final[tuple[str, ...]] = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
# arith.cmpf: whether it is ordered, and the relation (MLIR language reference, arith.cmpf).
FLOAT_PREDICATES: Final[tuple[str, ...]] = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_SYMBOL: Final = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def operand_sign(operation: Operation) -> str:
    """The sign in which an operation takes its operands, "s" or "u"; "" where it does not matter."""
    name = operation.name
    if name == "arith.cmpi":
        number: Any = operation.properties["predicate"]
        predicate: str = PREDICATES[int(number.value.data)]
        return predicate[0] if predicate[0] in "su" else ""
    if name in SIMPLE:
        return SIMPLE[name][1]
    known = {"arith.ceildivsi": "s", "arith.ceildivui": "u"}
    return CONVERSIONS.get(name, known.get(name, "")) if name != "arith.trunci" else ""


def map_trees(found: AffineMap, operands: Sequence[Node], at: Span) -> list[Node]:
    """Results of an affine map on integers, its dimensions first."""
    return [expression_tree(e, operands, found.num_dims, at) for e in found.results]


def expression_tree(expression: Any, operands: Sequence[Node], dims: int, at: Span) -> Node:
    """An affine expression as a tree (MLIR language reference, dialect affine)."""
    match expression:
        case AffineConstantExpr(value=value):
            return integer(value, at)
        case AffineDimExpr(position=n):
            return operands[n]
        case AffineSymExpr(position=n):
            return operands[dims + n]
        case AffineBinaryOpExpr(kind=kind, lhs=lhs, rhs=rhs):
            a, b = (expression_tree(e, operands, dims, at) for e in (lhs, rhs))
            if kind == AffineBinaryOpKind.CeilDiv:
                return ceiling_quotient(a, b, at)
            # xDSL writes a - b as a + b * -1, which a difference prints and folds better.
            if kind == AffineBinaryOpKind.Mul and integer_constant(a) is None and b.kind == "integer" and b.value == -1:
                return combine("-", integer(0, at), a, at)
            return combine(_KIND[kind], a, b, at)
        case _:
            raise TypeError(f"no affine expression: {expression}")


def ceiling_quotient(a: Node, b: Node, at: Span) -> Node:
    """Quotient rounded up: (a + b - 1) // b."""
    # Divisors of affine expressions are positive, so that rounding down does.
    return combine("//", combine("-", combine("+", a, b, at), integer(1, at), at), b, at)


def set_tree(found: Any, operands: Sequence[Node], at: Span) -> Node:
    """An integer set as a condition."""
    parts = list[Node]()
    opcodes = {AffineConstraintKind.eq: "==", AffineConstraintKind.ge: ">=", AffineConstraintKind.le: "<="}
    for constraint in found.constraints:
        sides = [expression_tree(e, operands, found.num_dims, at) for e in (constraint.lhs, constraint.rhs)]
        parts.append(make.binary_operation(opcodes[constraint.kind], (sides[0], sides[1]), INTEGER, at))
    return conjunction(parts, at)


def conjunction(parts: Sequence[Node], at: Span) -> Node:
    found = parts[0]
    for part in parts[1:]:
        found = make.binary_operation("&&", (found, part), INTEGER, at)
    return found


class Integers(FunctionExpansion):
    """Integers, and the dispatch of arith and math."""

    def map_operands(self, operands: Sequence[Any], operation: Operation) -> list[Node]:
        return [self.integer_operand(o, operation) for o in operands]

    def apply_map(self, operation: Operation) -> None:
        """affine.apply, affine.min and affine.max."""
        at = self.span(operation)
        found: Any = operation.properties["map"]
        trees = map_trees(found.data, self.map_operands(operation.operands, operation), at)
        name = operation.name.removeprefix("affine.")
        tree = trees[0] if len(trees) == 1 else extreme(name, trees, at)
        self.frame.values[operation.results[0]] = Number("i32", None, tree)

    def index_operation(self, operation: Operation) -> None:
        """Operations of the dialect `index`."""
        name = operation.name.removeprefix("index.")
        result, at = operation.results[0], self.span(operation)
        attribute: Any = operation.properties.get("value")
        if name == "constant":
            self.frame.values[result] = Number("i32", None, integer(attribute.value.data, at))
        elif name == "bool.constant":
            self.frame.values[result] = self.constant(attribute, result.type, operation)
        elif name == "cmp":
            predicate: Any = operation.properties["predicate"]
            self.compare_integers(predicate.data, operation)
        elif name in ("casts", "castu"):
            sign = "u" if name == "castu" else "s"
            found = self.number(operation.operands[0])
            self.define(result, self.convert_number(found, result.type, sign, operation), operation)
        else:
            a, b = (self.number(o) for o in operation.operands)
            made = self.integer_operation(name, a, b, operation)
            if made is None:
                message = f"{operation.name} of what is no affine integer"
                raise self.refuse("PL0174", message, operation, "compute indices from loops, sizes and constants")
            self.frame.values[result] = made

    def integer_operation(self, name: str, a: Number, b: Number, operation: Operation) -> Number | None:
        """An operation on integers that never wrap; None where one is data."""
        if a.integer is None or b.integer is None:
            return None
        x, y, at = a.integer, b.integer, self.span(operation)
        if name in ("maxs", "maxu", "mins", "minu"):
            return Number("i32", None, extreme(name[:3], (x, y), at))
        if name in ("ceildivs", "ceildivu"):
            return Number("i32", None, ceiling_quotient(x, y, at))
        if name == "remu" and (divisor := integer_constant(y)) is not None and divisor.bit_count() == 1 and divisor > 0:
            # 2^64 is a multiple of a power of two: the remainder of a negative index, read without sign, is that of
            # the floor.
            return Number("i32", None, combine("mod", x, y, at))
        return Number("i32", None, combine(_OPCODES[name], x, y, at)) if name in _OPCODES else None

    def scalar_operation(self, operation: Operation) -> None:
        """arith and math operations on scalars. Raises PL0172."""
        name, result = operation.name, operation.results[0]
        kind = scalar_type(result.type)
        written = str(scalar_type(operation.operands[0].type)) if operation.operands else str(kind)
        attribute: Any = operation.properties.get("value")
        if name == "arith.constant":
            self.frame.values[result] = self.constant(attribute, kind, operation)
            return
        values = [self.number(o) for o in operation.operands]
        if name in CONVERSIONS:
            self.define(result, self.convert_number(values[0], kind, CONVERSIONS[name], operation), operation)
        elif name in ("arith.cmpi", "arith.cmpf"):
            number: Any = operation.properties["predicate"]
            known = PREDICATES if name == "arith.cmpi" else FLOAT_PREDICATES
            predicate: str = known[int(number.value.data)]
            (self.compare_integers if name == "arith.cmpi" else self.compare_floats)(predicate, operation)
        elif name == "arith.select":
            self.define(result, self.select(values, operation), operation)
        elif is_truth(kind) and name in _TRUTHS:
            self.define(result, self.join_truths(name, values, operation), operation)
        else:
            self.define(result, self.arithmetic(name, values, operation, written), operation)

    def arithmetic(self, name: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        """Arithmetic: on data, on integers that count, or on both."""
        kind = scalar_type(operation.results[0].type)
        counted = None
        if is_integer(kind) and name in _ARITH:
            counted = self.integer_operation(_ARITH[name], values[0], values[1], operation)
        # An i64 has no data form: it counts, or is refused where it is used as data.
        is_index = is_kind(kind, builtin.IndexType) or element_type(kind) is None
        if counted is not None and (is_index or all(v.data is None for v in values)):
            return Number(element_type(kind), None, counted.integer)
        found = self.data_arithmetic(name, values, operation, written)
        held = None if counted is None else counted.integer
        number, limits = integer_constant(held), None if found.dtype is None else type_limits(found.dtype)
        if number is not None and limits is not None and not limits[0] <= number <= limits[1]:
            # Constants of a narrow type wrap, which is known here; then only the data are right.
            held = None
        return Number(found.dtype, found.data, held, found.truth, found.reads)

    def data_arithmetic(self, name: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        if name in SIMPLE:
            return self.apply(*SIMPLE[name], values, operation, written)
        special = _SPECIAL.get(name)
        if special is None:
            message = f"the operation `{name}` has no meaning here"
            help = "docs/mlir.md lists the operations; write it with these"
            raise self.refuse("PL0172", message, operation, help)
        return special(self, name, values, operation, written)

    def compare_integers(self, predicate: str, operation: Operation) -> None:
        """Comparison of integers; where both count, an affine condition."""
        values, at = [self.number(o) for o in operation.operands], self.span(operation)
        result, written = operation.results[0], str(scalar_type(operation.operands[0].type))
        name, is_unsigned = predicate.lstrip("su"), predicate[0] == "u"
        a, b = (v.integer for v in values)
        if a is None or b is None:
            self.define(result, self.compare(name, "u" if is_unsigned else "s", values, operation, written), operation)
            return
        # The larger one is named second, so that its sign decides below.
        if is_unsigned and name in ("gt", "ge"):
            name, a, b = {"gt": "lt", "ge": "le"}[name], b, a
        test = make.binary_operation(_SYMBOL[name], (a, b), INTEGER, at)
        if is_unsigned:
            # What is negative is a larger number than all others. Of two that vary the second one is a size.
            first, second = integer_constant(a), integer_constant(b)
            if first is None:
                sign = make.binary_operation(">=", (a, integer(0, at)), INTEGER, at)
                opcode = "||" if second is not None and second < 0 else "&&"
            else:
                sign = make.binary_operation("<", (b, integer(0, at)), INTEGER, at)
                opcode = "&&" if first < 0 else "||"
            test = make.binary_operation(opcode, (sign, test), INTEGER, at)
        self.frame.values[result] = Number("bool", truth=test)

    def compare_floats(self, predicate: str, operation: Operation) -> None:
        """Comparison of floats: an unordered one is the complement of the ordered opposite (IEEE 754, section 5.11)."""
        values, result = [self.number(o) for o in operation.operands], operation.results[0]
        at, written = self.span(operation), str(scalar_type(operation.operands[0].type))

        def test(name: str) -> Node:
            return self.truth_operand(self.compare(name, "", values, operation, written), operation)

        def is_number(which: int) -> Node:
            both = [values[which], values[which]]
            return self.truth_operand(self.compare("eq", "", both, operation, written), operation)

        reads = values[0].reads | values[1].reads
        ordered = self.join("&&", is_number(0), is_number(1), at) if predicate in ("ord", "uno", "one", "ueq") else None
        match predicate:
            case "false" | "true":
                self.frame.values[result] = Number("bool", make.constant(int(predicate == "true"), "_Bool", at))
                return
            case "ord" | "uno":
                assert ordered is not None
                found = ordered if predicate == "ord" else self.negate(ordered, at)
            case "one" | "ueq":
                assert ordered is not None
                found = self.join("&&", ordered, test("ne"), at)
                found = found if predicate == "one" else self.negate(found, at)
            case "une":
                found = test("ne")
            case _ if predicate[0] == "o":
                found = test(predicate[1:])
            case _:
                opposite = {"ugt": "le", "uge": "lt", "ult": "ge", "ule": "gt"}[predicate]
                found = self.negate(test(opposite), at)
        self.define(result, Number("bool", truth=found, reads=reads), operation)

    def select(self, values: Sequence[Number], operation: Operation) -> Number:
        """arith.select: a conditional expression, of integers that count also one of these."""
        test, at = self.truth_operand(values[0], operation), self.span(operation)
        first, second = values[1:]
        reads = frozenset[str]().union(*(v.reads for v in values))
        counted = None
        # A condition that reads memory is data, and so is the index that it chooses.
        if first.integer is not None and second.integer is not None and values[0].truth is not None and not reads:
            counted = Node("choose", at, INTEGER, (test, first.integer, second.integer))
        written = str(scalar_type(operation.results[0].type))
        is_index = is_kind(operation.results[0].type, builtin.IndexType)
        if counted is not None and (is_index or first.dtype is None):
            return Number(first.dtype, None, counted)
        (a, dtype), (b, _) = (self.number_data(v, operation, written) for v in (first, second))
        made = Node("choose", at, a.ctype, (test, a, b))
        return Number(dtype, made, counted, reads=reads)

    def join_truths(self, name: str, values: Sequence[Number], operation: Operation) -> Number:
        a, b = (self.truth_operand(v, operation) for v in values)
        at, reads, opcode = self.span(operation), values[0].reads | values[1].reads, _TRUTHS[name]
        if opcode == "^":
            # xor with true is how MLIR writes `not`.
            constant = [n for n in (a, b) if n.kind == "real"]
            if constant:
                other = b if a is constant[0] else a
                found = self.negate(other, at) if constant[0].value else other
            else:
                either = self.join("||", a, b, at)
                found = self.join("&&", either, self.negate(self.join("&&", a, b, at), at), at)
            return Number("bool", truth=found, reads=reads)
        return Number("bool", truth=self.join(opcode, a, b, at), reads=reads)

    # Operations that are several of the table.

    def floating_extreme(self, name: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        """arith.maximumf and minimumf, which give a NaN where there is one: `a >= b || a != a ? a : b`. Zeros of
        two signs count as equal, and the first stays, as in reductions of whole arrays."""
        a, b = values
        test, at = ("ge" if "max" in name else "le"), self.span(operation)
        reads = a.reads | b.reads
        (x, dtype), (y, _) = (self.number_data(v, operation, written) for v in values)
        if y.kind == "real" and y.value == y.value:
            # Of a constant that is no NaN one comparison decides: a NaN in the other operand fails it and stays.
            test = "gt" if "max" in name else "lt"
            better = self.truth_operand(self.compare(test, "", (b, a), operation, written), operation)
            return Number(dtype, Node("choose", at, x.ctype, (better, y, x)), reads=reads)
        better = self.truth_operand(self.compare(test, "", (a, b), operation, written), operation)
        if x.kind != "real" or x.value != x.value:
            nan = self.truth_operand(self.compare("ne", "", (a, a), operation, written), operation)
            better = self.join("||", better, nan, at)
        return Number(dtype, Node("choose", at, x.ctype, (better, x, y)), reads=reads)

    def ceiling_division(self, name: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        """arith.ceildivsi and ceildivui: -((-a) floordiv b), and a / b + (a % b != 0)."""
        if name == "arith.ceildivsi":
            negative = self.apply("neg", "s", values[:1], operation, written)
            whole = self.apply("floordiv", "s", (negative, values[1]), operation, written)
            return self.apply("neg", "s", (whole,), operation, written)
        # (a + b - 1) / b would wrap for large a.
        whole = self.apply("div", "u", values, operation, written)
        rest = self.apply("rem", "u", values, operation, written)
        zero = Number(rest.dtype, make.constant(0, rest.data.ctype if rest.data else "int", self.span(operation)))
        more = self.compare("ne", "u", (rest, zero), operation, written)
        one = self.convert_number(more, scalar_type(operation.results[0].type), "u", operation)
        return self.apply("add", "", (whole, one), operation, written)

    def reciprocal_root(self, name: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        del name
        root = self.apply("sqrt", "", values, operation, written)
        node, dtype = self.number_data(root, operation, written)
        one = Number(dtype, make.constant(1.0, node.ctype, self.span(operation)))
        return self.apply("div", "", (one, root), operation, written)

    def remainder_of_floats(self, name: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        del name, values, written
        help = "write x - trunc(x / y) * y, which rounds"
        raise self.refuse("PL0172", "arith.remf has no exact form", operation, help)

    def power(self, name: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        """math.powf, fpowi and ipowi with a constant integer exponent."""
        exponent = values[1].integer or values[1].data
        number = None if exponent is None else exponent.value
        # An integer exponent is a chain of products; others need a logarithm, which is defined for positive bases
        # alone.
        if not isinstance(number, int | float) or not float(number).is_integer():
            help = "give a constant integer as the exponent, or write `math.exp2`"
            raise self.refuse("PL0172", f"{name} has an exponent that varies", operation, help)
        node, dtype = self.number_data(values[0], operation, written)
        if number < 0 and dtype in INTEGERS:
            help = "give an exponent from 0 on: the reciprocal of an integer is none"
            raise self.refuse("PL0172", f"{name} of an integer has a negative exponent", operation, help)
        given = Number(dtype, make.constant(int(number), node.ctype, self.span(operation)))
        return self.apply("pow", "", (values[0], given), operation, written)

    def population_count(self, name: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        del name
        found = self.apply("popcount", "u", values, operation, written)
        return self.convert_number(found, scalar_type(operation.results[0].type), "s", operation)

    def bitcast(self, name: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        del name
        node, dtype = self.number_data(values[0], operation, written)
        to = element_type(scalar_type(operation.results[0].type))
        names = {("f32", "i32"): "bits_i32", ("i32", "f32"): "bits_f32"}
        if to is not None and (dtype, to) in names:
            return self.apply(names[dtype, to], "", values, operation, written)
        if dtype == to:
            return Number(dtype, node, reads=values[0].reads)
        raise self.refuse("PL0172", f"arith.bitcast of {written}", operation, "bits are kept between f32 and i32")

    def copy_sign(self, name: str, values: Sequence[Number], operation: Operation, written: str) -> Number:
        """math.copysign of f32, on bits."""
        del name
        at, reads = self.span(operation), values[0].reads | values[1].reads
        if written != "f32":
            raise self.refuse("PL0172", f"math.copysign of {written}", operation, "use f32")
        bits = [self.apply("bits_i32", "", (v,), operation, written) for v in values]
        # IEEE 754-2019, section 5.5.1: copySign moves the sign bit, also of NaNs and zeros.
        masks = [Number("i32", make.constant(m, "int", at)) for m in (0x7FFFFFFF, -0x80000000)]
        parts = [self.apply("and", "", pair, operation, written) for pair in zip(bits, masks, strict=True)]
        found = self.apply("bits_f32", "", (self.apply("or", "", parts, operation, written),), operation, written)
        return Number("f32", found.data, reads=reads)


Special = Callable[[Integers, str, Sequence[Number], Operation, str], Number]
_SPECIAL: Final[dict[str, Special]] = {
    **dict.fromkeys(("arith.maximumf", "arith.minimumf"), Integers.floating_extreme),
    **dict.fromkeys(("arith.ceildivsi", "arith.ceildivui"), Integers.ceiling_division),
    **dict.fromkeys(("math.powf", "math.fpowi", "math.ipowi"), Integers.power),
    "math.rsqrt": Integers.reciprocal_root,
    **dict.fromkeys(EXPANDED, Integers.expand_function),
    "math.ctpop": Integers.population_count,
    "math.copysign": Integers.copy_sign,
    "arith.bitcast": Integers.bitcast,
    "arith.remf": Integers.remainder_of_floats,
}
