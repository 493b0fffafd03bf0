# SPDX-License-Identifier: Apache-2.0
"""Constant propagation over integer registers at each control register write of a program, for the tensor words of a
listing (Kildall 1973; Muchnick 1997, data-flow analysis).

A forward analysis over the code as it is. A value is a small set of numbers, to which an unknown address may have been
added: then only the bits that addresses leave alone (above bit 47, below bit 4) are meant. What is added to something
unknown is taken for a word that gets its address if it has such bits. Programs of the compiler make their words so; for
others this is an aid to reading, not a promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.riscv.disassemble import addresses
from polyloom.riscv.encode import decode, expand_compressed
from polyloom.riscv.isa import Instruction
from polyloom.targets.minion.words.isa import ISA
from polyloom.twos_complement import sign_extend

# Double and triple buffering write the same CSR with two to four words; larger sets are counters or addresses.
_MOST: Final = 4
"""Numbers that a value may have."""
_BITS: Final = (1 << 64) - 1
# The VA field of loads and stores is [47:4] at its widest (manual, chapter 9).
_ADDRESS: Final = (1 << 48) - (1 << 4)


@dataclass(frozen=True, slots=True)
class Value:
    """Lattice value: one of `numbers`; with `moved`, of their bits outside addresses."""

    numbers: frozenset[int]
    moved: bool = False


State = tuple[Value | None, ...]
Step = tuple[int, int, Instruction | None]
"""Address, size and the instruction that executes."""
_UNKNOWN: Final[State] = (Value(frozenset({0})), *[None] * 31)
_SOME: Final = Value(frozenset({0}), moved=True)
"""Any address."""
_Binary = Callable[[int, int], int]
# Only what `li`, `la` and the loops of the compiler use; the result of any other instruction is unknown.
_IMMEDIATE: Final[Mapping[str, _Binary]] = {
    "addi": lambda a, b: a + b,
    "addiw": lambda a, b: sign_extend(a + b, 32),
    "xori": lambda a, b: a ^ b,
    "ori": lambda a, b: a | b,
    "andi": lambda a, b: a & b,
    "slli": lambda a, b: a << b,
    "srli": lambda a, b: a >> b,
}
_REGISTERS: Final[Mapping[str, _Binary]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "xor": lambda a, b: a ^ b,
    "or": lambda a, b: a | b,
    "and": lambda a, b: a & b,
}
_KEEPS_REST: Final = ("addi", "xori", "ori", "add", "sub", "xor", "or")
"""Operations by which an address leaves the bits outside it alone."""
_BRANCHES: Final = ("beq", "bne", "blt", "bge", "bltu", "bgeu")


def states_at_writes(code: bytes, start: int, entries: Iterable[int]) -> dict[int, State]:
    """Fixed point of the analysis by a worklist: the state before each csrrw, by address. `entries` are where execution
    may come from elsewhere.
    """
    steps = {step[0]: step for step in _decode_steps(code, start)}
    # Nothing is known where execution enters: all harts start there with registers of any value.
    states: dict[int, State] = dict.fromkeys((at for at in (start, *entries) if at in steps), _UNKNOWN)
    work = list(states)
    while work:
        at = work.pop()
        _, size, instruction = steps[at]
        for target, state in _successor_states(at, size, instruction, states[at]):
            # A jump into the middle of an instruction or out of the code is the model's to report.
            if target not in steps:
                continue
            old = states.get(target)
            joined = state if old is None else _join(old, state)
            if joined != old:
                states[target] = joined
                work.append(target)
    return {at: state for at, state in states.items() if (i := steps[at][2]) is not None and i.row.mnemonic == "csrrw"}


def _decode_steps(code: bytes, start: int) -> Iterator[Step]:
    """Linear decoding: address, size in bytes by the low two bits, and the instruction that a compressed one expands to
    (RISC-V unprivileged manual, section 1.5 and chapter C).
    """
    for at in addresses(code, start):
        size = 4 if code[at - start] & 3 == 3 else 2
        found = decode(int.from_bytes(code[at - start : at - start + size], "little"), ISA)
        yield at, size, None if found is None else expand_compressed(found, ISA)


def _successor_states(at: int, size: int, instruction: Instruction | None, state: State) -> Iterator[tuple[int, State]]:
    """Transfer function of an instruction: the addresses where execution goes on, and what is known there."""
    if instruction is None:
        return
    name, roles = instruction.row.mnemonic, instruction.roles
    if name in _BRANCHES:
        yield at + roles["imm"], state
    if name == "jal":
        yield at + roles["imm"], _set_register(state, roles["rd"], None)
    # With a link register this is a call: behind it the callee may have changed any register.
    if name in ("jal", "jalr"):
        if roles["rd"]:
            yield at + size, _UNKNOWN
        return
    if any(field.role == "rd" and field.kind == "x" for field in instruction.row.fields):
        state = _set_register(state, roles["rd"], _result(name, instruction, at, state))
    yield at + size, state


def _set_register(state: State, number: int, value: Value | None) -> State:
    """A state with a register set; x0 stays zero."""
    return state if number == 0 else (*state[:number], value, *state[number + 1 :])


def _result(name: str, instruction: Instruction, at: int, state: State) -> Value | None:
    """Abstract value that an instruction writes to rd; None where it is unknown."""
    roles = instruction.roles
    if name in ("lui", "auipc"):
        return Value(frozenset({(roles["imm"] + (at if name == "auipc" else 0)) & _BITS}))
    if name in _IMMEDIATE:
        return _combine_values(name, _IMMEDIATE[name], state[roles["rs1"]], Value(frozenset({roles["imm"]})))
    if name in _REGISTERS:
        return _combine_values(name, _REGISTERS[name], state[roles["rs1"]], state[roles["rs2"]])
    return None


def _combine_values(name: str, function: _Binary, a: Value | None, b: Value | None) -> Value | None:
    """Abstract binary operation on sets of numbers. An unknown operand counts as an address if the other one has bits
    outside addresses, as words of tensor CSRs have.
    """
    if a is None or b is None:
        known = a or b
        if known is None or not all(n & ~_ADDRESS for n in known.numbers):
            return None
        a, b = a or _SOME, b or _SOME
    moved = a.moved or b.moved
    if moved and name not in _KEEPS_REST:
        return None
    return _widen({function(p, q) & _BITS for p in a.numbers for q in b.numbers}, moved)


def _join(a: State, b: State) -> State:
    """Join of two states, register by register."""
    return tuple(_join_values(p, q) for p, q in zip(a, b, strict=True))


def _join_values(a: Value | None, b: Value | None) -> Value | None:
    if a is None or b is None:
        return None
    return _widen(set(a.numbers | b.numbers), a.moved or b.moved)


def _widen(numbers: set[int], moved: bool) -> Value | None:
    """Widening to a lattice of finite height: a set with too many numbers is taken for addresses that move, and only
    its other bits are kept; None where those are too many as well.
    """
    if moved or len(numbers) > _MOST:
        numbers = {n & ~_ADDRESS for n in numbers}
        moved = True
    return Value(frozenset(numbers), moved) if len(numbers) <= _MOST else None
