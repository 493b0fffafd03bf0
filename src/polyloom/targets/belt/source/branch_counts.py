# SPDX-License-Identifier: Apache-2.0
"""Branch prediction by profile, from how often the blocks of a run were entered: the likelier successor falls through
(I. Godard, "Pipelining"; docs/targets/belt.md, Loops).

Without counts of its successors a branch keeps no sense, and the longer path falls through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from polyloom.targets.belt.source.ir import Block, Branch, Function, Loop, Module

Counts = Mapping[tuple[str, str], int]
"""By the names of a function and of one of its blocks."""


def annotate_branches(module: Module, counts: Counts) -> Module:
    """Mark each branch of a module with its likelier way, where the profile has one."""
    return replace(module, functions=tuple(_function(function, counts) for function in module.functions))


def _function(function: Function, counts: Counts) -> Function:
    """Function with the sense of its branches, by the counts of their two successors."""

    def set_sense(block: Block | Loop) -> Block | Loop:
        if isinstance(block, Loop) or not isinstance(branch := block.terminator, Branch):
            return block
        ways = [counts.get((function.name, edge.target)) for edge in (branch.then, branch.orelse)]
        # Blocks that the profile does not know say nothing; one known successor makes the other one 0.
        if ways[0] is None and ways[1] is None:
            return block
        then, orelse = (way or 0 for way in ways)
        return replace(block, terminator=replace(branch, likely=then >= orelse))

    return replace(function, blocks=tuple(map(set_sense, function.blocks)))
