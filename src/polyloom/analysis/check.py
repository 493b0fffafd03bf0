# SPDX-License-Identifier: Apache-2.0
"""What must hold for all parameter values, decided by isl; each failure comes with a smallest counterexample.

Section 4 of the paper: every used instance is defined, none twice. Further: spaces are bounded, arrays are indexed
inside their shape, output elements are written once, and no instance depends on itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement

import islpy as isl

from polyloom.analysis.cycles import dependences, suspicious, zero_cycle
from polyloom.diagnostics import Diagnostic, enforce
from polyloom.ir.pla import Array, Equation, Program, Reference
from polyloom.ir.pla_verify import verify
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import is_empty, parameter_set, sample, to_set, translate


def check(program: Program) -> None:
    """Well-formedness of a program for all parameter values (array paper, section 4). Raises every failure of the first
    rule that fails, those of `ir.pla_verify` first.
    """
    verify(program)
    enforce(RULES, _Context.from_program(program))


@dataclass(frozen=True, slots=True)
class _Context:
    """A program with its sets: `domain` of the parameters, `points[n]` the condition space of equation n."""

    program: Program
    domain: isl.Set
    points: tuple[isl.Set, ...]
    defining: dict[str, list[int]]

    @staticmethod
    def from_program(program: Program) -> _Context:
        domain = parameter_set(program.assumptions, program.parameters)
        distinct = {
            # Many equations share a condition; converting each condition once is what keeps the check of large programs
            # quick.
            c: to_set(c, program.dimensions, program.parameters).intersect_params(domain)
            for c in {e.condition for e in program.equations}
        }
        defining: dict[str, list[int]] = {}
        for n, e in enumerate(program.equations):
            defining.setdefault(e.target.name, []).append(n)
        return _Context(program, domain, tuple(distinct[e.condition] for e in program.equations), defining)

    def definers(self, name: str) -> list[int]:
        return self.defining.get(name, [])

    def parameter_words(self, point: Mapping[str, int]) -> str:
        """` when N = 4`, or nothing for a program without parameters."""
        values = ", ".join(f"{name} = {point[name]}" for name in self.program.parameters)
        return f" when {values}" if values else ""

    def iteration_words(self, point: Mapping[str, int]) -> str:
        """Place of a failure in words: `at i = 3, j = 0 when N = 4`."""
        place = ", ".join(f"{name} = {point[name]}" for name in self.program.dimensions)
        return f"at {place}{self.parameter_words(point)}"


def domain_is_not_empty(context: _Context) -> Iterator[Diagnostic]:
    """Rule PL0224: some parameter values satisfy the assumptions; else every other rule would hold of nothing."""
    if is_empty(context.domain):
        yield Diagnostic(
            "PL0224", "no parameter values satisfy the parameters' domain", help="remove one of its inequalities"
        )


def shapes_are_not_negative(context: _Context) -> Iterator[Diagnostic]:
    """Rule PL0223: extents of arrays are at least 0 for all parameter values."""
    for array in (*context.program.inputs, *context.program.outputs):
        for extent in array.shape:
            # extent < 0 over the integers is -extent - 1 >= 0.
            bad = parameter_set(Condition((Polyhedron((-extent + -1,)),)), context.program.parameters).intersect(
                context.domain
            )
            point = sample(bad)
            if point is not None:
                message = (
                    f"`{array.name}` has the extent {extent} = {extent.evaluate(point)}{context.parameter_words(point)}"
                )
                yield Diagnostic("PL0223", message, span=array.span, help=f"require {extent} >= 0 in `parameter`")


def spaces_are_bounded(context: _Context) -> Iterator[Diagnostic]:
    """Rule PL0215: every condition space is bounded in every dimension, so that a program ends."""
    program = context.program
    # Backwards, so that the first equation with an unbounded dimension is the one that is kept for its message.
    unbounded = {
        dim: equation
        for equation, points in zip(reversed(program.equations), reversed(context.points), strict=True)
        for position, dim in enumerate(program.dimensions)
        # isl calls an empty set unbounded in a dimension that no constraint mentions.
        if not points.is_empty() and not points.dim_is_bounded(isl.dim_type.set, position)
    }
    for dim in program.dimensions:
        if dim in unbounded:
            help = (
                f"bound it on both sides, as in `0 <= {dim} < N`; a name that is not declared as a parameter is a "
                "dimension"
            )
            yield Diagnostic("PL0215", f"the dimension `{dim}` is unbounded", span=unbounded[dim].span, help=help)


def subscripts_in_bounds(context: _Context) -> Iterator[Diagnostic]:
    """Rule PL0221: array bounds; each access is inside the array's shape at every iteration of its equation."""
    arrays = {a.name: a for a in (*context.program.inputs, *context.program.outputs)}
    for equation, points in zip(context.program.equations, context.points, strict=True):
        for reference in _references(equation):
            if reference.name in arrays:
                yield from _bound_violations(context, equation, points, reference, arrays[reference.name])


def _bound_violations(
    context: _Context, equation: Equation, points: isl.Set, reference: Reference, array: Array
) -> Iterator[Diagnostic]:
    """Counterexample to the bounds of one access, the smallest point outside; nothing where there is none."""
    bounds = [
        b for index, extent in zip(reference.index, array.shape, strict=True) for b in (-index + -1, index - extent)
    ]
    # A disjunction: the access is wrong as soon as one subscript is below 0 or at its extent.
    outside = Condition(tuple(Polyhedron((b,)) for b in bounds))
    point = (
        sample(points.intersect(to_set(outside, context.program.dimensions, context.program.parameters)))
        if bounds
        else None
    )
    if point is not None:
        shape = f"[{', '.join(str(e.evaluate(point)) for e in array.shape)}]"
        message = (
            f"{equation.name} accesses {_element(reference, point)} outside `{array.name}`, whose shape is "
            f"{shape}{context.parameter_words(point)}"
        )
        help = f"restrict {equation.name} by an `if`, or declare a larger `{array.name}`"
        yield Diagnostic(
            "PL0221", message, span=reference.span, notes=(f"{context.iteration_words(point)}",), help=help
        )


def used_instances_are_defined(context: _Context) -> Iterator[Diagnostic]:
    """Rule PL0218: each use of a variable is defined, "every used instance is defined" (array paper, section 4)."""
    program, internal = context.program, {v.name for v in context.program.variables}
    defined = {name: _union([context.points[n] for n in context.definers(name)]) for name in internal}
    for equation, points in zip(program.equations, context.points, strict=True):
        for operand in equation.operands:
            if not isinstance(operand, Reference) or operand.name not in internal:
                continue
            # x[I - d] is defined where I - d is in the union of the conditions of x; what is left of the user's own is
            # undefined.
            point = sample(points.subtract(translate(defined[operand.name], program.distance(operand))))
            if point is not None:
                message = (
                    f"{_element(operand, point)}, which {equation.name} uses, is defined by no "
                    f"equation{context.parameter_words(point)}"
                )
                help = f"add an equation for `{operand.name}`, or restrict {equation.name} by an `if`"
                yield Diagnostic(
                    "PL0218", message, span=operand.span, notes=(f"used {context.iteration_words(point)}",), help=help
                )


def check_single_assignment(context: _Context) -> Iterator[Diagnostic]:
    """Rule PL0219: single assignment; conditions of two equations of one variable exclude each other (array paper,
    section 4).
    """
    for variable in context.program.variables:
        for a, b in combinations(context.definers(variable.name), 2):
            point = sample(context.points[a].intersect(context.points[b]))
            if point is not None:
                first, second = context.program.equations[a], context.program.equations[b]
                message = (
                    f"{_element(first.target, point)} is defined by {first.name} and by "
                    f"{second.name}{context.parameter_words(point)}"
                )
                yield Diagnostic("PL0219", message, span=second.span, help="make their conditions exclude each other")


def check_single_writes(context: _Context) -> Iterator[Diagnostic]:
    """Rule PL0220: each element of an output is written once, by one equation at one iteration."""
    for output in context.program.outputs:
        for a, b in combinations_with_replacement(context.definers(output.name), 2):
            point = sample(_collisions(context, a, b))
            if point is None:
                continue
            first, second = context.program.equations[a], context.program.equations[b]
            element = f"{_element(first.target, point)} is written by {first.name}"
            # One equation at two iterations: both are shown, the second one with primed dimensions.
            if a == b:
                dims = context.program.dimensions
                ways = " and at ".join(", ".join(f"{d} = {point[d + prime]}" for d in dims) for prime in ("", "'"))
                message = f"{element} at {ways}{context.parameter_words(point)}"
            else:
                message = f"{element} and by {second.name}{context.parameter_words(point)}"
            yield Diagnostic(
                "PL0220", message, span=second.span, help="restrict the equations so that each element is written once"
            )


def _collisions(context: _Context, a: int, b: int) -> isl.Set:
    """Pairs of iterations (I, I') at which equations a and b write one element; where a is b, I comes first."""
    program = context.program
    dims, primed = program.dimensions, {d: Affine.symbol(d + "'") for d in program.dimensions}
    both = (*dims, *(d + "'" for d in dims))
    left, right = program.equations[a], program.equations[b]
    same = [i - j.substitute(primed) for i, j in zip(left.target.index, right.target.index, strict=True)]
    # For one equation "lexicographically first" is a union over the first dimension m in which I and I' differ: equal
    # before m, and I'[m] >= I[m] + 1. Without it every iteration would collide with itself.
    orders = (
        [()]
        if a != b
        else [(*_equality_constraints(dims[:m], primed), primed[d] - Affine.symbol(d) + -1) for m, d in enumerate(dims)]
    )
    pieces = [
        Polyhedron((*p.constraints, *(c.substitute(primed) for c in q.constraints), *same, *(-s for s in same), *order))
        for p in left.condition.pieces
        for q in right.condition.pieces
        for order in orders
    ]
    return to_set(Condition(tuple(pieces)), both, program.parameters).intersect_params(context.domain)


def _equality_constraints(dims: Sequence[str], primed: Mapping[str, Affine]) -> Iterator[Affine]:
    """Equality of primed and plain dimensions as pairs of inequalities."""
    for dim in dims:
        yield primed[dim] - Affine.symbol(dim)
        yield Affine.symbol(dim) - primed[dim]


def check_acyclic(context: _Context) -> Iterator[Diagnostic]:
    """Rule PL0222: no dependence cycle of total distance zero, so a schedule exists (Karp, Miller, Winograd 1967)."""
    for edges in suspicious(dependences(context.program)):
        cycle = zero_cycle(edges, context.points)
        point = sample(cycle[1]) if cycle is not None else None
        if cycle is None or point is None:
            continue
        equations = [context.program.equations[n] for n in cycle[0]]
        message = f"{_element(equations[0].target, point)} depends on itself{context.parameter_words(point)}"
        note = f"by way of {' <- '.join(e.name for e in equations)}"
        yield Diagnostic(
            "PL0222",
            message,
            span=equations[0].span,
            notes=(note,),
            help="use the value of an earlier iteration, such as x[i-1]",
        )


Rule = Callable[[_Context], Iterator[Diagnostic]]
RULES: tuple[Rule, ...] = (
    domain_is_not_empty,
    shapes_are_not_negative,
    spaces_are_bounded,
    subscripts_in_bounds,
    used_instances_are_defined,
    check_single_assignment,
    check_single_writes,
    check_acyclic,
)


def _references(equation: Equation) -> list[Reference]:
    return [equation.target, *(o for o in equation.operands if isinstance(o, Reference))]


def _element(reference: Reference, point: Mapping[str, int]) -> str:
    """Element of a reference at a point, in the syntax of the source: `x[3, 0]`."""
    return f"{reference.name}[{', '.join(str(a.evaluate(point)) for a in reference.index)}]"


def _union(sets: Sequence[isl.Set]) -> isl.Set:
    result = sets[0]
    for other in sets[1:]:
        result = result.union(other)
    # Fewer basic sets make the subtraction that follows much cheaper; the meaning does not change.
    return result.coalesce()
