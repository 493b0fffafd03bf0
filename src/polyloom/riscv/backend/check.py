# SPDX-License-Identifier: Apache-2.0
"""Translation validation of register allocation (Pnueli et al. 1998; Rideau and Leroy 2010): every use reads a register
that holds the value it names, along all paths.

Forward data flow over the code with the machine's registers, beside the code with virtual ones. A state says which
values each register and slot holds; a definition of a value ends it everywhere else; where paths join, what holds on
all of them holds. The two codes must be the same but for registers, and for spills and reloads. Behind a call only
callee-saved registers and slots hold what they held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import Final

from polyloom.riscv.backend.abi import SAVED
from polyloom.riscv.backend.code import (
    CALLS,
    EXCHANGES,
    PHYSICAL,
    RA,
    ZERO,
    Block,
    Code,
    Op,
    Reg,
    is_move,
    shape,
    successors,
)
from polyloom.riscv.backend.pairs import is_pair

Place = Reg | int
"""A register of the machine or a slot."""
State = dict[Place, frozenset[Reg]]
REGISTERS: Final = tuple(Reg(bank, number) for bank in ("x", "f") for number in range(PHYSICAL))


class AllocationError(Exception):
    """The allocation is wrong; the text says where."""


def check_allocation(before: Code, after: Code) -> Code:
    """Validates `after` against `before`, and returns it; raises `AllocationError`."""
    # Before the first instruction each register of the machine holds its own value: callers' values, which must come
    # back.
    entry: State = {register: frozenset({register}) for register in REGISTERS}
    states: list[State | None] = [entry, *[None] * (len(before.blocks) - 1)]
    # Blocks in order, by a heap: most are then visited once their predecessors are.
    work, follow = [0], successors(before)
    if [b.name for b in before.blocks] != [b.name for b in after.blocks]:
        raise AllocationError("the blocks differ")
    while work:
        k = heappop(work)  # the first one, before those that follow from it
        state = states[k]
        assert state is not None
        out = _transfer_block(before, before.blocks[k], after.blocks[k], state)
        for successor in follow[k]:
            known = states[successor]
            # A greatest fixed point: states only shrink where paths meet, so that the walk ends, and what is left holds
            # on all paths.
            joined = out if known is None else _meet(known, out)
            if joined != known:
                states[successor] = joined
                if successor not in work:
                    heappush(work, successor)
    return after


def _meet(a: State, b: State) -> State:
    """Meet of two states: what holds on both paths."""
    both = {place: a[place] & b[place] for place in a if place in b}
    return {place: values for place, values in both.items() if values}


class _Held:
    """State as it changes along a block, indexed by value too: code with thousands of slots has thousands of places."""

    __slots__ = ("places", "values")

    def __init__(self, state: State) -> None:
        self.values = dict(state)
        self.places: dict[Reg, set[Place]] = {}
        for place, values in state.items():
            for value in values:
                self.places.setdefault(value, set()).add(place)

    def at(self, place: Place) -> frozenset[Reg]:
        return self.values.get(place, frozenset())

    def holders(self, value: Reg) -> tuple[Place, ...]:
        return tuple(self.places.get(value, ()))

    def put(self, place: Place, values: frozenset[Reg]) -> None:
        for value in self.at(place) - values:
            self.places[value].discard(place)
        for value in values:
            self.places.setdefault(value, set()).add(place)
        self.values[place] = values

    def kill(self, value: Reg) -> None:
        for place in self.holders(value):
            self.put(place, self.values[place] - {value})


def _transfer_block(code: Code, before: Block, after: Block, state: State) -> State:
    """Transfer function of a block: the state behind it. Spills and reloads copy; every other instruction must match
    the original one.
    """
    held = _Held(state)
    originals = iter(before.ops)
    for op in after.ops:
        if op.mnemonic in ("spill", "reload"):
            register, slot = op.operands
            assert isinstance(register, Reg) and isinstance(slot, int)
            source, target = (register, slot) if op.mnemonic == "spill" else (slot, register)
            # A copy: both places hold the values now.
            held.put(target, held.at(source))
            continue
        original = next(originals, None)
        # Apart from spills and reloads, the allocation may only rename operands.
        if original is None or original.mnemonic != op.mnemonic:
            raise AllocationError(f"{before.name}: `{op}` stands where `{original}` was")
        # A compare-and-exchange reads its operands again after a failed `sc`: a result in one of their registers would
        # destroy it.
        if op.mnemonic in EXCHANGES and (op.operands[0] in op.operands[1:5] or op.operands[1] in op.operands[2:5]):
            raise AllocationError(f"{before.name}: `{op}` overwrites what it reads again")
        # Result and kept value are one register in the encoding: where the branch is taken nothing is written.
        if is_pair(op) and op.operands[0] != op.operands[1]:
            raise AllocationError(f"{before.name}: `{op}` keeps another register than it writes")
        _transfer_instruction(code, original, op, held)
    if (rest := next(originals, None)) is not None:
        raise AllocationError(f"{before.name}: `{rest}` is lost")
    return held.values


def _transfer_instruction(code: Code, original: Op, op: Op, held: _Held) -> None:
    """Transfer function of an instruction; raises `AllocationError` where a use reads another value."""
    defined: list[tuple[Reg, Reg]] = []
    for letter, value, register in _matched_operands(code, original, op):
        if letter == "u" and value not in held.at(register) and value != ZERO:
            raise AllocationError(f"`{op}` reads {register}, which does not always hold {value} of `{original}`")
        if letter == "d":
            defined.append((value, register))
    source = original.operands[1] if is_move(original) else None
    holders = held.holders(source) if isinstance(source, Reg) else ()
    for value, register in defined:
        # Other places with the value's former definition hold it no longer: out of SSA form a name has several.
        held.kill(value)
        held.put(register, frozenset({value}))
    if isinstance(source, Reg):  # a move makes the value one that all holders of its source have
        value = defined[0][0]
        for place in holders:
            if place != defined[0][1]:
                held.put(place, held.at(place) | {value})
        held.put(defined[0][1], frozenset({value, source}))
    if op.mnemonic in CALLS:
        _clobber(held)
    if op.mnemonic == "ret":
        _check_saved(code, op, held.values)


def _matched_operands(code: Code, original: Op, op: Op) -> Iterator[tuple[str, Reg, Reg]]:
    """Role letter, value and register of each operand; the others must be equal."""
    letters = shape(op.mnemonic, code.isa)[: len(op.operands)]
    if len(original.operands) != len(op.operands):
        raise AllocationError(f"`{op}` is not `{original}`")
    for letter, value, register in zip(letters, original.operands, op.operands, strict=True):
        if not (isinstance(value, Reg) and isinstance(register, Reg)):
            if value != register:
                raise AllocationError(f"`{op}` is not `{original}`")
        elif value.bank != register.bank or register.is_virtual or (not value.is_virtual and value != register):
            raise AllocationError(f"`{op}` has {register} for {value}")
        else:
            yield letter, value, register


def _clobber(held: _Held) -> None:
    """Effect of a call: of registers only callee-saved ones, sp, gp and tp keep what they held (psABI, "Register
    Convention"); the others hold what it returned.
    """
    kept = {*(Reg("x", n) for n in (2, 3, 4)), *(Reg(bank, n) for bank in ("x", "f") for n in SAVED)}
    for register in REGISTERS:
        if register not in kept:
            held.kill(register)
            held.put(register, frozenset({register}))


def _check_saved(code: Code, op: Op, state: State) -> None:
    """Checks that sp, gp and tp are unchanged at a return, and ra where no call has saved it (psABI, "Register
    Convention"). Other callee-saved registers are saved by `expand`.
    """
    for number in (2, 3, 4) if code.calls else (1, 2, 3, 4):
        if Reg("x", number) not in state.get(Reg("x", number), frozenset()):
            raise AllocationError(f"`{op}`: {Reg('x', number)} is changed")


def saved_registers(code: Code) -> Sequence[Reg]:
    """Callee-saved registers that the code writes, and ra where it calls."""
    written = {
        o
        for b in code.blocks
        for op in b.ops
        for letter, o in zip(shape(op.mnemonic, code.isa), op.operands, strict=False)
        if letter == "d"
    }
    return [
        *([RA] if code.calls else []),
        *(Reg(bank, number) for bank in ("x", "f") for number in SAVED if Reg(bank, number) in written),
    ]
