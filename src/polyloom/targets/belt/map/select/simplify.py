# SPDX-License-Identifier: Apache-2.0
"""Peephole optimization of selected operations, and dead code: what selection and expansion leave within a block.

Constants folded, equal operations shared, conditions turned. Dead are operations, parameters and arguments that nothing
with an effect needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.targets.belt.map.select.lower import COMMUTES, constant
from polyloom.targets.belt.source.ir import (
    Block,
    Branch,
    Constant,
    Edge,
    Function,
    Jump,
    Loop,
    Nothing,
    Op,
    Operand,
    Return,
    Terminator,
    Value,
)
from polyloom.targets.belt.source.ir_verify import edges, ends
from polyloom.targets.belt.value_types import BYTES, Type
from polyloom.targets.belt.words.meaning import compute, computes

_ZERO: Final = ("add", "sub", "or", "xor", "shl", "shrs", "shru", "rotl", "andn")
_EFFECTS: Final = ("store", "call", "calltr", "leave", "leavetr", "leavefl")


def edge_with(edge: Edge, change: Callable[[Operand], Operand]) -> Edge:
    return Edge(edge.target, tuple(map(change, edge.arguments)))


def op_with(op: Op, change: Callable[[Operand], Operand]) -> Op:
    made = tuple(map(change, op.operands))
    edge = None if op.edge is None else edge_with(op.edge, change)
    return op if made == op.operands and edge == op.edge else replace(op, operands=made, edge=edge)


def block_with(block: Block | Loop, change: Callable[[Operand], Operand]) -> Block | Loop:
    """The block with other operands."""
    ops = tuple(op_with(op, change) for op in block.ops)
    if isinstance(block, Loop):
        return replace(block, ops=ops, next=tuple(map(change, block.next)))
    return replace(block, ops=ops, terminator=end_with(block.terminator, change))


def end_with(end: Terminator, change: Callable[[Operand], Operand]) -> Terminator:
    match end:
        case Jump(edge):
            return replace(end, edge=edge_with(edge, change))
        case Branch(condition, then, orelse):
            return replace(
                end, condition=change(condition), then=edge_with(then, change), orelse=edge_with(orelse, change)
            )
        case Return(values):
            return replace(end, values=tuple(map(change, values)))


def pure(op: Op) -> bool:
    """Whether it only computes, the same from the same."""
    return computes(op.name)


def simplify(function: Function) -> Function:
    """To the end: each block simplified, then dead code left out."""
    for _ in range(8):
        local = _Local()
        blocks: tuple[Block | Loop, ...] = tuple([local.block(block) for block in function.blocks])
        changed = without_dead(replace(function, blocks=tuple(block_with(b, local.operand) for b in blocks)))
        if changed == function:
            return changed
        function = changed
    return function


@dataclass(slots=True)
class _Local:
    """Mutable: what values turned out to be, throughout the function."""

    known: dict[str, Operand] = field(default_factory=dict[str, Operand])

    def operand(self, operand: Operand) -> Operand:
        while isinstance(operand, Value) and operand.name in self.known:
            operand = self.known[operand.name]
        return operand

    def block(self, block: Block | Loop) -> Block | Loop:
        seen: dict[object, tuple[Value, ...]] = {}
        made: dict[str, Op] = {}
        kept: list[Op] = []
        for op in block.ops:
            found = _canonical(op_with(op, self.operand))
            if (same := _identity(found)) is not None:
                self.known[found.results[0].name] = same
                continue
            found = _peephole(found, made)
            key = (found.name, found.operands, found.width, tuple(r.type for r in found.results))
            if pure(found) and key in seen:
                self.known |= {r.name: v for r, v in zip(found.results, seen[key], strict=True)}
                continue
            seen[key] = found.results
            made |= {r.name: found for r in found.results}
            kept.append(found)
        return replace(block, ops=tuple(kept))


def _canonical(op: Op) -> Op:
    """Constants come last."""
    first_alone = len(op.operands) == 2 and isinstance(op.operands[0], Constant)
    return replace(op, operands=op.operands[::-1]) if first_alone and op.name in COMMUTES else op


def _identity(op: Op) -> Operand | None:
    """What the operation's one result is already."""
    if len(op.results) != 1 or not pure(op):
        return None
    if all(isinstance(o, Constant) for o in op.operands) and op.results[0].type.lanes == 1:
        return _folded(op)
    if op.name == "pick" and len(op.operands) == 3:
        condition, then, orelse = op.operands
        if then == orelse:
            return then
        ones = (constant(then.type, 1), constant(then.type, 0))
        return condition if then.type == condition.type and (then, orelse) == ones else None
    if len(op.operands) == 2 and isinstance(last := op.operands[1], Constant) and last.bits == 0:
        return op.operands[0] if op.name in _ZERO else last if op.name in ("and", "mul") else None
    return None


def _folded(op: Op) -> Constant | None:
    given = [o for o in op.operands if isinstance(o, Constant)]
    type = op.results[0].type
    source = given[1 if op.name == "pick" else 0].type
    lanes = [(o.bits,) for o in given]
    found = compute(op.name, 8 * BYTES[source.width], 8 * BYTES[type.width], lanes, 1)[0][0]
    return Constant(type, found) if isinstance(found, int) else None


def _peephole(op: Op, made: dict[str, Op]) -> Op:
    """Products of words, and what does the same for the opposite condition."""
    if op.name == "mul" and op.results[0].type == Type("d") and (halves := _words(op, made)):
        return replace(op, name="muluw", operands=halves)
    first = op.operands[0] if op.operands else None
    source = made.get(first.name) if isinstance(first, Value) else None
    if source is None or source.name != "xor" or source.operands[1] != constant(Type("b"), 1):
        return op
    turned = _turned(op)
    return replace(turned, operands=(source.operands[0], *turned.operands[1:])) if turned is not None else op


_TURNED: Final = {"leavetr": "leavefl", "leavefl": "leavetr"}


def _turned(op: Op) -> Op | None:
    """What does the same for the opposite condition."""
    if op.name in _TURNED:
        return replace(op, name=_TURNED[op.name])
    if op.name == "pick" and len(op.operands) == 3 and not isinstance(op.operands[2], Nothing):
        return replace(op, operands=(op.operands[0], op.operands[2], op.operands[1]))
    return None


def _words(op: Op, made: dict[str, Op]) -> tuple[Operand, ...]:
    """The words of which the operands are extensions by zeros, or nothing."""
    sources = [made.get(o.name) if isinstance(o, Value) else None for o in op.operands]
    found = [s.operands[0] for s in sources if s is not None and s.name == "widenu" and s.operands[0].type == Type("w")]
    return tuple(found) if len(found) == len(op.operands) else ()


def without_dead(function: Function) -> Function:
    """Without operations, parameters and arguments that nothing with an effect needs. The function's own stay."""
    blocks = {block.name: block for block in function.blocks}
    live = _live(function, blocks)
    first = function.blocks[0].name

    def kept(name: str) -> list[int]:
        return [k for k, p in enumerate(blocks[name].parameters) if name == first or p.name in live]

    def edge(of: Edge) -> Edge:
        return Edge(of.target, tuple(of.arguments[k] for k in kept(of.target)))

    made: list[Block | Loop] = []
    for block in function.blocks:
        parameters = tuple(block.parameters[k] for k in kept(block.name))
        ops = tuple(
            op if op.edge is None else replace(op, edge=edge(op.edge))
            for op in block.ops
            if op.name in _EFFECTS or op.volatile or any(r.name in live for r in op.results)
        )
        if isinstance(block, Loop):
            following = tuple(block.next[k] for k in kept(block.name))
            made.append(replace(block, parameters=parameters, ops=ops, next=following, order=()))
        else:
            end = block.terminator
            if isinstance(end, Jump):
                end = replace(end, edge=edge(end.edge))
            elif isinstance(end, Branch):
                end = replace(end, then=edge(end.then), orelse=edge(end.orelse))
            made.append(replace(block, parameters=parameters, ops=ops, terminator=end, order=()))
    return replace(function, blocks=tuple(made))


def _live(function: Function, blocks: dict[str, Block | Loop]) -> set[str]:
    sources: dict[str, list[Operand]] = {}
    work: list[Operand] = []
    for block in function.blocks:
        for op in block.ops:
            for result in op.results:
                sources.setdefault(result.name, []).extend(op.operands)
            if op.name in _EFFECTS or op.volatile:
                work += op.operands
        for edge in edges(block):
            _arrive(sources, blocks[edge.target].parameters, edge.arguments)
        if isinstance(block, Loop):
            _arrive(sources, block.parameters, block.next)
        else:
            work += ends(block)
    live: set[str] = set()
    while work:
        operand = work.pop()
        if isinstance(operand, Value) and operand.name not in live:
            live.add(operand.name)
            work += sources.get(operand.name, [])
    return live


def _arrive(sources: dict[str, list[Operand]], parameters: Iterable[Value], arguments: Iterable[Operand]) -> None:
    for parameter, argument in zip(parameters, arguments, strict=True):
        sources.setdefault(parameter.name, []).append(argument)
