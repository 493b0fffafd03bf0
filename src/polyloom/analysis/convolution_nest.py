# SPDX-License-Identifier: Apache-2.0
"""The one sum of products that a nest computes, if it is one: elements become zero, and products are added to them, in
place or in a scalar that is stored afterwards (convolution_stored.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from polyloom.analysis.convolution import Access, Summed
from polyloom.analysis.convolution_stored import Stored, accumulator_chain
from polyloom.ir.nest import Apply, Expression, Nest, Statement, statements
from polyloom.ir.pla import Constant, Reference
from polyloom.names import hidden_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import affine_map, to_set

_WIDER = ("to_i32", "to_f32")


def sum_of_products(nest: Nest) -> Summed | None:
    """Sum of products that a nest computes, in place or through a scalar; None where the nest is anything else."""
    found = statements(nest)
    made = accumulator_chain(nest, found) if len(found) > 2 else Stored(found, ())
    if made is None or len(made.sum) != 2:
        return None
    begin, add = made.sum
    parts = _parts(add)
    if parts is None or not _initializes_elements(nest, begin, add):
        return None
    result = add.assign.target
    (a, b), widened = parts
    # A factor that is the result would be a recurrence.
    if {a.name, b.name} & {result.name} or not all(nest[x.name].shape for x in (a, b, result)):
        return None
    inner = tuple(loop for loop in add.loops if not any(index.coefficient(loop) for index in result.index))
    steps = {loop: step for _, loop, step in add.order}
    return Summed(
        add.loops,
        nest.parameters,
        nest.assumptions,
        to_set(add.domain, add.loops, nest.parameters),
        _access(nest, result),
        (_access(nest, a), _access(nest, b)),
        widened,
        inner,
        frozenset(loop for loop in inner if steps[loop] < 0),
        tuple((name, vector and _access(nest, vector)) for name, vector in made.links),
    )


def _access(nest: Nest, reference: Reference) -> Access:
    return Access(reference.name, nest[reference.name].shape, reference.index)


def _parts(add: Statement) -> tuple[tuple[Reference, Reference], str] | None:
    """The factors of the product that is added to the target, and what both are converted by."""
    target, value = add.assign.target, add.assign.value
    if not isinstance(value, Apply):
        return None
    # Fused or not: the sum is the same form, and its rounding is the target's affair.
    if value.operation == "madd" and _is_read_of_target(value.operands[2], target):
        return _factors(value.operands[:2])
    if value.operation != "add":
        return None
    rest = [operand for operand in value.operands if not _is_read_of_target(operand, target)]
    if len(rest) != 1 or not isinstance(rest[0], Apply) or rest[0].operation != "mul":
        return None
    return _factors(rest[0].operands)


def _is_read_of_target(value: Expression, target: Reference) -> bool:
    return isinstance(value, Reference) and (value.name, value.index) == (target.name, target.index)


def _factors(operands: Sequence[Expression]) -> tuple[tuple[Reference, Reference], str] | None:
    first, second = operands
    widened = ""
    if isinstance(first, Apply) and isinstance(second, Apply) and first.operation == second.operation in _WIDER:
        widened = first.operation
        (first,), (second,) = first.operands, second.operands
    if isinstance(first, Reference) and isinstance(second, Reference):
        return (first, second), widened
    return None


def _initializes_elements(nest: Nest, begin: Statement, add: Statement) -> bool:
    """Whether every element becomes zero, each before anything is added to it."""
    target, value = begin.assign.target, begin.assign.value
    # Not -0.0: a sum of no terms would then differ in its sign.
    if target.name != add.assign.target.name or not (isinstance(value, Constant) and str(float(value.value)) == "0.0"):
        return False
    params = nest.parameters
    shape = nest[target.name].shape
    points = to_set(begin.domain, begin.loops, params).intersect_params(to_set(nest.assumptions, (), params).params())
    written = points.apply(isl.Map.from_multi_aff(affine_map(target.index, begin.loops, params)))
    box = [limit for n, extent in enumerate(shape) for limit in _bounds(hidden_name(n), extent)]
    whole = to_set(Condition((Polyhedron(tuple(box)),)), [hidden_name(n) for n in range(len(shape))], params)
    if not whole.intersect_params(to_set(nest.assumptions, (), params).params()).is_subset(written):
        return False
    return not any(_collide(nest, begin, add, late) for late in _order_violations(begin, add))


def _bounds(name: str, extent: Affine) -> Iterator[Affine]:
    yield Affine.symbol(name)
    yield extent - 1 - Affine.symbol(name)


def _order_violations(begin: Statement, add: Statement) -> Iterator[list[Affine]]:
    """Lexicographic order violated: conditions, of which one holds for two iterations of which the second does not come
    behind the first.
    """
    same = list[Affine]()
    for (place, loop, step), (other, its, _) in zip(begin.order, add.order, strict=False):
        # From here on the statements stand in different loops: their textual order decides.
        if place != other or loop != its or not loop:
            if place >= other:
                yield same
            return
        apart = _primed_loop(loop) - Affine.symbol(loop)
        yield [*same, -apart * step - 1]
        same = [*same, apart, -apart]


def _primed_loop(loop: str) -> Affine:
    return Affine.symbol(hidden_name(loop))


def _collide(nest: Nest, begin: Statement, add: Statement, late: Sequence[Affine]) -> bool:
    """Collision test: whether there are two iterations that touch one element, for which this holds."""
    renamed = {loop: _primed_loop(loop) for loop in add.loops}
    pairs = zip(begin.assign.target.index, add.assign.target.index, strict=True)
    same = [sign for a, b in pairs for sign in (a - b.substitute(renamed), b.substitute(renamed) - a)]
    pieces = [
        Polyhedron((*p.constraints, *q.substitute(renamed).constraints, *same, *late))
        for p in begin.domain.pieces
        for q in add.domain.pieces
    ]
    dims = (*begin.loops, *(hidden_name(loop) for loop in add.loops))
    return not to_set(Condition(tuple(pieces)), dims, nest.parameters).is_empty()
