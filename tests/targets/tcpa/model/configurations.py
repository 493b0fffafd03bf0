# SPDX-License-Identifier: Apache-2.0
"""The paper's running example as a configuration that runs: N = 16 on 1x3 elements (Figures 5 to 8; pi = 2, p = 6,
lambda_K = 12).

The last element has the four iterations that are left: its last shift writes nothing, because a destination is written
exactly where its value has a consumer, and nops follow until the tile's box is passed.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import (
    ArrayLayout,
    Concrete,
    Connection,
    Controller,
    ConvexSet,
    Domain,
    ElementProgram,
    Generator,
)
from polyloom.targets.tcpa.words.isa import File, Halt, If, Immediate, Instruction, Register, encode_opcode

MACHINE = machine_file.load("paper")
MOVE, SHR, AND = encode_opcode("move", "i32"), encode_opcode("shr", "i32"), encode_opcode("and", "i32")
RD0, FD0, ID0, OD0, OD1 = (
    Register(File.RD, 0),
    Register(File.FD, 0),
    Register(File.IO, 0),
    Register(File.IO, 0),
    Register(File.IO, 1),
)


def box(lower: int, upper: int) -> Domain:
    return (ConvexSet((lower,), (upper,)),)


_NOP, _HALT = Instruction(), Instruction(branch=Halt())
_FIRST, _LATER = Instruction(MOVE, (RD0,), (ID0,)), Instruction(MOVE, (RD0,), (FD0,))
_MASK = Instruction(AND, (OD1,), (RD0, Immediate(1)))


def _shift(*destinations: Register) -> Instruction:
    return Instruction(SHR, destinations, (RD0, Immediate(1)))


def _again(instruction: Instruction, signal: int) -> Instruction:
    """Kernel 2 repeats until `signal` is 1."""
    return replace(instruction, branch=If((signal,), (2, 4)))


FULL = ElementProgram(
    (
        (_FIRST, _NOP, _LATER, _again(_NOP, 0), _LATER, _HALT),
        (_NOP, _shift(FD0), _MASK, _again(_shift(FD0), 0), _MASK, _shift(OD0), _MASK, _HALT),
    ),
    (1,),
    (1,),
)
PARTIAL = ElementProgram(
    (
        (_FIRST, _NOP, _LATER, _again(_NOP, 1), _NOP, _NOP, _NOP, _HALT),
        (_NOP, _shift(FD0), _MASK, _again(_shift(FD0), 2), _MASK, _shift(), _MASK, _NOP, _NOP, _NOP, _NOP, _HALT),
    ),
    (1,),
    (1,),
)

BITS = Concrete(
    kernel="bits",
    machine=MACHINE.name,
    machine_hash=machine_file.fingerprint(MACHINE),
    initiation_interval=2,
    rows=1,
    columns=3,
    extents=(6,),
    controller=Controller(False, False, 0, 0, 12, 7, (box(4, 4), box(3, 3), box(2, 2))),
    classes=(FULL, PARTIAL),
    element_class=((0, 0, 1),),
    wrappers=(
        (Connection((2, 0), (0, 0)),),
        (Connection((0, 0), (4, 0)), Connection((2, 0), (0, 0))),
        (Connection((0, 0), (4, 0)),),
    ),
    wrapper=((0, 1, 2),),
    generators=(
        Generator("west", 0, 0, 0, 0, 0, 0, (0,), 0, box(0, 0)),
        Generator("north", 1, 0, 0, 0, 1, 0, (1,), 3, box(0, 5)),
        Generator("north", 1, 1, 0, 0, 1, 6, (1,), 15, box(0, 5)),
        Generator("north", 1, 2, 0, 0, 1, 12, (1,), 27, box(0, 3)),
    ),
    arrays=(ArrayLayout("in", "i32", (), (), False), ArrayLayout("bits", "i32", (16,), (1,), True)),
)
DATA = concrete_file.encode(BITS)
