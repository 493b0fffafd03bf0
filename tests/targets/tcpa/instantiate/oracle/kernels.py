# SPDX-License-Identifier: Apache-2.0
"""Folding, kernel classes and control flow of one functional unit (paper section 6.1, Algorithms 2 and 3).

Folding moves an operation at offset tau into slot tau mod pi of the kernel floor(tau / pi) steps later. The kernel of a
step is what all folded leaves select there; partitioning the steps by the leaves of step s and, at the same time, of
step s + 1 gives kernel classes and, without testing pairs of classes, the edges with their transition sets: the steps s
in which the branch is taken. A marker that holds in the last step only separates the kernel that halts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod

from tests.targets.tcpa.instantiate.oracle import cells, stepping
from tests.targets.tcpa.instantiate.oracle.classes import UnitTree

from polyloom.diagnostics import INTERNAL, Diagnostic, PolyloomError, infeasible
from polyloom.targets.tcpa.run import scan_sets
from polyloom.targets.tcpa.words.concrete import ConvexSet, Domain
from polyloom.targets.tcpa.words.isa import UNUSED, Instruction, Register

Kernel = tuple[Instruction, ...]
"""pi instructions; their branches are filled in by `program`."""

_ROUNDS = 4
"""How many steps ahead a kernel may be told apart to reduce out-degrees."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Control flow of a unit, named for messages. Nodes are ordered by first occurrence, node 0 first; `edges[v]` maps
    successors to the steps in which v is left for them, empty where there is no choice. The node without edges halts.
    `epilogue` counts the steps after the tile's last one."""

    unit: str
    kernels: tuple[Kernel, ...]
    edges: tuple[dict[int, Domain], ...]
    epilogue: int


def control_flow(unit: UnitTree, interval: int, extents: tuple[int, ...], targets: int, name: str) -> Graph:
    """The graph of a unit that has an operation.

    `targets` is the greatest out-degree; kernels are told apart by their successors until it is met (PL0512 if that
    does not close). `name` is the unit's, for messages.
    """
    folded = _Folded(name, unit, interval, extents)
    graph = None
    for rounds in range(_ROUNDS):
        graph = _graph(folded, rounds, targets)
        if max(len(e) for e in graph.edges) <= targets:
            return graph
    assert graph is not None
    worst = max(range(len(graph.edges)), key=lambda v: len(graph.edges[v]))
    degree = len(graph.edges[worst])
    raise infeasible(
        "PL0512",
        f"kernel class {worst + 1} of unit {name} has {degree} successors, but a branch has {targets} targets",
        help=f"use a machine with {(degree - 1).bit_length()} branch flags instead of {(targets - 1).bit_length()}",
    )


class _Folded:
    """The leaves of a unit after folding: families of steps, and how to read a kernel from the families that hold."""

    def __init__(self, name: str, unit: UnitTree, interval: int, extents: tuple[int, ...]) -> None:
        self.name, self.unit, self.interval, self.extents = name, unit, interval, extents
        self.epilogue = max(o.tau for o in unit) // interval
        self.last = scan_sets.mixed_radix_digits(prod(extents) - 1 + self.epilogue, extents)
        leaves: list[tuple[int, Domain]] = []
        for o in unit:
            leaves += [(o.tau // interval, o.domain), *((o.tau // interval, f.domain) for f in o.fragments)]
        leaves.append((0, (ConvexSet(self.last, self.last),)))
        self.needs_check = leaves

    def partition(self, levels: int) -> list[tuple[tuple[int, ...], cells.Part]]:
        """The steps by what holds in them and in the `levels - 1` next ones; each a bit set over the leaves, the marker
        last."""
        extents, top = self.extents, self.last
        upper = (*(p - 1 for p in extents[:-1]), top[-1])
        everything = [ConvexSet((0,) * len(extents), upper)]
        late = list(scan_sets.list_successors(top, (0,) * len(extents), upper))
        # An instruction and its operands mostly have one domain: each distinct one is folded once.
        wanted = [[(n - ahead, d) for n, d in self.needs_check] for ahead in range(levels)]
        number = {key: f for f, key in enumerate(dict.fromkeys(key for level in wanted for key in level))}
        parts = cells.partition([*(list(stepping.shift(d, n, extents)) for n, d in number), everything, late])
        bits = [[number[key] for key in level] for level in wanted]
        return [
            (tuple(sum((key >> f & 1) << leaf for leaf, f in enumerate(level)) for level in bits), part)
            for key, part in parts.items()
            if not key >> (len(number) + 1)
        ]

    def halts(self, content: int) -> bool:
        return bool(content >> (len(self.needs_check) - 1))

    def kernel(self, content: int) -> Kernel:
        slots: list[Instruction | None] = [None] * self.interval
        bit = 0
        for o in self.unit:
            active = content >> bit & 1
            fragments = [f for i, f in enumerate(o.fragments) if content >> (bit + 1 + i) & 1]
            bit += 1 + len(o.fragments)
            if not active and not fragments:
                continue
            slot = o.tau % self.interval
            sources = sorted((f for f in fragments if f.position is not None), key=lambda f: f.position or 0)
            if slots[slot] is not None or not active or [f.position for f in sources] != list(range(len(sources))):
                message = f"two instructions or operands of offset {o.tau} meet in slot {slot}"
                raise PolyloomError(
                    Diagnostic(
                        "PL0530",
                        message,
                        INTERNAL,
                        help="this is a defect of the mapping; please report it with the program",
                    )
                )
            written = tuple(f.source for f in fragments if f.position is None and isinstance(f.source, Register))
            slots[slot] = Instruction(
                o.opcode,
                written,
                tuple(f.source if written or isinstance(f.source, Register) else UNUSED for f in sources),
            )
        return tuple(i or Instruction() for i in slots)


def _graph(folded: _Folded, rounds: int, targets: int) -> Graph:
    windows = [_Window(_until_halt(contents, folded), part) for contents, part in folded.partition(rounds + 2)]
    contents = sorted({c for w in windows for c in w.contents if c is not None})
    merged: dict[tuple[Kernel, bool], int] = {}
    name = {c: merged.setdefault((folded.kernel(c), folded.halts(c)), len(merged)) for c in contents}
    kernels = list(merged)
    names: list[tuple[tuple[int | None, ...], _Window]] = [
        (tuple(None if c is None else name[c] for c in w.contents), w) for w in windows
    ]
    for _ in range(rounds):
        names, kernels = _look_ahead(names, kernels, targets)
    edges: dict[int, dict[int, list[cells.Part]]] = {}
    for (here, there, *_), window in names:
        assert here is not None
        out = edges.setdefault(here, {})  # in the order of first steps, which is that of the windows
        if there is not None:
            out.setdefault(there, []).append(window.part)
    return _ordered(folded, [k for k, _ in kernels], edges)


@dataclass(frozen=True, slots=True)
class _Window:
    """Steps with the contents of theirs and of the next ones; None after the last step."""

    contents: tuple[int | None, ...]
    part: cells.Part


def _until_halt(contents: tuple[int, ...], folded: _Folded) -> tuple[int | None, ...]:
    end = next((i for i, c in enumerate(contents) if folded.halts(c)), len(contents))
    return tuple(c if i <= end else None for i, c in enumerate(contents))


def _look_ahead(
    names: list[tuple[tuple[int | None, ...], _Window]], kernels: list[tuple[Kernel, bool]], targets: int
) -> tuple[list[tuple[tuple[int | None, ...], _Window]], list[tuple[Kernel, bool]]]:
    """Clone every kernel with too many successors, one clone a batch of them: the branch before decides which."""
    follow: dict[int, set[int]] = {}
    for a, b in {pair for line, _ in names for pair in pairwise(line)}:
        if a is not None and b is not None:
            follow.setdefault(a, set()).add(b)
    batches = {a: _batches(a, followers, targets) for a, followers in follow.items()}
    clones: dict[tuple[int, int], int] = {}

    def clone(a: int | None, b: int | None) -> int | None:
        if a is None:
            return None
        return clones.setdefault((a, 0 if b is None else batches[a][b]), len(clones))

    renamed = [(tuple(clone(a, b) for a, b in pairwise(line)), w) for line, w in names]
    return renamed, [kernels[a] for a, _ in clones]


def _batches(node: int, successors: set[int], targets: int) -> dict[int, int]:
    """The batch of every successor. A node that follows itself is followed by each of its clones: its own batch has
    room for them."""
    if len(successors) <= targets:
        return dict.fromkeys(successors, 0)
    order = sorted(successors, key=lambda b: (b != node, b))
    clones = -(-(len(order) - 1) // max(targets - 1, 1)) if node in successors else 1
    first = max(1, targets - clones + 1)
    return {b: 0 if i < first else 1 + (i - first) // targets for i, b in enumerate(order)}


def _ordered(folded: _Folded, kernels: list[Kernel], edges: dict[int, dict[int, list[cells.Part]]]) -> Graph:
    """Nodes in the order of `edges`, but first the one of step 0."""
    start = _start(folded, edges)
    order = sorted(edges, key=lambda v: v != start)
    place = {v: i for i, v in enumerate(order)}
    out: list[dict[int, Domain]] = []
    for v in order:
        choice = len(edges[v]) > 1
        ascending = sorted(edges[v].items(), key=lambda e: place[e[0]])
        out.append({place[w]: tuple(s for p in parts for s in p.sets) if choice else () for w, parts in ascending})
    return Graph(folded.name, tuple(kernels[v] for v in order), tuple(out), folded.epilogue)


def _start(folded: _Folded, edges: dict[int, dict[int, list[cells.Part]]]) -> int:
    """The node of step 0: half-spaces may leave several that share the first cell."""
    zero = (0,) * len(folded.extents)
    at_zero = [(v, p) for v, out in edges.items() for parts in out.values() for p in parts if p.first == zero]
    holding = (v for v, p in at_zero if scan_sets.contains(p.sets, zero))
    return at_zero[0][0] if len(at_zero) == 1 else next(holding, next(iter(edges)))
