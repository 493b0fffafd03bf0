# SPDX-License-Identifier: Apache-2.0
"""The belt machine in Python, to be read: docs/targets/belt.md (Time, Values, Memory and scratch) line by line.

It executes `program.Program` data, so that it shares neither words nor code with the native model; what operations give
is `semantics`'s. A belt is a list that begins with b0; a result in flight is an entry with the bundle of its drop.
Programs have one byte array as memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.targets.belt.isa import OPS, predicate_count
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.value_types import BYTES, Width
from polyloom.targets.belt.words.program import NONE, Bundle, Immediate, Issue, Operand, Program, Routine, sort_by_slot
from polyloom.targets.belt.words.semantics import Lane, Lanes, NaR, compute

BASE: Final = 1 << 16
_WIDTHS: Final[dict[int, Width]] = {8: "b", 16: "h", 32: "w", 64: "d", 128: "q"}


@dataclass(frozen=True, slots=True)
class Value:
    """`bits` per lane; 0 for a None without a shape."""

    bits: int
    lanes: Lanes


SHAPELESS: Final = Value(0, (None,))
_NAR: Final = NaR("a load outside of every array")


class Fault(Exception):
    """`code` is that of the diagnostic."""

    def __init__(self, code: str, bundle: int, slot: str = "") -> None:
        super().__init__(code, bundle, slot)
        self.place = code, bundle, slot


@dataclass(slots=True)
class Flying:
    """A result that drops in bundle `at` of its scope's time, in the order of `key`."""

    at: int
    key: tuple[int, ...]
    value: Callable[[], Value]
    is_load: bool = False


@dataclass(slots=True)
class Scope:
    belt: list[Value] = field(default_factory=list[Value])
    flying: list[Flying] = field(default_factory=list[Flying])
    age: int = 0


@dataclass(slots=True)
class Frame:
    """A call. Scratch is by byte: (bundle of the spill, value); `base` is where the newest frame is."""

    routine: Routine
    scopes: list[Scope]
    age: int = 0
    scratch: dict[int, tuple[int, Value]] = field(default_factory=dict[int, tuple[int, Value]])
    size: int = 0
    frame: int = 0
    frames: int = 0
    base: int = 0


@dataclass(slots=True)
class Twin:
    """`seen` has, per routine and bundle, the most operands that dropped in it: what its header has to say."""

    program: Program
    machine: Machine
    memory: bytearray
    left: int
    checks_drops: bool = True
    seen: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    cycles: int = 0

    def run(self, arguments: list[Value]) -> list[Value] | None:
        """What retn gives; None where `left` bundles do not suffice."""
        return self.call(self.program.routines[0], arguments, 1)

    def call(self, routine: Routine, arguments: list[Value], depth: int) -> list[Value] | None:
        frame, at = Frame(routine, [Scope(list(arguments))]), 0
        back = {first + bundles - 1: first for first, bundles in routine.loops}
        while self.left:
            self.left -= 1
            self.cycles += 1
            step = _Step(self, frame, at, depth)
            issue, values = step.run()
            if step.stopped:
                return None
            if issue is None:
                at = back.get(at, at + 1)
                if at == len(routine.bundles):
                    raise Fault("PL1058", at - 1)
            elif issue.name == "retn":
                return values
            else:
                self.transfer(frame, issue, values, at)
                at = issue.target
        return None

    def transfer(self, frame: Frame, issue: Issue, values: list[Value], at: int) -> None:
        if issue.name == "inner":
            frame.scopes.append(Scope(values))
        elif issue.name.startswith("leave"):
            if len(frame.scopes) == 1:
                raise Fault("PL1058", at, str(issue.slot))
            frame.scopes.pop()
            scope = frame.scopes[-1]
            scope.belt = (values + scope.belt)[: self.machine.belt]
        else:
            frame.scopes[-1].belt = values


class _Step:
    """One bundle of a frame."""

    def __init__(self, twin: Twin, frame: Frame, at: int, depth: int) -> None:
        self.twin, self.frame, self.at, self.depth = twin, frame, at, depth
        self.scope = frame.scopes[-1]
        self.machine, self.bundle = twin.machine, frame.routine.bundles[at]
        self.issues = sort_by_slot(self.bundle)[0]
        self.dropped, self.stopped = 0, False

    def run(self) -> tuple[Issue | None, list[Value]]:
        """The transfer that happens, with its list."""
        if self.bundle.rotate and self.frame.frames:
            self.frame.base = (self.frame.base - self.frame.frame) % (self.frame.frame * self.frame.frames)
        phases = {phase: [i for i in self.issues if OPS[i.name].phase == phase] for phase in "RCKPX"}
        reads = {"R": self.read, "C": self.compute, "K": self.calls, "P": self.pick}
        for phase, act in reads.items():
            fresh = act(phases[phase])
            if self.stopped:
                return None, []
            if self.machine.phasing:
                self.drop([f for f in fresh if f.at == self.scope.age])
                fresh = [f for f in fresh if f.at > self.scope.age]
            self.scope.flying += fresh
            if phase == "C" and self.machine.phasing:
                self.arrive(sum(self.count(i) for p in "RKP" for i in phases[p]))
        return self.write(phases["X"])

    def fail(self, code: str, issue: Issue | None = None) -> Fault:
        return Fault(code, self.at, str(issue.slot) if issue else "")

    def count(self, issue: Issue) -> int:
        return len(self.routine(issue).results) if OPS[issue.name].phase == "K" else OPS[issue.name].results

    def routine(self, issue: Issue) -> Routine:
        return next(r for r in self.twin.program.routines if r.name == issue.callee)

    # Belts

    def drop(self, flying: list[Flying]) -> None:
        for each in sorted(flying, key=lambda f: f.key):
            self.scope.belt.insert(0, each.value())
            self.dropped += 1
        del self.scope.belt[self.machine.belt :]

    def arrive(self, others: int) -> None:
        """Results whose time has come, then Nones for those that nobody issued."""
        due = [f for f in self.scope.flying if f.at == self.scope.age]
        self.scope.flying = [f for f in self.scope.flying if f.at > self.scope.age]
        key = (self.frame.routine.name, self.at)
        self.twin.seen[key] = max(self.twin.seen.get(key, 0), len(due) + others)
        missing = self.bundle.drops - others - len(due)
        longest = max(self.machine.load[1], *(max(row.values()) for row in self.machine.latencies.values()))
        young = len(self.frame.scopes) > 1 and self.scope.age + 1 < longest
        if missing and self.twin.checks_drops and (missing < 0 or not young):
            raise self.fail("PL1051")
        self.drop(due)
        for _ in range(missing):
            self.scope.belt.insert(0, SHAPELESS)
        del self.scope.belt[self.machine.belt :]

    def at_position(self, issue: Issue, position: int) -> Value:
        if position >= len(self.scope.belt):
            raise self.fail("PL1050", issue)
        return self.scope.belt[position]

    def operand(self, issue: Issue, operand: Operand) -> Value:
        if isinstance(operand, Immediate):
            return Value(-1, (operand.value,))
        if operand.position == NONE:
            return Value(8 * BYTES[operand.width or "b"], (None,))
        return self.at_position(issue, operand.position)

    def flying(
        self, issue: Issue, latency: int, value: Callable[[], Value], order: int = 0, load: bool = False
    ) -> Flying:
        """Without phasing nothing drops before the bundle's end."""
        latency = latency if self.machine.phasing else max(latency, 1)
        at = self.scope.age + max(latency, 1) - 1
        return Flying(at, (latency, *issue.slot.order, order), value, load)

    # Phases

    def read(self, issues: list[Issue]) -> list[Flying]:
        return [self.flying(i, 0, _given(self.constant(i) if i.name == "con" else self.fill(i))) for i in issues]

    def constant(self, issue: Issue) -> Value:
        assert issue.width is not None
        return Value(8 * BYTES[issue.width], (issue.literal,) * issue.lanes)

    def compute(self, issues: list[Issue]) -> list[Flying]:
        made: list[Flying] = []
        for issue in issues:
            is_load = OPS[issue.name].latency == "load"
            if is_load and sum(f.is_load for f in (*self.scope.flying, *made)) == self.machine.stations:
                raise self.fail("PL1052", issue)
            given = [self.operand(issue, o) for o in issue.operands]
            if is_load:
                made.append(self.flying(issue, issue.delay, self.load(issue, given), load=True))
                continue
            shaped = [v for v in given if v.bits > 0]
            bits = shaped[0].bits if shaped else 32
            if OPS[issue.name].latency in ("shift", "mul"):
                assert issue.width is not None
                if given[0].bits and given[0].bits != 8 * BYTES[issue.width]:
                    raise self.fail("PL1056", issue)
                bits = 8 * BYTES[issue.width]
            latency = self.machine.latency(OPS[issue.name], _WIDTHS[bits])
            for k, value in enumerate(self.results(issue, given)):
                made.append(self.flying(issue, latency, _given(value), k))
        # Results of latency 1 drop beside older ones of longer latency: one order for all.
        if self.machine.phasing:
            self.scope.flying += made
            return []
        return made

    def results(self, issue: Issue, given: list[Value]) -> list[Value]:
        op = OPS[issue.name]
        shaped = [v for v in given if v.bits > 0]
        if not shaped:
            return [SHAPELESS] * op.results
        amounts = 1 if op.latency == "shift" else 0
        if len({v.bits for v in given[: len(given) - amounts] if v.bits > 0}) > 1:
            raise self.fail("PL1056", issue)
        bits = shaped[0].bits
        stated = 8 * BYTES[issue.width] if issue.width and op.width == "=" else bits
        result = 8 if op.width == "b" else 2 * bits if op.width == "2" else stated
        operands = [tuple(_bits(lane, bits) for lane in v.lanes) for v in given]
        return [Value(result, lanes) for lanes in compute(issue.name, bits, result, operands, issue.lanes)]

    def calls(self, issues: list[Issue]) -> list[Flying]:
        made: list[Flying] = []
        for issue in issues:
            callee = self.routine(issue)
            if self.happens(issue):
                if self.depth == 256:
                    raise self.fail("PL1055", issue)
                arguments = [self.operand(issue, o) for o in issue.operands[predicate_count(OPS[issue.name]) :]]
                values = self.twin.call(callee, arguments, self.depth + 1)
                if values is None:
                    self.stopped = True
                    values = []
            else:
                values = [Value(8 * BYTES[t.width], (None,) * t.lanes) for t in callee.results]
            made += [self.flying(issue, 1, _given(v), n) for n, v in enumerate(reversed(values))]
        return made

    def pick(self, issues: list[Issue]) -> list[Flying]:
        return [self.flying(i, 0, _given(self.chosen(i, [self.operand(i, o) for o in i.operands]))) for i in issues]

    def chosen(self, issue: Issue, given: list[Value]) -> Value:
        if issue.name == "recur":
            value, initial = given
            kept = value if value.lanes[0] is not None or not initial.bits else initial
            return kept if kept.bits else value
        shape = next((v for v in given[1:] if v.bits), SHAPELESS)
        if not shape.bits:
            return SHAPELESS
        if any(v.bits not in (0, shape.bits) for v in given[1:]):
            raise self.fail("PL1056", issue)
        return Value(shape.bits, compute("pick", shape.bits, shape.bits, [v.lanes for v in given], 1)[0])

    def write(self, issues: list[Issue]) -> tuple[Issue | None, list[Value]]:
        """scratchf, then spills and stores, then the first transfer that happens; belts last."""
        frame = self.frame
        for issue in issues:
            if issue.name == "scratchf":
                self.allocate(issue)
        transfer: Issue | None = None
        for issue in issues:
            if issue.name.startswith("spill"):
                self.spill(issue, self.operand(issue, issue.operands[0]))
            elif issue.name == "store":
                self.store(issue, [self.operand(issue, o) for o in issue.operands])
        for issue in issues:
            if issue.name in ("scratchf", "spill", "spillx", "store", "conform"):
                continue
            if transfer is None and self.happens(issue):
                transfer = issue
        listing = transfer or next((i for i in issues if i.name == "conform"), None)
        operands = listing.operands[predicate_count(OPS[listing.name]) :] if listing else ()
        values = [self.operand(listing, o) for o in operands] if listing else []
        if not self.machine.phasing:
            self.arrive(0)
        self.scope.age += 1
        frame.age += 1
        if listing and transfer is None:
            self.scope.belt = values
        return transfer, values

    def happens(self, issue: Issue) -> bool:
        if not predicate_count(OPS[issue.name]):
            return True
        (lane, *_) = self.operand(issue, issue.operands[0]).lanes
        if isinstance(lane, NaR):
            raise self.fail("PL1054", issue)
        return lane is not None and bool(lane & 1) != issue.name.endswith("fl")

    # Scratch and memory

    def allocate(self, issue: Issue) -> None:
        frame = self.frame
        if issue.offset > self.machine.scratch:
            raise self.fail("PL1053", issue)
        fixed = min(frame.size - frame.frame * frame.frames, issue.offset - issue.frame * issue.frames)
        frame.scratch = {at: kept for at, kept in frame.scratch.items() if at + kept[1].bits // 8 <= fixed}
        frame.size, frame.frame, frame.frames, frame.base = issue.offset, issue.frame, issue.frames, 0

    def byte(self, issue: Issue) -> int:
        frame, size = self.frame, self.size(issue)
        rotating = frame.frame * frame.frames
        fixed = frame.size - rotating
        if issue.name.endswith("x"):
            if issue.offset + size > fixed:
                raise self.fail("PL1053", issue)
            return issue.offset
        if issue.offset + size > rotating or (issue.offset + frame.base) % rotating + size > rotating:
            raise self.fail("PL1053", issue)
        return fixed + (issue.offset + frame.base) % rotating

    def size(self, issue: Issue) -> int:
        assert issue.width is not None
        return BYTES[issue.width] * issue.lanes

    def spill(self, issue: Issue, value: Value) -> None:
        assert issue.width is not None
        bits = 8 * BYTES[issue.width]
        if value.bits not in (0, bits):
            raise self.fail("PL1056", issue)
        at, size = self.byte(issue), self.size(issue)
        scratch = self.frame.scratch
        for start in [s for s, (_, v) in scratch.items() if s < at + size and at < s + v.bits // 8 * len(v.lanes)]:
            del scratch[start]
        scratch[at] = self.frame.age, value if value.bits else Value(bits, (None,) * issue.lanes)

    def fill(self, issue: Issue) -> Value:
        assert issue.width is not None
        bits, at, size = 8 * BYTES[issue.width], self.byte(issue), self.size(issue)
        touching = [
            s for s, (_, v) in self.frame.scratch.items() if s < at + size and at < s + v.bits // 8 * len(v.lanes)
        ]
        if not touching and issue.name == "fill":
            return Value(bits, (None,) * issue.lanes)
        when, value = self.frame.scratch.get(at, (0, SHAPELESS))
        if value.bits != bits or len(value.lanes) != issue.lanes or self.frame.age < when + 2:
            raise self.fail("PL1053", issue)
        return value

    def address(self, issue: Issue, given: list[Value]) -> Lane:
        lanes = [v.lanes[0] for v in given]
        if None in lanes:
            return None
        if nars := [lane for lane in lanes if isinstance(lane, NaR)]:
            return nars[0]
        numbers = [lane for lane in lanes if isinstance(lane, int)]
        return (numbers[0] + sum(numbers[1:]) * issue.scale + issue.offset) % (1 << 32)

    def load(self, issue: Issue, given: list[Value]) -> Callable[[], Value]:
        """What memory holds when it drops."""
        assert issue.width is not None
        at, size = self.address(issue, given), BYTES[issue.width]
        result = 8 * size if issue.name == "load" else 32

        def sampled(at: Lane) -> Lane:
            if not isinstance(at, int):
                return at
            place = at % (1 << 32) - BASE
            if not 0 <= place <= len(self.twin.memory) - size:
                return _NAR
            data = self.twin.memory[place : place + size]
            return int.from_bytes(data, "little", signed=issue.name == "loads") % (1 << result)

        places = [at + k * size if isinstance(at, int) else at for k in range(issue.lanes)]
        return lambda: Value(result, tuple(sampled(place) for place in places))

    def store(self, issue: Issue, given: list[Value]) -> None:
        assert issue.width is not None
        at, value, size = self.address(issue, given[:-1]), given[-1], BYTES[issue.width]
        if value.bits and value.bits < 8 * size:
            raise self.fail("PL1056", issue)
        for k, lane in enumerate(value.lanes):
            if at is None or lane is None:
                continue
            if isinstance(at, NaR) or isinstance(lane, NaR):
                raise self.fail("PL1054", issue)
            place = (at + k * size) % (1 << 32) - BASE
            if not 0 <= place <= len(self.twin.memory) - size:
                raise self.fail("PL1057", issue)
            self.twin.memory[place : place + size] = (lane % (1 << 8 * size)).to_bytes(size, "little")


def _given(value: Value) -> Callable[[], Value]:
    return lambda: value


def _bits(lane: Lane, bits: int) -> Lane:
    return lane % (1 << bits) if isinstance(lane, int) else lane


def with_drops(program: Program, seen: dict[tuple[str, int], int]) -> Program:
    """The program whose headers say what was seen."""

    def bundle(routine: Routine, n: int) -> Bundle:
        return replace(routine.bundles[n], drops=seen.get((routine.name, n), routine.bundles[n].drops))

    routines = tuple(replace(r, bundles=tuple(bundle(r, n) for n in range(len(r.bundles)))) for r in program.routines)
    return replace(program, routines=routines)
