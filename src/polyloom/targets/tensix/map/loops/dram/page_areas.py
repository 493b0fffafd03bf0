# SPDX-License-Identifier: Apache-2.0
"""Stages whose arrays L1 does not hold together: arguments lie in DRAM behind the tile and are read into L1 before the
stages that need them, and what stages make takes the room of what nobody reads any more (storage allocation by
lifetimes; first fit by the size of an interval, Gergov 1999 has its bounds).

Core NC reads the arguments one after the other, by NoC 1, as early as their room is free: while stages compute, the
arguments of the next ones arrive (software prefetching). Results stay in L1.

    NC:  the stage before an argument's room is free is done -> read it -> all arguments of the stages up to s are there
    T0:  the arguments of stage s are there -> unpack
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.targets.tensix.map.loops.fused.plan import ColumnBlock, Stage
from polyloom.targets.tensix.map.loops.stream_movers import await_packets, packet_count, start_read
from polyloom.targets.tensix.map.loops.thread import Lines
from polyloom.targets.tensix.words.arrays.area import END, Area, Key
from polyloom.targets.tensix.words.arrays.tiles import Blocks, tile_count, tile_pitch
from polyloom.targets.tensix.words.dram_port import FLIT

_AHEAD: Final = (3, 2, 1, 0)
"""Numbers of stages by which all arguments may come before the stage that needs them."""
_LARGE: Final = 1 << 16
"""Bytes of an argument that takes longer than a short stage."""
_SMALL_AHEAD, _LARGE_AHEAD = (32, 16, 8, 4), (12, 6, 3, 2)
"""Numbers of stages that are tried for all smaller arguments, and then for each large one: what comes early may hold up
what is needed before it, unless that has come earlier still."""
DONE, ARRIVED = 8, 12
"""Words by which cores meet, from the barrier's on: stages that T2 has done, and stages whose arguments are there."""
_NIU: Final = "0xffb30000"
_READS: Final = 0x208


@dataclass(frozen=True, slots=True)
class Load:
    """Argument that is read before a stage, `size` bytes from DRAM to L1, when the stages before `begin` are done."""

    stage: int
    begin: int
    source: int
    target: int
    size: int


@dataclass(frozen=True, slots=True)
class Paged:
    """Areas of arguments in DRAM; places of all areas in L1 by key; reads in their order. All arguments come at least
    `ahead` stages early."""

    inputs: tuple[Area, ...]
    where: dict[Key, Area]
    loads: tuple[Load, ...]
    ahead: int


def live_ranges(stages: Sequence[Stage], kept: Collection[str]) -> dict[Key, tuple[int, int]]:
    """First and last stage of each area, of arguments from the first that reads them; `kept` results stay."""
    found = dict[Key, tuple[int, int]]()
    for number, stage in enumerate(stages):
        for area in stage.areas:
            found[area.key] = found.get(area.key, (number, 0))[0], number
    for area in (stage.result for stage in stages):
        if area.placed.matrix.array in kept:
            found[area.key] = found[area.key][0], len(stages)
    return found


def page_areas(stages: Sequence[Stage], outputs: Collection[str], first: int) -> Paged | None:
    """Places of all areas from an address of L1 on; None where it has no room for one stage, or where datums have
    several widths, which do not lie among each other. `outputs` are results that stay.
    """
    areas = {area.key: area for stage in stages for area in stage.areas}
    if len({area.placed.width for area in areas.values()}) != 1:
        return None
    made = {stage.result.key for stage in stages}
    lives = live_ranges(stages, outputs)

    def spans(ahead: Mapping[Key, int]) -> dict[Key, tuple[int, int]]:
        return {k: (begin if k in made else max(0, begin - ahead[k]), end) for k, (begin, end) in lives.items()}

    def fit(ahead: Mapping[Key, int]) -> dict[Key, int] | None:
        return _fit(areas, spans(ahead), made, first)

    ahead = next((n for n in _AHEAD if fit(dict.fromkeys(lives, n)) is not None), None)
    if ahead is None:
        return None
    early = dict.fromkeys(lives, ahead)
    large = {key for key in lives if key not in made and areas[key].placed.size > _LARGE}
    tried = [(lives.keys() - large, _SMALL_AHEAD), *(({key}, _LARGE_AHEAD) for key in lives if key in large)]
    for keys, numbers in tried:
        choices = ({**early, **dict.fromkeys(keys, n)} for n in numbers if all(n > early[key] for key in keys))
        early = next((choice for choice in choices if fit(choice) is not None), early)
    found = fit(early)
    assert found is not None, "it was tried"
    blocks = {stage.reads[1].key: stage.block for stage in stages if stage.block is not None}
    return _placed_area(areas, lives, blocks, made, found, spans(early), ahead)


def _fit(
    areas: dict[Key, Area], spans: dict[Key, tuple[int, int]], made: Collection[Key], first: int
) -> dict[Key, int] | None:
    """Addresses by first fit, the largest areas first; None where one does not fit."""
    pitch = tile_pitch(next(iter(areas.values())).placed.width)
    base = -(-first // FLIT) * FLIT
    found = dict[Key, tuple[int, int]]()
    for key in sorted(areas, key=lambda each: (-areas[each].placed.size, spans[each])):
        begin, end = spans[key]
        # In tiles, from the base on: T0 addresses all inputs of a stage by one base and a counter.
        count = areas[key].placed.size // pitch
        busy = sorted(place for other, place in found.items() if spans[other][0] <= end and begin <= spans[other][1])
        at = 0
        for low, high in busy:
            if at + count <= low:
                break
            # A NoC moves to addresses that are those of DRAM modulo 32: every second tile's.
            at = max(at, high if key in made else high + high % 2)
        if base + (at + count) * pitch > END:
            return None
        found[key] = at, at + count
    return {key: base + at * pitch for key, (at, _) in found.items()}


def _placed_area(
    areas: dict[Key, Area],
    lives: Mapping[Key, tuple[int, int]],
    blocks: dict[Key, ColumnBlock],
    made: Collection[Key],
    found: dict[Key, int],
    spans: Mapping[Key, tuple[int, int]],
    ahead: int,
) -> Paged:
    where = {key: replace(area, placed=replace(area.placed, address=found[key])) for key, area in areas.items()}
    inputs, loads, at = dict[Key, Area](), list[Load](), 0
    for key in sorted((key for key in areas if key not in made), key=lambda each: lives[each][0]):
        block = blocks.get(key)
        area = areas[key] if block is None else block.whole
        if area.key not in inputs:
            rows, columns = map(tile_count, area.placed.extents)
            pitch = -(-area.placed.size // FLIT) * FLIT
            whole = Blocks(rows, columns, pitch)
            inputs[area.key] = replace(area, placed=replace(area.placed, address=at, blocks=whole))
            at += pitch
        before = 0 if block is None else block.first * tile_count(area.placed.extents[0])
        source = inputs[area.key].placed.address + before * tile_pitch(area.placed.width)
        loads.append(Load(lives[key][0], spans[key][0], source, found[key], areas[key].placed.size))
    # In this order no load waits for a stage that waits for a later load: that one begins before its own stage.
    loads.sort(key=lambda load: (load.begin, load.stage))
    return Paged(tuple(inputs.values()), where, tuple(loads), ahead)


def read_arguments(paged: Paged, stages: int, meeting: int) -> Lines:
    """NC's program: s1 and s2 are a place in DRAM and one in L1, s3 counts packets, s4 and s5 stages."""
    lines, done, arrived = [f"li s0, {_NIU}", "li s3, 0"], 0, 0
    for number, load in enumerate(paged.loads):
        if load.begin > done:
            done = load.begin
            lines += [f"li t2, {meeting:#x}", f"li s4, {done}", f"done{done}:"]
            lines += [f"lw t1, {DONE}(t2)", f"blt t1, s4, done{done}"]
        lines += [f"li s1, {load.source:#x}", f"li s2, {load.target:#x}", *start_read("s1", "s2", load.size)]
        lines += [f"li t1, {packet_count(load.size)}", "add s3, s3, t1"]
        lines += await_packets("s3", _READS, f"read{number}")
        # Stages before the first one that lacks an argument.
        complete = min((other.stage for other in paged.loads[number + 1 :]), default=stages)
        if complete > arrived:
            arrived = complete
            lines += [f"li t2, {meeting:#x}", f"li s5, {arrived}", f"sw s5, {ARRIVED}(t2)"]
    return lines


def await_arguments(paged: Paged, number: int, meeting: int) -> Lines:
    """T0's wait at the beginning of a stage that has arguments of its own."""
    if not any(load.stage == number for load in paged.loads):
        return []
    return [
        f"li s9, {meeting:#x}",
        f"li s10, {number + 1}",
        "arrived:",
        f"lw s11, {ARRIVED}(s9)",
        "blt s11, s10, arrived",
    ]
