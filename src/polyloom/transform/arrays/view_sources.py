# SPDX-License-Identifier: Apache-2.0
"""Views of sums become views of arrays: the sum is stored first, and what names the view reads that array.

`q = (h @ w).reshape(n, heads, k)` is then a product and a map of indices, as it is in NumPy, where a view has a base
that was computed whole. Without this the product and its copy in the view's shape are two arrays and two nests. Fusion
replaces the view, which costs nothing, wherever it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom.ir.arrays.program import (
    For,
    If,
    Program,
    Statement,
    Store,
    View,
    axes,
    dtype,
    element_view,
    has_sum,
    read_array,
    shape,
)
from polyloom.ir.nest import Storage
from polyloom.names import fresh_name
from polyloom.transform.arrays.ranges import bound_by_sizes, loop_names


def store_view_sources(program: Program) -> Program:
    """The program in which no whole local array is stored as a view of a sum."""
    locals_ = {s.name for s in program.storage if s.role == "local"}
    taken = {*program.parameters, *(s.name for s in program.storage), *loop_names(program.body)}
    made = list[Storage]()

    def block(body: Sequence[Statement], loops: dict[str, For]) -> tuple[Statement, ...]:
        found = list[Statement]()
        for statement in body:
            match statement:
                case For(loop=loop):
                    found.append(replace(statement, body=block(statement.body, {**loops, loop: statement})))
                case If(body=inside, orelse=outside):
                    found.append(replace(statement, body=block(inside, loops), orelse=block(outside, loops)))
                case Store(target=target, value=View(source=source, index=index, shape=extents, span=span)) if (
                    target.name in locals_ and target.index == axes(len(extents)) and has_sum(source)
                ):
                    # Storage is made before all loops, where their names have no values.
                    span = span or statement.span  # views of a model's nodes have the place of the node alone
                    room = tuple(bound_by_sizes(extent, loops) for extent in shape(source))
                    storage = Storage(fresh_name("base", taken), dtype(source), room, "local", True, span)
                    made.append(storage)
                    base = replace(read_array(storage, span), shape=shape(source))
                    found.append(Store(base, source, span))
                    found.append(replace(statement, value=element_view(base, index, extents, span)))
                case Store():
                    found.append(statement)
        return tuple(found)

    body = block(program.body, {})
    return replace(program, body=body, storage=(*program.storage, *made))
