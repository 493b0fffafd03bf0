# SPDX-License-Identifier: Apache-2.0
"""Type inference: element types of internal variables and constants, by unification (Milner 1978).

All operands of an operation have one type, which is also its result's; a comparison gives i32 and the first operand of
`select` is i32 (ir/operations.py). A constant takes the type of its neighbours; where nothing decides, it is i32, or
f32 when written with a point or an exponent.
"""

from __future__ import annotations

from typing import Final

from polyloom.diagnostics import Diagnostic, PolyloomError, Span, input_error
from polyloom.frontend.pla.lower import RawEquation, RawProgram
from polyloom.frontend.pla.syntax import Number
from polyloom.ir.numbers import element_constant, type_limits
from polyloom.ir.operations import ALL_TYPES, BY_NAME, ElementType
from polyloom.ir.pla import Constant, Equation, Operand, Program, Reference, Variable
from polyloom.names import hidden_name

Slot = str | tuple[str, int]
"""A variable or array by name, or operand number n of an equation."""
_FIXED: Final[dict[ElementType, str]] = {t: hidden_name(t) for t in ALL_TYPES}
"""What has such a type in every program: the result of a comparison has that of i32."""
_I32: Final = _FIXED["i32"]


class _Types:
    """Union-find over slots (Tarjan 1975): disjoint sets; a set's representative knows its type once something decides
    it."""

    def __init__(self, known: dict[Slot, ElementType]) -> None:
        self.parent: dict[Slot, Slot] = {}
        self.known = dict(known)

    def find(self, slot: Slot) -> Slot:
        """Representative of a slot, with path halving (Tarjan and van Leeuwen 1984)."""
        while slot in self.parent:
            above = self.parent[slot]
            self.parent[slot] = self.parent.get(
                above, above
            )  # paths are halved, or a long chain of equations would be walked from every one
            slot = above
        return slot

    def known_type(self, slot: Slot) -> ElementType | None:
        return self.known.get(self.find(slot))

    def unify(self, a: Slot, b: Slot) -> bool:
        """Unify two slots: whether `a` and `b` can have one type; from now on they have."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return True
        left, right = self.known.get(a), self.known.get(b)
        self.parent[b] = a
        if left is None and right is not None:
            self.known[a] = right
        return left is None or right is None or left == right

    def default(self, slot: Slot, dtype: ElementType) -> None:
        self.known.setdefault(self.find(slot), dtype)


def infer(name: str, raw: RawProgram) -> Program:
    """Infer the type of every variable and constant; raises PL0207 to PL0209."""
    known = dict[Slot, ElementType]((name, dtype) for dtype, name in _FIXED.items())
    known.update({a.name: a.dtype for a in (*raw.inputs, *raw.outputs)})
    known.update({n: dtype for n, (dtype, _) in raw.declared.items()})
    types = _Types(known)
    errors = [error for equation in raw.equations for error in _constrain(types, equation)]
    if errors:
        raise PolyloomError(*errors)
    literals: list[tuple[Slot, Number]] = [
        ((e.name, n), o) for e in raw.equations for n, o in enumerate(e.operands) if isinstance(o, Number)
    ]
    # Floats first: where `1` and `1.5` meet in one set, the set is f32.
    for slot, literal in sorted(literals, key=lambda item: isinstance(item[1].value, int)):
        types.default(slot, "i32" if isinstance(literal.value, int) else "f32")
    external = {a.name for a in (*raw.inputs, *raw.outputs)}
    spans = {name: span for name, (_, span) in raw.declared.items()}
    for equation in raw.equations:
        if equation.target.name not in external and equation.target.span is not None:
            # A variable without a declaration is shown at its first equation.
            spans.setdefault(equation.target.name, equation.target.span)
    return Program(
        name,
        raw.parameters,
        raw.assumptions,
        raw.dimensions,
        raw.space,
        raw.inputs,
        raw.outputs,
        tuple(Variable(n, _require_type(types, n, span), span) for n, span in spans.items()),
        tuple(_type_equation(types, equation) for equation in raw.equations),
    )


def _constrain(types: _Types, equation: RawEquation) -> list[Diagnostic]:
    """Constraints of an equation, unified; PL0208 for each that fails."""
    slots = [_slot(equation, n) for n in range(len(equation.operands))]
    last = slots[-1]
    # The last operand stands for all: the first one of a select is its condition.
    pairs = [(slot, last) for slot in slots[:-1]]
    if equation.operation == "select":
        # A condition is an i32 whatever its arms are.
        pairs[0] = (slots[0], _I32)
    operation = BY_NAME[equation.operation]
    result = "i32" if operation.compares else operation.gives
    pairs.append((equation.target.name, last if result is None else _FIXED[result]))
    # An operation that takes one type alone decides its operands.
    if operation.gives is not None and len(operation.types) == 1:
        pairs.append((last, _FIXED[operation.types[0]]))
    return [
        _mismatch_error(equation, a, b, before)
        for a, b in pairs
        if (before := (types.known_type(a), types.known_type(b))) and not types.unify(a, b)
    ]


def _mismatch_error(
    equation: RawEquation, a: Slot, b: Slot, dtypes: tuple[ElementType | None, ElementType | None]
) -> Diagnostic:
    left, right = (_describe(slot, dtype) for slot, dtype in zip((a, b), dtypes, strict=True))
    help = "all operands and the result of an operation have one type; `to_i32(x)`, `to_f32(x)` and so on convert"
    if equation.operation == "select" and b == _I32:
        help = "the first operand of select is i32, such as the result of a comparison"
    return Diagnostic("PL0208", f"{equation.operation} mixes {left} and {right}", span=equation.span, help=help)


def _describe(slot: Slot, dtype: ElementType | None) -> str:
    return (
        f"`{slot}` ({dtype})" if isinstance(slot, str) and slot not in _FIXED.values() else f"a value of type {dtype}"
    )


def _slot(equation: RawEquation, position: int) -> Slot:
    """Slot of an operand. A constant is a slot of its own: the same number may have two types in two places."""
    operand = equation.operands[position]
    return operand.name if isinstance(operand, Reference) else (equation.name, position)


def _require_type(types: _Types, name: str, span: Span) -> ElementType:
    """Type that the constraints decide for a name; PL0209 where none does."""
    dtype = types.known_type(name)
    if dtype is None:
        raise input_error(
            "PL0209", f"nothing decides the type of `{name}`", span=span, help=f"declare it: `variable {name}: i32`"
        )
    return dtype


def _type_equation(types: _Types, equation: RawEquation) -> Equation:
    """Equation with the types of its operands; PL0207, PL0209."""
    operands: list[Operand] = []
    dtype: ElementType = "i32"
    for n, operand in enumerate(equation.operands):
        dtype = (
            _require_type(types, operand.name, equation.span)
            if isinstance(operand, Reference)
            else types.known_type((equation.name, n)) or "i32"
        )
        operands.append(operand if isinstance(operand, Reference) else _type_constant(operand, dtype))
    return Equation(
        equation.name, equation.target, equation.operation, dtype, tuple(operands), equation.condition, equation.span
    )


def _type_constant(number: Number, dtype: ElementType) -> Constant:
    """Constant in its type; PL0207 where the type does not hold it."""
    value = element_constant(number.value, dtype)
    if value is None:
        raise input_error(
            "PL0207", f"{number.value} is not a value of type {dtype}", span=number.span, help=_range(dtype)
        )
    return Constant(value, dtype, number.span)


def _range(dtype: ElementType) -> str:
    bounds = type_limits(dtype)
    if bounds is not None:
        return f"write an integer from {bounds[0]} to {bounds[1]}"
    return f"write a number of magnitude below {_LARGEST[dtype]}, or `inf`"


_LARGEST: Final[dict[ElementType, str]] = {"f16": "65520", "f32": "3.4e38", "f64": "1.8e308"}
