# SPDX-License-Identifier: Apache-2.0
"""Terms of sums as values of whole arrays: what a statement adds to itself, masks on the factors of terms, and arrays
that are their own transposes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from polyloom.analysis.dataflow import refuse
from polyloom.diagnostics import Span
from polyloom.ir.arrays.program import Apply, Cases, Form, Read, Shape, Value, axis, dtype, parts, reads, with_parts
from polyloom.sets import Affine, Condition
from polyloom.transform.stages.array_terms import named_symbols, numeral, remove_spans

_MATRIX: Final = 2
"""Dimensions of a matrix."""


def increment(value: Value, own: Value, label: str, span: Span | None) -> tuple[Value, bool]:
    """Increment: what a statement adds to its `own` value, and whether it is taken away. Raises `Unlike`."""
    if isinstance(value, Apply):
        rest = [o for o in value.operands if o is not own]
        place = [n for n, o in enumerate(value.operands) if o is own]
        if value.operation in ("add", "sub") and len(rest) == 1 and (place == [0] or value.operation == "add"):
            return rest[0], value.operation == "sub"
        if value.operation == "madd" and place == [2]:
            return Apply("mul", value.dtype, tuple(rest), value.span), False
    return refuse(f"`{label}` depends on itself, and not by one addition", span)


def mask_addends(value: Value, mask: Condition, whole: Shape, over: str, span: Span | None) -> Value:
    """Masked terms: each addend is 0 where the mask does not hold, by one of its factors. The factor is selected, not
    multiplied, so that what it holds elsewhere does not matter.
    """
    if isinstance(value, Apply) and value.operation in ("add", "sub", "neg"):
        return with_parts(value, [mask_addends(part, mask, whole, over, span) for part in parts(value)])
    factors = [factor for factor in _factors(value) if over in _axes(factor)]
    # The axes of a mask join those of the factor, which must not become those of the whole term.
    axes = _axes(value) & {f"${n}" for n in range(len(whole))}
    limits = mask.symbols & axes | {over}
    chosen = min(factors, key=lambda f: (len(_axes(f) | limits), not isinstance(f, Read)), default=value)
    if len(axes) > _MATRIX and len(_axes(chosen) | limits) == len(axes):
        refuse("the bounds of a sum depend on both the row and the column of its result", span)

    def change(part: Value) -> Value:
        if part is chosen:
            return Cases(mask, part, numeral(0, dtype(part)), whole, span)
        is_product = isinstance(part, Apply) and part.operation == "mul"
        return with_parts(part, [change(each) for each in parts(part)]) if is_product else part

    return change(value)


def check_terms(value: Value, over: str, label: str, span: Span | None) -> None:
    """Raises `Unlike` for terms that are not products of two matrices, and have more dimensions than their arrays:
    there would be an array of all terms. So it is with windows of an array.
    """
    if isinstance(value, Apply) and value.operation in ("add", "sub", "neg"):
        for part in parts(value):
            check_terms(part, over, label, span)
        return
    if any(sum(name.startswith("$") for name in form.symbols) > 1 for read in reads(value) for form in read.index):
        refuse(f"the terms of `{label}` read windows of an array", span)
    groups = list[frozenset[str]]()
    for factor in _factors(value):
        joint = [group for group in groups if group & (_axes(factor) - {over})]
        groups = [group for group in groups if group not in joint]
        groups.append(_axes(factor).union(*joint))
    largest = max((len(_axes(read)) for read in reads(value)), default=0)
    if max(map(len, groups), default=0) > max(largest, _MATRIX):
        refuse(f"the terms of `{label}` have more dimensions than arrays, and are no products of two factors", span)


def _factors(value: Value) -> list[Value]:
    if isinstance(value, Apply) and value.operation == "mul":
        return [factor for operand in value.operands for factor in _factors(operand)]
    return [value]


def _axes(value: Value) -> frozenset[str]:
    return frozenset(name for name in named_symbols(value) if name.startswith("$"))


def is_symmetric(value: Value, extents: Shape, symmetric: Collection[str]) -> bool:
    """Whether a matrix is its own transpose: its value is the same with both axes exchanged and products commuted; the
    arrays `symmetric` are.
    """
    if len(extents) != 2 or extents[0] != extents[1]:
        return False
    turned = {"$0": axis(1), "$1": axis(0)}
    bare = remove_spans(value)
    return _commute_operands(bare, {}, symmetric) == _commute_operands(bare, turned, symmetric)


def _commute_operands(value: Value, places: Mapping[str, Affine], symmetric: Collection[str]) -> Value:
    """Value with other axes, and operands of commutative operations in one order."""
    made: Sequence[Value] = [_commute_operands(part, places, symmetric) for part in parts(value)]
    if isinstance(value, Apply) and value.operation in ("add", "mul", "min", "max"):
        made = sorted(made, key=repr)
    match with_parts(value, made):
        case Read(index=index) as found:
            forms = [form.substitute(places) for form in index]
            return replace(found, index=tuple(sorted(forms, key=str) if found.name in symmetric else forms))
        case Form(value=form) as found:
            return replace(found, value=form.substitute(places))
        case Cases(condition=condition) as found:
            return replace(found, condition=condition.substitute(places))
        case found:
            return found
