# SPDX-License-Identifier: Apache-2.0
"""Processor classes: elements whose specialized syntax trees are equal (paper section 6.1, Algorithm 1).

Conditions are constant over a group of tiles (`concretize`); what else tells elements apart is which output ports drive
something. A destination whose port drives nothing is don't-care there: it takes the pattern of the nearest element,
against the direction of travel, that does drive it, so that border elements fall into the classes of their neighbours.
A class in which no element drives a port does not write that port at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from tests.targets.tcpa.instantiate.oracle.concretize import Element, Tiles

from polyloom.targets.tcpa.run import scan_sets
from polyloom.targets.tcpa.words.concrete import Domain
from polyloom.targets.tcpa.words.isa import File, Register, Source
from polyloom.targets.tcpa.words.symbolic import Kind, Link
from polyloom.targets.tcpa.words.syntax_tree import InstructionNode, Leaf, Piece, UnitNode, build_tree, tile_bounds


@dataclass(frozen=True, slots=True)
class Fragment:
    """A leaf: operand `position`, or a destination where that is None, and the iterations in which it is part of the
    program."""

    position: int | None
    source: Source
    domain: Domain


@dataclass(frozen=True, slots=True)
class Operation:
    """An instruction at offset tau of a unit, issued in `domain`, with its fragments."""

    tau: int
    opcode: int
    domain: Domain
    fragments: tuple[Fragment, ...]


UnitTree = tuple[Operation, ...]
"""What one functional unit does in one tile: the operations with a nonempty domain, by tau."""


@dataclass(frozen=True, slots=True)
class Classes:
    """`units` are the distinct unit trees by first occurrence; `programs[c][u]` is the number of the one that unit u
    has in class c, -1 where it has none. `element[r, c]` is -1 for an empty tile; `groups[c]` are the groups in the
    class."""

    units: tuple[UnitTree, ...]
    programs: tuple[tuple[int, ...], ...]
    element: NDArray[np.int64]
    groups: tuple[tuple[int, ...], ...]


class Traffic:
    """Which tiles are not empty, and over which routes and output registers of a tiling tokens pass, by element."""

    def __init__(self, tiles: Tiles) -> None:
        self.tiles = tiles
        self._driven: dict[int, NDArray[np.bool_]] = {}
        self._reads: dict[tuple[int, Element], Piece] = {}

    @cached_property
    def occupied(self) -> NDArray[np.bool_]:
        """Elements with an iteration of some equation."""
        conditions = sorted({n.condition for n in self.tiles.tiling.symbolic.nodes})
        return self._where([any(self.tiles.condition(c, g) for c in conditions) for g in range(len(self.tiles.leader))])

    @cached_property
    def arriving(self) -> list[NDArray[np.bool_]]:
        """By route: the elements that read tokens from it."""
        candidate = self.tiles.tiling.candidate
        readers: list[list[Piece]] = [[] for _ in candidate.routes]
        for u, links in enumerate(candidate.links):
            for link in links:
                if link.kind is Kind.CHANNEL:
                    readers[link.register].append(self.reads(u, link))
        return [
            self._where([any(self.tiles.piece(p, g) for p in pieces) for g in range(len(self.tiles.leader))])
            for pieces in readers
        ]

    @cached_property
    def leaving(self) -> list[NDArray[np.bool_]]:
        """By route: the elements that send tokens over it."""
        candidate = self.tiles.tiling.candidate
        return [_moved(a, r.displacement) & self.occupied for a, r in zip(self.arriving, candidate.routes, strict=True)]

    def driven(self, register: int) -> NDArray[np.bool_]:
        """The elements whose output register drives something."""
        if register not in self._driven:
            self._driven[register] = self._drives(register)
        return self._driven[register]

    def _drives(self, register: int) -> NDArray[np.bool_]:
        candidate, symbolic = self.tiles.tiling.candidate, self.tiles.tiling.symbolic
        found = np.zeros(self.tiles.group.shape, dtype=np.bool_)
        for route, leaving in zip(candidate.routes, self.leaving, strict=True):
            if route.output == register:
                found |= leaving
        for output, o in zip(symbolic.outputs, candidate.output_registers, strict=True):
            if o == register:
                found |= self.accessing(symbolic.nodes[output.producer].condition)
        return found

    def accessing(self, condition: int) -> NDArray[np.bool_]:
        """The elements with an iteration in a condition."""
        return self._where([bool(self.tiles.condition(condition, g)) for g in range(len(self.tiles.leader))])

    def reads(self, use: int, link: Link) -> Piece:
        """The iterations that read `use` over `link`."""
        if (use, link.displacement) not in self._reads:
            tiling = self.tiles.tiling
            consumer = tiling.symbolic.nodes[tiling.symbolic.uses[use].consumer]
            self._reads[use, link.displacement] = Piece(
                consumer.condition, tile_bounds(tiling.distances[use], link.displacement, tiling.candidate)
            )
        return self._reads[use, link.displacement]

    def _where(self, by_group: Sequence[bool]) -> NDArray[np.bool_]:
        return np.array(by_group, dtype=np.bool_)[self.tiles.group]


def _moved(mask: NDArray[np.bool_], displacement: Element) -> NDArray[np.bool_]:
    """`mask[k + displacement]`, false outside of the region."""
    rows, columns = _coordinates(mask.shape)
    rows, columns = rows + displacement[0], columns + displacement[1]
    inside = (rows >= 0) & (rows < mask.shape[0]) & (columns >= 0) & (columns < mask.shape[1])
    return inside & mask[np.where(inside, rows, 0), np.where(inside, columns, 0)]


def _coordinates(shape: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row and column number of every element of a region."""
    rows, columns = np.arange(shape[0], dtype=np.int64)[:, None], np.arange(shape[1], dtype=np.int64)[None, :]
    return np.broadcast_to(rows, shape), np.broadcast_to(columns, shape)


def classify(tiles: Tiles, traffic: Traffic) -> Classes:
    """The classes of a tiling, numbered by their first element in row-major order."""
    units = build_tree(tiles.tiling.symbolic, tiles.tiling.number).units
    specialized = _Specialized(units, tiles, traffic)
    marks = np.stack([mark for marks in specialized.marks for mark in marks], axis=-1)
    lines = np.where(traffic.occupied[..., None], marks, -1).reshape(tiles.group.size, -1)
    _, first, inverse = np.unique(lines, axis=0, return_index=True, return_inverse=True)
    kinds = inverse.reshape(tiles.group.shape)
    same: dict[tuple[int, ...], list[int]] = {}
    for kind in np.argsort(first).tolist():
        place = divmod(int(first[kind]), tiles.group.shape[1])
        if traffic.occupied[place]:
            same.setdefault(specialized.at(place), []).append(kind)
    element = np.full(tiles.group.shape, -1, dtype=np.int64)
    programs: dict[tuple[int, ...], int] = {}
    for numbers, members in same.items():
        where = np.isin(kinds, members)
        silent = frozenset(r for r in _sending(units) if not traffic.driven(r)[where].any())
        element[where] = programs.setdefault(tuple(specialized.without(n, silent) for n in numbers), len(programs))
    groups = tuple(tuple(int(g) for g in np.unique(tiles.group[element == c])) for c in range(len(programs)))
    return Classes(tuple(specialized.pruned), tuple(programs), element, groups)


def _marks(unit: UnitNode, tiles: Tiles, traffic: Traffic) -> list[NDArray[np.int64]]:
    """What tells elements apart for a unit: its conditions, and of ports that drive nothing those of the elements that
    they take their patterns from."""
    instructions = [i for o in unit.offsets for i in o.instructions]
    pieces = [
        p for i in instructions for position in (*i.sources, *i.destinations) for leaf in position for p in leaf.pieces
    ]
    alike = tiles.alike(
        {p.condition for p in pieces}
        | {tiles.tiling.symbolic.nodes[v].condition for i in instructions for v in i.nodes}
    )
    marks = [alike]
    for register, displacements in _sending((unit,)).items():
        driven = traffic.driven(register)
        marks += [driven.astype(np.int64), *(np.where(driven, -1, alike[_clamped(tiles, d)]) for d in displacements)]
    return marks


def _sending(units: Sequence[UnitNode]) -> dict[int, tuple[Element, ...]]:
    """Output registers that send to neighbours, with the displacements."""
    found: dict[int, dict[Element, None]] = {}
    for instruction in (i for u in units for o in u.offsets for i in o.instructions):
        for leaf in (leaf for position in instruction.destinations for leaf in position):
            for piece in leaf.pieces:
                if piece.widen is not None and isinstance(leaf.fragment, Register):
                    found.setdefault(leaf.fragment.index, {})[piece.widen] = None
    return {register: tuple(found[register]) for register in sorted(found)}


def _clamped(tiles: Tiles, displacement: Element) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For every element the nearest one whose neighbour at `displacement` has a tile; itself where there is none."""
    tiling = tiles.tiling
    rows, columns = _coordinates(tiles.group.shape)
    counts = tiling.tiles_of(tiling.candidate.rows), tiling.tiles_of(tiling.candidate.columns)
    if any(d and count <= abs(d) for d, count in zip(displacement, counts, strict=True)):
        return rows, columns
    (down, right), (height, width) = displacement, counts
    return np.clip(rows, max(0, -down), height - 1 - max(0, down)), np.clip(
        columns, max(0, -right), width - 1 - max(0, right)
    )


class _Specialized:
    """Unit trees, each made once for equal `marks` (by unit), and numbered; `pruned` are those without silent
    destinations."""

    def __init__(self, units: Sequence[UnitNode], tiles: Tiles, traffic: Traffic) -> None:
        self.marks = [_marks(unit, tiles, traffic) for unit in units]
        self.pruned: dict[UnitTree, int] = {}
        self._units, self._tiles, self._traffic = units, tiles, traffic
        self._trees: dict[UnitTree, int] = {}
        self._known: dict[tuple[int, ...], int] = {}
        self._without: dict[tuple[int, frozenset[int]], int] = {}

    def at(self, element: Element) -> tuple[int, ...]:
        """The numbers of the trees of all units of an element, by unit; -1 for a unit without operations."""
        numbers = [-1] * len(self._tiles.tiling.symbolic.limits.units)
        for unit, marks in zip(self._units, self.marks, strict=True):
            key = unit.unit, *(int(m[element]) for m in marks)
            if key not in self._known:
                self._known[key] = _number(self._trees, _specialize(unit, self._tiles, self._traffic, element))
            numbers[unit.unit] = self._known[key]
        return tuple(numbers)

    def without(self, number: int, silent: frozenset[int]) -> int:
        """The number among `pruned` of a tree without the destinations that drive nothing in any element of the
        class."""
        if number >= 0 and (number, silent) not in self._without:
            self._without[number, silent] = _number(self.pruned, _prune(list(self._trees)[number], silent))
        return self._without.get((number, silent), -1)


def _number(trees: dict[UnitTree, int], tree: UnitTree) -> int:
    return trees.setdefault(tree, len(trees)) if tree else -1


def _specialize(unit: UnitNode, tiles: Tiles, traffic: Traffic, element: Element) -> UnitTree:
    operations = ((o.tau, i, _issues(i, tiles, element)) for o in unit.offsets for i in o.instructions)
    return tuple(
        Operation(tau, i.opcode, issues, _fragments(i, tiles, traffic, element))
        for tau, i, issues in operations
        if issues
    )


def _issues(instruction: InstructionNode, tiles: Tiles, element: Element) -> Domain:
    nodes = tiles.tiling.symbolic.nodes
    group = int(tiles.group[element])
    return tiles.union(s for v in instruction.nodes for s in tiles.condition(nodes[v].condition, group))


def _fragments(instruction: InstructionNode, tiles: Tiles, traffic: Traffic, element: Element) -> tuple[Fragment, ...]:
    group = int(tiles.group[element])
    found = [
        Fragment(k, leaf.fragment, tiles.union(s for p in leaf.pieces for s in tiles.piece(p, group)))
        for k, position in enumerate(instruction.sources)
        for leaf in position
    ]
    written = sorted(
        (leaf for position in instruction.destinations for leaf in position), key=lambda leaf: _register(leaf)
    )
    found += [
        Fragment(None, leaf.fragment, _destination(leaf, instruction, tiles, traffic, element)) for leaf in written
    ]
    return tuple(f for f in found if f.domain)


def _register(leaf: Leaf) -> tuple[int, int]:
    assert isinstance(leaf.fragment, Register), "a result is written to registers"
    return int(leaf.fragment.file), leaf.fragment.index


def _destination(leaf: Leaf, instruction: InstructionNode, tiles: Tiles, traffic: Traffic, element: Element) -> Domain:
    group = int(tiles.group[element])
    sends = any(p.widen is not None for p in leaf.pieces)
    if not sends or traffic.driven(_register(leaf)[1])[element]:
        return tiles.union(s for p in leaf.pieces for s in tiles.piece(p, group))
    inside = _issues(instruction, tiles, element)
    patterns = [
        s for p in leaf.pieces if p.widen is not None for s in tiles.piece(p, _group_at(tiles, p.widen, element))
    ]
    return tiles.union(t for s in patterns for i in inside if (t := scan_sets.intersect(s, i)) is not None)


def _group_at(tiles: Tiles, displacement: Element, element: Element) -> int:
    rows, columns = _clamped(tiles, displacement)
    return int(tiles.group[rows[element], columns[element]])


def _prune(unit: UnitTree, silent: frozenset[int]) -> UnitTree:
    def drives(f: Fragment) -> bool:
        return not (
            f.position is None
            and isinstance(f.source, Register)
            and f.source.file is File.IO
            and f.source.index in silent
        )

    return tuple(Operation(o.tau, o.opcode, o.domain, tuple(f for f in o.fragments if drives(f))) for o in unit)
