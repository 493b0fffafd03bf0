# SPDX-License-Identifier: Apache-2.0
"""Strongly connected components of a small graph given by its successors (Tarjan, SIAM J. Comput. 1(2), 1972)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def components(successors: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Strongly connected components in reverse topological order (Tarjan 1972, procedure STRONGCONNECT); every
    successor must be a key.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    found: list[list[int]] = []
    for root in successors:
        if root in index:
            continue
        # The recursion of Tarjan's paper as a stack of iterators: programs of thousands of equations exceed Python's
        # own stack.
        work = [(root, iter(successors[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(successors[other])))
                    break
                # Only nodes of components that are still open count; an edge into a finished component tells nothing.
                if other in stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                # No node below reaches above: `node` is the first of its component, which is the stack from there on.
                if low[node] == index[node]:
                    cut = stack.index(node)
                    found.append(stack[cut:])
                    del stack[cut:]
    return found
