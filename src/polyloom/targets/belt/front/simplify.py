# SPDX-License-Identifier: Apache-2.0
"""Local simplification and dead code of the member-independent form.

Within a block: constants folded, identities, values of equal operations shared, extensions of loads done by the loads.
Loads are not shared: memory is not looked into. Dead are operations, parameters and arguments that nothing with an
effect needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from polyloom.targets.belt.front.lower import COMMUTES, INVERSE, SWAPPED, constant
from polyloom.targets.belt.ir import (
    BYTES,
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
    Type,
    Value,
)
from polyloom.targets.belt.ir_verify import edges, ends
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.meaning import compute, computes

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
        uses = _counted(block)
        for op in block.ops:
            found = _canonical(op_with(op, self.operand))
            if (same := _identity(found, made)) is not None:
                self.known[found.results[0].name] = same
                continue
            found = _peephole(found, made, uses, kept)
            key = (found.name, found.operands, found.width, tuple(r.type for r in found.results))
            if pure(found) and key in seen:
                self.known |= {r.name: v for r, v in zip(found.results, seen[key], strict=True)}
                continue
            seen[key] = found.results
            made |= {r.name: found for r in found.results}
            kept.append(found)
        return replace(block, ops=tuple(kept))


def _counted(block: Block | Loop) -> dict[str, int]:
    found: dict[str, int] = {}
    arguments = (a for edge in edges(block) for a in edge.arguments)
    for operand in (*(o for op in block.ops for o in op.operands), *ends(block), *arguments):
        if isinstance(operand, Value):
            found[operand.name] = found.get(operand.name, 0) + 1
    return found


def _canonical(op: Op) -> Op:
    """Constants come last, and are added."""
    if len(op.operands) == 2 and isinstance(op.operands[0], Constant) and not isinstance(op.operands[1], Constant):
        if op.name in COMMUTES:
            return replace(op, operands=op.operands[::-1])
        if op.name in SWAPPED:
            return replace(op, name=SWAPPED[op.name], operands=op.operands[::-1])
    if op.name == "sub" and isinstance(last := op.operands[1], Constant) and not isinstance(op.operands[0], Constant):
        return replace(op, name="add", operands=(op.operands[0], constant(last.type, -last.bits)))
    return op


def _identity(op: Op, made: dict[str, Op]) -> Operand | None:
    """What the operation's one result is already."""
    if len(op.results) != 1 or not pure(op):
        return None
    type = op.results[0].type
    if all(isinstance(o, Constant) for o in op.operands) and type.lanes == 1:
        return _folded(op)
    if op.name == "pick" and len(op.operands) == 3:
        condition, then, orelse = op.operands
        if then == orelse:
            return then
        if isinstance(condition, Constant):
            return then if condition.bits & 1 else orelse
        ones = (constant(then.type, 1), constant(then.type, 0))
        return condition if then.type == condition.type and (then, orelse) == ones else None
    if len(op.operands) != 2 or not isinstance(last := op.operands[1], Constant):
        return None
    first = op.operands[0]
    whole = (1 << 8 * BYTES[last.type.width]) - 1
    if last.bits == 0 and op.name in ("add", "sub", "or", "xor", "shl", "shrs", "shru", "rotl", "andn"):
        return first
    if last.bits == 0 and op.name in ("and", "mul"):
        return last
    if (last.bits == 1 and op.name in ("mul", "divs", "divu")) or (last.bits == whole and op.name == "and"):
        return first
    return _of_bit(op, first, last, made)


def _of_bit(op: Op, first: Operand, last: Constant, made: dict[str, Op]) -> Operand | None:
    """A condition compared with 0 or 1 is itself."""
    source = made.get(first.name) if isinstance(first, Value) else None
    if source is None:
        return None
    is_bit = OPS[source.name].width == "b"
    if is_bit and ((op.name, last.bits) in (("neq", 0), ("eql", 1), ("and", 1))):
        return first
    if op.name == "xor" and last.bits == 1 and source.name == "xor" and source.operands[1] == last:
        return source.operands[0]
    return None


def _folded(op: Op) -> Constant | None:
    given = [o for o in op.operands if isinstance(o, Constant)]
    type = op.results[0].type
    source = given[1 if op.name == "pick" else 0].type
    lanes = [(o.bits,) for o in given]
    found = compute(op.name, 8 * BYTES[source.width], 8 * BYTES[type.width], lanes, 1)[0][0]
    return Constant(type, found) if isinstance(found, int) else None


def _peephole(op: Op, made: dict[str, Op], uses: dict[str, int], kept: list[Op]) -> Op:
    """Two operations as one: sums with constants, products by powers of two, loads that extend, narrow stores."""
    first = op.operands[0] if op.operands else None
    source = made.get(first.name) if isinstance(first, Value) else None
    last = op.operands[-1] if op.operands else None
    if op.name == "mul" and isinstance(last, Constant) and last.bits.bit_count() == 1:
        return replace(op, name="shl", operands=(op.operands[0], constant(last.type, last.bits.bit_length() - 1)))
    if op.name == "mul" and op.results[0].type == Type("d") and (halves := _words(op, made)):
        return replace(op, name="muluw", operands=halves)
    if op.name == "store" and isinstance(last, Value):
        narrow = made.get(last.name)
        if (
            narrow is not None
            and narrow.name == "narrow"
            and last.type.lanes == 1
            and narrow.operands[0].type.width in "hw"
        ):
            return replace(op, operands=(*op.operands[:-1], narrow.operands[0]))
    if source is None or not isinstance(first, Value):
        return op
    if source.name == "xor" and source.operands[1] == constant(Type("b"), 1) and (turned := _turned(op)):
        return replace(turned, operands=(source.operands[0], *turned.operands[1:]))
    if op.name == "add" and source.name == "add" and isinstance(last, Constant):
        inner = source.operands[1]
        if isinstance(inner, Constant):
            return replace(op, operands=(source.operands[0], constant(last.type, last.bits + inner.bits)))
    if op.name == "xor" and isinstance(last, Constant) and last.bits == 1 and (found := INVERSE.get(source.name)):
        return replace(op, name=found, operands=source.operands)
    extends = (
        op.name in ("widens", "widenu") and op.width == "w" and source.name == "load" and source.width in ("b", "h")
    )
    if extends and uses.get(first.name, 0) == 1 and source.results[0].type.lanes == 1:
        kept.remove(source)
        name = "loads" if op.name == "widens" else "loadu"
        loaded = replace(source, name=name, results=op.results)
        made.pop(first.name)
        return loaded
    return op


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
