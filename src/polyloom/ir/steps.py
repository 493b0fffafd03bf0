# SPDX-License-Identifier: Apache-2.0
"""Step loops: a tree whose leaves run in the order of the text, and whose loops repeat what is in them.

Plans have phases for leaves, files the numbers of phases. A loop's counter takes the values from max(lower) up to, not
including, min(upper), which are affine in the parameters and in the counters around it; every step needs what the one
before left in the arrays, so that the order is the meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, cast

from polyloom.diagnostics import Diagnostic, Span
from polyloom.sets import Affine

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Steps(Generic[T]):
    """`body` for every `stride`-th value of `counter`, from the lowest one on; with step -1 the same, downwards. No
    value is negative. `span` is that of the loop in the user's text; `slow` is a warning where the user can avoid the
    steps.
    """

    counter: str
    lower: tuple[Affine, ...]
    upper: tuple[Affine, ...]
    body: tuple[T | Steps[T], ...]
    step: Literal[1, -1] = 1
    span: Span | None = None
    slow: Diagnostic | None = None
    stride: int = 1

    def values(self, around: Mapping[str, int]) -> range:
        """The values of the counter in their order, for those of the symbols around the loop."""
        low = max(bound.evaluate(around) for bound in self.lower)
        # An empty interval is an empty range, not one that counts backwards.
        values = range(low, max(low, min(bound.evaluate(around) for bound in self.upper)), self.stride)
        return values if self.step == 1 else values[::-1]


Tree = tuple[T | Steps[T], ...]


def as_loop(node: T | Steps[T]) -> Steps[T] | None:
    """The node if it is a loop, with the type that `isinstance` forgets."""
    return cast("Steps[T]", node) if isinstance(node, Steps) else None


def leaves(tree: Tree[T], around: tuple[Steps[T], ...] = ()) -> Iterator[tuple[T, tuple[Steps[T], ...]]]:
    """Leaves of the tree, each with the loops around it, outermost first."""
    for node in tree:
        if (loop := as_loop(node)) is not None:
            yield from leaves(loop.body, (*around, loop))
        else:
            yield cast(T, node), around


def loops(tree: Tree[T]) -> Iterator[Steps[T]]:
    """Step loops of the tree, outer ones before those in them."""
    for loop in map(as_loop, tree):
        if loop is not None:
            yield loop
            yield from loops(loop.body)


def warnings(tree: Tree[Any]) -> Iterator[Diagnostic]:
    """Warnings about step loops, of the outermost ones alone."""
    for loop in map(as_loop, tree):
        if loop is not None:
            yield from [loop.slow] if loop.slow is not None else warnings(loop.body)


def walk_steps(
    tree: Tree[T], values: Mapping[str, int], tick: Callable[[], object] | None = None
) -> Iterator[tuple[T, Mapping[str, int]]]:
    """Execution order of leaves: every leaf as often as it runs, with the values of parameters and counters then;
    `tick` is called in every iteration of a loop.
    """
    for node in tree:
        if (loop := as_loop(node)) is None:
            yield cast(T, node), values
            continue
        for value in loop.values(values):
            if tick is not None:
                tick()
            yield from walk_steps(loop.body, {**values, loop.counter: value}, tick)


def map_leaves(tree: Tree[T], to: Callable[[T], S]) -> Tree[S]:
    """The tree with other leaves, which are made in the order of the text."""
    return tuple([_map_node(node, to) for node in tree])


def _map_node(node: T | Steps[T], to: Callable[[T], S]) -> S | Steps[S]:
    loop = as_loop(node)
    if loop is None:
        return to(cast(T, node))
    return Steps(
        loop.counter,
        loop.lower,
        loop.upper,
        map_leaves(loop.body, to),
        loop.step,
        loop.span,
        loop.slow,
        loop.stride,
    )


def number_leaves(tree: Tree[Any]) -> Tree[int]:
    """The tree with its leaves counted from 0."""
    count = iter(range(sum(1 for _ in leaves(tree))))
    return map_leaves(tree, lambda _: next(count))


def print_head(loop: Steps[Any]) -> str:
    """`k = 0 .. N - 1` or `i = 0 .. N - 1 by 32`: the values of a counter in their order."""
    low = print_extreme("max", loop.lower)
    high = print_extreme("min", tuple(bound - 1 for bound in loop.upper))
    stride = "" if loop.stride == 1 else f" by {loop.stride}"
    return f"{loop.counter} = " + (
        f"{low} .. {high}{stride}" if loop.step == 1 else f"{high} .. {low}{stride} downwards"
    )


def print_outline(tree: Tree[int], margin: str = "") -> Iterator[str]:
    """Lines that say in which order numbered leaves run: heads of loops, and phases counted from 1."""
    for node in tree:
        if isinstance(node, Steps):
            yield f"{margin}for {print_head(node)}"
            yield from print_outline(node.body, margin + "  ")
        else:
            yield f"{margin}phase {node + 1}"


def as_data(tree: Tree[int]) -> list[Any]:
    """Plain data of a tree: a phase is its number, counted from 1."""
    return [
        {
            "counter": node.counter,
            "lower": [str(b) for b in node.lower],
            "upper": [str(b) for b in node.upper],
            "step": node.step * node.stride,
            "body": as_data(node.body),
        }
        if isinstance(node, Steps)
        else node + 1
        for node in tree
    ]


def print_extreme(word: str, bounds: tuple[Affine, ...]) -> str:
    """Extremum of affine forms, as `min(a, b)`; one form stands alone."""
    texts = list(map(str, bounds))
    return texts[0] if len(texts) == 1 else f"{word}({', '.join(texts)})"
