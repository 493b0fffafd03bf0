# SPDX-License-Identifier: Apache-2.0
"""From a vector kernel in SSA form to one whose calls are Tensix words: the pipeline on one page.

contract    products and sums become SFPMAD              place   assignments go, lanes suffice
roll        copies that Python made become loops         tests   tests join what computes the tested value
prepare     copies and choices of vectors go             fit     out of SSA form: L0 to L7, and the order
conditions  masks and regions become flags               words   encoding
select      operations become machine instructions       nops    what the hardware does not wait for
literals    SFPMULI and SFPADDI                          replay  what repeats is recorded
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from polyloom.ir.ssa import Function
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_verify import verify
from polyloom.passes import Form, Pass, Watch, run_passes
from polyloom.targets.tensix.source.allocate import code, words
from polyloom.targets.tensix.source.allocate.emit import Note, emit
from polyloom.targets.tensix.source.allocate.fit import Fitting, fit_registers
from polyloom.targets.tensix.source.allocate.nops import insert_nops
from polyloom.targets.tensix.source.allocate.replay import insert_replays
from polyloom.targets.tensix.source.allocate.spill import SPILLED
from polyloom.targets.tensix.source.allocate.words import Listing
from polyloom.targets.tensix.source.lower.combine import combine_literals, combine_tests, orient_operands
from polyloom.targets.tensix.source.lower.contract import contract
from polyloom.targets.tensix.source.lower.integers import lower_all_conditions
from polyloom.targets.tensix.source.lower.place import place_assignments
from polyloom.targets.tensix.source.lower.prepare import legalize
from polyloom.targets.tensix.source.lower.roll import roll_loops
from polyloom.targets.tensix.source.lower.select import select_instructions
from polyloom.targets.tensix.source.lower.shapes import declare_externals
from polyloom.targets.tensix.words.isa import Member

SWITCHES: Final = ("contract", "combine", "flags", "schedule", "replay")
"""What `--without` takes; `contract` is `--no-contract`, which the interpreter has to be told, too."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the passes. `without` is any of `SWITCHES`; `spill` the first row of a 32-bit Dst that registers may
    be spilled to, and the one behind the last; `variables` the source's names by names of values. `roll`
    says that the source's loops were unrolled when it was read, as Python's are.
    """

    member: Member = "wormhole"
    without: frozenset[str] = frozenset()
    spill: tuple[int, int] | None = None
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    roll: bool = False


@dataclass(frozen=True, slots=True)
class Lowered:
    """Result of the passes. `function` has no vectors and calls `tensix.word`; `notes` are by number of the word, which
    is its second operand, in the order of the text.
    """

    function: Function
    notes: tuple[Note, ...]
    listing: Listing

    @property
    def spills(self) -> int:
        """Spill code: as many words as store or load what is spilled."""
        return sum(note.text == SPILLED for note in self.notes)


SSA: Final = Form(print_ssa, verify)
CODE: Final = Form(code.print_code, lambda value: value)
LISTING: Final = Form(words.print_listing, lambda value: value)


def pipeline(options: Options) -> tuple[Pass[Any, Any], ...]:
    """Pass list in order, for the options."""

    def runs_pass(name: str) -> bool:
        return name not in options.without

    member = options.member
    fitting = Fitting(
        member, runs_pass("schedule"), range(*(options.spill or (0, 0))), runs_pass("combine"), options.variables
    )
    steps: list[tuple[str, Callable[[Any], Any], Form[Any], bool]] = [
        # First: contraction is part of the meaning, and later passes may not see separate products.
        ("contract", contract, SSA, runs_pass("contract")),
        # Behind contraction, which no loop may stand between.
        ("roll", roll_loops, SSA, options.roll),
        ("prepare", legalize, SSA, True),
        ("conditions", lambda f: lower_all_conditions(f, member, runs_pass("flags")), SSA, True),
        ("select", lambda f: select_instructions(f, member), SSA, True),
        # Before placement, which turns assignments into operands that instructions overwrite.
        ("literals", combine_literals, SSA, runs_pass("combine")),
        ("place", place_assignments, SSA, True),
        ("tests", lambda f: orient_operands(combine_tests(f)), SSA, runs_pass("combine")),
        ("fit", lambda f: fit_registers(f, fitting), CODE, True),
        ("words", lambda c: words.encode(c, member), LISTING, True),
        # After the order is final, and before replay, which records NOPs along.
        ("nops", insert_nops, LISTING, True),
        ("replay", insert_replays, LISTING, runs_pass("replay")),
    ]
    return tuple(Pass(name, function, form) for name, function, form, runs in steps if runs)


PASSES: Final = tuple(each.name for each in pipeline(Options(roll=True)))


def lower(function: Function, options: Options | None = None, watch: Watch | None = None) -> Lowered:
    """Lowering of a kernel to words. Errors: PL1280 where its values do not fit into the registers."""
    # Each pass names the form that it leaves, which is printed by --print-after and verified by the tests.
    listing = run_passes(declare_externals(function), pipeline(options or Options()), watch)
    lowered, notes = emit(listing)
    return Lowered(verify(lowered), notes, listing)
