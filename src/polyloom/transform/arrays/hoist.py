# SPDX-License-Identifier: Apache-2.0
"""Array values that are computed before the store that they stand in (loop-invariant code motion of whole arrays).

A reduction stays where it stands if each of its elements is wanted once: then its loops nest in those of the store.
Elsewhere it would be summed again for each element that it is broadcast to, so that it becomes a local array. The same
holds for element-wise values that cost more than a few operations.
"""

from __future__ import annotations

from typing import Final, Protocol

from polyloom.ir.arrays.program import (
    Apply,
    Cases,
    Contract,
    Form,
    Gather,
    Read,
    Reduce,
    Scan,
    Value,
    View,
    axes,
    gather_places,
    label_extents,
    parts,
    shape,
    with_parts,
)
from polyloom.ir.arrays.program import element_view as view_at
from polyloom.ir.nest import negate
from polyloom.ir.pla import Constant
from polyloom.sets import Affine, Condition
from polyloom.sets.normal_form import conjunction
from polyloom.transform.arrays.elements import Place, places


class Keep(Protocol):
    """Makes a local array of a value, where a condition holds, and gives the read of it."""

    def __call__(self, value: Value, where: Condition | None = None) -> Value: ...


Places = frozenset[Affine]
"""The places that the loops around are at."""
_CHEAP: Final = ("add", "sub", "mul", "neg", "abs", "min", "max", "and", "or", "xor", "move")
_FEW: Final = 2


def hoist_invariants(value: Value, at: Place, loops: Places, keep: Keep) -> Value:
    """The value at a place within loops, without what is better computed before them."""
    match value:
        case View(source=source, index=index, shape=extents):
            return view_at(hoist_invariants(source, places(index, at), loops, keep), index, extents, value.span)
        case Scan():
            return keep(value)
        case Gather(source=source, index=index):
            # What is not wanted of an index is outside of the array, perhaps.
            if not is_complete(at, loops):
                return keep(value)
            own = gather_places(value, at)[1]
            # An index that is data chooses among elements that are there: only arrays have such.
            base = source if isinstance(source, Read) else keep(source)
            return with_parts(value, [base, hoist_invariants(index, own, loops, keep)])
        case Reduce(axes=axes, source=source):
            if not is_complete(at, loops):
                return keep(value)
            names, rest = [f"@{id(value)}.{n}" for n in axes], iter(at)
            own = dict(zip(axes, map(Affine.symbol, names), strict=True))
            inner = tuple(own[n] if n in own else next(rest) for n in range(len(shape(source))))
            within = loops | set(map(Affine.symbol, names))
            return with_parts(value, [hoist_invariants(source, inner, within, keep)])
        case Contract(labels=labels, result=result, operands=operands):
            if not is_complete(at, loops):
                return keep(value)
            known = dict(zip(result, at, strict=True))
            names = {n: f"@{id(value)}.{n}" for n in label_extents(labels, operands) if n not in known}
            known |= {n: Affine.symbol(name) for n, name in names.items()}
            within = loops | set(map(Affine.symbol, names.values()))
            pairs = zip(labels, operands, strict=True)
            return with_parts(
                value, [hoist_invariants(o, tuple(known[n] for n in ls), within, keep) for ls, o in pairs]
            )
        case Cases(condition=condition, inside=inside, outside=outside) if not has_axes(condition):
            # A side of a conditional expression need not exist for other sizes.
            sides = (inside, condition), (outside, negate(condition))
            return with_parts(
                value,
                [
                    hoist_invariants(side, at if shape(side) else (), loops, _keep_condition(keep, where))
                    for side, where in sides
                ],
            )
        # What is broadcast is computed once for all places that it is broadcast to.
        case Apply() if shape(value) and not is_complete(at, loops) and cost(value) > _FEW and not _is_mask(value):
            return keep(value)
        case _:
            made = [hoist_invariants(p, at if shape(p) else (), loops, keep) for p in parts(value)]
            return with_parts(value, made)


def is_complete(at: Place, loops: Places) -> bool:
    """Whether a place is another one in every iteration, and all of them: its forms are those of the loops."""
    found = [form for form in at if not form.is_constant]
    return loops == frozenset(found) and len(found) == len(loops)


def _keep_condition(keep: Keep, condition: Condition) -> Keep:
    """Local arrays that are computed where a condition holds, too."""
    return lambda value, where=None: keep(value, condition if where is None else conjunction(condition, where))


def has_axes(condition: Condition) -> bool:
    """Whether a condition differs from element to element."""
    return any(name.startswith("$") for name in condition.symbols)


def _is_mask(value: Value) -> bool:
    """Whether a value compares places alone: an affine condition, which needs no array."""
    compared = ("ge", "gt", "le", "lt", "eq", "ne", "to_bool", "to_i32")
    return isinstance(value, Form | Constant) or (
        isinstance(value, Apply) and value.operation in compared and all(map(_is_mask, value.operands))
    )


def is_partial(value: Value) -> bool:
    """Whether places of a value may have no element: views show other places than their source has, and data choose
    elements."""
    match value:
        case Gather():
            return True
        case View(source=source, index=index, shape=extents) if (index, extents) != (axes(len(index)), shape(source)):
            return True
        case _:
            return any(map(is_partial, parts(value)))


def cost(value: Value) -> int:
    """Operations per element; a division or a function counts as many."""
    own = 0
    if isinstance(value, Apply):
        is_cheap = value.operation in _CHEAP or value.operation.startswith("to_")
        own = 1 if is_cheap else _FEW if value.operation in ("select", "ge", "gt", "le", "lt", "eq", "ne") else 9
    return own + sum(map(cost, parts(value))) if not isinstance(value, Reduce | Contract | Scan) else 0
