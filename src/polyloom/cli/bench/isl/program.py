# SPDX-License-Identifier: Apache-2.0
"""Functional-unit programs from annotated control flow graphs (section 6.3, Algorithm 4)."""

from __future__ import annotations

from dataclasses import replace

from polyloom.cli.bench.isl.control import Palette
from polyloom.cli.bench.isl.kernels import Graph
from polyloom.targets.tcpa.words.isa import Branch, Goto, Halt, If, Instruction

Program = tuple[Instruction, ...]


def generate(graph: Graph, palette: Palette) -> Program:
    """The kernels in topological order; all but the last instruction of each go to the next one."""
    order = _topological(graph)
    place = {v: n * len(graph.kernels[v]) for n, v in enumerate(order)}
    program: list[Instruction] = []
    for v in order:
        *body, last = graph.kernels[v]
        program += [*body, replace(last, branch=_branch(graph, v, place, palette))]
    return tuple(program)


def _topological(graph: Graph) -> list[int]:
    """Depth-first from the start, reversed as nodes are finished: topological but for the loops."""
    # Reverse postorder without recursion.
    finished: dict[int, None] = {}
    pending, seen = [(graph.start, iter(graph.edges[graph.start]))], {graph.start}
    while pending:
        v, successors = pending[-1]
        w = next((w for w in successors if w not in seen), None)
        if w is None:
            finished[v] = pending.pop() and None
        else:
            seen.add(w)
            pending.append((w, iter(graph.edges[w])))
    return list(finished)[::-1]


def _branch(graph: Graph, v: int, place: dict[int, int], palette: Palette) -> Branch:
    edges = graph.edges[v]
    if not edges:
        return Halt()
    if len(edges) == 1:
        return Goto(place[next(iter(edges))])
    signals, codes = palette.encode(edges)
    targets = {code: place[w] for w, code in codes.items()}
    return If(signals, tuple(targets.get(code, targets[0]) for code in range(1 << len(signals))))
