# SPDX-License-Identifier: Apache-2.0
"""If-conversion of everything in an innermost loop: its blocks become one line of operations.

A block's predicate follows from the branches between it and its dominator; where it also post-dominates that, the
predicate is the dominator's (Ferrante, Ottenstein, Warren, 1987, on control dependence). Exits count as no way on: what
comes behind a leave in the line happens only where it was not taken. What only computes is done anyway, loads too: one
outside of every array gives NaR, which nobody uses. Stores get None to store where their predicate is false, calls are
not made, and what several blocks give is picked.

NaR and data: a condition of a block that is not reached may be NaR. So predicates are joined by `and` where the
condition is always data, else by a pick that does not look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from polyloom.ir import ssa
from polyloom.targets.belt.front.landing import Region
from polyloom.targets.belt.front.lower import INVERSE, B, Emitter, constant, lower, type_of
from polyloom.targets.belt.ir import Constant, Edge, Loop, Op, Operand, Value

_END: Final = ""
"""Where all ways from the header lead that do not leave the loop."""
_MAY_NOT_BE: Final = ("load", "loads", "loadu", "divs", "divu", "rems", "remu", "ftos", "ftou", "calltr")
"""Operations whose results may be None or NaR where they are not asked for."""


@dataclass(frozen=True, slots=True)
class _Way:
    """An edge within the loop: from where, under which condition (None: always) and its sense, with what."""

    source: str
    condition: Operand | None
    sense: bool
    arguments: tuple[ssa.Operand, ...]


@dataclass(slots=True)
class Straight:
    """Mutable: one loop becoming a line. `land` makes the block behind an exit of the values that it takes."""

    function: Mapping[str, ssa.Block]
    region: Region
    emitter: Emitter
    land: Callable[[ssa.Block, Mapping[str, Operand]], None]
    ways: dict[str, list[_Way]] = field(default_factory=dict[str, list[_Way]])
    unsafe: set[str] = field(default_factory=set[str])
    related: dict[tuple[str, str], Operand | None] = field(default_factory=dict[tuple[str, str], Operand | None])
    above: dict[str, str] = field(default_factory=dict[str, str])
    below: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    seen: int = 0

    def loop(self) -> Loop:
        header = self.function[self.region.header]
        self.above, self.below = self._dominators()
        above, below = self.above, self.below
        parameters = tuple(Value(p.name, type_of(p.type)) for p in header.parameters)
        for name in self.region.blocks:
            block = self.function[name]
            predicate = self._predicate(name, above, below) if name != header.name else None
            if name != header.name:
                self._merge(block.parameters, self.ways[name], above[name], predicate is None)
            for instruction in block.instructions:
                lower(self.emitter, instruction, predicate)
            self._mark(predicate is not None)
            self._leave(block, predicate)
        following = self._merged(header.parameters, self.ways.get(_END, []), above.get(_END, header.name))
        place = header.terminator.place
        return Loop(header.name, parameters, tuple(self.emitter.ops), following, place=place)

    def _edges(self, name: str) -> list[tuple[str, ssa.Edge]]:
        """The edges that stay, to their targets; those to the header go to the end."""
        inside = set(self.region.blocks)
        found: list[tuple[str, ssa.Edge]] = []
        for edge in ssa.edges_of(self.function[name].terminator):
            if edge.block in inside:
                found.append((_END if edge.block == self.region.header else edge.block, edge))
        return found

    def _dominators(self) -> tuple[dict[str, str], dict[str, set[str]]]:
        """The nearest dominator of each block, and the post-dominators of each."""
        order = [*self.region.blocks, _END]
        targets = {name: [t for t, _ in self._edges(name)] for name in self.region.blocks}
        sources: dict[str, list[str]] = {name: [] for name in order}
        for name, ways in targets.items():
            for target in ways:
                sources[target].append(name)
        doms: dict[str, list[str]] = {order[0]: [order[0]]}
        for name in order[1:]:
            reaching = [doms[s] for s in sources[name] if s in doms]
            common = [d for d in reaching[0] if all(d in other for other in reaching)] if reaching else []
            doms[name] = [*common, name]
        posts: dict[str, set[str]] = {_END: {_END}}
        for name in reversed(self.region.blocks):
            ways = [posts[t] for t in targets[name]]
            posts[name] = {name} | (ways[0].intersection(*ways[1:]) if ways else set())
        return {name: found[-2] for name, found in doms.items() if len(found) > 1}, posts

    def _predicate(self, name: str, above: dict[str, str], below: dict[str, set[str]]) -> Operand | None:
        """Whether control comes to the block in this iteration; None: always."""
        nearest = above[name]
        whole = self._predicate(nearest, above, below) if nearest != self.region.header else None
        relation = self._relation(name, nearest, above, below)
        return whole if relation is None else self._both(whole, relation, True)

    def _relation(self, name: str, origin: str, above: dict[str, str], below: dict[str, set[str]]) -> Operand | None:
        """Whether control that is at the origin, which dominates the block, comes to the block; None: always."""
        if name == origin or name in below[origin]:
            return None
        if (name, origin) not in self.related:
            found: Operand | None = None
            for k, way in enumerate(self.ways[name]):
                one = self._taken(way, origin, above, below)
                if one is None:  # control always passes this way
                    found = None
                    break
                found = one if k == 0 or found is None else self._emit("or", found, one)
            self.related[name, origin] = found
        return self.related[name, origin]

    def _taken(self, way: _Way, origin: str, above: dict[str, str], below: dict[str, set[str]]) -> Operand | None:
        before = self._relation(way.source, origin, above, below)
        if way.condition is None:
            return before
        return self._both(before, way.condition, way.sense)

    def _both(self, first: Operand | None, condition: Operand, sense: bool) -> Operand:
        """The conjunction; always data where the first is."""
        if first is None:
            return condition if sense else self._opposite(condition)
        if isinstance(condition, Value) and condition.name in self.unsafe:
            arms = (condition, constant(B, 0)) if sense else (self._opposite(condition), constant(B, 0))
            found = self._emit("pick", first, *arms)
            if isinstance(found, Value):
                self.unsafe.discard(found.name)
            return found
        if sense:
            return self._emit("and", first, condition)
        return self._emit("andn", first, condition)

    def _opposite(self, condition: Operand) -> Operand:
        made = next((op for op in self.emitter.ops if condition in op.results), None)
        if made is not None and made.name in INVERSE:
            return self._emit(INVERSE[made.name], *made.operands)
        if made is not None and made.name == "xor" and made.operands[1] == constant(B, 1):
            return made.operands[0]
        if isinstance(condition, Constant):
            return constant(B, 1 - (condition.bits & 1))
        return self._emit("xor", condition, constant(B, 1))

    def _emit(self, name: str, *operands: Operand) -> Operand:
        for op in self.emitter.ops:
            if op.name == name and op.operands == operands:
                return op.results[0]
        found = self.emitter.emit(name, *operands, type=B)
        self._mark(False)
        return found

    def _mark(self, speculative: bool) -> None:
        """What may be None or NaR where its block is not reached."""
        for op in self.emitter.ops[self.seen :]:
            taints = any(isinstance(o, Value) and o.name in self.unsafe for o in op.operands)
            if taints or (speculative and op.name in _MAY_NOT_BE):
                self.unsafe |= {r.name for r in op.results}
        self.seen = len(self.emitter.ops)

    def _leave(self, block: ssa.Block, predicate: Operand | None) -> None:
        """Leaves for the edges that go out, and ways for the others."""
        inside = set(self.region.blocks)
        end = block.terminator
        self.emitter.place = end.place
        match end:
            case ssa.Jump(edge):
                self._way(block.name, None, True, edge)
            case ssa.Branch(condition, then, orelse):
                decided = self.emitter.operand(condition)
                for edge, sense in ((then, True), (orelse, False)):
                    if edge.block not in inside:
                        self._exit(edge, decided, sense, predicate)
                out = then.block not in inside or orelse.block not in inside
                for edge, sense in ((then, True), (orelse, False)):
                    if edge.block in inside:
                        self._way(block.name, None if out else decided, sense, edge)
            case _:
                raise AssertionError(end)

    def _way(self, source: str, condition: Operand | None, sense: bool, edge: ssa.Edge) -> None:
        target = _END if edge.block == self.region.header else edge.block
        self.ways.setdefault(target, []).append(_Way(source, condition, sense, edge.arguments))

    def _exit(self, edge: ssa.Edge, condition: Operand, sense: bool, predicate: Operand | None) -> None:
        landing = self.function[edge.block]
        taken: dict[str, Operand] = {}
        arguments: list[Operand] = []
        own = self._own()
        for used in _used(landing):
            operand = self.emitter.operand(used)
            if isinstance(operand, Value) and operand.name in own and used.name not in taken:
                taken[used.name] = Value(self.emitter.fresh(used.name), operand.type)
                arguments.append(operand)
        if predicate is not None:
            guarded = Value(self.emitter.fresh("q"), B)
            self.emitter.ops.append(Op("pick", (predicate, condition), (guarded,), place=self.emitter.place))
            condition = guarded
        name = "leavetr" if sense else "leavefl"
        self.emitter.ops.append(
            Op(name, (condition,), edge=Edge(landing.name, tuple(arguments)), place=self.emitter.place)
        )
        self.seen = len(self.emitter.ops)
        self.land(landing, taken)

    def _own(self) -> set[str]:
        header = self.function[self.region.header]
        return {p.name for p in header.parameters} | {r.name for op in self.emitter.ops for r in op.results}

    def _merge(self, parameters: tuple[ssa.Value, ...], ways: list[_Way], origin: str, always: bool) -> None:
        for parameter, operand in zip(parameters, self._merged(parameters, ways, origin), strict=True):
            self.emitter.alias(parameter.name, operand)
            if always and isinstance(operand, Value) and operand.name not in self._own_parameters():
                self.unsafe.discard(operand.name)

    def _own_parameters(self) -> set[str]:
        return {p.name for p in self.function[self.region.header].parameters}

    def _merged(self, parameters: tuple[ssa.Value, ...], ways: list[_Way], origin: str) -> tuple[Operand, ...]:
        """What the parameters are: of the ways' arguments the one whose way was taken."""
        above, below = self.above, self.below
        found: list[Operand] = []
        for k, parameter in enumerate(parameters):
            arguments = [self.emitter.operand(way.arguments[k]) for way in ways]
            value = arguments[-1]
            for way, argument in reversed(list(zip(ways[:-1], arguments[:-1], strict=True))):
                if argument == value:
                    continue
                value = self._picked(way, origin, argument, value, above, below)
            found.append(value)
            del parameter
        self._mark(False)
        return tuple(found)

    def _picked(
        self,
        way: _Way,
        origin: str,
        then: Operand,
        orelse: Operand,
        above: dict[str, str],
        below: dict[str, set[str]],
    ) -> Operand:
        """`then` where the way was taken."""
        before = self._relation(way.source, origin, above, below)
        if before is None and way.condition is not None:
            arms = (then, orelse) if way.sense else (orelse, then)
            return self.emitter.emit("pick", way.condition, *arms, type=then.type)
        condition = self._taken(way, origin, above, below)
        if condition is None:
            return then
        return self.emitter.emit("pick", condition, then, orelse, type=then.type)


def _used(block: ssa.Block) -> list[ssa.Value]:
    decided = ssa.operand_of(block.terminator)
    found = [o for i in block.instructions for o in i.operands]
    found += [a for edge in ssa.edges_of(block.terminator) for a in edge.arguments]
    found += [decided] if decided is not None else []
    return [o for o in found if isinstance(o, ssa.Value)]
