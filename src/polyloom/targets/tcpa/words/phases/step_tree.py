# SPDX-License-Identifier: Apache-2.0
"""Codec of the step tree of a file of phases (docs/formats.md): which phases run one after another, and which loops of
steps are around them.

Loops have numbers in the order of the text, which are those of their counters, and phases have theirs; so a node says
only what it is, and a loop between which bounds. Bounds use parameters and the counters of loops around.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Final

from polyloom import binary
from polyloom.binary import Codec, Reader, counted_list, natural
from polyloom.ir.steps import Steps, Tree, leaves, loops
from polyloom.sets import Affine

_PHASE, _UP, _DOWN = range(3)
DEPTH: Final = 16
"""Loops of steps in one another."""
_NODES: Final = 1 << 16
MOST: Final = 1 << 30
"""The greatest stride: sizes are below 2^31, and a device counts in 32 bits."""


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop as it stands in the file, without the name of its counter."""

    downwards: bool
    lower: tuple[Affine, ...]
    upper: tuple[Affine, ...]
    stride: int
    body: tuple[_Node, ...]


_Node = _Loop | None
"""None is the next phase."""


def tree_codec(affine: Codec[Affine]) -> Codec[tuple[_Node, ...]]:
    return _node_codec(affine, DEPTH)


def _node_codec(affine: Codec[Affine], depth: int) -> Codec[tuple[_Node, ...]]:
    """At most `depth` loops in one another."""
    # At the greatest depth only phases are legal, so that a hostile file cannot exhaust the stack.
    kind, bounds, stride = (
        natural("the kind of a node", 3 if depth else 1),
        counted_list(affine, natural("the number of bounds")),
        natural("a stride", MOST),
    )

    def write(out: bytearray, node: _Node) -> None:
        kind.write(out, _PHASE if node is None else _DOWN if node.downwards else _UP)
        if node is not None:
            bounds.write(out, node.lower)
            bounds.write(out, node.upper)
            stride.write(out, node.stride - 1)
            _node_codec(affine, depth - 1).write(out, node.body)

    def read(reader: Reader) -> _Node:
        at, found = reader.position, kind.read(reader)
        if found == _PHASE:
            return None
        lower, upper = bounds.read(reader), bounds.read(reader)
        if not lower or not upper:
            raise binary.format_error(at, "a loop of steps has no bound")
        return _Loop(found == _DOWN, lower, upper, stride.read(reader) + 1, _node_codec(affine, depth - 1).read(reader))

    return counted_list(Codec(write, read), natural("the number of nodes", _NODES))


def store_tree(tree: Tree[int]) -> tuple[_Node, ...]:
    """`tree` as the file has it."""
    return tuple([_store_node(node) for node in tree])


def _store_node(node: int | Steps[int]) -> _Node:
    if not isinstance(node, Steps):
        return None
    return _Loop(node.step < 0, node.lower, node.upper, node.stride, store_tree(node.body))


def name_counters(at: int, nodes: tuple[_Node, ...], counters: tuple[str, ...], phases: int) -> Tree[int]:
    """Named tree: numbers of phases and names of counters. PL0705 at byte `at` where there are other numbers of phases
    or loops, or where a bound uses a counter that is not around it.
    """
    numbers, names = count(), iter(counters)

    def name_node(node: _Node) -> int | Steps[int]:
        if node is None:
            return next(numbers)
        counter = next(names, "")
        body, step = tuple(map(name_node, node.body)), -1 if node.downwards else 1
        return Steps(counter, node.lower, node.upper, body, step, stride=node.stride)

    tree = tuple(map(name_node, nodes))
    found = [leaf for leaf, _ in leaves(tree)]
    if len(found) != phases or tuple(loop.counter for loop in loops(tree)) != counters:
        raise binary.format_error(at, "the tree has other phases or loops than the file")
    # Parameters may be used anywhere, so that only counters are looked at.
    hidden = set(counters)
    if any(_symbols(loop) & (hidden - around) for loop, around in _with_counters(tree, frozenset())):
        raise binary.format_error(at, "a bound of a loop of steps uses a counter that is not around it")
    return tree


def _symbols(loop: Steps[int]) -> frozenset[str]:
    return frozenset[str]().union(*(bound.symbols for bound in (*loop.lower, *loop.upper)))


def _with_counters(tree: Tree[int], around: frozenset[str]) -> list[tuple[Steps[int], frozenset[str]]]:
    """Every loop with the counters around it."""
    return [
        pair
        for loop in tree
        if isinstance(loop, Steps)
        for pair in ((loop, around), *_with_counters(loop.body, around | {loop.counter}))
    ]
