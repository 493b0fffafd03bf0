# SPDX-License-Identifier: Apache-2.0
"""Loop distribution: a loop that carries dependences is split by the strongly connected components of what its body
depends on (Kennedy, Allen, "Optimizing compilers for modern architectures", 2001, section 6.2), so that some of its
parts carry none.

Every dependence of the source is kept, and so is the order in which each element takes its values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from polyloom.analysis.components import components
from polyloom.analysis.loop_dependences import Direction, LoopDependences
from polyloom.ir.nest import If, Loop, Nest, Node, taken_names
from polyloom.ir.nest_rewrite import Copy, Rewriter


def distribute_loops(nest: Nest) -> Nest:
    """Nest without parameters, its loops distributed until nothing changes (Allen and Kennedy 2001, section 6.2)."""
    made = nest
    while (split := replace(made, body=_Distribution(made).nodes(made.body))) != made:
        made = split
    return made


class DependenceRewriter(Rewriter):
    """Rewriter with the dependences of the nest that it goes through; `path` is what is around the place (mutable)."""

    def __init__(self, nest: Nest) -> None:
        self.dependences, self.path = LoopDependences(nest), list[Loop | If]()

    def loop(self, node: Loop) -> Iterable[Node]:
        self.path.append(node)
        made = super().loop(node)
        self.path.pop()
        return made

    def branch(self, node: If) -> Iterable[Node]:
        self.path.append(node)
        made = super().branch(node)
        self.path.pop()
        return made

    def is_parallel(self, loop: Loop) -> bool:
        return self.dependences.parallel([*self.path, loop])


class _Distribution(DependenceRewriter):
    """Rewriter that splits loops which carry dependences."""

    def __init__(self, nest: Nest) -> None:
        super().__init__(nest)
        self.taken = taken_names(nest)

    def loop(self, node: Loop) -> Iterable[Node]:
        if len(node.body) < 2 or self.is_parallel(node):
            return super().loop(node)
        return self.parts(node)

    def parts(self, loop: Loop) -> Iterator[Node]:
        """Loops of the components, in an order that keeps all dependences; copies get new names."""
        for number, group in enumerate(self.groups(loop)):
            # The path has the loop as it was: what is live behind a part is asked of the whole body.
            self.path.append(loop)
            part = replace(loop, body=self.nodes([loop.body[n] for n in group]))
            self.path.pop()
            yield from Copy({}, {}, self.taken).loop(part) if number else [part]

    def groups(self, loop: Loop) -> list[list[int]]:
        """Strongly connected components of the body's nodes (Tarjan 1972), in topological order: what comes first,
        first.
        """
        every = range(len(loop.body))
        after = {n: [m for m in every if m != n and self.precedes(loop, n, m)] for n in every}
        # Sorted, so that the source's order stays where dependences leave a choice.
        groups = sorted(map(sorted, components(after)))
        made: list[list[int]] = []
        while groups:
            left = {n for group in groups for n in group}
            ready = next(g for g in groups if not any(set(after[n]) & set(g) for n in left - set(g)))
            made.append(ready)
            groups.remove(ready)
        return made

    def precedes(self, loop: Loop, first: int, second: int) -> bool:
        """Dependence: whether an instance of the first has to come before one of the second."""
        one, other = loop.body[first], loop.body[second]
        # Direction vectors are of counters, which fall in a loop that counts down.
        earlier: Direction = "<" if loop.step > 0 else ">"
        if self.dependences.conflict(one, other, {loop.name: earlier}):
            return True
        return first < second and self.dependences.conflict(one, other, {loop.name: "="})
