# SPDX-License-Identifier: Apache-2.0
"""Instruction encoder and decoder: the layout at the top of `isa.py`, written and read; and what both configurations
share (docs/formats.md).

Every byte string that reads as an instruction is the only one for it: unused fields do not exist, an operation has as
many sources as its arity, and a nop has no operands. Whether registers, signals and targets exist is for the verifier
to say.
"""

from __future__ import annotations

from polyloom.binary import Codec, Reader, fixed_integer, format_error
from polyloom.ir.operations import ELEMENT_TYPES, OPERATIONS, STORED, ElementType
from polyloom.targets.tcpa.words.isa import (
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
    is_operation,
    source_type,
)

# The numbers stand in files: two bits of the first byte.
_NEXT, _HALT, _GOTO, _IF = range(4)
_TARGET = fixed_integer(2, "a branch target")
_BITS = fixed_integer(4, "an immediate")
_WIDE_BITS = fixed_integer(8, "an immediate")
_OPERATION = fixed_integer(1, "an operation's number", limit=64)
_INDEX = fixed_integer(1, "a register's number", limit=64)
_DESTINATIONS = fixed_integer(1, "the number of destinations", limit=16)
# 2**15 targets of 2 bytes each; one signal more, and a single instruction could take 128 KiB.
_MOST_SIGNALS = 15
_SIGNALS = fixed_integer(1, "the number of control signals of a branch", limit=_MOST_SIGNALS + 1)
_SIGNAL = fixed_integer(1, "a control signal's number")


def arity(opcode: int) -> int | None:
    """Arity: how many sources an opcode has; None when no operation has this number or does not work on its element
    type.
    """
    if opcode == OPCODE_NOP:
        return 0
    if not is_operation(opcode):
        return None
    operation = OPERATIONS[opcode >> 4]
    is_on_the_array = operation.gives not in STORED and ELEMENT_TYPES[opcode & 15] in operation.types
    return operation.arity if is_on_the_array else None


def value_types(opcode: int) -> tuple[ElementType, ...]:
    """Element types of an operation's (last) operand and of its result."""
    dtype = ELEMENT_TYPES[opcode & 15]
    return dtype, OPERATIONS[opcode >> 4].result(dtype)


def immediate_codec(opcode: int, position: int) -> Codec[int]:
    """An immediate that is a source of the operation."""
    return _WIDE_BITS if source_type(opcode, position) == "f64" else _BITS


def _write_instruction(out: bytearray, instruction: Instruction) -> None:
    _OPERATION.write(out, instruction.opcode >> 4)
    # Shares the byte with the operation's number, which is below 64.
    out[-1] |= _branch_kind(instruction.branch) << 6
    _DESTINATIONS.write(out, len(instruction.destinations))
    out[-1] |= (instruction.opcode & 15) << 4
    for operand in (*instruction.destinations, *instruction.sources):
        _write_operand(out, operand)
    for position, source in enumerate(instruction.sources):
        if isinstance(source, Immediate):
            immediate_codec(instruction.opcode, position).write(out, source.bits)
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
    """Branch encoding (the array paper, section 6.3; layout in `isa`)."""
    match branch:
        case Next() | Halt():
            return
        case Goto(target):
            _TARGET.write(out, target)
        case If(signals, targets):
            _SIGNALS.write(out, len(signals))
            for signal in signals:
                _SIGNAL.write(out, signal)
            # `strict` refuses a table of any other length than 2**n.
            for _, target in zip(range(1 << len(signals)), targets, strict=True):
                _TARGET.write(out, target)


def _read_instruction(reader: Reader) -> Instruction:
    at = reader.position
    # Two bytes with four fields, as in the table of `isa`: operation and branch kind, destinations and type.
    first, second = reader.take(2)
    opcode, count = (first & 63) << 4 | second >> 4, second & 15
    number = arity(opcode)
    if number is None:
        raise format_error(at, f"opcode {opcode} is no instruction")
    if opcode == OPCODE_NOP and count:
        raise format_error(at + 1, "a nop has destinations")
    destinations = tuple(_read_register(reader) for _ in range(count))
    kinds = [_read_source(reader) for _ in range(number)]
    sources = tuple(
        Immediate(immediate_codec(opcode, k).read(reader)) if kind is None else kind for k, kind in enumerate(kinds)
    )
    return Instruction(opcode, destinations, sources, _read_branch(reader, first >> 6))


def _read_source(reader: Reader) -> Register | None:
    """None stands for an immediate, whose bits follow all operands."""
    at = reader.position
    (byte,) = reader.take(1)
    if byte >> 6 != File.IMMEDIATE:
        return Register(File(byte >> 6), byte & 63)
    if byte & 63:
        # Unused bits are 0: otherwise two files would mean the same configuration.
        raise format_error(at, "an immediate has a register's number")
    return None


def _read_register(reader: Reader) -> Register:
    at = reader.position
    register = _read_source(reader)
    if register is None:
        raise format_error(at, "a destination is an immediate")
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
        raise format_error(at, "a conditional branch reads no control signal")
    signals = tuple(reader.take(number))
    return If(signals, tuple(_TARGET.read(reader) for _ in range(1 << number)))


instruction: Codec[Instruction] = Codec(_write_instruction, _read_instruction)


def encode(value: Instruction) -> bytes:
    """The bytes of one instruction. Errors: PL0706 when a field does not fit."""
    out = bytearray()
    instruction.write(out, value)
    return bytes(out)


def decode(data: bytes) -> Instruction:
    """Instruction that `data` is, all of it. Errors: PL0705."""
    reader = Reader(data, 0, len(data))
    value = instruction.read(reader)
    if reader.position != len(data):
        raise format_error(reader.position, "bytes follow the instruction")
    return value


ArrayHead = tuple[ElementType, bool, int]
"""Element type, whether the array is an output, rank."""


def _write_array_head(out: bytearray, head: ArrayHead) -> None:
    dtype, is_output, rank = head
    out.append(ELEMENT_TYPES.index(dtype) << 1 | is_output)
    _RANK.write(out, rank)


def _read_array_head(reader: Reader) -> ArrayHead:
    at = reader.position
    (packed,) = reader.take(1)
    if packed >> 1 >= len(ELEMENT_TYPES):
        raise format_error(at, f"an array has the element type {packed >> 1}, but there are {len(ELEMENT_TYPES)}")
    return ELEMENT_TYPES[packed >> 1], bool(packed & 1), _RANK.read(reader)


_RANK = fixed_integer(1, "an array's rank", limit=32)
array_head: Codec[ArrayHead] = Codec(_write_array_head, _read_array_head)
"""Of an array in either configuration: a byte with output in bit 0 and the element type above, and the rank."""
