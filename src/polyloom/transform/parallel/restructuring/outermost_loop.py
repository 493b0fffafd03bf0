# SPDX-License-Identifier: Apache-2.0
"""Loop permutation of perfectly nested parallel loops (Wolf and Lam, "A loop transformation theory and an algorithm to
maximize parallelism", 1991): the one that can be shared out among most workers comes outermost, where the outermost
one leaves workers idle. Parallel loops may be in any order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from polyloom.analysis.loop_ranges import constant_bounds
from polyloom.analysis.privatizable import privatizable
from polyloom.ir.nest import Loop, Nest, Node
from polyloom.transform.parallel.block_partition import block_partition
from polyloom.transform.parallel.loop_distribution import DependenceRewriter
from polyloom.transform.parallel.machine import Machine
from polyloom.transform.parallel.restructuring.strided_products import enclosing_loops


def move_outermost(nest: Nest, machine: Machine) -> Nest:
    """Nest without parameters, in which outermost loops are shared out among as many workers as may be."""
    return replace(nest, body=_Permutation(nest, machine).nodes(nest.body))


class _Permutation(DependenceRewriter):
    """Rewriter of outermost loops."""

    def __init__(self, nest: Nest, machine: Machine) -> None:
        super().__init__(nest)
        self.nest, self.machine = nest, machine

    def loop(self, node: Loop) -> Iterable[Node]:
        chain = self.parallel_chain(node)
        units = [self.units(chain, n) for n in range(len(chain))]
        if not units or units[0] >= self.machine.workers or max(units) <= units[0]:
            return (node,)
        return (_permute_loops(chain, units.index(max(units))),)

    def parallel_chain(self, node: Loop) -> tuple[Loop, ...]:
        """Loops from the outermost one on, each alone in the one around it, that are parallel and have numbers as
        bounds.
        """
        chain = list[Loop]()
        for loop in enclosing_loops(node)[0]:
            if constant_bounds(loop) is None or loop.step != 1 or not self.dependences.parallel([*chain, loop]):
                break
            chain.append(loop)
        return tuple(chain)

    def units(self, chain: tuple[Loop, ...], number: int) -> int:
        """Iterations of a loop that may go to different workers if it is outermost; 0 for none."""
        moved = _permute_loops(chain, number)
        bounds = constant_bounds(moved)
        own = privatizable(self.nest, [chain[0]]) if number == 0 else privatizable(self.nest, chain[: number + 1])
        found = block_partition(self.nest, moved, (), own, self.machine.line)
        return 0 if bounds is None or isinstance(found, str) else -(-(bounds[1] - bounds[0]) // found.unit)


def _permute_loops(chain: tuple[Loop, ...], number: int) -> Loop:
    """Nest of a chain with one of its loops outermost."""
    others = [*chain[:number], *chain[number + 1 :]]
    body = chain[-1].body
    for loop in reversed([chain[number], *others]):
        body = (replace(loop, body=body),)
    (made,) = body
    assert isinstance(made, Loop)
    return made
