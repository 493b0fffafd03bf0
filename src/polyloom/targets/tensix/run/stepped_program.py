# SPDX-License-Identifier: Apache-2.0
"""Programs that the stepper of tiles runs: loops on a tile, a vector kernel, a product on a grid. Each opens its tiles,
advances them, and tells where its outputs lie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from polyloom.frontend.source import Arrays
from polyloom.ir.ssa import Place
from polyloom.riscv import source_lines
from polyloom.riscv.source_lines import Lines
from polyloom.targets.target import Job
from polyloom.targets.tensix.run import kernel_run, spread, stages
from polyloom.targets.tensix.run.events import origin
from polyloom.targets.tensix.run.grid import Grid
from polyloom.targets.tensix.run.places import read_place
from polyloom.targets.tensix.run.reference import BITS
from polyloom.targets.tensix.run.tile import Tile
from polyloom.targets.tensix.source.note import Note as KernelNote
from polyloom.targets.tensix.words.arrays.note import Note
from polyloom.targets.tensix.words.arrays.spread_note import SpreadNote


class SteppedProgram(ABC):
    """Program before or during its run: its tiles, which `reopen` puts back to their start, and `cycle`."""

    tiles: list[Tile]
    lines: Lines
    inputs: Arrays
    cycle: int

    @abstractmethod
    def reopen(self) -> None: ...

    @abstractmethod
    def output_bytes(self) -> tuple[bytes, ...]:
        """Bytes of all outputs, which are compared to see what is stored."""
        ...

    @abstractmethod
    def read_outputs(self) -> Arrays: ...

    def advance(self, cycles: int = 1) -> None:
        """So many cycles on. Errors: those of a run."""
        for _ in range(cycles):
            self.tiles[0].step()
            self.cycle += 1

    def replay(self, cycle: int) -> None:
        """From the start to a cycle, telling nothing."""
        self.reopen()
        for _ in range(cycle):
            self.tiles[0].native.step()
        self.cycle = cycle

    def look_for_deadlock(self, cycles: int) -> None:
        """A run of its own, which raises what it finds."""
        self.tiles[0].run(cycles)

    @property
    def is_idle(self) -> bool:
        return self.tiles[0].native.idle

    def tile_name(self, number: int) -> str:
        """Beginning of the names of units."""
        del number
        return ""

    def place(self, pc: int) -> Place:
        return origin(self.lines, pc)


class LoopProgram(SteppedProgram):
    """Loops on one tile."""

    def __init__(self, data: bytes, note: Note, job: Job) -> None:
        self._data, self._note = data, note
        # The trace is on, because its events are what steps tell.
        self._limits = stages.Limits(job.options.hazards, job.options.max_cycles, True)
        self.lines, self.inputs = source_lines.decode_lines(data), job.inputs
        self.reopen()

    def reopen(self) -> None:
        laid = stages.laid_arguments(self._note, self.inputs)
        self.tiles, self.cycle = [stages.open_tile(self._data, laid, self._limits, self._note.memory)], 0

    def output_bytes(self) -> tuple[bytes, ...]:
        (tile,) = self.tiles
        areas = [written.area.placed for written in self._note.outputs]
        memories = [tile.l1 if p.blocks is None else tile.dram for p in areas]
        return tuple(
            memory[p.address : p.address + p.size].tobytes() for p, memory in zip(areas, memories, strict=True)
        )

    def read_outputs(self) -> Arrays:
        # Copies: what needs no decoding is a view of the memory.
        (tile,) = self.tiles
        return {n: a.copy() for n, a in stages.read_outputs(self._note, tile.l1, tile.dram).items()}


class KernelProgram(SteppedProgram):
    """Vector kernel: its output is Dst, as bits, and in the format of the input under the name `dst_bf16`."""

    def __init__(self, data: bytes, note: KernelNote, job: Job) -> None:
        if (wrong := kernel_run.check_inputs(job.inputs, note)) is not None:
            raise wrong
        self._data, self._note, self._options = data, note, job.options
        self._given = {name: np.asarray(array) for name, array in job.inputs.items()}
        self.lines = note.lines
        _, self._placed = kernel_run.dst_inputs(self._given, note.dest)
        self.inputs = {name: array for name, array in self._given.items() if name in note.arguments}
        self.reopen()

    def reopen(self) -> None:
        tile = kernel_run.open_kernel(self._data, self._note, self._given, self._options.tiles, self._options.hazards)
        tile.native.tracing = True
        self.tiles, self.cycle = [tile], 0

    def output_bytes(self) -> tuple[bytes, ...]:
        return (self.tiles[0].dst.tobytes(),)

    def read_outputs(self) -> Arrays:
        (tile,) = self.tiles
        # A colon is no part of a name in an expression.
        named = {at.text.replace(":", "_"): read_place(tile, at, None, a) for at, a in self._placed.items()}
        return {BITS: tile.dst.copy(), **named}


class GridProgram(SteppedProgram):
    """Product on a grid of tiles, which share a clock."""

    _grid: Grid

    def __init__(self, data: bytes, note: SpreadNote, job: Job) -> None:
        self._data, self._note = data, note
        self._limits = stages.Limits(job.options.hazards, job.options.max_cycles, True)
        self.lines, self.inputs = source_lines.decode_lines(data), job.inputs
        self.reopen()

    def reopen(self) -> None:
        self._grid = spread.open_grid(self._data, self._note, self.inputs, self._limits)
        self.tiles, self.cycle = self._grid.tiles, 0

    def advance(self, cycles: int = 1) -> None:
        self.cycle += cycles
        # Without a look for deadlocks, of which a few cycles tell nothing. A grid whose tiles all wait stays behind,
        # and catches up when one of them has something to do.
        self._grid.run(self.cycle - self._grid.native.cycle, check=True)

    def replay(self, cycle: int) -> None:
        self.reopen()
        self.cycle = cycle
        if cycle:
            self._grid.run(cycle, check=False)

    def look_for_deadlock(self, cycles: int) -> None:
        self._grid.run(cycles)

    @property
    def is_idle(self) -> bool:
        return all(tile.native.idle for tile in self.tiles)

    def output_bytes(self) -> tuple[bytes, ...]:
        size = self._note.block_bytes
        return tuple(self._grid.dram(channel)[at : at + size].tobytes() for channel, at in self._note.result_pieces)

    def read_outputs(self) -> Arrays:
        return {self._note.output.array: np.array(spread.read_result(self._grid, self._note), copy=True)}

    def tile_name(self, number: int) -> str:
        row, column = divmod(number, self._note.grid[1])
        return f"tile ({row}, {column}) "


def changed_elements(before: Arrays, now: Arrays) -> list[tuple[str, tuple[int, ...], Any]]:
    """Elements of outputs that differ, NaNs being equal."""
    found = list[tuple[str, tuple[int, ...], Any]]()
    for name, array in now.items():
        held: np.ndarray[Any, Any] = before[name]
        same = (array == held) | ((array != array) & (held != held))
        found += [(name, tuple(index), array[tuple(index)]) for index in np.argwhere(~same).tolist()]
    return found
