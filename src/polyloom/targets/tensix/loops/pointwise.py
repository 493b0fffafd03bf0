# SPDX-License-Identifier: Apache-2.0
"""Element-wise programs: each element of the result is one formula of elements of inputs at the same place.

Inputs may have some of the result's dimensions, in any order (they are spread before the run), or none: those are
scalars. The formula becomes a list of operations of vector kernels (`sfpi/operations.py`), without repetitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from polyloom.analysis.calls import calls
from polyloom.analysis.contraction import check_extents, dimensions_of, results
from polyloom.analysis.dataflow import Apply, Leaf, Number, Sum, Term, refuse
from polyloom.diagnostics import Span, input_error
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.ir.pla import Program
from polyloom.targets.tensix.loops.functions import FUNCTIONS, REGISTERS, bits_of
from polyloom.targets.tensix.loops.steps import ARRAYS, SCALARS, Goal, Pointwise, Source, Spread, Step

_CONDITIONS: Final = ("lt", "le", "eq", "ne", "ge", "gt")
_MIRRORED: Final = {"lt": "gt", "le": "ge", "eq": "eq", "ne": "ne", "ge": "le", "gt": "lt"}
_WHAT: Final = {
    "div": "divides",
    "floordiv": "divides",
    "rem": "takes remainders",
    "mod": "takes remainders",
    "sqrt": "takes square roots",
    "mul": "multiplies 32-bit integers",
    "madd": "multiplies 32-bit integers",
}


def pointwise(program: Program) -> Pointwise:
    """Errors: PL1230 for another form, PL1231 for an operation that a tile does not offer."""
    found = results(program)
    if not found:
        refuse(f"`{program.name}` has no result")
    (equation, written), *others = found
    if others:
        names = {e.target.name for e, _ in found}
        what = (
            f"are {len(names)} results" if len(names) > 1 else f"are {len(found)} equations of `{equation.target.name}`"
        )
        refuse(f"there {what}, and a tile computes one", others[0][0].span)
    out = dimensions_of(program, Leaf(equation.target.name, equation.target.index), equation)
    value = calls(written)
    leaves = list(dict.fromkeys(_leaves(value)))
    check_extents(program, equation, [leaf for leaf in leaves if leaf.index], None)
    types = {a.name: a.dtype for a in (*program.inputs, *program.outputs)}
    kinds = {types[equation.target.name], *(types[leaf.array] for leaf in leaves)}
    if len(kinds) != 1 or not kinds <= {"f32", "i32"}:
        help = "declare all arrays and scalars as f32, or as i32"
        raise input_error("PL1232", "an element-wise program on a tile is all f32 or all i32", help=help)
    dtype: ElementType = "f32" if kinds == {"f32"} else "i32"
    goal = Goal(equation.target.name, out, dtype, equation.span)
    return formula(goal, value, lambda leaf: dimensions_of(program, leaf, equation))


def formula(
    goal: Goal, value: Term, own: Callable[[Leaf], tuple[str, ...]], computed: frozenset[str] = frozenset()
) -> Pointwise:
    """One element is `value`. `own` gives the dimensions of a leaf; those without any are scalars, but for arrays that
    are `computed`. Errors: as above."""
    return _Maker(goal, own, computed).made(value)


def _leaves(term: Term) -> list[Leaf]:
    if isinstance(term, Leaf):
        return [term]
    return [leaf for operand in term.operands for leaf in _leaves(operand)] if isinstance(term, Apply) else []


class _Maker:
    """Makes steps of terms; equal terms once."""

    def __init__(self, goal: Goal, own: Callable[[Leaf], tuple[str, ...]], computed: frozenset[str]) -> None:
        self.goal, self.own, self.computed = goal, own, computed
        self.dtype: ElementType = goal.dtype
        self.arrays: list[Spread] = []
        self.scalars: list[str] = []
        self.steps: list[Step] = []
        self.known: dict[Term, Source] = {}
        self.uses: dict[Term, int] = {}
        self.needs: dict[Term, int] = {}
        self.span: Span | None = None

    def made(self, value: Term) -> Pointwise:
        self._count(value)
        found = self.source(value)
        self._check_room()
        steps = tuple(self.steps)
        goal = self.goal
        return Pointwise(goal.result, self.dtype, tuple(self.arrays), tuple(self.scalars), steps, found, goal.span)

    def _check_room(self) -> None:
        span = self.goal.span
        if len(self.arrays) > ARRAYS:
            refuse(f"there are {len(self.arrays)} arrays, and Dst has room for {ARRAYS} at a time", span)
        if len(self.scalars) > SCALARS:
            refuse(f"there are {len(self.scalars)} scalars, and {SCALARS} constant registers for them", span)

    def _count(self, term: Term) -> None:
        """How often each value is used, of equal ones once."""
        self.uses[term] = self.uses.get(term, 0) + 1
        if isinstance(term, Apply) and self.uses[term] == 1:
            for operand in term.operands:
                self._count(operand)

    def source(self, term: Term) -> Source:
        if term not in self.known:
            before = self.span
            self.span = (term.span if isinstance(term, Apply) else None) or before
            self.known[term] = self._made(term)
            self.span = before
        return self.known[term]

    def _sources(self, operands: Sequence[Term]) -> list[Source]:
        """In their order, but made from the one that needs most registers on, so that few are needed at once (Sethi,
        Ullman, JACM 17(4), 1970)."""
        for operand in sorted(operands, key=self._need, reverse=True):
            self.source(operand)
        return [self.source(operand) for operand in operands]

    def _need(self, term: Term) -> int:
        if term not in self.needs:
            parts = sorted(map(self._need, term.operands), reverse=True) if isinstance(term, Apply) else []
            own = REGISTERS if isinstance(term, Apply) and term.operation in FUNCTIONS else 1
            self.needs[term] = max([own, *(need + n for n, need in enumerate(parts))])
        return self.needs[term]

    def _made(self, term: Term) -> Source:
        match term:
            case Number(value):
                return "bits", bits_of(value) if self.dtype == "f32" else int(value) & 0xFFFFFFFF
            case Leaf():
                return self._input(term)
            case Apply():
                return self._applied(term)
            case Sum():
                return refuse(f"`{self.goal.result}` is computed from a sum, and is not the sum itself")

    def _input(self, leaf: Leaf) -> Source:
        if not leaf.index and leaf.array not in self.computed:
            self.scalars.append(leaf.array)
            return "scalar", len(self.scalars) - 1
        own = self.own(leaf)
        if not set(own) <= set(self.goal.out):
            refuse(f"`{leaf.array}` has a dimension that `{self.goal.result}` has not", self.goal.span)
        self.arrays.append(Spread(leaf.array, tuple(own.index(d) if d in own else -1 for d in self.goal.out)))
        return "array", len(self.arrays) - 1

    def _step(self, name: str, operands: Sequence[Source], *numbers: int) -> Source:
        self.steps.append(Step(name, tuple(operands), numbers, self.span))
        return "step", len(self.steps) - 1

    def _applied(self, term: Apply) -> Source:
        if term.operation == "select":
            return self._select(term)
        if self.dtype == "i32":
            return self._integer(term)
        if term.operation in ("add", "sub") and (fused := self._contracted(term)) is not None:
            return fused
        operands = self._sources(term.operands)
        match term.operation:
            case "add":
                return self._step("sfpadd", operands, 0)
            case "sub":
                return self._step("sfpsub", operands)
            case "mul":
                return self._step("sfpmul", operands, 0)
            case "madd":
                return self._step("sfpmad", operands, 0)
            case "neg":
                return self._step("sfpmov", operands, 1)
            case "abs":
                return self._step("sfpabs", operands, 1)
            case "min" | "max":
                return self._step("minimum" if term.operation == "min" else "maximum", operands)
            case name if name in FUNCTIONS:
                return self._step(name, operands)
            case _:
                return _lacks(term.operation, self.dtype, term.span)

    def _contracted(self, term: Apply) -> Source | None:
        """A product whose only use is this sum is part of it: one SFPMAD, its first factor or the other negated."""
        for position in (0, 1):
            product, other = term.operands[position], term.operands[1 - position]
            if not isinstance(product, Apply) or product.operation != "mul" or self.uses[product] != 1:
                continue
            a, b, c = self._sources((*product.operands, other))
            if term.operation == "sub":
                a, c = (a, self._step("sfpmov", [c], 1)) if position == 0 else (self._step("sfpmov", [a], 1), c)
            return self._step("sfpmad", [a, b, c], 0)
        return None

    def _integer(self, term: Apply) -> Source:
        operation = term.operation
        if operation in ("min", "max"):
            a, b = term.operands
            return self._select(Apply("select", (Apply("lt" if operation == "min" else "gt", (b, a)), b, a), term.span))
        operands = self._sources(term.operands)
        match operation:
            case "add":
                return self._step("sfpiadd_v", operands, 4)
            case "sub":
                return self._step("sfpiadd_v", operands[::-1], 6)
            case "neg":
                return self._step("sfpiadd_v", [*operands, ("bits", 0)], 6)
            case "and" | "or" | "xor":
                return self._step(f"sfp{operation}", operands)
            case "abs":
                return self._step("sfpabs", operands, 0)
            case _:
                return _lacks(operation, self.dtype, term.span)

    def _select(self, term: Apply) -> Source:
        condition, then, orelse = term.operands
        if not isinstance(condition, Apply) or condition.operation not in _CONDITIONS:
            refuse("a selection needs a comparison as its condition", term.span)
        name, (a, b) = condition.operation, condition.operands
        if isinstance(a, Number):  # the passes know a comparison with 0 by its right side
            name, a, b = _MIRRORED[name], b, a
        sources = self._sources((a, b, then, orelse))
        return self._step("select", sources, _CONDITIONS.index(name))


def _lacks(operation: str, dtype: ElementType, span: Span | None) -> Source:
    shown = BY_NAME[operation].symbol or operation
    message = f"no instruction of a tile {_WHAT.get(operation, 'does this')}: `{shown}` of {dtype}"
    if operation in _CONDITIONS:
        message = f"`{shown}` is a number here, and a tile compares only to choose"
    help = "use `select` on the comparison" if operation in _CONDITIONS else _instead(operation, dtype)
    raise input_error("PL1231", message, span=span, help=help)


def _instead(operation: str, dtype: ElementType) -> str:
    if dtype == "i32":
        return "use + - min max abs and or xor select"
    divides = operation == "div"
    return "multiply by the reciprocal, given as an input" if divides else "use + - * madd min max abs select"
