# SPDX-License-Identifier: Apache-2.0
"""Runs a function of `ir.ssa` over NumPy arrays: the meaning that every transformation and every target must keep.

Arrays are passed as pointers to their bytes and are changed in place. An access outside of objects or misaligned and a division by
zero are faults. What too large a shift, overflow against a flag or a variable that was never set gives is a `Poison`, which passes
through arithmetic and calls; its use is a fault: as a condition, an address, a divisor, a result, or in an array of the caller's.
Volatile and atomic accesses are plain ones here, in the order of the program: there is one hart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir import ssa_semantics as semantics
from polyloom.ir.ssa import (
    ARITHMETIC,
    CASTS,
    COMPARISONS,
    FLOAT_COMPARISONS,
    FLOATING,
    FLOATS,
    Address,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Return,
    Switch,
    Type,
    Undef,
    Unreachable,
    Value,
    number,
    wrapped,
)
from polyloom.ir.ssa_intrinsics import intrinsic
from polyloom.ir.ssa_memory import Memory
from polyloom.ir.ssa_semantics import Number, Poison, Undefined

Result = Number | Poison
Argument = int | float | npt.NDArray[Any]
STEPS: Final = 10**8


def interpret(function: Function, arguments: Sequence[Argument], steps: int = STEPS) -> Number | None:
    """What the function returns: integers in the range of their type taken as signed, None where there is nothing.

    One argument a parameter: arrays (contiguous, writable) for pointers. Raises PL0972 for what is undefined, PL0974 after
    `steps` blocks and instructions, PL0973 for arguments that do not fit.
    """
    return _Run(function, steps).run(arguments)


@dataclass(slots=True)
class _Frame:
    """A call that has not returned: its values, the next instruction, and how many objects there were before."""

    function: Function
    block: Block
    objects: int
    values: dict[str, Result] = field(default_factory=dict[str, Result])
    next: int = 0


class _Run:
    """Mutable: memory, the frames of calls, of which the last one runs, and its values."""

    def __init__(self, function: Function, steps: int) -> None:
        self.function, self.steps = function, steps
        self.functions = {member.name: member for member in function.program}
        self.blocks = {member.name: {block.name: block for block in member.blocks} for member in function.program}
        self.memory = Memory()
        self.data = {d.name: self.memory.place(np.frombuffer(bytearray(d.initial), np.uint8), max(d.align, 1), True, not d.constant) for d in function.data}
        self.places: dict[int, int] = {}
        self.frames: list[_Frame] = []
        self.values: dict[str, Result] = {}

    def run(self, arguments: Sequence[Argument]) -> Number | None:
        self._call(self.function, self._arguments(arguments))
        while True:
            frame = self.frames[-1]
            if self._calls(frame):
                continue
            self._step(frame.block.terminator.line)
            try:
                end = frame.block.terminator
                if isinstance(end, Return) and len(self.frames) == 1:
                    self._check_arrays()
                    return self._defined(end.value) if end.value is not None else None
                self._terminator(frame)
            except Undefined as fault:
                raise self._fault(str(fault), frame.block.terminator.line) from None

    def _call(self, function: Function, arguments: Sequence[Result]) -> None:
        self.frames.append(_Frame(function, function.blocks[0], len(self.memory.objects)))
        self.values = self.frames[-1].values
        self._enter(function.blocks[0], arguments)

    def _return(self, value: Result | None) -> None:
        """What an inner call returns may be undefined, as long as nobody uses it."""
        self.memory.forget(self.frames.pop().objects)
        caller = self.frames[-1]
        self.values = caller.values
        result = caller.block.instructions[caller.next - 1].result
        if result is not None and value is not None:
            self.values[result.name] = value

    def _arguments(self, arguments: Sequence[Argument]) -> list[Result]:
        parameters = self.function.parameters
        if len(arguments) != len(parameters):
            message = f"@{self.function.name} has {len(parameters)} parameters and gets {len(arguments)} arguments"
            raise input_error("PL0973", message, help="give one argument for each parameter, arrays for pointers")
        return [self._argument(parameter, argument) for parameter, argument in zip(parameters, arguments, strict=True)]

    def _argument(self, parameter: Value, argument: Argument) -> Number:
        """The same array twice is one object."""
        match argument:
            case np.ndarray() if parameter.type == "ptr" and argument.flags.c_contiguous:
                if id(argument) not in self.places:
                    self.places[id(argument)] = self.memory.place(_bytes(argument), 64, writable=argument.flags.writeable)
                return self.places[id(argument)]
            case int() if parameter.type not in FLOATS:
                return wrapped(parameter.type, argument)
            case int() | float() if parameter.type in FLOATS:
                return semantics.rounded(parameter.type, float(argument))
            case _:
                message = f"the argument for %{parameter.name} does not fit its type {parameter.type}"
                raise input_error("PL0973", message, help="give integers and floats for scalars, contiguous arrays for pointers")

    def _enter(self, block: Block, arguments: Sequence[Result]) -> None:
        for parameter, argument in zip(block.parameters, arguments, strict=True):
            self.values[parameter.name] = argument

    def _calls(self, frame: _Frame) -> bool:
        """The rest of the block, up to a call, which is begun."""
        instructions = frame.block.instructions
        while frame.next < len(instructions):
            instruction = instructions[frame.next]
            frame.next += 1
            self._step(instruction.line)
            if instruction.callee and instruction.called:
                self._call(self.functions[instruction.called], [self._value(operand) for operand in instruction.operands])
                return True
            try:
                result = self._instruction(instruction)
            except Undefined as fault:
                raise self._fault(str(fault), instruction.line) from None
            if instruction.result is not None and result is not None:
                self.values[instruction.result.name] = result
        return False

    def _step(self, line: int) -> None:
        self.steps -= 1
        if self.steps < 0:
            help = "give smaller arguments, or more steps; is there a loop without an end?"
            raise input_error("PL0974", f"@{self.function.name} has not returned after all its steps, near line {line}", help=help)

    def _fault(self, message: str, line: int) -> PolyloomError:
        frame, place = self.frames[-1], f"line {line}, " if line else ""
        text = f"@{frame.function.name}, {place}block {frame.block.name}: {message}"
        return input_error("PL0972", text, help="C leaves this undefined: give other arguments")

    def _terminator(self, frame: _Frame) -> None:
        match frame.block.terminator:
            case Jump(target):
                self._jump(frame, target)
            case Branch(condition, then, orelse):
                self._jump(frame, then if self._defined(condition) else orelse)
            case Switch(value, default, cases):
                self._jump(frame, dict(cases).get(int(self._defined(value)), default))
            case Return(value):
                self._return(self._value(value) if value is not None else None)
            case Unreachable():
                raise Undefined("control comes to a place that the source says it never reaches")

    def _jump(self, frame: _Frame, edge: Edge) -> None:
        arguments = [self._value(argument) for argument in edge.arguments]
        frame.block, frame.next = self.blocks[frame.function.name][edge.block], 0
        self._enter(frame.block, arguments)

    def _value(self, operand: Operand) -> Result:
        match operand:
            case Value(name):
                return self.values[name]
            case Constant(type, value):
                return number(operand) if type in FLOATS else value
            case Address(name, offset):
                return self.data[name] + offset
            case Undef():
                return Poison("a variable is used that was never set")

    def _defined(self, operand: Operand) -> Any:
        found = self._value(operand)
        if isinstance(found, Poison):
            raise Undefined(str(found))
        return found

    def _check_arrays(self) -> None:
        """What the caller gets back has values."""
        for array in self.places.values():
            if not self.memory.at(array).defined.all():
                raise Undefined("an array was given values that were never set")

    def _instruction(self, instruction: Instruction) -> Result | None:
        operands, result = instruction.operands, instruction.result
        type: Type = result.type if result else "i64"
        align = instruction.access.align if instruction.access else 1
        match instruction.operation:
            case "load":
                return self.memory.load(type, self._defined(operands[0]), align)
            case "store":
                self.memory.store(operands[0].type, self._value(operands[0]), self._defined(operands[1]), align)
                return None
            case "copy":
                return self._value(operands[0])
            case "select":
                condition = self._value(operands[0])
                return condition if isinstance(condition, Poison) else self._value(operands[1] if condition else operands[2])
            case "alloca":
                return self.memory.place(np.zeros(int(self._defined(operands[0])), np.uint8), align, defined=False)
            case "fence":
                return None
            case "call" if result is None:
                self._effect(instruction.callee, operands)
                return None
            case _:
                return self._computed(instruction, type)

    def _computed(self, instruction: Instruction, type: Type) -> Result:
        if instruction.operation in ("sdiv", "udiv", "srem", "urem"):
            self._defined(instruction.operands[1])
        operands = tuple(map(self._value, instruction.operands))
        poison = next((operand for operand in operands if isinstance(operand, Poison)), None)
        try:
            return poison or self._pure(instruction, type, operands)
        except Poison as made:
            return Poison(f"{made}, in line {instruction.line}" if instruction.line else str(made))

    def _effect(self, callee: str, operands: Sequence[Operand]) -> None:
        target, source, size = self._defined(operands[0]), operands[1], semantics.unsigned("i64", self._defined(operands[2]))
        if callee == "memset":
            self.memory.fill(target, cast("int | Poison", self._value(source)), size)
        else:
            self.memory.copy(target, self._defined(source), size, callee == "memmove")

    def _pure(self, instruction: Instruction, type: Type, operands: tuple[Any, ...]) -> Number:
        match instruction.operation:
            case name if name in ARITHMETIC:
                return semantics.arithmetic(name, type, operands[0], operands[1], instruction.flags)
            case name if name in COMPARISONS:
                return semantics.compare(name, instruction.operands[0].type, *operands)
            case name if name in FLOATING:
                return semantics.floating(name, type, *operands)
            case name if name in FLOAT_COMPARISONS:
                return semantics.compare_floats(name, *operands)
            case name if name in CASTS:
                return semantics.cast(name, instruction.operands[0].type, type, operands[0])
            case "offset":
                return wrapped("ptr", operands[0] + operands[1])
            case "fneg":
                return -operands[0]
            case _:
                return intrinsic(instruction.callee, type, operands, instruction.flags)


def _bytes(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)
