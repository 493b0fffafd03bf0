# SPDX-License-Identifier: Apache-2.0
"""Speculative execution: what may run where nobody asked for it, on a machine that is handed in.

If-conversion, hyperblocks and loop-invariant code motion ask here. What has neither effect nor fault may always run;
what may fault, where the machine defers the fault until the result is used (sentinel or NaR results; Mahlke et al.,
"Sentinel scheduling", 1992); what has an effect, under a predicate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from polyloom.analysis.effects import Externals, effects, is_ordered_access
from polyloom.ir.ssa import SPECULATED, SPECULATIVE, Constant, Instruction

_STAYS: Final = ("load", "store", "fence", "alloca")
_DIVISIONS: Final = ("sdiv", "srem", "udiv", "urem")


@dataclass(frozen=True, slots=True)
class Speculation:
    """What a machine offers: operations of `ssa.SPECULATED` that do no harm where nobody asked for them, and those of
    `store` and `call` that it executes under a predicate."""

    speculative: frozenset[str] = frozenset()
    guarded: frozenset[str] = frozenset()

    def runs(self, instruction: Instruction, externals: Externals) -> bool:
        """Whether the instruction may run where its results are not used."""
        defers = instruction.operation in self.speculative and not is_ordered_access(instruction)
        return defers or speculable(instruction, externals)

    def allows(self, instruction: Instruction, externals: Externals) -> bool:
        """Whether the instruction can stand where it was not asked for, under a predicate if need be."""
        name = instruction.operation
        if name == "fence" or self.runs(instruction, externals):
            return True
        if name == "load":
            # A volatile one has an effect, as a store has; a plain one would have been speculated.
            return is_ordered_access(instruction) and "store" in self.guarded
        return name in self.guarded and (name == "store" or bool(instruction.called))


NOTHING: Final = Speculation()
"""A machine whose loads and divisions fault at once."""


def speculable(instruction: Instruction, externals: Externals) -> bool:
    """Whether the instruction may run anywhere on every machine: it has no effect and no fault."""
    if instruction.operation in _STAYS or not instruction.results or effects(instruction, externals):
        return False
    if instruction.operation in _DIVISIONS:
        divisor = instruction.operands[1]
        # Division by 0 faults, and so does the least integer divided by -1 (in C and LLVM undefined).
        return isinstance(divisor, Constant) and divisor.value not in (0, -1)
    return True


def as_speculative(instruction: Instruction, externals: Externals) -> Instruction:
    """The instruction where it may not be asked for: its flags exclude values where it stood, not here."""
    faults = instruction.operation in SPECULATED and not speculable(instruction, externals)
    return replace(instruction, flags=(SPECULATIVE,) if faults else ())
