# SPDX-License-Identifier: Apache-2.0
"""Whether a loop can compute several iterations at once, and what its values are then.

Feasible iff every recurrence but reductions has a distance of at least the lanes: recurrences through parameters have
distances below that, those through memory are in the loop's order. Loads come before all stores of a pass; so what must
not happen is that a store of one lane is read, or overwritten, by an earlier operation of a later lane.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from polyloom.targets.belt.front.affine import Form, Forms, entry, signed, steps
from polyloom.targets.belt.ir import BYTES, Constant, Function, Loop, Op, Operand, Type, Value
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.meaning import computes

LOADS: Final = ("load", "loads", "loadu")
IDENTITY: Final = {"add": 0, "sub": 0, "or": 0, "xor": 0, "and": -1, "mul": 1, "addf": 0, "subf": 0}
EXTREMES: Final = ("mins", "maxs", "minu", "maxu")
FLOATS: Final = ("addf", "subf")
_CONVERSIONS: Final = ("widens", "widenu", "narrow", "narrowss", "narrowus", "widenf", "narrowf")


class Refused(Exception):
    """The text says why."""


@dataclass(frozen=True, slots=True)
class Plan:
    """`steps`: counters with what they grow by in an iteration. `reductions`: parameters with the operation that makes
    their next value. `counted`: the leave whose test the number of iterations decides, and that number as a form;
    others test their condition in each lane."""

    loop: Loop
    lanes: int
    steps: Mapping[str, int]
    reductions: Mapping[str, Op]
    counted: tuple[Op, Form] | None
    affine: Mapping[str, Form]


def home(loop: Loop) -> str:
    """The file that places in messages do not name."""
    return next((op.place.file for op in loop.ops if op.place.file), loop.place.file)


def counts(plan: Plan) -> bool:
    """Whether the number of iterations alone ends the loop."""
    return plan.counted is not None and sum(op.edge is not None for op in plan.loop.ops) == 1


def analyse(function: Function, loop: Loop, vector: int, reassociate: bool) -> Plan:
    """How to vectorize for vectors of so many bytes. Raises Refused."""
    for op in loop.ops:
        if op.callee:
            raise Refused(f"it calls {op.callee}")
        if op.volatile:
            raise Refused("it has a volatile access")
    forms = Forms(function, loop)
    basic = steps(loop, forms)
    affine = _affine(loop, forms, basic)
    reductions = _reductions(loop, basic, affine, reassociate)
    lanes = vector // max(1, _widest(loop, affine))
    if lanes < 2:
        raise Refused(f"vectors of {vector} bytes have one lane of its widest element")
    if loop.expected is not None and loop.expected < lanes:
        raise Refused(f"{loop.expected} iterations are expected, fewer than {lanes} lanes")
    _check_memory(loop, lanes)
    _check_operations(loop, affine)
    counted = iterations(function, loop, forms, basic)
    if counted is not None and not _leaves_only_sums(loop, counted[0], affine, reductions):
        counted = None  # its test by lane tells the last iteration's lane
    return Plan(loop, lanes, basic, reductions, counted, affine)


def _leaves_only_sums(loop: Loop, leave: Op, affine: Mapping[str, Form], reductions: Mapping[str, Op]) -> bool:
    """Whether what leaves with the counted exit is known without the last iteration's lane."""
    own = {p.name for p in loop.parameters} | {r.name for op in loop.ops for r in op.results}
    sums = {*reductions, *(op.results[0].name for op in reductions.values())}
    given = leave.edge.arguments if leave.edge is not None else ()
    names = [a.name for a in given if isinstance(a, Value) and a.name in own]
    return all(name in affine or name in sums for name in names)


def identity(name: str, width: int) -> int:
    """What changes nothing."""
    if name in EXTREMES:
        most = (1 << width) - 1
        return {"mins": most >> 1, "maxs": (most >> 1) + 1, "minu": most, "maxu": 0}[name]
    if name in ("addf", "subf"):
        return 1 << (width - 1)  # -0.0, which also a sum of zeros keeps
    return IDENTITY[name] % (1 << width)


def _affine(loop: Loop, forms: Forms, basic: Mapping[str, int]) -> dict[str, Form]:
    """Values that grow by a constant in each iteration, or do not vary."""
    own = {p.name for p in loop.parameters} | {r.name for op in loop.ops for r in op.results}
    found: dict[str, Form] = {}
    for value in (*loop.parameters, *(r for op in loop.ops for r in op.results)):
        if value.type == Type("w"):
            form = forms.of(value)
            if all(atom in basic or atom not in own for atom, _ in form.terms):
                found[value.name] = form
    return found


def _reductions(loop: Loop, basic: Mapping[str, int], affine: Mapping[str, Form], reassociate: bool) -> dict[str, Op]:
    made = {r.name: op for op in loop.ops for r in op.results}
    found: dict[str, Op] = {}
    for parameter, following in zip(loop.parameters, loop.next, strict=True):
        if parameter.name in basic:
            continue
        op = made.get(following.name) if isinstance(following, Value) else None
        readers = [other for other in loop.ops if parameter in other.operands]
        reads = sum(o == parameter for other in loop.ops for o in other.operands)
        is_reduction = op is not None and op.name in (*IDENTITY, *EXTREMES) and readers == [op] and reads == 1
        if op is None or not is_reduction or (op.name in ("sub", "subf") and op.operands[0] != parameter):
            raise Refused(_recurrence(loop, parameter, following, made))
        users = [o for other in loop.ops for o in other.operands if o == op.results[0]]
        if users or sum(n == op.results[0] for n in loop.next) > 1:
            raise Refused(_recurrence(loop, parameter, following, made))
        if op.name in FLOATS and not reassociate:
            raise Refused(f"the sum %{parameter.name} of floats keeps its order; `--reassociate` lets it change")
        if op.results[0].type != parameter.type:
            raise Refused(_recurrence(loop, parameter, following, made))
        found[parameter.name] = op
    del affine
    return found


def _recurrence(loop: Loop, parameter: Value, following: Operand, made: Mapping[str, Op]) -> str:
    """In words, with its distance: the parameters that a value passes before it is read."""
    names = {p.name: n for p, n in zip(loop.parameters, loop.next, strict=True)}
    distance, last = 1, following
    while isinstance(last, Value) and last.name in names and distance < len(names):
        distance, last = distance + 1, names[last.name]
    op = made.get(last.name) if isinstance(last, Value) else None
    place = op.place.words(home(loop)) if op is not None else ""
    return f"the recurrence of %{parameter.name}{f' ({place})' if place else ''} has distance {distance}"


def _widest(loop: Loop, affine: Mapping[str, Form]) -> int:
    """Bytes of the widest element that becomes a lane; conditions are as narrow as can be."""
    widths: list[int] = []
    for op in loop.ops:
        if op.name in LOADS:
            widths += [BYTES[op.results[0].type.width], *_index(op, affine)]
        elif op.name == "store":
            widths += [BYTES[op.operands[-1].type.width], *_index(op, affine)]
        elif op.edge is None:
            for value in (*op.results, *op.operands):
                if isinstance(value, Value) and value.name not in affine:
                    widths.append(BYTES[value.type.width])
                elif OPS[op.name].width == "b" and isinstance(value, Value) and op.results[0].name not in affine:
                    widths += _compared(op, affine)
    return max(widths, default=1)


def _compared(op: Op, affine: Mapping[str, Form]) -> list[int]:
    """A comparison of a counter with what does not vary needs lanes of the counter."""
    return [BYTES[o.type.width] for o in op.operands if isinstance(o, Value) and o.name in affine]


def _index(op: Op, affine: Mapping[str, Form]) -> list[int]:
    """A gather has addresses by lane."""
    index = op.operands[1] if op.scale else op.operands[0]
    return [] if not isinstance(index, Value) or index.name in affine else [4]


def _check_memory(loop: Loop, lanes: int) -> None:
    for order in loop.order:
        first, second = loop.ops[order.source], loop.ops[order.sink]
        if first.name in LOADS:
            continue  # all loads come first
        backward = order.source >= order.sink
        reads = second.name in LOADS
        if (reads and order.distance < lanes) or (backward and order.distance < lanes):
            places = (first.place.words(home(loop)), second.place.words(home(loop)))
            where = f" ({places[0]} to {places[1]})" if all(places) else ""
            kind = "is read" if reads else "is overwritten"
            message = f"the recurrence through memory{where} has distance {order.distance}: what is stored {kind}"
            raise Refused(f"{message} before {lanes} iterations have passed")


def _check_operations(loop: Loop, affine: Mapping[str, Form]) -> None:
    made = {r: op for op in loop.ops for r in op.results}
    for op in loop.ops:
        if op.edge is not None or op.name in LOADS or op.name == "store":
            continue
        varies = not all(r.name in affine for r in op.results)
        converts = op.name in _CONVERSIONS and source_of(op, made) is None
        if varies and (converts or not computes(op.name)):
            where = op.place.words(home(loop))
            raise Refused(f"`{op.name}`{f' ({where})' if where else ''} changes the width of lanes")


def source_of(op: Op, made: Mapping[Value, Op]) -> Op | None:
    """Of an extension to w: the load that could do it, or the comparison whose 0 or 1 it extends."""
    operand = op.operands[0]
    source = made.get(operand) if isinstance(operand, Value) else None
    if source is None or op.name not in ("widens", "widenu"):
        return None
    loads = source.name == "load" and source.width in ("b", "h") and op.width == "w"
    return source if loads or (op.name == "widenu" and OPS[source.name].width == "b") else None


def iterations(function: Function, loop: Loop, forms: Forms, basic: Mapping[str, int]) -> tuple[Op, Form] | None:
    """The leave at the end of the loop that an equality with a counter decides, and the number of iterations."""
    last = loop.ops[-1] if loop.ops else None
    leaves = [k for k, op in enumerate(loop.ops) if op.edge is not None]
    if last is None or not leaves:
        return None
    leave = loop.ops[leaves[-1]]
    if leave.name != "leavetr" or any(op.name == "store" for op in loop.ops[leaves[-1] + 1 :]):
        return None
    test = next((op for op in loop.ops if op.results and op.results[0] == leave.operands[0]), None)
    if test is None or test.name != "eql" or test.operands[0].type != Type("w"):
        return None
    difference = forms.of(test.operands[0]) - forms.of(test.operands[1])
    own = {p.name for p in loop.parameters} | {r.name for op in loop.ops for r in op.results}
    inside = [(atom, c) for atom, c in difference.terms if atom in own]
    if len(inside) != 1 or inside[0][0] not in basic:
        return None
    counter, coefficient = inside[0]
    step = signed(basic[counter] * coefficient)
    if abs(step) != 1:
        return None
    first = dict(zip((p.name for p in loop.parameters), entry(function, loop).arguments, strict=True))
    begin = Forms(function).of(first[counter]) if isinstance(first[counter], Constant) else forms.of(first[counter])
    begun = difference + (begin - Form(0, ((counter, 1),))) * coefficient
    return leave, begun * -step + Form(1)  # where begun + t * step == 0 the last iteration is t
