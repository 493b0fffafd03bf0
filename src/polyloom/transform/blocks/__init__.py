# SPDX-License-Identifier: Apache-2.0
"""Plans of blocks (loop tiling: Irigoin, Triolet 1988; Wolfe 1987): loops of steps over blocks, around phases that see
windows of arrays.

    cut.py      loops -> loops of steps over blocks, and the part of the nest that each block is
    order.py    is that legal; which locals carry values between blocks
    tiled_loops.py  loops of steps of the user's own
    windows.py  block -> nest of its own, with windows
    this file   nests of blocks -> plan

A machine whose FIFOs and banks hold a block then runs any size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.ir.nest import Loop, Nest, Storage, accesses, assignments, loop_nodes, taken_names
from polyloom.ir.nest_rewrite import Rewriter, mentioned_symbols
from polyloom.ir.pla import Array, Reference
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.steps import Steps, Tree, as_loop, leaves, loops
from polyloom.names import fresh_name
from polyloom.sets import Affine, Condition, Polyhedron
from polyloom.sets.normal_form import normalize
from polyloom.transform.blocks.cut import Block, cut_blocks, strip_extent
from polyloom.transform.blocks.order import check_order, crossing_locals, place_statements
from polyloom.transform.blocks.windows import BlockNest, Origin, block_nest
from polyloom.transform.dataflow import analyse
from polyloom.transform.phases import make_plan
from polyloom.transform.stepped_plan import constant_shape, counter_bounds, number_programs, project_parameters


def plan_blocks(
    nest: Nest, whole: Plan, sizes: Mapping[str, int], reassociate: bool = False, of_any_size: bool = False
) -> Plan:
    """Plan of a checked nest in blocks of `sizes`, by the names of loops; `whole` is its plan without blocks, which
    says what is given and what is a result. With `of_any_size`, programs of phases do not know how large blocks are:
    those of other sizes are the same. Errors: PL0266 and PL0267 where blocks change what is computed, PL0265 for
    bounds, PL0824 for names and sizes, and those of a plan.
    """
    cut, crossing = _legal_blocks(nest, loop_sizes(nest, sizes))
    return _Blocks(nest, cut, crossing, reassociate, of_any_size).plan(whole)


def _legal_blocks(nest: Nest, sizes: Mapping[str, int]) -> tuple[Tree[Block], dict[str, int]]:
    """Blocks that keep the order of accesses. Loops around cut ones that are not cut themselves lie whole in each
    block, as far as that is legal; else the outer ones are loops of steps, one iteration each.
    """
    outer = [loop.name for loop in loop_nodes(nest.body) if loop.name not in sizes and _has_cut(loop, sizes)]
    for count in range(len(outer) + 1):
        cut = cut_blocks(nest, {**sizes, **dict.fromkeys(outer[:count], 1)})
        placed = place_statements(nest, cut)
        try:
            crossing = crossing_locals(nest, placed)
            check_order(nest, placed, crossing)
        except PolyloomError:
            if count == len(outer):
                raise
        else:
            return cut, crossing
    raise AssertionError("one more try than there are loops")


def _has_cut(loop: Loop, sizes: Mapping[str, int]) -> bool:
    return any(inner.name in sizes for inner in loop_nodes(loop.body))


def loop_sizes(nest: Nest, sizes: Mapping[str, int]) -> dict[str, int]:
    """Block sizes by the nest's own names of loops: a name is that of all loops that the source calls so, or the
    nest's own name of one of them, which takes precedence. Errors: PL0824.
    """
    loops = list(loop_nodes(nest.body))
    found, numbered = dict[str, int](), dict[str, int]()
    for name, size in sizes.items():
        called = {loop.name: size for loop in loops if name == (loop.called or loop.name)}
        own = {loop.name: size for loop in loops if name == loop.name}
        if not called and not own:
            message = f"there is no loop `{name}` to cut into blocks"
            known = dict.fromkeys(loop.called or loop.name for loop in loops)
            raise PolyloomError(Diagnostic("PL0824", message, USAGE, help=nearest(name, known, "loop")))
        if size < 1:
            message = f"a block of {size} iterations of `{name}` is none"
            raise PolyloomError(Diagnostic("PL0824", message, USAGE, help="give a size of at least 1"))
        found |= called
        numbered |= {} if called else own
    return found | numbered


@dataclass
class _Blocks:
    """Plans of blocks. Mutable: arrays that are made between phases, and names that are taken."""

    nest: Nest
    cut: Tree[Block]
    crossing: Mapping[str, int]
    reassociate: bool
    of_any_size: bool = False

    def __post_init__(self) -> None:
        self.taken = {*taken_names(self.nest), *(loop.counter for loop in loops(self.cut))}
        self.between = dict[str, Array]()

    def plan(self, whole: Plan) -> Plan:
        body = number_programs(self.nest, self.tree(self.cut, ()))
        used = dict.fromkeys(outer for phase, _ in leaves(body) for _, outer in (*phase.inputs, *phase.outputs))
        known = {a.name for a in (*whole.inputs, *whole.outputs)}
        # What an argument holds at entry may show nowhere; then the whole plan does not take it, whoever reads it.
        found = {s.name: Array(s.name, s.dtype, s.shape) for s in self.nest.storage if s.role == "argument"}
        found |= self.between
        between = tuple(found[name] for name in used if name in found and name not in known)
        return replace(whole, intermediates=between, body=body)

    def tree(self, cut: Tree[Block], around: tuple[Steps[Block], ...]) -> Tree[Phase]:
        found: list[Phase | Steps[Phase]] = []
        for node in cut:
            loop = as_loop(node)
            if loop is not None:
                body = self.tree(loop.body, (*around, loop))
                found.append(replace(loop, body=body))  # pyright: ignore[reportArgumentType]
            elif isinstance(node, Block):
                found += self.phases(node, around)
        return tuple(found)

    def phases(self, block: Block, around: tuple[Steps[Block], ...]) -> tuple[Phase, ...]:
        """Phases of one block: mostly one."""
        counters = frozenset(loop.counter for loop in around)
        sub = replace(self.nest, storage=self.storage(block))
        nodes = _Elements(block, self.crossing).nodes(block.nodes)
        peeled = None if block.peeled is None else replace(block.peeled, loop=nodes[-1])
        block = replace(block, nodes=nodes, peeled=peeled)
        made = block_nest(sub, block, counters, set(self.taken))
        own = self.sub_nest(sub, made, around)
        plan = make_plan(own, analyse(own, self.reassociate))
        windows = {name: (outer, origin) for name, (outer, origin, _) in made.windows.items()}
        renamed = {a.name: self.intermediate(a, made) for a in plan.intermediates}
        windows |= {
            name: (outer, (Affine((), 0),) * len(a.shape))
            for (name, outer), a in zip(renamed.items(), plan.intermediates, strict=True)
        }
        return tuple(_bind_windows(phase, made, windows) for phase in plan.phases)

    def storage(self, block: Block) -> tuple[Storage, ...]:
        """Storage of a block's nest: locals whose values cross are arguments with an element for each iteration."""
        used = {r.name for a in assignments(block.nodes) for r in (a.target, *accesses(a.value))}
        return tuple(
            self.expand_local(s, block) if s.name in self.crossing and s.name in used else s for s in self.nest.storage
        )

    def expand_local(self, storage: Storage, block: Block) -> Storage:
        """Array expansion (Feautrier 1988) of a local by the strips that all blocks with it have in common."""
        around = block.strips[: self.crossing[storage.name]]
        extents = [strip_extent(strip, around[:n]) for n, strip in enumerate(around)]
        shape = constant_shape((*extents, *storage.shape), self.nest, self.cut)
        made = replace(storage, shape=shape, role="argument", writable=True)
        self.between.setdefault(storage.name, Array(storage.name, storage.dtype, made.shape))
        return made

    def intermediate(self, array: Array, made: BlockNest) -> str:
        """Name of an array between phases of one block, large enough for every block."""
        most = {name: bounds[0] for name, bounds in made.arguments.items()}
        name = fresh_name(array.name, self.taken)
        shape = constant_shape(tuple(e.substitute(most) for e in array.shape), self.nest, self.cut)
        self.between[name] = replace(array, name=name, shape=shape)
        return name

    def sub_nest(self, sub: Nest, made: BlockNest, around: tuple[Steps[Block], ...]) -> Nest:
        """A block's nest with the parameters that it needs, and windows for arrays."""
        used = {r.name for a in assignments(made.nodes) for r in (a.target, *accesses(a.value))}
        own = [s for s in sub.storage if s.name in used and s.name not in made.windows]
        own += [replace(sub[outer], name=name, shape=extents) for name, (outer, _, extents) in made.windows.items()]
        symbols = _symbols(made, own)
        inside = [loop for loop in around if loop.counter in symbols]
        bounds = [c for loop in inside for c in counter_bounds(loop.counter, loop.lower, loop.upper)]
        symbols |= frozenset[str]().union(*(c.symbols for c in bounds))
        sizes = {n: b[0].constant for n, b in made.arguments.items() if n in symbols}
        bounds += [Affine.symbol(n) for n in sizes]
        # A partial block ends with its loop.
        bounds += [
            b - Affine.symbol(n) for n in sizes for b in made.arguments[n][self.of_any_size :] if b.symbols <= symbols
        ]
        assumptions, kept = project_parameters(self.nest.assumptions, self.nest.parameters, symbols)
        parameters = (*kept, *(loop.counter for loop in inside), *sizes)
        pieces = tuple(Polyhedron((*p.constraints, *bounds)) for p in assumptions.pieces)
        return Nest(sub.name, parameters, normalize(Condition(pieces)), tuple(own), made.nodes, sub.span)


def _symbols(made: BlockNest, storage: Sequence[Storage]) -> frozenset[str]:
    """Parameters and counters that a block's nest mentions."""
    found = mentioned_symbols(made.nodes).union(*(form.symbols for s in storage for form in s.shape))
    return found - {loop.name for loop in loop_nodes(made.nodes)}


class _Elements(Rewriter):
    """References to locals whose values cross: the element of the iteration of the outer strips."""

    def __init__(self, block: Block, crossing: Mapping[str, int]) -> None:
        self.block, self.crossing = block, crossing

    def reference(self, reference: Reference) -> Reference:
        if reference.name not in self.crossing:
            return reference
        strips = self.block.strips[: self.crossing[reference.name]]
        own = tuple(Affine.symbol(strip.loop.name) - strip.first for strip in strips)
        return replace(reference, index=(*own, *reference.index))


def _bind_windows(phase: Phase, made: BlockNest, windows: Mapping[str, tuple[str, Origin]]) -> Phase:
    """A phase of a block's nest with the arrays and parameters of the whole plan."""

    def bind(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
        return tuple((inner, windows[own][0] if own in windows else own) for inner, own in pairs)

    origins = tuple((i, windows[own][1]) for i, own in dict((*phase.inputs, *phase.outputs)).items() if own in windows)
    arguments = tuple(made.arguments.get(p, (Affine.symbol(p),)) for p in phase.program.parameters)
    return replace(phase, inputs=bind(phase.inputs), outputs=bind(phase.outputs), arguments=arguments, windows=origins)
