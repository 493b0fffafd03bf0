# SPDX-License-Identifier: Apache-2.0
"""Variables of a loop that count: by a constant, or by what stays the same; and products of these, which count
themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from polyloom.ir.ssa import Constant, Edge, Instruction, Jump, Operand, Value, successor_edges
from polyloom.ir.ssa_types import Type
from polyloom.transform.ssa.body import Body, Place, Scope
from polyloom.transform.ssa.function_editing import with_operands


@dataclass(frozen=True, slots=True)
class Count:
    """A variable of a loop that counts: what it begins with, its step, and the name of the next value."""

    variable: Value
    first: Operand
    step: Operand
    following: str


def counts(body: Body, place: Place, scope: Scope, types: Collection[Type] = ()) -> dict[Operand, Count]:
    """Basic induction variables of the loop, of these types, or as wide as addresses."""
    return {count.variable: count for count in _counts(body, place, scope, types or (body.function.address,))}


def _counts(body: Body, place: Place, scope: Scope, types: Collection[Type]) -> Iterator[Count]:
    header, enters = body.blocks[place.header], body.blocks[place.entry].terminator
    assert isinstance(enters, Jump)
    back = _latch_edge(body, place)
    for p, first, following in zip(header.parameters, enters.target.arguments, back.arguments, strict=True):
        made = scope.forms.makers.get(following.name) if isinstance(following, Value) else None
        if made is None or p.type not in types or made.operation != "add" or p not in made.operands:
            continue
        # Addition is commutative: the variable may stand on either side.
        step = made.operands[1] if made.operands[0] == p else made.operands[0]
        if scope.stays(step):
            yield Count(p, first, step, made.results[0].name)


def _latch_edge(body: Body, place: Place) -> Edge:
    name = body.blocks[place.header].name
    return next(edge for edge in successor_edges(body.blocks[place.latch].terminator) if edge.block == name)


def multiply(body: Body, place: Place, scope: Scope) -> None:
    """Operator strength reduction of products (Cocke, Kennedy 1977): products of a counter and of what stays become
    variables that are added to.
    """
    known = counts(body, place, scope)
    made: dict[tuple[Value, Value], Value] = {}
    replaced: dict[str, Value] = {}
    for instruction in [i for k in place.each for i in body.blocks[k].instructions if i.operation == "mul"]:
        found = _product(instruction, known, scope)
        if found is None:
            continue
        if found not in made:
            made[found] = _variable(body, place, known[found[0]], found[1])
        replaced[instruction.results[0].name] = made[found]

    def operand(operand: Operand) -> Operand:
        return replaced.get(operand.name, operand) if isinstance(operand, Value) else operand

    if replaced:
        inside = set(place.members)
        # Behind the loop the product keeps its own name: it is that of the last iteration.
        body.blocks = [with_operands(b, operand) if k in inside else b for k, b in enumerate(body.blocks)]


def _product(instruction: Instruction, known: dict[Operand, Count], scope: Scope) -> tuple[Value, Value] | None:
    """A counter with a constant step, and what it is multiplied by."""
    for a, b in (instruction.operands, instruction.operands[::-1]):
        # A step that varies would need a product in each iteration again.
        is_counter = isinstance(a, Value) and a in known and isinstance(known[a].step, Constant)
        if is_counter and isinstance(a, Value) and isinstance(b, Value) and scope.stays(b):
            return a, b
    return None


def _variable(body: Body, place: Place, count: Count, by: Value) -> Value:
    variable, following = (Value(body.fresh("at"), body.function.address) for _ in range(2))
    is_zero = isinstance(count.first, Constant) and count.first.value == 0
    start = body.number(0) if is_zero else body.emit(place.entry, "mul", count.first, by)
    assert isinstance(count.step, Constant)
    step = body.times(place.entry, by, count.step.value)
    body.add_variable(place, variable, start, following)
    where = body.blocks[place.latch].terminator.place
    body.append(place.latch, Instruction("add", (variable, step), (following,), place=where))
    return variable
