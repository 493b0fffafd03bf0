# SPDX-License-Identifier: Apache-2.0
"""Loop interchange: a loop that carries dependences, around a parallel one, becomes the inner one, so that the parallel
one is outside (Allen, Kennedy, "Automatic loop interchange", 1984).

Legal where no dependence has the direction (<, >): both loops then keep the order of each element's values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product

from polyloom.analysis.loop_dependences import Direction
from polyloom.ir.nest import Loop, Nest, Node
from polyloom.transform.parallel.loop_distribution import DependenceRewriter

_ANY: tuple[Direction, ...] = ("<", "=", ">")
_APART: tuple[Direction, ...] = ("<", ">")


def interchange_loops(nest: Nest) -> Nest:
    """Nest without parameters, with parallel loops as far outside as they may be (Allen and Kennedy 1984)."""
    return replace(nest, body=_Interchange(nest).nodes(nest.body))


class _Interchange(DependenceRewriter):
    """Rewriter that exchanges a loop with the only one in its body."""

    def loop(self, node: Loop) -> Iterable[Node]:
        """Interchange of two perfectly nested loops."""
        inner = node.body[0] if len(node.body) == 1 else None
        if not isinstance(inner, Loop) or not self.is_better(node, inner):
            return super().loop(node)
        return super().loop(replace(inner, body=(replace(node, body=inner.body),)))

    def is_better(self, loop: Loop, inner: Loop) -> bool:
        """Whether the inner loop is parallel, also when it is outside, and may be."""
        if any(loop.name in end.symbols for end in (*inner.lower, *inner.upper)) or self.is_parallel(loop):
            return False
        return not any(
            self.dependences.conflict(inner, inner, {loop.name: outer, inner.name: within})
            # No direction at all but "=" in the inner loop: then it carries nothing on either side, and (<, >) cannot
            # occur.
            for outer, within in product(_ANY, _APART)
        )
