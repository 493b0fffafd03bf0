# SPDX-License-Identifier: Apache-2.0
"""Functions in static single assignment form (Cytron et al. 1991): basic blocks with arguments, over bytes of memory.

    function f(%n: i32, %a: ptr) -> i32 { entry: ... loop(%i: i32): %x: i32 = load %p align 4 ... branch %c, loop(%j),
    done }

A value has one definition, a parameter of a block or the result of an instruction, which dominates its uses. A jump
passes arguments to its target (what others write as phi functions: Appel 1998). Integers have no sign, operations do;
arithmetic wraps, except that `nsw`, `nuw` and `exact` make a result undefined that they exclude (LLVM Language
Reference Manual). Pointers have the width of the data model that the source was read for, memory is little-endian. What
computes lane by lane takes vectors of one number of lanes as it takes scalars (`ir.ssa_types`). `ir.ssa_text` prints
and reads it, `ir.ssa_verify` has its rules, `ir.ssa_interpret` its meaning; C becomes it in `frontend.c.llvm`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from polyloom.files import recorded_name
from polyloom.ir.ssa_externals import External
from polyloom.ir.ssa_types import ADDRESSES, F32, F64, FLOATS, I8, I16, I32, I64, INTEGERS, PTR, Type

ARITHMETIC: Final = ("add", "sub", "mul", "sdiv", "udiv", "srem", "urem", "shl", "lshr", "ashr", "and", "or", "xor")
FLOATING: Final = ("fadd", "fsub", "fmul", "fdiv")
COMPARISONS: Final = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""Of integers and pointers. Those of floats begin with `f`, then `o` (false for NaNs) or `u` (true)."""
FLOAT_COMPARISONS: Final = (
    "foeq",
    "fone",
    "folt",
    "fole",
    "fogt",
    "foge",
    "ford",
    "fueq",
    "fune",
    "fult",
    "fule",
    "fugt",
    "fuge",
    "funo",
)
CASTS: Final[dict[str, tuple[tuple[Type, ...], tuple[Type, ...]]]] = {
    "trunc": (INTEGERS, INTEGERS),
    "zext": (INTEGERS, INTEGERS),
    "sext": (INTEGERS, INTEGERS),
    "fptrunc": ((F64,), (F32,)),
    "fpext": ((F32,), (F64,)),
    "fptosi": (FLOATS, INTEGERS),
    "fptoui": (FLOATS, INTEGERS),
    "sitofp": (INTEGERS, FLOATS),
    "uitofp": (INTEGERS, FLOATS),
    "ptrtoint": ((PTR,), (I32, I64)),
    "inttoptr": ((I32, I64), (PTR,)),
    "bitcast": ((I32, I64, *FLOATS), (I32, I64, *FLOATS)),
}
"""By name: the types of the operand, and those of the result. `fptosi` and `fptoui` of what does not fit are undefined;
`ptrtoint` and `inttoptr` keep the width."""
ATOMICS: Final = ("rmw", "cas")
"""`rmw add p, v` loads what is at p, stores its sum with v and gives what was loaded, at once: no other access comes
between (`MODIFICATIONS` has what stands for `add`). `cas p, x, y` stores y only where p holds x."""
OTHERS: Final = ("copy", "fneg", "select", "offset", "load", "store", "fence", "alloca", "call", *ATOMICS)
"""`offset p, i` is p + i bytes; `alloca n` is the address of n bytes that begin undefined and live as long as the call.

A `select` between vectors takes a mask, or an i1 for all lanes. `load p, m, v` and `store v, p, m` access the lanes
that the mask m has; a load gives those of v for the others. Of a scalar, m is an i1 and decides about all of it. Where
p is a vector of pointers, each lane has an address of its own.
"""
# Operations and names of the Mill, whose vectorized loops leave early by them.
SMEARS: Final = ("smearx", "smeari")
LANES: Final = ("splat", "extract", "insert", "iota", *SMEARS)
"""`splat x` has x in every lane, `extract v, k` is lane k, `insert v, x, k` has x there (k is an i32; beyond the last
it gives no value), `iota` has 0, 1, 2 and so on. Of a mask `smearx` has the lanes behind the first one that is set,
`smeari` that one too: lanes behind a loop's exit do not depend on conditions there, which may have no value."""
OPERATIONS: Final = (*ARITHMETIC, *FLOATING, *COMPARISONS, *FLOAT_COMPARISONS, *CASTS, *OTHERS, *LANES)
FLAGS: Final = ("nsw", "nuw", "exact")
SPECULATIVE: Final = "speculative"
"""The flag of a load, a division or a remainder that gives no value where it would be a fault: control speculation, as
IA-64's `ld.s` has it. If-conversion sets it on what it executes where nobody asked for it."""
SPECULATED: Final = ("load", "sdiv", "udiv", "srem", "urem")
GUARDED: Final = "guarded"
"""The flag of a call of a function whose last operand is no argument but an i1: where that is 0, nothing is called and
the results have no value."""

INTRINSICS: Final[dict[str, tuple[int, tuple[Type, ...]]]] = {
    **dict.fromkeys(("smin", "smax", "umin", "umax", "uadd.sat", "usub.sat", "sadd.sat", "ssub.sat"), (2, INTEGERS)),
    **dict.fromkeys(("abs", "ctpop", "ctlz", "cttz"), (1, INTEGERS)),
    "bswap": (1, (I16, I32, I64)),
    **dict.fromkeys(("fshl", "fshr"), (3, INTEGERS)),
    **dict.fromkeys(("fabs", "sqrt"), (1, FLOATS)),
    **dict.fromkeys(("copysign", "minnum", "maxnum"), (2, FLOATS)),
    "fma": (3, FLOATS),
}
"""What is called, without side effects: the number of operands, all of the result's type, and the types. `ctlz` and
`cttz` of 0 are the width; fshl(a, b, c) is the upper half of (a:b) << c; `minnum` and `maxnum` prefer numbers to NaNs;
`fma` rounds once."""
EFFECTS: Final = ("memcpy", "memmove", "memset")
"""What is called for what it does to memory. Operands: target, source or byte, number of bytes (an integer as wide as a
pointer)."""

MODIFICATIONS: Final[dict[str, tuple[Type, ...]]] = {
    "xchg": (I8, I16, I32, I64, PTR, *FLOATS),
    **dict.fromkeys(("add", "sub", "and", "or", "xor", "nand", "smin", "smax", "umin", "umax"), INTEGERS[1:]),
    **dict.fromkeys(("fadd", "fsub"), FLOATS),
}
"""What an `rmw` stores, by its name: the second operand for `xchg`, the complement of `and` for `nand`; and the
types."""
INDIRECT: Final = "*"
"""The callee of `call * p, a, b`: the function of the program whose address the first operand is. Its parameters and
its result have the types of the other operands and of the call's."""

REASSOCIATED: Final = "reassoc"
"""The flag of a `reduce.fadd` or `reduce.fmul` that may take the lanes in any order, as LLVM's has it."""
REDUCTIONS: Final[dict[str, tuple[str, tuple[Type, ...]]]] = {
    **{f"reduce.{name}": (name, INTEGERS) for name in ("add", "mul", "and", "or", "xor")},
    **{f"reduce.{name}": (name, INTEGERS) for name in ("smin", "smax", "umin", "umax")},
    **{f"reduce.{name}": (name, FLOATS) for name in ("fadd", "fmul", "minnum", "maxnum")},
}
"""Calls that make one scalar of a vector's lanes: by name the operation or intrinsic, which takes lane 0 first and then
one lane after the other, and the types of a lane. Of a mask, `reduce.or` tells whether any lane is set."""

Order = Literal["", "unordered", "monotonic", "acquire", "release", "acq_rel", "seq_cst", "load_store"]
ORDERS: Final[dict[str, tuple[Order, ...]]] = {
    "load": ("", "unordered", "monotonic", "acquire", "seq_cst"),
    "store": ("", "unordered", "monotonic", "release", "seq_cst"),
    "fence": ("acquire", "release", "acq_rel", "seq_cst", "load_store"),
    **dict.fromkeys(ATOMICS, ("monotonic", "acquire", "release", "acq_rel", "seq_cst")),
}
"""The atomic orders of LLVM's language reference that an operation can have; "" is no atomic access. Beyond it, a fence
`load_store` orders what was read before what is stored later, and nothing else, on targets that have one."""


@dataclass(frozen=True, slots=True)
class Value:
    """Value: what a parameter or an instruction defines; names are unique in the function."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Constant:
    """An integer in the range of its type taken as signed (0 or 1 for i1), an address for ptr, the bits of a float; the
    same in every lane of a vector."""

    type: Type
    value: int


@dataclass(frozen=True, slots=True)
class Undef:
    """Undefined value (LLVM Language Reference Manual, "Undefined Values"): no particular value; to pass it on is
    allowed, to compute with it is not.
    """

    type: Type


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a datum or of a function of the program, plus bytes."""

    name: str
    offset: int = 0

    @property
    def type(self) -> Type:
        return PTR


Operand = Value | Constant | Undef | Address


@dataclass(frozen=True, slots=True)
class Place:
    """Source position: line and column from 1 on, 0 where that is not known. The file is named as the compiler found
    it. `reason` says why what the user did not write is there.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    reason: str = ""

    def __str__(self) -> str:
        """`fir.py:7  (enters the loop)`, as far as it is known."""
        place = f"{self.shown_file}:{self.line}" if self.line else ""
        return "  ".join(filter(None, (place, self.reason and f"({self.reason})")))

    @property
    def shown_file(self) -> str:
        """Name of the file as files of ours record it."""
        return recorded_name(self.file)

    def words(self, home: str = "") -> str:
        """Words for a message: the line, and the file where it is not `home`. Nothing where there is no line."""
        file = f"{self.file}, " if self.file not in ("", home) else ""
        return f"{file}line {self.line}" if self.line else ""


NOWHERE: Final = Place()


@dataclass(frozen=True, slots=True)
class Access:
    """Memory access; `align` in bytes, `order` is an atomic order of C11, section 7.17.3. A fence has an order alone,
    an alloca an alignment.
    """

    align: int = 1
    volatile: bool = False
    order: Order = ""


@dataclass(frozen=True, slots=True)
class Instruction:
    """`results = operation operands`; `callee` is the intrinsic of a call, `@` and the name of a function of the
    program or an external one, or `INDIRECT`; of an `rmw` what it does.

    Only calls of external functions have several results.
    """

    operation: str
    operands: tuple[Operand, ...] = ()
    results: tuple[Value, ...] = ()
    flags: tuple[str, ...] = ()
    access: Access | None = None
    callee: str = ""
    place: Place = NOWHERE

    @property
    def result(self) -> Value | None:
        """Result of an instruction which has at most one."""
        assert len(self.results) < 2, f"`{self.callee or self.operation}` has {len(self.results)} results"
        return self.results[0] if self.results else None

    @property
    def called(self) -> str:
        """The function that is called by its name, of the program or external, or nothing."""
        return self.callee[1:] if self.callee.startswith("@") else ""


@dataclass(frozen=True, slots=True)
class Edge:
    """A jump to a block, which gets the arguments as its parameters."""

    block: str
    arguments: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Jump:
    """Unconditional jump."""

    target: Edge
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Branch:
    """Conditional branch: to `then` where the condition, an i1, is 1."""

    condition: Operand
    then: Edge
    orelse: Edge
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Switch:
    """Multiway branch: to the edge beside the value, or to `default`."""

    value: Operand
    default: Edge
    cases: tuple[tuple[int, Edge], ...]
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Return:
    """Return, with a value where the function has a result."""

    value: Operand | None = None
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Unreachable:
    """Unreachable end: to come here is undefined (LLVM Language Reference Manual, `unreachable`)."""

    place: Place = NOWHERE


Terminator = Jump | Branch | Switch | Return | Unreachable


@dataclass(frozen=True, slots=True)
class Block:
    """Basic block: its parameters, its instructions in order, and the terminator that leaves it."""

    name: str
    parameters: tuple[Value, ...]
    instructions: tuple[Instruction, ...]
    terminator: Terminator


@dataclass(frozen=True, slots=True)
class Data:
    """Named bytes with which a run begins. `addresses` are pointers in it: distances from its beginning, ascending, and
    what is pointed to, in the place of zeros."""

    name: str
    initial: bytes
    align: int = 1
    constant: bool = False
    addresses: tuple[tuple[int, Address], ...] = ()


RESULT: Final = -1
NARROW: Final = (I8, I16)
"""What can be extended with zeros in a call: i1 only so, 32 bits never on RISC-V, which extends their sign."""


@dataclass(frozen=True, slots=True)
class Function:
    """Function: control enters at the first block, whose parameters are the function's and to which nothing jumps.

    `unsigned` has the positions of parameters of type i8 or i16, and `RESULT`, that are unsigned in C: conventions of
    calls extend them with zeros. Nothing else depends on it. `others` are the functions that it and they call, itself
    left out: they have no others, and its data and external functions. `pointers` is the width of pointers in bits, 32
    or 64, for the whole program; `place` that of the definition. `restricted` has the positions of pointers that are
    `restrict` in C (C17, section 6.7.3.1): what is accessed through one is accessed through no other parameter.
    """

    name: str
    result: Type | None
    blocks: tuple[Block, ...]
    data: tuple[Data, ...] = ()
    unsigned: frozenset[int] = frozenset()
    others: tuple[Function, ...] = ()
    externals: tuple[External, ...] = ()
    pointers: int = 64
    place: Place = NOWHERE
    restricted: frozenset[int] = frozenset()

    @property
    def program(self) -> tuple[Function, ...]:
        """The function and the others."""
        return self, *self.others

    @property
    def members(self) -> tuple[Function, ...]:
        """Each function of the program, with the data and with all of the others."""
        return tuple(
            replace(f, data=self.data, externals=self.externals, others=tuple(g for g in self.program if g is not f))
            for f in self.program
        )

    @property
    def address(self) -> Type:
        """The integer that is as wide as a pointer: distances and sizes are such."""
        return ADDRESSES[self.pointers]

    @property
    def parameters(self) -> tuple[Value, ...]:
        return self.blocks[0].parameters


def assume_distinct_arrays(function: Function) -> Function:
    """The function as if each of its pointers were `restrict`: of a program whose arrays never overlap."""
    pointers = (k for k, p in enumerate(function.parameters) if p.type == PTR)
    return replace(function, restricted=frozenset(pointers))


def successor_edges(terminator: Terminator) -> tuple[Edge, ...]:
    """Successor edges: then before else, cases in their order before the default."""
    match terminator:
        case Jump(target):
            return (target,)
        case Branch(_, then, orelse):
            return then, orelse
        case Switch(_, default, cases):
            return (*(edge for _, edge in cases), default)
        case _:
            return ()


def terminator_operand(terminator: Terminator) -> Operand | None:
    """Operand of a terminator: what decides or is returned."""
    match terminator:
        case Branch(value) | Switch(value) | Return(value):
            return value
        case _:
            return None


def replace_edges(
    terminator: Terminator, operand: Callable[[Operand], Operand], edge: Callable[[Edge], Edge]
) -> Terminator:
    """The terminator with other operands and edges, which are asked for in the order of `successor_edges`."""
    place = terminator.place
    match terminator:
        case Jump(target):
            return Jump(edge(target), place)
        case Branch(condition, then, orelse):
            return Branch(operand(condition), edge(then), edge(orelse), place)
        case Switch(value, default, cases):
            # In the order of `successor_edges`, on which callers with state of their own rely.
            moved = tuple([(case, edge(target)) for case, target in cases])
            return Switch(operand(value), edge(default), moved, place)
        case Return(value) if value is not None:
            return Return(operand(value), place)
        case _:
            return terminator


def flow_edges(function: Function) -> npt.NDArray[np.int32]:
    """Control flow graph as an array of shape (m, 2): blocks by position, from and to, in the order of the text."""
    position = {block.name: k for k, block in enumerate(function.blocks)}
    pairs = [
        (k, position[edge.block])
        for k, block in enumerate(function.blocks)
        for edge in successor_edges(block.terminator)
    ]
    return np.array(pairs, np.int32).reshape(-1, 2)


def mentioned_addresses(function: Function) -> Iterator[Address]:
    """The addresses among the operands of the function alone, one for each use."""
    for block in function.blocks:
        edges = successor_edges(block.terminator)
        yield from (o for i in block.instructions for o in i.operands if isinstance(o, Address))
        ends = (terminator_operand(block.terminator), *(a for edge in edges for a in edge.arguments))
        yield from (o for o in ends if isinstance(o, Address))


def integer_constant(type: Type, number: int) -> Constant:
    """The constant that `float_value` wraps to."""
    return Constant(type, wrap_to_type(type, number))


def float_constant(type: Type, number: float) -> Constant:
    """The constant of a float, which must be one of the type."""
    return Constant(type, int.from_bytes(struct.pack(_FORMS[type.bits], number), "little"))


def float_value(constant: Constant) -> float:
    """The float that a constant's bits are."""
    found: float = struct.unpack(
        _FORMS[constant.type.bits], constant.value.to_bytes(constant.type.bits // 8, "little")
    )[0]
    return found


# Patterns of binary32 and binary64 (IEEE 754, section 3.4), little-endian.
_FORMS: Final = {32: "<f", 64: "<d"}


def wrap_to_type(type: Type, number: int) -> int:
    """Integer in a type's range, modulo 2^width (C17, section 6.3.1.3): signed, but for i1 and ptr."""
    width = type.bits
    low = number & ((1 << width) - 1)
    return low - (1 << width) if type.element not in ("i1", "ptr") and low >> (width - 1) else low
