# SPDX-License-Identifier: Apache-2.0
"""Loops that carry dependences, arranged so that others do not: split by the strongly connected components of what
their bodies depend on (Kennedy, Allen, "Optimizing compilers for modern architectures", 2001, ch. 6), and interchanged
with a parallel loop inside.

Every dependence of the source is kept, and so is the order in which each element takes its values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from polyloom.analysis.components import components
from polyloom.analysis.loop_dependences import Dependences, Relation, meet, touches
from polyloom.analysis.privatizable import private
from polyloom.ir.nest import If, Loop, Nest, Node, Statement, assignments, loops
from polyloom.ir.nest_rewrite import Renamed
from polyloom.names import dotted, fresh
from polyloom.sets import Affine


def arranged(nest: Nest) -> Nest:
    """A nest without parameters, arranged."""
    made = _named(nest)
    while (split := _Split(made).nest()) != made:
        made = split
    return _Interchange(made).nest()


def _named(nest: Nest) -> Nest:
    """With a name of its own for every statement."""
    numbers = count()

    def named(nodes: Sequence[Node]) -> tuple[Node, ...]:
        made: list[Node] = []
        for node in nodes:
            match node:
                case Loop():
                    made.append(replace(node, body=named(node.body)))
                case If():
                    made.append(replace(node, body=named(node.body), orelse=named(node.orelse)))
                case _:
                    made.append(replace(node, name=dotted(node.name, next(numbers))))
        return tuple(made)

    return replace(nest, body=named(nest.body))


class _Of:
    """What both ask: the statements and the dependences of a nest."""

    def __init__(self, nest: Nest) -> None:
        self.nest_, self.dependences = nest, Dependences(nest)
        self.by_name = {s.assign.name: s for s in self.dependences.statements}
        self.taken = {s.name for s in nest.storage} | set(loops(nest.body))

    def nest(self) -> Nest:
        return replace(self.nest_, body=tuple(self.nodes(self.nest_.body, ())))

    def nodes(self, nodes: Sequence[Node], path: tuple[Loop | If, ...]) -> Iterator[Node]:
        for node in nodes:
            match node:
                case Loop():
                    yield from self.loop(node, path)
                case If():
                    inside = (*path, node)
                    yield replace(
                        node, body=tuple(self.nodes(node.body, inside)), orelse=tuple(self.nodes(node.orelse, inside))
                    )
                case _:
                    yield node

    def loop(self, loop: Loop, path: tuple[Loop | If, ...]) -> Iterator[Node]:
        yield replace(loop, body=tuple(self.nodes(loop.body, (*path, loop))))

    def is_parallel(self, loop: Loop, path: tuple[Loop | If, ...]) -> bool:
        return self.dependences.carried(loop.name, private(self.nest_, [*path, loop])) is None

    def statements(self, node: Node) -> list[Statement]:
        return [self.by_name[assign.name] for assign in assignments((node,))]

    def related(self, first: Node, second: Node, relations: dict[str, Relation]) -> bool:
        """Whether instances so related touch one element that one of them writes."""
        return any(
            x[1].name == y[1].name and (is_write or also) and meet(x, y, relations)
            for one in self.statements(first)
            for other in self.statements(second)
            for x, is_write in touches(one)
            for y, also in touches(other)
        )


class _Split(_Of):
    def loop(self, loop: Loop, path: tuple[Loop | If, ...]) -> Iterator[Node]:
        if len(loop.body) < 2 or self.is_parallel(loop, path):
            yield from super().loop(loop, path)
            return
        for number, group in enumerate(self.groups(loop)):
            part = replace(loop, body=tuple(loop.body[n] for n in group))
            inner = replace(part, body=tuple(self.nodes(part.body, (*path, loop))))
            yield self.copy(inner) if number else inner

    def copy(self, loop: Loop) -> Loop:
        name = fresh(loop.name, self.taken, dotted)
        ends = (loop.lower, loop.upper)
        body = Renamed({loop.name: Affine.symbol(name)}, {}, self.taken).nodes(loop.body)
        return replace(loop, name=name, lower=ends[0], upper=ends[1], body=body)

    def groups(self, loop: Loop) -> list[list[int]]:
        """Numbers of nodes of the body: what comes first, first."""
        every = range(len(loop.body))
        after = {n: {m for m in every if m != n and self.precedes(loop, n, m)} for n in every}
        groups = sorted(sorted(group) for group in components({n: sorted(later) for n, later in after.items()}))
        made: list[list[int]] = []
        while groups:
            left = {n for group in groups for n in group}
            ready = next(g for g in groups if not any(after[n] & set(g) for n in left - set(g)))
            made.append(ready)
            groups.remove(ready)
        return made

    def precedes(self, loop: Loop, first: int, second: int) -> bool:
        """Whether an instance of the first has to come before one of the second."""
        one, other = loop.body[first], loop.body[second]
        earlier: Relation = "<" if loop.step > 0 else ">"
        if self.related(one, other, {loop.name: earlier}):
            return True
        return first < second and self.related(one, other, {loop.name: "="})


class _Interchange(_Of):
    def loop(self, loop: Loop, path: tuple[Loop | If, ...]) -> Iterator[Node]:
        inner = loop.body[0] if len(loop.body) == 1 else None
        if isinstance(inner, Loop) and self.is_better(loop, inner, path):
            turned = replace(inner, body=(replace(loop, body=inner.body),))
            yield replace(turned, body=tuple(self.nodes(turned.body, (*path, turned))))
            return
        yield from super().loop(loop, path)

    def is_better(self, loop: Loop, inner: Loop, path: tuple[Loop | If, ...]) -> bool:
        """Whether the inner one is parallel, also when it is outside, and may be."""
        ends = (*inner.lower, *inner.upper)
        if any(loop.name in end.symbols for end in ends) or self.is_parallel(loop, path):
            return False
        relations: tuple[Relation, ...] = ("<", "=", ">")
        return not any(
            self.related(inner, inner, {loop.name: outer, inner.name: within})
            for outer in relations
            for within in ("<", ">")
        )
