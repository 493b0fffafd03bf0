# SPDX-License-Identifier: Apache-2.0
"""Nests whose indices, bounds or branches are data (`ir.nest.data`), as affine ones that touch no less.

What is read at an index of data reads the whole array. An assignment to such an index, or where data decide whether it
is executed, may leave every element as it was: it reads what it may write, and writes nothing. What both ways of a
branch on data assign is assigned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from polyloom.ir.nest import Assign, If, Loop, Nest, Node, Storage, accesses, data_symbols, depends_on_symbols
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.names import hidden_name
from polyloom.sets import Affine


def is_indirect(nest: Nest) -> bool:
    """Whether data decide what is accessed."""
    return depends_on_symbols(nest.body, data_symbols(nest))


def affine_approximation(nest: Nest) -> Nest:
    """Affine over-approximation of accesses (may-access regions; Creusillet, Irigoin, "Interprocedural array region
    analyses", 1996): a nest that touches no less; its values mean nothing.
    """
    approximation = _Approximation(nest)
    body = tuple(approximation.nodes(nest.body, data_symbols(nest), None))
    return replace(nest, body=body, storage=(*nest.storage, *approximation.sinks.values()))


class _Approximation:
    """`sinks` are the scalars that take what is read, by type."""

    def __init__(self, nest: Nest) -> None:
        self.nest, self.numbers = nest, count()
        self.sinks: dict[ElementType, Storage] = {}

    def nodes(
        self, nodes: Iterable[Node], unknown: frozenset[str], after: frozenset[Reference] | None
    ) -> Iterator[Node]:
        """`unknown` are symbols that data decide. Where data decide whether the nodes are executed, `after` are the
        targets that are assigned after them in any case; else it is None."""
        for node in nodes:
            match node:
                case Assign():
                    yield from self.assign(node, unknown, after)
                case Loop(name=name, body=body):
                    if any(bound.symbols & unknown for bound in (*node.lower, *node.upper)):
                        # The loop is gone: its variable becomes unknown data, as its bounds are.
                        yield from self.nodes(body, unknown | {name}, after or frozenset())
                    else:
                        yield replace(node, body=tuple(self.nodes(body, unknown, after)))
                case If(condition=condition, body=body, orelse=orelse):
                    if condition.symbols & unknown:
                        yield from self.data_branch(node, unknown, after)
                    else:
                        inner, other = (tuple(self.nodes(part, unknown, after)) for part in (body, orelse))
                        yield replace(node, body=inner, orelse=other)

    def data_branch(self, node: If, unknown: frozenset[str], after: frozenset[Reference] | None) -> Iterator[Node]:
        """A branch on data."""
        both = _targets(node.body) & _targets(node.orelse)
        yield from self.nodes((*node.body, *node.orelse), unknown, both | (after or frozenset()))
        for target in sorted(both, key=str) if after is None else ():
            if not _is_unknown(target, unknown):
                yield self.with_zero(Assign(hidden_name(f"both {next(self.numbers)}"), target, Constant(0, "i32")))

    def assign(self, node: Assign, unknown: frozenset[str], after: frozenset[Reference] | None) -> Iterator[Node]:
        is_kept = after is None and not _is_unknown(node.target, unknown)
        # What may stay as it was is read, unless it is assigned afterwards in any case.
        shows = not is_kept and _drop_span(node.target) not in (after or ())
        for reference in (*accesses(node.value), *((node.target,) if shows else ())):
            yield self.read(reference, unknown)
        if is_kept:
            yield self.with_zero(node)

    def with_zero(self, node: Assign) -> Assign:
        return replace(node, value=Constant(0, self.nest[node.target.name].dtype))

    def read(self, reference: Reference, unknown: frozenset[str]) -> Node:
        """A read of the element, or of all elements in the dimensions whose index is not known."""
        # An unknown index may be any: a loop over the whole dimension stands for it.
        loops = {
            n: hidden_name(f"every {next(self.numbers)}") for n, i in enumerate(reference.index) if i.symbols & unknown
        }
        index = tuple(Affine.symbol(loops[n]) if n in loops else i for n, i in enumerate(reference.index))
        storage = self.nest[reference.name]
        sink = self.sinks.setdefault(
            storage.dtype, Storage(hidden_name(f"sink {storage.dtype}"), storage.dtype, (), "local")
        )
        name = hidden_name(f"read {next(self.numbers)}")
        found: Node = Assign(name, Reference(sink.name), replace(reference, index=index))
        for n, loop in loops.items():
            found = Loop(loop, (Affine(),), (storage.shape[n],), (found,))
        return found


def _is_unknown(reference: Reference, unknown: frozenset[str]) -> bool:
    return any(index.symbols & unknown for index in reference.index)


def _targets(nodes: tuple[Node, ...]) -> frozenset[Reference]:
    """What these nodes assign themselves."""
    return frozenset(_drop_span(node.target) for node in nodes if isinstance(node, Assign))


def _drop_span(reference: Reference) -> Reference:
    return replace(reference, span=None)
