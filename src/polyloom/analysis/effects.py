# SPDX-License-Identifier: Apache-2.0
"""What an instruction of `ir.ssa` does beyond giving its results, in the words of external functions.

Functions of the program may do anything. Volatile and atomic accesses and fences are `ordered`: they stay, once, in
their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from polyloom.ir.ssa import ATOMICS, EFFECTS, INDIRECT, Function, Instruction
from polyloom.ir.ssa_externals import EFFECT_NAMES, Effect, External

Externals = Mapping[str, External]
MemoryEffect = Literal["", "reads", "writes"]
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


def externals_by_name(function: Function) -> Externals:
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


def call_effects(program: Function) -> dict[str, MemoryEffect]:
    """Interprocedural side effects: what a call of each function of the program may do to memory. A fixpoint, because
    callees may come after their callers (Cooper, Kennedy, "Interprocedural Side-Effect Analysis in Linear Time",
    1988, asks for more: which variables)."""
    found: dict[str, MemoryEffect] = {member.name: "" for member in program.program}
    while True:
        new: dict[str, MemoryEffect] = {member.name: _function_effect(member, found) for member in program.program}
        if new == found:
            return found
        found = new


def memory_effect(instruction: Instruction, known: Mapping[str, MemoryEffect]) -> MemoryEffect:
    """Of one instruction; ordered accesses count as stores."""
    if instruction.called in known:
        return known[instruction.called]
    found = effects(instruction, {})
    return "writes" if found - {"reads"} else "reads" if found else ""


def _function_effect(function: Function, known: Mapping[str, MemoryEffect]) -> MemoryEffect:
    kinds = {memory_effect(i, known) for block in function.blocks for i in block.instructions}
    return "writes" if "writes" in kinds else "reads" if "reads" in kinds else ""


def is_ordered_access(instruction: Instruction) -> bool:
    """Whether the access is volatile or atomic."""
    return not instruction.called and "ordered" in effects(instruction, {})
