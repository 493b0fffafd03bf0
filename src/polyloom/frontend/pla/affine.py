# SPDX-License-Identifier: Apache-2.0
"""Affine forms and integer sets of expressions.

Comparisons, `and`, `or` and `not` are set operations: isl intersects, unites and complements, so a condition needs no
normal form of its own (Verdoolaege 2010).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from polyloom.diagnostics import input_error
from polyloom.frontend.pla.syntax import Access, Apply, Comparison, Expression, Name, Number, Truth
from polyloom.frontend.suggestions import suggestion
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.isl import space, to_set

# The limit of parameters, too (PL0230): sizes and constants are of one magnitude.
LITERAL_LIMIT = 1 << 31


def symbol_names(expression: Expression) -> Iterator[Name]:
    """Names that stand for dimensions and parameters, in the order of the text."""
    match expression:
        case Name():
            yield expression
        case Apply(operands=children) | Comparison(operands=children) | Access(index=children):
            for child in children:
                yield from symbol_names(child)
        case Number() | Truth():
            return


def affine(expression: Expression, symbols: Sequence[str]) -> Affine:
    """Affine form of an index or of one side of a comparison; raises PL0204 and PL0205."""
    match expression:
        case Number(value=int(value)):
            if abs(value) >= LITERAL_LIMIT:
                raise input_error(
                    "PL0205",
                    f"{value} is too large for an index or a condition",
                    span=expression.span,
                    help="stay below 2**31",
                )
            return Affine((), value)
        case Name(name=name):
            if name not in symbols:
                raise input_error(
                    "PL0204",
                    f"unknown name `{name}`",
                    span=expression.span,
                    help=suggestion(name, symbols, _symbols_help(symbols)),
                )
            return Affine.symbol(name)
        case Apply(operation="add", operands=(a, b)):
            return affine(a, symbols) + affine(b, symbols)
        case Apply(operation="sub", operands=(a, b)):
            return affine(a, symbols) - affine(b, symbols)
        case Apply(operation="neg", operands=(a,)):
            return -affine(a, symbols)
        case Apply(operation="mul", operands=(a, b)):
            left, right = affine(a, symbols), affine(b, symbols)
            # A product is affine where one factor is a number.
            if left.is_constant or right.is_constant:
                return left * right.constant if right.is_constant else right * left.constant
        case _:
            pass
    raise input_error(
        "PL0205",
        "not an affine expression",
        span=expression.span,
        help="use sums of dimensions and parameters times integer constants",
    )


def condition(expression: Expression, dims: Sequence[str], params: Sequence[str]) -> isl.Set:
    """Integer set of a condition: the points where it holds; raises PL0204, PL0205 and PL0206."""
    match expression:
        case Comparison():
            sides = [affine(e, (*dims, *params)) for e in expression.operands]
            points = isl.Set.universe(space(dims, params))
            # A chain is the conjunction of its neighbours, as in Python.
            for left, relation, right in zip(sides, expression.relations, sides[1:], strict=False):
                points = points.intersect(to_set(_relation(left - right, relation), dims, params))
            return points
        case Apply(operation="and", operands=(a, b)):
            return condition(a, dims, params).intersect(condition(b, dims, params))
        case Apply(operation="or", operands=(a, b)):
            # Coalesced at once: pieces of a union multiply under later intersections.
            return condition(a, dims, params).union(condition(b, dims, params)).coalesce()
        case Apply(operation="not", operands=(a,)):
            return condition(a, dims, params).complement()
        case Truth(value=value):
            return isl.Set.universe(space(dims, params)) if value else isl.Set.empty(space(dims, params))
        case _:
            raise input_error(
                "PL0206",
                "not a condition",
                span=expression.span,
                help="write comparisons, joined by `and`, `or` and `not`",
            )


def _relation(difference: Affine, relation: str) -> Condition:
    """Condition `difference relation 0`. Over the integers, d > 0 is d - 1 >= 0, and d != 0 has two pieces."""
    above, below = difference + -1, -difference + -1
    alternatives = {
        "eq": ((difference, -difference),),
        "ne": ((above,), (below,)),
        "lt": ((below,),),
        "le": ((-difference,),),
        "gt": ((above,),),
        "ge": ((difference,),),
    }
    return Condition(tuple(Polyhedron(c) for c in alternatives[relation]))


def _symbols_help(symbols: Sequence[str]) -> str:
    return f"only {', '.join(symbols)} can stand here" if symbols else "only integer constants can stand here"
