# SPDX-License-Identifier: Apache-2.0
"""Functions in SSA form become the member-independent form: the specializer before it schedules, on one page.

inlining, recursion refused -> arrays of a call as data -> switches, memcpy expanded -> common subexpressions, dead
code -> short loops within loops unrolled -> loops with one entry and closed exits -> one line per innermost loop
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from polyloom.diagnostics import input_error
from polyloom.ir.ssa import Function as SsaFunction
from polyloom.ir.ssa_types import PTR
from polyloom.ir.ssa_verify import definitions
from polyloom.targets.belt.front.addresses import addresses
from polyloom.targets.belt.front.build import build
from polyloom.targets.belt.front.counter import count_down
from polyloom.targets.belt.front.expand import moves, own_arrays, settled, switches
from polyloom.targets.belt.front.fuse import fuse
from polyloom.targets.belt.front.hoist import hoist
from polyloom.targets.belt.front.inline import inline
from polyloom.targets.belt.front.order import Arrays, ordered
from polyloom.targets.belt.front.simplify import simplify
from polyloom.targets.belt.front.sink import sink
from polyloom.targets.belt.front.unroll import unroll
from polyloom.targets.belt.ir import Data, Function, Module
from polyloom.targets.belt.ir_verify import defined, verify
from polyloom.targets.belt.machine import Machine
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


def import_function(function: SsaFunction, machine: Machine, *, distinct: bool = False) -> Module:
    """The program. `distinct`: arrays that are passed never overlap, as those of a Python kernel. Errors: PL1085 to
    PL1088."""
    ready = prepared(function)
    data = tuple(Data(d.name, d.initial, d.align, d.constant) for d in ready.data)
    arrays = {member.name: _arrays(member, distinct and k == 0, k == 0) for k, member in enumerate(ready.program)}
    functions = tuple(lean(build(member), arrays[member.name], machine) for member in ready.members)
    return verify(ordered(Module(functions, data), arrays))


def lean(function: Function, arrays: Arrays, machine: Machine) -> Function:
    """The function with loops of few operations and few drops."""
    fresh = names(function)
    function = simplify(hoist(simplify(function), arrays))
    function = simplify(addresses(function, fresh))
    function = simplify(sink(simplify(count_down(function, fresh)), fresh))
    return fuse(function) if machine.fuses else function


def names(function: Function) -> Callable[[str], str]:
    """New names of values, after a given one."""
    taken = {value.name for block in function.blocks for value in defined(block)}
    numbers = count(1)

    def fresh(name: str) -> str:
        base = name.partition("'")[0]
        while (found := f"{base}'{next(numbers)}".replace("'", ".")) in taken:
            pass
        taken.add(found)
        return found

    return fresh


def _arrays(function: SsaFunction, distinct: bool, outside: bool) -> Arrays:
    pointers = {p.name: k for k, p in enumerate(function.parameters) if p.type == PTR}
    alone = {name for name, k in pointers.items() if distinct or k in function.restricted}
    others = {v.name for block in function.blocks for v in definitions(block) if v.type == PTR} - set(pointers)
    return Arrays(frozenset(pointers), frozenset(alone), frozenset(others), outside)
