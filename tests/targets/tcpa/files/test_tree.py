# SPDX-License-Identifier: Apache-2.0
"""The polyhedral syntax tree against section 5.5 of the paper, and its bounds against their definition."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from tests.targets.tcpa.files.paper import ALL, AND, EARLIER, FIRST, LATER, MOVE, SHR, SYMBOLIC

from polyloom.targets.tcpa.words.isa import File, Immediate, Register
from polyloom.targets.tcpa.words.syntax_tree import BoundKind, Leaf, Piece, TileBound, build_tree, tile_bounds

RD0, FD0, ID0, OD0, OD1 = (
    Register(File.RD, 0),
    Register(File.FD, 0),
    Register(File.IO, 0),
    Register(File.IO, 0),
    Register(File.IO, 1),
)


def test_the_running_example_is_the_tree_of_section_5_5() -> None:
    move, (shift, mask) = (unit.offsets for unit in build_tree(SYMBOLIC, 0).units)
    (s1_or_s2,) = move[0].instructions
    assert (move[0].tau, s1_or_s2.opcode, s1_or_s2.nodes) == (0, MOVE, (0, 1))
    assert s1_or_s2.destinations == ((Leaf(RD0, (Piece(FIRST), Piece(LATER))),),)
    first_of_tile, rest_of_tile = TileBound(0, BoundKind.AT_MOST, 0), TileBound(0, BoundKind.AT_LEAST, 1)
    assert s1_or_s2.sources == (
        (Leaf(ID0, (Piece(FIRST), Piece(LATER, (first_of_tile,)))), Leaf(FD0, (Piece(LATER, (rest_of_tile,)),))),
    )
    (s3,) = shift.instructions
    last_of_tile, before_last = (
        TileBound(0, BoundKind.AT_LEAST_FROM_END, 1),
        TileBound(0, BoundKind.AT_MOST_FROM_END, 1),
    )
    assert (shift.tau, s3.opcode) == (1, SHR)
    assert s3.destinations == (
        (Leaf(FD0, (Piece(EARLIER, (before_last,)),)), Leaf(OD0, (Piece(EARLIER, (last_of_tile,), (0, 1)),))),
    )
    assert s3.sources == ((Leaf(RD0, (Piece(ALL),)),), (Leaf(Immediate(1), (Piece(ALL),)),))
    (s4,) = mask.instructions
    assert (mask.tau, s4.opcode, s4.destinations) == (2, AND, ((Leaf(OD1, (Piece(ALL),)),),))


def _holds(bound: TileBound, j: int, p: int) -> bool:
    c = bound.constant
    return (j >= c, j <= c, j >= p - c, j <= p - 1 - c)[bound.kind]


@pytest.mark.parametrize("d", [-2, -1, 1, 2])
@pytest.mark.parametrize("p", [2, 3, 5])
def test_bounds_tell_the_tile_that_a_dependence_comes_from(d: int, p: int) -> None:
    """Iteration x = p*k + j reads x - d, which lies in tile k - theta (paper section 5.1); and its producer says the
    same."""
    (candidate,) = SYMBOLIC.candidates
    sign = 1 if d > 0 else -1
    for k, j, theta in product((0, 1), range(p), (0, sign)):
        x = p * k + j
        reads = all(_holds(b, j, p) for b in tile_bounds((d,), (0, theta), candidate))
        assert reads == ((x - d) // p == k - theta)
        writes = all(_holds(b, (x - d) % p, p) for b in tile_bounds((-d,), (0, theta), candidate))
        assert writes == (x // p == (x - d) // p + theta)


def test_values_written_together_have_a_position_each() -> None:
    """When y also has a consumer in its own iteration, it is written to an rd beside fd0 or od0."""
    uses = (*SYMBOLIC.uses, replace(SYMBOLIC.uses[0], consumer=3, distance=(0,)))
    (candidate,) = SYMBOLIC.candidates
    links = (*candidate.links, candidate.links[1])
    both = replace(SYMBOLIC, uses=uses, candidates=(replace(candidate, links=links),))
    destinations = build_tree(both, 0).units[1].offsets[0].instructions[0].destinations
    assert [[leaf.fragment for leaf in position] for position in destinations] == [[FD0, OD0], [RD0]]


def test_unallocated_dimensions_have_no_bounds() -> None:
    (candidate,) = SYMBOLIC.candidates
    assert tile_bounds((1,), (0, 0), replace(candidate, columns=None)) == ()
