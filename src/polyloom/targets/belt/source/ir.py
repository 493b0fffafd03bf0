# SPDX-License-Identifier: Apache-2.0
"""Intermediate representation of member-independent belt code: the form that *genasm* prints, and that the specializer
works on (docs/targets/belt.md, A loop from C to the torus).

    function dot(%n: w, %x: w, %y: w) -> w
    entry:  %t = leqs %n, 0            a block of open code: operations, then one terminator
            branch %t, done(0), loop(0, 0)
    loop (%i, %s):                     an innermost loop: one straight line, if-converted, with leave operations in it
            %a = load w %x, %i * 4     ...
            leave %q, done(%s2)        where %q is true the loop ends, with these results
            next %i2, %s2              what the parameters are in the next iteration
    done (%r: w):  return %r

A value has a width (b h w d q for 1 2 4 8 16 bytes) and a number of lanes, never a register or a position; operations
take their width from their operands' tags. A value is defined once and dominates its uses (SSA form, Cytron et al.
1991, with block parameters in place of phi functions). Control enters a loop as it enters a block: the arguments of the
edge are the parameters' initial values (the machine's `inner`). A loop is a hyperblock (Mahlke et al. 1992): one entry,
several exits. Operations stand in the order of the program, which is the order of loads, stores, calls and leaves
unless `order` says less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from polyloom.ir.ssa import NOWHERE, Data, Instruction, Place
from polyloom.targets.belt.value_types import Type, Width


@dataclass(frozen=True, slots=True)
class Value:
    """SSA value. Names are unique in the function."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Constant:
    """Constant: the bits as an unsigned number, the same in every lane."""

    type: Type
    bits: int


@dataclass(frozen=True, slots=True)
class Nothing:
    """None: what is computed with it is None, what it would store is not stored (docs/targets/belt.md, Values and
    faults)."""

    type: Type


@dataclass(frozen=True, slots=True)
class Address:
    """Address of a datum of the program, plus bytes; a w."""

    name: str
    offset: int = 0

    @property
    def type(self) -> Type:
        return Type("w")


Operand = Value | Constant | Nothing | Address


@dataclass(frozen=True, slots=True)
class Edge:
    """Control-flow edge to a block or into a loop, which gets the arguments as its parameters."""

    target: str
    arguments: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Op:
    """Operation `results = name operands`; the name is a mnemonic of `isa.OPS`.

    `width` is that of memory (load, store) or of the result (con, widen, narrow, conversions). A load's operands are
    its base and, with `scale`, an index: the address is base + index * scale + offset; a store's value is its last
    operand; of a wider value it stores the low bytes. A volatile access is done once, in its place among others.
    `callee` is a call's function; `edge` is where a leave goes. A predicate comes first. `memory` is the access or the
    call in SSA form, whose dependences `order` follows; texts have none.
    """

    name: str
    operands: tuple[Operand, ...] = ()
    results: tuple[Value, ...] = ()
    width: Width | None = None
    scale: int = 0
    offset: int = 0
    callee: str = ""
    edge: Edge | None = None
    place: Place = NOWHERE
    volatile: bool = False
    # Left out of comparisons: a module that was printed and read back has no SSA form beside it.
    memory: Instruction | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Order:
    """Memory dependence: the operation at position `sink` may not act before that at `source`, `distance` iterations
    earlier.

    Both are positions in `ops`, of loads, stores or calls. Leaves are ordered by the program and not named here.
    """

    source: int
    sink: int
    distance: int = 0


@dataclass(frozen=True, slots=True)
class Jump:
    """Unconditional jump along an edge."""

    edge: Edge
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Branch:
    """Conditional branch to `then` where the condition's low bit is 1. `likely` is the sense that a profile found, None
    without one."""

    condition: Operand
    then: Edge
    orelse: Edge
    likely: bool | None = None
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Return:
    """Return of the function's results."""

    values: tuple[Operand, ...] = ()
    place: Place = NOWHERE


Terminator = Jump | Branch | Return


def map_end_edges(end: Terminator, change: Callable[[Edge], Edge]) -> Terminator:
    """Terminator with every edge changed."""
    match end:
        case Jump(edge):
            return replace(end, edge=change(edge))
        case Branch(_, then, orelse):
            return replace(end, then=change(then), orelse=change(orelse))
        case Return():
            return end


@dataclass(frozen=True, slots=True)
class Block:
    """Basic block of open code. Values of blocks that dominate it may be used beside its parameters."""

    name: str
    parameters: tuple[Value, ...]
    ops: tuple[Op, ...]
    terminator: Terminator
    order: tuple[Order, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """Innermost loop, one hyperblock. After the last operation the next iteration begins, with `next` as parameters.

    `order` has, with distances, every pair of accesses that may meet. `expected` is the number of iterations that the
    source, a pragma or the user tells. `reason` says why it is not to be pipelined; empty where it may be.
    """

    name: str
    parameters: tuple[Value, ...]
    ops: tuple[Op, ...]
    next: tuple[Operand, ...]
    order: tuple[Order, ...] = ()
    expected: int | None = None
    reason: str = ""
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Function:
    """Function of a module. Control enters at the first block, whose parameters are the function's. Pointers are w."""

    name: str
    results: tuple[Type, ...]
    blocks: tuple[Block | Loop, ...]
    place: Place = NOWHERE


@dataclass(frozen=True, slots=True)
class Module:
    """Whole program: the function that is run comes first, then those that it calls."""

    functions: tuple[Function, ...]
    data: tuple[Data, ...] = field(default=())
