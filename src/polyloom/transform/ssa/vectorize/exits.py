# SPDX-License-Identifier: Apache-2.0
"""Behind a loop over vectors: lanes reduced to scalars, and the exit that was taken.

A reduction ends with the scalar that the loop began with. The exiting lane is the number of lanes that nothing was
masked in, less one; there the conditions tell which exit it was, in the order of the program. What left the scalar loop
is a counter as it is in that lane, a lane of a vector, or a reduction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from polyloom.analysis.affine import Affine, atom_form, initial_values
from polyloom.ir.ssa import (
    REASSOCIATED,
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Instruction,
    Jump,
    Operand,
    Value,
    integer_constant,
)
from polyloom.ir.ssa_types import I8, I32, Type
from polyloom.transform.ssa.materialize import materialize
from polyloom.transform.ssa.vectorize.analyse import SUMS, Plan, Refused, identity_element, operation_name
from polyloom.transform.ssa.vectorize.lanes import LaneExit, with_addition

Fresh = Callable[[str], str]


@dataclass(slots=True)
class Behind:
    """Mutable: the blocks behind the loop, with what is computed in the first of them. `vectors` are those of the last
    pass by scalar, `smeared` the lanes behind the first exit, `beyond` those beyond the end of a counted loop; without
    the former, the loop is counted and has no other exit."""

    function: Function
    plan: Plan
    fresh: Fresh
    exits: Sequence[LaneExit]
    vectors: Mapping[Operand, Operand]
    smeared: Operand | None = None
    beyond: Operand | None = None
    line: list[Instruction] = field(default_factory=list[Instruction])
    lane: Value | None = None
    scalars: dict[Operand, Operand] = field(default_factory=dict[Operand, Operand])

    def blocks(self) -> list[Block]:
        """The first one is where the loop goes."""
        if self.smeared is not None:
            self.lane = self._exiting_lane(self.smeared)
        # The end of a counted loop first: beyond it, other conditions have no value.
        ways = sorted(self.exits, key=lambda e: e.condition is not None)
        masks = [self.beyond if e.condition is None else e.condition for e in ways]
        conditions = [self._extract(mask) if mask is not None and self.lane is not None else None for mask in masks]
        arrivals = [self._arrival(e) for e in ways]
        tests: list[Block] = []
        end: Jump | Branch = Jump(Edge(arrivals[-1].name))
        for k in range(len(ways) - 2, -1, -1):
            condition = conditions[k]
            assert condition is not None
            onward = end.target if isinstance(end, Jump) else Edge(tests[0].name)
            end = Branch(condition, Edge(arrivals[k].name), onward)
            if k:
                tests.insert(0, Block(self.fresh("exit"), (), (), end))
        return [Block(self.fresh("behind"), (), tuple(self.line), end), *tests, *arrivals]

    def _emit(self, operation: str, *operands: Operand, type: Type, to: list[Instruction], callee: str = "") -> Value:
        result = Value(self.fresh("u"), type)
        to.append(Instruction(operation, operands, (result,), callee=callee))
        return result

    def _exiting_lane(self, smeared: Operand) -> Value:
        """Its number: the lanes that are not behind it, less one."""
        kept = self._emit("xor", smeared, Constant(smeared.type, 1), type=smeared.type, to=self.line)
        ones = self._emit("zext", kept, type=I8.with_lanes(self.plan.lanes), to=self.line)
        number = self._emit("call", ones, type=I8, to=self.line, callee="reduce.add")
        wide = self._emit("zext", number, type=I32, to=self.line)
        return self._emit("add", wide, integer_constant(I32, -1), type=I32, to=self.line)

    def _extract(self, vector: Operand) -> Operand:
        assert self.lane is not None
        return self._emit("extract", vector, self.lane, type=vector.type.scalar, to=self.line)

    def _arrival(self, e: LaneExit) -> Block:
        """What the exit's own block is given."""
        line: list[Instruction] = []
        edge = e.scalar.edge
        arguments = tuple(self._argument(a, e, self.line if self.lane else line) for a in edge.arguments)
        return Block(self.fresh("arrival"), (), tuple(line), Jump(Edge(edge.block, arguments), e.scalar.place))

    def _argument(self, argument: Operand, e: LaneExit, to: list[Instruction]) -> Operand:
        loop = self.plan.loop
        for variable, i in self.plan.reductions.items():
            if argument in (variable, i.results[0]):
                # An exit before the addition leaves with the sum of the iteration before, behind it with the new one.
                if (argument != variable) != (loop.instructions.index(i) < e.scalar.position):
                    raise Refused(f"%{variable.name} leaves the loop as it was an iteration before")
                return self._memoize(i.results[0], partial(self._result, variable, i, to))
        if not isinstance(argument, Value) or argument.name not in loop.definitions:
            return argument
        if argument in self.plan.affine:
            form = self._counter(self.plan.affine[argument], e)
            return materialize(form, to, self.fresh, self.function.address)
        if e.condition is None or argument not in self.vectors:
            raise Refused(f"%{argument.name} of the last iteration leaves the loop")
        return self._memoize(argument, lambda: self._extract(self.vectors[argument]))

    def _memoize(self, what: Operand, make: Callable[[], Operand]) -> Operand:
        """Where there are several exits, vectors become scalars before they part: those take less room."""
        if what not in self.scalars:
            self.scalars[what] = make()
        return self.scalars[what]

    def _result(self, variable: Value, i: Instruction, to: list[Instruction]) -> Operand:
        type, name = i.results[0].type, operation_name(with_addition(i))
        scalar = Value(self.fresh("u"), type)
        flags = (REASSOCIATED,) if i.operation in SUMS else ()
        vector = self.vectors[i.results[0]]
        to.append(Instruction("call", (vector,), (scalar,), flags, callee=f"reduce.{name}"))
        begin = initial_values(self.function, self.plan.loop)[variable]
        if begin == Constant(type, identity_element(operation_name(i), type)) and i.operation not in ("sub", "fsub"):
            return scalar
        return self._emit(i.operation, begin, scalar, type=type, to=to, callee=i.callee)

    def _counter(self, wanted: Affine, e: LaneExit) -> Affine:
        """A counter in the exiting lane; of a counted loop in the last iteration, which is the one before."""
        first = initial_values(self.function, self.plan.loop)
        found = Affine(wanted.constant)
        for atom, coefficient in wanted.terms:
            if not isinstance(atom, Value) or atom not in self.plan.steps:
                found = found + Affine(0, ((atom, coefficient),))
            elif self.lane is None:
                assert self.plan.counted is not None
                last = self.plan.counted[1] + Affine(-1)
                found = found + (begin_form(first[atom]) + last * self.plan.steps[atom]) * coefficient
            else:
                back = Affine(-1) if e.condition is None else Affine()
                moved = (atom_form(self.lane) + back) * self.plan.steps[atom]
                found = found + (atom_form(atom) + moved) * coefficient
        return found


def begin_form(operand: Operand) -> Affine:
    """What a counter begins with."""
    return Affine(operand.value) if isinstance(operand, Constant) else atom_form(operand)
