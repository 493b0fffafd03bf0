# SPDX-License-Identifier: Apache-2.0
"""Functions in SSA form become the member-independent form: the specializer before it schedules, on one page.

- In SSA form (`prepared`): what the member lacks becomes calls of routines; short functions become part of their
  callers, recursion is refused; arrays of a call are data; switches, memcpy and its like are expanded; short loops
  within loops are unrolled.
- `build`: loops with one entry and closed exits; each innermost one if-converted to a line.
- `_addressed`: invariants before loops, sums in the order of least circuits, addresses in the machine's mode,
  each loaded once.
- `vectorize`, where asked for; then `_lean`: counters to 0, what is used behind loops computed there, operations that
  the member has, jumps threaded, additions fused; and the order of memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from polyloom.diagnostics import input_error
from polyloom.ir.ssa import Function as SsaFunction
from polyloom.ir.ssa_types import PTR
from polyloom.ir.ssa_verify import definitions
from polyloom.targets.belt.front.addresses import addresses
from polyloom.targets.belt.front.build import build
from polyloom.targets.belt.front.counter import count_down
from polyloom.targets.belt.front.emulate import emulate
from polyloom.targets.belt.front.expand import moves, own_arrays, settled, switches
from polyloom.targets.belt.front.fresh import names
from polyloom.targets.belt.front.fuse import fuse
from polyloom.targets.belt.front.hoist import hoist
from polyloom.targets.belt.front.inline import inline
from polyloom.targets.belt.front.lacking import substitute
from polyloom.targets.belt.front.order import Arrays, ordered
from polyloom.targets.belt.front.reassociate import reassociate
from polyloom.targets.belt.front.share import share_loads
from polyloom.targets.belt.front.simplify import simplify
from polyloom.targets.belt.front.sink import sink
from polyloom.targets.belt.front.threading import thread
from polyloom.targets.belt.front.unroll import unroll
from polyloom.targets.belt.ir import Function, Module
from polyloom.targets.belt.ir_verify import verify
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.vectorize.loops import Vectorize, Vectorized, expected, vectorize
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.editing import merge_blocks


def prepared(function: SsaFunction) -> SsaFunction:
    """The program in SSA form as the importer takes it. Errors: PL1085, PL1086, PL1088."""
    if function.pointers != 32:
        help = "read it with pointers of 32 bits, as --target=riscv32-unknown-elf does"
        raise input_error("PL1088", f"{function.name} has pointers of {function.pointers} bits", help=help)
    function = own_arrays(inline(function))
    function = merge_blocks(moves(switches(settled(function))))
    return dce(common(unroll(dce(common(function)))))


@dataclass(frozen=True, slots=True)
class Options:
    """`distinct`: arrays that are passed never overlap, as those of a Python kernel. `vectorize`: every loop must
    become one over vectors, or those that can do. `reassociate` lets sums of floats change their order; `expect` are
    values of parameters that are likely."""

    distinct: bool = False
    vectorize: Vectorize = "never"
    reassociate: bool = False
    expect: Mapping[str, int] = field(default_factory=dict[str, int])


def import_function(function: SsaFunction, machine: Machine, options: Options | None = None) -> Module:
    """The program. Errors: PL1085 to PL1088, PL1090, and PL1091 for a loop that cannot be vectorized."""
    return imported(function, machine, options or Options())[0]


def imported(function: SsaFunction, machine: Machine, options: Options) -> tuple[Module, tuple[Vectorized, ...]]:
    """The program, and what vectorization made of each innermost loop."""
    ready = prepared(emulate(function, machine))
    arrays = {
        member.name: _arrays(member, options.distinct and k == 0, k == 0) for k, member in enumerate(ready.program)
    }
    addressed = tuple(_addressed(build(member), arrays[member.name], options.expect) for member in ready.members)
    module = ordered(Module(addressed, ready.data), arrays)
    module, found = vectorize(module, machine, options.vectorize, options.reassociate)
    functions = tuple(_lean(f, machine) for f in module.functions)
    return verify(ordered(replace(module, functions=functions), arrays)), found


def _addressed(function: Function, arrays: Arrays, expect: Mapping[str, int]) -> Function:
    """The function with invariants before loops, and addresses in the machine's mode."""
    fresh = names(function)
    function = reassociate(simplify(hoist(simplify(function), arrays)), fresh)
    function = simplify(share_loads(simplify(addresses(function, fresh)), arrays))
    return expected(function, expect)


def _lean(function: Function, machine: Machine) -> Function:
    """The function with loops of few operations and few drops, in operations of the member."""
    fresh = names(function)
    function = simplify(sink(simplify(count_down(simplify(function), fresh)), fresh))
    function = thread(simplify(substitute(function, machine, fresh)))
    return fuse(function) if machine.fuses else function


def _arrays(function: SsaFunction, distinct: bool, outside: bool) -> Arrays:
    pointers = {p.name: k for k, p in enumerate(function.parameters) if p.type == PTR}
    alone = {name for name, k in pointers.items() if distinct or k in function.restricted}
    others = {v.name for block in function.blocks for v in definitions(block) if v.type == PTR} - set(pointers)
    return Arrays(frozenset(pointers), frozenset(alone), frozenset(others), outside)
