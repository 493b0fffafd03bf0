# SPDX-License-Identifier: Apache-2.0
"""Terms as sums of signed products: addends, factors, conversions; and definitions inlined into their one reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from polyloom.ir.formula import Apply, Definition, Formulas, Leaf, Sum, Term, leaves, rewrite_term
from polyloom.names import dotted_name, fresh_name
from polyloom.sets import Affine


def split_sum(term: Term) -> tuple[Term | None, Sum | None, bool]:
    """Split of a term into `begins` + a sum, or - a sum: what it begins with, the sum, and whether it is taken away."""
    if isinstance(term, Sum):
        return None, term, False
    if isinstance(term, Apply) and isinstance(term.operands[-1], Sum):
        if term.operation == "neg":
            return None, term.operands[0], True  # pyright: ignore[reportReturnType]: the last operand is the first
        if term.operation in ("add", "sub"):
            return term.operands[0], term.operands[1], term.operation == "sub"  # pyright: ignore[reportReturnType]
    return term, None, False


def addends(term: Term, *, is_less: bool = False) -> list[tuple[Term, bool]]:
    """Addends of a term, and which of them are taken away."""
    if isinstance(term, Apply) and term.operation == "neg":
        return addends(term.operands[0], is_less=not is_less)
    if isinstance(term, Apply) and term.operation in ("add", "sub"):
        one, other = term.operands
        return [*addends(one, is_less=is_less), *addends(other, is_less=is_less != (term.operation == "sub"))]
    return [(term, is_less)]


def add_signed(total: Term | None, addend: Term, *, is_less: bool) -> Term:
    """Sum of `total` and + or - an addend; None is nothing."""
    if total is None:
        return Apply("neg", (addend,)) if is_less else addend
    return Apply("sub" if is_less else "add", (total, addend))


def product_factors(term: Term) -> list[Term]:
    """Factors of a product, which nested products give as one list."""
    if isinstance(term, Apply) and term.operation == "mul":
        return [factor for operand in term.operands for factor in product_factors(operand)]
    return [term]


def multiply_factors(factors: Sequence[Term]) -> Term:
    """Product of factors from left to right."""
    made = factors[0]
    for factor in factors[1:]:
        made = Apply("mul", (made, factor))
    return made


def strip_conversion(term: Term) -> Term:
    """A term without a conversion around it."""
    return term.operands[0] if isinstance(term, Apply) and term.operation.startswith("to_") else term


def inline_definitions(formulas: Formulas) -> Formulas:
    """Inlining: formulas in which a definition that one place reads, behind the sums there, is a part of what reads
    it.
    """
    kept = {output.definition for output in formulas.outputs}
    uses = Counter(leaf.array for d in formulas.definitions for leaf in leaves(d.term))
    made: dict[str, Definition] = {}
    names = {name for d in formulas.definitions for name in d.extents}
    for definition in formulas.definitions:
        made[definition.name] = _inline_reads(definition, made, uses, kept, names)
    needed = kept | {leaf.array for d in made.values() for leaf in leaves(d.term)}
    return replace(formulas, definitions=tuple(d for d in made.values() if d.name in needed))


def _inline_reads(
    definition: Definition, made: dict[str, Definition], uses: Counter[str], kept: set[str], names: set[str]
) -> Definition:
    """Definition with its only reads of others replaced by their terms. Inside of a sum nothing is inlined: it would be
    computed for each term.
    """
    extents = dict(definition.extents)

    def change(term: Term) -> Term | None:
        if isinstance(term, Sum):
            return term
        if not isinstance(term, Leaf) or term.array not in made or uses[term.array] != 1 or term.array in kept:
            return None
        other = made.pop(term.array)
        # Dimensions of sums get new names, because the reader may have the same ones.
        summed = {d: fresh_name(d, names, dotted_name) for d in other.extents if d not in other.dims}
        extents.update({new: other.extents[d] for d, new in summed.items()})
        return substitute_dimensions(other.term, dict(zip(other.dims, term.index, strict=True)), summed)

    return replace(definition, term=rewrite_term(definition.term, change), extents=extents)


def substitute_dimensions(term: Term, index: Mapping[str, Affine], summed: Mapping[str, str]) -> Term:
    """Term of a definition at an index, with other names of the dimensions of its sums."""
    values = {**index, **{d: Affine.symbol(new) for d, new in summed.items()}}

    def change(part: Term) -> Term | None:
        if isinstance(part, Leaf):
            return replace(part, index=tuple(at.substitute(values) for at in part.index))
        if isinstance(part, Sum):
            return replace(
                part, term=rewrite_term(part.term, change), dimension=summed.get(part.dimension, part.dimension)
            )
        return None

    return rewrite_term(term, change)
