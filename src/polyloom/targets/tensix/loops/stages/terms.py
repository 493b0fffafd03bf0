# SPDX-License-Identifier: Apache-2.0
"""Small questions to terms, and definitions put into the one place that reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from polyloom.analysis.dataflow import Apply, Leaf, Sum, Term
from polyloom.analysis.formulas import Definition, Formulas
from polyloom.names import dotted, fresh
from polyloom.sets import Affine


def leaves(term: Term) -> Iterator[Leaf]:
    """Elements of arrays, also those in sums."""
    if isinstance(term, Leaf):
        yield term
    elif isinstance(term, Apply):
        for operand in term.operands:
            yield from leaves(operand)
    elif isinstance(term, Sum):
        yield from leaves(term.term)


def mapped(term: Term, change: Callable[[Term], Term | None]) -> Term:
    """With what `change` gives in the place of terms, from the outside in; None goes on to the parts."""
    made = change(term)
    if made is not None:
        return made
    if isinstance(term, Apply):
        return replace(term, operands=tuple(mapped(o, change) for o in term.operands))
    return replace(term, term=mapped(term.term, change)) if isinstance(term, Sum) else term


def inlined(formulas: Formulas) -> tuple[Definition, ...]:
    """Definitions that one place reads, behind the sums there, become a part of what reads them."""
    kept = {output.definition for output in formulas.outputs}
    uses = Counter(leaf.array for d in formulas.definitions for leaf in leaves(d.term))
    made: dict[str, Definition] = {}
    names = {name for d in formulas.definitions for name in d.extents}
    for definition in formulas.definitions:
        made[definition.name] = _with_others(definition, made, uses, kept, names)
    needed = kept | {leaf.array for d in made.values() for leaf in leaves(d.term)}
    return tuple(d for d in made.values() if d.name in needed)


def _with_others(
    definition: Definition, made: dict[str, Definition], uses: Counter[str], kept: set[str], names: set[str]
) -> Definition:
    extents = dict(definition.extents)

    def change(term: Term) -> Term | None:
        if isinstance(term, Sum):
            return term
        if not isinstance(term, Leaf) or term.array not in made or uses[term.array] != 1 or term.array in kept:
            return None
        other = made.pop(term.array)
        summed = {d: fresh(d, names, dotted) for d in other.extents if d not in other.dims}
        extents.update({new: other.extents[d] for d, new in summed.items()})
        return _moved(other.term, summed, dict(zip(other.dims, term.index, strict=True)))

    term = mapped(definition.term, change)
    return replace(definition, term=term, extents=extents)


def _moved(term: Term, summed: Mapping[str, str], index: Mapping[str, Affine]) -> Term:
    """At other indices, with other names of the dimensions of sums."""
    values = {**index, **{d: Affine.symbol(new) for d, new in summed.items()}}

    def change(part: Term) -> Term | None:
        if isinstance(part, Leaf):
            return replace(part, index=tuple(at.substitute(values) for at in part.index))
        if isinstance(part, Sum):
            return replace(part, term=mapped(part.term, change), dimension=summed.get(part.dimension, part.dimension))
        return None

    return mapped(term, change)
