# SPDX-License-Identifier: Apache-2.0
"""Functions in SSA form become the member-independent form: the specializer before it schedules, as two lists of
passes.

- `SSA`: what the member lacks becomes calls of routines; short functions become part of their callers, recursion is
  refused; arrays of a call are data; switches, memcpy and its like are expanded; short loops within loops are unrolled.
- `GENASM`: loops with one entry and closed exits, each innermost one if-converted to a line; invariants before
  loops, sums in the order of least circuits, addresses in the machine's mode, each loaded once; vectors, where asked
  for; counters to 0, what is used behind loops computed there, operations that the member has, jumps threaded,
  additions fused; and the order of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from polyloom.diagnostics import input_error
from polyloom.ir.ssa import SPECULATED
from polyloom.ir.ssa import Function as SsaFunction
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_types import PTR
from polyloom.ir.ssa_verify import definitions
from polyloom.ir.ssa_verify import verify as verify_ssa
from polyloom.passes import Form, Pass, Watch, run_passes
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
from polyloom.targets.belt.front.refuse import refuse
from polyloom.targets.belt.front.share import share_loads
from polyloom.targets.belt.front.simplify import simplify
from polyloom.targets.belt.front.sink import sink
from polyloom.targets.belt.front.threading import thread
from polyloom.targets.belt.front.unroll import unroll
from polyloom.targets.belt.ir import Function, Module
from polyloom.targets.belt.ir_verify import GENASM, verify
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.vectorize.loops import Vectorize, Vectorized, expected, vectorize
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.editing import merge_blocks
from polyloom.transform.ssa.hyperblocks import Speculation, form_hyperblocks


@dataclass(frozen=True, slots=True)
class Options:
    """`distinct`: arrays that are passed never overlap, as those of a Python kernel. `vectorize`: every loop must
    become one over vectors, or those that can do. `reassociate` lets sums of floats change their order; `expect` are
    values of parameters that are likely."""

    distinct: bool = False
    vectorize: Vectorize = "never"
    reassociate: bool = False
    expect: Mapping[str, int] = field(default_factory=dict[str, int])


def import_function(
    function: SsaFunction, machine: Machine, options: Options | None = None, watch: Watch | None = None
) -> Module:
    """The program. Errors: PL1085 to PL1088, PL1090, and PL1091 for a loop that cannot be vectorized."""
    return imported(function, machine, options or Options(), watch)[0]


def imported(
    function: SsaFunction, machine: Machine, options: Options, watch: Watch | None = None
) -> tuple[Module, tuple[Vectorized, ...]]:
    """The program, and what vectorization made of each innermost loop."""
    ready: SsaFunction = run_passes(function, _ssa_passes(machine), watch)
    arrays = {
        member.name: _arrays(member, options.distinct and k == 0, k == 0) for k, member in enumerate(ready.program)
    }
    found: list[Vectorized] = []
    module: Module = run_passes(ready, _passes(machine, options, arrays, found), watch)
    return verify(module), tuple(found)


SPECULATION: Final = Speculation(frozenset(SPECULATED), frozenset({"store", "call"}))
"""A failed load or division gives NaR, which harms nobody who does not store it; a store of None is not done."""
_SSA: Final = Form(print_ssa, verify_ssa)
PASSES: Final = (
    *("emulate", "inline", "arrays", "expand", "common", "unroll", "hyperblocks"),
    *("build", "hoist", "reassociate", "addresses", "share", "expect", "order", "vectorize"),
    *("count", "sink", "lacking", "thread", "fuse", "order_again"),
)
"""The names of the passes, in their order."""


def _ssa_passes(machine: Machine) -> tuple[Pass[SsaFunction, SsaFunction], ...]:
    """The program in SSA form as `build` takes it. Errors: PL1085, PL1086, PL1088, PL1090."""
    return (
        Pass("emulate", partial(_emulated, machine=machine), _SSA),
        Pass("inline", inline, _SSA),
        Pass("arrays", own_arrays, _SSA),
        # An expanded switch needs blocks that end where they are used; an expanded move splits its block.
        Pass("expand", lambda f: merge_blocks(moves(switches(settled(f)))), _SSA),
        # Sizes are constants only where what computes them has been folded.
        Pass("common", lambda f: dce(common(f)), _SSA),
        Pass("unroll", lambda f: dce(common(unroll(f))), _SSA),
        Pass("hyperblocks", lambda f: form_hyperblocks(f, SPECULATION), _SSA),
    )


def _passes(
    machine: Machine, options: Options, arrays: Mapping[str, Arrays], found: list[Vectorized]
) -> tuple[Pass[Any, Module], ...]:
    """From SSA form to operations of the member; `found` gets what became of loops."""

    def vectors(module: Module) -> Module:
        made, loops = vectorize(module, machine, options.vectorize, options.reassociate)
        found.extend(loops)
        return made

    def order(module: Module) -> Module:
        return ordered(module, dict(arrays))

    return (
        Pass("build", _built, GENASM),
        _each("hoist", lambda f: hoist(simplify(f), arrays[f.name])),
        _each("reassociate", lambda f: reassociate(simplify(f), names(f))),
        _each("addresses", lambda f: addresses(simplify(f), names(f))),
        _each("share", lambda f: share_loads(simplify(f), arrays[f.name])),
        _each("expect", lambda f: expected(simplify(f), options.expect)),
        Pass("order", order, GENASM),
        Pass("vectorize", vectors, GENASM),
        _each("count", lambda f: count_down(simplify(f), names(f))),
        _each("sink", lambda f: sink(simplify(f), names(f))),
        _each("lacking", lambda f: substitute(simplify(f), machine, names(f))),
        _each("thread", lambda f: thread(simplify(f))),
        _each("fuse", lambda f: fuse(f) if machine.fuses else f),
        # Once more: loops are others now.
        Pass("order_again", order, GENASM),
    )


def _each(name: str, change: Callable[[Function], Function]) -> Pass[Module, Module]:
    """A pass over each function by itself."""
    return Pass(name, lambda module: replace(module, functions=tuple(map(change, module.functions))), GENASM)


def _built(ready: SsaFunction) -> Module:
    return Module(tuple(map(build, ready.members)), ready.data)


def _emulated(function: SsaFunction, machine: Machine) -> SsaFunction:
    if function.pointers != 32:
        help = "read it with pointers of 32 bits, as --target=riscv32-unknown-elf does"
        raise input_error("PL1088", f"{function.name} has pointers of {function.pointers} bits", help=help)
    return emulate(refuse(function), machine)


def _arrays(function: SsaFunction, distinct: bool, outside: bool) -> Arrays:
    pointers = {p.name: k for k, p in enumerate(function.parameters) if p.type == PTR}
    alone = {name for name, k in pointers.items() if distinct or k in function.restricted}
    others = {v.name for block in function.blocks for v in definitions(block) if v.type == PTR} - set(pointers)
    return Arrays(frozenset(pointers), frozenset(alone), frozenset(others), outside)
