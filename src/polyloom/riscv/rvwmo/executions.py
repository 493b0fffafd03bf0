# SPDX-License-Identifier: Apache-2.0
"""Allowed executions, for one path of every hart, counted by what is observed of them.

An execution is allowed if coherence, reads-from other harts, from-reads and preserved program order together have no
cycle: then, and only then, there is a global memory order (manual, "Memory Model Axioms"; herd's `acyclic co | rfe | fr
| ppo`, Alglave, Maranget and Tautschnig 2014). Where that relates many operations, `prefixes` counts them. Elsewhere,
since locations meet only through preserved program order, their classes (`coherence`) are combined one location after
the other; of those combined so far only the order that they force between operations of the remaining locations is
kept, and combinations that agree in it are counted together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from polyloom.diagnostics import infeasible
from polyloom.riscv.rvwmo.coherence import Class, Node, Site, coherence_classes, ordered_nodes, pack_masks
from polyloom.riscv.rvwmo.path import Condition, Path
from polyloom.riscv.rvwmo.ppo import preserved_program_order
from polyloom.riscv.rvwmo.prefixes import Seen, count_executions
from polyloom.riscv.rvwmo.values import Constant, Pointer, Read, UndefinedError, Value, evaluate_value, reads_of_value

_MOST: Final = 200
_FEW_WAYS: Final = 20_000
_MANY_WAYS: Final = 4_000_000
"""In so many ways sets of operations are extended at most."""
# Enough for tests with little order to end; others have lost little by then.
_LITTLE: Final = 300_000
"""Candidates that are looked at, location by location, before more ways are tried."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Observation of executions: relevant reads, and the last store to each location of interest."""

    observed: Mapping[Read, Value]
    memory: Mapping[str, Value]

    def register(self, value: Value) -> Constant | None:
        return evaluate_value(value, self.observed)


Order = tuple[int, ...]
"""For each operation those that precede it, as bit masks."""
Partial = dict[Order, Counter[Seen]]
"""Executions of some locations, counted by the order that they force and by what is observed of them."""


@dataclass(frozen=True, slots=True)
class _Problem:
    """Operations of a combination of paths, with their preserved program order and the conditions of the paths."""

    nodes: tuple[Node, ...]
    before: tuple[int, ...]
    conditions: tuple[Condition, ...]
    relevant: frozenset[Read]
    possible: Callable[[Read, Value], bool]
    sites: Mapping[str, Site] = field(default_factory=dict[str, Site])


def allowed_outcomes(
    paths: Sequence[Path],
    initial: Mapping[str, Constant],
    registers: Iterable[Value],
    memory: frozenset[str],
    count: Callable[[int], int],
) -> Iterator[tuple[Outcome, int]]:
    """Allowed outcomes with the number of their executions. Observed are the values `registers` and the locations
    `memory`.

    Errors: `UndefinedError` where an allowed execution computes what has no meaning.
    """
    problem = _build_problem(paths, initial, registers)
    for (observed, last), number in _count_outcomes(problem, initial, memory, count):
        outcome = Outcome(dict(observed), {**initial, **dict(last)})
        if _conditions_hold(problem.conditions, outcome.observed):
            yield outcome, number


def _count_outcomes(
    problem: _Problem, initial: Mapping[str, Constant], memory: frozenset[str], count: Callable[[int], int]
) -> Iterable[tuple[Seen, int]]:
    """Outcomes in the way that takes less, which is not known before: a little of either is tried first."""
    by_prefixes = partial(
        count_executions, problem.nodes, problem.before, initial, problem.relevant, memory, problem.possible, count
    )
    # Small tests end here. Large ones favour one of the two ways by orders of magnitude, and which is not known
    # beforehand.
    if (found := by_prefixes(_FEW_WAYS)) is not None:
        return found
    with suppress(_TooMuch):
        return list(_combine_locations(problem, memory, _limit_work(count, _LITTLE)))
    found = by_prefixes(_MANY_WAYS)
    return _combine_locations(problem, memory, count) if found is None else found


class _TooMuch(Exception):
    """More work than was allowed."""


def _limit_work(count: Callable[[int], int], work: int) -> Callable[[int], int]:
    least = count(0) - work

    def charge(more: int) -> int:
        left = count(more)
        if left < least:
            raise _TooMuch
        return left

    return charge


def _combine_locations(
    problem: _Problem, memory: frozenset[str], count: Callable[[int], int]
) -> Iterator[tuple[Seen, int]]:
    """Outcomes location by location: classes of each (`coherence`), combined where they close no cycle."""
    found = {name: _merge_classes(coherence_classes(site, count), name, memory) for name, site in problem.sites.items()}
    partial: Partial = {problem.before: Counter({((), ()): 1})}
    # Locations with few orders first, so that contradictions cut the product early.
    names = sorted(found, key=lambda name: len(found[name]))
    for n, name in enumerate(names):
        rest = _remaining_operations(problem, names[n + 1 :])
        partial = _combine(partial, found[name], problem.sites[name].ordered, rest, problem.conditions, count)
    for seen in partial.values():
        yield from seen.items()


def _build_problem(paths: Sequence[Path], initial: Mapping[str, Constant], registers: Iterable[Value]) -> _Problem:
    conditions = tuple(condition for path in paths for condition in path.conditions)
    stored = [operation.value for path in paths for operation in path.operations if operation.writes]
    # A condition on one read restricts that read's values alone: it is tested at its location, before locations are
    # combined.
    local = {
        read
        for condition in conditions
        if len(reads_of_value(condition.value)) == 1
        for read in reads_of_value(condition.value)
    }
    symbolic = {o.location for path in paths for o in path.operations if o.writes and reads_of_value(o.value)}
    values = [*registers, *stored, *(c.value for c in conditions if len(reads_of_value(c.value)) > 1)]
    # Only what is observed, stored or decided by several reads must be known: all else is counted together.
    relevant = frozenset[Read]().union(*map(reads_of_value, values)) | {
        read for read in local if paths[read.hart].operations[read.index].location in symbolic
    }
    nodes, before = _build_nodes(paths)
    possible, limited = _read_filter(conditions), frozenset(local)
    sites: dict[str, Site] = {}
    for name in dict.fromkeys(node.operation.location for node in nodes):
        harts = tuple(
            tuple(n for n in nodes if n.hart == hart and n.operation.location == name) for hart in range(len(paths))
        )
        sites[name] = Site(
            harts,
            initial[name],
            relevant,
            possible,
            limited,
            _successor_masks(before, ordered_nodes(harts)),
            len(nodes),
        )
    late = tuple(c for c in conditions if reads_of_value(c.value) <= relevant)
    return _Problem(nodes, before, late, relevant, possible, sites)


def _build_nodes(paths: Sequence[Path]) -> tuple[tuple[Node, ...], tuple[int, ...]]:
    """Operations of all harts, and the transitive closure of their preserved program order. Errors: PL0944."""
    if sum(len(path.operations) for path in paths) > _MOST:
        raise infeasible(
            "PL0944",
            f"the harts execute more than {_MOST} memory operations",
            help="litmus tests are small: split this one",
        )
    nodes: list[Node] = []
    before: list[int] = []
    for hart, path in enumerate(paths):
        first, masks = len(nodes), preserved_program_order(path)
        sources = [(o.address | o.data) << first if o.writes else 0 for o in path.operations]
        related = 0
        for index, mask in enumerate(masks):
            related |= mask | (1 << index) * bool(mask)
        for index, operation in enumerate(path.operations):
            forwarded = operation.reads and any(
                s and p.location == operation.location
                for s, p in zip(sources[:index], path.operations[:index], strict=True)
            )
            nodes.append(
                Node(first + index, hart, index, operation, bool(related >> index & 1) or forwarded, sources[index])
            )
            before.append(masks[index] << first)
    return tuple(nodes), _transitive_closure(before)


def _transitive_closure(before: Sequence[int]) -> tuple[int, ...]:
    """Transitive closure (Warshall 1962), of masks that mention smaller and larger numbers alike."""
    masks = list(before)
    # Warshall's closure, with rows as bit masks.
    for middle, _ in enumerate(masks):
        bit, through = 1 << middle, masks[middle]
        for number, mask in enumerate(masks):
            if mask & bit:
                masks[number] = mask | through
    return tuple(masks)


def _read_filter(conditions: Iterable[Condition]) -> Callable[[Read, Value], bool]:
    """Whether a read can have a value, judged by the conditions on it alone. Errors: `UndefinedError`."""
    single: dict[Read, list[Condition]] = {}
    for condition in conditions:
        for read in reads_of_value(condition.value) if len(reads_of_value(condition.value)) == 1 else ():
            single.setdefault(read, []).append(condition)

    def possible(read: Read, value: Value) -> bool:
        return all(
            _meets(condition, evaluate_value(condition.value, {read: value})) is not False
            for condition in single.get(read, ())
        )

    return possible


def _meets(condition: Condition, value: Constant | None) -> bool | None:
    """Whether `value` is what the condition expects; None where it is not known."""
    if value is None:
        return None
    return (
        value == condition.expected if isinstance(condition.expected, Pointer) else (value != 0) == condition.expected
    )


def _decide_condition(condition: Condition, read: Mapping[Read, Value]) -> bool | None:
    """Whether a condition holds; None where that is not known yet, or has no meaning."""
    try:
        return _meets(condition, evaluate_value(condition.value, read))
    except UndefinedError:
        return None


def _conditions_hold(conditions: Sequence[Condition], read: Mapping[Read, Value]) -> bool:
    """Whether the conditions hold at the end. Errors: `UndefinedError` where only that leaves one open."""
    decided = [_decide_condition(condition, read) for condition in conditions]
    if None in decided and False not in decided:
        evaluate_value(conditions[decided.index(None)].value, read)
    return all(decided)


def _remaining_operations(problem: _Problem, names: Sequence[str]) -> int:
    """Operations whose order matters for the locations `names`, with those that rule 12 may name."""
    mask = 0
    for name in names:
        for nodes in problem.sites[name].harts:
            for node in nodes:
                mask |= 1 << node.number | node.sources
    return mask


def _merge_classes(found: Counter[Class], name: str, memory: frozenset[str]) -> Partial:
    """Classes of a location, merged where they differ only in what is not observed."""
    made: Partial = {}
    for each, number in found.items():
        last = ((name, each.last),) if name in memory else ()
        made.setdefault(each.before, Counter())[each.observed, last] += number
    return made


def _combine(
    partial: Partial,
    found: Partial,
    nodes: Sequence[Node],
    rest: int,
    conditions: Sequence[Condition],
    count: Callable[[int], int],
) -> Partial:
    """Product of partial executions with the classes of one location, without those that close a cycle."""
    made: Partial = {}
    each = [(pack_masks(added, len(next(iter(partial), ()))), added, others) for added, others in found.items()]
    for before, some in partial.items():
        count(len(found))
        for order, others in _acyclic_classes(before, each, nodes, rest).items():
            _multiply_counts(some, others, made.setdefault(order, Counter()), conditions, count)
    return made


def _acyclic_classes(
    before: Order, each: Iterable[tuple[int, Order, Counter[Seen]]], nodes: Sequence[Node], rest: int
) -> dict[Order, Counter[Seen]]:
    """Classes that close no cycle with `before`, counted by the order that both force on the operations `rest`."""
    found: dict[Order, Counter[Seen]] = {}
    after = _successor_masks(before, nodes)
    for opposite, added, others in each:
        # A cheap test first: cycles of two operations, all at once. Longer ones need the closure.
        order = None if opposite & after else _close_order(before, nodes, added, rest)
        if order is not None:
            into = found.setdefault(order, Counter())
            for seen, number in others.items():
                into[seen] += number
    return found


def _successor_masks(before: Order, nodes: Iterable[Node]) -> int:
    """Successors of each of `nodes`, side by side in one integer."""
    return pack_masks(
        (sum(1 << v for v, mask in enumerate(before) if mask >> node.number & 1) for node in nodes), len(before)
    )


def _multiply_counts(
    some: Counter[Seen],
    others: Mapping[Seen, int],
    into: Counter[Seen],
    conditions: Sequence[Condition],
    count: Callable[[int], int],
) -> None:
    for (observed, last), many in some.items():
        for (more, final), number in others.items():
            count(1)
            together = observed + more
            if not (conditions and more) or all(
                _decide_condition(condition, dict(together)) is not False for condition in conditions
            ):
                into[together, last + final] += many * number


def _close_order(before: Order, nodes: Sequence[Node], added: Order, rest: int) -> Order | None:
    """Transitive closure of both orders, restricted to the operations `rest`; None if it has a cycle.

    `before` is closed, and `added` only puts operations before `nodes`, so that every new path goes through some of
    those.
    """
    here = sum(1 << node.number for node in nodes)
    masks = [
        before[node.number] | mask | _predecessors(before, mask & ~here)
        for node, mask in zip(nodes, added, strict=True)
    ]
    for middle, node in enumerate(nodes):
        bit, through = 1 << node.number, masks[middle]
        if through & bit:
            return None
        masks = [mask | through if mask & bit else mask for mask in masks]
    if any(mask >> node.number & 1 for node, mask in zip(nodes, masks, strict=True)):
        return None
    if not rest:
        return ()
    found = [(1 << node.number, mask) for node, mask in zip(nodes, masks, strict=True)]
    # Only what later locations will look at is kept exactly; the rest is forgotten, so that equal orders merge.
    closed = list(before)
    for node, mask in zip(nodes, masks, strict=True):
        closed[node.number] = mask
    return tuple(
        _restrict_mask(mask, here, found, rest) if rest >> number & 1 else 0 for number, mask in enumerate(closed)
    )


def _restrict_mask(mask: int, here: int, found: Sequence[tuple[int, int]], rest: int) -> int:
    if mask & here:
        for bit, through in found:
            if mask & bit:
                mask |= through
    return mask & rest


def _predecessors(before: Order, mask: int) -> int:
    """What precedes the operations of `mask`."""
    found = 0
    while mask:
        found |= before[(mask & -mask).bit_length() - 1]
        mask &= mask - 1
    return found
