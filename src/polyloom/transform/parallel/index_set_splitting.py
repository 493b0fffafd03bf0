# SPDX-License-Identifier: Apache-2.0
"""Index-set splitting (Griebl, Feautrier, Lengauer, "Index set splitting", 2000): a loop that carries a dependence only
through one of its iterations becomes three, those before it, that one, and those behind it, of which two are parallel.

    for j: p[i, j] = f(p[i, k])      becomes      j < k;  j = k;  j > k
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from polyloom.analysis.loop_dependences import LoopDependences
from polyloom.ir.nest import Loop, Nest, Node, accesses, assignments, loop_nodes, taken_names
from polyloom.ir.nest_rewrite import Copy, Rewriter
from polyloom.ir.pla import Reference
from polyloom.sets import Affine


def split_index_sets(nest: Nest) -> Nest:
    """Nest without parameters whose loops are split where that makes the larger parts parallel."""
    made = nest
    # Outer loops first; copies of inner ones are looked at in their turn.
    for name in [loop.name for loop in loop_nodes(nest.body)]:
        made = _split(made, name)
    return made


def _split(nest: Nest, name: str) -> Nest:
    """Nest with all loops that are copies of `name` split, if their parts are parallel then."""
    dependences = LoopDependences(nest)
    loops = {loop.name: loop for loop in loop_nodes(nest.body)}
    chosen = {n: loop for n, loop in loops.items() if n == name or n.startswith(f"{name}.")}
    at = {
        n: place
        for n, loop in chosen.items()
        if loop.step == 1 and dependences.carried_dependence(n, frozenset()) is not None
        for place in [next(_meeting_iterations(loop), None)]
        if place is not None
    }
    if not at:
        return nest
    splitting = _Splitting(nest, at)
    made = replace(nest, body=splitting.nodes(nest.body))
    # Splitting is legal at any place; it is worth it only if dependences are gone.
    after = LoopDependences(made)
    is_parallel = all(after.carried_dependence(n, frozenset()) is None for n in splitting.parts)
    return made if is_parallel else nest


def _meeting_iterations(loop: Loop) -> Iterator[Affine]:
    """Iterations in which an element that the loop writes is one that all of its iterations read."""
    inner = {each.name for each in loop_nodes(loop.body)}
    for assign in assignments(loop.body):
        for read in (r for a in assignments(loop.body) for r in accesses(a.value)):
            place = _meeting(assign.target, read, loop.name)
            if place is not None and not place.symbols & {*inner, loop.name}:
                yield place


def _meeting(target: Reference, read: Reference, loop: str) -> Affine | None:
    """Value of the loop's counter for which a target is what is read at any value of it."""
    if target.name != read.name:
        return None
    found = None
    for one, other in zip(target.index, read.index, strict=True):
        if one.coefficient(loop) == 1 and not other.coefficient(loop):
            found = other - (one - Affine.symbol(loop))
    return found


class _Splitting(Rewriter):
    """Rewriter that makes three of each loop in `at`; `parts` are the first and the last of them."""

    def __init__(self, nest: Nest, at: dict[str, Affine]) -> None:
        self.at, self.taken, self.parts = at, taken_names(nest), list[str]()

    def loop(self, node: Loop) -> Iterable[Node]:
        (made,) = super().loop(node)
        assert isinstance(made, Loop)
        if node.name not in self.at:
            return (made,)
        place = self.at[node.name]
        before = replace(made, upper=(*made.upper, place))
        one = replace(made, lower=(*made.lower, place), upper=(*made.upper, place + 1))
        behind = replace(made, lower=(*made.lower, place + 1))
        copies = [copy for part in (one, behind) for copy in Copy({}, {}, self.taken).loop(part)]
        self.parts += [node.name, *(copy.name for copy in copies[1:] if isinstance(copy, Loop))]
        return (before, *copies)
