# SPDX-License-Identifier: Apache-2.0
"""Parts of a nest that run one after another: which locals carry values from one to another.

A value crosses where a read in one part finds what another part wrote, or what the same part wrote in an earlier step
of the loops around it. The last writers of the whole nest say it exactly. Locals whose values cross live in arrays
beside the parts; the others stay what they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from polyloom.ir.nest import Nest, Statement, Storage, accesses, assignments
from polyloom.ir.pla import Reference
from polyloom.transform.pieces import shared_loops, split_by_level
from polyloom.transform.writers import Writers


class Parts:
    """Values that cross parts of a nest (live-in and live-out sets of loop fission), by the dataflow of the whole nest,
    before anything is removed from it.
    """

    def __init__(self, nest: Nest) -> None:
        self._reads = list(flows_of_locals(nest))
        """(reader, storage, writer, how many outer loops have the value in common)."""

    def storage(self, part: Nest, counters: tuple[str, ...]) -> tuple[Storage, ...]:
        """What the part uses; locals whose values cross are arguments."""
        written = {a.target.name for a in assignments(part.body)}
        used = written | {r.name for a in assignments(part.body) for r in accesses(a.value)}
        crossing = {*self._imported_locals(part, counters), *self._exported_locals(part, counters)}
        return tuple(replace(s, role="argument") if s.name in crossing else s for s in part.storage if s.name in used)

    def unread(self, part: Nest, counters: tuple[str, ...]) -> frozenset[str]:
        """Locals of the whole nest that come into the part, and whose values there no other part or step reads."""
        return frozenset(self._imported_locals(part, counters)).difference(self._exported_locals(part, counters))

    def _imported_locals(self, part: Nest, counters: tuple[str, ...]) -> Iterator[str]:
        own = {a.name for a in assignments(part.body)}
        for reader, storage, writer, common in self._reads:
            # Fewer common loops than counters: the writer was an earlier step.
            if reader in own and (writer not in own or common < len(counters)):
                yield storage

    def _exported_locals(self, part: Nest, counters: tuple[str, ...]) -> Iterator[str]:
        own = {a.name for a in assignments(part.body)}
        for reader, storage, writer, common in self._reads:
            if writer in own and (reader not in own or common < len(counters)):
                yield storage


def flows_of_locals(nest: Nest) -> Iterator[tuple[str, str, str, int]]:
    """Value-based dependences through locals (Feautrier 1991): reader, storage, writer, and how many outer loops have
    the same iteration in both.
    """
    writers = Writers.from_nest(nest)
    for statement in writers.statements:
        for access in accesses(statement.assign.value):
            if nest[access.name].role == "local":
                for writer, common in _sources(writers, statement, access):
                    yield statement.assign.name, access.name, writer, common


def _sources(writers: Writers, reader: Statement, read: Reference) -> Iterator[tuple[str, int]]:
    """Sources of a read: who wrote what is read, and in how many outer loops that was the same iteration."""
    just_before = writers.textual_predecessor(reader, read)
    if just_before is not None:
        yield just_before.assign.name, len(reader.loops)
        return
    for writer, relation in writers.reaching_writers(reader, read):
        for common, pairs in enumerate(split_by_level(relation, len(shared_loops(reader, writer)))):
            if not pairs.is_empty():
                yield writer.assign.name, common
