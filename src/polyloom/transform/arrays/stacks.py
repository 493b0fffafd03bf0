# SPDX-License-Identifier: Apache-2.0
"""Stacked values are stored one by one (index-set splitting; Banerjee, Loop Parallelization, 1994, chapter 4).

A store of `np.stack([a, b], axis=-1)` is a piecewise value whose condition chooses along an axis of two. Split at the
condition it is one store per place of the axis, without a branch in its loops, and without arrays that hold `a` and `b`
until they are interleaved: rotary embeddings, complex numbers and other pairs are written so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from polyloom.ir.arrays.program import (
    Cases,
    For,
    If,
    Program,
    Read,
    Shape,
    Statement,
    Store,
    Value,
    axes,
    axis,
    element_view,
    reads,
    shape,
)
from polyloom.sets import Affine

_PLACES: Final = 4
"""The longest axis that is split: each place has its own nest."""


def split_stacks(program: Program) -> Program:
    """The program in which no store chooses among values along a short axis alone."""
    return replace(program, body=_block(program.body))


def _block(body: Sequence[Statement]) -> tuple[Statement, ...]:
    found = list[Statement]()
    for statement in body:
        match statement:
            case For():
                found.append(replace(statement, body=_block(statement.body)))
            case If():
                found.append(replace(statement, body=_block(statement.body), orelse=_block(statement.orelse)))
            case Store():
                found += _split(statement)
    return tuple(found)


def _split(store: Store) -> list[Store]:
    value, target = store.value, store.target
    along = None if not isinstance(value, Cases) else _stacked_axis(value)
    # What is stored at one place must not be read at another.
    if along is None or any(read.name == target.name for read in reads(value)):
        return [store]
    found = list[Store]()
    for place in range(target.shape[along].constant):
        index = (*axes(along), Affine((), place), *(axis(n - 1) for n in range(along + 1, len(target.shape))))
        extents = (*target.shape[:along], *target.shape[along + 1 :])
        part = element_view(target, index, extents, target.span)
        assert isinstance(part, Read)
        found.append(Store(part, _value_at(value, along, place, index, extents), store.span))
    return found


def _stacked_axis(value: Cases) -> int | None:
    """The axis that alone decides a piecewise value, if it is short."""
    names = value.condition.symbols
    for n, extent in enumerate(value.shape):
        if names == frozenset((f"${n}",)) and extent.is_constant and 1 < extent.constant <= _PLACES:
            return n
    return None


def _value_at(value: Value, along: int, place: int, index: tuple[Affine, ...], extents: Shape) -> Value:
    """The slice of a value at a place of an axis."""
    if isinstance(value, Cases) and value.condition.symbols == frozenset((f"${along}",)):
        holds = value.condition.contains({f"${along}": place})
        return _value_at(value.inside if holds else value.outside, along, place, index, extents)
    return element_view(value, index, extents) if shape(value) else value
