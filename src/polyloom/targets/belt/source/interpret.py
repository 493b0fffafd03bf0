# SPDX-License-Identifier: Apache-2.0
"""Interpreter of genasm, iteration by iteration, operation by operation: what the belt's programs must give
(docs/targets/belt.md, Values and faults).

Arrays are passed as addresses of 32 bits and are changed in place. A load from None or NaR, or outside of every object,
gives it back or a NaR; a store whose address or value is None is not done; a NaR that would be stored, called with, or
decide where control goes is a fault, PL1082, as is a store outside. Conditions are read in their low bit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.targets.belt.source.ir import (
    Address,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Jump,
    Loop,
    Module,
    Nothing,
    Op,
    Operand,
    Return,
)
from polyloom.targets.belt.value_types import BYTES
from polyloom.targets.belt.words.semantics import Lane, Lanes, NaR, compute, float_bits

Argument = int | float | npt.NDArray[Any]
STEPS: Final = 10**8
# Objects begin above small addresses, so that an index taken for an address hits none of them.
_FIRST: Final = 1 << 16
# No two objects touch: an access past the end of one is outside of every object, never in the next one.
_GAP: Final = 64
# The machine's own limit of calls (docs/targets/belt.md, Values and faults), so that both refuse the same programs.
_DEEPEST: Final = 256


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a run: the bits of what the function returned (or None, or a NaR), and how often each block was
    entered, each loop's iteration begun, by function and name (the profile)."""

    results: tuple[Lanes, ...]
    counts: Mapping[tuple[str, str], int]


def interpret(module: Module, arguments: Sequence[Argument], steps: int = STEPS) -> Outcome:
    """Run a module's first function. One argument per parameter: arrays (contiguous) for addresses, integers and
    floats. Errors: PL1082 faults, PL1083 after `steps` operations, PL1084 for arguments that do not fit."""
    run = _Run(module, steps)
    function = module.functions[0]
    parameters = function.blocks[0].parameters
    if len(parameters) != len(arguments):
        message = f"{function.name} has {len(parameters)} parameters and gets {len(arguments)} arguments"
        raise input_error("PL1084", message, help="give one argument per parameter, arrays for addresses")
    given = [run.argument(8 * BYTES[p.type.width], a) for p, a in zip(parameters, arguments, strict=True)]
    return Outcome(run.call(function, given), run.counts)


class _Fault(Exception):
    """Machine fault; the text says what."""


@dataclass(slots=True)
class _Memory:
    """Flat memory: objects at addresses with gaps between them, in order."""

    bases: list[int] = field(default_factory=list[int])
    objects: list[npt.NDArray[np.uint8]] = field(default_factory=list[npt.NDArray[np.uint8]])
    known: dict[int, int] = field(default_factory=dict[int, int])
    end: int = _FIRST

    def place(self, data: npt.NDArray[Any], align: int = 64) -> int:
        """Address of an array, which is placed where it is new; the same array twice is one object."""
        # By identity: two parameters that are one array must alias, as pointers do in C.
        if id(data) not in self.known:
            base = -(-self.end // align) * align
            self.bases.append(base)
            self.objects.append(data.reshape(-1).view(np.uint8))
            self.known[id(data)] = base
            self.end = base + data.nbytes + _GAP
        return self.known[id(data)]

    def find(self, address: int, size: int) -> tuple[npt.NDArray[np.uint8], int] | None:
        """Object that holds all `size` bytes at an address, and the offset there; None outside of every object."""
        k = bisect_right(self.bases, address) - 1
        if k < 0 or address - self.bases[k] + size > len(self.objects[k]):
            return None
        return self.objects[k], address - self.bases[k]


class _Run:
    """Interpreter state: memory, steps that are left, counts. Mutable."""

    def __init__(self, module: Module, steps: int) -> None:
        self.functions = {function.name: function for function in module.functions}
        self.blocks = {f.name: {block.name: block for block in f.blocks} for f in module.functions}
        self.memory, self.steps, self.depth = _Memory(), steps, 0
        self.arrays = [np.frombuffer(bytearray(datum.initial), np.uint8) for datum in module.data]
        self.data = {
            datum.name: self.memory.place(array, max(datum.align, 1))
            for datum, array in zip(module.data, self.arrays, strict=True)
        }
        self.counts: dict[tuple[str, str], int] = {}

    def argument(self, width: int, argument: Argument) -> Lanes:
        """Argument as lanes: the address of an array, the bits of a number modulo its width; PL1084."""
        match argument:
            case np.ndarray() if argument.flags.c_contiguous:
                return (self.memory.place(argument),)
            case float():
                return (float_bits(argument, width),)
            case int():
                return (argument % (1 << width),)
            case _:
                raise input_error("PL1084", "an array is not contiguous", help="give `numpy.ascontiguousarray` of it")

    def call(self, function: Function, arguments: Sequence[Lanes]) -> tuple[Lanes, ...]:
        """Call of a function, at most `_DEEPEST` within each other; PL1082 for its faults."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error(function, function.blocks[0].name, f"calls are more than {_DEEPEST} deep")
        frame = _Frame(self, function)
        frame.enter(function.blocks[0], arguments)
        try:
            return frame.run()
        # Only here is known which block ran, which the message names.
        except _Fault as fault:
            raise self._error(function, frame.block.name, str(fault)) from None
        finally:
            self.depth -= 1

    def step(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise input_error("PL1083", "the function has not returned after all its steps", help="give smaller inputs")

    def _error(self, function: Function, block: str, message: str) -> PolyloomError:
        return input_error("PL1082", f"{function.name}, {block}: {message}", help="give other arguments")


class _Frame:
    """Activation frame of a call: its values and the block that runs."""

    def __init__(self, run: _Run, function: Function) -> None:
        self.owner, self.function = run, function
        self.values: dict[str, Lanes] = {}
        self.block = function.blocks[0]

    def enter(self, block: Block | Loop, arguments: Sequence[Lanes]) -> None:
        self.block = block
        key = (self.function.name, block.name)
        self.owner.counts[key] = self.owner.counts.get(key, 0) + 1
        for parameter, argument in zip(block.parameters, arguments, strict=True):
            self.values[parameter.name] = argument

    def run(self) -> tuple[Lanes, ...]:
        """Execute blocks until the function returns; its results."""
        while True:
            # A loop without operations must end by its steps as well.
            self.owner.step()
            left = self._ops()
            if left is not None:
                self._jump(left)
            elif isinstance(self.block, Loop):
                self.enter(self.block, [self.value(o) for o in self.block.next])
            else:
                match self.block.terminator:
                    case Jump(edge):
                        self._jump(edge)
                    case Branch(condition, then, orelse):
                        decided = self._condition_bit(self.value(condition)[0])
                        if decided is None:
                            # A branch of open code must go somewhere; only leaves and calls may not happen.
                            raise _Fault("a branch on None")
                        self._jump(then if decided else orelse)
                    case Return(values):
                        return tuple(self.value(o) for o in values)

    def _jump(self, edge: Edge) -> None:
        self.enter(self.owner.blocks[self.function.name][edge.target], [self.value(o) for o in edge.arguments])

    def value(self, operand: Operand) -> Lanes:
        """Lanes of an operand."""
        match operand:
            case Constant(type, bits):
                return (bits,) * type.lanes
            case Nothing(type):
                return (None,) * type.lanes
            case Address(name, offset):
                return ((self.owner.data[name] + offset) % (1 << 32),)
            case _:
                return self.values[operand.name]

    def _ops(self) -> Edge | None:
        """Execute the block's operations; the edge of the leave that is taken, or None."""
        for op in self.block.ops:
            self.owner.step()
            if op.edge is not None:
                sense = 0 if op.name == "leavefl" else 1
                # None equals neither sense: a leave with a None predicate does not happen.
                if op.name == "leave" or self._condition_bit(self.value(op.operands[0])[0]) == sense:
                    return op.edge
                continue
            for result, lanes in zip(op.results, self._op(op), strict=True):
                self.values[result.name] = lanes
        return None

    def _condition_bit(self, lane: Lane) -> int | None:
        """Low bit of a condition, or None. A NaR is a fault: it would decide where control goes."""
        if isinstance(lane, NaR):
            raise _Fault(f"a NaR decides where control goes: {lane.cause}")
        return lane if lane is None else lane & 1

    def _op(self, op: Op) -> tuple[Lanes, ...]:
        """Results of an operation, lane by lane."""
        given = [self.value(operand) for operand in op.operands]
        match op.name:
            case "load" | "loads" | "loadu":
                return (self._load(op, given),)
            case "store":
                self._store(op, given)
                return ()
            case "call":
                return self._call(op, given)
            case "calltr":
                # A call that does not happen gives Nones (docs/targets/belt.md, Values and faults), so that its users
                # do nothing either.
                if not self._condition_bit(given[0][0]):
                    return tuple((None,) * r.type.lanes for r in op.results)
                return self._call(op, given[1:])
            case "con":
                return (given[0],)
            case _:
                width = 8 * BYTES[_operand_width(op)]
                type = op.results[0].type
                return compute(op.name, width, 8 * BYTES[type.width], given, type.lanes)

    def _call(self, op: Op, given: Sequence[Lanes]) -> tuple[Lanes, ...]:
        if any(isinstance(lane, NaR) for lanes in given for lane in lanes):
            raise _Fault(f"a NaR is an argument of {op.callee}")
        return self.owner.call(self.owner.functions[op.callee], given)

    def _address(self, op: Op, given: Sequence[Lanes]) -> Lanes:
        """Effective address base + index * scale + offset, modulo 2**32: one, or one per lane. None wins over NaR."""
        base, *index = given
        count = max(len(base), *(len(i) for i in index)) if index else len(base)
        found: list[Lane] = []
        for k in range(count):
            lanes = [operand[k % len(operand)] for operand in given]
            if any(lane is None for lane in lanes):
                found.append(None)
            elif (nar := next((lane for lane in lanes if isinstance(lane, NaR)), None)) is not None:
                found.append(nar)
            else:
                numbers = [lane for lane in lanes if isinstance(lane, int)]
                found.append((numbers[0] + sum(numbers[1:]) * op.scale + op.offset) % (1 << 32))
        return tuple(found)

    def _places(self, op: Op, address: Lanes, lanes: int, size: int) -> Lanes:
        """Addresses of all lanes: those of a gather or scatter as they are, else consecutive ones from the first."""
        if len(address) == lanes:
            return address
        # Lane 0 is at the lowest address.
        start = address[0]
        return tuple(start + k * size if isinstance(start, int) else start for k in range(lanes))

    def _load(self, op: Op, given: Sequence[Lanes]) -> Lanes:
        assert op.width is not None
        size, result = BYTES[op.width], op.results[0].type
        places = self._places(op, self._address(op, given), result.lanes, size)
        return tuple(self._load_lane(op.name, at, size, 8 * BYTES[result.width]) for at in places)

    def _load_lane(self, name: str, at: Lane, size: int, width: int) -> Lane:
        """Lane of a load; outside of every object a NaR, so that a load may be executed speculatively."""
        if not isinstance(at, int):
            return at
        found = self.owner.memory.find(at, size)
        if found is None:
            return NaR(f"a load of {size} bytes at {at:#x}, which is no object's")
        data, start = found
        bits = int.from_bytes(data[start : start + size].tobytes(), "little", signed=name == "loads")
        return bits % (1 << width)

    def _store(self, op: Op, given: Sequence[Lanes]) -> None:
        """Store of all lanes, little-endian. A None lane or address is skipped, a NaR faults: a store realizes its
        operands."""
        assert op.width is not None
        size, value = BYTES[op.width], given[-1]
        for at, lane in zip(self._places(op, self._address(op, given[:-1]), len(value), size), value, strict=True):
            if at is None or lane is None:
                continue
            for what in (at, lane):
                if isinstance(what, NaR):
                    raise _Fault(f"a NaR is stored, or decides where: {what.cause}")
            assert isinstance(at, int) and isinstance(lane, int)
            found = self.owner.memory.find(at, size)
            if found is None:
                raise _Fault(f"a store of {size} bytes at {at:#x}, which is no object's")
            data, start = found
            data[start : start + size] = np.frombuffer((lane % (1 << 8 * size)).to_bytes(size, "little"), np.uint8)


def _operand_width(op: Op) -> Any:
    """Width of what is computed with: a pick's arms, else the first operand."""
    return op.operands[1 if op.name == "pick" else 0].type.width
