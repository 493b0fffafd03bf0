# SPDX-License-Identifier: Apache-2.0
"""Factors of the terms of a sum: two groups that change along it and share no other dimension, and what does not change
along it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from polyloom.analysis.contraction import narrow
from polyloom.analysis.dataflow import refuse
from polyloom.ir.formula import Apply, Definition, Leaf, Sum, Term, leaves, subterms, term_type
from polyloom.ir.operations import ElementType
from polyloom.transform.stages.abilities import Abilities
from polyloom.transform.stages.terms import multiply_factors, product_factors, strip_conversion


@dataclass(frozen=True, slots=True)
class Scope:
    """Scope of a cut: a definition, the element types of arrays so far, and what for. `exact`: with the source's bits
    where that is possible.
    """

    definition: Definition
    types: Mapping[str, ElementType]
    can: Abilities
    exact: bool

    def dims(self, term: Term) -> tuple[str, ...]:
        """Free dimensions of a term, in the order of the loops: not those of sums in it."""
        found = {name for leaf in leaves(term) for at in leaf.index for name in at.symbols}
        found -= {part.dimension for part in subterms(term) if isinstance(part, Sum)}
        d = self.definition
        return tuple(name for name in dict.fromkeys((*d.dims, *d.extents)) if name in found)

    def element_type(self, term: Term) -> ElementType | None:
        """Element type of a term; None of a number alone, which has the type of what it meets."""
        return term_type(term, self.types)


def unwiden(sides: tuple[Term, Term], scope: Scope) -> tuple[tuple[Term, ...], str]:
    """Factors without a conversion that the machine's products make, and that conversion. Raises `Unlike` for types
    that it does not multiply.
    """
    bare, widened = narrow(Apply("mul", sides))
    is_integer = scope.definition.dtype != "f32"
    assert isinstance(bare, Apply)
    is_bare = bool(widened) and all(isinstance(o, Leaf) for o in bare.operands) and (is_integer or not scope.exact)
    if is_bare:
        return bare.operands, widened
    d, can = scope.definition, scope.can
    if is_integer and d.dtype not in can.factors:
        kinds = [str(scope.element_type(strip_conversion(side))) for side in sides]
        kind = next((kind for kind in kinds if kind not in can.factors), d.dtype)
        refuse(f"{can.unit} multiplies {', '.join(sorted(can.factors))}, and factors of `{d.label}` are {kind}", d.span)
    return sides, ""


def split_factors(term: Term, over: str, scope: Scope) -> tuple[tuple[Term, Term], list[Term], bool]:
    """Both factors of a term, those without the dimension of the sum, and whether the source multiplies in this order.
    Raises `Unlike`.
    """
    factors = product_factors(term)
    outer = [f for f in factors if over not in scope.dims(f)]
    if scope.can.accumulates:
        if not isinstance(term, Apply) or term.operation != "mul":
            refuse(f"`{scope.definition.label}` is no sum of products", scope.definition.span)
        first, second = term.operands
        # Only if the two operands share no other dimension is the source's own product one of matrices.
        is_ordered = {*scope.dims(first)} & {*scope.dims(second)} == {over}
        if is_ordered and not (outer and _hoists_factor(first, second, factors, scope)):
            return (first, second), [], True
    groups = _group_factors([f for f in factors if over in scope.dims(f)], over, scope)
    return (multiply_factors(groups[0]), multiply_factors(groups[1])), outer, False


def _hoists_factor(first: Term, second: Term, factors: Sequence[Term], scope: Scope) -> bool:
    """Whether what is the same for all terms had better not be multiplied with the factor beside it: bytes and halves
    have to stay what they are, and a vector is multiplied sooner than a matrix. Of floats, that changes bits.
    """
    if scope.definition.dtype != "f32":
        return True
    has_halves = any(scope.element_type(strip_conversion(factor)) == "f16" for factor in factors)
    sizes = sorted((len(scope.dims(first)), len(scope.dims(second))))
    return not scope.exact and (has_halves or sizes == [1, 2])


def _group_factors(factors: Sequence[Term], over: str, scope: Scope) -> list[list[Term]]:
    """Connected components of factors by shared dimensions; those with no other one go to their neighbour's, where
    there are more than two. Raises `Unlike` unless there are two.
    """
    found = list[tuple[set[str], list[Term]]]()
    for factor in factors:
        dims = {*scope.dims(factor)} - {over}
        joint = [group for group in found if group[0] & dims]
        found = [group for group in found if group not in joint]
        found.append((dims.union(*(g[0] for g in joint)), [*(f for g in joint for f in g[1]), factor]))
    while len(found) > 2 and (alone := next((g for g in found if not g[0]), None)) is not None:
        found.remove(alone)
        near = _neighbouring_group(factors, alone[1][0], [group for _, group in found])
        found[near] = found[near][0], [*found[near][1], *alone[1]]
    label, span = scope.definition.label, scope.definition.span
    if len(found) == 1 and len(found[0][1]) > 1 and found[0][0]:
        name = min(found[0][0])
        refuse(f"the factors of `{label}` share {name}, which is not summed: these are many products, not one", span)
    if len(found) != 2:
        count = "one factor" if len(found) == 1 else f"{len(found)} factors"
        refuse(f"`{label}` sums terms of {count} along {over}, and {scope.can.unit} sums products of two", span)
    return [group for _, group in found]


def _neighbouring_group(factors: Sequence[Term], factor: Term, groups: Sequence[Sequence[Term]]) -> int:
    """Number of the group of the factor in front of one, or behind the first. The source multiplies it with this one,
    so that where both are computed, they often have the same rows.
    """
    at = next(n for n, each in enumerate(factors) if each is factor)
    beside = factors[at - 1 if at else 1]
    return next((n for n, group in enumerate(groups) if any(each is beside for each in group)), 0)


def merge_outer_factors(sides: tuple[Term, Term], outer: Sequence[Term], scope: Scope) -> tuple[Term, Term]:
    """Factors with those that are the same for all terms, each where its dimensions are. Raises `Unlike`."""
    made = [*sides]
    for factor in outer:
        where = [n for n in (0, 1) if {*scope.dims(factor)} <= {*scope.dims(made[n])}]
        if not where:
            refuse(f"a factor of `{scope.definition.label}` has the dimensions of both others", scope.definition.span)
        # The smaller side is multiplied: fewer elements.
        best = min(where, key=lambda n: len(scope.dims(made[n])))
        made[best] = Apply("mul", (factor, made[best]))
    return made[0], made[1]
