# SPDX-License-Identifier: Apache-2.0
"""Extents that the type of an argument leaves open: a dynamic extent is what the loops that index it run to, where that
is one form of other sizes, and what an operation says that it is equal to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polyloom.ir.nest import Nest, accesses, statements
from polyloom.ir.nest_rewrite import mentioned_symbols, substitute_symbols
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction, normalize


def infer_extents(nest: Nest, equal: Sequence[tuple[Affine, Affine]], own: frozenset[str]) -> Nest:
    """The nest with as few sizes as it needs; `own` are those of dynamic extents, `equal` the forms that are one."""
    for a, b in equal:
        nest = _equate(nest, a, b, own)
    # A size that a loop or a condition names is the user's to give.
    free = [name for name in nest.parameters if name in own - mentioned_symbols(nest.body)]
    for name in free:
        form = _accessed_extent(nest, name)
        if form is not None:
            nest = substitute_sizes(nest, {name: form})
    return nest


def _equate(nest: Nest, a: Affine, b: Affine, own: frozenset[str]) -> Nest:
    """Two extents are one: a size that is only an extent's own goes, else it is assumed."""
    # Equations of before may have changed both.
    known = set(nest.parameters)
    if not (a.symbols | b.symbols) <= known or a == b:
        return nest
    for one, other in ((b, a), (a, b)):
        name = _lone_symbol(one)
        if name in own and name not in other.symbols:
            return substitute_sizes(nest, {name: other})
    condition = Condition((Polyhedron((a - b, b - a)),))
    return replace(nest, assumptions=conjunction(nest.assumptions, condition))


def _lone_symbol(form: Affine) -> str:
    return form.terms[0][0] if len(form.terms) == 1 and form.terms[0][1] == 1 and form.constant == 0 else ""


def substitute_sizes(nest: Nest, forms: Mapping[str, Affine]) -> Nest:
    """The nest with forms in the place of sizes, which it then has no longer."""
    pieces = tuple(
        Polyhedron(tuple(c.substitute(forms) for c in piece.constraints)) for piece in nest.assumptions.pieces
    )
    return replace(
        nest,
        parameters=tuple(p for p in nest.parameters if p not in forms),
        assumptions=normalize(Condition(pieces)),
        storage=tuple(replace(s, shape=tuple(e.substitute(forms) for e in s.shape)) for s in nest.storage),
        body=substitute_symbols(nest.body, forms),
    )


def _accessed_extent(nest: Nest, size: str) -> Affine | None:
    """One more than the greatest index at an axis of this extent, as a form of sizes; None where there are several. An
    axis of which as many elements at the end as at the beginning are left out, as by a stencil, has these, too."""
    axes = [(s.name, n) for s in nest.storage for n, extent in enumerate(s.shape) if extent == Affine.symbol(size)]
    found, least = set[Affine](), set[Affine]()
    for statement in statements(nest):
        references = (statement.assign.target, *accesses(statement.assign.value))
        bounds = _upper_bounds(nest, statement.loops)
        for reference in references:
            for name, n in axes:
                if reference.name == name:
                    most = _greatest_value(reference.index[n], statement.loops, bounds)
                    if most is None:
                        return None
                    found.add(most)
                    least.add(-(_greatest_value(-reference.index[n], statement.loops, bounds) or Affine()))
    # One of them is the greatest whatever the sizes are.
    end = next((a + 1 for a in found if all(_dominates(a, b) for b in found)), None)
    margin = min((a.constant for a in least), default=0) if all(a.is_constant for a in least) else 0
    if end is not None and 0 < -end.constant <= margin and _lone_symbol(end - end.constant):
        return end - end.constant
    return end


def _dominates(a: Affine, b: Affine) -> bool:
    difference = a - b
    return difference.constant >= 0 and all(c >= 0 for _, c in difference.terms)


def _upper_bounds(nest: Nest, loops: Sequence[str]) -> dict[str, tuple[tuple[Affine, ...], tuple[Affine, ...]]]:
    from polyloom.ir.nest import loop_nodes

    return {loop.name: (loop.lower, loop.upper) for loop in loop_nodes(nest.body) if loop.name in loops}


def _greatest_value(
    form: Affine, loops: Sequence[str], bounds: Mapping[str, tuple[tuple[Affine, ...], tuple[Affine, ...]]]
) -> Affine | None:
    """The greatest value of a form over its loops, the innermost first; None for bounds that are minima."""
    for loop in reversed(loops):
        factor = form.coefficient(loop)
        if not factor:
            continue
        lower, upper = bounds[loop]
        ends = upper if factor > 0 else lower
        if len(ends) != 1:
            return None
        form = form.substitute({loop: ends[0] - 1 if factor > 0 else ends[0]})
    return form
