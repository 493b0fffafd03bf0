# SPDX-License-Identifier: Apache-2.0
"""Legality of blocks (Irigoin, Triolet, "Supernode partitioning", 1988): whether accesses that conflict keep their
order, and which locals carry values from one block to another.

Memory-based dependences are asked of isl exactly, for all parameter values. A block is one iteration of the loops of
steps around it; within a block the order is that of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from polyloom.analysis.loop_dependences import statement_accesses
from polyloom.ir.nest import Nest, Statement, schedule_vector, statements
from polyloom.ir.pla import Reference
from polyloom.ir.steps import Steps, Tree, as_loop
from polyloom.names import hidden_name
from polyloom.sets import Affine, Condition, Polyhedron, equality
from polyloom.sets.isl import is_empty, parameter_set, to_set
from polyloom.transform.blocks.cut import Block
from polyloom.transform.blocks.refusals import crossing_error, order_error
from polyloom.transform.parts import flows_of_locals

Time = tuple[Affine, ...]


@dataclass(frozen=True, slots=True)
class PlacedStatement:
    """A statement of a block: within which loops of steps, and when its block runs."""

    statement: Statement
    block: Block
    around: tuple[Steps[Block], ...]
    time: Time


def place_statements(nest: Nest, tree: Tree[Block]) -> tuple[PlacedStatement, ...]:
    """Statements of all blocks, in coordinates of the whole nest."""
    return tuple(_place(nest, tree, (), ()))


def _place(nest: Nest, tree: Tree[Block], around: tuple[Steps[Block], ...], time: Time) -> Iterator[PlacedStatement]:
    for position, node in enumerate(tree):
        here = (*time, Affine((), position))
        loop = as_loop(node)
        if loop is not None:
            yield from _place(nest, loop.body, (*around, loop), (*here, Affine.symbol(loop.counter) * loop.step))
        elif isinstance(node, Block):
            for statement in statements(replace(nest, body=node.body)):
                yield PlacedStatement(statement, node, around, here)


def check_order(nest: Nest, placed: Sequence[PlacedStatement], crossing: Mapping[str, int]) -> None:
    """Check that blocks keep the order of conflicting accesses to arguments, and to locals whose values cross. Raises
    PL0266.
    """
    order = {s.assign.name: s for s in statements(nest)}
    shared = {s.name: 0 for s in nest.storage if s.role == "argument" and s.writable} | {**crossing}
    for one, other in product(placed, repeat=2):
        for a, b in product(_shared_accesses(one, shared), _shared_accesses(other, shared)):
            conflict = a[0].name == b[0].name and (a[1] or b[1])
            if conflict and _order_changes(nest, order, (one, a[0]), (other, b[0])):
                names = " and ".join(f"`{name}`" for name in _cut_loops(one))
                raise order_error(one.statement.assign, other.statement.assign, a[0].name, names)


def _shared_accesses(placed: PlacedStatement, shared: Mapping[str, int]) -> Iterator[tuple[Reference, bool]]:
    """Accesses to what blocks share; a local has an element for each iteration of so many outer loops."""
    for _, reference, writes in statement_accesses(placed.statement):
        if reference.name in shared:
            own = map(Affine.symbol, placed.statement.loops[: shared[reference.name]])
            yield replace(reference, index=(*own, *reference.index)), writes


def _cut_loops(placed: PlacedStatement) -> tuple[str, ...]:
    return tuple(strip.loop.name for strip in placed.block.strips if strip.size is not None)


def _order_changes(
    nest: Nest,
    order: Mapping[str, Statement],
    first: tuple[PlacedStatement, Reference],
    second: tuple[PlacedStatement, Reference],
) -> bool:
    """Whether `second` touches an element of `first` after it in the source, and in a block before it."""
    sides = (_Instance(first[0], "first"), _Instance(second[0], "second"))
    (one, other), dims = sides, [*sides[0].dims, *sides[1].dims]
    pairs = zip(first[1].index, second[1].index, strict=True)
    same = [c for a, b in pairs for c in equality(one.rename_form(a), other.rename_form(b))]
    before = [side.rename_forms(schedule_vector(order[side.placed.statement.assign.name])) for side in sides]
    blocks = [side.rename_forms(side.placed.time) for side in sides]
    context = parameter_set(nest.assumptions, nest.parameters)
    for sooner, later in product(_precedes(*before), _precedes(*reversed(blocks))):
        for p, q in product(one.domain, other.domain):
            found = to_set(
                Condition((Polyhedron((*same, *sooner, *later, *p, *q)),)), dims, nest.parameters
            ).intersect_params(context)
            if not is_empty(found):
                return True
    return False


class _Instance:
    """An instance of a placed statement, whose loops and counters are variables of their own."""

    def __init__(self, placed: PlacedStatement, side: str) -> None:
        self.placed = placed
        counters = [loop.counter for loop in placed.around]
        names = [*placed.statement.loops, *counters]
        self.values = {name: Affine.symbol(hidden_name(f"{side}_{name}")) for name in names}
        blocks = [Affine.symbol(hidden_name(f"{side}_number_{name}")) for name in counters]
        self.dims = [next(iter(form.symbols)) for form in (*self.values.values(), *blocks)]
        strides = list[Affine]()
        for loop, number in zip(placed.around, blocks, strict=True):
            first = self.rename_form(loop.lower[0]) + number * loop.stride
            strides += [number, *equality(self.values[loop.counter], first)]
        self.domain = [(*self.rename_forms(piece.constraints), *strides) for piece in placed.statement.domain.pieces]

    def rename_form(self, form: Affine) -> Affine:
        return form.substitute(self.values)

    def rename_forms(self, forms: Sequence[Affine]) -> list[Affine]:
        return [self.rename_form(form) for form in forms]


def _precedes(first: Sequence[Affine], second: Sequence[Affine]) -> Iterator[list[Affine]]:
    """Constraints of lexicographic order, one list for each position at which the first vector is less."""
    equal = list[Affine]()
    for a, b in zip(first, second, strict=False):
        step = b - a
        if not step.is_constant:
            yield [*equal, step - 1]
            equal += [step, -step]
        elif step.constant:
            if step.constant > 0:
                yield equal
            return


def crossing_locals(nest: Nest, placed: Sequence[PlacedStatement]) -> dict[str, int]:
    """Locals whose values pass from block to block, each with the number of outer loops for whose iterations it gets
    an element of its own. Raises PL0267 where other iterations of these loops read it.
    """
    blocks: dict[str, list[PlacedStatement]] = {}
    for p in placed:
        blocks.setdefault(p.statement.assign.name, []).append(p)
    flows = list(flows_of_locals(nest))
    crossing = {
        name
        for reader, name, writer, common in flows
        if len(blocks[reader]) > 1
        or len(blocks[writer]) > 1
        or blocks[reader][0].block is not blocks[writer][0].block
        or common < _cut_depth(blocks[reader][0].block)
    }
    depths = {name: _common_depth(name, placed) for name in crossing}
    for reader, name, _, common in flows:
        if name in depths and common < depths[name]:
            raise crossing_error(name, blocks[reader][0].statement.assign)
    return depths


def _cut_depth(block: Block) -> int:
    """How many outer loops two iterations of one block have in common at the most by their blocks."""
    return max((n for n, strip in enumerate(block.strips, 1) if strip.size is not None), default=0)


def _common_depth(name: str, placed: Sequence[PlacedStatement]) -> int:
    """How many strips all blocks that use a local have in common."""
    users = [p for p in placed if any(r.name == name for _, r, _ in statement_accesses(p.statement))]
    strips = [[strip.loop.name for strip in p.block.strips] for p in users]
    depth = 0
    while all(len(names) > depth and names[: depth + 1] == strips[0][: depth + 1] for names in strips):
        depth += 1
    return depth
