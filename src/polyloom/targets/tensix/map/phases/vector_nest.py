# SPDX-License-Identifier: Apache-2.0
"""Vector code of a nest: its loops in an order that makes them parallel (`transform.parallel`), of which one on each
path is a vector, and for each statement the operations of the vector unit and the elements that they take.

An operand is `vectors` (neighbours in memory, or elements that lie apart and are gathered) or `scalars`, the same for
all lanes, of which constant registers hold three. A statement outside of vectors is a vector of one element. Locals
that each lane has to itself become arrays along the vector (scalar expansion: Allen, Kennedy 2001, section 5.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.analysis.dataflow import refuse
from polyloom.analysis.loop_dependences import LoopDependences
from polyloom.analysis.loop_ranges import Range, loop_ranges
from polyloom.analysis.privatizable import privatizable
from polyloom.ir import formula as terms
from polyloom.ir.nest import Apply, Assign, Expression, If, Index, Loop, Nest, Node, Storage, assignments, loop_nodes
from polyloom.ir.nest_rewrite import Rewriter
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Constant, Reference
from polyloom.ir.stage import Formula, Program
from polyloom.sets import Affine
from polyloom.targets.tensix.map.loops.pointwise import Selector
from polyloom.targets.tensix.map.loops.steps import SCALARS, Pointwise, Source, Spread
from polyloom.targets.tensix.map.phases.index_arrays import lay_out_indices
from polyloom.targets.tensix.words.arrays.tiles import drop_unit_axes
from polyloom.targets.tensix.words.arrays.views import Views
from polyloom.transform.parallel.arrangement import arrange_loops
from polyloom.transform.parallel.contraction import contract
from polyloom.transform.parallel.index_selections import split_index_selections
from polyloom.transform.parallel.index_set_splitting import split_index_sets
from polyloom.transform.parallel.machine import Machine, VectorCosts
from polyloom.transform.parallel.specialization import specialize
from polyloom.transform.parallel.triangular_loops import sink_parallel_loops, substitute_by_columns
from polyloom.transform.parallel.vectorization import VectorLoops
from polyloom.transform.stages.array_terms import apply_operation

VECTORS: Final = 16
"""Operands of one statement that Dst holds side by side, with at least 16 rows for each."""
LANES: Final = 896
"""Elements of a strip: what one counter of an unpacker spans from any place in a row of 64."""
_COSTS: Final = VectorCosts(loop=200, start=0, gather=400, mask=float("inf"), scatter=float("inf"))
"""In cycles of a core: a statement's hand-over between three threads takes a hundred or two, whatever its length."""


@dataclass(frozen=True, slots=True)
class Strip:
    """Statement over the lanes of the loop `lane` ("" for one element): its operations, and its operands in the order
    of `formula.arrays` and `formula.scalars`; `number` among the statements.
    """

    formula: Pointwise
    target: Reference
    vectors: tuple[Reference, ...]
    scalars: tuple[Reference, ...]
    lane: str
    number: int


@dataclass(frozen=True, slots=True)
class VectorNest:
    """Nest in the order of the code; `strips` by the names of statements; `vectors` are the loops whose iterations are
    lanes, `together` those whose iterations do not wait for one another, `ranges` the values of loops; `indices` are
    the arrays that the host lays out, of values of loops.
    """

    nest: Nest
    strips: Mapping[str, Strip]
    vectors: frozenset[str]
    together: frozenset[str]
    ranges: Mapping[str, Range]
    indices: Views | None


def arrange_nest(nest: Nest, values: Mapping[str, int]) -> Nest:
    """Nest at its sizes, with fused products, in an order in which loops are parallel; this decides its arithmetic."""
    split = split_index_sets(contract(split_index_selections(specialize(nest, values))))
    return sink_parallel_loops(substitute_by_columns(arrange_loops(split, Machine())))


def vectorize(nest: Nest) -> VectorNest:
    """Vector code of an arranged nest; without a loop that may be a vector, every statement is one of a single element.
    Raises `Unlike` where a statement needs more than there is. Errors: PL1231 for an operation that a tile does not
    offer.
    """
    dependences, ranges = LoopDependences(nest), loop_ranges(nest.body)
    chosen = VectorLoops(dependences, ranges, Machine(lanes=LANES, costs=_COSTS)).choose(nest.body, ()).loops
    expanded = _ScalarExpansion(nest, chosen, ranges)
    made = replace(nest, body=expanded.nodes(nest.body))
    made = replace(made, storage=tuple(expanded.storage.get(s.name, s) for s in nest.storage))
    made, indices = lay_out_indices(made, chosen, ranges)
    strips = dict[str, Strip]()
    _collect_strips(made, made.body, "", chosen, strips)
    together = frozenset(
        loop.name for loop in loop_nodes(made.body) if _is_independent(loop, dependences, strips, made)
    )
    return VectorNest(made, strips, chosen, together, ranges, indices)


class _ScalarExpansion(Rewriter):
    """Scalar expansion along vectors; `storage` are the locals that became arrays."""

    def __init__(self, nest: Nest, chosen: frozenset[str], ranges: Mapping[str, Range]) -> None:
        self.nest, self.chosen, self.ranges = nest, chosen, ranges
        self.storage = dict[str, Storage]()
        self.path: tuple[Loop | If, ...] = ()
        self.own: tuple[frozenset[str], str] = frozenset(), ""

    def loop(self, node: Loop) -> tuple[Node, ...]:
        before, own = self.path, self.own
        self.path = (*self.path, node)
        if node.name in self.chosen:
            self.own = privatizable(self.nest, self.path), node.name
            for name in self.own[0]:
                extent = Affine((), int(self.ranges[node.name][1]) + 1)
                self.storage[name] = replace(self.nest[name], shape=(extent,))
        body = self.nodes(node.body)
        self.path, self.own = before, own
        return (replace(node, body=body),)

    def branch(self, node: If) -> tuple[Node, ...]:
        before, self.path = self.path, (*self.path, node)
        made = replace(node, body=self.nodes(node.body), orelse=self.nodes(node.orelse))
        self.path = before
        return (made,)

    def reference(self, reference: Reference) -> Reference:
        names, lane = self.own
        return replace(reference, index=(Affine.symbol(lane),)) if reference.name in names else reference


def _collect_strips(
    nest: Nest, nodes: Sequence[Node], lane: str, chosen: frozenset[str], strips: dict[str, Strip]
) -> None:
    for node in nodes:
        match node:
            case Assign():
                strips[node.name] = _select_statement(nest, node, lane, len(strips))
            case Loop():
                _collect_strips(nest, node.body, node.name if node.name in chosen else lane, chosen, strips)
            case If():
                _collect_strips(nest, (*node.body, *node.orelse), lane, chosen, strips)


def _select_statement(nest: Nest, statement: Assign, lane: str, number: int) -> Strip:
    """Operations of a statement. Raises `Unlike` for more operands than there is room."""
    types: dict[str, ElementType] = {s.name: s.dtype for s in nest.storage}
    shapes = {s.name: s.shape for s in nest.storage}
    target = statement.target
    formula = Formula(target.name, (), _term(statement.value), target.name, (), statement.span)
    selector = _StripSelector(formula, Program((), types, shapes, ()), lane)
    made = selector.made(formula.term)
    return Strip(made, target, tuple(selector.vectors), tuple(selector.read), lane, number)


def _term(value: Expression) -> terms.Term:
    """Term of an expression."""
    match value:
        case Reference(name=name, index=index):
            return terms.Leaf(name, index)
        case Constant(value=number):
            return terms.Number(number)
        case Apply(operation=operation, operands=operands, span=span):
            # A selection by several comparisons is one after another, for each sets the flags of lanes anew.
            return apply_operation(operation, [*map(_term, operands)], span)
        case Index():
            raise AssertionError("values of loops are elements of arrays")


class _StripSelector(Selector):
    """Instruction selection for one statement; each operation is one of the nest's, which is contracted already."""

    def __init__(self, stage: Formula, program: Program, lane: str) -> None:
        super().__init__(stage, program)
        self.lane, self.contracts = lane, False
        self.vectors, self.read = list[Reference](), list[Reference]()

    def _check_room(self) -> None:
        label, span = self.stage.label, self.stage.span
        if len(self.vectors) > VECTORS:
            refuse(f"`{label}` is made of {len(self.vectors)} vectors, and Dst holds {VECTORS}", span)

    def _input(self, leaf: terms.Leaf) -> Source:
        read = Reference(leaf.array, leaf.index)
        is_uniform = self.lane and not any(self.lane in at.symbols for at in leaf.index)
        # Beyond the constant registers, what is the same for all lanes is gathered into each of them.
        if is_uniform and len(self.read) < SCALARS:
            self.read.append(read)
            self.scalars.append(leaf.array)
            return "scalar", len(self.read) - 1
        self.vectors.append(read)
        self.arrays.append(Spread(leaf.array, ()))
        return "array", len(self.vectors) - 1


def _is_independent(loop: Loop, dependences: LoopDependences, strips: Mapping[str, Strip], nest: Nest) -> bool:
    """Whether no iteration of a loop waits for another one: none touches what another writes, nor the line of 16 bytes
    around it, which packers write as a whole; lines are those of rows.
    """
    if dependences.carried_dependence(loop.name, frozenset()) is not None:
        return False
    targets = [strips[a.name].target for a in assignments(loop.body)]
    # Rows are those of arrays without their last axes of one element, as they lie in L1 (linear_layout.py).
    shapes = [drop_unit_axes(tuple(extent.constant for extent in nest[t.name].shape)) for t in targets]
    lasts = [t.index[: len(shape)][-1:] for t, shape in zip(targets, shapes, strict=True)]
    return not any(last == () or loop.name in last[0].symbols for last in lasts)
