# SPDX-License-Identifier: Apache-2.0
"""What an instruction of `ir.ssa` does beyond giving its results, in the words of external functions.

Functions of the program may do anything. Volatile and atomic accesses and fences are `ordered`: they stay, once, in
their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from polyloom.ir.ssa import ATOMICS, EFFECTS, INDIRECT, Function, Instruction
from polyloom.ir.ssa_externals import EFFECT_NAMES, Effect, External

Externals = Mapping[str, External]
_ANY: Final = frozenset(EFFECT_NAMES)
_NOTHING: Final[frozenset[Effect]] = frozenset()
_READS: Final[frozenset[Effect]] = frozenset({"reads"})
_WRITES: Final[frozenset[Effect]] = frozenset({"writes"})
_ORDERED: Final[frozenset[Effect]] = frozenset({"ordered"})
_PLAIN: Final[dict[str, frozenset[Effect]]] = {
    "load": _READS,
    "store": _WRITES,
    "fence": _ORDERED,
    **dict.fromkeys(ATOMICS, _ANY),
}


def externals_of(function: Function) -> Externals:
    """By name."""
    return {external.name: external for external in function.externals}


def effects(instruction: Instruction, externals: Externals) -> frozenset[Effect]:
    """Nothing for what only computes; faults are no effect."""
    if instruction.callee == INDIRECT:
        return _ANY
    if instruction.called:
        external = externals.get(instruction.called)
        # A function of the program itself: its body may do anything, and is not looked at here.
        return _ANY if external is None else frozenset(external.effects)
    if instruction.callee in EFFECTS:
        return _WRITES if instruction.callee == "memset" else _READS | _WRITES
    found = _PLAIN.get(instruction.operation, _NOTHING)
    access = instruction.access
    return found | _ORDERED if access is not None and (access.volatile or access.order) else found


def stays(instruction: Instruction, externals: Externals) -> bool:
    """Whether it stays where nobody uses its results: all that has an effect, but for a plain load."""
    found = effects(instruction, externals)
    return bool(found) and not (instruction.operation == "load" and found == _READS)


def is_copyable(instruction: Instruction, externals: Externals) -> bool:
    """Whether it may stand at several places, each of which some executions come to; an external function that is
    `ordered` may know its place, as a numbered word of a coprocessor does."""
    external = externals.get(instruction.called)
    return external is None or "ordered" not in external.effects
