# SPDX-License-Identifier: Apache-2.0
"""The paper's running example as values: the mapping of sections 5.1 to 5.6, and the configuration of Figures 5 to 8.

`SYMBOLIC` maps N bits to a row of elements on two ALUs (pi = 2). `CONCRETE` is N = 16 on three elements (p = 6).
"""

from __future__ import annotations

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
from polyloom.targets.tcpa.words.isa import (
    OPCODE_NOP,
    File,
    Goto,
    Halt,
    If,
    Immediate,
    Instruction,
    Next,
    Register,
    encode_opcode,
)
from polyloom.targets.tcpa.words.symbolic import (
    Access,
    ArrayInfo,
    Bottleneck,
    Bound,
    Candidate,
    Extent,
    ImmediateOperand,
    InputOperand,
    InputUse,
    Kind,
    Limits,
    Link,
    Node,
    OutputUse,
    Port,
    Route,
    Row,
    Schedule,
    Symbolic,
    Use,
    UseOperand,
    Writer,
)

MOVE, SHR, AND = encode_opcode("move", "i32"), encode_opcode("shr", "i32"), encode_opcode("and", "i32")
FIRST, LATER, ALL, EARLIER = range(4)

LIMITS = Limits(
    units=("alu0", "alu1"),
    fifo_depth=16,
    instruction_words=64,
    branch_flags=1,
    channels=4,
    adjacency=None,
    hop_delay=0,
    control_signals=8,
    signal_sets=8,
    half_spaces=True,
    counter_bits=16,
    generator_dimensions=4,
    delay_bits=16,
    bank_words=4096,
    rows=None,
    columns=None,
    word_bits=64,
)

SYMBOLIC = Symbolic(
    kernel="bits",
    machine="paper",
    machine_hash=0x0123456789ABCDEF,
    limits=LIMITS,
    parameters=("N",),
    dimensions=("i",),
    assumptions=((Row((0,), (1,), 0),),),
    extents=(
        Extent(
            (Bound((Row((0,), (1,), -1),), Row((0,), (0,), 0)),), (Bound((Row((0,), (1,), -1),), Row((0,), (1,), -1)),)
        ),
    ),
    arrays=(ArrayInfo("in", "i32", (), False), ArrayInfo("bits", "i32", (Row((0,), (1,), 0),), True)),
    constraints=(
        Row((1,), (0,), 0),
        Row((-1,), (1,), -1),
        Row((-1,), (0,), 0),
        Row((1,), (0,), -1),
        Row((-1,), (1,), -2),
    ),
    conditions=(((0, 1, 2),), ((1, 3),), ((0, 1),), ((0, 4),)),
    nodes=(
        Node(MOVE, FIRST, (InputOperand(0),), None),
        Node(MOVE, LATER, (UseOperand(0),), None),
        Node(SHR, ALL, (UseOperand(1), ImmediateOperand(1)), None),
        Node(AND, ALL, (UseOperand(2), ImmediateOperand(1)), 0),
    ),
    uses=(
        Use(1, 0, (1,), (Writer(2, EARLIER),)),
        Use(2, 0, (0,), (Writer(0, FIRST), Writer(1, LATER))),
        Use(3, 0, (0,), (Writer(0, FIRST), Writer(1, LATER))),
    ),
    inputs=(InputUse(0, 0, Access(0, ())),),
    outputs=(OutputUse(3, Access(1, (Row((1,), (0,), 0),))),),
    schedules=(Schedule(2, (0, 0, 1, 2), (0, 0, 1, 1), (1, 1, 1, 1)),),
    candidates=(
        Candidate(
            rows=None,
            columns=0,
            reflected=(False,),
            order=(0,),
            schedule=0,
            links=(
                (Link((0, 0), Kind.FEEDBACK, 0), Link((0, 1), Kind.CHANNEL, 0)),
                (Link((0, 0), Kind.GENERAL, 0),),
                (Link((0, 0), Kind.GENERAL, 0),),
            ),
            routes=(Route((0, 1), 0, (Port("east", 0),), 0),),
            input_registers=(0,),
            output_registers=(1,),
        ),
    ),
    node_names=("S1", "S2", "S3", "S4"),
    bottlenecks=(Bottleneck(2, True, "units {alu0, alu1}: 3 operations S1|S2, S3, S4"),),
)

RD0, FD0, ID0, OD0, OD1 = (
    Register(File.RD, 0),
    Register(File.FD, 0),
    Register(File.IO, 0),
    Register(File.IO, 0),
    Register(File.IO, 1),
)


def _shr(register: Register | None, branch: Next | Goto | If) -> Instruction:
    return Instruction(SHR, () if register is None else (register,), (RD0, Immediate(1)), branch)


_AND = Instruction(AND, (OD1,), (RD0, Immediate(1)))
_ALU0 = (
    Instruction(MOVE, (RD0,), (ID0,)),
    Instruction(OPCODE_NOP),
    Instruction(MOVE, (RD0,), (FD0,)),
    Instruction(OPCODE_NOP, (), (), If((0,), (2, 4))),
    Instruction(MOVE, (RD0,), (FD0,)),
    Instruction(OPCODE_NOP, (), (), Halt()),
)


def _alu1(last: Instruction) -> tuple[Instruction, ...]:
    return (
        Instruction(OPCODE_NOP),
        _shr(FD0, Next()),
        _AND,
        _shr(FD0, If((0,), (2, 4))),
        _AND,
        last,
        _AND,
        Instruction(OPCODE_NOP, (), (), Halt()),
    )


def box(lower: int, upper: int) -> Domain:
    return (ConvexSet((lower,), (upper,)),)


CONCRETE = Concrete(
    kernel="bits",
    machine="paper",
    machine_hash=0x0123456789ABCDEF,
    initiation_interval=2,
    rows=1,
    columns=3,
    extents=(6,),
    controller=Controller(False, False, 0, 0, 12, 7, (box(4, 4),)),
    classes=(
        ElementProgram((_ALU0, _alu1(_shr(OD0, Next()))), (1,), (1,)),
        ElementProgram((_ALU0, _alu1(_shr(None, Next()))), (1,), (1,)),
    ),
    element_class=((0, 0, 1),),
    wrappers=(
        (Connection((2, 0), (0, 0)),),
        (Connection((0, 0), (4, 0)), Connection((2, 0), (0, 0))),
        (Connection((0, 0), (4, 0)),),
    ),
    wrapper=((0, 1, 2),),
    generators=(
        Generator("north", 1, 0, 1, 0, 1, 0, (1,), 3, box(0, 5)),
        Generator("north", 1, 1, 1, 0, 1, 6, (1,), 15, box(0, 5)),
        Generator("north", 1, 2, 1, 0, 1, 12, (1,), 27, box(0, 3)),
        Generator("west", 0, 0, 0, 0, 0, 0, (0,), 0, box(0, 0)),
    ),
    arrays=(ArrayLayout("in", "i32", (), (), False), ArrayLayout("bits", "i32", (16,), (1,), True)),
)
