# SPDX-License-Identifier: Apache-2.0
"""If-conversion of innermost loops: their blocks become a chain, a hyperblock (Mahlke et al., "Effective compiler
support for predicated execution using the hyperblock", 1992).

A block's predicate follows from the branches between it and its dominator; where it also post-dominates that, the
predicate is the dominator's (Ferrante, Ottenstein, Warren, 1987, on control dependence). Exits count as no way on: what
comes behind a side exit in the chain happens only where it was not taken. What only computes is done anyway; what
several blocks give is selected. What has an effect or may fault is done under its predicate, or speculatively, as far
as the machine has it (`Speculation`); a loop that needs more stays as it is.

A condition of a block that is not reached may be poison. So predicates are joined by `and` where the condition always
has a value, else by a `select` that does not look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.analysis.effects import Externals, externals_by_name
from polyloom.analysis.loops import loop_forest
from polyloom.analysis.superblocks import SideExit, Superblock, innermost, with_superblock
from polyloom.ir.ssa import (
    GUARDED,
    NOWHERE,
    SPECULATIVE,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Place,
    Undef,
    Value,
    flow_edges,
    successor_edges,
)
from polyloom.ir.ssa_types import I1
from polyloom.transform.ssa.function_editing import names, on_each_function, with_operands
from polyloom.transform.ssa.speculation import Speculation, as_speculative

END: Final = ""
"""Where all ways from the header lead that do not leave the loop; no block has this name."""
_UNCERTAIN: Final = ("fptosi", "fptoui")
"""Operations that may give no value where they are not asked for, beside what is speculative or guarded."""
_OPPOSITE: Final = {
    "eq": "ne",
    "slt": "sge",
    "sle": "sgt",
    "ult": "uge",
    "ule": "ugt",
    "foeq": "fune",
    "ne": "eq",
    "sge": "slt",
    "sgt": "sle",
    "uge": "ult",
    "ugt": "ule",
    "fune": "foeq",
}
_TRUE, _FALSE = Constant(I1, 1), Constant(I1, 0)


@on_each_function
def form_hyperblocks(function: Function, speculation: Speculation) -> Function:
    """Hyperblock formation (Mahlke et al. 1992): the function whose innermost reducible loops are superblocks, as far
    as the machine allows.
    """
    forest = loop_forest(len(function.blocks), flow_edges(function))
    fresh, externals = names(function), externals_by_name(function)
    members = [
        {function.blocks[n].name for n in forest.members(k)} for k, loop in innermost(forest) if not loop.irreducible
    ]
    headers = [function.blocks[loop.header].name for _, loop in innermost(forest) if not loop.irreducible]
    for header, inside in zip(headers, members, strict=True):
        blocks = {block.name: block for block in function.blocks if block.name in inside}
        order = topological_order(blocks, header)
        if _convertible(blocks, order, speculation, externals):
            made = _Conversion(blocks, order, fresh)
            function = with_superblock(function, made.superblock(), fresh)
            function = replace(function, blocks=tuple(with_operands(b, made.operand) for b in function.blocks))
    return function


def topological_order(blocks: Mapping[str, Block], header: str) -> tuple[str, ...]:
    """Topological order of an innermost loop's blocks, the header first, each after those that jump to it: a reversed
    postorder (Muchnick 1997, section 7.2).
    """
    found: list[str] = []
    seen = {header}
    path = [(header, iter(successor_edges(blocks[header].terminator)[::-1]))]
    while path:
        name, rest = path[-1]
        edge = next((e for e in rest if e.block in blocks and e.block not in seen), None)
        if edge is None:
            found.append(name)
            path.pop()
        else:
            seen.add(edge.block)
            path.append((edge.block, iter(successor_edges(blocks[edge.block].terminator)[::-1])))
    return tuple(reversed(found))


def _convertible(
    blocks: Mapping[str, Block], order: tuple[str, ...], speculation: Speculation, externals: Externals
) -> bool:
    if not all(isinstance(block.terminator, Jump | Branch) for block in blocks.values()):
        return False
    return all(speculation.allows(i, externals) for name in order[1:] for i in blocks[name].instructions)


@dataclass(frozen=True, slots=True)
class _Way:
    """An edge within the loop: from where, under which condition (None: always) and its sense, with what."""

    source: str
    condition: Operand | None
    sense: bool
    arguments: tuple[Operand, ...]


@dataclass(slots=True)
class _Conversion:
    """Predication of one loop (Park, Schlansker, "On predicated execution", 1991). Mutable: a loop becoming a line."""

    blocks: Mapping[str, Block]
    order: tuple[str, ...]
    fresh: Callable[[str], str]
    made: list[Instruction] = field(default_factory=list[Instruction])
    exits: list[SideExit] = field(default_factory=list[SideExit])
    known: dict[str, Operand] = field(default_factory=dict[str, Operand])
    ways: dict[str, list[_Way]] = field(default_factory=dict[str, list[_Way]])
    unsafe: set[str] = field(default_factory=set[str])
    related: dict[tuple[str, str], Operand | None] = field(default_factory=dict[tuple[str, str], Operand | None])
    above: dict[str, str] = field(default_factory=dict[str, str])
    below: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    seen: int = 0
    place: Place = NOWHERE

    def superblock(self) -> Superblock:
        header = self.blocks[self.order[0]]
        self.above, self.below = self._dominators()
        for name in self.order:
            block = self.blocks[name]
            predicate = self._predicate(name) if block is not header else None
            # The header runs in every iteration, and its parameters stay parameters.
            if block is not header:
                self._merge(block.parameters, self.ways[name], self.above[name], predicate is None)
            for instruction in block.instructions:
                self.place = instruction.place
                given = tuple(map(self.operand, instruction.operands))
                moved = replace(instruction, operands=given)
                self.made.append(moved if predicate is None else _predicate_instruction(moved, predicate))
            self._mark(predicate is not None)
            self._leave(block, predicate)
        following = self._merged_arguments(header.parameters, self.ways.get(END, []), self.above.get(END, header.name))
        place = header.terminator.place
        return Superblock(self.order, header.parameters, tuple(self.made), tuple(self.exits), following, place)

    def operand(self, operand: Operand) -> Operand:
        """What the operand turned out to be."""
        while isinstance(operand, Value) and operand.name in self.known:
            operand = self.known[operand.name]
        return operand

    def _targets(self, name: str) -> list[str]:
        """Where the edges lead that stay in the loop; those to the header go to the end."""
        targets = [edge.block for edge in successor_edges(self.blocks[name].terminator)]
        return [END if target == self.order[0] else target for target in targets if target in self.blocks]

    def _dominators(self) -> tuple[dict[str, str], dict[str, set[str]]]:
        """The nearest dominator of each block, and the post-dominators of each."""
        order = (*self.order, END)
        targets = {name: self._targets(name) for name in self.order}
        sources: dict[str, list[str]] = {name: [] for name in order}
        for name, ways in targets.items():
            for target in ways:
                sources[target].append(name)
        doms: dict[str, list[str]] = {order[0]: [order[0]]}
        for name in order[1:]:
            reaching = [doms[s] for s in sources[name] if s in doms]
            common = [d for d in reaching[0] if all(d in other for other in reaching)] if reaching else []
            doms[name] = [*common, name]
        posts: dict[str, set[str]] = {END: {END}}
        for name in reversed(self.order):
            ways = [posts[t] for t in targets[name]]
            posts[name] = {name} | (ways[0].intersection(*ways[1:]) if ways else set())
        return {name: found[-2] for name, found in doms.items() if len(found) > 1}, posts

    def _predicate(self, name: str) -> Operand | None:
        """Whether control comes to the block in this iteration; None: always."""
        nearest = self.above[name]
        whole = self._predicate(nearest) if nearest != self.order[0] else None
        relation = self._relation(name, nearest)
        # The conjunction of how control comes to the dominator, and from there to the block.
        return whole if relation is None else self._conjunction(whole, relation, True)

    def _relation(self, name: str, origin: str) -> Operand | None:
        """Whether control that is at the origin, which dominates the block, comes to the block; None: always."""
        if name == origin or name in self.below[origin]:
            return None
        if (name, origin) not in self.related:
            found: Operand | None = None
            for k, way in enumerate(self.ways[name]):
                one = self._edge_condition(way, origin)
                # One way is always taken: the disjunction is true.
                if one is None:  # control always passes this way
                    found = None
                    break
                found = one if k == 0 or found is None else self._emit("or", found, one)
            self.related[name, origin] = found
        return self.related[name, origin]

    def _edge_condition(self, way: _Way, origin: str) -> Operand | None:
        before = self._relation(way.source, origin)
        return before if way.condition is None else self._conjunction(before, way.condition, way.sense)

    def _conjunction(self, first: Operand | None, condition: Operand, sense: bool) -> Operand:
        """The conjunction; it has a value where the first has one."""
        if first is None:
            return condition if sense else self._opposite(condition)
        if isinstance(condition, Value) and condition.name in self.unsafe:
            found = self._emit("select", first, condition if sense else self._opposite(condition), _FALSE)
            self.unsafe -= {found.name}
            return found
        return self._emit("and", first, condition if sense else self._emit("xor", condition, _TRUE))

    def _opposite(self, condition: Operand) -> Operand:
        made = next((i for i in self.made if condition in i.results), None)
        if made is not None and made.operation in _OPPOSITE:
            return self._emit(_OPPOSITE[made.operation], *made.operands)
        if made is not None and made.operation == "xor" and made.operands[1] == _TRUE:
            return made.operands[0]
        if isinstance(condition, Constant):
            return Constant(I1, 1 - (condition.value & 1))
        return self._emit("xor", condition, _TRUE)

    def _emit(self, operation: str, *operands: Operand) -> Value:
        """A condition; one that is there already is taken."""
        for i in self.made:
            if i.operation == operation and i.operands == operands:
                return i.results[0]
        result = Value(self.fresh("t"), I1)
        self.made.append(Instruction(operation, operands, (result,), place=self.place))
        self._mark(False)
        return result

    def _mark(self, speculative: bool) -> None:
        """Poison tracking (LLVM language reference, poison values): notes what may have no value where its block is not
        reached.
        """
        for i in self.made[self.seen :]:
            taints = any(isinstance(o, Value) and o.name in self.unsafe for o in i.operands)
            uncertain = SPECULATIVE in i.flags or GUARDED in i.flags or i.operation in _UNCERTAIN
            if taints or (speculative and uncertain):
                self.unsafe |= {r.name for r in i.results}
        self.seen = len(self.made)

    def _leave(self, block: Block, predicate: Operand | None) -> None:
        """Side exits for the edges that go out, and ways for the others."""
        end = block.terminator
        self.place = end.place
        if isinstance(end, Jump):
            self._note_edge(block.name, None, True, end.target)
            return
        assert isinstance(end, Branch)
        decided = self.operand(end.condition)
        edges = ((end.then, True), (end.orelse, False))
        for edge, sense in edges:
            if edge.block not in self.blocks:
                self._add_exit(edge, decided, sense, predicate)
        out = any(edge.block not in self.blocks for edge, _ in edges)
        for edge, sense in edges:
            if edge.block in self.blocks:
                self._note_edge(block.name, None if out else decided, sense, edge)

    def _note_edge(self, source: str, condition: Operand | None, sense: bool, edge: Edge) -> None:
        target = END if edge.block == self.order[0] else edge.block
        self.ways.setdefault(target, []).append(_Way(source, condition, sense, edge.arguments))

    def _add_exit(self, edge: Edge, condition: Operand, sense: bool, predicate: Operand | None) -> None:
        if predicate is not None:
            stay = _FALSE if sense else _TRUE
            guarded = Value(self.fresh("q"), I1)
            self.made.append(Instruction("select", (predicate, condition, stay), (guarded,), place=self.place))
            self.seen = len(self.made)
            condition = guarded
        leaving = Edge(edge.block, tuple(map(self.operand, edge.arguments)))
        self.exits.append(SideExit(len(self.made), condition, sense, leaving, self.place))

    def _merge(self, parameters: tuple[Value, ...], ways: list[_Way], origin: str, always: bool) -> None:
        own = {p.name for p in self.blocks[self.order[0]].parameters}
        for parameter, operand in zip(parameters, self._merged_arguments(parameters, ways, origin), strict=True):
            self.known[parameter.name] = operand
            if always and isinstance(operand, Value) and operand.name not in own:
                self.unsafe.discard(operand.name)

    def _merged_arguments(self, parameters: tuple[Value, ...], ways: list[_Way], origin: str) -> tuple[Operand, ...]:
        """What the parameters are: of the ways' arguments the one whose way was taken."""
        found: list[Operand] = []
        for k in range(len(parameters)):
            arguments = [self.operand(way.arguments[k]) for way in ways]
            value = arguments[-1]
            for way, argument in reversed(list(zip(ways[:-1], arguments[:-1], strict=True))):
                if argument != value and not isinstance(argument, Undef):
                    value = argument if isinstance(value, Undef) else self._choice(way, origin, argument, value)
            found.append(value)
        self._mark(False)
        return tuple(found)

    def _choice(self, way: _Way, origin: str, then: Operand, orelse: Operand) -> Operand:
        """`then` where the way was taken."""
        if self._relation(way.source, origin) is None and way.condition is not None:
            return self._select(way.condition, *((then, orelse) if way.sense else (orelse, then)))
        condition = self._edge_condition(way, origin)
        return then if condition is None else self._select(condition, then, orelse)

    def _select(self, condition: Operand, then: Operand, orelse: Operand) -> Value:
        result = Value(self.fresh("t"), then.type)
        self.made.append(Instruction("select", (condition, then, orelse), (result,), place=self.place))
        return result


def _predicate_instruction(i: Instruction, predicate: Operand) -> Instruction:
    """The instruction where its block may not be reached: flags exclude values where it stood, not here."""
    access = i.access
    ordered = access is not None and (access.volatile or bool(access.order))
    if i.operation == "store":
        return replace(i, operands=(*i.operands, predicate))
    if i.operation == "load" and ordered:
        return replace(i, operands=(*i.operands, predicate, Undef(i.results[0].type)))
    if i.called:
        return replace(i, operands=(*i.operands, predicate), flags=(GUARDED,))
    return as_speculative(i, {})
