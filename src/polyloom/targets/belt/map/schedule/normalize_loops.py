# SPDX-License-Identifier: Apache-2.0
"""Normal form of functions for scheduling: each loop is entered by one jump and left into blocks of its own (preheaders
and exit blocks, Muchnick 1997, chapter 7).

- `insert_heads` gives every loop a block that alone jumps to it;
- `open_loop` turns a loop into blocks;
- `insert_exits` gives each leave a block that gets what the loop computes and knows the rest;
- `merge_blocks` joins blocks that one jump connects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from polyloom import names
from polyloom.targets.belt.map.schedule.graph import LEAVES
from polyloom.targets.belt.source.ir import (
    Block,
    Branch,
    Edge,
    Function,
    Jump,
    Loop,
    Op,
    Operand,
    Order,
    Return,
    Terminator,
    Value,
    map_end_edges,
)

Change = Callable[[Edge], Edge]


def edges(block: Block | Loop) -> Iterator[Edge]:
    """Control-flow edges of a block, in order."""
    for op in block.ops:
        if op.edge is not None:
            yield op.edge
    if isinstance(block, Block):
        match block.terminator:
            case Jump(edge):
                yield edge
            case Branch(_, then, orelse):
                yield then
                yield orelse
            case Return():
                pass


def redirect_edges(block: Block | Loop, change: Change) -> Block | Loop:
    ops = tuple(op if op.edge is None else replace(op, edge=change(op.edge)) for op in block.ops)
    if isinstance(block, Loop):
        return replace(block, ops=ops)
    return replace(block, ops=ops, terminator=map_end_edges(block.terminator, change))


def used_names(function: Function) -> set[str]:
    """Names of blocks and values, which new ones must not take."""
    found = {block.name for block in function.blocks}
    for block in function.blocks:
        found |= {v.name for v in block.parameters} | {v.name for op in block.ops for v in op.results}
    return found


def predecessors(function: Function) -> dict[str, list[str]]:
    """Predecessors of each block; a block that a branch names twice counts twice."""
    found: dict[str, list[str]] = {block.name: [] for block in function.blocks}
    for block in function.blocks:
        for edge in edges(block):
            found[edge.target].append(block.name)
    return found


def normalize(function: Function) -> Function:
    """Normal form of a function: each loop with one head and exits of its own, no block that only one jump leads to."""
    function = insert_heads(remove_unreachable(function))
    # The list is made first: exits are added to the function while it is gone through.
    for loop in [b for b in function.blocks if isinstance(b, Loop)]:
        function = insert_exits(function, loop)
    return merge_blocks(function)


def remove_unreachable(function: Function) -> Function:
    """Function without blocks that control never reaches."""
    blocks = {block.name: block for block in function.blocks}
    seen: set[str] = set()
    waiting = [function.blocks[0].name]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += [edge.target for edge in edges(blocks[name])]
    return replace(function, blocks=tuple(b for b in function.blocks if b.name in seen))


def insert_heads(function: Function) -> Function:
    """Insert loop heads: one jump into each loop, from a block that does nothing else after it."""
    known = used_names(function)
    into = predecessors(function)
    blocks = {block.name: block for block in function.blocks}
    heads: dict[str, Block] = {}
    for block in function.blocks:
        sources = into[block.name]
        if not isinstance(block, Loop):
            continue
        before = blocks[sources[0]] if len(sources) == 1 else None
        # A block that ends in the only jump already is a head.
        if isinstance(before, Block) and isinstance(before.terminator, Jump):
            continue
        name = _fresh(f"{block.name}.head", known)
        # The head takes over the loop's parameters: all edges into the loop, with arguments of their own, go to it.
        parameters = tuple(Value(_fresh(f"{p.name}.in", known), p.type) for p in block.parameters)
        heads[block.name] = Block(name, parameters, (), Jump(Edge(block.name, parameters), block.place))
    to = {loop: head.name for loop, head in heads.items()}
    found: list[Block | Loop] = []
    for block in function.blocks:
        if block.name in heads:
            found.append(heads[block.name])
        found.append(redirect_edges(block, lambda e: replace(e, target=to.get(e.target, e.target))))
    return replace(function, blocks=tuple(found))


def _fresh(base: str, known: set[str]) -> str:
    return names.fresh_name(base, known)


def open_loop(function: Function, loop: Loop) -> Function:
    """Open a loop: its line as blocks, each leave a branch. For loops that are not pipelined."""
    known = used_names(function)
    found: list[Block] = []
    name, parameters, start = loop.name, loop.parameters, 0
    for k, op in enumerate(loop.ops):
        if op.name not in LEAVES:
            continue
        assert op.edge is not None
        after = _fresh(f"{loop.name}.{len(found) + 1}", known)
        on = Edge(after)
        end: Terminator = Jump(op.edge, op.place)
        if op.operands:
            then, orelse = (on, op.edge) if op.name == "leavefl" else (op.edge, on)
            end = Branch(op.operands[0], then, orelse, None, op.place)
        found.append(Block(name, parameters, loop.ops[start:k], end, _slice_order(loop.order, start, k)))
        name, parameters, start = after, (), k + 1
        # What stands behind a leave without a predicate is never reached, nor is the back arc.
        if not op.operands:
            break
    else:
        back = Jump(Edge(loop.name, loop.next), loop.place)
        found.append(Block(name, parameters, loop.ops[start:], back, _slice_order(loop.order, start, len(loop.ops))))
    return replace(
        function, blocks=tuple(b for block in function.blocks for b in (found if block is loop else [block]))
    )


def _slice_order(order: Iterable[Order], start: int, end: int) -> tuple[Order, ...]:
    """Memory order within a part of the line; what reaches over the back arc, or another block, follows from
    control."""
    return tuple(
        Order(o.source - start, o.sink - start)
        for o in order
        if o.distance == 0 and start <= o.source < end and start <= o.sink < end
    )


def insert_exits(function: Function, loop: Loop) -> Function:
    """Insert exit blocks: each leave goes to a block of its own, with what the loop computes; what is known outside is
    said there."""
    known = used_names(function)
    start = entry_arguments(function, loop)
    fixed = _constant_values(loop, start)
    ops: list[Op] = []
    exits: list[Block] = []
    for op in loop.ops:
        if op.edge is None:
            ops.append(op)
            continue
        # Only what the loop computes is on the list of a leave: every operand of a list costs a position of the belt.
        moved = list(
            dict.fromkeys(
                a for a in op.edge.arguments if isinstance(a, Value) and a.name in fixed and fixed[a.name] is None
            )
        )
        landed = {a.name: Value(_fresh(f"{a.name}.out", known), a.type) for a in moved}
        arguments = tuple(_exit_operand(a, fixed, landed) for a in op.edge.arguments)
        name = _fresh(f"{loop.name}.exit", known)
        exits.append(Block(name, tuple(landed.values()), (), Jump(Edge(op.edge.target, arguments), op.place)))
        ops.append(replace(op, edge=Edge(name, tuple(moved))))
    new = replace(loop, ops=tuple(ops))
    blocks = tuple(b for block in function.blocks for b in ((new, *exits) if block is loop else (block,)))
    return replace(function, blocks=blocks)


def entry_arguments(function: Function, loop: Loop) -> tuple[Operand, ...]:
    """Arguments of the one jump into a loop in normal form."""
    return next(e.arguments for block in function.blocks for e in edges(block) if e.target == loop.name)


def _constant_values(loop: Loop, start: Sequence[Operand]) -> dict[str, Operand | None]:
    """Values of the loop: the operand that each always is, or None."""
    found: dict[str, Operand | None] = {v.name: None for op in loop.ops for v in op.results}
    found |= {op.results[0].name: op.operands[0] for op in loop.ops if op.name == "con"}
    for p, s, n in zip(loop.parameters, start, loop.next, strict=True):
        # A parameter that the back arc gives itself, or its initial value again, never changes.
        found[p.name] = s if n in (p, s) else None
    return found


def _exit_operand(operand: Operand, fixed: Mapping[str, Operand | None], landed: Mapping[str, Value]) -> Operand:
    if not isinstance(operand, Value) or operand.name not in fixed:
        return operand
    known = fixed[operand.name]
    return landed[operand.name] if known is None else known


def merge_blocks(function: Function) -> Function:
    """Merge blocks: one that only a jump of another block leads to becomes part of it (straightening, Muchnick 1997,
    chapter 18)."""
    while True:
        # One pair at a time: a merge changes which blocks are pairs.
        pair = _mergeable_pair(function)
        if pair is None:
            return function
        before, after = pair
        assert isinstance(before.terminator, Jump)
        to: dict[str, Operand] = {
            p.name: a for p, a in zip(after.parameters, before.terminator.edge.arguments, strict=True)
        }
        # `order` counts operations: those of the second block move behind the first one's.
        offset = len(before.ops)
        order = (*before.order, *(Order(o.source + offset, o.sink + offset) for o in after.order))
        joined = replace(before, ops=before.ops + after.ops, terminator=after.terminator, order=order)
        blocks = tuple(joined if b is before else b for b in function.blocks if b is not after)
        function = substitute_values(replace(function, blocks=blocks), to)


def _mergeable_pair(function: Function) -> tuple[Block, Block] | None:
    """Two blocks, the second of which only a jump of the first one leads to; None where there are none."""
    into = predecessors(function)
    blocks = {block.name: block for block in function.blocks}
    for block in function.blocks[1:]:
        if isinstance(block, Loop) or len(into[block.name]) != 1:
            continue
        before = blocks[into[block.name][0]]
        if isinstance(before, Block) and isinstance(before.terminator, Jump) and before is not block:
            return before, block
    return None


def substitute_values(function: Function, to: Mapping[str, Operand]) -> Function:
    """Function with operands in place of values."""

    def resolve(operand: Operand) -> Operand:
        # Through chains: what stands for a value may be replaced itself.
        while isinstance(operand, Value) and operand.name in to:
            operand = to[operand.name]
        return operand

    def resolve_edge(edge: Edge) -> Edge:
        return replace(edge, arguments=tuple(map(resolve, edge.arguments)))

    def resolve_block(block: Block | Loop) -> Block | Loop:
        ops = tuple(
            replace(
                op, operands=tuple(map(resolve, op.operands)), edge=None if op.edge is None else resolve_edge(op.edge)
            )
            for op in block.ops
        )
        if isinstance(block, Loop):
            return replace(block, ops=ops, next=tuple(map(resolve, block.next)))
        end = block.terminator
        match end:
            case Jump(edge):
                end = replace(end, edge=resolve_edge(edge))
            case Branch(condition, then, orelse):
                end = replace(end, condition=resolve(condition), then=resolve_edge(then), orelse=resolve_edge(orelse))
            case Return(values):
                end = replace(end, values=tuple(map(resolve, values)))
        return replace(block, ops=ops, terminator=end)

    return replace(function, blocks=tuple(map(resolve_block, function.blocks)))


def insert_stubs(function: Function, most: int) -> Function:
    """Insert stubs: blocks with more than `most` parameters, some of which pass through scratch, are entered by jumps
    alone.

    A branch has two lists in one bundle; what passes through scratch must be spilled for one of them only.
    """
    known = used_names(function)
    wide = {block.name for block in function.blocks if len(block.parameters) > most}
    stubs: list[Block] = []

    def stub_edge(edge: Edge) -> Edge:
        if edge.target not in wide:
            return edge
        stubs.append(Block(_fresh(f"{edge.target}.in", known), (), (), Jump(edge)))
        return Edge(stubs[-1].name)

    found: list[Block | Loop] = []
    for block in function.blocks:
        if isinstance(block, Block) and isinstance(end := block.terminator, Branch):
            block = replace(block, terminator=replace(end, then=stub_edge(end.then), orelse=stub_edge(end.orelse)))
        found.append(block)
    return replace(function, blocks=(*found, *stubs))
