# SPDX-License-Identifier: Apache-2.0
"""Common subexpression elimination of machine instructions (Muchnick 1997, section 13.1), where lanes allow it: an
instruction goes whose operands another one had that dominates it, with all lanes enabled that are enabled here.

Comparisons of one chain of conditions share their difference that way. Values live longer by it, so that fitting takes
it only where the program is shorter.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Final

from polyloom._native.graph import DominatorTree
from polyloom.ir.ssa import Block, Function, Instruction, Operand, Value, flow_edges
from polyloom.targets.tensix.source.lower.demand import draws_random
from polyloom.targets.tensix.source.lower.masks import Set, analyze_masks
from polyloom.targets.tensix.source.lower.shapes import decompose, sets_flags
from polyloom.transform.ssa.function_editing import postorder, with_operands

_READS_MORE: Final = ("SFPLOAD", "SFPSHFT2", "SFPSHFT2.v")
"""What reads more than its operands: Dst, or what the unit keeps."""


@dataclass(frozen=True, slots=True)
class _Made:
    """An instruction that is there already: its block, the lanes that it computes, and its result."""

    block: int
    lanes: Set
    result: Value


def share_values(function: Function) -> Function:
    """Function without the second of equal instructions; the same object where there is none."""
    masks = analyze_masks(function)
    tree = DominatorTree(len(function.blocks), flow_edges(function), 0, 2)
    numbers = {block.name: k for k, block in enumerate(function.blocks)}
    made: dict[Hashable, list[_Made]] = {}
    known: dict[str, Operand] = {}

    def resolve(operand: Operand) -> Operand:
        return known.get(operand.name, operand) if isinstance(operand, Value) else operand

    def dominates(above: int, below: int) -> bool:
        return tree.position[above] <= tree.position[below] < tree.position[above] + tree.size[above]

    done: dict[str, Block] = {}
    blocks = {block.name: block for block in function.blocks}
    # A dominator comes before what it dominates.
    for name in reversed(postorder(function)):
        block, kept = blocks[name], list[Instruction]()
        for instruction, lanes in zip(block.instructions, masks.before[name], strict=False):
            operands = tuple(map(resolve, instruction.operands))
            key = (instruction.called, operands)
            if not _is_pure(instruction):
                kept.append(instruction)
                continue
            found = made.setdefault(key, [])
            same = next((m for m in found if dominates(m.block, numbers[name]) and masks.covers(m.lanes, lanes)), None)
            if same is None:
                found.append(_Made(numbers[name], lanes, instruction.results[0]))
                kept.append(instruction)
            else:
                known[instruction.results[0].name] = same.result
        done[name] = replace(block, instructions=tuple(kept))
    if not known:
        return function
    return replace(function, blocks=tuple(with_operands(done.get(b.name, b), resolve) for b in function.blocks))


def _is_pure(instruction: Instruction) -> bool:
    """Whether an instruction computes its result of its operands alone, and changes nothing else."""
    found = decompose(instruction)
    return (
        found is not None
        and found.old is None
        and found.shape.is_mergeable
        and found.shape.name not in _READS_MORE
        and not sets_flags(found)
        and not draws_random(found)
    )
