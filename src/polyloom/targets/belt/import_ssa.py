# SPDX-License-Identifier: Apache-2.0
"""Functions in SSA form become the member-independent form: the specializer before it schedules, on one page.

inlining, recursion refused -> arrays of a call as data -> switches, memcpy expanded -> common subexpressions, dead
code -> short loops within loops unrolled -> loops with one entry and closed exits -> one line per innermost loop
"""

from __future__ import annotations

from polyloom.diagnostics import input_error
from polyloom.ir import ssa
from polyloom.ir.ssa import Function as SsaFunction
from polyloom.targets.belt.front.build import build
from polyloom.targets.belt.front.expand import moves, own_arrays, settled, switches
from polyloom.targets.belt.front.inline import inline
from polyloom.targets.belt.front.unroll import unroll
from polyloom.targets.belt.ir import Data, Module
from polyloom.targets.belt.ir_verify import verify
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
    del machine, distinct
    ready = prepared(function)
    functions = tuple(build(member)[0] for member in ready.members)
    data = tuple(Data(d.name, d.initial, d.align, d.constant) for d in ready.data)
    return verify(Module(functions, data))


__all__ = ["import_function", "prepared", "ssa"]
