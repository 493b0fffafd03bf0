# SPDX-License-Identifier: Apache-2.0
"""Parts of a nest that run one after another: which locals carry values from one to another.

A value crosses where a read in one part finds what another part wrote, or what the same part wrote in an earlier step
of the loops around it. The dataflow of the whole nest says it exactly. Locals whose values cross live in arrays beside
the parts; the others stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyloom.ir.nest import Nest, Storage, accesses, assignments
from polyloom.ir.recurrence import Produced, System
from polyloom.sets import Affine


class Parts:
    """`flow` is the dataflow of the whole nest before anything is removed from it."""

    def __init__(self, nest: Nest, flow: System) -> None:
        self._locals = frozenset(s.name for s in nest.storage if s.role == "local")
        self._reads = [
            (equation.name, access.name, origin.statement, _kept(equation.loops, origin.index))
            for equation in flow.equations
            for access, pieces in zip(accesses(equation.value), equation.reads, strict=True)
            for origin in (piece.origin for piece in pieces)
            if isinstance(origin, Produced) and access.name in self._locals
        ]
        """(reader, storage, writer, how many outer loops have the value in common)."""

    def storage(self, part: Nest, counters: tuple[str, ...]) -> tuple[Storage, ...]:
        """What the part uses; locals whose values cross are arguments."""
        written = {a.target.name for a in assignments(part.body)}
        used = written | {r.name for a in assignments(part.body) for r in accesses(a.value)}
        crossing = {*self._entering(part, counters), *self._leaving(part, counters)}
        return tuple(replace(s, role="argument") if s.name in crossing else s for s in part.storage if s.name in used)

    def unread(self, part: Nest, counters: tuple[str, ...]) -> frozenset[str]:
        """Locals of the whole nest that come into the part, and whose values there no other part or step reads."""
        return frozenset(self._entering(part, counters)).difference(self._leaving(part, counters))

    def _entering(self, part: Nest, counters: tuple[str, ...]) -> Iterator[str]:
        own = {a.name for a in assignments(part.body)}
        for reader, storage, writer, common in self._reads:
            if reader in own and (writer not in own or common < len(counters)):
                yield storage

    def _leaving(self, part: Nest, counters: tuple[str, ...]) -> Iterator[str]:
        own = {a.name for a in assignments(part.body)}
        for reader, storage, writer, common in self._reads:
            if writer in own and (reader not in own or common < len(counters)):
                yield storage


def _kept(loops: tuple[str, ...], index: tuple[Affine, ...]) -> int:
    """In how many outer loops a value is read in the iteration that it was computed in."""
    same = [Affine.symbol(loop) == at for loop, at in zip(loops, index, strict=False)]
    return next((n for n, equal in enumerate(same) if not equal), len(same))
