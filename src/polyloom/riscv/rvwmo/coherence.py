# SPDX-License-Identifier: Apache-2.0
"""Coherence of one location: all orders of its stores and all choices of what its loads read that are coherent, sorted
into classes.

Stores are numbered 1, 2, ... in coherence order, 0 is the initial value. In a coherent execution (`acyclic co | rf | fr
| po-loc`, SC per location in Alglave, Maranget and Tautschnig 2014; the manual's load value axiom and rules 1 and 2 on
one location) every hart's loads read non-decreasing numbers, between those of its own stores around them; an AMO reads
the number below its own; between what a load-reserved reads and its store-conditional there is no store of another hart
(the atomicity axiom). The global memory order on a location follows from the numbers: store q is at time 2q, a load of
p comes before time 2(p+1) and, unless the store is forwarded to it inside its hart, after 2p. Executions that order the
same operations and read the same relevant values are one class, with a count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from itertools import count as count_from
from typing import Final

from polyloom.riscv.rvwmo.path import Operation
from polyloom.riscv.rvwmo.values import Read, Value

_WORK: Final = 10
"""What a choice for a whole location costs, in time and memory, against a comparison of two classes."""


@dataclass(frozen=True, slots=True)
class Node:
    """Event: an operation in an execution. `number` is its number among all operations, `hart` and `index` its place in
    its path.

    `ordered_nodes`: preserved program order relates it to others; `sources`: of a store, the operations that its
    address and data depend on.
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
    """Class of executions of a location: for each of its `ordered_nodes` operations those that must precede it (bit
    masks), relevant reads with what they read, and the final value.
    """

    before: tuple[int, ...]
    observed: tuple[tuple[Read, Value], ...]
    last: Value


@dataclass(frozen=True, slots=True)
class Choice:
    """Reads-from choice of a hart: times (from, to), masks that rule 12 adds to them, relevant reads."""

    times: tuple[tuple[int, int], ...]
    forwarded: tuple[int, ...]
    observed: tuple[tuple[Read, Value], ...]


@dataclass(frozen=True, slots=True)
class Site:
    """Location: its operations hart by hart in program order, its initial value, the reads of interest, and which are
    possible.

    `limited` are reads that may not have every value. `after` has, for each of the `ordered_nodes` operations, those
    that preserved program order puts after it: `width` bits each, side by side.
    """

    harts: tuple[tuple[Node, ...], ...]
    initial: Value
    relevant: frozenset[Read]
    possible: Callable[[Read, Value], bool]
    limited: frozenset[Read]
    after: int
    width: int

    @property
    def ordered(self) -> tuple[Node, ...]:
        return ordered_nodes(self.harts)


@dataclass(frozen=True, slots=True)
class Way:
    """What one hart does in an order of the stores, `count` times: by time, which operations have ended; of each
    operation the place of its mask in a packed order and the time when it starts; what of that order concerns the hart
    alone; and what it observes, as a number."""

    name: int
    ended: tuple[int, ...]
    starts: tuple[tuple[int, int], ...]
    own: int
    observed: int
    count: int


def ordered_nodes(harts: Sequence[Sequence[Node]]) -> tuple[Node, ...]:
    """The operations that preserved program order relates to others."""
    return tuple(node for nodes in harts for node in nodes if node.ordered)


def pack_masks(masks: Iterable[int], width: int) -> int:
    """Masks side by side in one integer, so that one operation compares all: what is to precede an operation must not
    follow it.
    """
    return sum(mask << width * n for n, mask in enumerate(masks))


def coherence_classes(site: Site, count: Callable[[int], int]) -> Counter[Class]:
    """Coherence classes of a location that do not contradict preserved program order between two operations, and how
    many executions each has.

    `count` is given the work of each step.
    """
    stores = [tuple(node for node in nodes if node.operation.writes) for nodes in site.harts]
    places = {node.number: site.width * n for n, node in enumerate(site.ordered)}
    made = _Ways(site, places)
    between: dict[tuple[int, int], int] = {}
    found: Counter[Class] = Counter()
    # Coherence orders that respect each hart's own order of stores (rule 1).
    for order in _interleavings(stores):
        last = order[-1].operation.value if order else site.initial
        # For each coherence order the harts are independent of one another but for preserved program order.
        joined = _join_harts(made.of(order), between, site.after, count)
        reads = tuple(made.observed)
        for (order_of_all, *seen), number in joined.items():
            before = tuple(order_of_all >> place & (1 << site.width) - 1 for place in places.values())
            found[Class(before, tuple(pair for n in seen for pair in reads[n]), last)] += number
    return found


def _join_harts(
    harts: Sequence[Sequence[Way]], between: dict[tuple[int, int], int], after: int, count: Callable[[int], int]
) -> dict[tuple[int, ...], int]:
    """Combinations of ways that do not contradict `after`, by the packed order and what is observed; `between` memoizes
    the order of pairs.
    """
    found: dict[tuple[int, ...], int] = {}
    count(sum(map(len, harts)))

    def extend(hart: int, chosen: tuple[Way, ...], order: int, number: int) -> None:
        if hart == len(harts):
            count(_WORK)
            key = (order, *[way.observed for way in chosen])
            found[key] = found.get(key, 0) + number
            return
        for way in harts[hart]:
            new = order | way.own
            for other in chosen:
                if (pair := between.get((other.name, way.name))) is None:
                    # Pairs of ways recur in many combinations, and are compared once.
                    pair = between[other.name, way.name] = _cross_order(other, way) | _cross_order(way, other)
                new |= pair
            # One AND compares all pairs at once: an operation that must come first would also have to come last.
            if new & after:
                count(1)
            else:
                extend(hart + 1, (*chosen, way), new, number * way.count)

    extend(0, (), 0, 1)
    return found


def _cross_order(one: Way, other: Way) -> int:
    """Packed order of what ends in one hart before an operation of another starts."""
    order = 0
    for place, start in other.starts:
        order |= one.ended[start] << place
    return order


class _Ways:
    """Ways of each hart in an order of the stores, made once for all orders in which they are the same.

    Those of a hart depend on where its own stores stand alone, unless a value that it reads matters, or another hart's
    store may not come between.
    """

    def __init__(self, site: Site, places: Mapping[int, int]) -> None:
        self._site = site
        self._places = places
        self._known: dict[tuple[int, tuple[int, ...]], list[Way]] = {}
        self._free = [
            not any(n.read in site.relevant | site.limited or n.operation.paired is not None for n in nodes)
            for nodes in site.harts
        ]
        self._names = count_from()
        self.observed: dict[tuple[tuple[Read, Value], ...], int] = {}
        """What is observed, by number."""

    def of(self, order: tuple[Node, ...]) -> list[list[Way]]:
        position = {node.number: n + 1 for n, node in enumerate(order)}
        found: list[list[Way]] = []
        for hart, nodes in enumerate(self._site.harts):
            key = (
                hart,
                tuple(position[n.number] for n in nodes if n.operation.writes) if self._free[hart] else tuple(position),
            )
            if key not in self._known:
                self._known[key] = [
                    self._hart_behavior(nodes, choice, number, position)
                    for choice, number in _group_choices(self._site, nodes, order, position).items()
                ]
            found.append(self._known[key])
        return found

    def _hart_behavior(self, nodes: tuple[Node, ...], choice: Choice, number: int, position: Mapping[int, int]) -> Way:
        mine = [node for node in nodes if node.ordered]
        times = _event_times(mine, choice, position)
        ended = _completed_sets(mine, times, len(position))
        starts = tuple((self._places[node.number], start) for node, (start, _, _) in zip(mine, times, strict=True))
        own = sum((mask | ended[start]) << place for (place, start), (_, _, mask) in zip(starts, times, strict=True))
        return Way(
            next(self._names), ended, starts, own, self.observed.setdefault(choice.observed, len(self.observed)), number
        )


def _interleavings(sequences: Sequence[tuple[Node, ...]]) -> Iterator[tuple[Node, ...]]:
    """Coherence orders: all orders of stores that keep every hart's order (rule 1)."""
    remaining = [sequence for sequence in sequences if sequence]
    if not remaining:
        yield ()
    for n, sequence in enumerate(remaining):
        for rest in _interleavings([*remaining[:n], sequence[1:], *remaining[n + 1 :]]):
            yield (sequence[0], *rest)


def _group_choices(
    site: Site, nodes: tuple[Node, ...], order: tuple[Node, ...], position: Mapping[int, int]
) -> Counter[Choice]:
    """The choices of a hart, equal ones counted."""
    return Counter(_reads_choice(site, nodes, order, numbers) for numbers in _readings(site, nodes, order, position))


def _readings(
    site: Site, nodes: tuple[Node, ...], order: tuple[Node, ...], position: Mapping[int, int], low: int = 0
) -> Iterator[dict[int, int]]:
    """Reads-from assignments of a hart: for each read, by number of the operation, which store it reads."""
    if not nodes:
        yield {}
        return
    node, rest = nodes[0], nodes[1:]
    own = position.get(node.number)
    if not node.operation.reads:
        assert own is not None
        yield from _readings(site, rest, order, position, own)
        return
    # Coherence (rules 1 and 2): a read sees nothing older than the hart's last read or store here, and nothing newer
    # than its next store.
    next_own = next((position[later.number] for later in rest if later.operation.writes), len(order) + 1)
    for number in range(low, next_own) if own is None else (own - 1,):
        # Atomicity axiom: between what a load-reserved reads and its store-conditional, no other hart stores.
        if not site.possible(node.read, _stored_value(site, order, number)) or not _is_atomic_pair(
            node, rest, number, order, position
        ):
            continue
        for others in _readings(site, rest, order, position, number if own is None else own):
            yield {node.number: number, **others}


def _is_atomic_pair(
    node: Node, rest: tuple[Node, ...], number: int, order: tuple[Node, ...], position: Mapping[int, int]
) -> bool:
    """Atomicity axiom (manual, "Memory Model Axioms"): whether only the hart itself stores between what a load-reserved
    reads and its store-conditional.
    """
    pair = next((position[later.number] for later in rest if later.operation.paired == node.index), number + 1)
    return all(store.hart == node.hart for store in order[number : pair - 1])


def _stored_value(site: Site, order: tuple[Node, ...], number: int) -> Value:
    return order[number - 1].operation.value if number else site.initial


def _reads_choice(site: Site, nodes: tuple[Node, ...], order: tuple[Node, ...], numbers: Mapping[int, int]) -> Choice:
    times: list[tuple[int, int]] = []
    forwarded: list[int] = []
    for node in nodes:
        if node.ordered and not node.operation.writes:
            number = numbers[node.number]
            store = order[number - 1] if number else None
            inside = store is not None and store.hart == node.hart
            late = store is not None and (not inside or store.operation.forwards_late)  # rule 3
            # Stores have even times, reads odd ones between them. A read that forwards from its own hart's store buffer
            # may happen before that store (load value axiom), hence from time 0 on.
            times.append((2 * number + 1 if late else 0, 2 * number + 1))
            # Rule 12: what the store's address and data depend on precedes a load that reads it inside the hart.
            forwarded.append(store.sources if store is not None and inside else 0)  # rule 12
    observed = tuple(
        (n.read, _stored_value(site, order, numbers[n.number]))
        for n in nodes
        if n.number in numbers and n.read in site.relevant
    )
    return Choice(tuple(times), tuple(forwarded), observed)


Times = list[tuple[int, int, int]]
"""For each ordered operation: from when on, until when, and what rule 12 puts before it."""


def _event_times(nodes: Sequence[Node], choice: Choice, position: Mapping[int, int]) -> Times:
    loads = ((start, end, mask) for (start, end), mask in zip(choice.times, choice.forwarded, strict=True))
    return [(2 * position[n.number], 2 * position[n.number], 0) if n.operation.writes else next(loads) for n in nodes]


def _completed_sets(nodes: Sequence[Node], times: Times, last: int) -> tuple[int, ...]:
    """By time, the operations that have ended before it."""
    ending = [0] * (2 * last + 3)
    for node, (_, end, _) in zip(nodes, times, strict=True):
        ending[end] |= 1 << node.number
    return tuple(accumulate(ending, lambda before, now: before | now, initial=0))
