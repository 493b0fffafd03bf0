# SPDX-License-Identifier: Apache-2.0
"""In-place execution: whether a result may have the memory of an array that is read (Feautrier 1991: no element is read
behind a write of it, so that neither order nor values change).
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.ir.nest import Nest, accesses, statements
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.pla import Reference
from polyloom.transform.writers import Writers


def runs_in_place(nest: Nest, result: str, read: str) -> bool:
    """Whether a nest computes the same where the array `read` is the array `result`, of the same shape, which it
    writes: for all values of the parameters.
    """
    if nest[result].shape != nest[read].shape or nest[result].dtype != nest[read].dtype:
        return False
    one = replace(nest, body=_Renamed(read, result).nodes(nest.body))
    writers = Writers.from_nest(one)
    # What reads the one array in the nest reads an element of the other, too, where they are one.
    return not any(
        True
        for old, new in zip(statements(nest), writers.statements, strict=True)
        for reference in accesses(old.assign.value)
        if reference.name == read
        for _ in writers.reaching_writers(new, replace(reference, name=result))
    )


class _Renamed(Rewriter):
    """References to one array as references to another."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def reference(self, reference: Reference) -> Reference:
        return replace(reference, name=self.new) if reference.name == self.old else reference
