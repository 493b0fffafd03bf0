# SPDX-License-Identifier: Apache-2.0
"""Facts of a run of loops: of each stage its cycles and what binds it, counters of threads, traffic of the port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.riscv import symbols
from polyloom.targets.target import Json
from polyloom.targets.tensix.run.tile import UNITS, Tile
from polyloom.targets.tensix.words.arrays.note import PRODUCTS, StageFacts

_UNITS: Final = {**dict.fromkeys(PRODUCTS, "matrix"), "element-wise": "vector"}
_PARTS: Final = {
    "matrix unit": ("matrix",),
    "vector unit": ("vector",),
    "unpackers": ("unpack0", "unpack1"),
    "packers": ("pack",),
    "port": ("port",),
}
"""What may bind a stage: by name the units, of which the busiest counts."""
_RISCV: Final = 3
"""The low two bits of an instruction that is none of Tensix."""


@dataclass(frozen=True, slots=True)
class Mark:
    """End of a stage: the cycle, and for how many cycles each unit was busy until then."""

    cycle: int
    busy: Mapping[str, int]


def stage_mark(tile: Tile, cycle: int) -> Mark:
    # The busiest direction of a NoC binds first: each has a flit of its own per cycle.
    busy = {name: tile.native.unit(n)[1] for n, name in enumerate(UNITS) if n}
    if tile.port is not None:
        busy["port"] = max(max(reading, writing) for _, reading, _, writing in tile.native.traffic())
    return Mark(cycle, busy)


def stage_facts(stages: tuple[StageFacts, ...], marks: tuple[Mark, ...]) -> list[Json]:
    """Facts of each stage: its cycles, and for what share of them the unit that computes was busy."""
    found, before = list[Json](), Mark(0, {})
    for told, mark in zip(stages, marks, strict=True):
        unit, cycles = _UNITS.get(told.what, "vector"), mark.cycle - before.cycle
        # Counters of the units run on over stages, so that shares are differences.
        shares = {n: (busy - before.busy.get(n, 0)) / max(1, cycles) for n, busy in mark.busy.items()}
        parts = {n: max(shares[u] for u in units) for n, units in _PARTS.items() if {*units} <= {*shares}}
        found.append(
            {
                "array": told.label,
                "what": told.what,
                "line": told.line,
                "tiles": list(told.tiles),
                "cycles": cycles,
                "unit": unit,
                "busy": round(shares[unit], 4),
                "shares": {n: round(share, 4) for n, share in sorted(parts.items(), key=lambda part: -part[1])},
            }
        )
        before = mark
    return found


def tile_facts(tile: Tile, data: bytes) -> dict[str, Json]:
    passed = tile.threads()
    return {
        "instructions": sum(each[2] for each in passed),
        "words": sum(_is_tensix_word(data)),
        "replayed": sum(each[2] - each[1] for each in passed if each[2] > each[1]),
        "utilization": {**tile.utilization()},
        **({} if tile.port is None else {"port": _port_facts(tile)}),
    }


def _port_facts(tile: Tile) -> list[Json]:
    """Traffic of each NoC: bytes, and for what share of the cycles the direction was busy (ISA documentation,
    WormholeB0/NoC/README.md: a flit of 32 bytes a cycle in each direction).
    """
    cycles = max(1, tile.native.cycle)
    return [
        {
            "read": read,
            "reading": round(reading / cycles, 4),
            "written": written,
            "writing": round(writing / cycles, 4),
        }
        for read, reading, written, writing in tile.native.traffic()
    ]


def _is_tensix_word(data: bytes) -> Iterator[bool]:
    for _, code in symbols.read_tables(data).code:
        yield from (code[at] & _RISCV != _RISCV for at in range(0, len(code), 4))
