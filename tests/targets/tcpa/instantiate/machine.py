# SPDX-License-Identifier: Apache-2.0
"""A slow, plain model of the timing contract (docs/targets/tcpa.md): an oracle for the words of a configuration.

Every fault of the contract is an AssertionError. Latencies are by operation name; the hop delay is an argument, because
the words do not hold them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import prod

from tests.targets.tcpa.instantiate.naive import Cells, execute
from tests.targets.tcpa.instantiate.oracle.interconnect import LOCATIONS
from tests.targets.tcpa.oracle.wires import connections

from polyloom.targets.tcpa.run import scan_sets
from polyloom.targets.tcpa.words.concrete import Concrete, Generator
from polyloom.targets.tcpa.words.isa import OPCODE_NOP, File, Goto, Halt, If, Immediate, Instruction, Register

Element = tuple[int, int]
_STEP = {1: (-1, 0), 2: (0, 1), 3: (1, 0), 4: (0, -1)}
_OPPOSITE = {1: 3, 2: 4, 3: 1, 4: 2}


@dataclass(frozen=True)
class Run:
    outputs: Cells
    cycles: int
    high_water: dict[tuple[int, int, int], int]
    """Most tokens, by (class, register file, index)."""


def simulate(concrete: Concrete, data: Cells, *, latency: int = 1, hop_delay: int = 0) -> Run:
    return _Machine(concrete, data, latency, hop_delay).run()


class _Machine:
    """The state of a run."""

    def __init__(self, concrete: Concrete, data: Cells, latency: int, hop_delay: int) -> None:
        self.c, self.data, self.latency, self.hop = concrete, data, latency, hop_delay
        self.fifos: dict[tuple[Element, File, int], list[int]] = defaultdict(list)
        self.rd: dict[tuple[Element, int], int] = {}
        self.pushes: dict[int, list[tuple[Element, Register, int]]] = defaultdict(list)
        self.arrivals: dict[int, dict[tuple[str, int, int], int]] = defaultdict(dict)
        self.high: dict[tuple[int, int, int], int] = defaultdict(int)
        self.outputs: Cells = {}
        self.wires = connections(concrete)

    def run(self) -> Run:
        c, control = self.c, self.c.controller
        issues: list[int] = []
        writes: list[int] = []
        units: dict[tuple[Element, int], tuple[int, int]] = {}
        for r in range(c.rows):
            for k in range(c.columns):
                if c.element_class[r][k] >= 0:
                    away = (c.rows - 1 - r if control.south else r, c.columns - 1 - k if control.east else k)
                    token = control.start + away[0] * control.row_delay + away[1] * control.column_delay
                    for u, program in enumerate(c.classes[c.element_class[r][k]].programs):
                        if program:
                            units[(r, k), u] = (token, 0)
        starts = {key: token for key, (token, _) in units.items()}
        at = dict.fromkeys(units, 0)
        steps = prod(c.extents)
        due: dict[int, list[tuple[Generator, int]]] = defaultdict(list)
        for g in c.generators:
            assert g.delay >= 0 and g.domain
            for s in range(steps):
                if scan_sets.contains(g.domain, scan_sets.mixed_radix_digits(s, c.extents)):
                    due[g.delay + s * c.initiation_interval].append((g, s))
        pending = sum(map(len, due.values()))
        cycle = 0
        while at or pending or any(self.pushes.values()):
            assert cycle < 100000, "the run does not end"
            banks: set[tuple[str, int, int]] = set()
            for g, s in due.pop(cycle, []):
                pending -= 1
                port = (g.side, g.position, g.channel)
                assert port not in banks, "bank conflict"
                banks.add(port)
                index = self._index(g, s)
                if c.arrays[g.array].is_output:
                    writes.append(cycle)
                    assert port in self.arrivals[cycle], f"no token for {g} in step {s}"
                    assert index not in self.outputs, "double write"
                    self.outputs[index] = self.arrivals[cycle].pop(port)
                else:
                    self._enter(g, cycle, self.data[index])
            assert not self.arrivals[cycle], (
                f"tokens {self.arrivals[cycle]} arrive at a border in cycle {cycle}, but none is due"
            )
            seen: set[tuple[Element, Register]] = set()
            for element, register, value in self.pushes.pop(cycle, []):
                assert (element, register) not in seen, "two writes at once"
                seen.add((element, register))
                if register.file is File.RD:
                    self.rd[element, register.index] = value
                else:
                    self.fifos[element, register.file, register.index].append(value)
            for (element, file, index), tokens in self.fifos.items():
                number = c.element_class[element[0]][element[1]]
                self.high[number, file, index] = max(self.high[number, file, index], len(tokens))
                listed = c.classes[number].feedback_depths if file is File.FD else c.classes[number].input_depths
                assert len(tokens) <= (listed[index] if index < len(listed) else 0), (
                    f"overflow of {file!r}{index} in {element}"
                )
            popped: set[tuple[Element, File, int]] = set()
            for (element, u), place in list(at.items()):
                if starts[element, u] > cycle:
                    continue
                i = c.classes[c.element_class[element[0]][element[1]]].programs[u][place]
                if i.opcode != OPCODE_NOP:
                    issues.append(cycle)
                    self._issue(element, i, cycle, popped)
                match i.branch:
                    case Halt():
                        del at[element, u]
                    case Goto(target):
                        at[element, u] = target
                    case If(signals, targets):
                        step = scan_sets.mixed_radix_digits(
                            (cycle - starts[element, u]) // c.initiation_interval, c.extents
                        )
                        at[element, u] = targets[
                            sum(scan_sets.contains(control.signals[s], step) << b for b, s in enumerate(signals))
                        ]
                    case _:
                        at[element, u] = place + 1
                assert (cycle - starts[element, u]) // c.initiation_interval < control.steps, (
                    "the controller has stopped"
                )
            cycle += 1
        assert not any(self.fifos.values()), f"tokens left: { {k: v for k, v in self.fifos.items() if v} }"
        assert not any(self.arrivals.values()), "tokens left on wires"
        return Run(self.outputs, max(writes) + 1 - min(issues) if issues and writes else 0, dict(self.high))

    def _index(self, g: Generator, step: int) -> tuple[str, tuple[int, ...]]:
        array = self.c.arrays[g.array]
        digits = scan_sets.mixed_radix_digits(step, self.c.extents)
        word = g.base + sum(a * x for a, x in zip(g.coefficients, digits, strict=True))
        assert 0 <= word < prod(array.shape), "outside of the array"
        index: list[int] = []
        for stride in array.strides:
            index.append(word // stride)
            word %= stride
        return array.name, tuple(index)

    def _enter(self, g: Generator, cycle: int, value: int) -> None:
        location = LOCATIONS.index(g.side)
        row = {1: 0, 3: self.c.rows - 1}.get(location, g.position)
        column = {4: 0, 2: self.c.columns - 1}.get(location, g.position)
        assert self._drive((row, column), (location, g.channel), cycle, value), "an input is connected to nothing"

    def _drive(self, element: Element, source: tuple[int, int], cycle: int, value: int) -> bool:
        sinks = [sink for sink, driver in self.wires[element] if driver == source]
        for location, index in sinks:
            if location == 0:
                self.pushes[cycle].append((element, Register(File.IO, index), value))
                continue
            step = _STEP[location]
            beside = element[0] + step[0], element[1] + step[1]
            if 0 <= beside[0] < self.c.rows and 0 <= beside[1] < self.c.columns:
                self._drive(beside, (_OPPOSITE[location], index), cycle + self.hop, value)
            else:
                port = (LOCATIONS[location], element[0] if location in (2, 4) else element[1], index)
                assert port not in self.arrivals[cycle]
                self.arrivals[cycle][port] = value
        return bool(sinks)

    def _issue(self, element: Element, i: Instruction, cycle: int, popped: set[tuple[Element, File, int]]) -> None:
        operands: list[int] = []
        for source in i.sources:
            if isinstance(source, Immediate):
                operands.append(source.bits)
            elif source.file is File.RD:
                assert (element, source.index) in self.rd, "undefined register"
                operands.append(self.rd[element, source.index])
            else:
                key = (element, source.file, source.index)
                assert key not in popped, "two pops at once"
                popped.add(key)
                assert self.fifos[key], f"underflow of {source} in {element} in cycle {cycle}"
                operands.append(self.fifos[key].pop(0))
        value = execute(i.opcode, operands)
        ready = cycle + self.latency
        for d in i.destinations:
            if d.file is File.IO:
                self._drive(element, (0, d.index), ready, value)
            else:
                self.pushes[ready].append((element, d, value))
