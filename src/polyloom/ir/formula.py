# SPDX-License-Identifier: Apache-2.0
"""Formulas over arrays (tensor expressions): terms of elements, numbers, operations and sums; a program as arrays that
are each one formula.

    term = Leaf | Number | Apply | Sum        C[i, j] = add(mul(beta[], C[i, j]), sum over k of mul(A[i, k], B[k, j]))

`analysis.dataflow` finds the terms of equations, `analysis.formulas_system` the formulas of a loop nest,
`analysis.formulas_program` those of equations. Sizes are taken to be at least 1; who runs a program refuses others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from polyloom.diagnostics import Span
from polyloom.ir.operations import BY_NAME, ElementType
from polyloom.sets import Affine, Condition


@dataclass(frozen=True, slots=True)
class Leaf:
    """An element of an array; the index is affine in the dimensions. `padded`: 0 where there is no such element."""

    array: str
    index: tuple[Affine, ...]
    padded: bool = False


# Equality of its own: NaN equals itself here, and the two zeros differ.
@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A constant. The zeros of floats are two."""

    value: int | float

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and str(float(self.value)) == str(float(other.value))

    def __hash__(self) -> int:
        return hash(str(float(self.value)))


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation of `ir.operations` on terms of the same iteration; `span` is the equation's."""

    operation: str
    operands: tuple[Term, ...]
    span: Span | None = None

    def __eq__(self, other: object) -> bool:
        # Spans are left out: common terms of different lines are one.
        return isinstance(other, Apply) and (self.operation, self.operands) == (other.operation, other.operands)

    def __hash__(self) -> int:
        return hash((self.operation, self.operands))


@dataclass(frozen=True, slots=True)
class Sum:
    """Reduction of `term` along `dimension`, from where `first` holds up to the iteration; `where`: all of its
    iterations. `operation` is the sum, or `maximum` or `minimum`.
    """

    term: Term
    dimension: str
    first: Condition
    where: Condition
    operation: str = "add"


Term = Leaf | Number | Apply | Sum


@dataclass(frozen=True, slots=True)
class Definition:
    """An array of which each element is `term`, over its `dims`. `extents` are those of all dimensions, summed ones
    included; `label` is what the source calls it."""

    name: str
    label: str
    dims: tuple[str, ...]
    extents: Mapping[str, Affine]
    term: Term
    dtype: ElementType
    span: Span | None = None

    @property
    def shape(self) -> tuple[Affine, ...]:
        return tuple(self.extents[d] for d in self.dims)


@dataclass(frozen=True, slots=True)
class Output:
    """`array` is all of a definition, or a part of it: of each of the definition's dimensions, which one of the array's
    it is, or where it is fixed."""

    array: str
    definition: str
    at: tuple[int | Affine, ...]


@dataclass(frozen=True, slots=True)
class Formulas:
    """Definitions, each behind those that it reads."""

    definitions: tuple[Definition, ...]
    outputs: tuple[Output, ...]
    types: Mapping[str, ElementType]
    shapes: Mapping[str, tuple[Affine, ...]]
    """Of the arguments, both."""


def subterms(term: Term) -> Iterator[Term]:
    """The term and all of its parts, from the outside in, those of sums included."""
    yield term
    for part in term.operands if isinstance(term, Apply) else (term.term,) if isinstance(term, Sum) else ():
        yield from subterms(part)


def leaves(term: Term) -> Iterator[Leaf]:
    """Elements of arrays that a term reads, in their order."""
    return (part for part in subterms(term) if isinstance(part, Leaf))


def has_sum(term: Term) -> bool:
    """Whether a sum is part of the term. A part that occurs several times as one object is looked at once: the tree of
    a chain of statements that each read the one before twice is exponentially larger than its graph.
    """
    seen, waiting = set[int](), [term]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Sum):
            return True
        if isinstance(part, Apply) and id(part) not in seen:
            seen.add(id(part))
            waiting += part.operands
    return False


def rewrite_term(term: Term, change: Callable[[Term], Term | None]) -> Term:
    """The term with what `change` gives in the place of parts, from the outside in; None goes on to the operands."""
    made = change(term)
    # What was put in is not looked at again: it may contain what it replaced.
    if made is not None:
        return made
    if isinstance(term, Apply):
        return replace(term, operands=tuple(rewrite_term(o, change) for o in term.operands))
    return replace(term, term=rewrite_term(term.term, change)) if isinstance(term, Sum) else term


def result_element(array: str, dims: Iterable[str]) -> Leaf:
    """The element of an array over these dimensions."""
    return Leaf(array, tuple(map(Affine.symbol, dims)))


def index_dimension(index: Affine) -> str:
    """The dimension that an index is; "" where it is none."""
    return index.terms[0][0] if index.constant == 0 and [c for _, c in index.terms] == [1] else ""


def operand_type(term: Apply, types: Mapping[str, ElementType]) -> ElementType | None:
    """The one type of an operation's operands, but for the condition of a selection; None of numbers alone."""
    # The condition of a select has a type of its own.
    operands = term.operands[1:] if term.operation == "select" else term.operands
    return next((found for o in operands if (found := term_type(o, types)) is not None), None)


def term_type(term: Term, types: Mapping[str, ElementType]) -> ElementType | None:
    """Type of a term's value, from arrays' types; None of a number, which has the type of what it meets."""
    match term:
        case Leaf():
            return types[term.array]
        case Apply():
            # The operation decides: a comparison gives i32, whatever its operands are.
            operand = operand_type(term, types)
            return None if operand is None else BY_NAME[term.operation].result(operand)
        case Sum():
            return term_type(term.term, types)
        case Number():
            return None
