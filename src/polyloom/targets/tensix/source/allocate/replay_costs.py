# SPDX-License-Identifier: Apache-2.0
"""Cycles that playing back saves: the core pushes a word or executes a scalar instruction each cycle, beside it the
vector unit executes a word each cycle (ISA documentation, pages of `REPLAY` and of the push of instructions).

A loop's iteration takes as long as the slower of both, so that fewer pushes hide the loop's own instructions, and no
more than these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.analysis.loops import LoopForest
from polyloom.ir.ssa import Branch, Constant, Instruction, Operand, Value, successor_edges
from polyloom.targets.tensix.source.allocate.words import Line, Listing, Word
from polyloom.targets.tensix.words.decode import decode
from polyloom.transform.ssa.constant_folding import fold_constants

REPLAY: Final = 0x04
WHOLE_BUFFER: Final = 64
"""What a REPLAY of length 0 means."""
_LOOP: Final = 8
"""As often runs a loop's body where its count is not known: a face has eight vectors."""
_DEEPEST: Final = 4
_MOST: Final = 256
"""Iterations that are counted."""


@dataclass(frozen=True, slots=True)
class BlockCost:
    """Cost of a block: words that it pushes, scalar instructions, words that the vector unit executes, and how often
    the block runs.
    """

    pushes: int
    scalar: int
    executed: int
    runs: int

    def saved_cycles(self, fewer: int) -> int:
        """Cycles of all runs that go with so many pushes of each."""
        before, after = (max(pushes + self.scalar, self.executed) for pushes in (self.pushes, self.pushes - fewer))
        return self.runs * (before - after)


def block_costs(listing: Listing, forest: LoopForest) -> list[BlockCost]:
    """Cost of each block."""
    return [_block_cost(listing, block, _count_runs(listing, forest, block)) for block in range(len(listing.lines))]


def _block_cost(listing: Listing, block: int, runs: int) -> BlockCost:
    lines = listing.lines[block]
    words = [line for line in lines if isinstance(line, Word)]
    return BlockCost(len(words), len(lines) - len(words), sum(_executed_words(word, listing) for word in words), runs)


def _executed_words(word: Word, listing: Listing) -> int:
    """Words that the vector unit gets for one: a playback's length."""
    if word.parts or word.bits >> 24 != REPLAY:
        return 1
    found = decode(word.bits, listing.member)
    if found is None or found.values["load_mode"]:
        return 0
    return found.values["len"] or WHOLE_BUFFER


def _count_runs(listing: Listing, forest: LoopForest, block: int) -> int:
    """Product of the counts of the loops around a block, up to four deep: only the comparison matters."""
    counts: list[int] = []
    loop = forest.innermost[block]
    while loop >= 0:
        counts.append(_count_iterations(listing, forest.loops[loop].own))
        loop = forest.loops[loop].parent
    runs = 1
    for count in counts[:_DEEPEST]:
        runs *= count
    return runs


def _count_iterations(listing: Listing, own: Sequence[int]) -> int:
    """Trip count of a loop of one block whose counter is constant at entry, by its scalar instructions; else eight."""
    blocks = listing.function.blocks
    block = blocks[own[0]]
    into = [(other, edge) for other in blocks for edge in successor_edges(other.terminator) if edge.block == block.name]
    entries = [edge for other, edge in into if other is not block]
    if len(entries) != 1 or len(into) != 2 or not isinstance(block.terminator, Branch):
        return _LOOP
    stays, arguments = block.terminator.then.block == block.name, entries[0].arguments
    again = block.terminator.then if stays else block.terminator.orelse
    for count in range(1, _MOST + 1):
        known = dict(zip((parameter.name for parameter in block.parameters), arguments, strict=True))
        condition = _evaluate(listing.lines[own[0]], known, block.terminator.condition)
        if not isinstance(condition, Constant):
            return _LOOP
        if bool(condition.value) != stays:
            return count
        arguments = tuple(_known_operand(argument, known) for argument in again.arguments)
    return _MOST


def _evaluate(lines: Sequence[Line], known: dict[str, Operand], asked: Operand) -> Operand:
    """Constant of a value, where the scalar instructions of a block tell; `known` gets what they compute."""
    for line in lines:
        if isinstance(line, Instruction) and len(line.results) == 1:
            found = fold_constants(replace(line, operands=tuple(_known_operand(o, known) for o in line.operands)))
            if found is not None:
                known[line.results[0].name] = found
    return _known_operand(asked, known)


def _known_operand(operand: Operand, known: Mapping[str, Operand]) -> Operand:
    return known.get(operand.name, operand) if isinstance(operand, Value) else operand
