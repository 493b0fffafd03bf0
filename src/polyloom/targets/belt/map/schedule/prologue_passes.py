# SPDX-License-Identifier: Apache-2.0
"""First passes of a loop without prologue: what is demanded of them, in which later stages run for iterations before 0
(I. Godard, "Pipelining"; docs/targets/belt.md, Loops).

Such an operation must find what iteration 0 needs (an initial value on the entry belt, in scratch, or by recur), and
must do nothing itself: a store's address or value, a leave's or call's predicate must be None. `failures` decides that
exactly for a placed graph, by following Nones through the operations of iterations below 0; `repair` changes the graph
where it fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from polyloom.names import hidden_name
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.map.schedule.graph import LEAF, LEAVES_AND_CALLS, Graph, Node, Read, replace_reads
from polyloom.targets.belt.map.schedule.loop_graph import external_node
from polyloom.targets.belt.map.schedule.positions import Belt
from polyloom.targets.belt.map.schedule.steady_recurrences import evaluate, leaf_operand, read_operands
from polyloom.targets.belt.source.ir import Nothing, Operand, Value
from polyloom.targets.belt.value_types import Type

# A name that no user can write marks the condition, so that `_is_true` knows it again.
_ALWAYS: Final = hidden_name("always")
# Farther back a value is taken for not None, and for not known: both answers are safe.
_FAR: Final = 64
"""Iterations below 0 that are followed."""
PREDICATED: Final = ("leavetr", "leavefl", "calltr")


@dataclass(frozen=True, slots=True)
class Failure:
    """Failure of a first pass. `init`: the operand's value of before the loop cannot be there; `none`: it must be None
    and is not, in that iteration; `early`: the node acts, although nothing decides whether it should."""

    kind: str
    node: int
    operand: int
    iteration: int = 0


class NoneAnalysis:
    """None analysis of one placed graph: which values of iterations below 0 are None, and what others are."""

    def __init__(self, belt: Belt) -> None:
        self.belt, self.graph = belt, belt.graph
        self.entry = entry_values(self.graph)
        # Per analysis, not per class: the answers are those of one graph.
        self.is_none = lru_cache(maxsize=None)(self._compute_missing)
        self.value = lru_cache(maxsize=None)(self._value)

    def reads_missing(self, reader: int, read: Read, iteration: int) -> bool:
        return self.is_none(read.node, read.result, iteration - self.belt.distance(reader, read))

    def _compute_missing(self, node: int, result: int, iteration: int) -> bool:
        """Whether what the iteration, below 0, gives is surely None."""
        # It would have dropped before the loop: only the entry belt can have it.
        if iteration + self.belt.drop_stage(node) < 0:
            return not self.has_entry_value(node, result, -iteration)
        # It would have been issued before the loop, and drops in it: a missing result, None.
        if iteration + self.belt.placed.stage(node) < 0:
            return True
        if iteration < -_FAR:
            return False
        return self._missing_by_operands(node, iteration)

    def has_entry_value(self, node: int, result: int, before: int) -> bool:
        """Whether the entry belt has a value for iteration -before."""
        return before <= self.entry.get((node, result), 0) and not _absent(self.graph, node, result, before)

    def _missing_by_operands(self, n: int, iteration: int) -> bool:
        """Whether an operation that runs gives None, by its operands (docs/targets/belt.md, Values and faults)."""
        node = self.graph.nodes[n]
        if node.name in LEAF or node.name == "call":
            return False
        if node.name == "fill":
            return self.frame_missing(node, iteration)
        none = [self.reads_missing(n, o, iteration) if isinstance(o, Read) else False for o in node.operands]
        if node.name == "recur" or node.name == "orm":
            return all(none)
        if node.name == "pick":
            return none[0] or all(none[1:])
        if node.name == "inject":
            return none[2] or (none[0] and none[1])
        return any(none)

    def _value(self, node: int, result: int, iteration: int) -> Operand | None:
        """Value that the iteration, below 0, gives; None where that is not known."""
        type = self.graph.nodes[node].results[result].type
        if self.is_none(node, result, iteration):
            return Nothing(type)
        if iteration + self.belt.drop_stage(node) < 0:
            return self.graph.start(node, result, -iteration)
        source = self.graph.nodes[node]
        if source.name in LEAF:
            return leaf_operand(source)
        if iteration < -_FAR:
            return None
        if source.name == "fill":
            return self._filled_value(source, iteration)
        given = read_operands(self.graph, source, lambda r: self._read(node, r, iteration))
        return evaluate(source, given)

    def _filled_value(self, fill: Node, iteration: int) -> Operand | None:
        """Value that a fill finds: what the head spilled into the frame, or what an earlier pass did."""
        (read,) = self.graph.nodes[fill.spill].reads
        at = iteration - fill.distance
        if at + self.belt.placed.stage(fill.spill) < 0:
            return self.graph.start(read.node, read.result, -at)
        return self._read(fill.spill, read, at)

    def _read(self, reader: int, read: Read, iteration: int) -> Operand | None:
        return self.value(read.node, read.result, iteration - self.belt.distance(reader, read))

    def frame_missing(self, node: Node, iteration: int) -> bool:
        """Whether a fill finds a None."""
        spill = self.graph.nodes[node.spill]
        source = next(iter(spill.reads))
        at = iteration - node.distance
        if at + self.belt.placed.stage(node.spill) < 0:
            return -at > frame_values(self.graph, node.spill)
        return self.reads_missing(node.spill, source, at)

    def failures(self) -> Iterator[Failure]:
        """Failures of the first passes: initial values, frames, and operations that act."""
        for n, node in enumerate(self.graph.nodes):
            for k, operand in enumerate(node.operands):
                if isinstance(operand, Read) and operand.distance:
                    yield from self._check_start(n, k, operand)
            if node.name == "fill" and node.distance:
                yield from self._check_frames(n, node)
            yield from self._check_actions(n, node)

    def _check_start(self, n: int, k: int, read: Read) -> Iterator[Failure]:
        """Check an operand in the first iterations, which read from before the loop."""
        recurs = self.graph.nodes[n].name == "recur" and k == 0
        for j in range(1, read.distance + 1):
            absent = _absent(self.graph, read.node, read.result, j)
            if self.belt.drop_stage(read.node) < j and (recurs or not absent):
                continue
            if self._keeps_initial(read, j) and not recurs:
                continue
            if (recurs or absent) and not self.is_none(read.node, read.result, -j):
                yield Failure("none", n, k, -j)
                return
            if not recurs and not absent:
                yield Failure("init", n, k)
                return

    def _keeps_initial(self, read: Read, before: int) -> bool:
        """Whether the first passes themselves give what is said to come before the loop."""
        known = self.graph.start(read.node, read.result, before)
        return known is not None and self.value(read.node, read.result, -before) == known

    def _check_frames(self, n: int, node: Node) -> Iterator[Failure]:
        """Check that frames which a fill reads in the first passes hold initial values, or None."""
        source = next(iter(self.graph.nodes[node.spill].reads))
        for j in range(1, node.distance + 1):
            if self.belt.placed.stage(node.spill) < j:
                continue
            if self._keeps_initial(source, j):
                continue
            is_said = not _absent(self.graph, source.node, source.result, j) and not _feeds_recur(self.graph, node)
            if is_said or not self.is_none(source.node, source.result, -j):
                yield Failure("frame", n, 0)
                return

    def _check_actions(self, n: int, node: Node) -> Iterator[Failure]:
        """Check that an operation does nothing in the passes before its first iteration."""
        if node.name != "store" and node.name not in LEAVES_AND_CALLS:
            return
        for iteration in range(-1, -1 - self.belt.placed.stage(n), -1):
            if node.name == "store":
                free = any(self.reads_missing(n, r, iteration) for r in node.reads)
            elif node.name in PREDICATED:
                free = isinstance(node.operands[0], Read) and self.reads_missing(n, node.operands[0], iteration)
            else:
                yield Failure("early", n, 0)
                return
            if not free:
                yield Failure("acts", n, 0, iteration)
                return


def ambiguous_recur(graph: Graph) -> bool:
    """Whether a recur may find a None that an iteration gave, which it would take for one of before the loop."""
    maybe: set[int] = set()
    # A least fixed point: Nones spread along reads until no node is new.
    while True:
        found = {n for n, node in enumerate(graph.nodes) if n not in maybe and _can_give_missing(graph, node, maybe)}
        if not found:
            break
        maybe |= found
    return any(node.name == "recur" and next(iter(node.reads)).node in maybe for node in graph.nodes)


def _can_give_missing(graph: Graph, node: Node, maybe: set[int]) -> bool:
    """Whether a node may give a None in an iteration from 0 on, where `maybe` are the nodes that may."""
    if node.name in LEAF or not node.results:
        return False
    is_choice = node.name == "calltr" or (node.name == "pick" and len(node.operands) == 2)
    condition = next(iter(node.reads), None)
    if is_choice and condition is not None and not _is_true(graph.nodes[condition.node]):
        return True
    given = graph.nodes[node.spill].reads if node.spill >= 0 else node.reads
    return any(read.node in maybe for read in given)


def _is_true(node: Node) -> bool:
    """Whether a node is the condition that `true_condition` made, or a fill of it."""
    return node.results[0].name.startswith(_ALWAYS) and node.name in ("con", "fillx", "fill")


def _absent(graph: Graph, node: int, result: int, before: int) -> bool:
    """Whether nothing is known of the value of iteration -before."""
    return graph.start(node, result, before) is None


def entry_values(graph: Graph) -> dict[tuple[int, int], int]:
    """Entry belt depths: how many iterations back the entry belt must have each value: as far as something but a recur
    reads it, and those that are steady as far as anything can."""
    found = dict.fromkeys(sorted(graph.steady), _FAR)
    for node in graph.nodes:
        for k, operand in enumerate(node.operands):
            if isinstance(operand, Read) and operand.distance and not (node.name == "recur" and k == 0):
                key = (operand.node, operand.result)
                found[key] = max(found.get(key, 0), operand.distance)
    return found


def frame_values(graph: Graph, spill: int) -> int:
    """Frame depth: how many iterations back the head writes the spilled value's frames."""
    source = next(iter(graph.nodes[spill].reads))
    starts = graph.initial.get((source.node, source.result), ())
    far = max((n.distance for n in graph.nodes if n.spill == spill and not _feeds_recur(graph, n)), default=0)
    return _FAR if (source.node, source.result) in graph.steady else min(far, len(starts))


def _feeds_recur(graph: Graph, fill: Node) -> bool:
    """Whether the fill's own reader gives the first values."""
    where = next(k for k, node in enumerate(graph.nodes) if node is fill)
    readers = [n for n in graph.nodes if any(r.node == where for r in n.reads)]
    return all(n.name == "recur" for n in readers)


def insert_recur(graph: Graph, read: Read, addresses: dict[str, int], keep: Sequence[int] = ()) -> Graph:
    """Insert a recur: all that read this at this distance read it instead; it gives the initial value where there is
    None (`recurs` in I. Godard's "Pipelining"; docs/targets/belt.md, Loops)."""
    key, d = (read.node, read.result), read.distance
    starts = graph.initial.get(key, ())[:d]
    readers = [
        (n, k)
        for n, k, distance in graph.consumers().get(key, [])
        if distance == d and n not in keep and graph.nodes[n].name != "recur"
    ]
    # Nothing to supply: what is missing before the loop is None anyway.
    if all(isinstance(start, Nothing) for start in starts):
        return graph
    # One recur gives one value, whatever the iteration.
    if len(set(starts)) > 1:
        return _add_recur_chain(graph, read, starts, readers, addresses)
    graph, new = add_recur(graph, read, starts[-1], addresses)
    return replace_reads(graph, dict.fromkeys(readers, new))


def add_recur(graph: Graph, read: Read, start: Operand, addresses: dict[str, int]) -> tuple[Graph, Read]:
    """Append a recur of what is read, with its initial value as a leaf."""
    size = len(graph.nodes)
    init = external_node(start, addresses, size)
    name = graph.nodes[read.node].results[read.result].name
    node = Node("recur", (read, Read(size)), (Value(f"{name}.r{size}", graph.type(read)),))
    return replace(graph, nodes=(*graph.nodes, init, node)), Read(size + 1)


def _add_recur_chain(
    graph: Graph, read: Read, starts: Sequence[Operand], readers: Sequence[tuple[int, int]], addresses: dict[str, int]
) -> Graph:
    """Chain of recurs for differing initial values: one for each iteration back, and between two a copy that is None
    before 0."""
    graph, guard = true_condition(graph)
    current = replace(read, distance=1)
    for number, start in enumerate(starts):
        if isinstance(start, Nothing):
            continue
        if number:
            graph, copy = guard_value(graph, guard, current)
            current = replace(copy, distance=1)
        graph, current = add_recur(graph, current, start, addresses)
    return replace_reads(graph, dict.fromkeys(readers, current))


def true_condition(graph: Graph) -> tuple[Graph, Read]:
    """Condition that is true, and None before iteration 0: a con of the stage 0."""
    # One serves the whole loop; it was appended by an earlier repair.
    for n, node in enumerate(graph.nodes):
        if node.name in LEAF and node.first and node.results[0] == Value(_ALWAYS, Type("b")):
            return graph, Read(n)
    node = Node("con", (), (Value(_ALWAYS, Type("b")),), "b", literal=1, first=True)
    return replace(graph, nodes=(*graph.nodes, node)), Read(len(graph.nodes))


def guard_value(graph: Graph, guard: Read, read: Read) -> tuple[Graph, Read]:
    """Guarded value: the value where the guard is there, else None."""
    size = len(graph.nodes)
    name = graph.nodes[read.node].results[read.result].name
    node = Node("pick", (guard, read), (Value(f"{name}.g{size}", graph.type(read)),))
    return replace(graph, nodes=(*graph.nodes, node)), Read(size)


def repair(nones: NoneAnalysis, wrong: Failure, addresses: dict[str, int], hard: bool) -> Graph:
    """Graph without this failure; with `hard`, not by the cheapest means but by those that always help."""
    graph = nones.graph
    node = graph.nodes[wrong.node]
    operand = node.operands[wrong.operand] if node.operands else None
    if wrong.kind == "init":
        assert isinstance(operand, Read)
        return insert_recur(graph, operand, addresses)
    if wrong.kind == "frame":
        source = next(iter(graph.nodes[node.spill].reads))
        starts = graph.initial[source.node, source.result][: node.distance]
        # No single recur can stand for these: the spill moves to stage 0, whose frames the head has written.
        if len(set(starts)) > 1 or any(isinstance(s, Nothing) for s in starts):
            return pin_to_first_stage(graph, node.spill)
        readers = [(n, k) for n, k, _ in graph.consumers().get((wrong.node, 0), [])]
        graph, new = add_recur(graph, Read(wrong.node), starts[-1], addresses)
        return replace_reads(graph, dict.fromkeys(readers, new))
    if wrong.kind == "early" and node.name == "call":
        graph, guard = true_condition(graph)
        nodes = list(graph.nodes)
        nodes[wrong.node] = replace(node, name="calltr", operands=(guard, *node.operands))
        return replace(graph, nodes=tuple(nodes))
    if wrong.kind == "early":
        return pin_to_first_stage(graph, wrong.node)
    if wrong.kind == "none":
        assert isinstance(operand, Read)
        if not hard and (
            found := _suppress_value(nones, replace(operand, distance=0), wrong.iteration, addresses, set())
        ):
            return found
        graph, guard = true_condition(graph)
        graph, copy = guard_value(graph, guard, replace(operand, distance=0))
        return replace_reads(graph, {(wrong.node, wrong.operand): replace(copy, distance=operand.distance)})
    return _suppress_action(nones, wrong, addresses, hard)


def _suppress_action(nones: NoneAnalysis, wrong: Failure, addresses: dict[str, int], hard: bool) -> Graph:
    """Graph in which what acts too early gets a None."""
    graph = nones.graph
    node = graph.nodes[wrong.node]
    candidates = [k for k, o in enumerate(node.operands) if isinstance(o, Read)]
    if node.name in LEAVES_AND_CALLS:
        # Of a leave or call only the predicate decides; of a store any operand.
        candidates = candidates[:1]
    for k in candidates if not hard else ():
        operand = node.operands[k]
        assert isinstance(operand, Read)
        if found := _suppress_value(nones, operand, wrong.iteration, addresses, set()):
            return found
    if not candidates:
        return pin_to_first_stage(graph, wrong.node)
    operand = node.operands[candidates[0]]
    assert isinstance(operand, Read)
    graph, guard = true_condition(graph)
    graph, copy = guard_value(graph, guard, operand)
    return replace_reads(graph, {(wrong.node, candidates[0]): copy})


def pin_to_first_stage(graph: Graph, node: int) -> Graph:
    nodes = list(graph.nodes)
    nodes[node] = replace(nodes[node], first=True)
    return replace(graph, nodes=tuple(nodes))


def _suppress_value(
    nones: NoneAnalysis, read: Read, iteration: int, addresses: dict[str, int], seen: set[tuple[int, int]]
) -> Graph | None:
    """Graph in which the value read in that iteration, below 0, is None; None where no cheap change makes it so."""
    graph, at = nones.graph, iteration - read.distance
    node = graph.nodes[read.node]
    if (read.node, at) in seen:
        return None
    seen.add((read.node, at))
    if (read.node, read.result) in graph.steady:
        return None
    if at + nones.belt.drop_stage(read.node) < 0:
        distance = next((d for d in range(1, 65) if _has_reader(graph, read, d)), 0)
        return insert_recur(graph, replace(read, distance=distance), addresses) if distance else None
    # A constant in stage 0 is missing before iteration 0: that costs a constraint, not an operation.
    if node.name in LEAF:
        return None if node.first else pin_to_first_stage(graph, read.node)
    # Both give a value as soon as one operand has one: the first operand's None is not enough.
    if node.name in ("recur", "orm"):
        operand = node.operands[1]
        return _suppress_value(nones, operand, at, addresses, seen) if isinstance(operand, Read) else None
    if node.name == "fill":
        source = next(iter(graph.nodes[node.spill].reads))
        return _suppress_value(nones, source, at - node.distance, addresses, seen)
    if not OPS[node.name].strict and node.name not in ("pick", "load", "loads", "loadu"):
        return None
    operands = [o for o in (node.operands[:1] if node.name == "pick" else node.operands) if isinstance(o, Read)]
    # Leaves first: pinning one of them is the cheapest change.
    for operand in sorted(operands, key=lambda o: graph.nodes[o.node].name not in LEAF):
        if found := _suppress_value(nones, operand, at, addresses, seen):
            return found
    return None


def _has_reader(graph: Graph, read: Read, distance: int) -> bool:
    return any(
        d == distance and graph.nodes[n].name != "recur"
        for n, _, d in graph.consumers().get((read.node, read.result), [])
    )
