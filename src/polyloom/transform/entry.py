# SPDX-License-Identifier: Apache-2.0
"""Values at entry: which arguments' elements show as the caller left them, and which locals have none.

Both are questions about sets of instances (`transform.writers`), so they have answers where origins are not affine,
because of a stride, and there is no system of equations.
"""

from __future__ import annotations

from polyloom.ir.nest import Nest, Storage, accesses
from polyloom.names import hidden_dims
from polyloom.transform.space import Space
from polyloom.transform.writers import Writers


def observable_arguments(nest: Nest) -> frozenset[str]:
    """Upward exposed arguments: those whose elements at entry show, for some values of the parameters, because they are
    read, or not all of them overwritten.
    """
    writers = Writers.from_nest(nest)
    written = {s.assign.target.name for s in writers.statements}
    return frozenset(
        s.name
        for s in nest.storage
        if s.role == "argument"
        and (_is_read(writers, s.name) or (s.name in written and not _is_overwritten(writers, s)))
    )


def _is_read(writers: Writers, name: str) -> bool:
    reads = ((s, read) for s in writers.statements for read in accesses(s.assign.value) if read.name == name)
    return any(not writers.unwritten(statement, read).is_empty() for statement, read in reads)


def _is_overwritten(writers: Writers, storage: Storage) -> bool:
    nest, cells = writers.nest, hidden_dims(len(storage.shape))
    space = Space(cells, nest.parameters, nest.assumptions)
    # All elements first; what each last writer covers is taken away.
    rest = space.solutions(
        *(
            bound
            for here, extent in zip(space.point_symbols, storage.shape, strict=True)
            for bound in (here, extent - here - 1)
        )
    )
    for statement, points in writers.finally_(storage):
        own = Space(statement.loops, nest.parameters, nest.assumptions)
        rest = rest.subtract(own.image(points, statement.assign.target.index, cells))
    return rest.is_empty()
