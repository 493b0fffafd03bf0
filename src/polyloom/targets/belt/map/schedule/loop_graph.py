# SPDX-License-Identifier: Apache-2.0
"""Dependence graph of a loop in the member-independent form: parameters resolved, constants and outside values as
leaves (I. Godard, "Pipelining"; docs/targets/belt.md, Loops).

A parameter is read as what the back arc gives it, with the distance; parameters that change places, and two that one
value feeds with differing first values, get copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from polyloom.targets.belt.isa import BY_WIDTH, MANY, OPS
from polyloom.targets.belt.map.schedule.graph import LEAF, LEAVES, Graph, Node, Read, Source, prune, replace_reads
from polyloom.targets.belt.source.ir import Address, Constant, Loop, Nothing, Op, Operand, Order, Value
from polyloom.targets.belt.value_types import BYTES, Type, Width
from polyloom.targets.belt.words.program import Immediate
from polyloom.twos_complement import sign_extend


def immediate_value(op: str, operands: Sequence[Operand], number: int) -> int | None:
    """Immediate of an operand: the signed constant that it may be in the word itself, else None."""
    operand = operands[number]
    row = OPS[op]
    if not row.immediate or number != len(operands) - 1 or not isinstance(operand, Constant):
        return None
    bits = 8 * BYTES[operand.type.width]
    value = operand.bits - (1 << bits) if operand.bits >> (bits - 1) else operand.bits
    return value if -128 <= value <= 127 else None


def predicate_leave(op: Op) -> Op:
    """Leave with a condition as a leavetr, whatever it was called."""
    return replace(op, name="leavetr") if op.name == "leave" and op.operands else op


def stated_width(op: Op, given: Sequence[Operand]) -> Width | None:
    """Width that the word states, None where operands tell it."""
    row = OPS[op.name]
    if row.width == "=":
        return op.width
    return given[0].type.width if row.latency in BY_WIDTH else None


class Builder:
    """Builder of a loop's graph. Mutable."""

    def __init__(self, loop: Loop, arguments: Sequence[Operand], addresses: Mapping[str, int]) -> None:
        self.loop, self.addresses = loop, addresses
        self.alias = {op.results[0].name: op.operands[0] for op in loop.ops if op.name == "con"}
        self.ops = [predicate_leave(op) for op in loop.ops]
        # Constants become leaves where they are read; a store of None has no node.
        kept = [k for k, op in enumerate(self.ops) if op.name != "con" and not _is_void_store(op)]
        self.node_of = {k: n for n, k in enumerate(kept)}
        self.nodes: list[Node] = [Node("con")] * len(kept)
        self.where = {v.name: Read(self.node_of[k], r) for k in kept for r, v in enumerate(self.ops[k].results)}
        self.parameter = {p.name: k for k, p in enumerate(loop.parameters)}
        self.arguments = arguments
        self.initial: dict[tuple[int, int], tuple[Operand, ...]] = {}
        self.shared: dict[object, Read] = {}
        self.chain: dict[str, tuple[Read | Operand, tuple[Operand, ...]]] = {}

    def build(self) -> Graph:
        """Graph with roles; operations that nothing needs are gone."""
        # Parameters first: operations read what their chains lead to.
        for parameter in self.loop.parameters:
            self._resolve_parameter(parameter.name, ())
        for k, n in self.node_of.items():
            self.nodes[n] = self._node(self.ops[k], k)
        order = tuple(
            Order(self.node_of[o.source], self.node_of[o.sink], o.distance)
            for o in self.loop.order
            if o.source in self.node_of and o.sink in self.node_of
        )
        # Roles last: the steps before change what the test reads.
        return _assign_loop_roles(prune(compare_predecessor(Graph(tuple(self.nodes), order, self.initial))))

    def _node(self, op: Op, index: int) -> Node:
        """Node of an operation, with its operands resolved."""
        given = list(op.operands) + (list(op.edge.arguments) if op.edge is not None else [])
        name = op.name
        if name == "pick" and len(given) == 3 and isinstance(given[2], Nothing):
            given.pop()
        row = OPS[name]
        operands = tuple(self._source(name, given, k, row.operands[1] == MANY) for k in range(len(given)))
        return Node(
            name,
            operands,
            op.results,
            stated_width(op, given),
            op.scale,
            op.offset,
            callee=op.callee,
            edge=op.edge,
            index=index,
            place=op.place,
        )

    def _source(self, name: str, given: list[Operand], k: int, is_list: bool) -> Source:
        given = [self._resolve_alias(o) for o in given]
        value = None if is_list else immediate_value(name, given, k)
        return Immediate(value) if value is not None else self._read(given[k])

    def _resolve_alias(self, operand: Operand) -> Operand:
        while isinstance(operand, Value) and operand.name in self.alias:
            operand = self.alias[operand.name]
        return operand

    def _read(self, operand: Operand) -> Read:
        """Read of an operand: a parameter's source, a result, or a leaf."""
        operand = self._resolve_alias(operand)
        if isinstance(operand, Value) and operand.name in self.parameter:
            found, _ = self.chain[operand.name]
            return found if isinstance(found, Read) else self._external_read(self._external_operand(found))
        if isinstance(operand, Value) and operand.name in self.where:
            return self.where[operand.name]
        return self._external_read(operand)

    def _external_operand(self, found: Read | Operand) -> Operand:
        assert not isinstance(found, Read)
        return found

    def _external_read(self, operand: Operand, own: bool = False) -> Read:
        """Read of a con or a fillx; one per constant or value, or one of its own."""
        if not own and operand in self.shared:
            return self.shared[operand]
        if isinstance(operand, Nothing):
            read = self._absent_value(operand.type)
        else:
            read = self._add(external_node(operand, self.addresses, len(self.nodes)))
        if not own:
            self.shared[operand] = read
        return read

    def _absent_value(self, type: Type) -> Read:
        """None value: a pick by a false condition without a second arm."""
        never, some = (self._external_read(Constant(t, 0)) for t in (Type("b"), type))
        return self._add(Node("pick", (never, some), (Value(f"none.{len(self.nodes)}", type),)))

    def _add(self, node: Node) -> Read:
        self.nodes.append(node)
        return Read(len(self.nodes) - 1)

    def _resolve_parameter(self, name: str, path: tuple[str, ...]) -> tuple[Read | Operand, tuple[Operand, ...]]:
        """Resolve a parameter: where its value comes from, and its values in the first iterations, the latest one
        first."""
        if name in self.chain:
            return self.chain[name]
        k = self.parameter[name]
        start, after = self.arguments[k], self._resolve_alias(self.loop.next[k])
        # A parameter that stays as it is has its initial value in all iterations.
        if isinstance(after, Value) and after.name == name:
            self.chain[name] = (start, ())
            return self.chain[name]
        if isinstance(after, Value) and after.name in self.parameter and after.name not in path:
            # A parameter that becomes another one is that one's value an iteration earlier: a chain of delays.
            found, known = self._resolve_parameter(after.name, (*path, name))
            if name in self.chain:
                return self.chain[name]
            if isinstance(found, Read):
                return self._carry_parameter(name, replace(found, distance=found.distance + 1), (*known, start))
            return self._carry_parameter(name, self._delayed_leaf(self._external_operand(found)), (start,))
        if isinstance(after, Value) and after.name in self.parameter:
            # The path came back to where it began: the parameters rotate among themselves.
            return self._break_cycle(name, after)
        if isinstance(after, Value) and after.name in self.where:
            return self._carry_parameter(name, replace(self.where[after.name], distance=1), (start,))
        # The back arc gives the initial value again: a constant of the loop.
        if after == start:
            self.chain[name] = (start, ())
            return self.chain[name]
        return self._carry_parameter(name, self._delayed_leaf(after), (start,))

    def _delayed_leaf(self, operand: Operand) -> Read:
        """Leaf of its own, read one iteration later: the first iteration has another value."""
        return replace(self._external_read(operand, own=True), distance=1)

    def _break_cycle(self, name: str, after: Value) -> tuple[Read | Operand, tuple[Operand, ...]]:
        """Break a cycle of parameters that change places: a copy of one of them."""
        start = self.arguments[self.parameter[name]]
        copy = self._add_copy(Read(-1), after.type)
        self.chain[name] = (replace(copy, distance=1), (start,))
        self.initial[copy.node, 0] = (start,)
        found, known = self._resolve_parameter(after.name, ())
        assert isinstance(found, Read)
        self.nodes[copy.node] = replace(self.nodes[copy.node], operands=(found, Immediate(0)))
        del known
        return self.chain[name]

    def _add_copy(self, of: Read, type: Type) -> Read:
        """Copy of a value: an `or` with 0, since no operation only moves."""
        return self._add(Node("or", (of, Immediate(0)), (Value(f"copy.{len(self.nodes)}", type),)))

    def _carry_parameter(
        self, name: str, read: Read, starts: tuple[Operand, ...]
    ) -> tuple[Read | Operand, tuple[Operand, ...]]:
        """Read of a value that comes over the back arc. Where others know it with other first values, a copy is
        made."""
        key = (read.node, read.result)
        known = self.initial.get(key, ())
        common = min(len(known), len(starts))
        if known[:common] != starts[:common]:
            type = self.loop.parameters[self.parameter[name]].type
            copy = self._add_copy(replace(read, distance=read.distance - 1), type)
            # What the copy itself reads from before the loop is what the others know.
            read, key, known, starts = replace(copy, distance=1), (copy.node, 0), (), starts[-1:]
        self.initial[key] = starts if len(starts) > len(known) else known
        self.chain[name] = (read, starts)
        return self.chain[name]


def external_node(operand: Operand, addresses: Mapping[str, int], number: int) -> Node:
    """Leaf node for an operand from outside: a con, or a fillx from the value's home."""
    match operand:
        case Constant(type, bits):
            literal = sign_extend(bits, 8 * BYTES[type.width])
            return Node("con", (), (Value(str(literal), type),), type.width, literal=bits)
        case Address(name, offset):
            literal = (addresses[name] + offset) % (1 << 32)
            return Node("con", (), (Value(f"@{name}", operand.type),), "w", literal=literal)
        case Value():
            return Node("fillx", (), (operand,), operand.type.width, home=operand)
        case _:
            raise AssertionError(f"a None is made of {number}")


def _is_void_store(op: Op) -> bool:
    """Whether an operation is a store that never happens."""
    return op.name == "store" and any(isinstance(o, Nothing) for o in op.operands)


def compare_predecessor(graph: Graph) -> Graph:
    """Test of a counter's predecessor: whether x + k equals c is asked of x. The test waits for one operation less, and
    before the loop, where the counter's predecessor has a value but not the one before that, it is None by itself."""
    changes: dict[tuple[int, int], Source] = {}
    for n, node in enumerate(graph.nodes):
        if node.name not in ("eql", "neq") or not isinstance(node.operands[1], Immediate):
            continue
        counted, c = node.operands[0], node.operands[1].value
        if not isinstance(counted, Read) or counted.distance:
            continue
        step = graph.nodes[counted.node]
        if step.name not in ("add", "sub") or not isinstance(step.operands[1], Immediate):
            continue
        k = step.operands[1].value if step.name == "add" else -step.operands[1].value
        before = step.operands[0]
        # Modulo the width both ask the same; the new constant must still be an immediate.
        if isinstance(before, Read) and before.distance and -128 <= c - k <= 127:
            changes |= {(n, 0): before, (n, 1): Immediate(c - k)}
    return replace_reads(graph, changes)


def _assign_loop_roles(graph: Graph) -> Graph:
    """Roles of a counted loop with one exit, for members whose hardware loops are free: the counter, its test and the
    leave; nodes as they are in other loops."""
    leaves = [n for n, node in enumerate(graph.nodes) if node.name in LEAVES]
    if len(leaves) != 1 or not graph.nodes[leaves[0]].operands or graph.nodes[leaves[0]].name == "leave":
        return graph
    leave = leaves[0]
    tested = graph.nodes[leave].operands[0]
    if not isinstance(tested, Read) or tested.distance:
        return graph
    test = graph.nodes[tested.node]
    used = graph.consumers()
    # A test that something else reads must be computed in an ordinary slot.
    if OPS[test.name].latency != "compare" or [c[0] for c in used[tested.node, 0]] != [leave]:
        return graph
    for read in test.reads:
        counter = graph.nodes[read.node]
        # The counter is its own operand, one iteration earlier; its step is the same in all iterations.
        own = any(r.node == read.node and r.distance == 1 for r in counter.reads)
        steady = all(graph.nodes[r.node].name in LEAF for r in counter.reads if r.node != read.node)
        if counter.name in ("add", "sub") and own and steady:
            roles = {read.node: "counter", tested.node: "test", leave: "leave"}
            return replace(graph, nodes=tuple(replace(n, role=roles.get(k, "")) for k, n in enumerate(graph.nodes)))
    return graph
