# SPDX-License-Identifier: Apache-2.0
"""A belt machine in plain Python: it runs a program bundle by bundle, for tests of the specializer on small inputs.

It is written from docs/formats.md and the page of the machine, not from the specializer, and faults where the machine
does: positions that were never filled, drops that differ from the header, too many loads, scratch out of bounds, a NaR
that acts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from polyloom.targets.belt.ir import BYTES, Width
from polyloom.targets.belt.isa import OPS, PHASES
from polyloom.targets.belt.layout import addresses
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.meaning import Lane, Lanes, NaR, compute
from polyloom.targets.belt.program import NONE, Belt, Bundle, Immediate, Issue, Operand, Program, Routine

END = len(PHASES)


class Fault(Exception):
    """What the machine refuses to do."""


@dataclass(frozen=True)
class Datum:
    """Lanes, and their width; a None that nobody made has none."""

    lanes: Lanes
    width: Width | None = None

    @property
    def is_none(self) -> bool:
        return all(lane is None for lane in self.lanes)


NOBODY = Datum((None,))


@dataclass
class Scope:
    """A belt with what is on its way to it, and the time of the scope."""

    belt: list[Datum | None] = field(default_factory=list)
    time: int = 0
    arriving: list[tuple[int, int, tuple[int, ...], Any]] = field(default_factory=list)


@dataclass
class Frame:
    routine: Routine
    scopes: list[Scope]
    scratch: dict[int, tuple[int, int, Datum]] = field(default_factory=dict)
    size: int = 0
    frame: int = 0
    frames: int = 0
    turn: int = 0
    at: int = 0


class Twin:
    def __init__(self, program: Program, machine: Machine) -> None:
        self.program, self.machine = program, machine
        self.routines = {r.name: r for r in program.routines}
        self.objects: list[tuple[int, npt.NDArray[np.uint8]]] = []
        for name, base in addresses(program.data).items():
            datum = next(d for d in program.data if d.name == name)
            self.objects.append((base, np.frombuffer(bytearray(datum.initial), np.uint8)))
        self.cycles = 0
        self.high_water = 0

    def place(self, array: npt.NDArray[Any]) -> int:
        end = max((base + len(data) + 64 for base, data in self.objects), default=1 << 16)
        base = -(-end // 64) * 64
        self.objects.append((base, array.reshape(-1).view(np.uint8)))
        return base

    def run(self, arguments: Sequence[int | npt.NDArray[Any]], limit: int = 200_000) -> list[Datum]:
        routine = self.program.routines[0]
        values: list[Datum] = []
        for type, argument in zip(routine.parameters, arguments, strict=True):
            bits = self.place(argument) if isinstance(argument, np.ndarray) else argument
            values.append(Datum((bits % (1 << 8 * BYTES[type.width]),), type.width))
        self.limit = limit
        return self.call(routine, values)

    def call(self, routine: Routine, values: Sequence[Datum]) -> list[Datum]:
        frame = Frame(routine, [Scope(list(values))])
        backs = {first + count - 1: first for first, count in routine.loops}
        while True:
            self.cycles += 1
            if self.cycles > self.limit:
                raise Fault("did not finish")
            bundle = routine.bundles[frame.at]
            ended, target = self.bundle(frame, bundle)
            if ended is not None:
                return ended
            frame.at = target if target is not None else backs.get(frame.at, frame.at + 1)

    def bundle(self, frame: Frame, bundle: Bundle) -> tuple[list[Datum] | None, int | None]:
        scope = frame.scopes[-1]
        if bundle.rotate:
            frame.turn = (frame.turn - 1) % frame.frames
        issues = sorted(bundle.issues, key=lambda i: i.slot.order)
        if len({i.slot for i in issues}) != len(issues):
            raise Fault("a slot twice")
        dropped = 0
        end: tuple[list[Datum] | None, int | None] = (None, None)
        taken = False
        for rank, phase in enumerate(PHASES):
            before = list(scope.belt)
            for issue in issues:
                if OPS[issue.name].phase != phase:
                    continue
                if phase == "X":
                    found, taken = self.act(frame, scope, before, issue, taken)
                    end = found or end
                else:
                    self.compute(frame, scope, before, issue, rank)
            if phase == "X" and not taken:
                break
            if phase != "X":
                missing = 0
                if phase == "C" and self.machine.phasing:
                    rest = sum(self.results(i) for i in issues if OPS[i.name].phase in "RKP")
                    missing = bundle.drops - rest - sum(a[0] == scope.time and a[1] == rank for a in scope.arriving)
                dropped += self.drop(scope, rank, missing)
        if not self.machine.phasing:
            missing = bundle.drops - sum(a[0] == scope.time for a in scope.arriving)
            dropped += self.drop(scope, END, missing)
        if dropped != bundle.drops:
            raise Fault(f"{dropped} drops, the header says {bundle.drops}")
        scope.time += 1
        return end

    def results(self, issue: Issue) -> int:
        if issue.name in ("call", "calltr"):
            return len(self.routines[issue.callee].results)
        return OPS[issue.name].results

    def drop(self, scope: Scope, rank: int, missing: int) -> int:
        if missing < 0:
            raise Fault("more drops than the header says")
        mine = sorted((a for a in scope.arriving if a[0] == scope.time and a[1] == rank), key=lambda a: a[2])
        scope.arriving = [a for a in scope.arriving if not (a[0] == scope.time and a[1] == rank)]
        values = [a[3]() if callable(a[3]) else a[3] for a in mine] + [NOBODY] * missing
        for value in values:
            scope.belt.insert(0, value)
        del scope.belt[self.machine.belt :]
        return len(values)

    def operand(self, belt: Sequence[Datum | None], operand: Operand, like: Datum | None = None) -> Datum:
        if isinstance(operand, Immediate):
            width = like.width if like is not None and like.width else "w"
            return Datum((operand.value % (1 << 8 * BYTES[width]),), width)
        if operand.position == NONE:
            return Datum((None,), operand.width)
        if operand.position >= len(belt) or operand.position >= self.machine.belt:
            raise Fault(f"position {operand.position} was never filled")
        found = belt[operand.position]
        assert found is not None
        self.high_water = max(self.high_water, operand.position + 1)
        return found

    def compute(self, frame: Frame, scope: Scope, belt: Sequence[Datum | None], issue: Issue, rank: int) -> None:
        op = OPS[issue.name]
        given: list[Datum] = []
        for operand in issue.operands:
            like = next((g for g in given if g.width), None)
            given.append(self.operand(belt, operand, like))
        width: Width = issue.width or next((g.width for g in given if g.width), "w")
        latency = issue.delay or self.machine.latency(op, width)
        when = scope.time + (max(latency, 1) - 1 if op.phase == "C" or not self.machine.phasing else 0)
        rank = rank if self.machine.phasing else END
        if issue.name in ("load", "loads", "loadu"):
            loads = sum(a[0] >= scope.time and a[2][-1] == 1 for a in scope.arriving) + 1
            if loads > self.machine.stations:
                raise Fault("more loads than stations")
            address = self.address(issue, given)
            key = (latency, *issue.slot.order, 0, 1)
            scope.arriving.append((when, rank, key, lambda: self.load(issue, address)))
            return
        for r, value in enumerate(self.values(frame, issue, given)):
            scope.arriving.append((when, rank, (latency, *issue.slot.order, r, 0), value))

    def values(self, frame: Frame, issue: Issue, given: list[Datum]) -> list[Datum]:
        op = OPS[issue.name]
        match issue.name:
            case "con":
                return [Datum((issue.literal,) * issue.lanes, issue.width)]
            case "fillx":
                return [self.fill(frame, issue.offset, issue)]
            case "fill":
                return [self.fill(frame, self.physical(frame, issue.offset), issue)]
            case "recur":
                return [given[1] if given[0].is_none else given[0]]
            case "call":
                return self.call(self.routines[issue.callee], given)
            case "calltr":
                if not self.decided(given[0]):
                    return [NOBODY] * self.results(issue)
                return self.call(self.routines[issue.callee], given[1:])
            case _:
                pass
        if any(g.width is None for g in given) and (op.strict or issue.name == "pick" and given[0].width is None):
            return [NOBODY] * op.results
        inner = given[1:] if issue.name == "pick" else given
        width: Width = next((g.width for g in inner if g.width), "w")
        lanes = max(len(g.lanes) for g in given)
        twice: dict[Width, Width] = {"b": "h", "h": "w", "w": "d", "d": "q"}
        result: Width = {"": width, "=": issue.width, "b": "b", "2": twice.get(width)}[op.width] or "w"
        found = compute(issue.name, 8 * BYTES[width], 8 * BYTES[result], [g.lanes for g in given], lanes)
        return [Datum(lanes, result) for lanes in found]

    def decided(self, condition: Datum) -> bool:
        lane = condition.lanes[0]
        if isinstance(lane, NaR):
            raise Fault(f"a NaR decides: {lane.cause}")
        return bool(lane is not None and lane & 1)

    def act(
        self, frame: Frame, scope: Scope, belt: Sequence[Datum | None], issue: Issue, taken: bool
    ) -> tuple[tuple[list[Datum] | None, int | None] | None, bool]:
        given = [self.operand(belt, operand) for operand in issue.operands]
        match issue.name:
            case "store":
                self.store(issue, given)
            case "spill" | "spillx":
                at = issue.offset if issue.name == "spillx" else self.physical(frame, issue.offset)
                size = BYTES[issue.width or "w"] * issue.lanes
                if at < 0 or at + size > frame.size:
                    raise Fault("scratch that is not allocated")
                frame.scratch[at] = (scope.time + self.before(frame), size, given[0])
            case "scratchf":
                frame.size, frame.frame, frame.frames, frame.turn = issue.offset, issue.frame, issue.frames, 0
                if issue.offset > self.machine.scratch:
                    raise Fault("more scratch than there is")
                first = issue.offset - issue.frame * issue.frames
                frame.scratch = {at: v for at, v in frame.scratch.items() if at < first}
            case "retn":
                if not taken:
                    return (given, None), True
            case "br" | "brtr" | "brfl" | "inner" | "leave" | "leavetr" | "leavefl":
                if taken:
                    return None, True
                is_conditional = issue.name[-2:] in ("tr", "fl")
                listed = given[is_conditional:]
                if is_conditional:
                    self.decided(given[0])
                    if given[0].is_none or self.decided(given[0]) != issue.name.endswith("tr"):
                        return None, taken
                if issue.name == "inner":
                    frame.scopes.append(Scope(list(listed)))
                elif issue.name.startswith("leave"):
                    frame.scopes.pop()
                    outer = frame.scopes[-1]
                    outer.belt = [*listed, *outer.belt][: self.machine.belt]
                else:
                    if any(a[0] > scope.time for a in scope.arriving):
                        raise Fault("results on their way at a br")
                    scope.belt = list(listed)
                return (None, issue.target), True
            case _:
                raise Fault(f"{issue.name} is not modelled")
        return None, taken

    def before(self, frame: Frame) -> int:
        return self.cycles - frame.scopes[-1].time

    def physical(self, frame: Frame, offset: int) -> int:
        index, at = divmod(offset, frame.frame)
        if index >= frame.frames:
            raise Fault("a frame that is not there")
        return frame.size - frame.frame * frame.frames + (index + frame.turn) % frame.frames * frame.frame + at

    def fill(self, frame: Frame, at: int, issue: Issue) -> Datum:
        if at not in frame.scratch:
            if issue.name == "fill":
                return Datum((None,) * issue.lanes, issue.width)
            raise Fault("scratch that was not written")
        when, size, value = frame.scratch[at]
        if self.cycles - when < 2:
            raise Fault("a fill too soon after its spill")
        if size != BYTES[issue.width or "w"] * issue.lanes:
            raise Fault("a fill of another width")
        return value

    def address(self, issue: Issue, given: Sequence[Datum]) -> Lane:
        lanes = [g.lanes[0] for g in given]
        if any(lane is None for lane in lanes):
            return None
        if (nar := next((lane for lane in lanes if isinstance(lane, NaR)), None)) is not None:
            return nar
        numbers = [lane for lane in lanes if isinstance(lane, int)]
        return (numbers[0] + sum(numbers[1:]) * issue.scale + issue.offset) % (1 << 32)

    def find(self, at: int, size: int) -> npt.NDArray[np.uint8] | None:
        for base, data in self.objects:
            if base <= at and at + size <= base + len(data):
                return data[at - base : at - base + size]
        return None

    def load(self, issue: Issue, address: Lane) -> Datum:
        assert issue.width is not None
        size = BYTES[issue.width]
        width: Width = issue.width if issue.name == "load" else "w"
        if not isinstance(address, int):
            return Datum((address,) * issue.lanes, width)
        found: list[Lane] = []
        for k in range(issue.lanes):
            data = self.find(address + k * size, size)
            bits = None if data is None else int.from_bytes(data.tobytes(), "little", signed=issue.name == "loads")
            found.append(NaR("outside") if bits is None else bits % (1 << 8 * BYTES[width]))
        return Datum(tuple(found), width)

    def store(self, issue: Issue, given: Sequence[Datum]) -> None:
        assert issue.width is not None
        size, address = BYTES[issue.width], self.address(issue, given[:-1])
        for k, lane in enumerate(given[-1].lanes):
            if address is None or lane is None:
                continue
            if isinstance(address, NaR) or isinstance(lane, NaR):
                raise Fault("a NaR is stored")
            data = self.find(address + k * size, size)
            if data is None:
                raise Fault("a store outside")
            data[:] = np.frombuffer((lane % (1 << 8 * size)).to_bytes(size, "little"), np.uint8)
