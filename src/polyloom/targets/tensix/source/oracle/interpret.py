# SPDX-License-Identifier: Apache-2.0
"""Interpreter of vector kernels, their oracle: runs the imported form over a state, whatever its scalar code does.

    state = State(tiles=64)
    interpret(kernel, (arguments,), state)        # state.dst, state.registers and state.text are what it left

A vector expression computes all lanes; conditions act on assignments, stores, constants and registers. Contraction is
applied first, by code of its own (`oracle/contract.py`). Scalar code runs in the interpreter of SSA form. Tiles that
run side by side must need neither another's random numbers nor registers: `State(tiles=1)`, call after call, is exact
for all kernels. The language is that of docs/sfpi.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, cast

import numpy as np

from polyloom.ir.ssa import Constant, Function, Instruction, Operand, Value, integer_constant
from polyloom.ir.ssa_interpret import STEPS, Given, evaluate
from polyloom.ir.ssa_memory import Memory
from polyloom.ir.ssa_semantics import Poison, Undefined
from polyloom.ir.ssa_types import I32
from polyloom.targets.tensix.source.operations import PREFIX, Operation, called_operation, operations
from polyloom.targets.tensix.source.oracle import lanes, meaning
from polyloom.targets.tensix.source.oracle.contract import contract_products
from polyloom.targets.tensix.source.oracle.dst import INT32_ALL
from polyloom.targets.tensix.source.oracle.issue import execute
from polyloom.targets.tensix.source.oracle.macros import is_pending, settle
from polyloom.targets.tensix.source.oracle.state import (
    ALL,
    NONE,
    UNDEFINED,
    Mask,
    State,
    Vector,
    choose_lanes,
    complement_mask,
    intersect_masks,
    unite_masks,
)
from polyloom.targets.tensix.source.oracle.words import unsupported_error

__all__ = ["Kernel", "State", "interpret", "prepare"]
_ZERO: Final = "zero."
"""Before the name of a comparison with the literal 0."""
_DEVICE: Final = "device"
"""A store to a constant address, as an operation of the address and the value."""
_SEED: Final = {"wormhole": 0xFFEF0290, "blackhole": 0xFFEF02E8}
_PORT: Final = 0xFFE40000
"""PRNG_SEED among the configuration, and where a core pushes words."""
_MIRRORED: Final = (5, 4, 2, 3, 1, 0)
"""By a comparison's number that of operands exchanged."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function as it is interpreted: contracted, comparisons with literals told apart."""

    function: Function


def prepare(function: Function, contract: bool = True) -> Kernel:
    """Preparation of a function that is run many times."""
    return Kernel(_rewrite(contract_products(function) if contract else function))


def interpret(
    kernel: Function | Kernel,
    arguments: Sequence[Given] = (),
    state: State | None = None,
    *,
    contract: bool = True,
    steps: int = STEPS,
) -> State:
    """Interpretation of a kernel: the state after it; the given one is changed. Registers that it does not write are
    unknown then.

    Raises PL0972 where scalar code does what is undefined, PL0974 after `steps`, PL1244 for what is not modelled.
    """
    state = state or State()
    function = (kernel if isinstance(kernel, Kernel) else prepare(kernel, contract)).function
    run = _Run(state)
    evaluate(function, arguments, steps, externals=run.hooks())
    run.written |= settle(state)
    # The contract of a call leaves registers to the compiler, so nothing may be expected of them.
    for k in range(8):
        if k not in run.written:
            state.registers[k] = UNDEFINED
    return state


class _Run:
    """Operations over a state, as functions of SSA form's interpreter."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.written: set[int] = set()

    def hooks(self) -> dict[str, Callable[..., Any]]:
        own: dict[str, Callable[..., Any]] = {
            "undefined": _undefined_vector,
            "assign": self._assign,
            "sfpshft2_subvec_shfl1": partial(lanes.rotate_rows, self.state),
            "mask_and": intersect_masks,
            "mask_or": unite_masks,
            "mask_not": complement_mask,
            "mask_of": _mask_from_vector,
            "int_of": _vector_from_mask,
            "push": self._push,
            "cond": self._enter_condition,
            "else_": self._enter_complement,
            "and_": self._narrow_condition,
            "pop": self._pop,
            "load": self._load,
            "store": self._store,
            "config_read": self._read,
            "config_write": self._configure,
            "lreg_read": self._read,
            "lreg_write": self._write,
            "word": self._word,
            _DEVICE: self._store_device,
        }
        for name in ("cmp_f", "cmp_i", "cmp_u"):
            own[name] = partial(lanes.compare_vectors, self.state, name)
            own[_ZERO + name] = _compared_with_zero
        printing = {"print_text": self._print, "print_int": self._print_signed, "print_unsigned": self._print_unsigned}
        found = {name: self._hook(name, own[name]) for name in own}
        # All other operations have no state of their own: their meaning is in meaning.py, by the names of the table.
        others = [name for name in operations() if name not in own]
        found |= {name: self._hook(name, partial(self._compute, name)) for name in others}
        return {PREFIX + name: hook for name, hook in (found | printing).items()}

    def _hook(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Adapter for SSA form's interpreter: without the memory. What a recording holds must be words."""

        def call(memory: Memory, *operands: Any) -> Any:
            del memory
            # While REPLAY records, the machine takes the compiler's words, which the interpreter does not have.
            if self.state.recording[1] and name not in ("word", _DEVICE):
                raise unsupported_error("vector operations within a recording of REPLAY")
            if name not in ("word", _DEVICE) and is_pending(self.state):
                self._settle()
            return function(*(_check_operand(operand) for operand in operands))

        return call

    def _settle(self) -> None:
        """Time for what macros have scheduled: how many words an operation has is the compiler's matter."""
        self.written |= settle(self.state)
        if is_pending(self.state):
            raise unsupported_error("vector operations while instructions of SFPLOADMACRO wait for others")

    def _compute(self, name: str, *operands: Any) -> Any:
        made = lanes.apply_operation(self.state, name, operands)
        return made if len(made) > 1 else next(iter(made))

    def _assign(self, old: Vector, new: Vector) -> Vector:
        return choose_lanes(self.state.enabled, new, old)

    def _read(self, k: int) -> Vector:
        return self.state.registers[k]

    def _push(self) -> None:
        self.state.frames.append((self.state.enabled, self.state.enabled))

    def _enter_condition(self, mask: Mask) -> None:
        enabled, (outer, _) = self.state.enabled, self.state.frames[-1]
        # The second mask of a frame collects the lanes that its else will enable.
        self.state.frames[-1] = outer, intersect_masks(enabled, complement_mask(mask))
        self.state.enabled = intersect_masks(enabled, mask)

    def _narrow_condition(self, mask: Mask) -> None:
        self.state.enabled = intersect_masks(self.state.enabled, mask)

    def _enter_complement(self) -> None:
        outer, rest = self.state.frames[-1]
        self.state.enabled, self.state.frames[-1] = rest, (outer, NONE)

    def _pop(self) -> None:
        self.state.enabled, _ = self.state.frames.pop()

    def _load(self, mode: int, addrmod: int, address: int) -> Vector:
        state = self.state
        mode = state.resolve_mode(mode)
        bits, known = state.dst.load(mode, state.dst_address(mode, address))
        state.advance(addrmod)
        return lanes.make_vector(bits, known)

    def _store(self, value: Vector, mode: int, addrmod: int, address: int) -> None:
        state = self.state
        on, mode = ALL if mode == INT32_ALL else state.lanes, state.resolve_mode(mode)
        known, certain = lanes.known_lanes(value), lanes.known_lanes(on)
        state.dst.store(mode, state.dst_address(mode, address), value.bits, known, on.truth, certain)
        state.advance(addrmod)

    def _configure(self, k: int, value: Vector) -> None:
        """SFPCONFIG of a constant register: columns that are enabled in the first row of lanes, into all rows (ISA
        documentation, page of `SFPCONFIG`).
        """
        state = self.state
        on = lanes.repeat_mask(state.lanes)
        state.registers[k] = choose_lanes(on, lanes.repeat_row(value), state.registers[k])

    def _write(self, k: int, value: Vector) -> None:
        self.written.add(k)
        self.state.write(k, value)

    def _word(self, bits: int) -> None:
        self.written |= execute(self.state, bits & 0xFFFFFFFF)

    def _store_device(self, address: int, value: int) -> None:
        """Store to a register of the tile. Errors: PL1244 for those that the state does not have."""
        address &= 0xFFFFFFFF
        if address == _PORT:
            self._word(value)
        elif address == _SEED[self.state.member]:
            self.state.random = np.broadcast_to(meaning.lane_seeds(value & 0xFFFFFFFF), self.state.random.shape)
        else:
            raise unsupported_error(f"a store to {address:#010x}")

    def _print(self, memory: Memory, text: int, length: int) -> None:
        found = memory.at(text)
        start = text - found.base
        self.state.text.append(found.data[start : start + length].tobytes().decode("utf-8", "replace"))

    def _print_signed(self, memory: Memory, value: int) -> None:
        del memory
        self.state.text.append(str(value))

    def _print_unsigned(self, memory: Memory, value: int) -> None:
        del memory
        self.state.text.append(str(value & 0xFFFFFFFF))


def _undefined_vector() -> Vector:
    return UNDEFINED


def _mask_from_vector(a: Vector) -> Mask:
    return Mask(a.bits != 0, a.known)


def _vector_from_mask(mask: Mask) -> Vector:
    return lanes.make_vector(mask.truth.astype(np.uint32), mask.known)


def _check_operand(operand: Any) -> Any:
    """Operand of a hook; a scalar without a value is a fault."""
    if isinstance(operand, Poison):
        raise Undefined(str(operand))
    if isinstance(operand, tuple):  # a constant of SSA form, or an undefined value
        given = cast("tuple[int | Poison, ...]", operand)
        known = np.array([not isinstance(lane, Poison) for lane in given])
        bits = np.array([0 if isinstance(lane, Poison) else lane & 0xFFFFFFFF for lane in given], np.uint32)
        return Vector(bits, None if known.all() else known)
    return operand


def _compared_with_zero(condition: int, a: Vector) -> Mask:
    return Mask(meaning.compare_with_zero(condition, a.bits), a.known)


def _rewrite(function: Function) -> Function:
    """Rewriting: comparisons with a literal 0, and stores to constant addresses, become operations of their own."""
    instructions = [i for block in function.blocks for i in block.instructions]
    zeros = {i.results[0] for i in instructions if _is_splat(i) and i.operands[0] == _CONSTANT}
    addresses = {
        i.results[0]: i.operands[0].value
        for i in instructions
        if i.operation == "inttoptr" and isinstance(i.operands[0], Constant)
    }
    blocks = tuple(
        replace(
            block,
            instructions=tuple(_rewrite_store(_rewrite_comparison(i, zeros), addresses) for i in block.instructions),
        )
        for block in function.blocks
    )
    return replace(function, blocks=blocks)


def _is_splat(instruction: Instruction) -> bool:
    row = called_operation(instruction)
    return row is not None and row.name == "splat"


def _rewrite_store(instruction: Instruction, addresses: Mapping[Value, int]) -> Instruction:
    """Store to a device: memory has no object at an address that is a number."""
    if instruction.operation != "store":
        return instruction
    value, pointer = instruction.operands[:2]
    known = pointer.value if isinstance(pointer, Constant) else None
    if isinstance(pointer, Value):
        known = addresses.get(pointer)
    if known is None:
        return instruction
    address = integer_constant(I32, known)
    return Instruction("call", (address, value), callee=f"@{PREFIX}{_DEVICE}", place=instruction.place)


_CONSTANT: Final = Constant(operations()["splat"].operands[0].type, 0)


def _rewrite_comparison(instruction: Instruction, zeros: set[Value]) -> Instruction:
    """Comparison with a literal 0, on either side: the raw bits of the other operand decide (docs/sfpi.md)."""
    row = called_operation(instruction)
    if row is None or row.name not in ("cmp_f", "cmp_i"):
        return instruction
    condition, a, b = instruction.operands
    if isinstance(b, Value) and b in zeros:
        return _compare_zero(instruction, row, condition, a)
    if isinstance(a, Value) and a in zeros and isinstance(condition, Constant):
        return _compare_zero(instruction, row, replace(condition, value=_MIRRORED[condition.value]), b)
    return instruction


def _compare_zero(instruction: Instruction, row: Operation, *operands: Operand) -> Instruction:
    return replace(instruction, callee=f"@{PREFIX}{_ZERO}{row.name}", operands=operands)
