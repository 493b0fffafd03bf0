# SPDX-License-Identifier: Apache-2.0
"""Dependence graph of a block for `open_code`: what its operations read of the belt, of scratch and of each other.

A value that lives beyond its block is in the list of every transfer on its way, or, if it is `homed`, in scratch: its
block spills it once (spillx), others fill it (fillx). What lies too far on the belt for an operation is filled again
for that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from polyloom.targets.belt.isa import MANY, OPS
from polyloom.targets.belt.machine import Machine
from polyloom.targets.belt.map.schedule.graph import Absent, Graph, Node, Read, Source
from polyloom.targets.belt.map.schedule.loop_graph import external_node, immediate_value, predicate_leave, stated_width
from polyloom.targets.belt.map.schedule.normalize_loops import edges
from polyloom.targets.belt.map.schedule.open_code import ENTRY, Code, Mode, is_leaf, memory_precedence
from polyloom.targets.belt.map.schedule.problem import gap, latency
from polyloom.targets.belt.source.ir import (
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Jump,
    Loop,
    Nothing,
    Operand,
    Return,
    Value,
)
from polyloom.targets.belt.value_types import Type
from polyloom.targets.belt.words.program import Immediate

Key = Operand
"""What a leaf gives: a constant, an address, or a value at home."""


@dataclass(frozen=True, slots=True)
class Head:
    """Head of a pipelined loop, what the block before it does: the bytes of scratch with the loop's frames, values that
    it spills into these, constants that the loop fills, and the loop's belt."""

    bytes: int = 0
    frame: int = 0
    frames: int = 0
    spills: tuple[tuple[int, Operand], ...] = ()
    constants: tuple[tuple[Value, Constant], ...] = ()
    belt: tuple[Operand | None, ...] = ()


@dataclass(slots=True)
class Plan:
    """Spill decisions of a function, mutable: grows from round to round. `homed` are names of values in scratch;
    `refilled` are (block, operation, what): read from a con or fillx of its own; `carried` are parameters that pass
    through scratch; `used` are all operands of the function. `modes` are how blocks are scheduled, by default
    greedily; `local` are the homes of values that a block spills for itself."""

    machine: Machine
    function: Function
    addresses: Mapping[str, int]
    heads: Mapping[str, Head]
    homed: set[str] = field(default_factory=set[str])
    refilled: set[tuple[str, int, Key]] = field(default_factory=set[tuple[str, int, Key]])
    carried: set[str] = field(default_factory=set[str])
    modes: dict[str, Mode] = field(default_factory=dict[str, Mode])
    local: dict[str, tuple[Value, ...]] = field(default_factory=dict[str, tuple[Value, ...]])
    scratch: int = 0
    live: Mapping[str, tuple[Value, ...]] = field(default_factory=dict[str, tuple[Value, ...]])
    used: frozenset[Operand] = frozenset()

    def entry(self, block: Block | Loop) -> tuple[Value, ...]:
        """Entry belt of a block: the list that a transfer to it makes."""
        parameters = (p for p in block.parameters if p.name not in self.carried)
        return (*parameters, *(v for v in self.live[block.name] if not self.has_home(v)))

    def has_home(self, value: Value) -> bool:
        return value.name in self.homed

    def mode(self, block: str) -> Mode:
        return self.modes.get(block, "greedy")

    def has_own_fill(self, block: str, operation: int, key: Key) -> bool:
        mode = self.mode(block)
        return mode == "serial" or (mode == "greedy" and (block, operation, key) in self.refilled)


def parameter_home(parameter: Value) -> Value:
    """Value for the scratch of a parameter that passes through it: another name, so that both can be at home at
    once."""
    return Value(f"{parameter.name}'", parameter.type)


def used_operands(block: Block | Loop, after: Iterable[Operand] = ()) -> list[Operand]:
    """Operands of a block, arguments of its edges included."""
    found = [o for op in block.ops for o in op.operands]
    found += [a for edge in edges(block) for a in edge.arguments]
    if isinstance(block, Loop):
        found += block.next
    elif isinstance(block.terminator, Branch):
        found.append(block.terminator.condition)
    elif isinstance(block.terminator, Return):
        found += block.terminator.values
    return [*found, *after]


def live_values(function: Function) -> dict[str, tuple[Value, ...]]:
    """Liveness by backward data flow (Muchnick 1997, chapter 8): the values that each block, or what comes after it,
    uses and that are defined before it; in order of names."""
    blocks = {block.name: block for block in function.blocks}
    own = {b.name: {*b.parameters, *(v for op in b.ops for v in op.results)} for b in function.blocks}
    found = {b.name: {o for o in used_operands(b) if isinstance(o, Value)} - own[b.name] for b in function.blocks}
    changed = True
    while changed:
        changed = False
        # Against the order of control, so that most facts are found in the first round.
        for name, block in reversed(blocks.items()):
            more = {v for edge in edges(block) for v in found[edge.target]} - own[name]
            if not more <= found[name]:
                found[name] |= more
                changed = True
    # The order of a list is part of the program: it must not depend on a set's.
    return {name: tuple(sorted(values, key=lambda v: v.name)) for name, values in found.items()}


class Builder:
    """Builder of a block's graph. Mutable while operations are listed. An operation's number, for `refilled`, is its
    position."""

    def __init__(self, plan: Plan, block: Block) -> None:
        self.plan, self.block = plan, block
        self.nodes: list[Node] = []
        self.after: dict[int, list[tuple[int, int]]] = {}
        self.where: dict[str, Read] = {}
        self.leaves: dict[Key, Read] = {}
        self.spilled: dict[str, int] = {}
        self.operation: dict[int, int] = {}
        self.own: dict[tuple[int, Key], Read] = {}
        self.aliases = constant_names(plan.function)
        self.branch = -1

    def build(self) -> tuple[Code, dict[int, int]]:
        """Code of the block, and the operation of each node that reads."""
        entry: list[int] = []
        for value in self.plan.entry(self.block):
            entry.append(len(self.nodes))
            self.where[value.name] = Read(len(self.nodes))
            self.nodes.append(Node(ENTRY, (), (value,)))
        self._allocate_scratch()
        for k, value in enumerate(self.block.parameters):
            # Parameters have places before operation 0, so that their spills come first in the program's order.
            position = k - len(self.block.parameters)
            if value.name in self.plan.carried:
                home = parameter_home(value)
                node = Node("fillx", (), (value,), value.type.width, home=home, index=4 * position, role="parameter")
                self.where[value.name] = Read(self._add(node, -1))
            self._spill_home(value, position)
        for k in range(len(self.block.ops)):
            self._add_operation(k)
        self._add_transfers()
        mode = self.plan.mode(self.block.name)
        return Code(Graph(tuple(self.nodes)), tuple(entry), self.after, mode), self.operation

    def _allocate_scratch(self) -> None:
        """Allocate scratch in the function's first block."""
        if self.block is self.plan.function.blocks[0] and self.plan.scratch:
            self._add(Node("scratchf", offset=self.plan.scratch, index=-1 << 20), -1)

    def _add(self, node: Node, operation: int) -> int:
        self.nodes.append(node)
        self.operation[len(self.nodes) - 1] = operation
        return len(self.nodes) - 1

    def _spill_home(self, value: Value, position: int) -> None:
        """Spill a value that its block gives, right after it."""
        if not self.plan.has_home(value):
            return
        type = value.type
        node = Node("spillx", (self.where[value.name],), (), type.width, index=4 * position + 1, home=value)
        n = self._add(node, -1)
        self.spilled[value.name] = n
        self.after.setdefault(n, []).extend(self._scratch_allocation(n))

    def _add_operation(self, k: int) -> None:
        """Add an operation of the block with what it reads, and spill results that have a home."""
        op = predicate_leave(self.block.ops[k])
        # Constants are added where they are read; a store of None does nothing.
        if op.name == "con" or (op.name == "store" and any(isinstance(o, Nothing) for o in op.operands)):
            return
        given = list(op.operands)
        if op.name == "pick" and len(given) == 3 and isinstance(given[2], Nothing):
            given.pop()
        # Only lists can have a None as an item; an operand that is one must be computed.
        is_list = OPS[op.name].operands[1] == MANY
        operands = tuple(self._source(op.name, given, j, k, is_list) for j in range(len(given)))
        width = stated_width(op, given)
        node = Node(
            op.name, operands, op.results, width, op.scale, op.offset, callee=op.callee, index=4 * k, place=op.place
        )
        n = self._add(node, k)
        for r, value in enumerate(op.results):
            self.where[value.name] = Read(n, r)
        for value in op.results:
            self._spill_home(value, k)

    def _source(self, name: str, given: Sequence[Operand], j: int, k: int, is_list: bool) -> Source:
        given = [self._resolve_alias(o) for o in given]
        if not is_list and (value := immediate_value(name, given, j)) is not None:
            return Immediate(value)
        return self._read(given[j], k, is_list)

    def _resolve_alias(self, operand: Operand) -> Operand:
        names = self.aliases
        while isinstance(operand, Value) and operand.name in names:
            operand = names[operand.name]
        return operand

    def _read(self, operand: Operand, k: int, is_list: bool) -> Source:
        """Read of an operand: from the belt, or from a leaf."""
        operand = self._resolve_alias(operand)
        if isinstance(operand, Nothing):
            return Absent(operand.type.width) if is_list else self._absent_value(operand.type, k)
        if isinstance(operand, Value) and operand.name in self.where:
            if self.plan.has_own_fill(self.block.name, k, operand) and operand.name in self.spilled:
                return self._leaf(operand, k)
            return self.where[operand.name]
        return self._leaf(operand, k)

    def _absent_value(self, type: Type, k: int) -> Read:
        """None value: a pick by a false condition without a second arm."""
        never, some = self._leaf(Constant(Type("b"), 0), k), self._leaf(Constant(type, 0), k)
        n = self._add(Node("pick", (never, some), (Value("none", type),), index=4 * k - 1), k)
        return Read(n)

    def _leaf(self, key: Key, k: int) -> Read:
        """Constant or fill for an operation: one for the whole block, or one of its own where the shared one is
        lost."""
        # Without phases a constant drops at a bundle's end, which no branch taken in it may leave on its way.
        late = k > len(self.block.ops) and not self.plan.machine.phasing
        own = late or self.plan.has_own_fill(self.block.name, k, key)
        known = self.own.get((k, key)) if own else self.leaves.get(key)
        if known is not None:
            return known
        node = external_node(key, self.plan.addresses, len(self.nodes))
        n = self._add(node, -1)
        if node.home is not None and node.home.name in self.spilled:
            # A fill drops two bundles after its spill at the earliest (docs/targets/belt.md, In detail).
            self.after[n] = [(self.spilled[node.home.name], 2)]
        if late:
            self.after.setdefault(n, []).append((self.branch, 1))
        if own:
            self.own[k, key] = Read(n)
        else:
            self.leaves[key] = Read(n)
        return Read(n)

    def _add_transfers(self) -> None:
        """Transfers of the block's end, with everything that must come before them."""
        k = len(self.block.ops)
        end = self.block.terminator
        memory = memory_precedence(self.plan.machine, Graph(tuple(self.nodes)), range(len(self.nodes)))
        for n, pairs in memory.items():
            self.after.setdefault(n, []).extend(pairs)
        match end:
            case Return(values):
                transfers = [self._add(Node("retn", self._list(values, k), index=4 * k), k)]
            case Jump(edge) if self._entered_loop(edge) is not None:
                transfers = [self._enter_loop(edge, k)]
            case Jump(edge):
                self._carry_arguments(edge, k)
                transfers = [self._add(Node("br", self._list(self._transfer_list(edge), k), edge=edge, index=4 * k), k)]
            case Branch(condition, then, orelse):
                decided = self._read(condition, k, False)
                listed = (decided, *self._list(self._transfer_list(then), k))
                # A branch is two transfers in one bundle: the first one that happens wins, so the second needs no
                # condition.
                first = self.branch = self._add(Node("brtr", listed, edge=then, index=4 * k, place=end.place), k)
                last = self._add(
                    Node("br", self._list(self._transfer_list(orelse), k + 1), edge=orelse, index=4 * k + 4), k + 1
                )
                # Never before the conditional one: a transfer without a condition would end the block first.
                self.after.setdefault(last, []).append((first, 0))
                transfers = [first, last]
        for n in transfers:
            self.after.setdefault(n, []).extend(self._transfer_bounds(n, transfers))

    def _transfer_bounds(self, transfer: int, transfers: Sequence[int]) -> list[tuple[int, int]]:
        """Precedence of a transfer: it comes when all has dropped and what was spilled can be filled in its target's
        first bundle."""
        machine, graph = self.plan.machine, Graph(tuple(self.nodes))
        found: list[tuple[int, int]] = []
        for n, node in enumerate(self.nodes):
            if n in transfers or node.name == ENTRY or is_leaf(node):
                continue
            if node.results:
                found.append((n, latency(machine, graph, node) + gap(machine, node, self.nodes[transfer])))
            else:
                found.append((n, 1 if node.name in ("spillx", "spill") else 0))
        return found

    def _entered_loop(self, edge: Edge) -> Loop | None:
        return next((b for b in self.plan.function.blocks if isinstance(b, Loop) and b.name == edge.target), None)

    def _transfer_list(self, edge: Edge) -> tuple[Operand, ...]:
        """List of a transfer along an edge: arguments that do not pass through scratch, then the values that live on in
        the target."""
        target = next(b for b in self.plan.function.blocks if b.name == edge.target)
        pairs = zip(target.parameters, edge.arguments, strict=True)
        given = [argument for parameter, argument in pairs if parameter.name not in self.plan.carried]
        return (*given, *self.plan.entry(target)[len(given) :])

    def _carry_arguments(self, edge: Edge, k: int) -> None:
        """Spill what the target's parameters that pass through scratch are to be."""
        target = next(b for b in self.plan.function.blocks if b.name == edge.target)
        first = [n for n, node in enumerate(self.nodes) if node.role == "parameter"]
        for parameter, argument in zip(target.parameters, edge.arguments, strict=True):
            if parameter.name not in self.plan.carried:
                continue
            read = self._read(argument, k, False)
            home, width = parameter_home(parameter), parameter.type.width
            n = self._add(Node("spillx", (read,), (), width, index=4 * k - 1, home=home), k)
            # A block that jumps to itself reads its old parameters before it writes the new ones.
            self.after[n] = [*((m, 0) for m in first), *self._scratch_allocation(n)]

    def _scratch_allocation(self, end: int) -> list[tuple[int, int]]:
        return [(n, 1) for n, node in enumerate(self.nodes[:end]) if node.name == "scratchf"]

    def _list(self, operands: Sequence[Operand], k: int) -> tuple[Source, ...]:
        return tuple(self._read(o, k, True) for o in operands)

    def _enter_loop(self, edge: Edge, k: int) -> int:
        """Entry of a pipelined loop: its constants and initial values spilled, frames allocated, and `inner` with the
        entry belt."""
        head = self.plan.heads[edge.target]
        # The loop fills these in every pass, from scratch that does not rotate.
        for home, constant in head.constants:
            read = self._leaf(constant, k)
            # In the program's order, too, before the allocation of frames, which comes after all spills into homes.
            n = self._add(Node("spillx", (read,), (), constant.type.width, index=4 * k - 3, home=home), k)
            self.after[n] = self._scratch_allocation(n)
            self.spilled[home.name] = n
        if head.frames:
            scratch = self._add(
                Node("scratchf", offset=head.bytes, literal=head.frame, scale=head.frames, index=4 * k - 3), -1
            )
            # No spill into a home may come after the allocation that adds the frames.
            self.after[scratch] = [(n, 0) for n in self.spilled.values()]
            for n, node in enumerate(self.nodes[:scratch]):
                if node.name == "scratchf":
                    self.after[scratch].append((n, 1))
            for place, operand in head.spills:
                read = self._read(operand, k, False)
                node = Node("spill", (read,), (), operand.type.width, offset=place, index=4 * k - 2)
                n = self._add(node, k)
                self.after[n] = [(scratch, 1)]
        operands = tuple(Absent() if o is None else self._read(o, k, True) for o in head.belt)
        return self._add(Node("inner", operands, edge=replace(edge, arguments=()), index=4 * k), k)


def constant_names(function: Function) -> dict[str, Operand]:
    """Operands of which con operations are names; they are read in the operand's place."""
    return {op.results[0].name: op.operands[0] for b in function.blocks for op in b.ops if op.name == "con"}
