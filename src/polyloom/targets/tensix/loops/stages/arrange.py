# SPDX-License-Identifier: Apache-2.0
"""How the array of each stage is a matrix in L1: which of its dimensions are rows, and which columns.

An array that a stage makes lies in L1 once. A product may compute its transpose from the transposes of its factors, and
takes the right factor either way (the unpacker turns it); an element-wise program has all of its arrays alike. The
first choice that suits all stages is taken. Arguments are laid out as each stage wants them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from polyloom.analysis.contraction import Contraction, Matrix
from polyloom.analysis.dataflow import refuse
from polyloom.targets.tensix.loops.stages.stage import Apply, Multiply, Stage, Stages
from polyloom.targets.tensix.loops.steps import Pointwise, Source, Step

_Flat = tuple[tuple[int, ...], tuple[int, ...]]
"""Rows and columns."""


@dataclass(frozen=True, slots=True)
class Product:
    """A product as the tile computes it; `turned`: the right factor lies in L1 as its transpose."""

    stage: Multiply
    contraction: Contraction
    turned: bool

    @property
    def result(self) -> Matrix:
        return self.contraction.result


@dataclass(frozen=True, slots=True)
class Elements:
    """An element-wise program and how its arrays are matrices."""

    stage: Apply
    result: Matrix


Arranged = Product | Elements


def arranged(stages: Stages) -> tuple[Arranged, ...]:
    """Raises `Unlike`."""
    for each in stages.stages:
        _check(each, stages)
    found = _search(stages, 0, {})
    if found is None:
        refuse("no order of rows and columns suits all stages that read what others made")
    _check_padding(stages)
    return found


def _check(stage: Stage, stages: Stages) -> None:
    """What a stage makes is spread over no other array."""
    if isinstance(stage, Multiply):
        return
    rank = len(stages.shapes[stage.result])
    for spread in stage.pointwise.arrays:
        if spread.array in stages.made and (len(stages.shapes[spread.array]) != rank or -1 in spread.axes):
            label = next(each.label for each in stages.stages if each.result == spread.array)
            message = f"`{label}` is computed, and would have to be spread over the elements of `{stage.label}`"
            refuse(message, stage.span)


def _search(stages: Stages, number: int, known: Mapping[str, _Flat]) -> tuple[Arranged, ...] | None:
    if number == len(stages.stages):
        return ()
    stage = stages.stages[number]
    for made in _products(stage, known) if isinstance(stage, Multiply) else _elements(stage, stages, known):
        result = made.result
        rest = _search(stages, number + 1, {**known, stage.result: (result.rows, result.columns)})
        if rest is not None:
            return made, *rest
    return None


def _products(stage: Multiply, known: Mapping[str, _Flat]) -> Iterator[Product]:
    c = stage.contraction
    for each in (c, replace(c, left=_turned(c.right), right=_turned(c.left), result=_turned(c.result))):
        left, right = each.left, each.right
        if known.get(left.array, (left.rows, left.columns)) == (left.rows, left.columns):
            flat = known.get(right.array, (right.rows, right.columns))
            if flat in ((right.rows, right.columns), (right.columns, right.rows)):
                yield Product(stage, each, flat != (right.rows, right.columns))


def _turned(matrix: Matrix) -> Matrix:
    return replace(matrix, rows=matrix.columns, columns=matrix.rows)


def _elements(stage: Apply, stages: Stages, known: Mapping[str, _Flat]) -> Iterator[Elements]:
    found = dict[_Flat, None]()
    for spread in stage.pointwise.arrays:
        if spread.array in known:
            rows, columns = (tuple(map(spread.axes.index, part)) for part in known[spread.array])
            found[rows, columns] = None
    if len(found) > 1:
        return
    for rows, columns in found or _wanted(stages, len(stages.shapes[stage.result])):
        yield Elements(stage, Matrix(stage.result, rows, columns))


def _wanted(stages: Stages, rank: int) -> Sequence[_Flat]:
    """All but the last dimension as rows, and whatever products have of arrays of so many dimensions."""
    found: dict[_Flat, None] = {
        ((*range(rank - 1),), (*range(rank - 1, rank),)) if rank > 1 else ((*range(rank),), ()): None
    }
    for stage in stages.stages:
        for m in (stage.contraction.left, stage.contraction.right) if isinstance(stage, Multiply) else ():
            if len(m.rows) + len(m.columns) == rank:
                found |= {(m.rows, m.columns): None, (m.columns, m.rows): None}
    return [*found]


def _check_padding(stages: Stages) -> None:
    """Beyond the sum's last element, one of both factors is zero."""
    clean = dict[str, bool]()
    for stage in stages.stages:
        zeros = [clean.get(name, True) for name in stage.reads]
        if isinstance(stage, Multiply):
            if not any(zeros):
                message = f"both factors of `{stage.label}` are computed, and neither is 0 where its inputs are"
                refuse(message, stage.span)
            clean[stage.result] = all(zeros)
        else:
            clean[stage.result] = _is_zero(stage.pointwise, zeros)


def _is_zero(p: Pointwise, zeros: Sequence[bool]) -> bool:
    """Whether a formula is 0 where those arrays are."""
    made = list[bool]()

    def of(source: Source) -> bool:
        kind, number = source
        if kind == "array":
            return zeros[number]
        return made[number] if kind == "step" else (kind, number) == ("bits", 0)

    for step in p.steps:
        made.append(_step_is_zero(step, [of(operand) for operand in step.operands]))
    return of(p.value)


def _step_is_zero(step: Step, zeros: Sequence[bool]) -> bool:
    match step.name:
        case "sfpmul" | "sfpand":
            return any(zeros)
        case "sfpmad":
            return any(zeros[:2]) and zeros[2]
        case "select":
            return all(zeros[2:])
        case _:
            return all(zeros)
