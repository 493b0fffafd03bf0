# SPDX-License-Identifier: Apache-2.0
"""Unfolding of a hart's program into paths: what it may do, whatever its loads read (symbolic execution).

A hart runs symbolically. It forks where the outcome is not known: at branches, at store-conditionals (which may always
fail), and where an address depends on what was read. A path is the sequence of its memory operations with their
syntactic dependencies, fences, final registers, and the conditions on what it reads under which it is the hart's path.
Loops are followed `UNROLL` times. A path on which the hart does what has no meaning ends there, in a fault.

Dependencies: RISC-V unprivileged manual, chapter "RVWMO", sections "Syntactic Dependencies" and "Source and Destination
Register Listings". They are sets of operations of the hart, as bit masks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.diagnostics import INPUT, Diagnostic, input_error, nearest
from polyloom.riscv.rvwmo.instructions import Step, decode_instruction
from polyloom.riscv.rvwmo.litmus import Instruction, Litmus, Register, Statement
from polyloom.riscv.rvwmo.path import Condition, Fence, Operation, Path
from polyloom.riscv.rvwmo.values import (
    Apply,
    Pointer,
    Read,
    UndefinedError,
    Value,
    apply_operation,
    possible_locations,
    signed,
)

UNROLL: Final = 2
"""How often a path takes one backward branch."""
_WIDTHS: Final = {"b": 1, "h": 2, "w": 4, "d": 8}
_BRANCHES: Final = {
    "beq": ("eq", 1),
    "bne": ("eq", 0),
    "blt": ("slt", 1),
    "bge": ("slt", 0),
    "bltu": ("sltu", 1),
    "bgeu": ("sltu", 0),
}


@dataclass(frozen=True, slots=True)
class Reservation:
    """Reservation set of the last load-reserved."""

    operation: int
    target: Pointer
    width: int


@dataclass(frozen=True, slots=True)
class _State:
    """Path so far, and what the next instruction sees: position, dependencies by register (`taints`), control
    dependency, reservation, and how often each backward jump was taken.
    """

    path: Path
    at: int = 0
    taints: tuple[int, ...] = (0,) * 32
    control: int = 0
    reservation: Reservation | None = None
    taken: Mapping[int, int] = field(default_factory=dict[int, int])


class Hart:
    """The program of one hart of a test."""

    def __init__(self, test: Litmus, number: int, locations: frozenset[str]) -> None:
        statements = test.harts[number]
        self._number = number
        self._locations = locations
        self._steps = [
            (statement.instruction, decode_instruction(statement.instruction))
            for statement in statements
            if statement.instruction is not None
        ]
        self._labels = _label_positions(statements)
        self._initial = _initial_registers(test, number)
        for instruction, step in self._steps:
            if step.label and step.mnemonic != "la" and step.label not in self._labels:
                help = nearest(step.label, self._labels, "label")
                raise input_error(
                    "PL0904", f"hart {number} has no label '{step.label}'", span=instruction.span, help=help
                )

    def paths(self, count: Callable[[int], int]) -> Iterator[Path]:
        """Paths of the hart, in the order of a depth-first walk. `count` is called for each step of work."""
        waiting = [_State(Path(registers=self._initial))]
        while waiting:
            count(1)
            state = waiting.pop()
            if state.at >= len(self._steps) or state.path.cut or state.path.fault:
                yield state.path
            else:
                # A stack: the first successor is followed first, so that paths come in the order of the text.
                waiting += reversed(list(self._successors(state)))

    def _successors(self, state: _State) -> Iterator[_State]:
        instruction, step = self._steps[state.at]
        try:
            yield from self._execute(state, step, instruction)
        except UndefinedError as reason:
            yield _with_fault(
                state,
                f"{reason} has no meaning in a test",
                instruction,
                "addresses are only added to, subtracted, selected and compared for equality",
            )

    def _execute(self, state: _State, step: Step, instruction: Instruction) -> Iterator[_State]:
        name = step.mnemonic
        if name in _BRANCHES:
            yield from self._branch(state, step)
        elif name == "jal":
            yield self._jump(self._write(state, step.rd, self._code(state.at + 1)), self._labels[step.label])
        elif name == "jalr":
            yield from self._indirect_jump(state, step, instruction)
        elif name.startswith("fence"):
            yield _advance(_add_fence(state, step))
        elif name.startswith("sc."):
            # A store-conditional may always fail, with no memory operation (specification, section on LR/SC).
            yield _advance(self._write(replace(state, reservation=None), step.rd, 1))
            for target, after in self._address_forks(state, step, instruction) if state.reservation else ():
                yield from self._store_conditional(after, step, target, instruction) if target else (after,)
        elif (access := self._access_rule(name)) is not None:
            for target, after in self._address_forks(state, step, instruction):
                yield _advance(access(after, step, target, instruction)) if target else after
        else:
            yield _advance(self._compute(state, step))

    def _access_rule(self, name: str) -> Callable[[_State, Step, Pointer, Instruction], _State] | None:
        """What a load, a store or an atomic does where it accesses memory."""
        if name in ("sb", "sh", "sw", "sd"):
            return self._store
        if name.startswith("amo"):
            return self._read_modify_write
        return self._load if name.startswith("lr.") or (name[0] == "l" and name.rstrip("u")[1:] in _WIDTHS) else None

    # Registers and control

    def _write(self, state: _State, number: int, value: Value, taint: int = 0) -> _State:
        if number == 0:
            return state
        registers, taints = state.path.registers, state.taints
        path = replace(state.path, registers=(*registers[:number], value, *registers[number + 1 :]))
        return replace(state, path=path, taints=(*taints[:number], taint, *taints[number + 1 :]))

    def _compute(self, state: _State, step: Step) -> _State:
        """Register operation. Its result depends on all its sources, whatever their values (manual, "Syntactic
        Dependencies").
        """
        registers, taints = state.path.registers, state.taints
        if step.mnemonic in ("li", "lui"):
            return self._write(state, step.rd, signed(step.immediate))
        if step.mnemonic == "la":
            return self._write(state, step.rd, Pointer(step.label))
        operation, right = (
            (step.mnemonic.replace("i", "", 1), step.immediate)
            if step.has_immediate
            else (step.mnemonic, registers[step.rs2])
        )
        return self._write(
            state, step.rd, apply_operation(operation, registers[step.rs1], right), taints[step.rs1] | taints[step.rs2]
        )

    def _branch(self, state: _State, step: Step) -> Iterator[_State]:
        """Both ways of a branch, or the one that is known."""
        operation, wanted = _BRANCHES[step.mnemonic]
        # Rule 11: every later store depends on the reads that decide this branch.
        state = replace(state, control=state.control | state.taints[step.rs1] | state.taints[step.rs2])
        target = self._labels[step.label]
        # Both ways lead to the same place. The control dependence is syntactic, and stays.
        if target == state.at + 1:
            yield _advance(state)
            return
        value = apply_operation(operation, state.path.registers[step.rs1], state.path.registers[step.rs2])
        if isinstance(value, int):
            yield self._jump(state, target) if value == wanted else _advance(state)
            return
        yield _advance(_assume(state, Condition(value, not wanted)))
        yield self._jump(_assume(state, Condition(value, bool(wanted))), target)

    def _jump(self, state: _State, target: int) -> _State:
        """Jump. A backward one counts."""
        taken = state.taken.get(state.at, 0)
        # Loops are followed a bounded number of times; the verdict says that longer executions were not counted.
        if target <= state.at and taken == UNROLL:
            return replace(state, path=replace(state.path, cut=True))
        return replace(state, at=target, taken={**state.taken, state.at: taken + 1})

    def _indirect_jump(self, state: _State, step: Step, instruction: Instruction) -> Iterator[_State]:
        """Indirect jump (jalr): a fork for each label that the address may be."""
        state = replace(state, control=state.control | state.taints[step.rs1])
        value = apply_operation("add", state.path.registers[step.rs1], step.immediate)
        after = self._write(state, step.rd, self._code(state.at + 1))
        codes = {self._code(at): at for at in range(len(self._steps) + 1)} | {
            Pointer(f"P{self._number}:{label}"): at for label, at in self._labels.items()
        }
        for target, fork in _fork_addresses(after, value, codes):
            what, help = (
                f"the jump goes to {_address_text(value)}, which is no label of the hart",
                f"write for instance {self._number}:x9=P{self._number}:LC00",
            )
            yield self._jump(fork, codes[target]) if target is not None else _with_fault(fork, what, instruction, help)

    def _code(self, at: int) -> Pointer:
        return Pointer(f"P{self._number}:", 4 * at)

    # Memory

    def _address_forks(
        self, state: _State, step: Step, instruction: Instruction
    ) -> Iterator[tuple[Pointer | None, _State]]:
        """Forks by address: where memory may be accessed, each with the state that assumes it; no target: a state with
        a fault.
        """
        value = apply_operation("add", state.path.registers[step.rs1], step.immediate)
        candidates = [Pointer(name) for name in sorted(possible_locations(value, self._locations))]
        if isinstance(value, Pointer):
            # A known address needs no fork.
            candidates = [value] if value.name in self._locations else []
        for target, fork in _fork_addresses(state, value, candidates):
            what = f"'{instruction}' accesses {_address_text(value)}, which is no location"
            help = f"let x{step.rs1} have an address, for instance {self._number}:x{step.rs1}=x in the initial state"
            yield (target, fork) if target is not None else (None, _with_fault(fork, what, instruction, help))

    def _operation(self, state: _State, step: Step, target: Pointer, instruction: Instruction) -> Operation:
        place = (target.offset, _width(step))
        return Operation(
            target.name, place, address=state.taints[step.rs1], control=state.control, span=instruction.span
        )

    def _load(self, state: _State, step: Step, target: Pointer, instruction: Instruction) -> _State:
        index = len(state.path.operations)
        reserves = step.mnemonic.startswith("lr.")
        # An `rl` on a load-reserved and an `aq` on a store-conditional stand for no annotation unless both are set.
        acquire, release = step.acquire, step.release and (step.acquire or not reserves)
        operation = self._operation(state, step, target, instruction)
        operation = replace(operation, reads=True, acquire=acquire, release=release, strong=reserves and acquire)
        value: Value = Read(self._number, index)
        if step.mnemonic.endswith("u"):
            value = apply_operation(f"zext{8 * _width(step)}", value)
        # The result depends on this load alone: its address dependency is the load's own.
        after = self._write(_append(state, operation), step.rd, value, 1 << index)
        return replace(after, reservation=Reservation(index, target, _width(step))) if reserves else after

    def _store(self, state: _State, step: Step, target: Pointer, instruction: Instruction) -> _State:
        operation = self._operation(state, step, target, instruction)
        value = _narrow_value(state.path.registers[step.rs2], _width(step))
        operation = replace(
            operation, writes=True, value=value, data=state.taints[step.rs2], acquire=step.acquire, release=step.release
        )
        return _append(state, operation)

    def _store_conditional(
        self, state: _State, step: Step, target: Pointer, instruction: Instruction
    ) -> Iterator[_State]:
        """Success of a store-conditional; only where the last load-reserved was."""
        reservation = state.reservation
        if reservation is None or (reservation.target, reservation.width) != (target, _width(step)):
            return
        index = len(state.path.operations)
        state = self._store(state, replace(step, acquire=step.acquire and step.release), target, instruction)
        *earlier, operation = state.path.operations
        operation = replace(operation, strong=step.release, forwards_late=True, paired=reservation.operation)
        state = replace(state, path=replace(state.path, operations=(*earlier, operation)), reservation=None)
        # A successful sc is a source of dependencies through rd (manual, "Source and Destination Register Listings").
        yield _advance(self._write(state, step.rd, 0, 1 << index))

    def _read_modify_write(self, state: _State, step: Step, target: Pointer, instruction: Instruction) -> _State:
        """AMO: one operation that reads and writes (manual, "Memory Model Primitives"), and is RCsc where it is
        annotated.
        """
        index, width = len(state.path.operations), _width(step)
        before, operand = Read(self._number, index), _narrow_value(state.path.registers[step.rs2], width)
        kind = step.mnemonic[3:].split(".")[0]
        operation = replace(
            self._operation(state, step, target, instruction),
            reads=True,
            writes=True,
            value=operand if kind == "swap" else _narrow_value(apply_operation(kind, before, operand), width),
            data=state.taints[step.rs2],
            acquire=step.acquire,
            release=step.release,
            strong=step.acquire or step.release,
            forwards_late=True,
        )
        return self._write(_append(state, operation), step.rd, before, 1 << index)


def _label_positions(statements: Sequence[Statement]) -> dict[str, int]:
    """Where each label stands."""
    found: dict[str, int] = {}
    for at, statement in enumerate(statements):
        for label in statement.labels:
            if found.setdefault(label, at) != at or statement.labels.count(label) > 1:
                span = statement.instruction.span if statement.instruction else None
                raise input_error(
                    "PL0904", f"the label '{label}' is defined twice", span=span, help="rename one of them"
                )
    return found


def _initial_registers(test: Litmus, hart: int) -> tuple[Value, ...]:
    """Initial values; x0 is 0."""
    given = {
        d.place.number: d.value
        for d in test.declarations
        if isinstance(d.place, Register) and d.place.hart == hart and d.value is not None
    }
    return (0, *(given.get(number, 0) for number in range(1, 32)))


def _width(step: Step) -> int:
    """Bytes that a load, a store or an atomic accesses."""
    return _WIDTHS[step.mnemonic.rstrip("u")[-1]]


def _narrow_value(value: Value, width: int) -> Value:
    return value if width == 8 else apply_operation(f"sext{8 * width}", value)


def _fork_addresses(
    state: _State, value: Value, candidates: Iterable[Pointer]
) -> Iterator[tuple[Pointer | None, _State]]:
    """Each candidate with the state that assumes it to be `value`; None where it is none of them."""
    rest = state
    for target in () if isinstance(value, int) else candidates:
        if isinstance(value, Pointer):
            if value == target:
                yield target, state
                return
        else:
            yield target, _assume(state, Condition(value, target))
            # The last fork: the address is that of no location, which is a fault if some execution has it.
            rest = _assume(rest, Condition(Apply("eq", value, target), False))
    yield None, rest


def _address_text(value: Value) -> str:
    return f"the address {value}" if isinstance(value, int | Pointer) else "an address that was read"


def _advance(state: _State) -> _State:
    return replace(state, at=state.at + 1)


def _append(state: _State, operation: Operation) -> _State:
    return replace(state, path=replace(state.path, operations=(*state.path.operations, operation)))


def _assume(state: _State, condition: Condition) -> _State:
    return replace(state, path=replace(state.path, conditions=(*state.path.conditions, condition)))


def _add_fence(state: _State, step: Step) -> _State:
    """Fences of an instruction: `fence.tso` is two; `fence.i` orders no data; input and output are not modelled
    (manual, "Memory Ordering Instructions").
    """
    place = len(state.path.operations)
    before, after = ("".join(letter for letter in text if letter in "rw") for text in step.sets)
    made = {"fence": (Fence(place, before, after),), "fence.tso": (Fence(place, "r", "rw"), Fence(place, "w", "w"))}
    return replace(state, path=replace(state.path, fences=(*state.path.fences, *made.get(step.mnemonic, ()))))


def _with_fault(state: _State, message: str, instruction: Instruction, help: str) -> _State:
    fault = Diagnostic("PL0943", message, INPUT, instruction.span, help=help)
    return replace(state, path=replace(state.path, fault=fault))
