# SPDX-License-Identifier: Apache-2.0
"""Processor classes and specialized syntax trees (section 6.1: Definitions 6.2 to 6.4, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import islpy as isl

from polyloom.cli.bench.isl.tiles import Tiles
from polyloom.targets.tcpa.words.isa import File, Register, Source
from polyloom.targets.tcpa.words.syntax_tree import InstructionNode, Leaf, Piece


@dataclass(frozen=True, slots=True)
class Fragment:
    """Operand `position`, or a destination where that is None; `domain` indexes `Leaves.maps`."""

    position: int | None
    source: Source
    domain: int


@dataclass(frozen=True, slots=True)
class Operation:
    """An instruction at offset tau of a unit, its domain and its fragments."""

    tau: int
    opcode: int
    domain: int
    fragments: tuple[Fragment, ...]


@dataclass(slots=True)
class Leaves:
    """The syntax tree after concretization: operations by unit, and the distinct maps K -> J of their conditions."""

    tiles: Tiles
    units: dict[int, tuple[Operation, ...]] = field(default_factory=dict[int, tuple[Operation, ...]])
    maps: list[isl.Map] = field(default_factory=list[isl.Map])
    _numbers: dict[object, int] = field(default_factory=dict[object, int])

    def number(self, key: object, pieces: Iterable[isl.Map]) -> int:
        """The index of a union of maps; equal keys mean equal unions."""
        if key not in self._numbers:
            self._numbers[key] = len(self.maps)
            self.maps.append(reduce(isl.Map.union, pieces).coalesce())
        return self._numbers[key]


def leaves(tiles: Tiles) -> Leaves:
    made = Leaves(tiles)
    for unit in tiles.prepared.tree:
        made.units[unit.unit] = tuple(_operation(made, o.tau, i) for o in unit.offsets for i in o.instructions)
    return made


def _operation(made: Leaves, tau: int, instruction: InstructionNode) -> Operation:
    conditions = [made.tiles.prepared.symbolic.nodes[v].condition for v in instruction.nodes]
    issued = made.number(frozenset(Piece(c) for c in conditions), (made.tiles.condition(c) for c in conditions))
    read = [
        Fragment(k, leaf.fragment, _read(made, leaf))
        for k, position in enumerate(instruction.sources)
        for leaf in position
    ]
    written = sorted((leaf for position in instruction.destinations for leaf in position), key=_register)
    return Operation(
        tau,
        instruction.opcode,
        issued,
        (*read, *(Fragment(None, leaf.fragment, _written_domain(made, leaf, issued)) for leaf in written)),
    )


def _register(leaf: Leaf) -> tuple[int, int]:
    assert isinstance(leaf.fragment, Register), "a result is written to registers"
    return int(leaf.fragment.file), leaf.fragment.index


def _read(made: Leaves, leaf: Leaf) -> int:
    return made.number(frozenset(leaf.pieces), map(made.tiles.piece, leaf.pieces))


def _written_domain(made: Leaves, leaf: Leaf, issued: int) -> int:
    """Where the port drives nothing the paper's classes need a don't-care: the pattern of the nearest element that
    drives it."""
    widening = [p for p in leaf.pieces if p.widen is not None]
    if not widening:
        return _read(made, leaf)
    register, tiles = _register(leaf)[1], made.tiles
    driven = tiles.driven(register)
    own = [tiles.piece(p).intersect_domain(driven) for p in leaf.pieces]
    idle = made.maps[issued].intersect_domain(tiles.region.subtract(driven))
    return made.number(
        (leaf.pieces, register, issued),
        [*own, *(tiles.clamp(p.widen).apply_range(tiles.piece(p)).intersect(idle) for p in widening if p.widen)],
    )


def processor_classes(made: Leaves) -> list[isl.Set]:
    """Algorithm 1 on the elements that have work, by the inter-tile domains of all leaves."""
    # Elements are in one class exactly if all leaves have the same intra-tile domains there (the paper's Definition
    # 6.3).
    tiles = made.tiles
    return [
        elements
        for elements, _ in partition(tiles.occupied, [k for leaf in made.maps for k in _patterns(leaf, tiles.occupied)])
    ]


def _patterns(leaf: isl.Map, elements: isl.Set) -> Iterator[isl.Set]:
    """The inter-tile domains: for the intra-tile domain of some tile all elements that have the same one (Definition
    6.3)."""
    rest = elements
    while not rest.is_empty():
        # Any element stands for its class: those with another image are split off, until none is left.
        split = isl.Set.from_point(rest.sample_point()).apply(leaf)
        here, wanted = leaf.intersect_domain(rest), isl.Map.from_domain_and_range(rest, split)
        others = here.subtract(wanted).domain().union(wanted.subtract(here).domain()).coalesce()
        yield rest.subtract(others).coalesce()
        rest = rest.intersect(others).coalesce()


def partition(space: isl.Set, conditions: Sequence[isl.Set]) -> list[tuple[isl.Set, int]]:
    """Algorithm 1; each part with the bit set of the conditions that hold in it."""
    parts = [(space, 0)]
    for c, condition in enumerate(conditions):
        found: list[tuple[isl.Set, int]] = []
        for part, held in parts:
            inside, outside = part.intersect(condition), part.subtract(condition)
            found += [
                (s.coalesce(), bits) for s, bits in ((inside, held | 1 << c), (outside, held)) if not s.is_empty()
            ]
        parts = found
    return parts


def specialize(made: Leaves, elements: isl.Set) -> tuple[dict[int, tuple[Operation, ...]], list[isl.Set]]:
    """The tree of a class, without what none of its tiles does, and the digits of every domain (Definition 6.2)."""
    tile = isl.Set.from_point(elements.sample_point())
    domains = [tile.apply(leaf).coalesce() for leaf in made.maps]
    empty = [d.is_empty() for d in domains]
    silent: Mapping[int, bool] = {r: elements.is_disjoint(made.tiles.driven(r)) for r in _sending_registers(made)}

    def has_effect(f: Fragment) -> bool:
        port = f.position is None and isinstance(f.source, Register) and f.source.file is File.IO
        return not empty[f.domain] and not (
            port and isinstance(f.source, Register) and silent.get(f.source.index, False)
        )

    def reduce_operations(operations: Iterable[Operation]) -> tuple[Operation, ...]:
        return tuple(
            Operation(o.tau, o.opcode, o.domain, tuple(filter(has_effect, o.fragments)))
            for o in operations
            if not empty[o.domain]
        )

    return {u: operations for u, all in made.units.items() if (operations := reduce_operations(all))}, domains


def _sending_registers(made: Leaves) -> set[int]:
    """Output registers that send to neighbours."""
    positions = (p for u in made.tiles.prepared.tree for o in u.offsets for i in o.instructions for p in i.destinations)
    return {
        _register(leaf)[1]
        for position in positions
        for leaf in position
        if any(p.widen is not None for p in leaf.pieces)
    }
