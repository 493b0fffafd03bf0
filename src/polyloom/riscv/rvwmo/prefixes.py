# SPDX-License-Identifier: Apache-2.0
"""Allowed executions by downsets of the global memory order, counted natively (`native/riscv/executions.hpp`).

A downset is a set of operations that a global memory order may begin with: dynamic programming over them counts linear
extensions. Where preserved program order relates many operations few such sets exist, however many executions there
are; the other way, location by location (`coherence`), is for tests with little order. What is not observed is not
distinguished: a set has a table of the values that relevant reads got, and of the last stores to the locations from
which others are still to come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Final

from polyloom._native import riscv
from polyloom.riscv.rvwmo.coherence import Node
from polyloom.riscv.rvwmo.values import Constant, Read, UndefinedError, Value

_FIELDS: Final = 21
_VALUES: Final = 64
_EVENTS: Final = 63
_ALL: Final = (1 << _VALUES) - 1
_STEPS: Final = 60
"""So many entries of tables cost what one candidate does."""

Seen = tuple[tuple[tuple[Read, Value], ...], tuple[tuple[str, Value], ...]]
"""What is observed: relevant reads, and final values of locations of interest."""


def count_executions(
    nodes: Sequence[Node],
    before: Sequence[int],
    initial: Mapping[str, Constant],
    reads: frozenset[Read],
    memory: frozenset[str],
    possible: Callable[[Read, Value], bool],
    count: Callable[[int], int],
    ways: int,
) -> list[tuple[Seen, int]] | None:
    """What executions observe of `reads` and `memory`, with their number; None where downsets are extended in more than
    `ways` ways.

    `before` is preserved program order but for what orders operations of one location; `possible` are the values that a
    read may have; `count` is given the work, and gives what may still be done (PL0944).
    """
    names = list(dict.fromkeys(node.operation.location for node in nodes))
    values = list(
        dict.fromkeys([*(initial[name] for name in names), *(n.operation.value for n in nodes if n.operation.writes)])
    )
    # Sets of events and of values are single words of 64 bits in native/riscv; larger tests go by location.
    if len(nodes) > _EVENTS or len(values) > _VALUES:
        return None
    try:
        limits = [_possible_values(node, values, possible) for node in nodes]
    except UndefinedError:
        return None
    kept = [node for node in nodes if node.operation.reads and node.read in reads]
    shown = sorted(
        memory & {*names}
        | {node.operation.location for node in kept}
        | {n.operation.location for n, limit in zip(nodes, limits, strict=True) if limit != _ALL}
    )
    if len(shown) + len(kept) > _FIELDS:
        return None
    places = {node.number: len(shown) + k for k, node in enumerate(kept)}
    events = [
        (
            before[n] | _coherence_predecessors(node, nodes),
            node.sources,
            _read_guard(node, nodes),
            limits[n],
            _forwarding_store(node, nodes),
            node.hart,
            names.index(node.operation.location),
            values.index(node.operation.value) if node.operation.writes else 0,
            node.operation.writes,
            node.operation.forwards_late,
            places.get(n, -1),
        )
        for n, node in enumerate(nodes)
    ]
    locations = [
        (values.index(initial[name]), shown.index(name) if name in shown else -1, name in memory) for name in names
    ]
    steps = _STEPS * count(0)
    found, left = riscv.executions(events, locations, ways, steps)
    count((steps - left) // _STEPS)
    final = [(name, k) for k, name in enumerate(shown) if name in memory]
    if found is None:
        return None
    return [
        (
            (
                tuple((node.read, values[fields[places[node.number]]]) for node in kept),
                tuple((name, values[fields[k]]) for name, k in final),
            ),
            # Counts exceed 64 bits: interleavings grow with the factorial of the operations.
            high << 64 | low,
        )
        for fields, low, high in found
    ]


def _possible_values(node: Node, values: Sequence[Value], possible: Callable[[Read, Value], bool]) -> int:
    """The values that an operation may read, as a bit mask. Errors: `UndefinedError`."""
    if not node.operation.reads:
        return _ALL
    return sum(1 << n for n in range(_VALUES) if n >= len(values) or possible(node.read, values[n]))


def _program_earlier(node: Node, nodes: Sequence[Node]) -> list[Node]:
    """The operations of its hart before it at its location."""
    return [n for n in nodes[: node.number] if n.hart == node.hart and n.operation.location == node.operation.location]


def _coherence_predecessors(node: Node, nodes: Sequence[Node]) -> int:
    """Predecessors of a store by rule 1: earlier operations on its location in its hart."""
    return sum(1 << n.number for n in _program_earlier(node, nodes)) if node.operation.writes else 0


def _forwarding_store(node: Node, nodes: Sequence[Node]) -> int:
    """Store from which a load may be forwarded (load value axiom): the hart's last one at the location; -1 for none."""
    if node.operation.writes:
        return -1
    return max((n.number for n in _program_earlier(node, nodes) if n.operation.writes), default=-1)


def _read_guard(node: Node, nodes: Sequence[Node]) -> int:
    """Guard of a load: earlier loads that must not read newer (rule 2), and its store-conditional (atomicity axiom)."""
    if node.operation.writes:
        return 0
    older = takewhile(lambda n: not n.operation.writes, reversed(_program_earlier(node, nodes)))
    pairs = (n for n in nodes if n.hart == node.hart and n.operation.paired == node.index)
    return sum(1 << n.number for n in {*older, *pairs})
