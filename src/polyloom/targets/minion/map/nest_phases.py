# SPDX-License-Identifier: Apache-2.0
"""Phases of a nest in its own order (loop distribution at the outermost level; Allen and Kennedy 2001, chapter 6.2):
sums of products go to the tensor coprocessor, what is between them becomes SIMD loops.

Stages (`transform.stages`) take functions of which all is products and formulas. Here the nest keeps its order and its
statements, so that reductions, masks and stores to parts of arrays may be between products.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from polyloom.ir import pla
from polyloom.ir.nest import Apply, Assign, If, Loop, Nest, Node, Storage, accesses, assignments, loop_nodes
from polyloom.ir.nest_interpret import nest_signature, storage_array
from polyloom.ir.nest_rewrite import mentioned_symbols
from polyloom.ir.operations import ElementType
from polyloom.ir.plan import Phase, Plan
from polyloom.sets import Condition
from polyloom.targets.minion.map.phase_work import Work
from polyloom.targets.minion.map.product.batched.batch import batch_work
from polyloom.targets.minion.map.simd import form as simd
from polyloom.targets.minion.options import Fp
from polyloom.transform.parallel.restructuring.array_narrowing import narrow_arrays
from polyloom.transform.parallel.restructuring.loop_fusion import fuse_loops
from polyloom.transform.parallel.restructuring.product_distribution import distribute_products
from polyloom.transform.parallel.restructuring.strided_products import match_product

_FEWEST: Final = 2
"""Products, at least: of one alone, stages or the dataflow of equations make more."""


def plan_nest_phases(nest: Nest, fp: Fp, minions: int) -> tuple[Plan, tuple[Work, ...]] | None:
    """Plan with a phase for each product and each run of other statements, and their works; None where there are too
    few products, or a phase needs a scalar of another one.
    """
    if fp != "contract":
        return None
    nest = distribute_products(narrow_arrays(nest))
    types: dict[str, ElementType] = {storage.name: storage.dtype for storage in nest.storage}
    shapes = {storage.name: storage.shape for storage in nest.storage}
    groups = list[tuple[tuple[Node, ...], Work | None]]()
    for node in nest.body:
        found = match_product(node)
        work = None if found is None else batch_work(found, types, shapes, fp)
        if work is None and groups and groups[-1][1] is None:
            groups[-1] = (*groups[-1][0], node), None
        else:
            groups.append(((node,), work))
    products = sum(work is not None for _, work in groups)
    if products < _FEWEST or not all(_defines_scalars(nest, nodes) for nodes, _ in groups):
        return None
    shared = _shared_arrays(nest, [nodes for nodes, _ in groups])
    nests = [_phase_nest(nest, nodes, shared) for nodes, _ in groups]
    phases = tuple(_phase(own) for own in nests)
    works = tuple(
        work or simd.nest_work(fuse_loops(own), fp, minions) for own, (_, work) in zip(nests, groups, strict=True)
    )
    return _plan(nest, phases, shared), works


def has_other_reductions(nest: Nest) -> bool:
    """Whether something else than products is reduced: an inner loop writes what does not depend on it, and multiplies
    no two arrays.
    """
    return any(
        loop.name not in {name for form in each.target.index for name in form.symbols}
        and any(read.name == each.target.name for read in accesses(each.value))
        and isinstance(each.value, Apply)
        and each.value.operation not in ("add", "madd")
        for loop in loop_nodes(nest.body)
        for each in loop.body
        if isinstance(each, Assign)
    )


def _defines_scalars(nest: Nest, nodes: Sequence[Node]) -> bool:
    """Whether local scalars that nodes read are written by them before, unconditionally: none lives from one phase to
    the next.
    """
    scalars = {s.name for s in nest.storage if s.role == "local" and not s.shape}
    written = set[str]()
    for assign, is_certain in _statement_order(nodes, certain=True):
        read = {each.name for each in accesses(assign.value)} & scalars
        if not read <= written:
            return False
        if is_certain and assign.target.name in scalars:
            written.add(assign.target.name)
    return not {s for node in nodes for s in _symbols(node)} & scalars


def _statement_order(nodes: Sequence[Node], *, certain: bool) -> Iterator[tuple[Assign, bool]]:
    for node in nodes:
        match node:
            case Assign():
                yield node, certain
            case Loop():
                # What only an iteration writes is read there, too: an empty loop does neither.
                yield from _statement_order(node.body, certain=certain)
            case If():
                yield from _statement_order((*node.body, *node.orelse), certain=False)


def _symbols(node: Node) -> frozenset[str]:
    return mentioned_symbols([node])


def _accessed_arrays(nodes: Sequence[Node]) -> frozenset[str]:
    each = list(assignments(nodes))
    return frozenset(a.target.name for a in each) | {r.name for a in each for r in accesses(a.value)}


def _shared_arrays(nest: Nest, groups: Sequence[Sequence[Node]]) -> tuple[Storage, ...]:
    """Local arrays that several phases access."""
    touched = [_accessed_arrays(nodes) for nodes in groups]
    locals_ = [s for s in nest.storage if s.role == "local" and s.shape]
    return tuple(s for s in locals_ if sum(s.name in names for names in touched) > 1)


def _phase_nest(nest: Nest, nodes: tuple[Node, ...], shared: Sequence[Storage]) -> Nest:
    """Nest of a phase: what it shares with others are its arguments."""
    touched, names = _accessed_arrays(nodes), {s.name for s in shared}
    own = [replace(s, role="argument", writable=True) if s.name in names else s for s in nest.storage]
    return replace(nest, storage=tuple(s for s in own if s.name in touched), body=nodes)


def _phase(own: Nest) -> Phase:
    """Phase of a nest. Its program has no equations: what becomes of it is known."""
    signature = nest_signature(own)
    inputs = simd.read_arrays(own)
    program = pla.Program(own.name, own.parameters, own.assumptions, (), Condition(), inputs, signature.outputs, (), ())
    bound = [tuple((array.name, array.name) for array in arrays) for arrays in (inputs, signature.outputs)]
    return Phase(program, bound[0], bound[1])


def _plan(nest: Nest, phases: tuple[Phase, ...], shared: Sequence[Storage]) -> Plan:
    whole = nest_signature(nest)
    return Plan(
        nest.name,
        nest.parameters,
        nest.assumptions,
        simd.read_arrays(nest),
        whole.outputs,
        tuple(map(storage_array, shared)),
        phases,
    )
