# SPDX-License-Identifier: Apache-2.0
"""Loop interchange and fusion for accumulations that are written array by array (Wolfe, High Performance Compilers for
Parallel Computing, chapter 9): `y[:] = 0` and then `y += ...` in loops is one nest over `y`, within which each element
accumulates in the order of the text.

    for k: for i: y[i] = y[i] + x[i + k]     becomes     for i: for k: y[i] = y[i] + x[i + k]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from polyloom.ir.nest import Assign, If, Loop, Node, accesses
from polyloom.ir.nest_rewrite import substitute_symbols
from polyloom.ir.pla import Reference
from polyloom.sets import Affine


def order_accumulations(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """The nodes with loops of accumulations innermost, and what begins a result in one nest with what adds to it."""
    found = list[Node]()
    for node in nodes:
        made = _reorder_node(node)
        fused = _fuse_nests(found[-1], made) if found else None
        if fused is None:
            found.append(made)
        else:
            found[-1] = fused
    return tuple(found)


def _reorder_node(node: Node) -> Node:
    match node:
        case Loop(body=body):
            return _sunk(replace(node, body=order_accumulations(body)))
        case If(body=body, orelse=orelse):
            return replace(node, body=order_accumulations(body), orelse=order_accumulations(orelse))
        case Assign():
            return node


def _sunk(loop: Loop) -> Loop:
    """A loop that no index of the result has, within those that the result has."""
    nest, assign = _perfect(loop)
    if assign is None or len(nest) == 1:
        return loop
    place = _result_loops(assign.target)
    own = [inner for inner in nest[1:] if inner.name in place]
    if loop.name in place or not own or nest[1 : len(own) + 1] != own or not _accumulates(assign):
        return loop
    # Bounds that depend on the loop would move out of its reach.
    if any(loop.name in form.symbols for inner in own for form in (*inner.lower, *inner.upper)):
        return loop
    return _nest_loops([*own, loop, *nest[len(own) + 1 :]], assign)


def _perfect(loop: Loop) -> tuple[list[Loop], Assign | None]:
    """The loops of a perfect nest, and its one assignment."""
    nest = [loop]
    while len(nest[-1].body) == 1 and isinstance(nest[-1].body[0], Loop):
        nest.append(nest[-1].body[0])
    body = nest[-1].body
    return nest, body[0] if len(body) == 1 and isinstance(body[0], Assign) else None


def _nest_loops(loops: Sequence[Loop], assign: Assign) -> Loop:
    body: tuple[Node, ...] = (assign,)
    for loop in reversed(loops[1:]):
        body = (replace(loop, body=body),)
    return replace(loops[0], body=body)


def _result_loops(target: Reference) -> set[str]:
    """The loops that alone are an index of the result, each once."""
    forms = [form.terms[0] for form in target.index if len(form.terms) == 1]
    names = [name for name, factor in forms if abs(factor) == 1]
    return {name for name in names if sum(name in form.symbols for form in target.index) == 1}


def _accumulates(assign: Assign) -> bool:
    """Whether of its own array an assignment reads the element alone that it stores."""
    own = [read for read in accesses(assign.value) if read.name == assign.target.name]
    return bool(own) and all(read.index == assign.target.index for read in own)


def _fuse_nests(first: Node, second: Node) -> Loop | None:
    """Two nests over one result as one; None where they are not."""
    if not isinstance(first, Loop) or not isinstance(second, Loop):
        return None
    start, begin = _perfect(first)
    nest, assign = _perfect(second)
    if begin is None or assign is None or begin.target.name != assign.target.name or not _accumulates(assign):
        return None
    if len(nest) < len(start) or any(read.name == begin.target.name for read in accesses(begin.value)):
        return None
    names = {b.name: Affine.symbol(a.name) for a, b in zip(start, nest, strict=False)}
    (renamed,) = substitute_symbols((assign,), names)
    rest = substitute_symbols(tuple(nest[len(start)].body), names) if len(nest) > len(start) else ()
    same = all(_bounds(a, {}) == _bounds(b, names) for a, b in zip(start, nest, strict=False))
    assert isinstance(renamed, Assign)
    if not same or renamed.target.index != begin.target.index or {s.name for s in start} != _result_loops(begin.target):
        return None
    inner = (renamed,) if not rest else (replace(_rename_loops(nest[len(start)], names), body=rest),)
    body: tuple[Node, ...] = (begin, *inner)
    for loop in reversed(start[1:]):
        body = (replace(loop, body=body),)
    return replace(start[0], body=body)


def _bounds(loop: Loop, names: dict[str, Affine]) -> tuple[object, ...]:
    made = _rename_loops(loop, names)
    return made.lower, made.upper, made.step


def _rename_loops(loop: Loop, names: dict[str, Affine]) -> Loop:
    return replace(
        loop,
        lower=tuple(form.substitute(names) for form in loop.lower),
        upper=tuple(form.substitute(names) for form in loop.upper),
    )
