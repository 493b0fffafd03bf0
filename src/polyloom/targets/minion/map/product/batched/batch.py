# SPDX-License-Identifier: Apache-2.0
"""Batch form: products of parts of arrays, one or many of one shape, for the tensor coprocessor (batched gemm; Dongarra
et al. 2017).

Of several products, each group of minions computes some, without waiting for other groups: products of a few blocks
would leave most of a shire idle, and each would have a beginning and an end of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from polyloom.analysis.contraction import Contraction, Matrix
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Reference
from polyloom.targets.minion.machine import MINIONS_PER_SHIRE
from polyloom.targets.minion.map.frame import Part, Team, barrier, span_place
from polyloom.targets.minion.map.phase_work import Arrays, Made, Multiplied, Setting, Work
from polyloom.targets.minion.map.product import arithmetic
from polyloom.targets.minion.map.product.batched.strided_parts import Shapes, fills_words, fits_lines
from polyloom.targets.minion.map.product.compile import (
    PACKED,
    PACKS,
    build_problem,
    has_helpers,
    leading_hart_waits,
    on_first_harts,
    product_code,
)
from polyloom.targets.minion.map.product.grid import grid
from polyloom.targets.minion.map.product.loop import Problem, product_loop
from polyloom.targets.minion.map.product.operand import FP32, INT8, KINDS, Kind, packed_tiles
from polyloom.targets.minion.map.product.pack_tiles import Packing, packing_loop
from polyloom.targets.minion.map.product.predict import cycles
from polyloom.targets.minion.map.product.tensor_assembly import li
from polyloom.targets.minion.map.product.tile_selection import lower_blocks
from polyloom.targets.minion.memory_map import OWN_SCRATCHPAD
from polyloom.targets.minion.words.layout import PlacedPart
from polyloom.targets.minion.words.tiles import ROWS, TILE, Tiles
from polyloom.transform.parallel.restructuring.strided_products import Axis, StridedProduct, loop_axis, part_index

MOST: Final = 64
"""Products of a batch: each has code of its own."""
_LEFT, _RIGHT, _RESULT = "left", "right", "result"
_CONTRACTION: Final = Contraction(
    Matrix(_LEFT, (0,), (1,)), Matrix(_RIGHT, (0,), (1,)), Matrix(_RESULT, (0,), (1,)), "depth"
)
"""Product of parts, by the names that they have in a setting."""


def batch_work(found: StridedProduct, types: Mapping[str, ElementType], shapes: Shapes, fp: str) -> Work | None:
    """Work of products; None where only other arithmetic computes them, or parts are not whole lines. `shapes` are
    those of arrays.
    """
    kind = KINDS.get((types[found.left.name], types[found.right.name], found.widened))
    # Sums of halves are rounded in no order that the source could have.
    if kind not in (FP32, INT8) or (kind is not INT8 and fp != "contract"):
        return None
    result = types[found.result.name]
    if result != ("i32" if kind is INT8 else "f32") or not 1 <= found.instances <= MOST:
        return None
    if not fits_lines(found, types, shapes) or not fills_words(found, types, shapes):
        return None
    if kind is INT8 and _innermost_symbol(found.right) != found.column.name:
        return None
    made = _Batch(found, kind, fp)
    return Work("product", 1, "scratchpad", made.code, made.results, helpers=made.has_helpers, is_discrete=kind is INT8)


def _innermost_symbol(reference: Reference) -> str:
    return next((name for name, _ in reference.index[-1].terms), "")


@dataclass(frozen=True, slots=True)
class _Batch:
    """Products of one shape."""

    found: StridedProduct
    kind: Kind
    fp: str

    def results(self, values: Mapping[str, int], read: Arrays, held: Arrays) -> Arrays:
        """Results in the machine's arithmetic."""
        f = self.found
        out, arrays = held[f.result.name].copy(), {**held, **read}
        for point in f.batch_points():
            known = {**values, **point}
            row, column, depth = (loop_axis(loop, values) for loop in (f.row, f.column, f.depth))
            left = arrays[f.left.name][part_index(f.left, row, depth, known)]
            right = arrays[f.right.name][part_index(f.right, depth, column, known)]
            out[part_index(f.result, row, column, known)] = self._multiply(left, right)
        return {**held, f.result.name: out}

    def _multiply(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        if self.kind is INT8:
            # Exact in double precision, and int32 wraps as IMA8 does.
            return (left.astype(np.float64) @ right.astype(np.float64)).astype(np.int64).astype(np.int32)
        return arithmetic.product(np.ascontiguousarray(left), np.ascontiguousarray(right))

    def settings(self, setting: Setting) -> Iterator[Setting]:
        """Setting of each product, in which its operands have their names as parts."""
        f, values = self.found, setting.values
        row, column, depth = (loop_axis(loop, values) for loop in (f.row, f.column, f.depth))
        axes = {_LEFT: (f.left, row, depth), _RIGHT: (f.right, depth, column), _RESULT: (f.result, row, column)}
        for number, point in enumerate(f.batch_points()):
            known = {**values, **point}
            arrays = {name: _place_part(*of, known, setting) for name, of in axes.items()}
            yield replace(setting, arrays=arrays, prefix=f"{setting.prefix}.b{number}")

    def multiplied(self) -> Multiplied:
        return Multiplied(_CONTRACTION, self.kind, self.fp, span_place(self.found.span))

    def has_helpers(self, setting: Setting) -> bool:
        """Whether second harts help: only those of a single product do."""
        return self.found.instances == 1 and has_helpers(self.multiplied(), next(self.settings(setting)))

    def code(self, setting: Setting) -> Made:
        """Code of all products. Errors: as `product_code`."""
        if self.found.instances == 1:
            return product_code(self.multiplied(), next(self.settings(setting)))
        return _batch_code(self.multiplied(), tuple(self.settings(setting)), setting)


def _place_part(
    reference: Reference, one: Axis, other: Axis, values: Mapping[str, int], setting: Setting
) -> PlacedPart:
    """Place of a part of an array."""
    whole = setting.arrays[reference.name]
    steps = whole.steps()
    first = {**values, one.name: one.values.start, other.name: other.values.start}
    address = whole.address + sum(i.evaluate(first) * step for i, step in zip(reference.index, steps, strict=True))
    strides = [
        sum(i.coefficient(axis.name) * step for i, step in zip(reference.index, steps, strict=True))
        for axis in (one, other)
    ]
    shape = len(one.values), len(other.values)
    return PlacedPart(whole.name, whole.dtype, shape, address, tuple(strides))


@dataclass(frozen=True, slots=True)
class _Instance:
    """Product of a batch: the problem for its group of minions, from number `first` on, and tiles that it packs."""

    setting: Setting
    problem: Problem
    source: Tiles | None
    team: Team
    first: int


def _batch_code(m: Multiplied, settings: Sequence[Setting], setting: Setting) -> Made:
    """Code of several products: all pack what has to be packed, meet once, and multiply."""
    team = _group_team(len(settings), setting.team)
    groups = setting.team.minions // team.minions
    rounds = -(-len(settings) // groups)
    each = partial(_instance, m, setting=setting, team=team, groups=groups, rounds=rounds)
    instances = [each(number, own) for number, own in enumerate(settings)]
    packs = any(i.source is not None for i in instances)
    parts = list[Part]()
    if packs:
        for i in instances:
            parts.append(_group_part(i, packing_loop(_packing(i), i.setting.prefix), m, "packs"))
        is_near = instances[0].problem.right.address < setting.scratch
        who = replace(setting.team, minions=setting.team.shire_minions) if is_near else setting.team
        parts.append(barrier(who, f"{setting.prefix}.all", PACKED))
    for i in instances:
        lines = [
            *product_loop(i.problem, grid(team, i.problem.block_rows, i.problem.block_columns), i.setting.prefix),
            *leading_hart_waits(replace(setting, is_last=False), streams=True),
        ]
        parts.append(_group_part(i, lines, m, "multiplies"))
    first = settings[0]
    left, right = first.arrays[_LEFT], first.arrays[_RIGHT]
    macs = left.shape[0] * left.shape[1] * right.shape[1] * len(settings)
    scratch = sum(_packed_bytes(i) for i in instances if i.problem.right.address >= setting.scratch)
    return Made(tuple(parts), {}, macs, m.kind.peak, scratch, buffer=0 if packs else None)


def _group_team(count: int, team: Team) -> Team:
    """Group of minions that computes a product: of so many groups as there are products, or of one minion each. Groups
    are powers of two, which parts of a shire or whole shires are.
    """
    minions = max(1, team.minions // count)
    return Team(1 << (minions.bit_length() - 1))


def _instance(
    m: Multiplied, number: int, own: Setting, *, setting: Setting, team: Team, groups: int, rounds: int
) -> _Instance:
    """Product of a batch for its group. Tiles are packed in the scratchpad of the shire where groups are parts of
    shires, each group's products behind one another, and else in DRAM.
    """
    p, source = build_problem(m, replace(own, team=replace(team, harts=setting.team.harts)))
    if source is not None:
        size = p.block_columns * p.steps * TILE
        group, turn = number % groups, number // groups
        per_shire = max(1, MINIONS_PER_SHIRE // team.minions)
        place = (group % per_shire * rounds + turn) * size
        is_near = team.minions <= MINIONS_PER_SHIRE and per_shire * rounds * size <= setting.scratchpad
        p = replace(
            p, right=packed_tiles(OWN_SCRATCHPAD + place if is_near else setting.scratch + number * size, p.steps)
        )
    p = _choose_height(p, team)
    return _Instance(own, p, source, team, number % groups * team.minions)


def _choose_height(p: Problem, team: Team) -> Problem:
    """Rows of a block with the fewest predicted cycles: whole blocks may leave minions of the group idle."""
    if p.left.transform != "plain":
        return p
    lower = lower_blocks(p, ROWS // 2)
    return min((p, lower), key=lambda q: cycles(q, grid(team, q.block_rows, q.block_columns), is_staged=True))


def _packing(i: _Instance) -> Packing:
    assert i.source is not None, "all products of a batch have one layout"
    return Packing(i.source, i.problem.right.address, i.problem.block_columns, i.problem.steps, i.team.minions)


def _packed_bytes(i: _Instance) -> int:
    return 0 if i.source is None else i.problem.block_columns * i.problem.steps * TILE


def _group_part(i: _Instance, lines: Sequence[str], m: Multiplied, what: str) -> Part:
    """Lines for the first harts of a group, whose minions count from 0 in s0 meanwhile."""
    over = f"{i.setting.prefix}.{what}_over"
    own = f"{i.setting.prefix}.{what}"
    # A jump reaches further than a branch.
    enter = [li("t0", i.first), "sub s0, s0, t0", li("t1", i.team.minions), f"bltu s0, t1, {own}", f"j {over}"]
    code = (*enter, f"{own}:", *lines, f"{over}:", li("t0", i.first), "add s0, s0, t0")
    place = replace(m.place, reason=PACKS) if what == "packs" else m.place
    return on_first_harts(Part(code, place), i.setting, f"{what}_skip")
