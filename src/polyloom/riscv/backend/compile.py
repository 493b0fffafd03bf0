# SPDX-License-Identifier: Apache-2.0
"""Pipeline of the RISC-V backend: a C function in SSA form, with those that it calls, to a static ELF executable.

    SSA form -> scalar code and loops (transform/ssa) -> legal operations -> common subexpressions, dead code
    -> addresses in loops -> critical edges split, blocks in order -> out of SSA form
    -> instruction selection -> constants out of loops -> list scheduling -> linear-scan allocation, checked -> frame ->
    words -> ELF

Scheduling and hoisting lengthen live ranges; where that makes the allocation spill more, they are undone (the phase
order problem of scheduling and allocation: Goodman and Hsu, 1988).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from polyloom.ir.ssa import NOWHERE, Function, Place
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_verify import verify, verify_variables
from polyloom.passes import Form, Pass, Watch, run_passes
from polyloom.riscv.backend import code_verify
from polyloom.riscv.backend.allocate import allocate
from polyloom.riscv.backend.branches import convert_selects
from polyloom.riscv.backend.check import check_allocation
from polyloom.riscv.backend.code import Code
from polyloom.riscv.backend.data import Layout
from polyloom.riscv.backend.expand import expand
from polyloom.riscv.backend.hoist import FEW, hoist_constants
from polyloom.riscv.backend.latches import straighten_latches
from polyloom.riscv.backend.legalize import legalize
from polyloom.riscv.backend.limits import check_size
from polyloom.riscv.backend.link import executable, link_functions
from polyloom.riscv.backend.live import eliminate_dead_code
from polyloom.riscv.backend.lower import lower
from polyloom.riscv.backend.order import order_blocks
from polyloom.riscv.backend.propagate import propagate_copies
from polyloom.riscv.backend.returns import duplicate_returns
from polyloom.riscv.backend.schedule import schedule
from polyloom.riscv.backend.sink import sink_steps
from polyloom.riscv.backend.words import Marked
from polyloom.riscv.names import Isa, parse_isa
from polyloom.transform.ssa.carried_loads import carry_loads
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.destruct import destruct, split_critical_edges
from polyloom.transform.ssa.exit_tests import equality_tests
from polyloom.transform.ssa.hoist import hoist
from polyloom.transform.ssa.if_convert import Cost, if_convert
from polyloom.transform.ssa.index_widening import widen_indices
from polyloom.transform.ssa.redundant_loads import forward_loads
from polyloom.transform.ssa.rotate import rotate
from polyloom.transform.ssa.select_identities import sink_into_selects
from polyloom.transform.ssa.simplify import simplify
from polyloom.transform.ssa.split_variables import split_variables
from polyloom.transform.ssa.stores import remove_dead_stores, sink_stores
from polyloom.transform.ssa.strength_reduction import reduce_strength
from polyloom.transform.ssa.unroll import unroll
from polyloom.transform.ssa.widen_counters import widen_counters


@dataclass(frozen=True, slots=True)
class Compiled:
    """Result of a compilation: the ELF file, and the size in bytes of its instructions, which begin at the address
    `entry`.
    """

    elf: bytes
    entry: int
    code_bytes: int


Places = Mapping[int, Place]
"""From which address on which place of the source holds."""


def compile_function(
    function: Function, isa: Isa, note: Callable[[Places], bytes] | None = None, watch: Watch | None = None
) -> Compiled:
    """Compilation of a function and its callees to one executable. `note` gives the bytes of the ELF note, from the
    place of each instruction.

    Errors: PL0930 for what the instruction set cannot do, PL0931 for what is not supported, PL0932 for what is too
    long, PL0933 for too many values in too many blocks.
    """
    # Data come first, at fixed addresses: selection can then fold a datum's address into `lui` and the offset of a
    # load. Functions are placed last, when their sizes are known.
    layout = Layout(function.data)
    codes = [finish_code(code, watch) for code in lower_functions(function, isa, layout, watch)]
    linked, starts = link_functions(codes)
    functions = {name: layout.end + start for name, start in starts.items()}
    data = layout.linked(functions, function.pointers // 8)
    places = {layout.end + at: place for at, place in source_places(linked, starts, function).items()}
    text = b"" if note is None else note(places)
    return Compiled(executable(data, layout.end, linked.words, isa, starts, text), layout.end, len(linked.words))


def source_places(linked: Marked, starts: Mapping[str, int], function: Function) -> Places:
    """Source places of the instructions, by offset in the code. An instruction without a line belongs to the beginning
    of its function, if that is one of the program's.
    """
    homes = {member.name: member.place for member in function.program}
    ordered = sorted((at, homes.get(name, NOWHERE)) for name, at in starts.items())
    begins = [at for at, _ in ordered]

    def place_in_function(at: int, place: Place) -> Place:
        home = ordered[bisect_right(begins, at) - 1][1]
        return place if place.line else replace(home, column=0, reason=place.reason)

    return {at: place_in_function(at, place) for at, place in linked.places.items()}


def lower_functions(function: Function, isa: Isa, layout: Layout, watch: Watch | None = None) -> list[Code]:
    """Machine code over virtual registers, of the function and of its callees, in the order of the program."""
    codes: list[Code] = run_passes(function, _passes(isa, layout), watch)
    return codes


def finish_code(code: Code, watch: Watch | None = None) -> Code:
    """Allocation, loop latches and frame: code over virtual registers to instructions that have an encoding."""
    done: Code = run_passes(allocate_registers(code, watch), _LAST, watch)
    return done


def _print_codes(codes: list[Code]) -> str:
    return "\n\n".join(map(_print_code, codes))


def _print_code(code: Code) -> str:
    return f"# {code.name}\n{code}"


_SSA: Final = Form(print_ssa, verify)
_VARIABLES: Final = Form(print_ssa, verify_variables)
_CODES: Final = Form(_print_codes, lambda codes: [code_verify.verify(code) for code in codes])
_CODE: Final = Form(_print_code, code_verify.verify)
_EXPANDED: Final = Form(_print_code, lambda code: code)
"""Without a verifier: words are made of it next, and what has no encoding is found there."""


def _with_simplification(change: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """A pass followed by simplification, so that no pass has to leave short code."""
    return lambda function: simplify(change(function))


IF_CONVERSION: Final = Cost(branch=3)
"""A branch costs more where its outcome is random, but short-circuit conditions then run whole: one select in place of
two instructions at most. Selects that the instruction set has no short sequence for become branches again."""
SCALAR_PASSES: Final[tuple[Pass[Any, Any], ...]] = (
    Pass("simplify", simplify, _SSA),
    # Before "rotate": the test of a loop that is not rotated yet stands in front of its body, and bounds the counter.
    Pass("widen", _with_simplification(widen_counters), _SSA),
    Pass("rotate", _with_simplification(rotate), _SSA),
    Pass("unroll", unroll, _SSA),
    # Behind "unroll", which makes indices of small arrays constants.
    Pass("split-variables", _with_simplification(split_variables), _SSA),
    Pass("hoist-invariants", lambda function: common(hoist(common(function))), _SSA),
    Pass("forward-loads", _with_simplification(forward_loads), _SSA),
    Pass("carry-loads", _with_simplification(lambda function: carry_loads(common(function))), _SSA),
    Pass("stores", _with_simplification(lambda function: sink_stores(remove_dead_stores(function))), _SSA),
    Pass("if-convert", _with_simplification(partial(if_convert, cost=IF_CONVERSION)), _SSA),
    # Behind what makes the bounds of a guard and of a loop's end one value.
    Pass("equality", _with_simplification(equality_tests), _SSA),
)


def _passes(isa: Isa, layout: Layout) -> tuple[Pass[Any, Any], ...]:
    """Pass list from SSA form to code over virtual registers. The functions of a program go through it together."""
    return (
        Pass("ssa", lambda function: function, _SSA),
        *SCALAR_PASSES,
        # Legal operations first: what the next passes share and number should be what the machine executes.
        Pass("legalize", partial(legalize, isa=isa), _SSA),
        Pass("common", common, _SSA),
        Pass("dce", dce, _SSA),
        # First it shows that indices of 32 bits do not wrap, then their addresses can become pointers that step: each
        # array access then costs one instruction.
        Pass("unwrap", widen_indices, _SSA),
        Pass("strength", reduce_strength, _SSA),
        Pass("identities", sink_into_selects, _SSA),
        # Behind what rewrites loops: a loop of one block is easier to rewrite.
        Pass("branch", partial(convert_selects, isa=isa), _SSA),
        # Before "order": that pass names edges by blocks, and before "destruct", whose copies stand on edges.
        Pass("edges", split_critical_edges, _SSA),
        # Behind "edges", which makes jumps of branches.
        Pass("returns", duplicate_returns, _SSA),
        Pass("order", order_blocks, _SSA),
        # Behind "order": what is behind a block is no loop's beginning.
        Pass("sink", sink_steps, _SSA),
        Pass("destruct", destruct, _VARIABLES),
        Pass("lower", lambda plain: [lower(member, isa, layout) for member in plain.members], _CODES),
        # Selection folds operations into their users; those that are folded everywhere are dead here.
        Pass("clean", lambda codes: [eliminate_dead_code(propagate_copies(code)) for code in codes], _CODES),
    )


# Both run before allocation, on virtual registers: after it, false dependences through reused registers would bind the
# order (Goodman and Hsu 1988).
_HOIST: Final = Pass("hoist", hoist_constants, _CODE)
_HOIST_FEW: Final = Pass("hoist", partial(hoist_constants, most=FEW), _CODE)
_SCHEDULE: Final = Pass("schedule", schedule, _CODE)
_WAYS: Final[tuple[tuple[Pass[Code, Code], ...], ...]] = (
    (_HOIST, _SCHEDULE),
    (_HOIST,),
    (_HOIST_FEW, _SCHEDULE),
    (_HOIST_FEW,),
    (),
)
"""What may be done before the allocation, the best first."""
# After allocation: only then is it known which copies on back edges are left, and how large the frame is.
_LAST: Final = (Pass("latches", straighten_latches, _CODE), Pass("expand", expand, _EXPANDED))
PASSES: Final = (
    *(each.name for each in _passes(parse_isa("rv64gc"), Layout(()))),
    "hoist",
    "schedule",
    "allocate",
    "latches",
    "expand",
)
"""The names of all passes, in their order."""


def allocate_registers(code: Code, watch: Watch | None = None) -> Code:
    """Register allocation with fallback: scheduled and with constants hoisted, unless that costs spill slots.

    The ways of `_WAYS` are tried in turn until one needs no slot; else the one with the fewest slots is taken. Errors:
    PL0933.
    """
    check_size(code)
    watch = watch or Watch()
    best: tuple[Code, Watch] | None = None
    for way in _WAYS:
        # A dump must show the way that was taken, not those that were tried before.
        own = watch.fork()
        changed: Code = run_passes(code, way, own)
        found: Code = run_passes(changed, (Pass("allocate", partial(_allocate_and_check, changed), _CODE),), own)
        # Each earlier transformation lengthens live ranges. A spill costs more than either of them saves.
        if best is None or found.slots < best[0].slots:
            best = found, own
        if best[0].slots == 0:
            break
    assert best is not None
    watch.join(best[1])
    return best[0]


def _allocate_and_check(changed: Code, code: Code) -> Code:
    """Allocation, then its translation validation (check.py) against the code before it."""
    return check_allocation(changed, allocate(code))
