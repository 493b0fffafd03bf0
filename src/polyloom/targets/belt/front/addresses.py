# SPDX-License-Identifier: Apache-2.0
"""Addresses in the machine's mode, base + index * scale + offset, with few operations and few drops in a pass.

In a loop, an address that is affine over basic parameters takes as base what does not vary, made before the loop, and
as index a parameter; where no scale makes it one, a parameter of its own is added, shared by all addresses of its
stride (strength reduction). A gather takes the gathered value as index; what varies beside it becomes a pointer that
grows. So an array costs a fill, and all arrays of a stride one addition, the counter's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.targets.belt.front.affine import Form, Forms, W, entry, form, signed, steps
from polyloom.targets.belt.front.hoist import before
from polyloom.targets.belt.front.lower import constant
from polyloom.targets.belt.ir import (
    Address,
    Block,
    Edge,
    Function,
    Jump,
    Loop,
    Op,
    Operand,
    Type,
    Value,
)

_SCALES: Final = (8, 4, 2, 1)
_LOADS: Final = ("load", "loads", "loadu")
Fresh = Callable[[str], str]


def addresses(function: Function, fresh: Fresh) -> Function:
    """The function with all addresses in the machine's mode."""
    for loop in [b for b in function.blocks if isinstance(b, Loop)]:
        function = _Loop(function, loop, fresh).function()
    blocks = [b if isinstance(b, Loop) else _open(function, b) for b in function.blocks]
    return replace(function, blocks=tuple(blocks))


def _accesses(op: Op) -> bool:
    return op.name in _LOADS or op.name == "store"


def _open(function: Function, block: Block) -> Block:
    """In open code constants become offsets, and one scaled index an index."""
    forms = Forms(function, block)
    made = {r.name: op for op in block.ops for r in op.results}

    def folded(op: Op) -> Op:
        base = op.operands[0]
        if not _accesses(op) or op.scale or not isinstance(base, Value):
            return op
        found = forms.address(op)
        low = offset(found.constant)
        rest = found - Form(low)
        if len(rest.terms) == 1 and rest.terms[0][1] == 1 and rest.constant == 0:
            return replace(op, operands=(_atom(rest.terms[0][0], W), *op.operands[1:]), offset=low)
        source = made.get(base.name)
        if source is not None and source.name == "add" and op.offset == 0:
            return _indexed(op, source.operands, made)
        return op

    return replace(block, ops=tuple(map(folded, block.ops)))


def _indexed(op: Op, parts: tuple[Operand, ...], made: dict[str, Op]) -> Op:
    """Of base + index << k."""
    base, index = parts
    for one, other in ((base, index), (index, base)):
        shift = made.get(other.name) if isinstance(other, Value) else None
        if shift is not None and shift.name == "shl" and (by := shift.operands[1]) in _SHIFTS:
            return replace(op, operands=(one, shift.operands[0], *op.operands[1:]), scale=1 << _SHIFTS.index(by))
    return op


_SHIFTS: Final = tuple(constant(W, k) for k in range(4))


def offset(number: int) -> int:
    """The part of a constant that an access holds, the same base for all constants near each other."""
    return number - ((number + 2048) & ~4095)


def _atom(name: str, type: Type) -> Operand:
    return Address(name[1:]) if name[:1] == "@" else Value(name, type)


@dataclass(slots=True)
class _Loop:
    """Mutable: a loop whose addresses are rewritten, what is made before it, parameters that are added."""

    source: Function
    loop: Loop
    fresh: Fresh
    head: list[Op] = field(default_factory=list[Op])
    added: list[tuple[Value, Operand, int]] = field(default_factory=list[tuple[Value, Operand, int]])
    made: dict[Form, Operand] = field(default_factory=dict[Form, Operand])
    indices: dict[Form, Value] = field(default_factory=dict[Form, Value])

    def function(self) -> Function:
        loop = self.loop
        forms = Forms(self.source, loop)
        basic = steps(loop, forms)
        own = {p.name for p in loop.parameters} | {r.name for op in loop.ops for r in op.results}
        ops = [self._rewritten(op, forms.address(op), basic, own) if _accesses(op) else op for op in loop.ops]
        if tuple(ops) == loop.ops:
            return self.source
        for value, _, step in self.added:
            grown = Value(self.fresh(value.name), W)
            ops.append(Op("add", (value, constant(W, step)), (grown,)))
            loop = replace(loop, parameters=(*loop.parameters, value), next=(*loop.next, grown))
        return with_head(self.source, replace(loop, ops=tuple(ops)), self.head, [first for _, first, _ in self.added])

    def _rewritten(self, op: Op, address: Form, basic: dict[str, int], own: set[str]) -> Op:
        outside = {atom: c for atom, c in address.terms if atom not in own}
        counted = {atom: c for atom, c in address.terms if atom in basic}
        others = {atom: c for atom, c in address.terms if atom in own and atom not in basic}
        low = offset(address.constant)
        base = form(address.constant - low, outside)
        if not others and not counted:
            return self._access(op, self._before(base), None, 0, low)
        if not others:
            scale = next(s for s in _SCALES if all(c % s == 0 for c in counted.values()))
            index = self._index(form(0, {atom: c // scale for atom, c in counted.items()}), basic)
            return self._access(op, self._before(base), index, scale, low)
        if len(others) != 1 or (coefficient := next(iter(others.values()))) not in _SCALES:
            return op
        gathered = Value(next(iter(others)), W)
        if counted:
            return self._access(op, self._pointer(base, counted, basic), gathered, coefficient, low)
        if base == Form(0) and coefficient == 1:
            return self._access(op, gathered, None, 0, low)
        return self._access(op, self._before(base), gathered, coefficient, low)

    def _access(self, op: Op, base: Operand, index: Operand | None, scale: int, low: int) -> Op:
        stored = op.operands[-1:] if op.name == "store" else ()
        indices = (index,) if index is not None else ()
        return replace(op, operands=(base, *indices, *stored), scale=scale, offset=low)

    def _before(self, wanted: Form) -> Operand:
        """A value made before the loop."""
        if wanted not in self.made:
            self.made[wanted] = materialized(wanted, self.head, self.fresh)
        return self.made[wanted]

    def _first(self, atom: str) -> Operand:
        arguments = dict(
            zip((p.name for p in self.loop.parameters), entry(self.source, self.loop).arguments, strict=True)
        )
        return arguments[atom]

    def _begin(self, wanted: Form) -> Form:
        """What a form over parameters is as the loop begins."""
        forms = Forms(self.source, before(self.source, self.loop))
        found = Form(wanted.constant)
        for atom, coefficient in wanted.terms:
            found = found + forms.of(self._first(atom)) * coefficient
        return found

    def _index(self, wanted: Form, basic: dict[str, int]) -> Operand:
        """A parameter that is the form over parameters."""
        if len(wanted.terms) == 1 and wanted.terms[0][1] == 1:
            return Value(wanted.terms[0][0], W)
        if wanted not in self.indices:
            step = sum(basic[atom] * c for atom, c in wanted.terms)
            value = Value(self.fresh("k"), W)
            self.indices[wanted] = value
            self.added.append((value, self._before(self._begin(wanted)), signed(step)))
        return self.indices[wanted]

    def _pointer(self, base: Form, counted: dict[str, int], basic: dict[str, int]) -> Operand:
        varying = form(0, counted)
        wanted = base + varying
        if wanted not in self.indices:
            step = sum(basic[atom] * c for atom, c in counted.items())
            value = Value(self.fresh("p"), W)
            self.indices[wanted] = value
            self.added.append((value, self._before(base + self._begin(varying)), signed(step)))
        return self.indices[wanted]


def materialized(wanted: Form, head: list[Op], fresh: Fresh) -> Operand:
    """The value of a form, by operations that are appended."""
    if not wanted.terms:
        return constant(W, wanted.constant)
    if len(wanted.terms) == 1 and wanted.terms[0][0][:1] == "@" and wanted.terms[0][1] == 1:
        return Address(wanted.terms[0][0][1:], wanted.constant)

    def emit(name: str, *operands: Operand) -> Operand:
        head.append(Op(name, operands, (Value(fresh("a"), W),)))
        return head[-1].results[0]

    total: Operand | None = None
    negative: list[Operand] = []
    for atom, coefficient in sorted(wanted.terms, key=lambda term: (term[1] != 1, term[0])):
        part = _atom(atom, W)
        size = abs(coefficient)
        if size.bit_count() == 1 and size > 1:
            part = emit("shl", part, constant(W, size.bit_length() - 1))
        elif size != 1:
            part = emit("mul", part, constant(W, size))
        if coefficient < 0:
            negative.append(part)
        else:
            total = part if total is None else emit("add", total, part)
    if wanted.constant or total is None:
        total = constant(W, wanted.constant) if total is None else emit("add", total, constant(W, wanted.constant))
    for part in negative:
        total = emit("sub", total, part)
    return total


def with_head(function: Function, loop: Loop, head: list[Op], arguments: list[Operand]) -> Function:
    """The function with the loop in place of the one of its name, operations at the end of the block before it, and
    further arguments there."""
    blocks: list[Block | Loop] = []
    ahead = before(function, loop).name
    for block in function.blocks:
        if isinstance(block, Block) and block.name == ahead:
            end = block.terminator
            assert isinstance(end, Jump)
            entered = Edge(end.edge.target, (*end.edge.arguments, *arguments))
            blocks.append(replace(block, ops=(*block.ops, *head), terminator=replace(end, edge=entered)))
        else:
            blocks.append(loop if block.name == loop.name else block)
    return replace(function, blocks=tuple(blocks))
