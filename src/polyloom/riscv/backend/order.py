# SPDX-License-Identifier: Apache-2.0
"""Block placement: the blocks of a loop together, what follows a loop behind it, and the branch taken backwards to
repeat.

A reverse postorder of a depth-first search that looks at the ways out of a loop first, so that they come last (Muchnick
1997, section 7.2, for the orders; loop layout as in Pettis and Hansen 1990, without a profile).
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.analysis.loops import LoopForest, loop_forest
from polyloom.ir.ssa import Function, flow_edges
from polyloom.transform.ssa.function_editing import on_each_function, remove_unreachable


@on_each_function
def order_blocks(function: Function) -> Function:
    """The function with its blocks in placement order; unreachable blocks are left out."""
    function = remove_unreachable(function)
    edges = flow_edges(function)
    forest = loop_forest(len(function.blocks), edges)
    following: list[list[int]] = [[] for _ in function.blocks]
    pairs: list[tuple[int, int]] = edges.tolist()
    for source, target in pairs:
        following[source].append(target)
    # Nesting depth of the target decides among edges that stay: the deeper loop is laid out next to its head.
    depth = [forest.loops[k].depth if k >= 0 else -1 for k in forest.innermost]
    for source, targets in enumerate(following):
        targets.reverse()
        # Reverse postorder puts what is visited last first: edges that leave the loop are visited before those that
        # stay, so that loops lie together.
        targets.sort(key=lambda target: depth[target] if _stays(forest, source, target) else -2)
    return replace(function, blocks=tuple(function.blocks[k] for k in reversed(_postorder(following))))


def _stays(forest: LoopForest, source: int, target: int) -> bool:
    """Whether the target is inside the innermost loop of the source, possibly deeper."""
    inner, k = forest.innermost[source], forest.innermost[target]
    while k > inner:
        k = forest.loops[k].parent
    return k == inner


def _postorder(following: list[list[int]]) -> list[int]:
    """Postorder of the depth-first search from block 0, iterative: long functions exceed Python's recursion limit."""
    seen, made = {0}, list[int]()
    path = [(0, iter(following[0]))]
    while path:
        node, rest = path[-1]
        found = next((target for target in rest if target not in seen), None)
        if found is None:
            made.append(node)
            path.pop()
        else:
            seen.add(found)
            path.append((found, iter(following[found])))
    return made
