# SPDX-License-Identifier: Apache-2.0
"""SPMD program of a nest: works in their order, shared out over all harts, with the evictions and barriers between them
(single program, multiple data; Darema 1988).

All harts execute the same code. Of a parallel loop each takes one block of iterations, of equal size, in the order of
their numbers; what is not shared out is branched over by all but hart 0.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from polyloom.analysis.loop_ranges import loop_ranges
from polyloom.analysis.privatizable import enclosing_path
from polyloom.ir.nest import If, Loop, Nest, Node
from polyloom.targets.minion.machine import MINIONS_PER_SHIRE
from polyloom.targets.minion.map import frame
from polyloom.targets.minion.map.frame import Part, Team
from polyloom.targets.minion.map.phase_work import Later
from polyloom.targets.minion.map.simd import software_arithmetic
from polyloom.targets.minion.map.simd.control import Control
from polyloom.targets.minion.map.simd.elements import Around
from polyloom.targets.minion.map.simd.memory import Memory
from polyloom.targets.minion.map.simd.parallel_machine import LANES, machine_description
from polyloom.targets.minion.map.simd.row_sharing import Ownership, shares_rows
from polyloom.targets.minion.map.simd.short_division import scratch_address
from polyloom.targets.minion.map.simd.text import CONSTANTS, EMULATION, SHARES, Text
from polyloom.targets.minion.map.simd.values import Values, calls_routines
from polyloom.transform.parallel.software_coherence import (
    FIRST,
    LAST,
    Coherence,
    Extent,
    has_one_owner,
    place_barriers,
    touched_extents,
)
from polyloom.transform.parallel.work_sharing import Item, Replicated, SharedWork, Work

EVICT_VA, TENSOR_WAIT = 0x89F, 0x830
_CACHE_OPERATIONS: Final = 6
"""The event of tensor_wait."""
_LEVEL_SHIFT: Final = 58
_L2, _L3 = 1, 2
_LINES: Final = 16
"""Of one cache operation."""


def program_parts(
    nest: Nest, shared: SharedWork, memory: Memory, team: Team, prefix: str, later: Later | None, own: Ownership
) -> Sequence[Part]:
    """Parts of the program between start-up and end; `prefix` begins labels. `later` is None where there are no other
    phases.
    """
    return _Program(nest, shared, memory, team, prefix, later, own).all()


class _Program:
    """Writer of a nest's program."""

    def __init__(
        self, nest: Nest, shared: SharedWork, memory: Memory, team: Team, prefix: str, later: Later | None,
        own: Ownership,
    ) -> None:  # fmt: skip
        self.nest, self.sharing, self.memory, self.team, self.later = nest, shared, memory, team, later
        self.own = own
        self.text = Text(prefix)
        self.values = Values(self.text, memory)
        self.known = loop_ranges(nest.body)
        self.coherence = Coherence(shared.items, nest, machine_description(team))
        self.barriers = place_barriers(shared.items)

    def all(self) -> Sequence[Part]:
        """Lane numbers, all items, and behind them the software routines that they call."""
        self.lane_numbers()
        self.items(self.sharing.items, Around(), ())
        if self.values.routines:
            over = self.text.label("over")
            self.text.add(f"j {over}")
            for routine in sorted(self.values.routines):
                with self.text.at(None, f"computes {routine}, which is no instruction of a minion"):
                    self.text.add(*software_arithmetic.routine(routine, self.text.prefix))
            self.text.add(f"{over}:")
        return self.text.parts()

    def lane_numbers(self) -> None:
        """0 to 7 at the beginning of the hart's scratch."""
        with self.text.at(None, "numbers the lanes"):
            self.text.add(*scratch_address("t0", "t1", self.memory.scratch))
            for lane in range(LANES):
                self.text.add(f"li t2, {lane}", f"sw t2, {4 * lane}(t0)")

    def barrier(self) -> None:
        self.text.part(frame.barrier(self.team, self.text.label("barrier")))

    def items(self, items: Sequence[Item], around: Around, path: tuple[Loop | If, ...]) -> None:
        """Items in order, each behind its barrier if it has one."""
        for item in items:
            if item in self.barriers:
                self.barrier()
            if isinstance(item, Work):
                self.work(item, around, path)
            else:
                self.alike(item, around, path)

    def alike(self, item: Replicated, around: Around, path: tuple[Loop | If, ...]) -> None:
        """Replicated control: a loop that all harts go through, with its counter in a register, or a condition."""
        control = Control(self.nest, self.values, frozenset(), path)
        if isinstance(item.node, If):
            self.choice(item, item.node, control, around, path)
            return
        loop = item.node
        again, end = self.text.label("each"), self.text.label("end")
        with control.bounds(loop, around) as (low, high):
            counter = low if loop.step > 0 else high
            self.text.branch("blt", f"{low}, {high}", end)
            self.text.add(*([] if loop.step > 0 else [f"addi {high}, {high}, -1"]), f"{again}:")
            inside = replace(around, loops={**around.loops, loop.name: counter})
            self.items(item.body, inside, (*path, loop))
            # A dependence carried by this loop needs a barrier between its iterations.
            if (item, "end") in self.barriers:
                self.barrier()
            self.text.add(f"addi {counter}, {counter}, {loop.step}")
            self.text.branch(
                "bge" if loop.step > 0 else "blt", f"{low}, {high}" if loop.step > 0 else f"{high}, {low}", again
            )
            self.text.add(f"{end}:")

    def choice(self, item: Replicated, node: If, control: Control, around: Around, path: tuple[Loop | If, ...]) -> None:
        """Replicated condition: branches that all harts take alike."""
        holds, fails, end = (self.text.label(what) for what in ("then", "else", "end"))
        control.test(node.condition, around, holds)
        self.text.add(f"j {fails}", f"{holds}:")
        self.items(item.body, around, (*path, node))
        self.text.add(f"j {end}", f"{fails}:")
        self.items(item.orelse, around, (*path, node))
        self.text.add(f"{end}:")

    # Works

    def work(self, work: Work, around: Around, path: tuple[Loop | If, ...]) -> None:
        """Work of some harts: the iterations of a parallel loop, or what one hart executes."""
        own = enclosing_path(self.nest.body, work.nodes[0])
        control = Control(self.nest, self.values, work.vectors, own or path, is_alone=work.loop is None)
        if work.loop is not None:
            self.shared(work, work.loop, control, around)
        else:
            self.alone(work, control, around)

    def alone(self, work: Work, control: Control, around: Around) -> None:
        """Work of hart 0 alone; others branch over it."""
        skip = self.text.label("others")
        if self.team.workers > 1:
            self.text.branch("beqz", "s1", skip)
        self.write(work.nodes, lambda: control.block(work.nodes, around))
        self.evict(work, around)
        self.values.call_routines()
        self.text.add(f"{skip}:")

    def shared(self, work: Work, loop: Loop, control: Control, around: Around) -> None:
        """Work of a parallel loop, one block per hart."""
        skip = self.text.label("idle")
        with self.text.at(loop.span), control.bounds(loop, around) as (low, high):
            if self.team.workers > 1:
                with self.text.at(None, SHARES.reason):
                    self.block_bounds(work, low, high)
            self.text.branch("blt", f"{low}, {high}", skip)
            first, last = self.text.integers.take(loop.span), self.text.integers.take(loop.span)
            # The range of iterations is kept for the evictions, because the loop changes its own counter.
            self.text.add(f"mv {first}, {low}", f"addi {last}, {high}, -1")
            self.write([loop], lambda: control.iterations(replace(loop, step=1), around, low, high))
            self.evict(work, replace(around, loops={**around.loops, FIRST: first, LAST: last}))
            self.values.call_routines()
            self.text.integers.give(last, first)
        self.text.add(f"{skip}:")

    def block_bounds(self, work: Work, low: str, high: str) -> None:
        """Block scheduling: narrows bounds to the worker's block of iterations; blocks begin where cache lines may
        (block distribution; Wolfe 1996).
        """
        assert work.blocks is not None
        unit, offset = work.blocks.unit, work.blocks.offset
        shift = unit.bit_length() - 1
        add = self.text.add
        workers, number = self.team.workers, "s1"
        if self.own.rows and shares_rows(work, self.nest, self.own.total):
            # Rows of the shire first, then those of the worker among its harts.
            workers, number = self.team.shire_minions * self.team.harts, "t3"
            add(f"srli t0, s0, {MINIONS_PER_SHIRE.bit_length() - 1}", f"li t1, {self.own.rows}", "mul t0, t0, t1")
            add("add t1, t0, t1", *self.narrow(low, high), f"andi t3, s1, {workers - 1}")
        add(f"addi t0, {low}, {-offset}", f"andi t0, t0, {unit - 1}", f"sub t0, {low}, t0")  # t0: where a unit begins
        add(f"sub t1, {high}, t0", f"addi t1, t1, {unit - 1}", f"srai t1, t1, {shift}")  # t1: units
        add(f"li t2, {workers}", "add t1, t1, t2", "addi t1, t1, -1")
        add("div t1, t1, t2", f"slli t1, t1, {shift}", f"mul t2, t1, {number}")  # t1: iterations of a block
        add("add t0, t0, t2", "add t1, t0, t1", *self.narrow(low, high))

    def narrow(self, low: str, high: str) -> list[str]:
        """Bounds within those in t0 and t1."""
        later, sooner = self.text.label("later"), self.text.label("sooner")
        lines = [f"bge {low}, t0, {later}", f"mv {low}, t0", f"{later}:"]
        return [*lines, f"ble {high}, t1, {sooner}", f"mv {high}, t1", f"{sooner}:"]

    def write(self, nodes: Sequence[Node], lines: Callable[[], None]) -> None:
        """Lines of nodes, and in front of them the constants that they need."""
        # Registers of routines are free where none is called.
        spares = CONSTANTS if calls_routines(nodes) else (*CONSTANTS, *EMULATION)
        text, values = self.text, self.values
        at, calls, free = len(text.lines), len(values.calls), list(text.vectors.free)
        values.keeps = True
        with self.constants(spares) as needed:
            lines()
        # Registers of the routine stay free where no constant needs them, so that its calls need not keep them.
        values.keeps = needed() > len(CONSTANTS)
        if values.calls[calls:] and not values.keeps:
            spares = CONSTANTS
        # Written once more with the registers that no constant needs: with them more rounds of loops interleave.
        if spare := spares[needed() :]:
            del text.lines[at:]
            del values.calls[calls:]
            text.vectors.free[:] = [*reversed(spare), *free]
            with self.constants(spares[: needed()]):
                lines()
            text.vectors.free[:] = free

    @contextmanager
    def constants(self, spares: tuple[str, ...]) -> Generator[Callable[[], int]]:
        """Constants that the lines inside need, set in front of them, in registers of these; how many there are."""
        at, count = len(self.text.lines), list[int]()
        self.values.spares = spares
        self.values.constants.clear()
        yield lambda: count[0]
        count.append(len(self.values.constants))
        # Which constants are needed is only known when the lines have been written.
        inside, self.text.lines = self.text.lines[at:], self.text.lines[:at]
        for (kind, number), register in self.values.constants.items():
            self.values.set(register, kind, number)
        self.text.lines += inside
        self.values.constants.clear()

    # Visibility

    def evict(self, work: Work, around: Around) -> None:
        """Software coherence: evicts what other harts read before it is written back, or would read as an old copy
        (manual, "Cache control").
        """
        # Two harts of one minion share an unsplit L1, where each sees what the other stores.
        alone = self.team.workers == 1 or (self.team.minions == 1 and self.team.mode == "shared")
        within = frozenset[str]() if alone else self.coherence.evictions(work)
        names = self.needed_arrays(work) | within
        if not names:
            return
        with self.text.at(None, "makes results visible to other harts"):
            self.text.add("fence", "li x31, 64")
            near = names if self.team.shires == 1 else names & self.own.near
            for level, some in ((_L2, near), (_L3, names - near)):
                for extent in touched_extents(work, some, self.nest, self.memory.address, self.known):
                    self.lines(extent, around, level)
            self.text.add(f"csrrwi x0, {TENSOR_WAIT}, {_CACHE_OPERATIONS}")

    def needed_arrays(self, work: Work) -> frozenset[str]:
        """Arrays that phases behind need: tensor loads do not ask caches of minions, and copies of what is written
        are old, also of what another worker writes later in this phase.
        """
        if self.later is None:
            return frozenset()
        own = {
            self.memory.placed[name].name: name for name in work.touched_arrays() if self.nest[name].role == "argument"
        }
        touched, again = (
            {own[name] for name in names & own.keys()} for names in (self.later.touched, self.later.again)
        )
        # Copies of lines that an owner alone changes are its own, and evicted with what it writes.
        changed = {
            name
            for other in self.coherence.after[work]
            for name in other.written_arrays() & work.touched_arrays()
            if not has_one_owner(work, other, name)
        }
        return frozenset((touched & (work.written_arrays() | changed)) | again)

    def lines(self, extent: Extent, around: Around, level: int) -> None:
        """Eviction of the lines of an extent, sixteen at a time."""
        again, whole, end = (self.text.label(what) for what in ("lines", "whole", "end"))
        spare = self.text.integers.take()
        self.values.integer(extent.first, around, spare, "t2")
        self.values.integer(extent.last, around, "t1", "t2")
        add = self.text.add
        add(f"andi {spare}, {spare}, -64", f"li t3, {level << _LEVEL_SHIFT}", f"{again}:")
        add(f"blt t1, {spare}, {end}", f"sub t0, t1, {spare}", "srli t0, t0, 6", f"li t2, {_LINES - 1}")
        add(f"bltu t0, t2, {whole}", "mv t0, t2", f"{whole}:", f"or t0, t0, {spare}", "or t0, t0, t3")
        add(f"csrrw x0, {EVICT_VA}, t0", f"addi {spare}, {spare}, {64 * _LINES}", f"j {again}", f"{end}:")
        self.text.integers.give(spare)
