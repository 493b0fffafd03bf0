# SPDX-License-Identifier: Apache-2.0
"""The loop over vectors, of a plan.

Counters stay scalars and grow by as many steps as there are lanes. Loads come first, then what is computed of them,
then the masks: exits are or-ed and smeared once, lanes behind the first exit do nothing. What stands before an exit in
the program is masked with smearx, by which the exiting lane still does it; behind the exit, also where its condition is
true. A counted loop's lanes beyond its end are masked by `remaining`, as if it were left before them. Stores store None
in masked lanes; reductions add their identity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from polyloom.targets.belt.front.addresses import materialized, with_head
from polyloom.targets.belt.front.affine import Form, W, entry, signed
from polyloom.targets.belt.front.lower import constant
from polyloom.targets.belt.ir import BYTES, Block, Constant, Edge, Function, Loop, Op, Operand, Type, Value
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.vectorize.analyse import LOADS, Plan, Refused, home, identity, source_of
from polyloom.targets.belt.vectorize.behind import Behind, Exit

Fresh = Callable[[str], str]


def vectorized(function: Function, plan: Plan, fresh: Fresh) -> Function:
    """The function with the loop of the plan over vectors. Raises Refused."""
    return Lanes(function, plan, fresh).function()


@dataclass(slots=True)
class Lanes:
    """Mutable: operations before the loop and in it, vectors by scalar, what reductions carry, masks."""

    source: Function
    plan: Plan
    fresh: Fresh
    head: list[Op] = field(default_factory=list[Op])
    ops: list[Op] = field(default_factory=list[Op])
    vectors: dict[Operand, Operand] = field(default_factory=dict[Operand, Operand])
    spread: dict[Operand, Operand] = field(default_factory=dict[Operand, Operand])
    counts: dict[Form, Operand] = field(default_factory=dict[Form, Operand])
    carried: dict[str, Value] = field(default_factory=dict[str, Value])
    exits: list[Exit] = field(default_factory=list[Exit])
    beyond: Operand | None = None
    smeared: Operand | None = None

    def function(self) -> Function:
        loop, lanes = self.plan.loop, self.plan.lanes
        remaining = self._remaining()
        self._pure()
        self._exits()
        stop = self._stop(remaining)
        self._stores()
        self._reduce()
        behind = Behind(self.source, self.plan, self.fresh, self.exits, self.vectors, self.smeared, self.beyond)
        edge, blocks = behind.blocks()
        self.ops.append(Op("leavetr", (stop,), edge=edge, place=loop.place))
        parameters, following, first = self._carried(remaining)
        made = replace(
            loop, parameters=parameters, ops=tuple(self.ops), next=following, order=(), expected=_passes(loop, lanes)
        )
        kept = with_head(self.source, made, self.head, [])
        kept = replace(kept, blocks=tuple(_entered(b, loop.name, first) for b in kept.blocks))
        landings = {block.name: block for block in blocks}
        old = tuple(landings.pop(block.name, block) for block in kept.blocks)
        return replace(kept, blocks=(*old, *landings.values()))

    def line(self) -> None:
        """All but the exits, masked where there is a mask."""
        self._pure()
        self._stores()
        self._reduce()

    def mask(self, left: Operand) -> None:
        """Only so many lanes do anything."""
        ended = Value(self.fresh("ended"), Type("b"))
        self.beyond = self.smeared = self.emit("remaining", left, type=self._mask(), more=(ended,))

    def emit(self, name: str, *operands: Operand, type: Type, more: tuple[Value, ...] = ()) -> Value:
        result = Value(self.fresh("v"), type)
        width = type.width if OPS[name].width == "=" else None
        self.ops.append(Op(name, operands, (result, *more), width))
        return result

    def _mask(self) -> Type:
        return Type("b", self.plan.lanes)

    def _remaining(self) -> tuple[Value, Operand] | None:
        """The counter of what is left, and its first value; the mask of lanes beyond the end."""
        if self.plan.counted is None:
            return None
        left = Value(self.fresh("left"), W)
        first = materialized(self.plan.counted[1], self.head, self.fresh)
        ended = Value(self.fresh("ended"), Type("b"))
        self.beyond = self.emit("remaining", left, type=self._mask(), more=(ended,))
        return left, first

    def _pure(self) -> None:
        reducing = list(self.plan.reductions.values())
        for op in self.plan.loop.ops:
            if op.edge is not None or op.name == "store" or op in reducing:
                continue
            if op.name in LOADS:
                self._load(op)
            elif not all(r.name in self.plan.affine for r in op.results):
                self._compute(op)

    def _load(self, op: Op) -> None:
        type = Type(op.results[0].type.width, self.plan.lanes)
        result = Value(self.fresh(op.results[0].name), type)
        self.ops.append(replace(op, operands=self._address(op), results=(result,)))
        self.vectors[op.results[0]] = result

    def _address(self, op: Op) -> tuple[Operand, ...]:
        """Of one scalar, lane after lane; of a vector of indices where lanes are apart."""
        base, *index = op.operands[:-1] if op.name == "store" else op.operands
        assert op.width is not None
        growth = self._growth(base) if self._scalar(base) else None
        by_index = self._growth(index[0]) * op.scale if index and self._scalar(index[0]) else None if index else 0
        if growth is not None and by_index is not None and growth + by_index == BYTES[op.width]:
            return (self._now(base), *map(self._now, index))
        if op.name == "store" or not index or growth != 0:
            where = op.place.words(home(self.plan.loop))
            raise Refused(f"the stride of an access{f' ({where})' if where else ''} is not its element's size")
        return (self._now(base), self._vector(index[0]))

    def _scalar(self, operand: Operand) -> bool:
        return not isinstance(operand, Value) or operand.name in self.plan.affine or not self._own(operand)

    def _own(self, operand: Value) -> bool:
        loop = self.plan.loop
        return operand in loop.parameters or any(operand in op.results for op in loop.ops)

    def _growth(self, operand: Operand) -> int:
        """By which a scalar grows in an iteration."""
        if not isinstance(operand, Value) or operand.name not in self.plan.affine:
            return 0
        terms = self.plan.affine[operand.name].terms
        return signed(sum(self.plan.steps.get(atom, 0) * c for atom, c in terms))

    def _now(self, operand: Operand) -> Operand:
        """A scalar as it is for lane 0: a counter, or made of some."""
        if not isinstance(operand, Value) or not self._own(operand) or operand.name in self.plan.steps:
            return operand
        wanted = self.plan.affine[operand.name]
        if wanted not in self.counts:
            self.counts[wanted] = materialized(wanted, self.ops, self.fresh)
        return self.counts[wanted]

    def _vector(self, operand: Operand) -> Operand:
        """What the operand is in each lane."""
        if operand in self.vectors:
            return self.vectors[operand]
        lanes = self.plan.lanes
        if isinstance(operand, Constant):
            return Constant(Type(operand.type.width, lanes), operand.bits)
        if isinstance(operand, Value) and self._own(operand):
            if operand.name not in self.plan.affine:
                raise Refused(f"%{operand.name} is no vector")
            self.vectors[operand] = self._counting(operand)
            return self.vectors[operand]
        if operand not in self.spread:
            value = Value(self.fresh("splat"), Type(operand.type.width, lanes))
            self.head.append(Op("splat", (operand,), (value,)))
            self.spread[operand] = value
        return self.spread[operand]

    def _counting(self, operand: Operand) -> Operand:
        """A counter: what it is in lane 0, and its growth more in each lane."""
        type, growth = Type("w", self.plan.lanes), self._growth(operand)
        now = self._now(operand)
        if growth == 1:
            return self.emit("iota", now, type=type)
        whole = self.emit("splat", now, type=type)
        if growth == 0:
            return whole
        key = constant(W, growth)
        if key not in self.spread:
            numbers, steps = Value(self.fresh("iota"), type), Value(self.fresh("steps"), type)
            self.head.append(Op("iota", (constant(W, 0),), (numbers,)))
            self.head.append(Op("mul", (numbers, Constant(type, growth % (1 << 32))), (steps,)))
            self.spread[key] = steps
        return self.emit("add", whole, self.spread[key], type=type)

    def _extended(self, op: Op) -> bool:
        """An extension is the load's own, or picks 1 where a comparison holds."""
        made = {r: other for other in self.plan.loop.ops for r in other.results}
        source = source_of(op, made)
        if source is None:
            return False
        type = Type(op.results[0].type.width, self.plan.lanes)
        if source.name in LOADS:
            result = Value(self.fresh(op.results[0].name), type)
            name = "loads" if op.name == "widens" else "loadu"
            self.ops.append(replace(source, name=name, operands=self._address(source), results=(result,)))
            self.vectors[op.results[0]] = result
        else:
            arms = (Constant(type, 1), Constant(type, 0))
            self.vectors[op.results[0]] = self.emit("pick", self._vector(op.operands[0]), *arms, type=type)
        return True

    def _compute(self, op: Op) -> None:
        if self._extended(op):
            return
        operands = tuple(self._vector(o) for o in op.operands)
        if op.name == "pick" and self._scalar(op.operands[0]):
            operands = (op.operands[0], *operands[1:])
        type = Type(op.results[0].type.width, self.plan.lanes)
        result = Value(self.fresh(op.results[0].name), type)
        self.ops.append(replace(op, operands=operands, results=(result,)))
        self.vectors[op.results[0]] = result

    def _exits(self) -> None:
        """The conditions of the leaves that are no counted one, by lane, always data."""
        for position, op in enumerate(self.plan.loop.ops):
            if op.edge is None or (self.plan.counted is not None and op == self.plan.counted[0]):
                if op.edge is not None:
                    self.exits.append(Exit(op, position, None))
                continue
            if op.name == "leave":
                raise Refused("a leave without a condition")
            condition = self._decided(op.operands[0])
            if op.name == "leavefl":
                condition = self.emit("xor", condition, self._number(1), type=self._mask())
            self.exits.append(Exit(op, position, condition))

    def _decided(self, operand: Operand) -> Operand:
        """A guarded condition is false where its guard is, not None."""
        made = next((op for op in self.plan.loop.ops if operand in op.results), None)
        if made is None or made.name != "pick" or len(made.operands) != 2:
            return self._vector(operand)
        guard, condition = (self._vector(o) for o in made.operands)
        return self.emit("pick", guard, condition, self._number(0), type=self._mask())

    def _number(self, value: int) -> Constant:
        return Constant(self._mask(), value)

    def _stop(self, remaining: tuple[Value, Operand] | None) -> Operand:
        conditions = [e.condition for e in self.exits if e.condition is not None]
        if not conditions:
            if remaining is None:
                raise Refused("it has no exit")
            self.smeared = self.beyond
            return self.ops[0].results[1]
        whole = conditions[0]
        for other in (*conditions[1:], *([self.beyond] if self.beyond is not None else [])):
            whole = self.emit("orm", whole, other, type=self._mask())
        stop = Value(self.fresh("stop"), Type("b"))
        self.smeared = self.emit("smearx", whole, type=self._mask(), more=(stop,))
        return stop

    def _masked(self, position: int) -> Operand:
        """True in the lanes that do not do what stands there."""
        assert self.smeared is not None
        found = self.smeared
        earlier = [e.condition for e in self.exits if e.condition is not None and e.position < position]
        counts = self.beyond is not None and self.beyond != found
        for other in (*earlier, *([self.beyond] if counts and self.beyond is not None else [])):
            found = self._once("orm", found, other)
        return found

    def _once(self, name: str, *operands: Operand) -> Operand:
        same = next((op for op in self.ops if op.name == name and op.operands == operands), None)
        return same.results[0] if same is not None else self.emit(name, *operands, type=self._mask())

    def _stores(self) -> None:
        for position, op in enumerate(self.plan.loop.ops):
            if op.name != "store":
                continue
            value = self._vector(op.operands[-1])
            if self.smeared is not None:
                does = self._once("xor", self._masked(position), self._number(1))
                value = self.emit("pick", does, value, type=value.type)
            self.ops.append(replace(op, operands=(*self._address(op), value)))

    def _reduce(self) -> None:
        for name, op in self.plan.reductions.items():
            parameter = Value(name, op.results[0].type)
            type = Type(parameter.type.width, self.plan.lanes)
            carried = Value(self.fresh(name), type)
            other = next(o for o in op.operands if o != parameter)
            given = self._vector(other)
            if self.smeared is not None:
                mask = self._masked(self.plan.loop.ops.index(op))
                given = self.emit("pick", mask, self.identity(op), given, type=type)
            self.vectors[parameter] = self.carried[name] = carried
            self.vectors[op.results[0]] = self.emit(_adding(op.name), carried, given, type=type)

    def identity(self, op: Op) -> Constant:
        """What changes nothing, in each lane of a reduction."""
        type = Type(op.results[0].type.width, self.plan.lanes)
        return Constant(type, identity(op.name, 8 * BYTES[type.width]))

    def _carried(
        self, remaining: tuple[Value, Operand] | None
    ) -> tuple[tuple[Value, ...], tuple[Operand, ...], tuple[Operand, ...]]:
        """Parameters, what they become, and their first values."""
        loop, lanes = self.plan.loop, self.plan.lanes
        known = dict(zip((p.name for p in loop.parameters), entry(self.source, loop).arguments, strict=True))
        parameters: list[Value] = []
        following: list[Operand] = []
        first: list[Operand] = []
        for parameter in loop.parameters:
            if parameter.name in self.plan.steps:
                step = constant(W, self.plan.steps[parameter.name] * lanes)
                parameters.append(parameter)
                following.append(self.emit("add", parameter, step, type=W))
                first.append(known[parameter.name])
            else:
                op = self.plan.reductions[parameter.name]
                carried = self.vectors[parameter]
                assert isinstance(carried, Value)
                parameters.append(carried)
                following.append(self.vectors[op.results[0]])
                first.append(self.identity(op))
        if remaining is not None:
            left, count = remaining
            parameters.append(left)
            following.append(self.emit("sub", left, constant(W, lanes), type=W))
            first.append(count)
        leave = next(op for op in self.ops if op.edge is not None)
        self.ops = [*(op for op in self.ops if op is not leave), leave]
        return tuple(parameters), tuple(following), tuple(first)


def _adding(name: str) -> str:
    """Lanes of what is subtracted are added, and subtracted behind the loop."""
    return {"sub": "add", "subf": "addf"}.get(name, name)


def _passes(loop: Loop, lanes: int) -> int | None:
    return None if loop.expected is None else -(-loop.expected // lanes)


def _entered(block: Block | Loop, name: str, first: tuple[Operand, ...]) -> Block | Loop:
    if isinstance(block, Loop) or block.terminator.__class__.__name__ != "Jump":
        return block
    edge = getattr(block.terminator, "edge", None)
    if not isinstance(edge, Edge) or edge.target != name:
        return block
    return replace(block, terminator=replace(block.terminator, edge=Edge(name, first)))
