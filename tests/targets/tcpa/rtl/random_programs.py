# SPDX-License-Identifier: Apache-2.0
"""Random configurations that run without a fault, for machines of words of 32 bits: instructions of all units, cycle by
cycle, with operands that are there and destinations that are free, at random places in the program. Every branch
matters then. What FIFOs hold follows the rules of docs/targets/tcpa.md (Time), which gives their depths.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import product
from math import prod
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polyloom.ir.numbers import NUMPY, type_limits
from polyloom.ir.operations import DIVISIONS, ELEMENT_TYPES, OPERATIONS, ElementType
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import (
    ArrayLayout,
    Concrete,
    Connection,
    Controller,
    ConvexSet,
    Domain,
    ElementProgram,
    Generator,
    HalfSpace,
)
from polyloom.targets.tcpa.words.isa import (
    File,
    Goto,
    Halt,
    If,
    Immediate,
    Instruction,
    Next,
    Register,
    Source,
    encode_opcode,
    source_type,
)
from polyloom.targets.tcpa.words.sides import SIDES, Side

_BY_NAME = {o.name: o for o in OPERATIONS}
_STEPS = 60
_LAST = 32
"""The cycle in which elements stop to make tokens, and take those that are left."""
Fifo = tuple[File, int]
"""`File.FD`, or `File.IO` for an id."""


@dataclass(slots=True)
class _Tokens:
    """Ready cycles and types of what is there or under way, in order; and the cycles in which each was there."""

    waiting: list[tuple[int, ElementType]] = field(default_factory=list[tuple[int, ElementType]])
    stays: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def depth(self) -> int:
        return max((sum(a <= t <= b for a, b in self.stays) for t, _ in self.stays), default=0)


@dataclass(slots=True)
class _Element:
    start: int
    fifos: dict[Fifo, _Tokens]
    general: list[dict[int, ElementType]]
    """By rd: types by ready cycle."""
    ready: dict[Fifo, set[int]]
    """Ready cycles of fd and od."""
    free: list[int]
    programs: list[list[Instruction]]
    forced: dict[int, list[int]]
    """Outputs that must leave the moving unit in a cycle."""


class _Maker:
    def __init__(self, machine: Machine, random: Random) -> None:
        self.machine, self.random = machine, random
        self.rows = self.columns = 2
        r = random
        self.interval = r.choice((1, 1, 2, 3))
        self.extents = r.choice(((60,), (5, 12), (12, 5), (3, 4, 5), (60, 1)))
        delays = r.choice((0, 1, 2, 3, 7)), r.choice((0, 1, 2, 5, 9))
        signals = tuple(self._domain(epilogue=True) for _ in range(r.randrange(1, 9)))
        self.control = Controller(r.random() < 0.5, r.random() < 0.5, r.randrange(4), *delays, _STEPS, signals)
        self.sinks: set[tuple[int, tuple[int, int]]] = set()
        self.connections: list[list[Connection]] = [[] for _ in range(4)]
        # From (element, od) to ids: (element, id, delay).
        self.wires: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self.generators: list[Generator] = []
        self.arrays: list[ArrayLayout] = []
        self.elements = [self._element(n // 2, n % 2) for n in range(4)]

    def _element(self, row: int, column: int) -> _Element:
        c, m = self.control, self.machine
        start = c.start + c.row_delay * (1 - row if c.south else row)
        start += c.column_delay * (1 - column if c.east else column)
        counts = {File.FD: m.feedback_registers or 0, File.IO: m.input_registers or 0}
        fifos = {(file, n): _Tokens() for file, count in counts.items() for n in range(count)}
        free = [0] * len(m.units)
        general: list[dict[int, ElementType]] = [{} for _ in range(m.general_registers or 0)]
        return _Element(start, fifos, general, {}, free, [[] for _ in m.units], {})

    def _domain(self, *, epilogue: bool = False) -> Domain:
        """Disjoint sets in ascending order, which is what files have: cut along the outermost digit."""
        r, extents = self.random, self.extents
        sets: list[ConvexSet] = []
        low = 0
        last = extents[-1] - 1 + (20 if epilogue else 0)
        for _ in range(r.randrange(1, 4)):
            if low > last:
                break
            a = r.randint(low, last)
            b = min(last, a + r.choice((0, 1, 5, 40)))
            inner = [sorted((r.randrange(n), r.randrange(n))) for n in extents[:-1]]
            sets.append(
                ConvexSet((*(x for x, _ in inner), a), (*(y for _, y in inner), b), self._half_spaces(len(extents)))
            )
            low = b + 1
        return tuple(sets)

    def _half_spaces(self, rank: int) -> tuple[HalfSpace, ...]:
        if rank < 2 or self.random.random() < 0.6:
            return ()
        signs = self.random.choice(((1, -1), (-1, 1), (1, 1), (-2, 1)))
        return (HalfSpace((*signs, *([0] * (rank - 2))), self.random.randint(-4, 4)),)

    def steps(self, domain: Domain) -> list[int]:
        weights = [prod(self.extents[:m]) for m in range(len(self.extents))]
        return sorted(
            sum(w * d for w, d in zip(weights, digits, strict=True))
            for s in domain
            for digits in product(*(range(a, b + 1) for a, b in zip(s.lower, s.upper, strict=True)))
            if all(
                sum(c * d for c, d in zip(h.coefficients, digits, strict=True)) + h.constant >= 0 for h in s.half_spaces
            )
        )

    def _connect(self, path: list[tuple[int, tuple[int, int], tuple[int, int]]]) -> bool:
        """Adds connections (element, sink, source) if all of their sinks are free."""
        if any((element, sink) in self.sinks for element, sink, _ in path):
            return False
        for element, sink, source in path:
            self.sinks.add((element, sink))
            self.connections[element].append(Connection(sink, source))
        return True

    def _wire(self) -> None:
        """Of each element: to itself, to its neighbours, and around a corner."""
        r = self.random
        for n in range(4):
            across, down = n ^ 1, n ^ 2
            to_across, to_down = (2 if n % 2 else 4) ^ 0, (3 if n < 2 else 1)
            to_across = 4 if n % 2 else 2
            back = {1: 3, 2: 4, 3: 1, 4: 2}
            for kind in r.sample(range(4), 3):
                od, id_, ch = r.randrange(1, 4), r.randrange(1, 4), r.randrange(2)
                if kind == 0 and self._connect([(n, (0, id_), (0, od))]):
                    self.wires.setdefault((n, od), []).append((n, id_, 0))
                for side, other in ((to_across, across), (to_down, down)):
                    path = [(n, (side, ch), (0, od)), (other, (0, id_), (back[side], ch))]
                    if kind == 1 + (other == down) and self._connect(path):
                        self.wires.setdefault((n, od), []).append((other, id_, self.machine.hop_delay))
                path = [
                    (n, (to_across, ch), (0, od)),
                    (across, (to_down, 1 - ch), (back[to_across], ch)),
                    (n ^ 3, (0, id_), (back[to_down], 1 - ch)),
                ]
                if kind == 3 and self._connect(path):
                    self.wires.setdefault((n, od), []).append((n ^ 3, id_, 2 * self.machine.hop_delay))

    def _banks(self) -> None:
        """An input at one border of an element, or of the one before it; an output at the other."""
        for n in range(4):
            sides: list[Side] = [SIDES[2 * (n // 2)], SIDES[3 if n % 2 == 0 else 1]]
            self.random.shuffle(sides)
            self._bank(n, sides[0], is_output=False)
            self._bank(n, sides[1], is_output=True)

    def _bank(self, n: int, side: Side, *, is_output: bool) -> None:
        r = self.random
        moved: list[ElementType] = [t for t in ELEMENT_TYPES if self.machine.find_units("move", t)]
        dtype = r.choice(moved)
        position = n % 2 if side in ("north", "south") else n // 2
        outer = (SIDES.index(side) + 1, 0)
        path = [(n, outer, (0, 0))] if is_output else [(n, (0, 0), outer)]
        domain, delay, cycles = self._accesses(self.elements[n].start + 2 if is_output else 0)
        # Routes stand with their generators, and are no connections of wrappers.
        if (n, path[0][1]) in self.sinks:
            return
        self.sinks.add((n, path[0][1]))
        array = len(self.arrays)
        weights = [prod(self.extents[:m]) for m in range(len(self.extents))]
        name = f"{'y' if is_output else 'x'}{n}"
        self.arrays.append(ArrayLayout(name, dtype, (_STEPS,), (1,), is_output))
        self.generators.append(Generator(side, 0, position, 0, 0, array, 0, tuple(weights), delay, domain))
        for c in cycles:
            if is_output:
                self.elements[n].forced.setdefault(c - 1, []).append(array)
            else:
                self.elements[n].fifos[File.IO, 0].waiting.append((c, dtype))

    def _accesses(self, first: int) -> tuple[Domain, int, list[int]]:
        """Domain and delay of a generator that works from cycle `first` on and before elements stop, and its cycles."""
        for _ in range(30):
            domain, delay = self._domain(), self.random.randrange(12)
            cycles = [delay + s * self.interval for s in self.steps(domain)]
            if cycles and first < cycles[0] and cycles[-1] < _LAST:
                return domain, delay, cycles
        return (), 0, []

    def make(self) -> tuple[bytes, dict[str, NDArray[Any]]]:
        self._banks()
        self._wire()
        cycle = 0
        while cycle < _LAST or any(f.waiting for e in self.elements for f in e.fifos.values()):
            for element in range(4):
                if cycle >= self.elements[element].start:
                    popped: set[Fifo] = set()
                    self._issue(element, cycle, popped)
            cycle += 1
        grid = ((0, 1), (2, 3))
        classes = tuple(self._class(e) for e in self.elements)
        words = max(len(p) for c in classes for p in c.programs)
        c = self.control
        steps = -(-words // self.interval) + self.random.choice((0, 0, 1, 9))
        concrete = Concrete(
            kernel="random",
            machine=self.machine.name,
            machine_hash=machine_file.fingerprint(self.machine),
            initiation_interval=self.interval,
            rows=2,
            columns=2,
            extents=self.extents,
            controller=Controller(c.south, c.east, c.start, c.row_delay, c.column_delay, steps, c.signals),
            classes=classes,
            element_class=grid,
            wrappers=tuple(tuple(sorted(w, key=lambda k: (k.sink, k.source))) for w in self.connections),
            wrapper=grid,
            generators=tuple(self.generators),
            arrays=tuple(self.arrays),
        )
        return concrete_file.encode(concrete), {a.name: self._elements(a) for a in self.arrays if not a.is_output}

    def _elements(self, array: ArrayLayout) -> NDArray[Any]:
        if array.dtype == "f32":
            return np.array([_float_bits(self.random) for _ in range(_STEPS)], np.uint32).view(np.float32)
        low, high = type_limits(array.dtype) or (0, 0)
        edges = (low, high, 0, 1, high)
        chosen = [self.random.choice((*edges, self.random.randint(low, high))) for _ in range(_STEPS)]
        return np.array(chosen, np.int64).astype(NUMPY[array.dtype])

    def _issue(self, number: int, cycle: int, popped: set[Fifo]) -> None:
        element = self.elements[number]
        for unit, functional in enumerate(self.machine.units):
            forced = element.forced.get(cycle, []) if functional.name == "move0" else []
            if cycle < _LAST and (forced or self.random.random() < 0.8):
                made = self._instruction(number, unit, cycle, popped, forced)
            else:
                made = self._drain(element, unit, cycle, popped) if cycle >= _LAST else Instruction()
            element.programs[unit].append(made)

    def _drain(self, element: _Element, unit: int, cycle: int, popped: set[Fifo]) -> Instruction:
        functional = self.machine.units[unit]
        for key, fifo in element.fifos.items() if element.free[unit] <= cycle else ():
            if fifo.waiting and fifo.waiting[0][0] <= cycle and key not in popped:
                dtype = fifo.waiting[0][1]
                if ("move", dtype) in functional.latencies:
                    self._pop(element, key, cycle, popped)
                    self._keep_busy(element, unit, cycle + functional.latencies["move", dtype])
                    return Instruction(encode_opcode("move", dtype), (), (Register(*key),))
        return Instruction()

    def _keep_busy(self, element: _Element, unit: int, until: int) -> None:
        if not self.machine.units[unit].pipelined:
            element.free[unit] = until

    def _pop(self, element: _Element, key: Fifo, cycle: int, popped: set[Fifo]) -> None:
        element.fifos[key].stays.append((element.fifos[key].waiting.pop(0)[0], cycle))
        popped.add(key)

    def _instruction(self, number: int, unit: int, cycle: int, popped: set[Fifo], forced: list[int]) -> Instruction:
        element, functional = self.elements[number], self.machine.units[unit]
        if element.free[unit] > cycle:
            return Instruction()
        moved: list[tuple[str, ElementType]] = [("move", self.arrays[n].dtype) for n in forced]
        operation, dtype = self.random.choice(moved or list(functional.latencies))
        opcode, cycles = encode_opcode(operation, dtype), functional.latencies[operation, dtype]
        self._keep_busy(element, unit, cycle + cycles)
        sources = tuple(
            self._source(element, source_type(opcode, n), cycle, popped, operation, n)
            for n in range(_BY_NAME[operation].arity)
        )
        result = _BY_NAME[operation].result(dtype)
        destinations = self._destinations(number, cycle + cycles, result)
        outputs = [Register(File.IO, 0)] if forced else []
        return Instruction(opcode, tuple(sorted([*destinations, *outputs])), sources)

    def _source(
        self, element: _Element, dtype: ElementType, cycle: int, popped: set[Fifo], operation: str, n: int
    ) -> Source:
        found: list[Source] = []
        # Bits of a NaN are the host's, so that of a number made by arithmetic no bits are taken.
        if operation != "bits_i32" and not (n == 1 and operation in DIVISIONS and dtype != "f32"):
            for index, wrote in enumerate(element.general):
                ready = [t for t in wrote if t <= cycle]
                if ready and wrote[max(ready)] == dtype:
                    found.append(Register(File.RD, index))
            for key, fifo in element.fifos.items():
                if key not in popped and fifo.waiting and fifo.waiting[0][0] <= cycle and fifo.waiting[0][1] == dtype:
                    found += [Register(*key)] * 3
        if found and self.random.random() < 0.9:
            chosen = self.random.choice(found)
            if isinstance(chosen, Register) and chosen.file != File.RD:
                self._pop(element, (chosen.file, chosen.index), cycle, popped)
            return chosen
        if dtype == "f32":
            return Immediate(_float_bits(self.random))
        low, high = type_limits(dtype) or (0, 0)
        value = self.random.choice((low, high, 1, 1, self.random.randint(low, high)))
        return Immediate((value or 1) & 0xFFFFFFFF)

    def _destinations(self, number: int, ready: int, dtype: ElementType) -> list[Register]:
        element, found = self.elements[number], list[Register]()
        for index, wrote in enumerate(element.general):
            if ready not in wrote and self.random.random() < 0.35:
                wrote[ready] = dtype
                found.append(Register(File.RD, index))
        for key in [k for k in element.fifos if k[0] == File.FD]:
            room = len(element.fifos[key].waiting) < 5
            if room and ready not in element.ready.setdefault(key, set()) and self.random.random() < 0.15:
                element.ready[key].add(ready)
                self._push(number, key, ready, dtype)
                found.append(Register(*key))
        for od in range(1, self.machine.output_registers or 0):
            taken = element.ready.setdefault((File.IO, od), set())
            sinks = self.wires.get((number, od), [])
            room = all(len(self.elements[e].fifos[File.IO, k].waiting) < 5 for e, k, _ in sinks)
            if room and ready not in taken and self.random.random() < 0.2:
                taken.add(ready)
                found.append(Register(File.IO, od))
                for other, id_, delay in sinks:
                    self._push(other, (File.IO, id_), ready + delay, dtype)
        return found

    def _push(self, number: int, key: Fifo, ready: int, dtype: ElementType) -> None:
        fifo = self.elements[number].fifos[key]
        fifo.waiting = sorted([*fifo.waiting, (ready, dtype)])

    def _class(self, element: _Element) -> ElementProgram:
        depths = {key: fifo.depth() for key, fifo in element.fifos.items()}
        programs = tuple(self._placed(element, p) for p in element.programs)
        return ElementProgram(
            programs,
            _trimmed([d for (file, _), d in depths.items() if file == File.FD]),
            _trimmed([d for (file, _), d in depths.items() if file == File.IO]),
        )

    def _placed(self, element: _Element, made: list[Instruction]) -> tuple[Instruction, ...]:
        """The instructions in another order, each with a branch to the next one in time."""
        if self.random.random() < 0.15:
            return () if all(i == Instruction() for i in made) else self._in_order(made)
        places = [0, *self.random.sample(range(1, len(made)), len(made) - 1)]
        placed = [Instruction()] * len(made)
        for time, instruction in enumerate(made):
            branch = self._branch(places, time, len(made))
            placed[places[time]] = Instruction(
                instruction.opcode, instruction.destinations, instruction.sources, branch
            )
        return tuple(placed)

    def _in_order(self, made: list[Instruction]) -> tuple[Instruction, ...]:
        last = len(made) - 1
        return tuple(
            Instruction(i.opcode, i.destinations, i.sources, Halt() if n == last else Next())
            for n, i in enumerate(made)
        )

    def _branch(self, places: list[int], time: int, size: int) -> Next | Halt | Goto | If:
        if time + 1 == size:
            return Halt()
        target = places[time + 1]
        if target == places[time] + 1 and self.random.random() < 0.8:
            return Next()
        signals = len(self.control.signals)
        if self.random.random() < 0.3:
            return Goto(target)
        count = self.random.randint(1, min(signals, self.machine.branch_flags))
        read = tuple(sorted(self.random.sample(range(signals), count)))
        step = time // self.interval
        code = sum(self._signal(s, step) << n for n, s in enumerate(read))
        others = [self.random.randrange(size) for _ in range(1 << count)]
        others[code] = target
        return If(read, tuple(others))

    def _signal(self, signal: int, step: int) -> bool:
        """Whether the signal is 1 in a step, the outermost digit without a bound."""
        digits: list[int] = []
        for extent in self.extents[:-1]:
            digits.append(step % extent)
            step //= extent
        digits.append(step)
        return any(
            all(a <= d <= b for a, d, b in zip(s.lower, digits, s.upper, strict=True))
            and all(
                sum(c * d for c, d in zip(h.coefficients, digits, strict=True)) + h.constant >= 0 for h in s.half_spaces
            )
            for s in self.control.signals[signal]
        )


def _float_bits(random: Random) -> int:
    """Words of numbers: small integers and fractions, any exponent, corners."""
    near = struct.unpack("<I", struct.pack("<f", random.randint(-99, 99) / random.choice((1, 2, 3, 64))))[0]
    any_exponent = random.randrange(2) << 31 | random.randrange(0x7F800000)
    return random.choice((near, near, near, any_exponent, random.choice((0, 1 << 31, 1, 0x7F7FFFFF, 0x7F800000))))


def _trimmed(depths: list[int]) -> tuple[int, ...]:
    while depths and not depths[-1]:
        depths.pop()
    return tuple(depths)


def random_program(machine: Machine, seed: int) -> tuple[bytes, dict[str, NDArray[Any]]]:
    """The bytes of a configuration, and its inputs."""
    return _Maker(machine, Random(seed)).make()
