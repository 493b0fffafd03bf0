# SPDX-License-Identifier: Apache-2.0
"""The line of a loop over vectors, of a plan.

Counters stay scalars and grow by as many steps as there are lanes. Loads come first, then what is computed of them,
then the masks: exits are or-ed and smeared once, lanes behind the first exit do nothing. What stands before an exit in
the program is masked with `smearx`, by which the exiting lane still does it; behind the exit, also where its condition
is true. A counted loop's lanes beyond its end are masked as if it were left before them. Stores have masks; reductions
add what changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from polyloom.analysis.affine import Affine, AffineForms, affine
from polyloom.analysis.superblocks import SideExit
from polyloom.ir.ssa import SPECULATIVE, Access, Constant, Function, Instruction, Operand, Value, integer_constant
from polyloom.ir.ssa_types import I1, I32, PTR, Type, memory_size
from polyloom.transform.ssa.materialize import materialize
from polyloom.transform.ssa.vectorize.analyse import (
    Plan,
    Refused,
    extending_load,
    home,
    identity_element,
    operation_name,
    stores_low_bytes,
)

Fresh = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class LaneExit:
    """An exit of the scalar loop; its condition by lane, None for that of a counted loop."""

    scalar: SideExit
    condition: Operand | None


@dataclass(slots=True)
class Lanes:
    """Mutable: instructions before the loop and in it, vectors by scalar, what reductions carry, masks. `beyond` has
    the lanes beyond the end of a counted loop, `smeared` those behind the first exit."""

    source: Function
    plan: Plan
    fresh: Fresh
    head: list[Instruction] = field(default_factory=list[Instruction])
    spread: dict[Operand, Operand] = field(default_factory=dict[Operand, Operand])
    line: list[Instruction] = field(default_factory=list[Instruction])
    vectors: dict[Operand, Operand] = field(default_factory=dict[Operand, Operand])
    scalars: dict[Affine, Operand] = field(default_factory=dict[Affine, Operand])
    counted: dict[Affine, Operand] = field(default_factory=dict[Affine, Operand])
    carried: dict[Value, Value] = field(default_factory=dict[Value, Value])
    exits: list[LaneExit] = field(default_factory=list[LaneExit])
    beyond: Operand | None = None
    smeared: Operand | None = None

    def compute(self) -> None:
        """Loads, and what is computed of them."""
        reducing = list(self.plan.reductions.values())
        for i in self.plan.loop.instructions:
            if i.operation == "load":
                self._load(i)
            elif i.operation not in ("store", "offset") and i not in reducing and i.results[0] not in self.plan.affine:
                self._compute(i)

    def realize(self) -> None:
        """Stores and reductions, in the lanes that are not masked."""
        for position, i in enumerate(self.plan.loop.instructions):
            if i.operation == "store":
                self._store(i, position)
        for variable, i in self.plan.reductions.items():
            self._reduce(variable, i)

    def mask_excess_lanes(self, left: Operand) -> None:
        """Only so many lanes do anything."""
        numbers = self.emit("iota", type=I32)
        self.beyond = self.smeared = self.emit("sge", numbers, self.emit("splat", left, type=I32), type=I1)

    def decide_exits(self) -> Operand:
        """Whether the loop is left in a lane, an i1; the exits, and the lanes behind the first one."""
        for e in self.plan.loop.exits:
            counts = self.plan.counted is not None and e == self.plan.counted[0]
            condition = None if counts else self.vector(e.condition)
            if condition is not None and not e.sense:
                condition = self.emit("xor", condition, self.number(1), type=I1)
            self.exits.append(LaneExit(e, condition))
        whole = self._disjunction([e.condition for e in self.exits if e.condition is not None])
        self.smeared = self.emit("smearx", whole, type=I1)
        last = integer_constant(I32, self.plan.lanes - 1)
        stop = Value(self.fresh("stop"), I1)
        self.line.append(Instruction("extract", (self.emit("smeari", whole, type=I1), last), (stop,)))
        return stop

    def emit(self, operation: str, *operands: Operand, type: Type, callee: str = "") -> Value:
        """A vector of the type's lanes."""
        result = Value(self.fresh("v"), type.with_lanes(self.plan.lanes))
        self.line.append(Instruction(operation, operands, (result,), callee=callee))
        return result

    def number(self, value: int, type: Type = I1) -> Constant:
        """The same in each lane."""
        return Constant(type.with_lanes(self.plan.lanes), value)

    def unite(self, one: Operand, other: Operand) -> Operand:
        """The lanes of either mask, where the second counts only outside of the first."""
        operands = (one, self.number(1), other)
        same = next((i for i in self.line if i.operation == "select" and i.operands == operands), None)
        return same.results[0] if same is not None else self.emit("select", *operands, type=I1)

    def _disjunction(self, conditions: Sequence[Operand]) -> Operand:
        """Conditions may have no value in lanes beyond the end, which so come first."""
        whole, *others = conditions
        for other in others:
            whole = self.unite(whole, other)
        return whole if self.beyond is None or self.beyond in conditions else self.unite(self.beyond, whole)

    def scalar(self, form: Affine) -> Operand:
        """A form over counters as it is for lane 0."""
        if form not in self.scalars:
            self.scalars[form] = materialize(form, self.line, self.fresh, self.source.address)
        return self.scalars[form]

    def vector(self, operand: Operand) -> Operand:
        """What the operand is in each lane."""
        if operand in self.vectors:
            return self.vectors[operand]
        if isinstance(operand, Constant):
            return self.number(operand.value, operand.type)
        if isinstance(operand, Value) and operand.name in self.plan.loop.definitions:
            if operand not in self.plan.affine or operand.type == PTR:
                raise Refused(f"%{operand.name} is no vector")
            self.vectors[operand] = self._counter_vector(self.plan.affine[operand])
            return self.vectors[operand]
        if operand not in self.spread:
            self.spread[operand] = self._emit_preheader("splat", operand, type=operand.type)
        return self.spread[operand]

    def identity(self, i: Instruction) -> Constant:
        """What changes nothing, in each lane of a reduction."""
        type = i.results[0].type
        return self.number(identity_element(operation_name(i), type), type)

    def _emit_preheader(self, operation: str, *operands: Operand, type: Type) -> Value:
        """A vector that is made before the loop."""
        result = Value(self.fresh("splat"), type.with_lanes(self.plan.lanes))
        self.head.append(Instruction(operation, operands, (result,)))
        return result

    def _counter_vector(self, form: Affine) -> Operand:
        """A counter: what it is in lane 0, and its growth more in each lane."""
        if form not in self.counted:
            self.counted[form] = self._count_lanes(form, self.plan.growth(form))
        return self.counted[form]

    def _count_lanes(self, form: Affine, growth: int) -> Operand:
        whole = self.emit("splat", self.scalar(form), type=I32)
        if growth == 0:
            return whole
        if growth == 1:
            return self.emit("add", whole, self.emit("iota", type=I32), type=I32)
        key = integer_constant(I32, growth)
        if key not in self.spread:
            numbers = self._emit_preheader("iota", type=I32)
            self.spread[key] = self._emit_preheader("mul", numbers, self.number(key.value, I32), type=I32)
        return self.emit("add", whole, self.spread[key], type=I32)

    def _pointer(self, i: Instruction, type: Type) -> Operand:
        """Of one scalar, lane after lane; of a vector of indices where lanes are apart."""
        form = AffineForms(self.source, self.plan.loop).address(i)
        own = self.plan.loop.definitions
        others = [(a, c) for a, c in form.terms if isinstance(a, Value) and a.name in own and a not in self.plan.steps]
        rest = affine(form.constant, [term for term in form.terms if term not in others])
        growth = self.plan.growth(rest)
        # Elements side by side: one access of the whole vector.
        if not others and growth == memory_size(type, self.source.pointers):
            return self.scalar(form)
        if not others and i.operation == "load":
            counted = [(a, c) for a, c in rest.terms if a in self.plan.steps and a.type != PTR]
            stays = affine(rest.constant, [term for term in rest.terms if term not in counted])
            if counted and self.plan.growth(stays) == 0:
                scale = next(s for s in (8, 4, 2, 1) if all(c % s == 0 for _, c in counted))
                return self._gather(
                    stays, self._counter_vector(affine(0, [(a, c // scale) for a, c in counted])), scale
                )
        # Stores to scattered places have no operation.
        if len(others) != 1 or i.operation == "store" or growth != 0 or others[0][0].type == PTR:
            where = i.place.words(home(self.plan.loop))
            raise Refused(f"the stride of an access{f' ({where})' if where else ''} is not its element's size")
        gathered, scale = others[0]
        return self._gather(rest, self.vector(gathered), scale)

    def _gather(self, rest: Affine, index: Operand, scale: int) -> Operand:
        """A pointer for each lane."""
        base = materialize(rest, self.head, self.fresh, self.source.address)
        if base not in self.spread:
            self.spread[base] = self._emit_preheader("splat", base, type=PTR)
        if scale & (scale - 1) or scale < 0:
            index = self.emit("mul", index, self.number(scale, I32), type=I32)
        elif scale != 1:
            index = self.emit("shl", index, self.number(scale.bit_length() - 1, I32), type=I32)
        return self.emit("offset", self.spread[base], index, type=PTR)

    def _load(self, i: Instruction) -> Value:
        type = i.results[0].type
        result = Value(self.fresh(i.results[0].name), type.with_lanes(self.plan.lanes))
        # Lanes beyond an exit are not asked for.
        # Every lane is an iteration that happens, so that the load is as safe as it was.
        flags = i.flags if self.smeared is None and self.beyond is None and not self._has_early_exit else (SPECULATIVE,)
        pointer = self._pointer(i, type)
        self.line.append(replace(i, operands=(pointer,), results=(result,), flags=flags))
        self.vectors[i.results[0]] = result
        return result

    @property
    def _has_early_exit(self) -> bool:
        return self.plan.counted is None or len(self.plan.loop.exits) > 1

    def _compute(self, i: Instruction) -> None:
        loop, (result,) = self.plan.loop, i.results
        extended = extending_load(loop, i)
        if stores_low_bytes(loop, i):
            return
        if extended is i:
            ones = integer_constant(result.type, 1 if i.operation == "zext" else -1)
            arms = self.number(ones.value, result.type), self.number(0, result.type)
            self.vectors[result] = self.emit("select", self.vector(i.operands[0]), *arms, type=result.type)
        elif extended is not None:
            # The load is done once more, so that it alone is extended.
            self.vectors[result] = self.emit(i.operation, self._load(extended), type=result.type)
        else:
            scalar = i.operation == "select" and not self._varies(i.operands[0])
            operands = [i.operands[0] if scalar and k == 0 else self.vector(o) for k, o in enumerate(i.operands)]
            self.vectors[result] = self.emit(i.operation, *operands, type=result.type, callee=i.callee)

    def _varies(self, operand: Operand) -> bool:
        return isinstance(operand, Value) and operand.name in self.plan.loop.definitions

    def _inactive_lanes(self, position: int) -> Operand:
        """True in the lanes that do not do what stands there."""
        assert self.smeared is not None
        earlier = (e.condition for e in self.exits if e.condition is not None and e.scalar.position <= position)
        return self._disjunction([self.smeared, *earlier])

    def _store(self, i: Instruction, position: int) -> None:
        value, narrow = i.operands[0], i.operands[0].type
        made = next((other for other in self.plan.loop.instructions if value in other.results), None)
        if made is not None and stores_low_bytes(self.plan.loop, made):
            stored: Operand = self.emit("trunc", self.vector(made.operands[0]), type=narrow)
        else:
            stored = self.vector(value)
        masks: list[Operand] = []
        if len(i.operands) == 3:
            masks.append(self.vector(i.operands[2]))
        if self.smeared is not None:
            does = self._reuse_mask("xor", self._inactive_lanes(position), self.number(1))
            masks = [self.emit("select", does, masks[0], self.number(0), type=I1)] if masks else [does]
        pointer = self._pointer(i, narrow)
        self.line.append(
            replace(i, operands=(stored, pointer, *masks), access=Access(i.access.align if i.access else 1))
        )

    def _reuse_mask(self, operation: str, *operands: Operand) -> Operand:
        same = next((i for i in self.line if i.operation == operation and i.operands == operands), None)
        return same.results[0] if same is not None else self.emit(operation, *operands, type=I1)

    def _reduce(self, variable: Value, i: Instruction) -> None:
        type = i.results[0].type
        carried = Value(self.fresh(variable.name), type.with_lanes(self.plan.lanes))
        given = self.vector(next(o for o in i.operands if o != variable))
        if self.smeared is not None:
            # Lanes that do nothing add the identity element.
            mask = self._inactive_lanes(self.plan.loop.instructions.index(i))
            given = self.emit("select", mask, self.identity(i), given, type=type)
        self.vectors[variable] = self.carried[variable] = carried
        made = with_addition(i)
        self.vectors[i.results[0]] = self.emit(made.operation, carried, given, type=type, callee=made.callee)


def with_addition(i: Instruction) -> Instruction:
    """Lanes of what is subtracted are added, and subtracted behind the loop."""
    return replace(i, operation={"sub": "add", "fsub": "fadd"}.get(i.operation, i.operation))
