# SPDX-License-Identifier: Apache-2.0
"""Sharing of rows: which works of a nest give each shire the iterations whose rows it owns (owner-computes rule; Rogers
and Pingali 1989).

Rows are what the first index of an array of two or more dimensions chooses; they begin at cache lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from polyloom.ir.nest import Nest, accesses, assignments
from polyloom.ir.pla import Reference
from polyloom.sets import Affine
from polyloom.transform.parallel.block_partition import Blocks
from polyloom.transform.parallel.work_sharing import Item, Work, walk_works


@dataclass(frozen=True, slots=True)
class Ownership:
    """Rows of each shire, 0 where they are not distributed, and those of all; the nest's arrays that are accessed
    within shires only.
    """

    rows: int = 0
    total: int = 0
    near: frozenset[str] = frozenset()


def shares_rows(work: Work, nest: Nest, total: int) -> bool:
    """Whether an iteration of the parallel loop writes the row of its number, of every array, and shires own all rows
    that there are.
    """
    loop = work.loop
    if loop is None or work.outer or work.blocks != Blocks() or loop.step != 1:
        return False
    written = (a.target for a in assignments(work.nodes) if a.target.name not in work.registers)
    return all(_is_row(r, loop.name) and nest[r.name].shape[0].constant <= total for r in written)


def row_arrays(items: Sequence[Item], nest: Nest, total: int) -> frozenset[str]:
    """Arrays that all works access at the row of the iteration."""
    touched, others = set[str](), set[str]()
    for work in walk_works(items):
        loop = work.loop.name if work.loop is not None and shares_rows(work, nest, total) else None
        for reference in _references(work):
            touched.add(reference.name)
            if loop is None or not _is_row(reference, loop):
                others.add(reference.name)
    return frozenset(touched - others)


def _references(work: Work) -> Iterator[Reference]:
    """Accesses of arrays in memory."""
    for assign in assignments(work.nodes):
        yield from (r for r in (assign.target, *accesses(assign.value)) if r.name not in work.registers)


def _is_row(reference: Reference, loop: str) -> bool:
    return len(reference.index) > 1 and reference.index[0] == Affine.symbol(loop)
