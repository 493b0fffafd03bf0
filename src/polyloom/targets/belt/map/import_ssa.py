# SPDX-License-Identifier: Apache-2.0
"""Importer of functions in SSA form into the member-independent form: the specializer before it schedules, as two lists
of passes (I. Godard, "Pipelining": emulation substitution, inlining, if-conversion; docs/targets/belt.md, A loop from C
to the torus).

- `ir.ssa`: what the member lacks becomes calls of routines; short functions become part of their callers, recursion is
  refused; arrays of a call are data; switches, memcpy and its like are expanded; short loops within loops are unrolled;
  short branches become picks, innermost loops hyperblocks; invariants move before loops, sums get the order of least
  circuits, each address is loaded once; vectors, where asked for; counters to 0, addresses in the machine's mode, what
  is used behind loops computed there.
- genasm: operations selected, those that the member lacks replaced, additions fused; and the order of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from polyloom.analysis.aliases import Aliases
from polyloom.diagnostics import PolyloomError, infeasible, input_error
from polyloom.ir.ssa import SPECULATED, Instruction, assume_distinct_arrays
from polyloom.ir.ssa import Function as SsaFunction
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_verify import verify as verify_ssa
from polyloom.passes import Form, Pass, Watch, run_passes
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.map.select.build import select_operations
from polyloom.targets.belt.map.select.dead_code import eliminate_dead_code
from polyloom.targets.belt.map.select.emulate import EMULATED, emulate
from polyloom.targets.belt.map.select.fuse import fuse_additions
from polyloom.targets.belt.map.select.lower import OFFSET_BITS, SCALES, belt_type, product_words, selected_name
from polyloom.targets.belt.map.select.order import order_memory
from polyloom.targets.belt.map.select.refuse import refuse_unsupported
from polyloom.targets.belt.map.select.vectors import check_vectorized, make_vectorizer
from polyloom.targets.belt.source.ir import Function, Module
from polyloom.targets.belt.source.ir_verify import GENASM, verify
from polyloom.transform.ssa.address_modes import AddressMode, select_addresses
from polyloom.transform.ssa.common import common
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.exit_test_replacement import replace_loop_tests
from polyloom.transform.ssa.expand_moves import expand_moves
from polyloom.transform.ssa.expand_operations import Lacks, Refusal, expand_operations
from polyloom.transform.ssa.freeze_undefined import freeze_undefined
from polyloom.transform.ssa.function_editing import merge_blocks
from polyloom.transform.ssa.hoist import HoistCosts, hoist
from polyloom.transform.ssa.hyperblocks import form_hyperblocks
from polyloom.transform.ssa.if_convert import Cost, if_convert
from polyloom.transform.ssa.inlining import InlineCosts, inline
from polyloom.transform.ssa.loop_closed import close_loops
from polyloom.transform.ssa.lower_switches import lower_switches
from polyloom.transform.ssa.reassociate import reassociate_recurrences
from polyloom.transform.ssa.redundant_loads import forward_loads
from polyloom.transform.ssa.simplify import simplify
from polyloom.transform.ssa.sinking import sink
from polyloom.transform.ssa.speculation import Speculation
from polyloom.transform.ssa.static_arrays import static_arrays
from polyloom.transform.ssa.unroll import UnrollCosts, unroll
from polyloom.transform.ssa.vectorize.vectorize import Vectorize, Vectorized, VectorMachine


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the import. `distinct`: arrays that are passed never overlap, as those of a Python kernel.
    `vectorize`: every loop must become one over vectors, or those that can do. `reassociate` lets sums of floats change
    their order; `expect` are values of parameters that are likely."""

    distinct: bool = False
    vectorize: Vectorize = "never"
    reassociate: bool = False
    expect: Mapping[str, int] = field(default_factory=dict[str, int])


def import_function(
    function: SsaFunction, machine: Machine, options: Options | None = None, watch: Watch | None = None
) -> Module:
    """Import a function and what it calls. Errors: PL1085 to PL1088, PL1090, and PL1091 for a loop that cannot be
    vectorized."""
    return import_with_facts(function, machine, options or Options(), watch)[0]


def import_with_facts(
    function: SsaFunction, machine: Machine, options: Options, watch: Watch | None = None
) -> tuple[Module, tuple[Vectorized, ...]]:
    """Imported program, and what vectorization made of each innermost loop."""
    found: list[Vectorized] = []
    function = assume_distinct_arrays(function) if options.distinct else function
    ready: SsaFunction = run_passes(function, _ssa_passes(machine, options, found), watch)
    module: Module = run_passes(ready, _passes(machine, options), watch)
    return verify(module), tuple(found)


INLINING: Final = InlineCosts(keeps=lambda name: name.startswith(EMULATED))
"""Routines stay calls: they come in parts that fit into the scratch of the smallest member."""
UNROLLING: Final = UnrollCosts(trips=320, instructions=320, nested=True)
"""So that the loop around becomes innermost and pipelines."""
MODE: Final = AddressMode(SCALES, OFFSET_BITS)
SPECULATION: Final = Speculation(frozenset(SPECULATED), frozenset({"store", "call"}))
"""A failed load or division gives NaR, which harms nobody who does not store it; a store of None is not done."""
IF_CONVERSION: Final = Cost(select=1, branch=6)
"""A pick is one operation; a branch ends a bundle's block and costs the operations that would fill the bundles."""
_SSA: Final = Form(print_ssa, verify_ssa)
# A tuple of names beside the passes: `--print-after` lists them before a machine is known.
PASSES: Final = (
    *("emulate", "inline", "arrays", "expand", "common", "unroll", "if-convert", "hyperblocks"),
    *("hoist", "reassociate", "loads", "vectorize", "count", "addresses", "legalize", "close", "sink"),
    *("build", "fuse", "order"),
)
"""The names of the passes, in their order."""


def _ssa_passes(
    machine: Machine, options: Options, found: list[Vectorized]
) -> tuple[Pass[SsaFunction, SsaFunction], ...]:
    """Passes over SSA form, up to what `build` takes; `found` gets what became of loops. Errors: PL1085, PL1086,
    PL1088, PL1090, PL1091."""
    vectors = VectorMachine(machine.vector, options.reassociate, options.expect)

    def vectorize_loops(program: SsaFunction) -> SsaFunction:
        if options.vectorize == "never":
            return program
        made = clean(_map_members(make_vectorizer(vectors, found))(program))
        return check_vectorized(made, found) if options.vectorize == "always" else made

    return (
        # Before inlining: the calls of routines are then ordinary ones, and short routines disappear.
        Pass("emulate", partial(_emulate_operations, machine=machine), _SSA),
        Pass("inline", lambda f: inline(f, INLINING), _SSA),
        # After inlining: an array of a function that is inlined is one of its caller.
        Pass("arrays", static_arrays, _SSA),
        # An expanded switch needs blocks that end where they are used; an expanded move splits its block.
        Pass("expand", lambda f: merge_blocks(expand_moves(lower_switches(freeze_undefined(f)))), _SSA),
        # Sizes are constants only where what computes them has been folded.
        Pass("common", clean, _SSA),
        # Before hyperblocks: a loop whose inner loop is unrolled becomes innermost itself, and is pipelined.
        Pass("unroll", lambda f: clean(unroll(f, UNROLLING)), _SSA),
        # What hyperblocks would select under predicates of several branches, hammocks select under their own.
        Pass("if-convert", lambda f: clean(if_convert(f, IF_CONVERSION, speculation=SPECULATION)), _SSA),
        Pass("hyperblocks", lambda f: form_hyperblocks(f, SPECULATION), _SSA),
        # After hyperblocks: what a branch guarded may now move, because speculation harms nothing on this machine.
        Pass("hoist", lambda f: clean(_map_members(_hoist_invariants)(f)), _SSA),
        Pass("reassociate", reassociate_recurrences, _SSA),
        Pass("loads", lambda f: clean(_map_members(forward_loads)(f)), _SSA),
        # The vectorizer takes superblocks; a load that another one makes redundant would be one more stream to it.
        Pass("vectorize", vectorize_loops, _SSA),
        Pass("count", lambda f: clean(replace_loop_tests(f)), _SSA),
        # Late: vectorization needs plain address arithmetic to find strides.
        Pass("addresses", lambda f: clean(select_addresses(f, MODE)), _SSA),
        Pass("legalize", lambda f: clean(expand_operations(f, *_legalization_rules(machine))), _SSA),
        # Last but one: every earlier pass is free to use values of loops outside of them.
        Pass("close", lambda f: dce(merge_blocks(close_loops(f))), _SSA),
        # What only an exit needs is computed there, where it takes no slot of the loop.
        Pass("sink", sink, _SSA),
    )


def clean(function: SsaFunction) -> SsaFunction:
    """SSA clean-up: simplification, without common subexpressions and dead code."""
    return simplify(common(function))


def _hoist_invariants(function: SsaFunction, outside: bool) -> SsaFunction:
    """Hoist loop invariants of all kinds: what moves takes no register here."""
    # No limit on values that live across the loop: an invariant is in scratch and filled near each use.
    return hoist(function, HoistCosts(0, lambda i: False, 1 << 30, SPECULATION, outside))


def _passes(machine: Machine, options: Options) -> tuple[Pass[Any, Module], ...]:
    """Passes from SSA form to operations of the member."""
    # Filled by `build` and read by `order`: dependences are those of the SSA form from which operations come.
    origins: dict[str, Aliases] = {}

    def build_module(ready: SsaFunction) -> Module:
        origins.update((member.name, Aliases(member, k == 0)) for k, member in enumerate(ready.members))
        return Module(tuple(select_operations(member, options.expect) for member in ready.members), ready.data)

    return (
        Pass("build", build_module, GENASM),
        _function_pass("fuse", lambda f: fuse_additions(f) if machine.fuses else eliminate_dead_code(f)),
        Pass("order", lambda module: order_memory(module, origins), GENASM),
    )


def _map_members(change: Callable[[SsaFunction, bool], SsaFunction]) -> Callable[[SsaFunction], SsaFunction]:
    """Change of a program that changes each function of it by itself; the arrays of the first one come from outside."""

    def change_program(program: SsaFunction) -> SsaFunction:
        first, *others = (change(replace(f, others=()), k == 0) for k, f in enumerate(program.members))
        # Data and externals belong to the program's first function; copies would be printed for each.
        return replace(first, others=tuple(replace(f, data=(), externals=()) for f in others))

    return change_program


def _function_pass(name: str, change: Callable[[Function], Function]) -> Pass[Module, Module]:
    """Pass over each function by itself."""
    return Pass(name, lambda module: replace(module, functions=tuple(map(change, module.functions))), GENASM)


def _legalization_rules(machine: Machine) -> tuple[Lacks, Refusal]:
    """Legalization rules of a member: whether it has no slot for an instruction, and the error where nothing stands for
    it (exit 3)."""

    def lacks(i: Instruction, makers: Mapping[str, Instruction]) -> bool:
        name = selected_name(i)
        # A product of two extended words is one widening multiplication, which needs no multiplier of 64 bits.
        is_selected = not name or product_words(i, makers) is not None
        return not is_selected and not machine.supports(name, belt_type(i.results[0].type.scalar).width)

    def refusal(i: Instruction) -> PolyloomError:
        at = f", {words}" if (words := i.place.words()) else ""
        return infeasible(
            "PL1090",
            f"{machine.name} has no slot for `{selected_name(i)}` of {belt_type(i.results[0].type)}{at}, and it has no "
            "expansion",
            help="take a member that has it, or write the computation otherwise",
        )

    return lacks, refusal


def _emulate_operations(function: SsaFunction, machine: Machine) -> SsaFunction:
    """Check pointers and unsupported constructs, then replace operations that the member lacks. Errors: PL1085 to
    PL1088, PL1090."""
    if function.pointers != 32:
        help = "read it with pointers of 32 bits, as --target=riscv32-unknown-elf does"
        raise input_error("PL1088", f"{function.name} has pointers of {function.pointers} bits", help=help)
    return emulate(refuse_unsupported(function), machine)
