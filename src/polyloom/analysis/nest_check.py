# SPDX-License-Identifier: Apache-2.0
"""What must hold of a nest for all parameter values, decided by isl; each failure comes with a smallest counterexample.

Subscripts are inside the shape wherever the access is executed, extents are not negative, and something is computed.
Of what depends on data nothing is known: conditions on data may hold, and subscripts of data are not checked.
That every value was written before it is read is found by the dataflow (`transform.dataflow`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, replace

import islpy as isl

from polyloom.diagnostics import Diagnostic, PolyloomError, enforce
from polyloom.ir.nest import Nest, Statement, accesses, data_symbols, statements
from polyloom.ir.nest_verify import verify
from polyloom.ir.pla import Reference
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import is_empty, parameter_set, sample, to_set
from polyloom.sets.normal_form import conjunction

FEW = 9
"""Above this, a least size is not asked for."""


def check(nest: Nest) -> None:
    """Raise every failure of the first rule that fails: those of `ir.nest_verify`, PL0224, PL0223, PL0242, PL0240."""
    verify(nest)
    enforce(RULES, _context(nest))


def check_with_least_sizes(nest: Nest) -> Nest:
    """The nest, which passes `check`, perhaps with least sizes: where accesses leave their arrays for a few smallest
    values of one parameter only, as in `best = x[0]` for no elements, whoever wrote it meant larger ones."""
    try:
        check(nest)
    except PolyloomError as error:
        if any(d.code != "PL0240" for d in error.diagnostics):
            raise
        sized = _with_least_sizes(nest)
        if sized == nest:
            raise
        check(sized)
        return sized
    return nest


def _with_least_sizes(nest: Nest) -> Nest:
    context = _context(nest)
    least = dict[str, int]()
    for statement in context.statements:
        points = context.points(statement)
        for reference in (*accesses(statement.assign.value), statement.assign.target):
            for index, extent in context.affine_subscripts(reference):
                outside = points.intersect(_bounds_violation(index, extent, statement, nest))
                found = None if outside.is_empty() else _sufficient_size(context, outside)
                if found is not None:
                    # Several accesses may ask for the same parameter: the largest least size holds for all.
                    least[found[0]] = max(found[1], least.get(found[0], 0))
    known = Condition((Polyhedron(tuple([Affine.symbol(name) - size for name, size in least.items()])),))
    return replace(nest, assumptions=conjunction(nest.assumptions, known)) if least else nest


def _bounds_violation(index: Affine, extent: Affine, statement: Statement, nest: Nest) -> isl.Set:
    """Where a subscript is outside."""
    return to_set(_disjunction([-index - 1, index - extent]), statement.loops, nest.parameters)


@dataclass(frozen=True, slots=True)
class _Context:
    nest: Nest
    domain: isl.Set
    statements: tuple[Statement, ...]
    unknown: frozenset[str]
    """Symbols that are data, and loops that data bound."""

    def affine_subscripts(self, reference: Reference) -> Iterator[tuple[Affine, Affine]]:
        """The subscripts that do not depend on data, with their extents."""
        for index, extent in zip(reference.index, self.nest[reference.name].shape, strict=True):
            if not index.symbols & self.unknown:
                yield index, extent

    def points(self, statement: Statement) -> isl.Set:
        """The instances of a statement for the parameter values that are known to hold."""
        return to_set(statement.domain, statement.loops, self.nest.parameters).intersect_params(self.domain)

    def parameter_words(self, point: Mapping[str, int], loops: tuple[str, ...] = ()) -> str:
        """` when N = 4, i = 3`, or nothing where there is nothing to choose."""
        values = ", ".join(f"{name} = {point[name]}" for name in (*self.nest.parameters, *loops))
        return f" when {values}" if values else ""


def _context(nest: Nest) -> _Context:
    found, scalars = statements(nest), data_symbols(nest)
    unknown = set(scalars)
    for statement in found:
        for piece in statement.domain.pieces:
            unknown.update(_data_bounded_loops(unknown, piece, statement.loops))
    known = tuple(replace(s, domain=_drop_data_constraints(s.domain, scalars)) for s in found) if scalars else found
    return _Context(nest, parameter_set(nest.assumptions, nest.parameters), known, frozenset(unknown))


def _data_bounded_loops(unknown: Set[str], piece: Polyhedron, loops: tuple[str, ...]) -> frozenset[str]:
    """The loops that these symbols bound: each constraint is one on its innermost loop."""
    found = set[str]()
    for depth, loop in enumerate(loops):
        inner = frozenset(loops[depth + 1 :])
        own = (c.symbols for c in piece.constraints if loop in c.symbols and not c.symbols & inner)
        if any(symbols & (unknown | found) - {loop} for symbols in own):
            found.add(loop)
    return frozenset(found)


def _drop_data_constraints(domain: Condition, scalars: frozenset[str]) -> Condition:
    """Without the constraints on data, as if they held."""
    return Condition(
        # Fewer constraints, more points: the check errs towards refusing.
        tuple(Polyhedron(tuple(c for c in p.constraints if not c.symbols & scalars)) for p in domain.pieces)
    )


def domain_is_not_empty(context: _Context) -> Iterator[Diagnostic]:
    """Rule PL0224: some parameter values satisfy what is assumed of them."""
    if is_empty(context.domain):
        yield Diagnostic(
            "PL0224",
            "no parameter values satisfy what is known of them",
            span=context.nest.span,
            help="remove one of the contradictions",
        )


def shapes_are_not_negative(context: _Context) -> Iterator[Diagnostic]:
    """Rule PL0223: extents of arrays are at least 0 for all parameter values."""
    nest = context.nest
    for storage in nest.storage:
        for extent in storage.shape:
            point = sample(parameter_set(_disjunction([-extent - 1]), nest.parameters).intersect(context.domain))
            if point is not None:
                size = f"{extent} = {extent.evaluate(point)}"
                message = f"`{storage.name}` has the extent {size}{context.parameter_words(point)}"
                yield Diagnostic(
                    "PL0223",
                    message,
                    span=storage.span,
                    help=f"declare an extent that is never negative, such as {extent - extent.constant}",
                )


def check_has_effect(context: _Context) -> Iterator[Diagnostic]:
    """Rule PL0242: some argument is assigned to, for some parameter values."""
    arguments = [s.name for s in context.nest.storage if s.role == "argument"]
    writers = [s for s in context.statements if s.assign.target.name in arguments]
    if all(context.points(s).is_empty() for s in writers):
        what = (
            "none of its assignments to an argument is ever executed"
            if writers
            else "it assigns to none of its arguments"
        )
        message = f"`{context.nest.name}` computes nothing: {what}"
        yield Diagnostic(
            "PL0242",
            message,
            span=context.nest.span,
            help="assign results to the elements of an array that is an argument",
        )


def check_bounds(context: _Context) -> Iterator[Diagnostic]:
    """Rule PL0240: array bounds of every access, at all iterations that execute it."""
    for statement in context.statements:
        points = context.points(statement)
        # An element that a statement reads twice is reported once.
        distinct = {(r.name, r.index): r for r in (*accesses(statement.assign.value), statement.assign.target)}
        for reference in distinct.values():
            yield from _bound_violations(context, statement, reference, points)


def _bound_violations(
    context: _Context, statement: Statement, reference: Reference, points: isl.Set
) -> Iterator[Diagnostic]:
    shape = context.nest[reference.name].shape
    for index, extent in context.affine_subscripts(reference):
        outside = points.intersect(_bounds_violation(index, extent, statement, context.nest))
        point = sample(outside)
        if point is not None:
            size = " x ".join(str(e.evaluate(point)) for e in shape)
            at = (str(a if a.symbols & context.unknown else a.evaluate(point)) for a in reference.index)
            element = f"{reference.name}[{', '.join(at)}]"
            message = (
                f"{element} is outside the {size} element{'' if size == '1' else 's'} of "
                f"`{reference.name}`{context.parameter_words(point, statement.loops)}"
            )
            help = _assumption(context, outside) or (
                f"`{index}` must stay from 0 to `{extent - 1}`: shorten a loop, add an `if`, or declare a larger "
                f"`{reference.name}`"
            )
            yield Diagnostic("PL0240", message, span=reference.span or statement.assign.span, help=help)
            return


def _assumption(context: _Context, points: isl.Set) -> str | None:
    """What to say where accesses are outside for few sizes of one parameter only."""
    found = _sufficient_size(context, points)
    if found is None:
        return None
    known = f"{found[0]} >= {found[1]}"
    return (
        f"add an `if`, or say that `{known}` at the head of the function: `assert {known}` in Python, "
        f"`__builtin_assume({known});` in C"
    )


def _sufficient_size(context: _Context, points: isl.Set) -> tuple[str, int] | None:
    """A parameter from whose least value on no point is left."""
    values = points.params()
    # Least assumption first: the one that excludes the fewest sizes is the one to suggest.
    for name, least in ((name, least) for least in range(1, FEW) for name in context.nest.parameters):
        larger = parameter_set(_disjunction([Affine.symbol(name) - least]), context.nest.parameters)
        if values.intersect(larger).is_empty():
            return name, least
    return None


def _disjunction(constraints: list[Affine]) -> Condition:
    return Condition(tuple(Polyhedron((c,)) for c in constraints))


Rule = Callable[[_Context], Iterator[Diagnostic]]
RULES: tuple[Rule, ...] = (domain_is_not_empty, shapes_are_not_negative, check_has_effect, check_bounds)
