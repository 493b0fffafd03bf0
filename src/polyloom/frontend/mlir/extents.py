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
        form = _greatest_index(nest, name)
        if form is not None:
            nest = substitute_sizes(nest, {name: form + 1})
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


def _greatest_index(nest: Nest, size: str) -> Affine | None:
    """The greatest index at an axis of this extent, as a form of sizes; None where there are several."""
    axes = [(s.name, n) for s in nest.storage for n, extent in enumerate(s.shape) if extent == Affine.symbol(size)]
    found = set[Affine]()
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
    if not found:
        return None
    # One of them is the greatest whatever the sizes are.
    return next((a for a in found if all(_dominates(a, b) for b in found)), None)


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
