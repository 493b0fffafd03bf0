# SPDX-License-Identifier: Apache-2.0
"""Scalars that every iteration of a loop has to itself: written before they are read in each iteration, and not read
after the loop before they are written again.

Such a local needs no memory: it is a register, of one value for each lane where the loop is vectorized.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polyloom.ir.nest import Assign, If, Loop, Nest, Node, accesses, assignments


def private(nest: Nest, path: Sequence[Loop | If]) -> frozenset[str]:
    """Of the last loop of `path`, which leads to it from outside."""
    loop = path[-1]
    assert isinstance(loop, Loop)
    written = {a.target.name for a in assignments(loop.body)}
    scalars = {s.name for s in nest.storage if s.role == "local" and not s.shape} & written
    return frozenset(
        name for name in scalars if exposed(loop.body, name) is not True and not _live(nest, list(path), name)
    )


def exposed(nodes: Sequence[Node], name: str) -> bool | None:
    """True where `name` may be read before it is written, False where it is certainly written first, None where neither
    is so."""
    for node in nodes:
        found = _exposed(node, name)
        if found is not None:
            return found
    return None


def _exposed(node: Node, name: str) -> bool | None:
    match node:
        case Assign():
            if any(read.name == name for read in accesses(node.value)):
                return True
            return False if node.target.name == name else None
        case Loop():
            inner = exposed(node.body, name)
            # A loop may have no iteration.
            return True if inner else None
        case If():
            branches = (exposed(node.body, name), exposed(node.orelse, name))
            if True in branches:
                return True
            return False if branches == (False, False) else None


def _live(nest: Nest, path: list[Loop | If], name: str) -> bool:
    """Whether what the loop leaves in `name` may be read."""
    around: list[Loop | If | None] = [None, *path[:-1]]
    for inner, outer in zip(reversed(path), reversed(around), strict=True):
        for nodes in _blocks(nest, outer):
            if not any(node is inner for node in nodes):
                continue
            at = next(n for n, node in enumerate(nodes) if node is inner)
            after = exposed(nodes[at + 1 :], name)
            if after is not None:
                return after
            if isinstance(outer, Loop) and exposed(nodes, name) is True:
                return True
    return False


def _blocks(nest: Nest, node: Loop | If | None) -> Iterator[tuple[Node, ...]]:
    if node is None:
        yield nest.body
    elif isinstance(node, Loop):
        yield node.body
    else:
        yield node.body
        yield node.orelse
