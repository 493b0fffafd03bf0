# SPDX-License-Identifier: Apache-2.0
"""Code growth by inlining: whether a function with all that it calls as part of it stays of a sensible size.

Sizes are nodes of the syntax tree. A function that calls itself, directly or not, is counted once where it is entered:
the call stays. Budgets of this kind: Muchnick 1997, section 15.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from polyloom.frontend.loops.affine import callee_name
from polyloom.frontend.loops.tree import Node

MOST: Final = 10_000
"""As many nodes, some thousand instructions, a function may always have."""
TIMES: Final = 4
"""Beyond these it may be as many times as large as it and what it calls are once each."""


def may_inline(function: Node, functions: Mapping[str, Node]) -> bool:
    """Inlining budget of a function of a file, whose functions are given by name: at most `MOST` nodes in all, or
    `TIMES` the sizes of what is inlined.
    """
    calls = {name: tuple(_callees(node, functions)) for name, node in functions.items()}
    once = {name: sum(1 for _ in node) for name, node in functions.items()}
    whole: dict[str, int] = {}

    def size(name: str, path: tuple[str, ...]) -> int:
        # Memoized: chains of functions that call two others each would take exponential time.
        if name not in whole:
            # Recursive calls stay calls, and add nothing.
            inner = (size(other, (*path, name)) for other in calls[name] if other not in path and other != name)
            whole[name] = once[name] + sum(inner)
        return whole[name]

    total = size(function.name, ())
    return total <= max(MOST, TIMES * sum(once[name] for name in whole))


def _callees(node: Node, functions: Mapping[str, Node]) -> Iterator[str]:
    names = (callee_name(each) for each in node if each.kind == "call")
    return (name for name in names if name in functions)
