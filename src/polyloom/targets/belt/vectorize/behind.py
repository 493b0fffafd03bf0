# SPDX-License-Identifier: Apache-2.0
"""Behind a loop over vectors: lanes reduced to scalars, and the exit that was taken.

A reduction takes log2(lanes) steps of shuffle and operation, then the scalar that the loop began with. The exiting lane
is the number of lanes that nothing was masked in, less one; there the conditions tell which exit it was, in the order
of the program. What left the scalar loop is a counter as it is in that lane, a lane of a vector, or a reduction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from polyloom.targets.belt.front.addresses import materialized
from polyloom.targets.belt.front.affine import Form, Forms, W, entry
from polyloom.targets.belt.front.lower import constant
from polyloom.targets.belt.ir import BYTES, Block, Branch, Constant, Edge, Function, Jump, Op, Operand, Type, Value
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.vectorize.analyse import Plan, Refused, identity

Fresh = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Exit:
    """A leave of the scalar loop and its position; its condition by lane, None for that of a counted loop."""

    leave: Op
    position: int
    condition: Operand | None


@dataclass(slots=True)
class Behind:
    """Mutable: what the loop passes on, by the names that it has there, and the blocks behind it."""

    function: Function
    plan: Plan
    fresh: Fresh
    exits: list[Exit]
    vectors: Mapping[Operand, Operand]
    smeared: Operand | None
    beyond: Operand | None
    taken: dict[Operand, Value] = field(default_factory=dict[Operand, Value])
    ops: list[Op] = field(default_factory=list[Op])
    lane: Value | None = None
    scalars: dict[Operand, Operand] = field(default_factory=dict[Operand, Operand])

    def blocks(self) -> tuple[Edge, list[Block]]:
        """The edge of the loop's leave, and the blocks: the first one is where it goes."""
        alone = all(e.condition is None for e in self.exits)
        if not alone:
            self.lane = self._lane()
        ways: list[tuple[Operand | None, Exit]] = []
        counted = [e for e in self.exits if e.condition is None]
        for e in (*counted, *(e for e in self.exits if e.condition is not None)):
            mask = self.beyond if e.condition is None else e.condition
            ways.append((self._extract(self._pass(mask)) if mask is not None and not alone else None, e))
        first = self.fresh("behind")
        arrivals = [self._arrival(e, alone) for _, e in ways]
        made: list[Block] = []
        end: Jump | Branch = Jump(Edge(arrivals[-1].name))
        for k in range(len(ways) - 2, -1, -1):
            condition = ways[k][0]
            assert condition is not None
            branch = Branch(
                condition, Edge(arrivals[k].name), end.edge if isinstance(end, Jump) else Edge(made[0].name)
            )
            if k:
                made.insert(0, Block(self.fresh("exit"), (), (), branch))
            end = branch
        head = Block(first, tuple(self.taken.values()), tuple(self.ops), end)
        edge = Edge(first, tuple(self.taken))
        return edge, [head, *made, *arrivals]

    def _pass(self, operand: Operand) -> Operand:
        """A value of the loop as it is behind it."""
        if not isinstance(operand, Value):
            return operand
        if operand not in self.taken:
            self.taken[operand] = Value(self.fresh(operand.name), operand.type)
        return self.taken[operand]

    def _emit(self, name: str, *operands: Operand, type: Type, to: list[Op] | None = None) -> Value:
        result = Value(self.fresh("u"), type)
        width = type.width if OPS[name].width == "=" else None
        (self.ops if to is None else to).append(Op(name, operands, (result,), width))
        return result

    def _lane(self) -> Value:
        """The exiting lane's number."""
        assert self.smeared is not None
        mask = self._pass(self.smeared)
        kept = self._emit("xor", mask, Constant(mask.type, 1), type=mask.type)
        number = self._emit("widenu", self._reduced("add", kept, self.ops), type=W)
        return self._emit("add", number, constant(W, -1), type=W)

    def _reduced(self, name: str, vector: Operand, to: list[Op]) -> Value:
        """One scalar of the lanes."""
        lanes, type = vector.type.lanes, vector.type
        found = vector
        while lanes > 1:
            lanes //= 2
            other = self._emit("shuffle", found, constant(W, lanes), type=type, to=to)
            found = self._emit(name, found, other, type=type, to=to)
        return self._emit("extract", found, constant(W, 0), type=Type(type.width), to=to)

    def _extract(self, vector: Operand) -> Operand:
        assert self.lane is not None
        return self._emit("extract", vector, self.lane, type=Type(vector.type.width))

    def _arrival(self, e: Exit, alone: bool) -> Block:
        """What the exit's own block is given."""
        assert e.leave.edge is not None
        ops: list[Op] = []
        arguments = tuple(self._argument(a, e, alone, ops) for a in e.leave.edge.arguments)
        return Block(self.fresh("arrival"), (), tuple(ops), Jump(Edge(e.leave.edge.target, arguments)))

    def _argument(self, argument: Operand, e: Exit, alone: bool, to: list[Op]) -> Operand:
        loop = self.plan.loop
        for name, op in self.plan.reductions.items():
            if argument == op.results[0] or (isinstance(argument, Value) and argument.name == name):
                position = loop.ops.index(op)
                whole = argument == op.results[0]
                if whole != (position < e.position):
                    raise Refused(f"%{name} leaves the loop as it was an iteration before")
                return self._once(op.results[0], partial(self._result, name, op, self.ops if self.lane else to))
        if not isinstance(argument, Value) or not self._own(argument):
            return argument
        if argument.name in self.plan.affine:
            return self._counter(self.plan.affine[argument.name], e, alone, to)
        if e.condition is None or argument not in self.vectors:
            raise Refused(f"%{argument.name} of the last iteration leaves the loop")
        return self._once(argument, lambda: self._extract(self._pass(self.vectors[argument])))

    def _once(self, what: Operand, make: Callable[[], Operand]) -> Operand:
        """Where there are several exits, vectors become scalars before they part: those take less room."""
        if what not in self.scalars:
            self.scalars[what] = make()
        return self.scalars[what]

    def _own(self, operand: Value) -> bool:
        loop = self.plan.loop
        return operand in loop.parameters or any(operand in op.results for op in loop.ops)

    def _result(self, name: str, op: Op, to: list[Op]) -> Operand:
        first = dict(
            zip(
                (p.name for p in self.plan.loop.parameters), entry(self.function, self.plan.loop).arguments, strict=True
            )
        )
        adding = {"sub": "add", "subf": "addf"}.get(op.name, op.name)
        scalar = self._reduced(adding, self._pass(self.vectors[op.results[0]]), to)
        begin = first[name]
        neutral = identity(op.name, 8 * BYTES[scalar.type.width])
        if isinstance(begin, Constant) and begin.bits == neutral and op.name not in ("sub", "subf"):
            return scalar
        return self._emit(op.name, begin, scalar, type=scalar.type, to=to)

    def _counter(self, wanted: Form, e: Exit, alone: bool, to: list[Op]) -> Operand:
        """A counter in the exiting lane; of a counted loop in the last iteration, which is the one before."""
        loop = self.plan.loop
        if alone:
            assert self.plan.counted is not None
            forms = Forms(self.function)
            first = dict(zip((p.name for p in loop.parameters), entry(self.function, loop).arguments, strict=True))
            last = self.plan.counted[1] + Form(-1)
            found = Form(wanted.constant)
            for atom, coefficient in wanted.terms:
                if atom in self.plan.steps:
                    begun = _outer(first[atom], forms)
                    found = found + (begun + last * self.plan.steps[atom]) * coefficient
                else:
                    found = found + Form(0, ((atom, coefficient),))
            return materialized(found, to, self.fresh)
        assert self.lane is not None
        back = Form(-1) if e.condition is None else Form(0)
        found = Form(wanted.constant)
        for atom, coefficient in wanted.terms:
            if atom in self.plan.steps:
                here = self._pass(Value(atom, W))
                assert isinstance(here, Value)
                moved = (Form(0, ((self.lane.name, 1),)) + back) * self.plan.steps[atom]
                found = found + (Form(0, ((here.name, 1),)) + moved) * coefficient
            else:
                found = found + Form(0, ((atom, coefficient),))
        return materialized(found, to, self.fresh)


def _outer(operand: Operand, forms: Forms) -> Form:
    del forms
    return Form(0, ((operand.name, 1),)) if isinstance(operand, Value) else Form(_bits(operand))


def _bits(operand: Operand) -> int:
    if not isinstance(operand, Constant):
        raise Refused("a counter begins at an address")
    return operand.bits
