# SPDX-License-Identifier: Apache-2.0
"""Triangular loops: a parallel loop around loops whose bounds depend on it, or around stores of which it chooses the
row, moves inside, where its iterations can be lanes.

- A parallel loop is distributed over its body, and interchanged with the loop in it (Allen, Kennedy 2001, section 9.3:
  triangular loops): `for i: for j <= i` becomes `for j: for i >= j`.
- Forward substitution by columns (Golub, Van Loan, Matrix Computations, 4th ed. 2013, section 3.1.3): what
  `for j: for k < j: x[j] -= f(x[k]); x[j] /= d` sums along k becomes `for k: x[k] /= d; for j > k: x[j] -= f(x[k])`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from polyloom.analysis.loop_dependences import LoopDependences, related_instances
from polyloom.ir.nest import If, Loop, Nest, Node, assignments, loop_nodes, taken_names
from polyloom.ir.nest_rewrite import Copy, Rewriter, substitute_symbols
from polyloom.sets import Affine

Bounds = tuple[Affine, ...]


def sink_parallel_loops(nest: Nest) -> Nest:
    """Nest without parameters whose parallel loops are inside of those that have bounds of theirs."""
    return replace(nest, body=_Sinking(nest).nodes(nest.body))


def substitute_by_columns(nest: Nest) -> Nest:
    """Nest without parameters with forward substitutions by columns."""
    return replace(nest, body=_Columns(nest).nodes(nest.body))


class _Sinking(Rewriter):
    def __init__(self, nest: Nest) -> None:
        self.dependences, self.taken = LoopDependences(nest), taken_names(nest)

    def loop(self, node: Loop) -> Iterable[Node]:
        (made,) = super().loop(node)
        assert isinstance(made, Loop)
        # Distribution asks of the loop as it was: the loops inside have only changed their order.
        parts = self.parts(made)
        if not parts or self.dependences.carried_dependence(node.name, frozenset()) is not None:
            return (made,)
        loops = [replace(made, body=tuple(part)) for part in parts]
        copies = [loops[0], *(copy for each in loops[1:] for copy in Copy({}, {}, self.taken).loop(each))]
        return tuple(_interchange(each) if isinstance(each, Loop) else each for each in copies)

    def parts(self, loop: Loop) -> list[list[Node]]:
        """Parts of the body, each for a loop of its own: nodes in a row that store along the loop, or all do not; those
        that do are one by one where bounds inside depend on the loop. None where that changes nothing.
        """
        found = [list(part) for _, part in groupby(loop.body, key=partial(_stores_along, loop.name))]
        single = list[list[Node]]()
        for part in found:
            gains = _stores_along(loop.name, part[0]) and any(_depends(each, loop.name) for each in part)
            single += [[each] for each in part] if gains else [part]
        gains = [part for part in single if len(part) == 1 and _depends(part[0], loop.name)]
        return single if len(found) > 1 or any(_stores_along(loop.name, part[0]) for part in gains) else []


def _stores_along(loop: str, node: Node) -> bool:
    """Whether all stores of a node go to neighbours in neighbouring iterations."""
    return all(a.target.index and a.target.index[-1].coefficient(loop) for a in assignments((node,)))


def _depends(node: Node, loop: str) -> bool:
    """Whether a bound inside depends on the loop."""
    return any(loop in end.symbols for each in loop_nodes((node,)) for end in (*each.lower, *each.upper))


def _interchange(loop: Loop) -> Loop:
    """Interchange with the only loop inside, if their bounds allow it: each of the inner one's has the outer counter
    with a factor of 1, 0 or -1.
    """
    inner = loop.body[0]
    if not isinstance(inner, Loop) or len(loop.body) != 1 or loop.step != 1 or not _stores_along(loop.name, inner):
        return loop
    ends = [*inner.lower, *inner.upper]
    if not any(loop.name in end.symbols for end in ends) or any(abs(e.coefficient(loop.name)) > 1 for e in ends):
        return loop
    lower, upper = list(loop.lower), list(loop.upper)
    free_low, free_high = list[Affine](), list[Affine]()
    i, j = Affine.symbol(loop.name), Affine.symbol(inner.name)
    for end in inner.lower:  # end <= j
        match end.coefficient(loop.name):
            case 0:
                free_low.append(end)
            case 1:
                upper.append(j - (end - i) + 1)
                free_low += [end.substitute({loop.name: low}) for low in loop.lower[:1]]
            case _:
                lower.append(end + i - j)
                free_low += [end.substitute({loop.name: high - 1}) for high in loop.upper[:1]]
    for end in inner.upper:  # j < end
        match end.coefficient(loop.name):
            case 0:
                free_high.append(end)
            case 1:
                lower.append(j - (end - i) + 1)
                free_high += [end.substitute({loop.name: high - 1}) for high in loop.upper[:1]]
            case _:
                upper.append(end + i - j)
                free_high += [end.substitute({loop.name: low}) for low in loop.lower[:1]]
    # A bound that still depends on one of both would be that of another triangle.
    if {s for end in (*free_low, *free_high) for s in end.symbols} & {loop.name, inner.name}:
        return loop
    within = replace(loop, lower=tuple(lower), upper=tuple(upper), body=inner.body)
    return replace(inner, lower=tuple(free_low), upper=tuple(free_high), body=(within,))


class _Columns(Rewriter):
    def __init__(self, nest: Nest) -> None:
        self.dependences, self.taken = LoopDependences(nest), taken_names(nest)

    def loop(self, node: Loop) -> Iterable[Node]:
        found = super().loop(node)
        (made,) = found
        assert isinstance(made, Loop)
        return (self.columns(made),) if self.is_substitution(node) else found

    def is_substitution(self, loop: Loop) -> bool:
        inner, *behind = loop.body
        if not isinstance(inner, Loop) or loop.step != 1 or inner.step != 1 or not behind:
            return False
        if inner.upper != (Affine.symbol(loop.name),) or inner.lower != loop.lower:
            return False
        if any(isinstance(each, Loop | If) for each in (*inner.body, *behind)):
            return False
        d = self.dependences
        # A column's element is read where all rows have been summed, whatever the order of rows was.
        return not d.conflict(inner, inner, {loop.name: "<", inner.name: ">"}) and not self.overtakes(
            loop, inner, behind
        )

    def overtakes(self, loop: Loop, inner: Loop, behind: Sequence[Node]) -> bool:
        """Whether a sum (j, k) touches what the statements behind make of an element between k and j."""
        reads = [access for a in assignments((inner,)) for access in self.dependences.accesses[a.name]]
        others = [access for a in assignments(behind) for access in self.dependences.accesses[a.name]]

        def between(one: Mapping[str, Affine], other: Mapping[str, Affine]) -> list[Affine]:
            at = other[loop.name]
            return [one[loop.name] - at - 1, at - one[inner.name] - 1]

        return any(
            x[1].name == y[1].name and (x[2] or y[2]) and related_instances(x, y, loop.name, between)
            for x in reads
            for y in others
        )

    def columns(self, loop: Loop) -> Loop:
        inner, *behind = loop.body
        assert isinstance(inner, Loop)
        j, k = loop.name, inner.name
        # What is behind the sum of row j is in front of column j now.
        first = substitute_symbols(behind, {j: Affine.symbol(k)})
        rows = replace(loop, lower=(*loop.lower, Affine.symbol(k) + 1), body=inner.body)
        return replace(inner, upper=loop.upper, body=(*first, rows))
