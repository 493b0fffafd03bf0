# SPDX-License-Identifier: Apache-2.0
"""Reference interpreter of `ir.ssa` over NumPy arrays: the meaning that every transformation and every target must keep
(LLVM Language Reference Manual, for what LLVM has).

Arrays are passed as pointers to their bytes and are changed in place. An access outside of objects or misaligned and a
division by zero are faults. What too large a shift, overflow against a flag or a variable that was never set gives is a
`Poison`, which passes through arithmetic and calls; its use is a fault: as a condition, an address, a divisor, a
result, or in an array of the caller's. Volatile and atomic accesses are plain ones here, in the order of the program:
there is one hart. External functions are callables of Python, which are given the memory and the operands as they are,
poison included; an `Opaque` vector is what they agree on. Each address space has memory of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import index
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir import ssa_lanes as lanes
from polyloom.ir import ssa_semantics as semantics
from polyloom.ir.ssa import (
    ARITHMETIC,
    CASTS,
    COMPARISONS,
    FLOAT_COMPARISONS,
    FLOATING,
    GUARDED,
    INDIRECT,
    LANES,
    REDUCTIONS,
    SPECULATIVE,
    Address,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Place,
    Return,
    Switch,
    Undef,
    Unreachable,
    Value,
    float_value,
    wrap_to_type,
)
from polyloom.ir.ssa_intrinsics import apply_intrinsic, modify_value
from polyloom.ir.ssa_lanes import Opaque, Result, Vector
from polyloom.ir.ssa_layout import place_program
from polyloom.ir.ssa_memory import Memory
from polyloom.ir.ssa_semantics import Number, Poison, Undefined
from polyloom.ir.ssa_types import FLOATS, I64, Type

Argument = int | float | npt.NDArray[Any]
Given = Argument | Sequence[int | float]
"""An argument, or the lanes of a vector."""
Hook = Callable[..., Any]
"""`hook(memory, *operands)` gives the result, a tuple of several, or None where there is none; vectors are sequences of
lanes."""
# Blocks and instructions: an endless loop ends in a message.
STEPS: Final = 10**8


def interpret(
    function: Function,
    arguments: Sequence[Given],
    steps: int = STEPS,
    *,
    externals: Mapping[str, Hook] | None = None,
    lanes: Mapping[str, int] | None = None,
) -> Number | None:
    """Interpretation of a function: its result, integers in the range of their type taken as signed, None where there
    is nothing.

    One argument per parameter: arrays (contiguous, writable) for pointers, the lanes of vectors. `externals` are the
    functions of other places by name, `lanes` what named numbers of lanes are. Raises PL0972 for what is undefined,
    PL0974 after `steps` blocks and instructions, PL0973 for arguments that do not fit, and where a vector is returned
    (`evaluate` gives that).
    """
    found = evaluate(function, arguments, steps, externals=externals, lanes=lanes)
    if isinstance(found, tuple):
        message = f"@{function.name} returns a vector of type {function.result}"
        raise input_error("PL0973", message, help="call `evaluate` of polyloom.ir.ssa_interpret, which gives its lanes")
    return found


def evaluate(
    function: Function,
    arguments: Sequence[Given],
    steps: int = STEPS,
    *,
    externals: Mapping[str, Hook] | None = None,
    lanes: Mapping[str, int] | None = None,
) -> Number | tuple[Number, ...] | None:
    """Interpretation as by `interpret`; the lanes of a vector as a tuple."""
    return _Run(function, steps, externals or {}, lanes or {}).run(arguments)


@dataclass(slots=True)
class _Frame:
    """Activation record: a call that has not returned, with its values, the next instruction, and how many objects
    there were before.
    """

    function: Function
    block: Block
    objects: int
    values: dict[str, Result] = field(default_factory=dict[str, Result])
    next: int = 0


class _Run:
    """State of a run. Mutable: memory, the frames of calls, of which the last one runs, and its values."""

    def __init__(self, function: Function, steps: int, hooks: Mapping[str, Hook], lanes: Mapping[str, int]) -> None:
        self.function, self.steps, self.hooks, self.lanes = function, steps, hooks, lanes
        self.externals = {external.name: external for external in function.externals}
        self.functions = {member.name: member for member in function.program}
        self.blocks = {member.name: {block.name: block for block in member.blocks} for member in function.program}
        self.memory = Memory(function.pointers)
        self.spaces = defaultdict[int, Memory](lambda: Memory(function.pointers), {0: self.memory})
        # Before the arguments, so that addresses of data do not depend on them.
        self.placed = place_program(function, self.memory)
        self.places: dict[tuple[int, int], int] = {}
        self.frames: list[_Frame] = []
        self.values: dict[str, Result] = {}

    def run(self, arguments: Sequence[Given]) -> Number | tuple[Number, ...] | None:
        self._call(self.function, self._arguments(arguments))
        # Frames instead of Python's recursion: the depth of calls is the program's affair.
        while True:
            frame = self.frames[-1]
            if self._run_to_call(frame):
                continue
            self._count_step(frame.block.terminator.place)
            try:
                end = frame.block.terminator
                if isinstance(end, Return) and len(self.frames) == 1:
                    self._check_arrays()
                    return self._defined_lanes(end.value) if end.value is not None else None
                self._terminator(frame)
            except Undefined as fault:
                raise self._fault(str(fault), frame.block.terminator.place) from None

    def _call(self, function: Function, arguments: Sequence[Result]) -> None:
        self.frames.append(_Frame(function, function.blocks[0], len(self.memory.objects)))
        self.values = self.frames[-1].values
        self._enter(function.blocks[0], arguments)

    def _return(self, value: Result | None) -> None:
        """Return from an inner call, whose result may be undefined, as long as nobody uses it."""
        # Local variables of the callee are gone; a pointer to one of them now points to nothing.
        self.memory.forget(self.frames.pop().objects)
        caller = self.frames[-1]
        self.values = caller.values
        result = caller.block.instructions[caller.next - 1].result
        if result is not None and value is not None:
            self.values[result.name] = value

    def _arguments(self, arguments: Sequence[Given]) -> list[Result]:
        parameters = self.function.parameters
        if len(arguments) != len(parameters):
            message = f"@{self.function.name} has {len(parameters)} parameters and gets {len(arguments)} arguments"
            raise input_error("PL0973", message, help="give one argument for each parameter, arrays for pointers")
        return [self._argument(parameter, argument) for parameter, argument in zip(parameters, arguments, strict=True)]

    def _argument(self, parameter: Value, argument: Given) -> Result:
        """Argument of the run; the same array twice is one object."""
        type = parameter.type
        match argument:
            case np.ndarray() | list() | tuple() if type.lanes:
                return self._convert_argument(type, argument, f"the argument for %{parameter.name}")
            case np.ndarray() if type.element == "ptr" and argument.flags.c_contiguous:
                # Each of two pointers into one array sees what is stored through the other, as in C.
                key = id(argument), type.space
                if key not in self.places:
                    self.places[key] = self.spaces[type.space].place(
                        # 64 bytes: aligned for every vector that a target loads.
                        _byte_view(argument),
                        64,
                        writable=argument.flags.writeable,
                    )
                return self.places[key]
            case int() | float() if not type.lanes and not (isinstance(argument, float) and type not in FLOATS):
                return self._convert_argument(type, argument, f"the argument for %{parameter.name}")
            case _:
                message = f"the argument for %{parameter.name} does not fit its type {type}"
                raise input_error("PL0973", message, help=_FITTING)

    def _convert_argument(self, type: Type, value: Any, what: str) -> Result:
        """A value of the type from Python: numbers are brought into its range, lanes counted; poison stays."""
        try:
            if not type.lanes:
                return _convert_scalar(type, value, self.function.pointers)
            lanes = tuple(_convert_scalar(type.scalar, lane, self.function.pointers) for lane in value)
        except (TypeError, ValueError, OverflowError):
            raise input_error("PL0973", f"{what} does not fit its type {type}", help=_FITTING) from None
        if len(lanes) != (count := self._lane_count(type)):
            raise input_error(
                "PL0973", f"{what} has {len(lanes)} lanes, and its type {type} has {count}", help=_FITTING
            )
        return lanes

    def _lane_count(self, type: Type) -> int:
        """The number of lanes; 0 for a scalar."""
        if isinstance(type.lanes, int):
            return type.lanes
        if self.lanes.get(type.lanes, 0) < 1:
            help = f"give it, for instance lanes={{'{type.lanes}': 8}}"
            raise input_error("PL0973", f"how many lanes {type.lanes} is, in {type}, is not known", help=help)
        return self.lanes[type.lanes]

    def _enter(self, block: Block, arguments: Sequence[Result]) -> None:
        for parameter, argument in zip(block.parameters, arguments, strict=True):
            self.values[parameter.name] = argument

    def _run_to_call(self, frame: _Frame) -> bool:
        """Execution of the rest of the block, up to a call, which is begun; whether there was one."""
        instructions = frame.block.instructions
        while frame.next < len(instructions):
            instruction = instructions[frame.next]
            frame.next += 1
            # Instructions count as well as blocks: a block may hold a thousand calls.
            self._count_step(instruction.place)
            if GUARDED in instruction.flags and not self._is_call_taken(instruction):
                continue
            is_function = instruction.callee[:1] == "@"
            if is_function and instruction.called in self.functions:
                self._call(self.functions[instruction.called], self._call_arguments(instruction))
                return True
            try:
                if instruction.callee == INDIRECT:
                    pointed = self._indirect_callee(instruction)
                    self._call(pointed, [self._value(operand) for operand in instruction.operands[1:]])
                    return True
                if is_function:
                    self._call_external(instruction)
                    continue
                result = self._instruction(instruction)
            except Undefined as fault:
                # Control speculation: a fault becomes a value that nobody may use, as IA-64's NaT.
                if SPECULATIVE not in instruction.flags:
                    raise self._fault(str(fault), instruction.place) from None
                result = self._splat(instruction.results[0].type, Poison(str(fault)))
            if instruction.results and result is not None:
                self.values[instruction.results[0].name] = result
        return False

    def _is_call_taken(self, instruction: Instruction) -> bool:
        """Whether a guarded call happens; where it does not, its results have no value."""
        try:
            happens = bool(self._defined_value(instruction.operands[-1]))
        except Undefined as fault:
            raise self._fault(str(fault), instruction.place) from None
        if not happens:
            self.values |= {result.name: Poison("a call that did not happen") for result in instruction.results}
        return happens

    def _call_arguments(self, instruction: Instruction) -> list[Result]:
        """The arguments of a call by name."""
        operands = instruction.operands[:-1] if GUARDED in instruction.flags else instruction.operands
        return [self._value(operand) for operand in operands]

    def _indirect_callee(self, instruction: Instruction) -> Function:
        """The function that a call through a pointer calls."""
        address = int(self._defined_value(instruction.operands[0]))
        found = self.placed.entries.get(address)
        if found is None:
            raise Undefined(f"a call through a pointer to {address:#x}, where no function begins")
        given = [operand.type for operand in instruction.operands[1:]], [value.type for value in instruction.results]
        if given != ([p.type for p in found.parameters], [found.result] if found.result else []):
            raise Undefined(f"a call of @{found.name} through a pointer to a function of other types")
        return found

    def _call_external(self, instruction: Instruction) -> None:
        """Call of an external function, a callable of Python, which gives all results."""
        name, results = instruction.called, instruction.results
        if name not in self.hooks:
            help = (
                f"give a callable for it, such as externals={{'{name}': function}}; it gets the memory and the operands"
            )
            raise input_error(
                "PL0973", f"the external function @{name} is called, and nothing is given for it", help=help
            )
        given = self.hooks[name](self.memory, *self._call_arguments(instruction))
        # One result need not be wrapped in a tuple.
        many: Sequence[Any] = given if len(results) > 1 else [given] * len(results)
        if not isinstance(many, list | tuple) or len(many) != len(results):
            raise input_error(
                "PL0973", f"what is given for @{name} does not give {len(results)} results", help=_FITTING
            )
        for value, made in zip(results, many, strict=True):
            opaque = isinstance(made, Opaque) and bool(value.type.lanes)
            self.values[value.name] = (
                made if opaque else self._convert_argument(value.type, made, f"what is given for @{name}")
            )

    def _count_step(self, place: Place) -> None:
        self.steps -= 1
        if self.steps < 0:
            help = "give smaller arguments, or more steps; is there a loop without an end?"
            near = place.words(self.frames[-1].function.place.file) or "line 0"
            raise input_error(
                "PL0974",
                f"@{self.function.name} has not returned after all its steps, near {near}",
                help=help,
            )

    def _fault(self, message: str, place: Place) -> PolyloomError:
        frame = self.frames[-1]
        words = place.words(frame.function.place.file)
        text = f"@{frame.function.name}, {f'{words}, ' if words else ''}block {frame.block.name}: {message}"
        return input_error("PL0972", text, help="C leaves this undefined: give other arguments")

    def _terminator(self, frame: _Frame) -> None:
        match frame.block.terminator:
            case Jump(target):
                self._jump(frame, target)
            case Branch(condition, then, orelse):
                self._jump(frame, then if self._defined_value(condition) else orelse)
            case Switch(value, default, cases):
                self._jump(frame, dict(cases).get(int(self._defined_value(value)), default))
            case Return(value):
                self._return(self._value(value) if value is not None else None)
            case Unreachable():
                raise Undefined("control comes to a place that the source says it never reaches")

    def _jump(self, frame: _Frame, edge: Edge) -> None:
        # All arguments before any parameter is set: a loop may exchange two values.
        arguments = [self._value(argument) for argument in edge.arguments]
        frame.block, frame.next = self.blocks[frame.function.name][edge.block], 0
        self._enter(frame.block, arguments)

    def _value(self, operand: Operand) -> Result:
        match operand:
            case Value(name):
                return self.values[name]
            case Constant(type, value):
                return self._splat(type, float_value(operand) if type.scalar in FLOATS else value)
            case Address(name, offset):
                return self.placed.addresses[name] + offset
            case Undef(type):
                return self._splat(type, Poison("a variable is used that was never set"))

    def _splat(self, type: Type, lane: Number | Poison) -> Result:
        """Splat: the same in every lane."""
        return (lane,) * self._lane_count(type) if type.lanes else lane

    def _lanes(self, operand: Operand) -> Vector:
        found = self._value(operand)
        assert isinstance(found, tuple)
        return found

    def _defined_lanes(self, operand: Operand) -> Any:
        """A value all of whose lanes are defined."""
        found = self._value(operand)
        for lane in found if isinstance(found, tuple) else (found,):
            if isinstance(lane, Poison):
                raise Undefined(str(lane))
        return found

    def _defined_value(self, operand: Operand) -> Any:
        found = self._value(operand)
        if isinstance(found, Poison):
            raise Undefined(str(found))
        return found

    def _check_arrays(self) -> None:
        """Check of the arrays that the caller gets back: all of their bytes have values."""
        for (_, space), array in self.places.items():
            if not self.spaces[space].at(array).defined.all():
                raise Undefined("an array was given values that were never set")

    def _instruction(self, instruction: Instruction) -> Result | None:
        operands, result = instruction.operands, instruction.results[0] if instruction.results else None
        type = result.type if result else I64
        match instruction.operation:
            case "rmw" | "cas":
                return self._atomic(instruction, type)
            case "load" | "store":
                return self._access(instruction, operands[0].type if result is None else type)
            case "copy":
                return self._value(operands[0])
            case "select":
                return lanes.select_lanes(*map(self._value, operands))
            # Undefined at first: a read before a write is poison.
            case "alloca":
                align = instruction.access.align if instruction.access else 1
                return self.memory.place(
                    np.zeros(int(self._defined_value(operands[0])), np.uint8), align, defined=False
                )
            case "fence":
                return None
            case name if name in LANES:
                return self._lane_wise(instruction.operation, type, operands)
            case "call" if result is None:
                self._effect(instruction.callee, operands)
                return None
            case "call" if instruction.callee in REDUCTIONS:
                return lanes.reduce_lanes(instruction.callee, type, self._lanes(operands[0]))
            case _ if type.lanes:
                return lanes.map_lanes(
                    partial(self._compute_lane, instruction, type),
                    [self._lanes(o) for o in operands],
                    self._lane_count(type),
                )
            case _:
                return self._compute_lane(instruction, type, *map(self._value, operands))

    def _access(self, instruction: Instruction, type: Type) -> Result | None:
        """A load or a store, of a vector lane by lane."""
        is_store = instruction.operation == "store"
        stored = instruction.operands[0] if is_store else None
        pointer, *more = instruction.operands[1:] if is_store else instruction.operands
        memory, align = self.spaces[pointer.type.space], instruction.access.align if instruction.access else 1
        is_speculative = SPECULATIVE in instruction.flags
        if not type.lanes:
            if more and not self._defined_value(more[0]):
                return self._value(more[1]) if stored is None else None
            if stored is None:
                return memory.load(type, self._defined_value(pointer), align)
            memory.store(type, cast("Number | Poison", self._value(stored)), self._defined_value(pointer), align)
            return None
        count = self._lane_count(type)
        places = memory.places(
            type, self._lanes(pointer) if pointer.type.lanes else self._defined_value(pointer), count, align
        )
        mask = self._lanes(more[0]) if more else (1,) * count
        # One address for all lanes is aligned as a whole, which `places` has checked.
        each = align if pointer.type.lanes else 1
        if stored is None:
            others = self._lanes(more[1]) if more else (0,) * count
            return memory.gather(type, places, mask, others, each, is_speculative)
        memory.scatter(type, self._lanes(stored), places, mask, each)
        return None

    def _atomic(self, instruction: Instruction, type: Type) -> Number | Poison:
        """Atomic access: what was loaded. Nothing comes between the load and the store: there is one hart."""
        pointer, *given = instruction.operands
        memory, align = self.spaces[pointer.type.space], instruction.access.align if instruction.access else 1
        address = self._defined_value(pointer)
        found = memory.load(type, address, align)
        if instruction.operation == "cas":
            expected, stored = self._defined_value(given[0]), self._value(given[1])
            if isinstance(found, Poison):
                raise Undefined(str(found))
            # By bits, as hardware compares: a NaN equals itself here.
            if semantics.value_bits(type, found) == semantics.value_bits(type, expected):
                memory.store(type, cast("Number | Poison", stored), address, align)
        else:
            operand = cast("Number | Poison", self._value(given[0]))
            is_lost = isinstance(found, Poison) and instruction.callee != "xchg"
            # What is made of poison is poison, and stored as such.
            whole = found if is_lost else operand
            if not (isinstance(found, Poison) or isinstance(operand, Poison)):
                whole = modify_value(instruction.callee, type, found, operand)
            memory.store(type, whole, address, align)
        return found

    def _lane_wise(self, operation: str, type: Type, operands: Sequence[Operand]) -> Result:
        given = [self._value(operand) for operand in operands]
        match operation:
            case "splat":
                return (cast("Number | Poison", given[0]),) * self._lane_count(type)
            case "extract":
                return lanes.extract_lane(cast("Vector", given[0]), cast("Number | Poison", given[1]))
            case "smearx" | "smeari":
                return lanes.smear_mask(cast("Vector", given[0]), inclusive=operation == "smeari")
            case "insert":
                return lanes.insert_lane(
                    cast("Vector", given[0]), cast("Number | Poison", given[1]), cast("Number | Poison", given[2])
                )
            case _:
                return tuple(wrap_to_type(type.scalar, k) for k in range(self._lane_count(type)))

    def _compute_lane(self, instruction: Instruction, type: Type, *operands: Any) -> Number | Poison:
        """Operation on one lane; poison passes through it."""
        # A divisor without a value may be 0, and that is a fault (LLVM Language Reference Manual, `udiv`).
        if instruction.operation in ("sdiv", "udiv", "srem", "urem") and isinstance(operands[1], Poison):
            raise Undefined(str(operands[1]))
        for operand in operands:
            if isinstance(operand, Poison):
                return operand
        try:
            return self._apply_operation(instruction, type.scalar, operands)
        except Poison as made:
            words = instruction.place.words(self.frames[-1].function.place.file)
            return Poison(f"{made}, in {words}" if words else str(made))

    def _effect(self, callee: str, operands: Sequence[Operand]) -> None:
        target, source, size = (
            self._defined_value(operands[0]),
            operands[1],
            semantics.unsigned(self.function.address, self._defined_value(operands[2])),
        )
        if callee == "memset":
            self.memory.fill(target, cast("int | Poison", self._value(source)), size)
        else:
            self.memory.copy(target, self._defined_value(source), size, callee == "memmove")

    def _apply_operation(self, instruction: Instruction, type: Type, operands: tuple[Any, ...]) -> Number:
        match instruction.operation:
            case name if name in ARITHMETIC:
                return semantics.arithmetic(name, type, operands[0], operands[1], instruction.flags)
            case name if name in COMPARISONS:
                return semantics.compare(name, instruction.operands[0].type.scalar, *operands)
            case name if name in FLOATING:
                return semantics.float_arithmetic(name, type, *operands)
            case name if name in FLOAT_COMPARISONS:
                return semantics.compare_floats(name, *operands)
            case name if name in CASTS:
                return semantics.convert_value(name, instruction.operands[0].type.scalar, type, operands[0])
            case "offset":
                return (operands[0] + operands[1]) % (1 << self.function.pointers)
            case "fneg":
                return -operands[0]
            case _:
                return apply_intrinsic(instruction.callee, type, operands, instruction.flags)


_FITTING: Final = (
    "give integers and floats for scalars, contiguous arrays for pointers, arrays of as many numbers as "
    "there are lanes for vectors"
)


def _convert_scalar(type: Type, value: Any, pointers: int) -> Number | Poison:
    if isinstance(value, Poison):
        return value
    if type in FLOATS:
        return semantics.nearest_float(type, float(value))
    return index(value) % (1 << pointers) if type.element == "ptr" else wrap_to_type(type, index(value))


def _byte_view(array: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)
