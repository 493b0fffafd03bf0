# SPDX-License-Identifier: Apache-2.0
"""Storage sharing: local arrays of one size that are never live together are one array (storage optimization by
interval graph colouring; Lefebvre and Feautrier, Automatic storage management for parallel programs, 1998).

A local array of symbolic size is an argument on machines that execute functions, and a program of many array statements
has one per statement. Arrays are live from the first to the last node of the nest's body that names them; the colouring
of intervals in the order of starts is optimal (Gavril, 1972). Sizes are equal where extents are, with neighbouring
constant extents as one: `[T][4][16]` and `[T][64]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from polyloom.ir.nest import Nest, Node, Storage, accesses, assignments
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.pla import Reference
from polyloom.sets import Affine


def share_storage(nest: Nest) -> Nest:
    """The nest with as few local arrays of symbolic size as their live intervals allow; the same bits for all data."""
    spans = dict(_live_intervals(nest))
    first = {s.name: s for s in nest.storage if s.role == "local" and s.name in spans and _is_symbolic(s)}
    chosen, free = dict[str, Storage](), list[tuple[int, Storage]]()
    # In the order of starts, the first array that is dead by then; arrays that were allocated early come first.
    for name in sorted(first, key=lambda n: (spans[n], n)):
        start, end = spans[name]
        size = _size(first[name])
        fits = [k for k, (last, other) in enumerate(free) if last < start and _size(other) == size]
        if fits:
            other = free[fits[0]][1]
            free[fits[0]] = (end, other)
        else:
            other = replace(first[name], shape=size[1])
            free.append((end, other))
        chosen[name] = other
    # Without a shared array the shapes stay those of the source.
    if len(free) == len(first):
        return nest
    kept = {other.name: other for _, other in free}
    storage = tuple(kept.get(s.name, s) for s in nest.storage if s.name in kept or s.name not in first)
    renamed = _SharedReferences({name: (first[name], other) for name, other in chosen.items()})
    return replace(nest, storage=storage, body=renamed.nodes(nest.body))


class _SharedReferences(Rewriter):
    """References to the shared arrays, with indices along neighbouring constant extents as one."""

    def __init__(self, shared: dict[str, tuple[Storage, Storage]]) -> None:
        self.shared = shared

    def reference(self, reference: Reference) -> Reference:
        if reference.name not in self.shared:
            return reference
        old, new = self.shared[reference.name]
        index = list[Affine]()
        for first, *rest in _groups(old.shape):
            form = reference.index[first]
            for n in rest:
                form = form * old.shape[n].constant + reference.index[n]
            index.append(form)
        return replace(reference, name=new.name, index=tuple(index))


def _live_intervals(nest: Nest) -> Iterator[tuple[str, tuple[int, int]]]:
    """First and last node of the body that names each array."""
    found = dict[str, list[int]]()
    # Nodes of the outermost level: what a loop names is live from its first to its last iteration.
    for n, node in enumerate(nest.body):
        for name in _named_arrays(node):
            found.setdefault(name, []).append(n)
    for name, places in found.items():
        yield name, (places[0], places[-1])


def _named_arrays(node: Node) -> set[str]:
    found = set[str]()
    for assign in assignments((node,)):
        found.add(assign.target.name)
        found.update(reference.name for reference in accesses(assign.value))
    return found


def _groups(shape: Sequence[Affine]) -> list[list[int]]:
    """Dimensions, neighbouring ones of constant extent together."""
    found = list[list[int]]()
    for n, extent in enumerate(shape):
        if found and extent.is_constant and shape[n - 1].is_constant:
            found[-1].append(n)
        else:
            found.append([n])
    return found


def _size(storage: Storage) -> tuple[str, tuple[Affine, ...]]:
    """The element type, and extents with neighbouring constant ones as their product."""
    shape = storage.shape
    return storage.dtype, tuple(
        shape[group[0]] if len(group) == 1 else Affine((), prod(shape[n].constant for n in group))
        for group in _groups(shape)
    )


def _is_symbolic(storage: Storage) -> bool:
    return any(not extent.is_constant for extent in storage.shape)
