# SPDX-License-Identifier: Apache-2.0
"""Accumulations of a nest (recognition of reductions; Allen and Kennedy 2001, section 5.8): what statements add to
their own targets, and how often since a beginning.

    val = 0;  for j < 64:  val = val + x[j] * w[j]      64 times x[j] * w[j] since val = 0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from polyloom.ir.nest import Apply, Assign, Expression, If, Loop, Node, accesses, cell
from polyloom.ir.pla import Reference


@dataclass(frozen=True, slots=True)
class Write:
    """Assignment with the nodes around it, outermost first. `places`: for each of them, and itself, which branch of the
    one around it and which node there it is.
    """

    assign: Assign
    path: tuple[Node, ...]
    places: tuple[tuple[int, int], ...]


def writes(
    nodes: Sequence[Node], path: tuple[Node, ...] = (), places: tuple[tuple[int, int], ...] = (), branch: int = 0
) -> Iterator[Write]:
    """Assignments below nodes, in the order of the text."""
    for at, node in enumerate(nodes):
        inside, own = (*path, node), (*places, (branch, at))
        match node:
            case Assign():
                yield Write(node, path, own)
            case Loop(body=body):
                yield from writes(body, inside, own)
            case If(body=body, orelse=orelse):
                yield from writes(body, inside, own)
                yield from writes(orelse, inside, own, 1)


def count_executions(write: Write, first: Write) -> int | None:
    """Executions between two of a beginning that stands in front; None where it does not, or they are not known."""
    depth, own = len(first.path), cell(write.assign.target)
    if first.places[:depth] != write.places[:depth] or cell(first.assign.target) != own:
        return None
    (branch, at), (of_write, behind) = first.places[depth], write.places[depth]
    if branch != of_write or at >= behind:
        return None
    inside = [node for node in write.path[depth:] if isinstance(node, Loop)]
    index = {name for form in write.assign.target.index for name in form.symbols}
    counts = [_maximum_trip_count(loop) for loop in inside]
    # An element that changes with an inner loop is not the one that was set.
    known = [count for count in counts if count is not None]
    return prod(known) if len(known) == len(counts) and not index & {loop.name for loop in inside} else None


def _maximum_trip_count(loop: Loop) -> int | None:
    """Iterations of a loop at most; None where they depend on sizes or on other loops."""
    spans = [upper - lower for upper in loop.upper for lower in loop.lower]
    known = [max(0, span.constant) for span in spans if span.is_constant]
    return min(known, default=None)


def added_term(assign: Assign) -> Expression | None:
    """What a statement adds to its own target; None where it does something else."""
    own, value = assign.target, assign.value
    if not isinstance(value, Apply) or value.operation not in ("add", "sub"):
        return None
    first, second = value.operands
    for one, other in ((first, second), (second, first)):
        is_own = isinstance(one, Reference) and cell(one) == cell(own)
        if is_own and all(read.name != own.name for read in accesses(other)):
            if value.operation == "add":
                return other
            return Apply("neg", value.dtype, (other,), value.span) if one is first else None
    return None
