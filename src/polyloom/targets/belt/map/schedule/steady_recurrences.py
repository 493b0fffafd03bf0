# SPDX-License-Identifier: Apache-2.0
"""Steady recurrences: those that keep their initial value in the iterations below 0, so that no recur lies on their
circuit (docs/targets/belt.md, Loops).

A recur drops in phase P, as a pick does: on a circuit that ends in a pick it costs a bundle. Instead, operands that the
circuit has from outside of itself get the recurs, with neutral values: those with which the circuit gives again what it
was given, as a maximum does of its own initial value. That value lies on the entry belt, and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final

from polyloom.analysis.components import components
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.map.schedule.graph import LEAF, Graph, Node, Read, is_invariant, replace_reads
from polyloom.targets.belt.source.ir import Constant, Nothing, Operand
from polyloom.targets.belt.value_types import BYTES, Type
from polyloom.targets.belt.words.program import Immediate
from polyloom.targets.belt.words.semantics import compute, is_computation

# Combinations grow exponentially with the inputs of the circuit; beyond this a recur is taken.
_MOST: Final = 2000
"""Combinations of neutral values that are tried."""
_FALSE_OF_EQUALS: Final = ("neq", "lsss", "gtrs", "lssu", "gtru", "lssf", "gtrf")
_TRUE_OF_EQUALS: Final = ("eql", "leqs", "geqs", "lequ", "gequ")
_SAME_OF_EQUALS: Final = ("and", "or", "mins", "maxs", "minu", "maxu")


def evaluate(node: Node, given: Sequence[Operand | None]) -> Operand | None:
    """Constant folding: what the node gives for these operands, as an operand from outside of the loop; None where that
    is not known."""
    if node.name == "recur":
        return given[1] if isinstance(given[0], Nothing) else given[0]
    if len(node.results) != 1:
        return None
    type = node.results[0].type
    if node.name == "pick":
        return _evaluate_pick(type, given)
    if not OPS[node.name].strict:
        return None
    if any(isinstance(operand, Nothing) for operand in given):
        return Nothing(type)
    known = [operand for operand in given if operand is not None]
    # A constant is the same in every lane, which a result of lane operations need not be.
    if len(known) < len(given) or not is_computation(node.name) or type.lanes > 1:
        return None
    return _fold_operation(node.name, type, known)


def _evaluate_pick(type: Type, given: Sequence[Operand | None]) -> Operand | None:
    """Pick of known operands; with an unknown condition only where both arms are the same."""
    condition, arms = given[0], (*given[1:], Nothing(type))[:2]
    match condition:
        case Nothing():
            return Nothing(type)
        case Constant(_, bits):
            return arms[0] if bits & 1 else arms[1]
        case _:
            return arms[0] if arms[0] == arms[1] else None


def _fold_operation(name: str, type: Type, given: Sequence[Operand]) -> Operand | None:
    """Operation on known operands, by its semantics or by an identity such as x + 0; None where neither tells."""
    constants = [operand for operand in given if isinstance(operand, Constant)]
    if len(constants) == len(given):
        lanes = [(c.bits,) for c in constants]
        found = compute(name, 8 * BYTES[constants[0].type.width], 8 * BYTES[type.width], lanes, 1)[0][0]
        return Constant(type, found) if isinstance(found, int) else None
    # Values that are not known, but equal: the relation decides alone.
    if len(given) == 2 and given[0] == given[1]:
        if name in _SAME_OF_EQUALS:
            return given[0]
        if name in (*_FALSE_OF_EQUALS, *_TRUE_OF_EQUALS):
            return Constant(type, int(name in _TRUE_OF_EQUALS))
    is_zero = len(given) == 2 and isinstance(given[1], Constant) and given[1].bits == 0
    return given[0] if is_zero and name in ("add", "sub", "or", "xor") else None


def read_operands(graph: Graph, node: Node, of: Callable[[Read], Operand | None]) -> list[Operand | None]:
    """Operands of a node, where `of` tells what is read."""
    found: list[Operand | None] = []
    for operand in node.operands:
        match operand:
            case Read():
                found.append(of(operand))
            case Immediate(value):
                type = Type(graph.operand_width(node))
                found.append(Constant(type, value % (1 << 8 * BYTES[type.width])))
            case _:
                found.append(None)
    return found


def leaf_operand(node: Node) -> Operand | None:
    """Operand that a constant, or a value from outside, is."""
    if node.name == "con":
        return Constant(node.results[0].type, node.literal)
    return node.constant or node.home


def keep_initial_values(
    graph: Graph, read: Read, supplied: Callable[[Graph, Read, Operand], tuple[Graph, Read]]
) -> Graph | None:
    """Graph in which the circuit of what is read keeps its initial values; None where no neutral values are found.
    `supplied` puts a recur on what is read."""
    circuit = _recurrence_circuit(graph, read.node)
    starts = {
        (r.node, r.result): graph.initial.get((r.node, r.result), ())
        for n in circuit
        for r in graph.nodes[n].reads
        if r.distance and r.node in circuit
    }
    if any(node.spill >= 0 for node in graph.nodes):
        return None  # a circuit through scratch is not seen in what is read
    if not starts or any(len(set(s)) != 1 or isinstance(s[0], Nothing) for s in starts.values()):
        return None
    before = {key: s[0] for key, s in starts.items()}
    inputs = list(
        dict.fromkeys(
            r
            for n in circuit
            for r in graph.nodes[n].reads
            if r.node not in circuit and not _is_invariant_read(graph, r)
        )
    )
    for chosen in _neutral_choices([graph.type(r) for r in inputs], list(before.values())):
        kept = _fixed_point(graph, circuit, before, dict(zip(inputs, chosen, strict=True)))
        if kept is None:
            continue
        for given, value in zip(inputs, chosen, strict=True):
            if isinstance(value, Nothing):
                continue
            places = [(n, k) for n in circuit for k, o in enumerate(graph.nodes[n].operands) if o == given]
            graph, new = supplied(graph, given, value)
            graph = replace_reads(graph, dict.fromkeys(places, new))
            # Before iteration 0 the recur itself has this value.
            kept[new.node, new.result] = value
        initial = {**{key: (value,) for key, value in kept.items()}, **graph.initial}
        return replace(graph, initial=initial, steady=graph.steady | set(kept))
    return None


def _is_invariant_read(graph: Graph, read: Read) -> bool:
    return not read.distance and is_invariant(graph.nodes[read.node])


def _recurrence_circuit(graph: Graph, node: int) -> list[int]:
    """Recurrence circuit: the strongly connected component of a node (Tarjan 1972), each node after what it reads of
    its iteration."""
    arcs = {n: sorted({r.node for r in node.reads}) for n, node in enumerate(graph.nodes)}
    found = next(c for c in components(arcs) if node in c)
    order: list[int] = []

    def visit(n: int) -> None:
        for r in graph.nodes[n].reads:
            if not r.distance and r.node in found and r.node not in order:
                visit(r.node)
        if n not in order:
            order.append(n)

    for n in sorted(found):
        visit(n)
    return order


def _neutral_choices(types: Sequence[Type], starts: Sequence[Operand]) -> Iterator[tuple[Operand, ...]]:
    """Candidate neutral values of the inputs, a Nothing where an input may be missing; those with the fewest recurs
    first."""
    each = [list(_neutral_values(type, starts)) for type in types]
    count = 1
    for values in each:
        count *= len(values)
    if count > _MOST:
        return
    yield from sorted(product(*each), key=lambda chosen: sum(not isinstance(c, Nothing) for c in chosen))


def _neutral_values(type: Type, starts: Sequence[Operand]) -> Iterator[Operand]:
    """Neutral values of a type: None, initial values, and the extremes that min, max, and, or and add leave alone."""
    yield Nothing(type)
    if type.lanes > 1:
        return
    bits = 8 * BYTES[type.width]
    own = [start for start in starts if start.type == type]
    # Identities of and, or, min, max, add and mul: 0, 1, all ones, the least and the greatest signed number.
    extremes = (0, 1) if type.width == "b" else (0, 1, (1 << bits) - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1)
    yield from dict.fromkeys([*own, *(Constant(type, value) for value in extremes)])


def _fixed_point(
    graph: Graph,
    circuit: Sequence[int],
    before: Mapping[tuple[int, int], Operand],
    inputs: Mapping[Read, Operand],
) -> dict[tuple[int, int], Operand] | None:
    """Values that the circuit gives, if it gives what it is given (a fixed point); else None."""
    made: dict[int, Operand | None] = {}

    def read_value(read: Read) -> Operand | None:
        if read in inputs:
            return inputs[read]
        if read.distance:
            return before.get((read.node, read.result))
        return leaf_operand(graph.nodes[read.node]) if graph.nodes[read.node].name in LEAF else made.get(read.node)

    for n in circuit:
        made[n] = evaluate(graph.nodes[n], read_operands(graph, graph.nodes[n], read_value))
    if any(made[node] != start for (node, _), start in before.items()):
        return None
    return {(n, 0): value for n, value in made.items() if value is not None and not isinstance(value, Nothing)}
