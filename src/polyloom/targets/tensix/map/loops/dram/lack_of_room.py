# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of a program of several stages that L1 does not hold: the stage at which most bytes are live, and which
arrays those are (register pressure, of arrays; Chaitin et al. 1981 count live values at a place in the same way)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from polyloom.diagnostics import PolyloomError, infeasible
from polyloom.targets.tensix.map.loops.dram.column_blocks import split_products
from polyloom.targets.tensix.map.loops.dram.page_areas import live_ranges
from polyloom.targets.tensix.map.loops.fused.plan import Stage
from polyloom.targets.tensix.words.arrays.area import CODE, END, Area

_SHOWN: Final = 5
"""Arrays that a message names, the largest ones."""


@dataclass(frozen=True, slots=True)
class LiveArrays:
    """Bytes that live in L1 at the stage `number`, at which they are most, and the areas that take them."""

    number: int
    areas: tuple[Area, ...]

    @property
    def size(self) -> int:
        return sum(area.placed.size for area in self.areas)


def maximum_live_arrays(stages: Sequence[Stage], kept: Collection[str]) -> LiveArrays:
    """The stage at which most bytes are live; areas of several widths, which do not lie among each other, all live from
    the first stage to the last.
    """
    areas = {area.key: area for stage in stages for area in stage.areas}
    spans = live_ranges(stages, kept)
    if len({area.placed.width for area in areas.values()}) > 1:
        spans = dict.fromkeys(areas, (0, len(stages)))
    lives = (
        LiveArrays(n, tuple(areas[key] for key, (begin, end) in spans.items() if begin <= n <= end))
        for n in range(len(stages))
    )
    return max(lives, key=lambda each: each.size)


def lack_of_room(stages: Sequence[Stage], kept: Collection[str], first: int) -> PolyloomError:
    """Error (PL1233) of stages whose areas do not fit into L1 from the address `first` on, even in small blocks."""
    count, stages = len(stages), split_products(stages)
    live, room = maximum_live_arrays(stages, kept), END - first
    stage, programs = stages[live.number].arranged.stage, first - CODE
    line = f" of line {stage.span.line}" if stage.span is not None else ""
    message = (
        f"the stage `{stage.label}`{line} needs {live.size} bytes as tiles, and L1 has {max(0, room)} beside the "
        f"programs of {count} stages, {programs} bytes"
    )
    if live.size <= room:
        message += ": enough, but not in one piece"
    all_bytes = sum(area.placed.size for area in {a.key: a for s in stages for a in s.areas}.values())
    notes = (f"it holds {_describe(live, stages)}", f"all arrays of all stages: {all_bytes} bytes")
    return infeasible("PL1233", message, span=stage.span, notes=notes, help=_help(live, stages, programs))


def _describe(live: LiveArrays, stages: Sequence[Stage]) -> str:
    """The largest arrays that live at a stage; results of one line, as those of heads are, together."""
    made = {stage.result.key: stage.arranged.stage for stage in stages}
    sizes = dict[str, list[int]]()
    for area in live.areas:
        source = made.get(area.key)
        # A column block has its array's name in front.
        name = f"`{area.placed.matrix.array.split('.')[0]}`"
        if source is not None:
            name = f"`{source.label}`{'' if source.span is None else f' of line {source.span.line}'}"
        sizes.setdefault(name, []).append(area.placed.size)
    ordered = sorted(sizes.items(), key=lambda item: -sum(item[1]))
    shown = [f"{name} {sum(each)} bytes{f' ({len(each)} arrays)' if len(each) > 1 else ''}" for name, each in ordered]
    rest = sum(sum(each) for _, each in ordered[_SHOWN:])
    return ", ".join(shown[:_SHOWN]) + (f", and others {rest}" if rest else "")


def _help(live: LiveArrays, stages: Sequence[Stage], programs: int) -> str:
    """What helps: what takes most."""
    made = {stage.result.key for stage in stages}
    arguments = sum(area.placed.size for area in live.areas if area.key not in made)
    is_wide = all(area.placed.width == 4 for area in live.areas)
    halves = "write --format bf16, whose tiles are half as large; or " if is_wide else ""
    if programs > (END - CODE) // 2:
        return f"{halves}cut the program into fewer stages, whose programs take most of L1"
    if 2 * arguments > live.size:
        return f"{halves}give smaller sizes: the arguments of this stage take most of L1"
    return f"{halves}give smaller sizes, or read results sooner: they stay in L1 until their last use"
