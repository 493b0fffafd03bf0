# SPDX-License-Identifier: Apache-2.0
"""Privatizable scalars: every iteration of a loop has them to itself, because none of their reads is upward exposed in
the body, and what an iteration leaves is not live behind the loop (Tu, Padua, "Automatic array privatization", 1993).

Such a local needs no memory: it is a register, of one value for each lane where the loop is vectorized.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polyloom.ir.nest import Assign, If, Loop, Nest, Node, accesses, assignments

Path = Sequence[Loop | If]
"""Loops and conditions around a place, from outside."""


def privatizable(nest: Nest, path: Path) -> frozenset[str]:
    """Scalar privatization (Tu, Padua 1993): the scalars that the last loop of `path` may privatize."""
    loop = path[-1]
    written = {a.target.name for a in assignments((loop,))}
    scalars = {s.name for s in nest.storage if s.role == "local" and not s.shape} & written
    return frozenset(n for n in scalars if not upward_exposed(loop.body, n) and not _is_live(nest, path, n))


def upward_exposed(nodes: Sequence[Node], name: str) -> bool | None:
    """Upward exposed read (Muchnick 1997, section 8.3): True where `name` may be read before it is written, False where
    it is certainly written first, None where neither is so.
    """
    found = (_exposes(node, name) for node in nodes)
    return next((each for each in found if each is not None), None)


def _exposes(node: Node, name: str) -> bool | None:
    match node:
        case Assign():
            if any(read.name == name for read in accesses(node.value)):
                return True
            return False if node.target.name == name else None
        case Loop():
            # A loop may have no iteration.
            return upward_exposed(node.body, name) or None
        case If():
            branches = upward_exposed(node.body, name), upward_exposed(node.orelse, name)
            if True in branches:
                return True
            return False if branches == (False, False) else None


def _is_live(nest: Nest, path: Path, name: str) -> bool:
    """Whether what the loop leaves in `name` may be read."""
    for inner, outer in zip(reversed(path), [*reversed(path[:-1]), None], strict=True):
        for nodes in _blocks(nest, outer):
            at = next((n for n, node in enumerate(nodes) if node is inner), None)
            if at is None:
                continue
            after = upward_exposed(nodes[at + 1 :], name)
            if after is not None:
                return after
            # The next iteration of the loop around begins again at its first statement.
            if isinstance(outer, Loop) and upward_exposed(nodes, name):
                return True
    return False


def _blocks(nest: Nest, node: Loop | If | None) -> Iterator[tuple[Node, ...]]:
    if isinstance(node, If):
        yield from (node.body, node.orelse)
    else:
        yield nest.body if node is None else node.body


def enclosing_path(nodes: Sequence[Node], wanted: Node) -> tuple[Loop | If, ...] | None:
    """What is around a node, from outside; None where it is not among them."""
    for node in nodes:
        if node is wanted:
            return ()
        if isinstance(node, Assign):
            continue
        inner = enclosing_path(node.body if isinstance(node, Loop) else (*node.body, *node.orelse), wanted)
        if inner is not None:
            return (node, *inner)
    return None
