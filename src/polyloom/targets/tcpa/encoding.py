# SPDX-License-Identifier: Apache-2.0
"""Instruction words as bytes: the layout at the top of `isa.py`, written and read; and what both configurations share.

Every byte string that reads as an instruction is the only one for it: unused fields do not exist, an operation has as
many sources as its arity, and a nop has no operands. Whether registers, signals and targets exist is for the verifier
to say.
"""

from __future__ import annotations

from polyloom.binary import Codec, Reader, fixed, malformed
from polyloom.ir.operations import ELEMENT_TYPES, OPERATIONS, ElementType
from polyloom.targets.tcpa.isa import (
    OPCODE_NOP,
    Branch,
    File,
    Goto,
    Halt,
    If,
    Immediate,
    Instruction,
    Next,
    Register,
    Source,
)

_NEXT, _HALT, _GOTO, _IF = range(4)
_BYTE = fixed(1, "a byte")
_TARGET = fixed(2, "a branch target")
_BITS = fixed(4, "an immediate")
_INDEX = fixed(1, "a register's number", limit=64)
_DESTINATIONS = fixed(1, "the number of destinations", limit=16)
_MOST_SIGNALS = 15
_SIGNALS = fixed(1, "the number of control signals of a branch", limit=_MOST_SIGNALS + 1)
_SIGNAL = fixed(1, "a control signal's number")


def arity(opcode: int) -> int | None:
    """How many sources an opcode has; None when no operation has this number or does not work on its element type."""
    if opcode == OPCODE_NOP:
        return 0
    if opcode >> 2 >= len(OPERATIONS):
        return None
    operation = OPERATIONS[opcode >> 2]
    return operation.arity if ELEMENT_TYPES[opcode & 3] in operation.types else None


def _write(out: bytearray, instruction: Instruction) -> None:
    _BYTE.write(out, instruction.opcode)
    count = bytearray()
    _DESTINATIONS.write(count, len(instruction.destinations))
    # Four bits of destinations, two of sources, two of the branch: the second byte of every word.
    out.append(count[0] | len(instruction.sources) << 4 | _branch_kind(instruction.branch) << 6)
    for operand in (*instruction.destinations, *instruction.sources):
        _write_operand(out, operand)
    for source in instruction.sources:
        if isinstance(source, Immediate):
            _BITS.write(out, source.bits)
    _write_branch(out, instruction.branch)


def _write_operand(out: bytearray, operand: Source) -> None:
    if isinstance(operand, Immediate):
        out.append(File.IMMEDIATE << 6)
        return
    _INDEX.write(out, operand.index)
    out[-1] |= operand.file << 6


def _branch_kind(branch: Branch) -> int:
    match branch:
        case Next():
            return _NEXT
        case Halt():
            return _HALT
        case Goto():
            return _GOTO
        case If():
            return _IF


def _write_branch(out: bytearray, branch: Branch) -> None:
    match branch:
        case Next() | Halt():
            return
        case Goto(target):
            _TARGET.write(out, target)
        case If(signals, targets):
            _SIGNALS.write(out, len(signals))
            for signal in signals:
                _SIGNAL.write(out, signal)
            for _, target in zip(range(1 << len(signals)), targets, strict=True):
                _TARGET.write(out, target)


def _read(reader: Reader) -> Instruction:
    at = reader.position
    opcode, counts = reader.take(2)
    if arity(opcode) != counts >> 4 & 3:
        raise malformed(at, f"opcode {opcode} with {counts >> 4 & 3} sources is no instruction")
    if opcode == OPCODE_NOP and counts & 15:
        raise malformed(at + 1, "a nop has destinations")
    destinations = tuple(_read_register(reader) for _ in range(counts & 15))
    kinds = [_read_source(reader) for _ in range(counts >> 4 & 3)]
    sources = tuple(Immediate(_BITS.read(reader)) if kind is None else kind for kind in kinds)
    return Instruction(opcode, destinations, sources, _read_branch(reader, counts >> 6))


def _read_source(reader: Reader) -> Register | None:
    """None stands for an immediate, whose bits follow all operands."""
    at = reader.position
    (byte,) = reader.take(1)
    if byte >> 6 != File.IMMEDIATE:
        return Register(File(byte >> 6), byte & 63)
    if byte & 63:
        # Unused bits are 0: otherwise two files would mean the same configuration.
        raise malformed(at, "an immediate has a register's number")
    return None


def _read_register(reader: Reader) -> Register:
    at = reader.position
    register = _read_source(reader)
    if register is None:
        raise malformed(at, "a destination is an immediate")
    return register


def _read_branch(reader: Reader, kind: int) -> Branch:
    if kind == _NEXT:
        return Next()
    if kind == _HALT:
        return Halt()
    if kind == _GOTO:
        return Goto(_TARGET.read(reader))
    at = reader.position
    number = _SIGNALS.read(reader)
    if number == 0:
        raise malformed(at, "a conditional branch reads no control signal")
    signals = tuple(reader.take(number))
    return If(signals, tuple(_TARGET.read(reader) for _ in range(1 << number)))


instruction: Codec[Instruction] = Codec(_write, _read)


def encode(value: Instruction) -> bytes:
    """The bytes of one instruction. Errors: PL0706 when a field does not fit."""
    out = bytearray()
    instruction.write(out, value)
    return bytes(out)


def decode(data: bytes) -> Instruction:
    """The one instruction that `data` is. Errors: PL0705."""
    reader = Reader(data, 0, len(data))
    value = instruction.read(reader)
    if reader.position != len(data):
        raise malformed(reader.position, "bytes follow the instruction")
    return value


ArrayHead = tuple[ElementType, bool, int]
"""Element type, whether the array is an output, rank."""


def _write_array_head(out: bytearray, head: ArrayHead) -> None:
    dtype, is_output, rank = head
    _RANK.write(out, rank)
    # A rank is below 32, so that all three fit into the byte.
    out[-1] = out[-1] << 3 | is_output << 2 | ELEMENT_TYPES.index(dtype)


def _read_array_head(reader: Reader) -> ArrayHead:
    (packed,) = reader.take(1)
    return ELEMENT_TYPES[packed & 3], bool(packed & 4), packed >> 3


_RANK = fixed(1, "an array's rank", limit=32)
array_head: Codec[ArrayHead] = Codec(_write_array_head, _read_array_head)
"""Of an array in either configuration: rank in bits 3 to 7, output in bit 2, element type in bits 0 and 1."""
