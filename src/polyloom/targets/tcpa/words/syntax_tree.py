# SPDX-License-Identifier: Apache-2.0
"""Polyhedral syntax tree of a candidate (the array paper, section 5.5): every program that its mapping stands for.

Root, functional unit, offset tau, instruction, operand position, leaf. A leaf is a fragment (a register or an
immediate) and the iterations in which it is part of the program, as a union of pieces. A piece is a condition on I and
bounds on the position within the tile that tell one tile displacement theta of a dependence from the others (the array
paper, section 5.1, Theta). The conditions of inner nodes are the unions of their children's, so they are not stored.

Equations that share a unit, an offset and an operation exclude each other (the schedule sees to it) and are one
instruction. The leaves of one position exclude each other too; values that an instruction writes at the same time have
one position each.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from polyloom.targets.tcpa.words.isa import File, Immediate, Register, Source
from polyloom.targets.tcpa.words.symbolic import Candidate, ImmediateOperand, InputOperand, Kind, Link, Symbolic, Use


class BoundKind(IntEnum):
    """How J_m relates to a constant c >= 0 and the tile size p_m."""

    AT_LEAST = 0
    """J_m >= c"""
    AT_MOST = 1
    """J_m <= c"""
    AT_LEAST_FROM_END = 2
    """J_m >= p_m - c"""
    AT_MOST_FROM_END = 3
    """J_m <= p_m - 1 - c"""


@dataclass(frozen=True, slots=True, order=True)
class TileBound:
    """A bound on J_m, the position within the tile along dimension m in the candidate's coordinates."""

    dimension: int
    kind: BoundKind
    constant: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Piece of a condition space: the iterations I in `conditions[condition]` whose position within the tile satisfies
    every bound of `tile`.

    `widen` is the displacement (rows, columns) of the neighbour that a destination sends to: where that neighbour does
    not exist the port drives nothing, and the piece may hold in any iteration (without that, border elements would be
    classes of their own; the array paper, Table 1).
    """

    condition: int
    tile: tuple[TileBound, ...] = ()
    widen: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A fragment and its iterations, the union of `pieces`."""

    fragment: Source
    pieces: tuple[Piece, ...]


Position = tuple[Leaf, ...]
"""The fragments that one operand position holds, each in its own iterations; never two in one."""


@dataclass(frozen=True, slots=True)
class InstructionNode:
    """`nodes` are the equations that this instruction executes. `sources[k]` is operand k; `destinations` is one
    position for every value copy that is written at the same time (none when no iteration uses the result)."""

    opcode: int
    nodes: tuple[int, ...]
    destinations: tuple[Position, ...]
    sources: tuple[Position, ...]


@dataclass(frozen=True, slots=True)
class OffsetNode:
    tau: int
    instructions: tuple[InstructionNode, ...]


@dataclass(frozen=True, slots=True)
class UnitNode:
    unit: int
    offsets: tuple[OffsetNode, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """The root; units, offsets and instructions (by first equation) ascend."""

    units: tuple[UnitNode, ...]


def build_tree(symbolic: Symbolic, candidate: int) -> Tree:
    """Polyhedral syntax tree of `symbolic.candidates[candidate]` (the array paper, section 5.5)."""
    mapping = symbolic.candidates[candidate]
    schedule = symbolic.schedules[mapping.schedule]
    places: dict[tuple[int, int, int], list[int]] = {}
    for v, node in enumerate(symbolic.nodes):
        # The guarded scheduler lets equations share a cell only where they exclude each other; with one opcode they are
        # one instruction.
        places.setdefault((schedule.unit[v], schedule.tau[v], node.opcode), []).append(v)
    ordered = sorted(places.items(), key=lambda place: (place[0][:2], place[1]))
    units: dict[int, dict[int, list[InstructionNode]]] = {}
    for (unit, tau, _), nodes in ordered:
        units.setdefault(unit, {}).setdefault(tau, []).append(_instruction(symbolic, mapping, nodes))
    return Tree(
        tuple(
            UnitNode(unit, tuple(OffsetNode(tau, tuple(i)) for tau, i in offsets.items()))
            for unit, offsets in units.items()
        )
    )


def distance(use: Use, candidate: Candidate) -> tuple[int, ...]:
    """Dependence vector d of `use` in the candidate's coordinates."""
    return tuple(-d if reflected else d for d, reflected in zip(use.distance, candidate.reflected, strict=True))


def tile_bounds(
    distance: tuple[int, ...], displacement: tuple[int, int], candidate: Candidate
) -> tuple[TileBound, ...]:
    """Tile bounds of a displacement (Theta(d) of the array paper, section 5.1): the positions J within a tile whose
    source J - d lies in the tile at -theta, theta given by its displacement on the array.

    Only allocated dimensions have more than one tile, hence bounds. The positions J' = J - d of the source are those of
    the reader of -d, so producers use the same rule with -d.
    """
    allocated = ((candidate.rows, displacement[0]), (candidate.columns, displacement[1]))
    return tuple(
        sorted(_tile_bound(m, distance[m], theta != 0) for m, theta in allocated if m is not None and distance[m])
    )


def _tile_bound(dimension: int, d: int, crosses: bool) -> TileBound:
    if d > 0:
        return (
            TileBound(dimension, BoundKind.AT_MOST, d - 1) if crosses else TileBound(dimension, BoundKind.AT_LEAST, d)
        )
    # A negative component: the source lies beyond the upper end of the tile where J_m >= p_m - |d|.
    kind = BoundKind.AT_LEAST_FROM_END if crosses else BoundKind.AT_MOST_FROM_END
    return TileBound(dimension, kind, -d)


@dataclass(frozen=True, slots=True)
class _Owned:
    """A piece of a fragment, and the equation that it serves."""

    node: int
    fragment: Source
    piece: Piece


def _instruction(symbolic: Symbolic, candidate: Candidate, nodes: list[int]) -> InstructionNode:
    arity = len(symbolic.nodes[nodes[0]].operands)
    sources = tuple(_leaves([o for v in nodes for o in _source(symbolic, candidate, v, k)]) for k in range(arity))
    written = _leaves_by_fragment([o for v in nodes for o in _destinations(symbolic, candidate, v)])
    positions: list[list[list[_Owned]]] = []
    for leaf in written:
        # Destinations that never hold together share a position: fewer positions mean fewer destination fields in a
        # word.
        fitting = (p for p in positions if all(_has_disjoint_pieces(a, b) for other in p for a in other for b in leaf))
        position = next(fitting, None)
        if position is None:
            positions.append([leaf])
        else:
            position.append(leaf)
    destinations = tuple(tuple(_leaf(leaf) for leaf in position) for position in positions)
    return InstructionNode(symbolic.nodes[nodes[0]].opcode, tuple(nodes), destinations, sources)


def _source(symbolic: Symbolic, candidate: Candidate, v: int, position: int) -> list[_Owned]:
    node = symbolic.nodes[v]
    operand = node.operands[position]
    if isinstance(operand, ImmediateOperand):
        return [_Owned(v, Immediate(operand.bits), Piece(node.condition))]
    if isinstance(operand, InputOperand):
        return [_Owned(v, Register(File.IO, candidate.input_registers[operand.input]), Piece(node.condition))]
    d = distance(symbolic.uses[operand.use], candidate)
    return [
        _Owned(
            v,
            _register(candidate, link, reads=True),
            Piece(node.condition, tile_bounds(d, link.displacement, candidate)),
        )
        for link in candidate.links[operand.use]
    ]


def _destinations(symbolic: Symbolic, candidate: Candidate, v: int) -> list[_Owned]:
    node = symbolic.nodes[v]
    if node.output is not None:
        # A node of an output has no consumer: the od is its only destination.
        return [_Owned(v, Register(File.IO, candidate.output_registers[node.output]), Piece(node.condition))]
    owned: list[_Owned] = []
    for use, links in zip(symbolic.uses, candidate.links, strict=True):
        # The producer's view of the same dependence: its consumer lies at +d.
        backwards = tuple(-c for c in distance(use, candidate))
        for writer in use.writers:
            if writer.node != v:
                continue
            for link in links:
                widen = link.displacement if link.kind is Kind.CHANNEL else None
                piece = Piece(writer.condition, tile_bounds(backwards, link.displacement, candidate), widen)
                owned.append(_Owned(v, _register(candidate, link, reads=False), piece))
    return owned


def _register(candidate: Candidate, link: Link, *, reads: bool) -> Register:
    if link.kind is Kind.GENERAL:
        return Register(File.RD, link.register)
    if link.kind is Kind.FEEDBACK:
        return Register(File.FD, link.register)
    route = candidate.routes[link.register]
    return Register(File.IO, route.input if reads else route.output)


def _leaves_by_fragment(owned: list[_Owned]) -> list[list[_Owned]]:
    leaves: dict[Source, list[_Owned]] = {}
    for o in owned:
        leaves.setdefault(o.fragment, []).append(o)
    return list(leaves.values())


def _leaf(owned: list[_Owned]) -> Leaf:
    return Leaf(owned[0].fragment, tuple(dict.fromkeys(o.piece for o in owned)))


def _leaves(owned: list[_Owned]) -> Position:
    return tuple(_leaf(leaf) for leaf in _leaves_by_fragment(owned))


def _has_disjoint_pieces(a: _Owned, b: _Owned) -> bool:
    """Disjointness, sufficient: two pieces surely share no iteration, by their equations, or by bounds on one J_m."""
    return a.node != b.node or any(
        _contradict_bounds(x, y) or _contradict_bounds(y, x) for x in a.piece.tile for y in b.piece.tile
    )


def _contradict_bounds(low: TileBound, high: TileBound) -> bool:
    if low.dimension != high.dimension:
        return False
    kinds = (low.kind, high.kind)
    if kinds == (BoundKind.AT_LEAST, BoundKind.AT_MOST):
        return high.constant < low.constant
    # J_m >= p - c and J_m <= p - 1 - c' exclude each other if c' >= c, whatever p is.
    return kinds == (BoundKind.AT_LEAST_FROM_END, BoundKind.AT_MOST_FROM_END) and high.constant >= low.constant
