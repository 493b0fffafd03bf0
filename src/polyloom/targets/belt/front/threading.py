# SPDX-License-Identifier: Apache-2.0
"""Jump threading in open code: a jump to a block that nothing else enters appends the block, and an edge to a block
that only jumps on goes there itself. Leaves keep blocks of their own: they find another belt than branches do."""

from __future__ import annotations

from dataclasses import replace

from polyloom.targets.belt.front.simplify import block_with
from polyloom.targets.belt.ir import Block, Branch, Edge, Function, Jump, Loop, Operand, Terminator, Value
from polyloom.targets.belt.ir_verify import edges


def thread(function: Function) -> Function:
    while (changed := _merged(_forwarded(function))) != function:
        function = changed
    return function


def _arrivals(function: Function) -> dict[str, int]:
    found: dict[str, int] = {}
    for block in function.blocks:
        for edge in edges(block):
            found[edge.target] = found.get(edge.target, 0) + 1
    return found


def _merged(function: Function) -> Function:
    """Each block with the one that it alone jumps to."""
    arrivals = _arrivals(function)
    blocks = {block.name: block for block in function.blocks}
    known: dict[str, Operand] = {}
    for name in list(blocks):
        while isinstance(block := blocks.get(name), Block) and isinstance(end := block.terminator, Jump):
            after = blocks.get(end.edge.target)
            if not isinstance(after, Block) or arrivals[after.name] != 1 or after.name == name:
                break
            known |= {p.name: a for p, a in zip(after.parameters, end.edge.arguments, strict=True)}
            blocks[name] = replace(block, ops=(*block.ops, *after.ops), terminator=after.terminator)
            del blocks[after.name]

    def operand(of: Operand) -> Operand:
        while isinstance(of, Value) and of.name in known:
            of = known[of.name]
        return of

    return replace(function, blocks=tuple(block_with(block, operand) for block in blocks.values()))


def _forwarded(function: Function) -> Function:
    """Without blocks that only jump on, where branches and jumps lead to them, and nobody else reads their
    parameters."""
    empty = {
        b.name: b
        for b in function.blocks[1:]
        if isinstance(b, Block) and not b.ops and isinstance(b.terminator, Jump) and _private(function, b)
    }
    left = {e.target for b in function.blocks if isinstance(b, Loop) for e in edges(b)}
    loops = {b.name for b in function.blocks if isinstance(b, Loop)}

    def forwarded(edge: Edge) -> Edge:
        block = empty.get(edge.target)
        if block is None or block.name in left or not isinstance(block.terminator, Jump):
            return edge
        if block.terminator.edge.target in (*loops, block.name):
            return edge
        given = dict(zip(block.parameters, edge.arguments, strict=True))
        on = block.terminator.edge
        return Edge(on.target, tuple(given.get(a, a) if isinstance(a, Value) else a for a in on.arguments))

    def end(of: Terminator) -> Terminator:
        match of:
            case Jump(edge):
                return replace(of, edge=forwarded(edge))
            case Branch(_, then, orelse):
                one, other = forwarded(then), forwarded(orelse)
                return Jump(one, of.place) if one == other else replace(of, then=one, orelse=other)
            case _:
                return of

    blocks = tuple(b if isinstance(b, Loop) else replace(b, terminator=end(b.terminator)) for b in function.blocks)
    reached, work = {function.blocks[0].name}, [function.blocks[0].name]
    known = {b.name: b for b in blocks}
    while work:
        for edge in edges(known[work.pop()]):
            if edge.target not in reached:
                reached.add(edge.target)
                work.append(edge.target)
    return replace(function, blocks=tuple(b for b in blocks if b.name in reached))


def _private(function: Function, block: Block) -> bool:
    """Whether only the block's own jump reads its parameters."""
    own = set(block.parameters)
    seen = 0

    def operand(of: Operand) -> Operand:
        nonlocal seen
        seen += of in own
        return of

    for other in function.blocks:
        if other.name != block.name:
            block_with(other, operand)
    return seen == 0
