# SPDX-License-Identifier: Apache-2.0
"""Recurrences as programs of whole arrays: the statements as arrays, and stores of the outputs, of which several
statements write parts, or one statement a part. Sizes are taken to be at least 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from polyloom.analysis.dataflow import refuse
from polyloom.ir.arrays.program import Program, Store, axes, read_array
from polyloom.ir.recurrence import Final as LastWrite
from polyloom.ir.recurrence import Piece, Produced, Stored, System
from polyloom.sets import Affine
from polyloom.sets.isl import from_set
from polyloom.transform.stages.statement_arrays import StatementArrays
from polyloom.transform.stages.system_domains import box_condition, equalities


def system_arrays(system: System) -> tuple[Program, tuple[Store, ...]]:
    """Program of whole arrays with the outputs of a system, and its stores. Raises `Unlike` for recurrences that are no
    sums.
    """
    if len({*(s.dtype for s in system.storage), *(e.dtype for e in system.equations)}) > 1:
        refuse(f"`{system.name}` computes values of several types", system.span)
    arrays = StatementArrays(system)
    finals = [f for f in system.finals if not arrays.domains.domain(system[f.statement], f.domain).is_empty()]
    outputs = [
        store_output(arrays, name, [f for f in finals if f.name == name]) for name in {f.name: 0 for f in finals}
    ]
    storage = (*system.storage, *(m.storage for m in arrays.made.values()))
    stores = (*arrays.stores, *outputs)
    return Program(system.name, system.parameters, system.assumptions, storage, stores, system.span), stores


def store_output(arrays: StatementArrays, name: str, finals: Sequence[LastWrite]) -> Store:
    """Store of an output: what each of its last writers computed, and elsewhere what it held."""
    storage = arrays.storage[name]
    dims, span = tuple(map(str, axes(len(storage.shape)))), arrays.system[finals[0].statement].span
    pieces = [piece for final in finals for piece in _final_pieces(arrays, final, dims)]
    whole = arrays.domains.points(box_condition(dict(zip(dims, storage.shape, strict=True))), dims)
    rest = whole
    # What no statement writes keeps the value that the caller gave.
    for piece in pieces:
        rest = rest.subtract(arrays.domains.points(piece.domain, dims))
    if not rest.is_empty():
        pieces.append(Piece(from_set(rest), Stored(name, axes(len(dims)))))
    place = {dim: Affine.symbol(dim) for dim in dims}
    return Store(read_array(storage, span), arrays.sources.select(pieces, dims, whole, place, storage.shape), span)


def _final_pieces(arrays: StatementArrays, final: LastWrite, dims: tuple[str, ...]) -> Iterator[Piece]:
    """Last write as pieces over the axes of its output, of a sum one for each bound of its loop."""
    equation, made = arrays.system[final.statement], arrays.raise_statement(final.statement)
    # Where a loop has one iteration, the index may be its number.
    domain, places = arrays.domains.domain(equation, final.domain), [*zip(final.index, dims, strict=True)]
    known = {
        loop: Affine.symbol(dim)
        for loop in made.dims
        for form, dim in places
        if domain.is_subset(arrays.domains.points(equalities([form - Affine.symbol(loop)]), equation.loops))
    }
    if not {*made.dims} <= {*known}:
        refuse(f"an element of `{final.name}` is not told by the loops that write it", equation.span)
    joint = (*equation.loops, *dims)
    same = [Affine.symbol(dim) - form for form, dim in places]
    written = arrays.domains.points(final.domain, joint).intersect(arrays.domains.points(equalities(same), joint))
    if made.over and not arrays.sources.ends_sum(made, Affine.symbol(made.over), {}, domain):
        refuse(f"`{final.name}` is written before its sum ends", equation.span)
    for last in made.last or (Affine(),):
        at_end = [Affine.symbol(made.over) - last] if made.over else []
        image = written.intersect(arrays.domains.points(equalities(at_end), joint))
        image = image.project_out(isl.dim_type.set, 0, len(equation.loops))
        for n, dim in enumerate(dims):
            image = image.set_dim_name(isl.dim_type.set, n, dim)
        end = last.substitute(known)
        index = tuple(end if loop == made.over else known[loop] for loop in equation.loops)
        if not image.is_empty():
            yield Piece(from_set(image), Produced(final.statement, index))
