# SPDX-License-Identifier: Apache-2.0
"""A counter whose end is tested for equality counts to 0 instead, where else it is but an index.

The end then takes no fill in each pass: 0 is a free operand, and the bases of the arrays move by as much. What leaves
the loop of the counter is counted back where it is used, behind the loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polyloom.targets.belt.front.addresses import materialized, with_head
from polyloom.targets.belt.front.affine import Form, Forms, W, entry, steps
from polyloom.targets.belt.front.hoist import before
from polyloom.targets.belt.front.lower import constant
from polyloom.targets.belt.ir import Edge, Function, Loop, Op, Operand, Value

_ACCESSES = ("load", "loads", "loadu", "store")
Fresh = Callable[[str], str]


def count_down(function: Function, fresh: Fresh) -> Function:
    for loop in [b for b in function.blocks if isinstance(b, Loop)]:
        function = _first(function, loop, fresh)
    return function


def _first(function: Function, loop: Loop, fresh: Fresh) -> Function:
    forms = Forms(function, loop)
    basic = steps(loop, forms)
    own = {p.name for p in loop.parameters} | {r.name for op in loop.ops for r in op.results}
    for k, op in enumerate(loop.ops):
        if op.name not in ("eql", "neq") or op.operands[0].type != W:
            continue
        difference = forms.of(op.operands[0]) - forms.of(op.operands[1])
        inside = [(atom, c) for atom, c in difference.terms if atom in own]
        if len(inside) != 1 or inside[0][0] not in basic or abs(inside[0][1]) != 1:
            continue
        counter, sign = inside[0]
        end = (difference - Form(0, ((counter, sign),))) * -sign  # where counter == end the two are equal
        if end.terms and _only_counts(loop, counter, forms, basic, k):
            return _moved(function, loop, counter, end, k, basic[counter], fresh)
    return function


def _only_counts(loop: Loop, counter: str, forms: Forms, basic: dict[str, int], test: int) -> bool:
    """Whether the counter, and what is a constant more, is used as an index, in the test, to count on and to leave."""
    family = {counter} | {
        r.name for op in loop.ops for r in op.results if op.name == "add" and forms.of(r).terms == ((counter, 1),)
    }
    for k, op in enumerate(loop.ops):
        used = [n for n, o in enumerate(op.operands) if isinstance(o, Value) and o.name in family]
        if not used or k == test or (op.results and op.results[0].name in family):
            continue
        if op.name not in _ACCESSES or used != [1] or not op.scale:
            return False
        if op.operands[1] != Value(counter, W):
            return False
    for parameter, following in zip(loop.parameters, loop.next, strict=True):
        if isinstance(following, Value) and following.name in family and parameter.name != counter:
            return False
    return bool(basic)


def _moved(function: Function, loop: Loop, counter: str, end: Form, test: int, step: int, fresh: Fresh) -> Function:
    """With a counter less by `end`, which lies outside of the loop."""
    head: list[Op] = []
    old, new = Value(counter, W), Value(fresh(counter), W)
    position = next(k for k, p in enumerate(loop.parameters) if p.name == counter)
    grown = Value(fresh(counter), W)
    whole = Form(end.constant, end.terms)
    distance = Form(0, whole.terms)  # the constant stays in the test: counter + c == 0
    last = materialized(distance, head, fresh)
    bases: dict[Operand, Operand] = {}

    def moved_base(base: Operand, scale: int) -> Operand:
        key: Operand = base if scale == 1 else Value(f"{base}*{scale}", W)
        if key not in bases:
            shift = {1: 0, 2: 1, 4: 2, 8: 3}[scale]
            by = last
            if shift:
                head.append(Op("shl", (last, constant(W, shift)), (Value(fresh("a"), W),)))
                by = head[-1].results[0]
            head.append(Op("add", (base, by), (Value(fresh("a"), W),)))
            bases[key] = head[-1].results[0]
        return bases[key]

    own = {p.name for p in loop.parameters} | {r.name for op in loop.ops for r in op.results}
    ops: list[Op] = []
    needs = False
    for k, op in enumerate(loop.ops):
        if k == test:
            tested = end.constant
            if tested == -step:
                ops.append(Op("add", (new, constant(W, step)), (grown,)))
                ops.append(replace(op, operands=(grown, constant(W, 0))))
            else:
                ops.append(replace(op, operands=(new, constant(W, tested))))
        elif op.name in _ACCESSES and len(op.operands) > 1 and op.scale and op.operands[1] == old:
            base = op.operands[0]
            if isinstance(base, Value) and base.name in own:
                return function  # a base that varies: nothing is gained
            ops.append(replace(op, operands=(moved_base(base, op.scale), new, *op.operands[2:])))
        else:
            ops.append(op)
            needs = needs or any(o == old for o in op.operands)
    if not any(grown in op.results for op in ops):
        ops.append(Op("add", (new, constant(W, step)), (grown,)))
    # What still reads the old counter (values that leave) reads the sum, which is sunk out of the loop or dead.
    back = Op("add", (new, last), (old,))
    parameters = tuple(new if k == position else p for k, p in enumerate(loop.parameters))
    following = tuple(grown if k == position else n for k, n in enumerate(loop.next))
    first = entry(function, loop).arguments[position]
    head.append(Op("sub", (first, last), (Value(fresh("a"), W),)))
    begin = head[-1].results[0]
    moved = replace(loop, parameters=parameters, ops=(back, *ops), next=following)
    made = with_head(function, moved, head, [])
    return _argument(made, moved, position, begin)


def _argument(function: Function, loop: Loop, position: int, value: Operand) -> Function:
    ahead = before(function, loop)
    end = ahead.terminator
    edge = entry(function, loop)
    arguments = tuple(value if k == position else a for k, a in enumerate(edge.arguments))
    changed = replace(ahead, terminator=replace(end, edge=Edge(edge.target, arguments)))
    return replace(function, blocks=tuple(changed if b.name == ahead.name else b for b in function.blocks))
