# SPDX-License-Identifier: Apache-2.0
"""Instruction selection for formulas: each element of the result is one formula of elements at the same place.

Inputs may have some of the result's dimensions, in any order (they are spread before the run), or none: those are
scalars. The formula becomes a list of operations of vector kernels (`source/operations.py`), with common subexpressions
computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from polyloom.analysis.dataflow import refuse
from polyloom.diagnostics import Span, input_error
from polyloom.ir.formula import Apply, Leaf, Number, Sum, Term, index_dimension
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.stage import Formula, Program
from polyloom.targets.tensix.map.loops.functions import FUNCTIONS, QUOTIENT, REGISTERS, float_bits
from polyloom.targets.tensix.map.loops.integers import selection as integer_selection
from polyloom.targets.tensix.map.loops.integers.operations import (
    INTEGER_REGISTERS,
    PRODUCT,
    SELECT_UNSIGNED,
)
from polyloom.targets.tensix.map.loops.steps import ARRAYS, SCALARS, Pointwise, Source, Spread, Step
from polyloom.transform.stages.integers.ranges import CARRIED
from polyloom.transform.stages.layout_assignment import leaf_axes

_CONDITIONS: Final = ("lt", "le", "eq", "ne", "ge", "gt")
_MIRRORED: Final = {"lt": "gt", "le": "ge", "eq": "eq", "ne": "ne", "ge": "le", "gt": "lt"}
_WHAT: Final = {
    "div": "divides",
    "floordiv": "divides",
    "rem": "takes remainders",
    "mod": "takes remainders",
}


def select_operations(stage: Formula, program: Program, arrays: int = ARRAYS) -> Pointwise:
    """Operations of a formula of so many arrays at most. Raises `Unlike` for elements at other places. Errors: PL1231
    for an operation that a tile does not offer.
    """
    return Selector(stage, program, arrays).made(stage.term)


class Selector:
    """Instruction selector; hash-consing of terms, so that equal ones are computed once."""

    def __init__(self, stage: Formula, program: Program, room: int = ARRAYS) -> None:
        self.stage, self.program, self.room, self.contracts = stage, program, room, True
        self.dtype: ElementType = program.types[stage.result]
        self.arrays: list[Spread] = []
        self.scalars: list[str] = []
        self.steps: list[Step] = []
        self.known: dict[Term, Source] = {}
        self.uses: dict[Term, int] = {}
        self.needs: dict[Term, int] = {}
        self.span: Span | None = None

    def made(self, value: Term) -> Pointwise:
        self._count_uses(value)
        found = self.source(value)
        self._check_room()
        arrays, scalars, steps, stage = tuple(self.arrays), tuple(self.scalars), tuple(self.steps), self.stage
        return Pointwise(stage.label, self.dtype, arrays, scalars, steps, found, stage.span)

    def _check_room(self) -> None:
        span = self.stage.span
        if len(self.arrays) > self.room:
            refuse(f"there are {len(self.arrays)} arrays, and Dst has room for {self.room} at a time", span)
        if len(self.scalars) > SCALARS:
            refuse(f"there are {len(self.scalars)} scalars, and {SCALARS} constant registers for them", span)

    def _count_uses(self, term: Term) -> None:
        """Use counts of each value, of equal ones once."""
        self.uses[term] = self.uses.get(term, 0) + 1
        if isinstance(term, Apply) and self.uses[term] == 1:
            for operand in term.operands:
                self._count_uses(operand)

    def source(self, term: Term) -> Source:
        if term not in self.known:
            # Operations without a place of their own are blamed on the expression around them.
            before = self.span
            self.span = (term.span if isinstance(term, Apply) else None) or before
            self.known[term] = self._select_term(term)
            self.span = before
        return self.known[term]

    def _sources(self, operands: Sequence[Term]) -> list[Source]:
        """Operands in their order, but computed from the one that needs most registers on, so that few are needed at
        once (Sethi and Ullman, JACM 17(4), 1970).
        """
        for operand in sorted(operands, key=self._register_need, reverse=True):
            self.source(operand)
        return [self.source(operand) for operand in operands]

    def _register_need(self, term: Term) -> int:
        """Sethi-Ullman number: registers that a term needs (1970); a library function needs its own besides."""
        if term not in self.needs:
            parts = sorted(map(self._register_need, term.operands), reverse=True) if isinstance(term, Apply) else []
            own = self._own_registers(term)
            self.needs[term] = max([own, *(need + n for n, need in enumerate(parts))])
        return self.needs[term]

    def _own_registers(self, term: Term) -> int:
        """Registers of an operation itself."""
        if not isinstance(term, Apply):
            return 1
        if self.dtype == "i32":
            return INTEGER_REGISTERS if term.operation in ("mul", "madd") else 1
        return REGISTERS if term.operation in (*FUNCTIONS, QUOTIENT) else 1

    def _select_term(self, term: Term) -> Source:
        match term:
            case Number(value):
                return "bits", float_bits(value) if self.dtype == "f32" else int(value) & 0xFFFFFFFF
            case Leaf():
                return self._input(term)
            case Apply():
                return self._select_operation(term)
            case Sum():
                raise AssertionError("stages are without sums")

    def _input(self, leaf: Leaf) -> Source:
        # A scalar that another stage computes lies in a tile, and is broadcast like an array.
        if not leaf.index and leaf.array not in self.program.computed:
            self.scalars.append(leaf.array)
            return "scalar", len(self.scalars) - 1
        self._check_element(leaf)
        self.arrays.append(Spread(leaf.array, leaf_axes(leaf, self.stage.dims)))
        return "array", len(self.arrays) - 1

    def _check_element(self, leaf: Leaf) -> None:
        """Check that all of an array is read, each dimension by one loop."""
        stage, shapes, label = self.stage, self.program.shapes, self.program.array_label(leaf.array)
        own = tuple(map(index_dimension, leaf.index))
        if len({*own}) != len(own) or "" in own or leaf.padded:
            at = ", ".join(map(str, leaf.index))
            refuse(f"`{label}[{at}]` is not indexed by one loop in each place", stage.span)
        if not {*own} <= {*stage.dims}:
            refuse(f"`{label}` has a dimension that `{stage.label}` has not", stage.span)
        extents = dict(zip(stage.dims, shapes[stage.result], strict=True))
        for name, extent in zip(own, shapes[leaf.array], strict=True):
            if extents[name] != extent:
                refuse(f"{name} runs over {extents[name]} of the {extent} elements of `{label}`", stage.span)

    def _step(self, name: str, operands: Sequence[Source], *numbers: int, is_fused: bool = False) -> Source:
        self.steps.append(Step(name, tuple(operands), numbers, self.span, is_fused))
        return "step", len(self.steps) - 1

    def _select_operation(self, term: Apply) -> Source:
        if term.operation == "select":
            return self._select(term)
        if self.dtype == "i32":
            return self._select_integer(term)
        if self.contracts and term.operation in ("add", "sub") and (fused := self._contract(term)) is not None:
            return fused
        if (rounding := _rounding(term)) is not None:
            name, operand = rounding
            return self._step(name, self._sources([operand]))
        operands = self._sources(term.operands)
        match term.operation:
            case "add":
                return self._step("sfpadd", operands, 0)
            case "sub":
                return self._step("sfpsub", operands)
            case "mul":
                return self._step("sfpmul", operands, 0)
            case "madd":
                return self._step("sfpmad", operands, 0, is_fused=True)
            case "neg":
                return self._step("sfpmov", operands, 1)
            case "abs":
                return self._step("sfpabs", operands, 1)
            case "min" | "max":
                return self._step("minimum" if term.operation == "min" else "maximum", operands)
            case name if name in (*FUNCTIONS, QUOTIENT):
                return self._step(name, operands)
            case _:
                return _refuse_operation(term.operation, self.dtype, term.span)

    def _contract(self, term: Apply) -> Source | None:
        """Contraction: a product whose only use is this sum is part of it, one SFPMAD, its first factor or the other
        negated.
        """
        # The left product is preferred, as in the contraction of vector kernels.
        for position in (0, 1):
            product, other = term.operands[position], term.operands[1 - position]
            if not isinstance(product, Apply) or product.operation != "mul" or self.uses[product] != 1:
                continue
            a, b, c = self._sources((*product.operands, other))
            if term.operation == "sub":
                a, c = (a, self._step("sfpmov", [c], 1)) if position == 0 else (self._step("sfpmov", [a], 1), c)
            return self._step("sfpmad", [a, b, c], 0)
        return None

    def _select_integer(self, term: Apply) -> Source:
        operation = term.operation
        if operation in _CONDITIONS:
            return self._select(Apply("select", (term, Number(1), Number(0)), term.span))
        if operation in ("min", "max"):
            a, b = term.operands
            # SFPSWAP orders by sign and magnitude, which is not the order of two's complement.
            return self._select(Apply("select", (Apply("lt" if operation == "min" else "gt", (b, a)), b, a), term.span))
        operands = self._sources(term.operands)
        match operation:
            case "add":
                return self._step("sfpiadd_v", operands, 4)
            case "sub":
                # SFPIADD with mode 2 computes VC - VD, so the operands are exchanged.
                return self._step("sfpiadd_v", operands[::-1], 6)
            case "neg":
                return self._step("sfpiadd_v", [*operands, ("bits", 0)], 6)
            case "and" | "or" | "xor":
                return self._step(f"sfp{operation}", operands)
            case "abs":
                return self._step("sfpabs", operands, 0)
            case "mul":
                return self._step(PRODUCT, operands)
            case "madd":
                return self._step("sfpiadd_v", [self._step(PRODUCT, operands[:2]), operands[2]], 4)
            case "move":
                return operands[0]
            case "shl" | "shr":
                return integer_selection.shift(self._step, operation, *operands)
            case "div" | "rem" if (by := integer_selection.power_of_two(operands[1])) is not None:
                return integer_selection.divide_by_power(self._step, operation, operands[0], by)
            case _:
                return _refuse_operation(operation, self.dtype, term.span)

    def _select(self, term: Apply) -> Source:
        condition, then, orelse = term.operands
        if not isinstance(condition, Apply) or condition.operation not in _CONDITIONS:
            if self.dtype != "i32":
                refuse("a selection needs a comparison as its condition", term.span)
            condition = Apply("ne", (condition, Number(0)), term.span)
        name, (a, b) = condition.operation, condition.operands
        if isinstance(a, Number):  # the passes know a comparison with 0 by its right side
            name, a, b = _MIRRORED[name], b, a
        sources = self._sources((a, b, then, orelse))
        # Equality and signs need no order; of others, the difference could wrap.
        if self.dtype == "f32" or name in ("eq", "ne") or sources[1] == ("bits", 0):
            return self._step("select", sources, _CONDITIONS.index(name))
        left, right, *values = sources
        biased = [integer_selection.invert_order(self._step, side) for side in (left, right)]
        return self._step(SELECT_UNSIGNED, [*biased, *values], _CONDITIONS.index(name))


def _rounding(term: Apply) -> tuple[str, Term] | None:
    """Rounding of `ROUNDINGS` that a term is, and of what: `rint`, or a conversion to an integer type and back."""
    if term.operation == "rint":
        return "rint", term.operands[0]
    (inner, *rest) = term.operands
    if term.operation != "to_f32" or rest or not isinstance(inner, Apply):
        return None
    kind = inner.operation.removeprefix("to_")
    if kind not in CARRIED:
        return None
    (operand,) = inner.operands
    if isinstance(operand, Apply) and operand.operation == "rint":
        return f"round_{kind}", operand.operands[0]
    return f"truncate_{kind}", operand


def _refuse_operation(operation: str, dtype: ElementType, span: Span | None) -> Source:
    shown = BY_NAME[operation].symbol or operation
    message = f"no instruction of a tile {_WHAT.get(operation, 'does this')}: `{shown}` of {dtype}"
    if operation in _CONDITIONS:
        message = f"`{shown}` is a number here, and a tile compares only to choose"
    help = "use `select` on the comparison" if operation in _CONDITIONS else _suggest_operations(operation, dtype)
    raise input_error("PL1231", message, span=span, help=help)


def _suggest_operations(operation: str, dtype: ElementType) -> str:
    if dtype == "i32":
        return "use + - * min max abs and or xor shl shr select, and / and % by powers of two"
    return "use + - * / madd min max abs sqrt select"
