# SPDX-License-Identifier: Apache-2.0
"""Values of whole-array programs and terms of formulas: what only moves elements, views pushed into operations, inverse
views of targets, factor groups of summands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from polyloom.analysis.dataflow import refuse
from polyloom.diagnostics import Span
from polyloom.ir import formula as terms
from polyloom.ir.arrays.program import (
    Apply,
    Cases,
    Constant,
    Contract,
    Form,
    Gather,
    Read,
    Reduce,
    Scan,
    Value,
    View,
    axis,
    element_view,
    parts,
    read_array,
    shape,
    with_parts,
)
from polyloom.ir.formula import Sum, Term, leaves
from polyloom.ir.nest import Storage
from polyloom.ir.operations import FLOATS, ElementType
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.transform.arrays.elements import places
from polyloom.transform.stages.terms import product_factors

EVERYWHERE: Final = Condition((Polyhedron(()),))


def initial_content(storage: Storage) -> Value:
    if storage.role == "argument":
        return read_array(storage)
    number = numeral(0, storage.dtype)
    return Cases(EVERYWHERE, number, number, storage.shape) if storage.shape else number


def numeral(value: int, kind: ElementType) -> Constant:
    return Constant(float(value) if kind in FLOATS else value, kind)


def view_elements(value: Value, index: Sequence[Affine], extents: tuple[Affine, ...]) -> Value:
    """A view, of the operands of operations and of both sides of cases."""
    if not shape(value):
        return value
    match value:
        case Apply():
            return with_parts(value, [view_elements(part, index, extents) for part in parts(value)])
        case Cases(condition=condition, inside=inside, outside=outside):
            where = condition.substitute({f"${n}": form for n, form in enumerate(index)})
            sides = [view_elements(side, index, extents) for side in (inside, outside)]
            return replace(value, condition=where, inside=sides[0], outside=sides[1], shape=extents)
        case View(source=source, index=own):
            return view_elements(source, places(own, tuple(index)), extents)
        case _:
            return element_view(value, index, extents, value.span)


def mask_selections(value: Value) -> Value:
    """Selections by comparisons of indices (`np.where(i >= j, a, b)`) as cases, whose masks the host lays out
    (if-conversion; Allen and Kennedy 2001, chapter 7).
    """
    value = with_parts(value, [mask_selections(part) for part in parts(value)])
    if isinstance(value, Apply) and value.operation == "select" and isinstance(value.operands[0], View):
        # A comparison that was spread over more axes is that of spread indices.
        test = value.operands[0]
        spread = view_elements(test, tuple(map(axis, range(len(test.shape)))), test.shape)
        value = replace(value, operands=(spread, *value.operands[1:]))
    match value:
        case Apply(operation="select", operands=(Apply(operation=relation, operands=(a, b)), inside, outside)):
            sides = [_index_form(each, shape(value)) for each in (a, b)]
            if relation in _RELATIONS and sides[0] is not None and sides[1] is not None and shape(value):
                return Cases(_RELATIONS[relation](sides[0] - sides[1]), inside, outside, shape(value), value.span)
        case _:
            pass
    return value


def _index_form(value: Value, extents: tuple[Affine, ...]) -> Affine | None:
    """Affine form of an integer that is known for each index of the shape; None for other values."""
    match value:
        case Constant(value=int(number)):
            return Affine((), number)
        case Form(value=form, dtype=kind, shape=own) if kind not in FLOATS and own in ((), extents):
            return form
        case _:
            return None


def _union(*pieces: tuple[Affine, ...]) -> Condition:
    return Condition(tuple(map(Polyhedron, pieces)))


_RELATIONS: Final[Mapping[str, Callable[[Affine], Condition]]] = {
    "lt": lambda less: _union((Affine() - less - 1,)),
    "le": lambda less: _union((Affine() - less,)),
    "gt": lambda less: _union((less - 1,)),
    "ge": lambda less: _union((less,)),
    "eq": lambda less: _union((less, Affine() - less)),
    "ne": lambda less: _union((less - 1,), (Affine() - less - 1,)),
}
"""By relation the condition under which a difference of both sides makes it hold."""


def is_movement(value: Value, arguments: Mapping[str, Storage]) -> bool:
    """Whether a value only moves elements of arguments."""
    match value:
        case Gather() | Apply() | Contract() | Reduce() | Scan():
            return False
        case Read(name=name):
            return name in arguments
        case _:
            return all(is_movement(part, arguments) for part in parts(value))


def invert_target(target: Read, whole: Sequence[Affine]) -> tuple[tuple[Affine, ...], Condition | None]:
    """For all of an array, which place of a view of it an element is, and where it is one; None: everywhere. Raises
    `Unlike` for steps.
    """
    inverse, inside = dict[int, Affine](), list[Affine]()
    for n, form in enumerate(target.index):
        names = [name for name, _ in form.terms if name.startswith("$")]
        # An index that names no axis is the one row, or column, that is stored.
        if not names:
            if whole[n] != Affine((), 1) or form != Affine():
                inside += [axis(n) - form, form - axis(n)]
            continue
        factor = form.coefficient(names[0])
        number = int(names[0][1:])
        if len(names) > 1 or abs(factor) != 1 or number in inverse:
            refuse(f"`{target.name}` is stored in steps, and a stage computes all of an array", target.span)
        place = (axis(n) - (form - axis(number) * factor)) * factor
        inverse[number] = place
        extent = target.shape[number]
        if extent != whole[n] or place != axis(n):
            inside += [place, extent - 1 - place]
    forms = tuple(inverse.get(n, Affine()) for n in range(len(target.shape)))
    return forms, Condition((Polyhedron(tuple(inside)),)) if inside else None


def apply_operation(operation: str, operands: Sequence[Term], span: Span | None) -> Term:
    """An operation; a selection by several comparisons as one after another."""
    if operation != "select":
        return terms.Apply(operation, tuple(operands), span)
    test, first, second = operands
    if isinstance(test, terms.Apply) and test.operation in ("or", "and"):
        one, other = test.operands
        inner = apply_operation("select", (other, first, second), span)
        sides = (first, inner) if test.operation == "or" else (inner, second)
        return apply_operation("select", (one, *sides), span)
    return terms.Apply("select", (test, first, second), span)


def factor_groups(term: Term, over: str) -> int:
    """Number of groups of factors along a dimension that share no other one. A factor of this dimension alone goes to
    any group, as in `split_factors`.
    """
    if isinstance(term, terms.Apply) and term.operation != "mul":
        return 1
    found = list[set[str]]()
    for factor in product_factors(term):
        dims = free_dimensions(factor)
        if over in dims:
            own = dims - {over}
            joint = [group for group in found if group & own]
            found = [*(group for group in found if not group & own), own.union(*joint)]
    return max(sum(map(bool, found)), min(len(found), 2))


def free_dimensions(term: Term) -> frozenset[str]:
    """Dimensions of a term, without those that its sums are over."""
    found = {name for leaf in leaves(term) for form in leaf.index for name in form.symbols}
    return frozenset(found) - summed_dimensions(term)


def summed_dimensions(term: Term) -> frozenset[str]:
    return frozenset(part.dimension for part in terms.subterms(term) if isinstance(part, Sum))


def has_axis(form: Affine) -> bool:
    return any(name.startswith("$") for name in form.symbols)


def named_symbols(value: Value) -> frozenset[str]:
    """Symbols that indices, forms and conditions of a value name."""
    match value:
        case Read(index=index):
            own = frozenset[str]().union(*(form.symbols for form in index))
        case Form(value=form):
            own = form.symbols
        case Cases(condition=condition):
            own = condition.symbols
        case _:
            own = frozenset[str]()
    return own.union(*map(named_symbols, parts(value)))


def substitute_symbols(value: Value, symbols: Mapping[str, Affine], extents: tuple[Affine, ...]) -> Value:
    """A number with axes in the place of dimensions: an array."""
    match value:
        case Read(index=index):
            return replace(value, index=tuple(form.substitute(symbols) for form in index), shape=extents)
        case Form(value=form):
            return replace(value, value=form.substitute(symbols), shape=extents)
        case Cases(condition=condition, inside=inside, outside=outside):
            sides = [substitute_symbols(side, symbols, extents) for side in (inside, outside)]
            return replace(
                value, condition=condition.substitute(symbols), inside=sides[0], outside=sides[1], shape=extents
            )
        case _:
            return value


def remove_spans(value: Value) -> Value:
    made = with_parts(value, [remove_spans(part) for part in parts(value)])
    return made if isinstance(made, Constant) else replace(made, span=None)
