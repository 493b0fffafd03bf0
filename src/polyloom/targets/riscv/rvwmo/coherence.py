# SPDX-License-Identifier: Apache-2.0
"""One location: all orders of its stores and all choices of what its loads read that are coherent, sorted into classes.

Stores are numbered 1, 2, ... in coherence order, 0 is the initial value. In a coherent execution (`acyclic co | rf | fr | po-loc`,
the load value axiom and rules 1 and 2 on one location) every hart's loads read non-decreasing numbers, between those of its
own stores around them; an AMO reads the number below its own; between what a load-reserved reads and its
store-conditional there is no store of another hart (the atomicity axiom). The global memory order on a location follows from the
numbers: store q is at time 2q, a load of p comes before time 2(p+1) and, unless the store is forwarded to it inside
its hart, after 2p. Executions that order the same operations and read the same relevant values are one class, with a count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from polyloom.targets.riscv.rvwmo.path import Operation
from polyloom.targets.riscv.rvwmo.values import Read, Value

_WORK: Final = 10
"""What a choice for a whole location costs, in time and memory, against a comparison of two classes."""


@dataclass(frozen=True, slots=True)
class Node:
    """An operation in an execution: `number` among all operations, `hart` and `index` in its path.

    `ordered`: preserved program order relates it to others; `sources`: of a store, the operations that its address and data depend on.
    """

    number: int
    hart: int
    index: int
    operation: Operation
    ordered: bool
    sources: int

    @property
    def read(self) -> Read:
        return Read(self.hart, self.index)


@dataclass(frozen=True, slots=True)
class Class:
    """What executions of a location have in common: for each of its `ordered` operations those that must precede it (bit masks),
    relevant reads with what they read, and the final value."""

    before: tuple[int, ...]
    observed: tuple[tuple[Read, Value], ...]
    last: Value


@dataclass(frozen=True, slots=True)
class Choice:
    """What one hart's loads read: times of its ordered loads, as (from, to), masks that rule 12 adds to them, relevant reads."""

    times: tuple[tuple[int, int], ...]
    forwarded: tuple[int, ...]
    observed: tuple[tuple[Read, Value], ...]


@dataclass(frozen=True, slots=True)
class Site:
    """A location: its operations hart by hart in program order, its initial value, the reads of interest, and which are possible."""

    harts: tuple[tuple[Node, ...], ...]
    initial: Value
    relevant: frozenset[Read]
    possible: Callable[[Read, Value], bool]

    @property
    def ordered(self) -> tuple[Node, ...]:
        return tuple(node for nodes in self.harts for node in nodes if node.ordered)


def classes(site: Site, count: Callable[[int], None]) -> Counter[Class]:
    """The classes of a location, and how many executions each has. `count` is given the work of each step."""
    found: Counter[Class] = Counter()
    numbers = [node.number for node in site.ordered]
    stores = [tuple(node for node in nodes if node.operation.writes) for nodes in site.harts]
    for order in _interleavings(stores):
        position = {node.number: n + 1 for n, node in enumerate(order)}
        last = order[-1].operation.value if order else site.initial
        choices = [list(_grouped(site, nodes, order, position).items()) for nodes in site.harts]
        for combination in product(*choices):
            count(_WORK)
            times = _times(site, position, [choice for choice, _ in combination])
            observed = tuple(pair for choice, _ in combination for pair in choice.observed)
            number = 1
            for _, many in combination:
                number *= many
            found[Class(_before(numbers, times, len(order)), observed, last)] += number
    return found


def _interleavings(sequences: Sequence[tuple[Node, ...]]) -> Iterator[tuple[Node, ...]]:
    """All orders of stores that keep every hart's order (rule 1)."""
    remaining = [sequence for sequence in sequences if sequence]
    if not remaining:
        yield ()
    for n, sequence in enumerate(remaining):
        for rest in _interleavings([*remaining[:n], sequence[1:], *remaining[n + 1 :]]):
            yield (sequence[0], *rest)


def _grouped(site: Site, nodes: tuple[Node, ...], order: tuple[Node, ...], position: Mapping[int, int]) -> Counter[Choice]:
    """The choices of a hart, equal ones counted."""
    return Counter(_choice(site, nodes, order, numbers) for numbers in _readings(site, nodes, order, position))


def _readings(site: Site, nodes: tuple[Node, ...], order: tuple[Node, ...], position: Mapping[int, int], low: int = 0) -> Iterator[dict[int, int]]:
    """For each read of a hart, by number of the operation, which store it reads."""
    if not nodes:
        yield {}
        return
    node, rest = nodes[0], nodes[1:]
    own = position.get(node.number)
    if not node.operation.reads:
        assert own is not None
        yield from _readings(site, rest, order, position, own)
        return
    next_own = next((position[later.number] for later in rest if later.operation.writes), len(order) + 1)
    for number in range(low, next_own) if own is None else (own - 1,):
        if not site.possible(node.read, _value(site, order, number)) or not _atomic(node, rest, number, order, position):
            continue
        for others in _readings(site, rest, order, position, number if own is None else own):
            yield {node.number: number, **others}


def _atomic(node: Node, rest: tuple[Node, ...], number: int, order: tuple[Node, ...], position: Mapping[int, int]) -> bool:
    """Whether only the hart itself stores between what a load-reserved reads and its store-conditional."""
    pair = next((position[later.number] for later in rest if later.operation.paired == node.index), number + 1)
    return all(store.hart == node.hart for store in order[number : pair - 1])


def _value(site: Site, order: tuple[Node, ...], number: int) -> Value:
    return order[number - 1].operation.value if number else site.initial


def _choice(site: Site, nodes: tuple[Node, ...], order: tuple[Node, ...], numbers: Mapping[int, int]) -> Choice:
    times: list[tuple[int, int]] = []
    forwarded: list[int] = []
    for node in nodes:
        if node.ordered and not node.operation.writes:
            number = numbers[node.number]
            store = order[number - 1] if number else None
            inside = store is not None and store.hart == node.hart
            late = store is not None and (not inside or store.operation.forwards_late)  # rule 3
            times.append((2 * number + 1 if late else 0, 2 * number + 1))
            forwarded.append(store.sources if store is not None and inside else 0)  # rule 12
    observed = tuple((n.read, _value(site, order, numbers[n.number])) for n in nodes if n.number in numbers and n.read in site.relevant)
    return Choice(tuple(times), tuple(forwarded), observed)


Times = list[tuple[int, int, int]]
"""For each ordered operation: from when on, until when, and what rule 12 puts before it."""


def _times(site: Site, position: Mapping[int, int], choices: Sequence[Choice]) -> Times:
    times: Times = []
    for nodes, choice in zip(site.harts, choices, strict=True):
        loads = iter(zip(choice.times, choice.forwarded, strict=True))
        for node in nodes:
            if node.ordered and node.operation.writes:
                times.append((2 * position[node.number], 2 * position[node.number], 0))
            elif node.ordered:
                (start, end), mask = next(loads)
                times.append((start, end, mask))
    return times


def _before(numbers: Sequence[int], times: Times, last: int) -> tuple[int, ...]:
    """For each ordered operation those that end before it starts."""
    ending = [0] * (2 * last + 3)
    for number, (_, end, _) in zip(numbers, times, strict=True):
        ending[end] |= 1 << number
    before = [0]
    for bits in ending:
        before.append(before[-1] | bits)
    return tuple(mask | before[start] for start, _, mask in times)
