# SPDX-License-Identifier: Apache-2.0
"""The paper's running example as a configuration that runs: N = 16 on 1x3 elements (Figures 5 to 8; pi = 2, p = 6, lambda_K = 12).

The last element has the four iterations that are left; its shift writes nothing in the last of them, because a destination
is written exactly where its value has a consumer, so that its programs and control signal are its own.
"""

from __future__ import annotations

from polyloom.targets.tcpa import concrete_file, machine_file
from polyloom.targets.tcpa.concrete import ArrayLayout, Concrete, Connection, Controller, ConvexSet, Domain, ElementProgram, Generator
from polyloom.targets.tcpa.isa import File, Halt, If, Immediate, Instruction, Register, opcode

MACHINE = machine_file.load("paper")
MOVE, SHR, AND = opcode("move", "i32"), opcode("shr", "i32"), opcode("and", "i32")
RD0, FD0, ID0, OD0, OD1 = Register(File.RD, 0), Register(File.FD, 0), Register(File.IO, 0), Register(File.IO, 0), Register(File.IO, 1)


def box(lower: int, upper: int) -> Domain:
    return (ConvexSet((lower,), (upper,)),)


def _alu0(signal: int) -> tuple[Instruction, ...]:
    later = Instruction(MOVE, (RD0,), (FD0,))
    return (
        Instruction(MOVE, (RD0,), (ID0,)),
        Instruction(),
        later,
        Instruction(branch=If((signal,), (2, 4))),
        later,
        Instruction(branch=Halt()),
    )


def _alu1(signal: int, last: Instruction) -> tuple[Instruction, ...]:
    shift, mask = Instruction(SHR, (FD0,), (RD0, Immediate(1))), Instruction(AND, (OD1,), (RD0, Immediate(1)))
    again = Instruction(SHR, (FD0,), (RD0, Immediate(1)), If((signal,), (2, 4)))
    return (Instruction(), shift, mask, again, mask, last, mask, Instruction(branch=Halt()))


_SEND = Instruction(SHR, (OD0,), (RD0, Immediate(1)))

BITS = Concrete(
    kernel="bits",
    machine=MACHINE.name,
    machine_hash=machine_file.fingerprint(MACHINE),
    initiation_interval=2,
    rows=1,
    columns=3,
    extents=(6,),
    controller=Controller(False, False, 0, 0, 12, 7, (box(4, 4), box(2, 2))),
    classes=(ElementProgram((_alu0(0), _alu1(0, _SEND)), (1,), (1,)), ElementProgram((_alu0(1), _alu1(1, Instruction())), (1,), (1,))),
    element_class=((0, 0, 1),),
    wrappers=(
        (Connection((0, 0), (4, 0)), Connection((1, 0), (0, 1)), Connection((2, 0), (0, 0))),
        (Connection((0, 0), (4, 0)), Connection((1, 0), (0, 1))),
    ),
    wrapper=((0, 0, 1),),
    generators=(
        Generator("west", 0, 0, 0, 0, (0,), 0, box(0, 0)),
        Generator("north", 0, 0, 1, 0, (1,), 3, box(0, 5)),
        Generator("north", 1, 0, 1, 6, (1,), 15, box(0, 5)),
        Generator("north", 2, 0, 1, 12, (1,), 27, box(0, 3)),
    ),
    arrays=(ArrayLayout("in", "i32", (), (), False), ArrayLayout("bits", "i32", (16,), (1,), True)),
)
DATA = concrete_file.encode(BITS)
