# SPDX-License-Identifier: Apache-2.0
"""Anti-dependences of a store on itself: whether an iteration reads an element that an earlier one has stored, decided
by isl (Bernstein's conditions, 1966, level by level as in Allen and Kennedy, Optimizing Compilers, chapter 2).

Where upwards loops have none, or downwards ones, the value needs no copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from polyloom.ir.arrays.program import (
    Cases,
    Contract,
    Gather,
    Read,
    Reduce,
    Scan,
    Value,
    View,
    gather_places,
    parts,
    shape,
)
from polyloom.ir.arrays.program import label_extents as extents_of_labels
from polyloom.sets import Affine, Polyhedron
from polyloom.sets.isl import polyhedron_to_set
from polyloom.transform.arrays.elements import Place, places
from polyloom.transform.arrays.ranges import extent_bounds

Access = tuple[Place, tuple[Affine, ...]]
"""The index of an element that is read, and constraints on the symbols that only it has."""


def accesses(value: Value, name: str, at: Place) -> list[Access]:
    """The elements of the array `name` that a value reads at a place."""
    match value:
        case Read():
            return [(places(value.index, at), ())] if value.name == name else []
        case View(source=source, index=index):
            return accesses(source, name, places(index, at))
        case Gather(source=source, index=data):
            # Any element along the axis may be the one.
            own, symbol = gather_places(value, at), Affine.symbol(f"@{id(value)}.at")
            inner = (*own[0][: value.axis], symbol, *own[0][value.axis :])
            bounds = extent_bounds(symbol, shape(source)[value.axis])
            found = [(i, (*more, *bounds)) for i, more in accesses(source, name, inner)]
            return [*found, *accesses(data, name, own[1])]
        case Reduce(axes=axes, source=source):
            rest = iter(at)
            index = [Affine.symbol(f"@{id(value)}.{n}") if n in axes else next(rest) for n in range(len(shape(source)))]
            bounds = [c for n in axes for c in extent_bounds(index[n], shape(source)[n])]
            return [(i, (*more, *bounds)) for i, more in accesses(source, name, tuple(index))]
        case Contract():
            known = dict(zip(value.result, at, strict=True))
            bounds = list[Affine]()
            for label, extent in extents_of_labels(value.labels, value.operands).items():
                if label not in known:
                    known[label] = Affine.symbol(f"@{id(value)}.{label}")
                    bounds += extent_bounds(known[label], extent)
            pairs = zip(value.labels, value.operands, strict=True)
            found = [each for names, o in pairs for each in accesses(o, name, tuple(known[n] for n in names))]
            return [(i, (*more, *bounds)) for i, more in found]
        case Scan(source=source):
            # What came before is in a scalar.
            return accesses(source, name, at)
        case Cases(condition=condition):
            where = condition.substitute({f"${n}": place for n, place in enumerate(at)})
            holds = where.pieces[0].constraints if len(where.pieces) == 1 else ()
            first, second = ([] if not p else accesses(p, name, at if shape(p) else ()) for p in parts(value))
            return [*((i, (*more, *holds)) for i, more in first), *second]
        case _:
            return [a for part in parts(value) for a in accesses(part, name, at if shape(part) else ())]


def direction(
    target: Place, found: Sequence[Access], loops: Sequence[str], domain: Sequence[Affine]
) -> Literal[1, -1] | None:
    """The direction in which loops may store at once; None where a copy is needed."""
    if all(_is_clear(target, access, loops, domain, 1) for access in found):
        return 1
    return -1 if all(_is_clear(target, access, loops, domain, -1) for access in found) else None


def _is_clear(target: Place, access: Access, loops: Sequence[str], domain: Sequence[Affine], step: int) -> bool:
    index, bounds = access
    # Within one iteration everything is read before the store.
    if index == target:
        return True
    earlier = {name: Affine.symbol(f"@{name}") for name in loops}
    stored = [form.substitute(earlier) for form in target]
    equal = [c for a, b in zip(stored, index, strict=True) for c in (a - b, b - a)]
    fixed = (*domain, *(c.substitute(earlier) for c in domain), *bounds, *equal)
    for n, name in enumerate(loops):
        same = [c for other in loops[:n] for c in _identity_index(other)]
        before = (Affine.symbol(name) - Affine.symbol(f"@{name}")) * step - 1
        constraints = (*fixed, *same, before)
        names = sorted({symbol for c in constraints for symbol in c.symbols})
        if not polyhedron_to_set(Polyhedron(constraints), names, ()).is_empty():
            return False
    return True


def _identity_index(name: str) -> tuple[Affine, Affine]:
    difference = Affine.symbol(name) - Affine.symbol(f"@{name}")
    return difference, -difference
