# SPDX-License-Identifier: Apache-2.0
"""Scalar replacement: an element that stays the same in a loop, or in one iteration of it, is held in a local scalar
(Callahan, Carr, Kennedy, "Improving register allocation for subscripted variables", PLDI 1990).

    for k in range(N): y[i] += a[i, k] * x[k]   ->   y_1 = y[i]; for k ...: y_1 += ...; y[i] = y_1

A region is the body of the function, a loop as a whole, or an iteration of one. An element is held where each access to
its array in the region is to it, or never meets it (decided by isl over the statements' domains); where some access
happens whenever the region is entered, so that the element exists; and, if it is written, where a write does, so that
no store is added. Outer regions come first. Arrays never overlap. A loop as a whole is entered under its own condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final

from polyloom.ir.nest import (
    Apply,
    Assign,
    Expression,
    If,
    Loop,
    Nest,
    Node,
    Storage,
    accesses,
    assignments,
    data_symbols,
    loops,
    names,
    negate,
)
from polyloom.ir.pla import Reference
from polyloom.names import fresh_name
from polyloom.sets import Condition, Polyhedron
from polyloom.sets.isl import is_empty, to_set
from polyloom.sets.normal_form import conjunction
from polyloom.transform.nest_to_ssa.domains import Domain

_MOST: Final = 8
"""Elements that one region holds: registers are few."""


def replace_scalars(nest: Nest) -> Nest:
    """Nest with elements of arrays held in local scalars."""
    replacer = _Replacer(nest)
    body = replacer.region(nest.body)
    return replace(nest, body=body, storage=(*nest.storage, *replacer.storage))


@dataclass(frozen=True, slots=True)
class _Access:
    """Access: a reference without its place, and where it is executed, over the loops around it; `always`: whenever the
    region is entered.
    """

    reference: Reference
    is_write: bool
    always: bool
    inside: bool
    domain: Condition
    loops: tuple[str, ...]


class _Replacer:
    """Rewriter of regions. Mutable: the scalars that were made, the names that are taken, and the domain of the current
    node.
    """

    def __init__(self, nest: Nest) -> None:
        self.nest, self.domain, self.storage = nest, Domain(nest), list[Storage]()
        self.taken = {*names(nest), *(assign.name for assign in assignments(nest.body))}
        self.arrays = {s.name for s in nest.storage if s.shape}
        self.data = data_symbols(nest)
        self.entered = dict[str, bool]()

    def region(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        """Body of a region, and the regions in it."""
        before, nodes, after = self.held(nodes)
        return (*before, *(made for node in nodes for made in self.node(node)), *after)

    def node(self, node: Node) -> tuple[Node, ...]:
        """Node with the regions in it; branches are no regions, as they may not be executed."""
        match node:
            case Loop():
                return self.loop(node)
            case If(condition=condition, body=body, orelse=orelse):
                with self.domain.where(condition):
                    body = tuple(made for inner in body for made in self.node(inner))
                with self.domain.where(negate(condition)):
                    orelse = tuple(made for inner in orelse for made in self.node(inner))
                return (replace(node, body=body, orelse=orelse),)
            case Assign():
                return (node,)

    def loop(self, loop: Loop) -> tuple[Node, ...]:
        """Loop as a whole, under the condition that it is entered where elements are held."""
        before: tuple[Node, ...] = ()
        nodes: tuple[Node, ...] = (loop,)
        after: tuple[Node, ...] = ()
        # Bounds that are data cannot stand in a condition outside of the loop.
        if self.domain.knows(*loop.lower, *loop.upper):
            before, nodes, after = self.held(nodes, enters=True)
        body = tuple([inner for node in nodes if isinstance(node, Loop) for inner in node.body])
        with self.domain.within(loop):
            found = (*before, replace(loop, body=self.region(body)), *after)
        guarded = before and not self.is_entered(loop)
        return (If(_nonempty_condition(loop), found, span=loop.span),) if guarded else found

    def held(
        self, nodes: tuple[Node, ...], *, enters: bool = False
    ) -> tuple[tuple[Node, ...], tuple[Node, ...], tuple[Node, ...]]:
        """Loads of elements before the nodes, the nodes with scalars in their place, and the stores behind; `enters`:
        the only node is a loop, which is entered.
        """
        before: list[Node] = []
        after: list[Node] = []
        found = list(self.accesses(nodes, enters))
        varying = {*loops(nodes), *(a.target.name for a in assignments(nodes) if a.target.name in self.data)}
        for reference in dict.fromkeys(access.reference for access in found):
            if len(before) == _MOST or not self.is_held(reference, found, varying):
                continue
            scalar = self.scalar(reference)
            nodes = tuple(_substitute_scalar(node, reference, scalar) for node in nodes)
            before.append(Assign(self.statement(), scalar, replace(reference, span=scalar.span), scalar.span))
            if any(access.is_write and access.reference == reference for access in found):
                after.append(Assign(self.statement(), replace(reference, span=scalar.span), scalar, scalar.span))
        return tuple(before), nodes, tuple(after)

    def is_held(self, reference: Reference, found: Sequence[_Access], varying: Set[str]) -> bool:
        """Whether the element stays the same, is accessed whenever the region is entered, and meets no other one."""
        if any(form.symbols & varying for form in reference.index):
            return False
        own = [access for access in found if access.reference == reference]
        writes = [access for access in own if access.is_write]
        # Outside of loops one access is one load or store already, and a scalar gains nothing.
        if not any(access.inside for access in own) or not any(access.always for access in (writes or own)):
            return False
        others = [a for a in found if a.reference.name == reference.name and a.reference != reference]
        changes = writes or any(access.is_write for access in others)
        # Without a write, elements may meet: each scalar is a copy of the same value.
        return not changes or not any(self.meets(reference, other) for other in others)

    def meets(self, reference: Reference, other: _Access) -> bool:
        """Alias test: whether another access may be to the same element, by emptiness of the set where all subscripts
        agree.
        """
        known = {*other.loops, *self.nest.parameters}
        distances = [a - b for a, b in zip(reference.index, other.reference.index, strict=True)]
        # A subscript that is data, or of another loop, may have any value.
        if not all(distance.symbols <= known for distance in distances):
            return True
        same = Condition((Polyhedron(tuple([part for d in distances for part in (d, -d)])),))
        return not is_empty(to_set(conjunction(other.domain, same), other.loops, self.nest.parameters))

    def accesses(
        self, nodes: Iterable[Node], enters: bool = False, *, always: bool = True, inside: bool = False
    ) -> Iterator[_Access]:
        """Accesses to elements of arrays, in the order of the text."""
        for node in nodes:
            match node:
                case Assign(target=target, value=value):
                    touched = [*((read, False) for read in accesses(value)), (target, True)]
                    for reference, is_write in touched:
                        if reference.name in self.arrays:
                            plain = replace(reference, span=None)
                            where = self.domain.condition, self.domain.loops
                            yield _Access(plain, is_write, always, inside, *where)
                case Loop():
                    runs = enters or self.is_entered(node)
                    with self.domain.within(node):
                        yield from self.accesses(node.body, always=always and runs, inside=True)
                case If(condition=condition, body=body, orelse=orelse):
                    for part, where in ((body, condition), (orelse, negate(condition))):
                        with self.domain.where(where):
                            yield from self.accesses(part, always=False, inside=inside)

    def is_entered(self, loop: Loop) -> bool:
        if loop.name not in self.entered:
            self.entered[loop.name] = self.domain.is_entered(loop)
        return self.entered[loop.name]

    def scalar(self, reference: Reference) -> Reference:
        """A new local scalar for an element."""
        name = fresh_name(reference.name, self.taken)
        self.storage.append(Storage(name, self.nest[reference.name].dtype, (), "local"))
        return Reference(name, ())

    def statement(self) -> str:
        return fresh_name("held", self.taken)


def _nonempty_condition(loop: Loop) -> Condition:
    return Condition((Polyhedron(tuple([high - low - 1 for low in loop.lower for high in loop.upper])),))


def _substitute_scalar(node: Node, reference: Reference, scalar: Reference) -> Node:
    """Node with a scalar in the place of an element."""
    match node:
        case Assign(target=target, value=value):
            return replace(
                node,
                target=_substitute_reference(target, reference, scalar),
                value=_substitute_value(value, reference, scalar),
            )
        case Loop(body=body):
            return replace(node, body=tuple([_substitute_scalar(inner, reference, scalar) for inner in body]))
        case If(body=body, orelse=orelse):
            inner = tuple([_substitute_scalar(each, reference, scalar) for each in body])
            return replace(
                node, body=inner, orelse=tuple([_substitute_scalar(each, reference, scalar) for each in orelse])
            )


def _substitute_value(value: Expression, reference: Reference, scalar: Reference) -> Expression:
    """Expression with a scalar in the place of an element."""
    match value:
        case Reference():
            return _substitute_reference(value, reference, scalar)
        case Apply(operands=operands):
            return replace(value, operands=tuple([_substitute_value(o, reference, scalar) for o in operands]))
        case _:
            return value


def _substitute_reference(found: Reference, reference: Reference, scalar: Reference) -> Reference:
    return replace(scalar, span=found.span) if replace(found, span=None) == reference else found
