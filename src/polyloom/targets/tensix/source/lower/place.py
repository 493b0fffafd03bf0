# SPDX-License-Identifier: Apache-2.0
"""Placement of assignments: each becomes part of what computes the new value, and each operation runs in lanes enough.

An instruction under a condition leaves the disabled lanes of its register alone, which is what an assignment asks for:
where the new value is computed in just the lanes of its assignment, and for that alone, it is computed into the old
one. What needs more lanes than are enabled where it stands is computed with all lanes enabled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.ir.ssa import Block, Function, Instruction, Operand, Undef, Value
from polyloom.ir.ssa_verify import uses
from polyloom.targets.tensix.source.locate import error
from polyloom.targets.tensix.source.lower.combine import is_commutative
from polyloom.targets.tensix.source.lower.demand import (
    WHATEVER_IS_ENABLED,
    Demand,
    computed_lanes,
    demanded_lanes,
    draws_random,
)
from polyloom.targets.tensix.source.lower.masks import Masks, Set, analyze_masks
from polyloom.targets.tensix.source.lower.shapes import INTO, PINNED, Machine, decompose, make_instruction, sets_flags
from polyloom.targets.tensix.source.operations import called_operation
from polyloom.transform.ssa.function_editing import with_operands

_STACK: Final = 8


def place_assignments(function: Function) -> Function:
    """Function without assignments; every instruction computes all lanes that are demanded of it. Errors: PL1281 where
    flags are nested too deeply.
    """
    known = analyze_masks(function)
    merged = _Merge(function, known, demanded_lanes(function, known)).run()
    # Widening computes what is left, so that dead instructions go before it and after it.
    placed = eliminate_dead_code(_widen_lanes(eliminate_dead_code(merged)))
    found = analyze_masks(placed)
    if found.depth > _STACK:
        message = f"conditions are nested {found.depth} deep here, and the stack of flags has {_STACK} entries"
        raise error("PL1281", message, found.deepest, help="assign conditions to a `vInt`, and nest fewer of them")
    return placed


def eliminate_dead_code(function: Function) -> Function:
    """Dead code elimination of machine instructions that nobody needs (Muchnick 1997, section 18.10)."""
    counts = _use_counts(function)
    while True:
        kept = tuple(
            replace(b, instructions=tuple(i for i in b.instructions if _has_use(i, counts))) for b in function.blocks
        )
        swept = replace(function, blocks=kept)
        if sum(len(b.instructions) for b in kept) == sum(len(b.instructions) for b in function.blocks):
            return swept
        function, counts = swept, _use_counts(swept)


def _use_counts(function: Function) -> Counter[str]:
    return Counter(o.name for b in function.blocks for _, group in uses(b) for o in group if isinstance(o, Value))


def _has_use(instruction: Instruction, counts: Counter[str]) -> bool:
    if any(counts[result.name] for result in instruction.results):
        return True
    row, found = called_operation(instruction), decompose(instruction)
    if row is not None and row.name == "assign":
        return False
    if found is None:
        return instruction.operation != "call" or not instruction.results
    # A load whose address mode advances the counter of Dst has an effect even if its value is not used.
    moves = found.shape.name == "SFPLOAD" and found.immediate("sfpu_addr_mode") not in _STILL
    # mode 3 of SFPSHFT2 leaves in the unit what mode 4 shifts in
    return not found.results or sets_flags(found) or draws_random(found) or moves or found.shape.name == "SFPSHFT2"


_STILL: Final = (3, 7)
"""Modes of addressing that add nothing to the counters, by the contract of entry."""


@dataclass(slots=True)
class _Merge:
    """Placement in work. Mutable: the instructions of the block in work by position, and what values turned out to
    be."""

    function: Function
    masks: Masks
    demand: Demand
    known: dict[str, Operand] = field(default_factory=dict[str, Operand])
    code: list[list[Instruction]] = field(default_factory=list[list[Instruction]])
    counts: Counter[str] = field(default_factory=Counter[str])

    def run(self) -> Function:
        self.counts = _use_counts(self.function)
        blocks = tuple(self._block(b) if b.name in self.masks.before else b for b in self.function.blocks)
        return replace(self.function, blocks=tuple(with_operands(block, self._operand) for block in blocks))

    def _operand(self, operand: Operand) -> Operand:
        while isinstance(operand, Value) and operand.name in self.known:
            operand = self.known[operand.name]
        return operand

    def _block(self, block: Block) -> Block:
        self.code = [[i] for i in block.instructions]
        before = self.masks.before[block.name]
        for at, instruction in enumerate(block.instructions):
            row = called_operation(instruction)
            if row is not None and row.name == "assign":
                self.code[at] = self._assign(instruction, at, before)
        return replace(block, instructions=tuple(i for group in self.code for i in group))

    def _assign(self, instruction: Instruction, at: int, before: Sequence[Set]) -> list[Instruction]:
        result = instruction.results[0]
        old, new = map(self._operand, instruction.operands)
        wanted = self.demand.get(result.name)
        if wanted is None or isinstance(new, Undef) or old == new:
            return self._alias(result, old)
        # Every wanted lane is replaced, so that the assignment is a copy.
        if self.masks.covers(before[at], wanted):
            return self._alias(result, new)
        chain = self._merge_chain(new, old, at, before)
        if chain is None:
            # The general form: a copy under the condition.
            return [make_instruction("SFPMOV", (new,), (0,), (result,), old=old, place=instruction.place)]
        self._fold_chain(chain, old, result)
        return []

    def _alias(self, result: Value, same: Operand) -> list[Instruction]:
        """Alias, no instruction: what uses the result uses the other value from now on."""
        self.known[result.name] = same
        if isinstance(same, Value):
            self.counts[same.name] += self.counts[result.name] - 1
        return []

    def _merge_chain(self, new: Operand, old: Operand, at: int, before: Sequence[Set]) -> list[int] | None:
        """Positions of the instructions that compute `new` into `old`, the last one first; None where it cannot be
        merged.
        """
        if not isinstance(new, Value) or self.counts[new.name] != 1:
            return None
        found = self._exact_definition(new, at, before)
        if found is None:
            return None
        where, taken = found
        if not self._is_free(old, where, at):
            return None
        tied = {result: operand for operand, result in taken.shape.tied}
        if 0 not in tied:
            return [where]
        overwritten = self._operand(taken.operands[tied[0]])
        if overwritten == old or self._exchangeable_operand(taken, tied[0]) == old:
            return [where]
        rest = self._merge_chain(overwritten, old, where, before)
        return None if rest is None else [where, *rest]

    def _exact_definition(self, value: Value, at: int, before: Sequence[Set]) -> tuple[int, Machine] | None:
        """Definition of a value with the lanes enabled that are enabled at a position."""
        for where in range(at - 1, -1, -1):
            for instruction in self.code[where]:
                if value in instruction.results:
                    taken = decompose(instruction)
                    fits = taken is not None and taken.shape.is_mergeable and taken.old is None and _obeys_flags(taken)
                    is_exact = before[where] == before[at] and len(self.code[where]) == 1
                    return (where, taken) if fits and is_exact and taken is not None else None
        return None

    def _is_free(self, old: Operand, where: int, at: int) -> bool:
        """Whether the old value is there already, and not used by instructions between."""
        between = [i for group in self.code[where:at] for i in group]
        is_used = any(old in map(self._operand, i.operands) for i in between[1:])
        return not is_used and not any(old in i.results for i in between)

    def _exchangeable_operand(self, taken: Machine, tied: int) -> Operand | None:
        """Operand that may stand for the one that is overwritten, of a commutative instruction."""
        return self._operand(taken.operands[1 - tied]) if is_commutative(taken) else None

    def _fold_chain(self, chain: list[int], old: Operand, result: Value) -> None:
        for where in chain:
            (instruction,) = self.code[where]
            taken = decompose(instruction)
            assert taken is not None
            operands = list(taken.operands)
            tied = next((operand for operand, _ in taken.shape.tied), None)
            first = old
            if tied is not None:
                if self._operand(operands[tied]) != old and self._exchangeable_operand(taken, tied) == old:
                    operands.reverse()
                first = operands[tied]
            # The old value becomes an operand: the allocator sees that the instruction reads it.
            merged = (first, *operands, *taken.immediates)
            called = f"@{taken.shape.name}{INTO}"
            self.code[where] = [replace(instruction, operands=merged, results=(result,), callee=called)]
            if tied is not None and self._operand(operands[tied]) != old:
                # what the instruction overwrites was computed into the old value in its turn
                inner = operands[tied]
                assert isinstance(inner, Value)
                result = inner


def _obeys_flags(taken: Machine) -> bool:
    """Whether disabled lanes of the result stay: one mode of SFPLOAD writes all (ISA documentation, page of `SFPLOAD`,
    mode 10).
    """
    return taken.shape.name != "SFPLOAD" or taken.immediate("instr_mod0") != WHATEVER_IS_ENABLED


def _widen_lanes(function: Function) -> Function:
    known = analyze_masks(function)
    wanted = demanded_lanes(function, known)
    blocks = (replace(b, instructions=tuple(_widen_block(b, known, wanted))) for b in function.blocks)
    return replace(function, blocks=tuple(blocks))


def _widen_block(block: Block, known: Masks, wanted: Demand) -> Iterator[Instruction]:
    """Widening: neighbours that need more lanes share the switch to all of them."""
    is_open = False
    for at, instruction in enumerate(block.instructions):
        needs_more = block.name in known.before and _needs_wider_lanes(
            instruction, known.before[block.name][at], known, wanted
        )
        if is_open and not needs_more and instruction.operation == "call":
            yield make_instruction("SFPPOPC", (), (0,))
            is_open = False
        if needs_more and not is_open:
            yield from (make_instruction("SFPPUSHC"), make_instruction("SFPENCC", (), (3, 10)))
            is_open = True
        yield instruction
    if is_open:
        yield make_instruction("SFPPOPC", (), (0,))


def _needs_wider_lanes(instruction: Instruction, enabled: Set, known: Masks, wanted: Mapping[str, Set]) -> bool:
    taken = decompose(instruction)
    # What keeps old lanes, or draws random numbers, means the enabled lanes and must not get more.
    if instruction.called == PINNED or taken is None or taken.old is not None or draws_random(taken):
        return False
    lanes = computed_lanes(taken, enabled, known, wanted)
    return bool(taken.results) and lanes is not None and not known.covers(enabled, lanes)
