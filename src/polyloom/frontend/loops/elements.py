# SPDX-License-Identifier: Apache-2.0
"""Array references from lvalues: `A[i][j]`, a scalar's name, `*p`, and `A[i * m + j]` for a bare pointer whose shape
was given.

A linearized subscript is taken apart by its strides, the products of the inner extents: what is a multiple of a stride
belongs to its dimension (Maslov, "Delinearization", PLDI 1992, here for strides of one parameter or constant per
dimension). Whether the parts stay inside their extents is checked with all other subscripts.
"""

from __future__ import annotations

from typing import Final

from polyloom.frontend.affine_proofs import is_nonnegative
from polyloom.frontend.loops import refusals
from polyloom.frontend.loops.affine import Monomial, Scope, affine_form
from polyloom.frontend.loops.tree import Node
from polyloom.ir.nest import Storage
from polyloom.ir.pla import Reference
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import conjunction


def array_reference(node: Node, scope: Scope) -> Reference:
    """Array reference: the element or the scalar that an lvalue names; raises PL0161, PL0162 and PL0165."""
    base, indices = _base_and_subscripts(node)
    if base.kind != "name":
        raise refusals.refuse_pointer(base)
    storage = scope.storage.get(base.symbol)
    if storage is None:
        raise refusals.refuse_unknown(base, scope)
    if len(indices) == 1 and len(storage.shape) > 1 and "[" not in base.ctype:
        return Reference(storage.name, _delinearize(indices[0], storage, scope), node.span)
    if node.opcode == "*" and len(storage.shape) == 1:
        return Reference(storage.name, (Affine(),), node.span)
    if len(indices) != len(storage.shape):
        raise refusals.refuse_rank(node, storage.name, len(storage.shape), len(indices))
    return Reference(storage.name, tuple([_affine_subscript(index, storage, scope) for index in indices]), node.span)


def _base_and_subscripts(node: Node) -> tuple[Node, list[Node]]:
    """The array expression of an access and its subscripts, outermost first."""
    if node.kind == "unary" and node.opcode == "*":
        return node.inner[0], []
    indices = list[Node]()
    while node.kind == "element":
        indices.insert(0, node.inner[1])
        node = node.inner[0]
    return node, indices


def _affine_subscript(index: Node, storage: Storage, scope: Scope) -> Affine:
    value = affine_form(index, scope)
    if value is None and scope.gather is not None:
        value = scope.gather(index, scope)
    if value is None:
        raise refusals.refuse_index(index, storage.name, scope, len(storage.shape))
    return value


def _delinearize(index: Node, storage: Storage, scope: Scope) -> tuple[Affine, ...]:
    """Delinearization (Maslov 1992): one affine subscript per dimension of a linear one. Raises PL0162."""
    rest = polynomial(index, scope)
    # Row-major: A[i*m + j] with extents (n, m) is A[i][j]. The subscript is divided by the strides from the outermost
    # inwards.
    strides = [_dimension_stride(storage.shape[level + 1 :]) for level in range(len(storage.shape))]
    if rest is None or None in strides:
        raise refusals.refuse_index(index, storage.name, scope, len(storage.shape))
    parts = list[Affine]()
    for symbols, factor in filter(None, strides):
        quotients = {
            m: (_divide_monomial(m, symbols), c // factor)
            for m, c in rest.items()
            if _divide_monomial(m, symbols) is not None and c % factor == 0
        }
        # A quotient of degree 2 is not affine: this index does not follow the declared extents.
        if any(len(q or ()) > 1 for q, _ in quotients.values()):
            raise refusals.refuse_index(index, storage.name, scope, len(storage.shape))
        parts.append(
            Affine.from_terms(
                {q[0]: c for q, c in quotients.values() if q}, sum(c for q, c in quotients.values() if q == ())
            )
        )
        # What the stride divides belongs to this level; the remainder is addressed further in.
        rest = {m: c for m, c in rest.items() if m not in quotients}
    return _carry_into_extents(parts, storage.shape, scope)


def _carry_into_extents(parts: list[Affine], shape: tuple[Affine, ...], scope: Scope) -> tuple[Affine, ...]:
    """Carries between dimensions: the parts of a subscript with each inner one inside its extent where a carry does
    that; `i * m + (m - 1)` is row `i`, and not one before the beginning of row `i + 1`.
    """
    # Where a row has no element, nothing is accessed.
    filled = Polyhedron(tuple(extent - 1 for extent in shape if not extent.is_constant))
    domain = conjunction(scope.domain, Condition((filled,)))
    found = list(parts)
    # From the innermost dimension: a carry changes the next outer part, which is looked at after it.
    for level in range(len(shape) - 1, 0, -1):
        part, extent = found[level], shape[level]
        for carry in _CARRIES if _may_exceed_extent(part, extent) else ():
            moved = part - extent * carry
            if is_nonnegative(moved, domain) and is_nonnegative(extent - moved - 1, domain):
                found[level - 1 : level + 1] = found[level - 1] + carry, moved
                break
    return tuple(found)


_CARRIES: Final = (0, -1, 1, -2, 2)


def _may_exceed_extent(part: Affine, extent: Affine) -> bool:
    """Whether a part is no sum such as `j + 1`, the usual one, which needs no proof."""
    return (
        min(part.constant, *(c for _, c in part.terms), 0) < 0
        or bool(part.symbols & extent.symbols)
        or (part.is_constant and extent.is_constant and part.constant >= extent.constant)
    )


def _dimension_stride(inner: tuple[Affine, ...]) -> tuple[Monomial, int] | None:
    """The product of extents that are single symbols or constants."""
    symbols, factor = list[str](), 1
    for extent in inner:
        if extent.is_constant and extent.constant > 0:
            factor *= extent.constant
        elif len(extent.terms) == 1 and extent.constant == 0 and extent.terms[0][1] == 1:
            symbols.append(extent.terms[0][0])
        else:
            return None
    return tuple(sorted(symbols)), factor


def _divide_monomial(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    rest = list(monomial)
    for symbol in divisor:
        if symbol not in rest:
            return None
        # Monomials are multisets: n*n divided by n leaves n.
        rest.remove(symbol)
    return tuple(rest)


def polynomial(node: Node, scope: Scope) -> dict[Monomial, int] | None:
    """Polynomial of an integer expression: a sum of products; None where it is none."""
    # Affine parts as a whole first: a quotient that loops decide is no obstacle.
    known = affine_form(node, scope)
    if known is not None:
        return {(name,): c for name, c in known.terms} | ({(): known.constant} if known.constant else {})
    if node.kind == "name" and node.symbol in scope.products:
        return dict(scope.products[node.symbol])
    if node.kind != "binary" or node.opcode not in ("+", "-", "*"):
        return None
    a, b = (polynomial(child, scope) for child in node.inner)
    if a is None or b is None:
        return None
    sign = -1 if node.opcode == "-" else 1
    return _product(a, b) if node.opcode == "*" else _sum(a, {m: sign * c for m, c in b.items()})


def _sum(a: dict[Monomial, int], b: dict[Monomial, int]) -> dict[Monomial, int]:
    total = {m: a.get(m, 0) + b.get(m, 0) for m in (*a, *b)}
    # No zero coefficients: equal polynomials are equal mappings.
    return {m: c for m, c in total.items() if c}


def _product(a: dict[Monomial, int], b: dict[Monomial, int]) -> dict[Monomial, int]:
    total = dict[Monomial, int]()
    for m, c in a.items():
        for n, d in b.items():
            total = _sum(total, {tuple(sorted((*m, *n))): c * d})
    return total
