# SPDX-License-Identifier: Apache-2.0
"""Branches as functions of shared control signals: where first fit exceeds the machine's, fewer do, and nothing in them
is superfluous."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.targets.tcpa.end_to_end.test_examples import mapped
from tests.targets.tcpa.instantiate.oracle.cells import count
from tests.targets.tcpa.instantiate.oracle.sharing import share
from tests.targets.tcpa.instantiate.test_native import native, same
from tests.targets.tcpa.instantiate.test_random import mappings, programs

from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.run import scan_sets
from polyloom.targets.tcpa.run.verify import verify_concrete
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.concrete import ConvexSet, Domain
from polyloom.targets.tcpa.words.symbolic import Symbolic

SIZES = {"N": 7, "M": 5, "K": 3}


def limited(configuration: Symbolic, signals: int, sets: int | None = 64) -> Symbolic:
    return replace(configuration, limits=replace(configuration.limits, control_signals=signals, signal_sets=sets))


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_library_and_oracle_share_alike(data: st.DataObject) -> None:
    program, values = data.draw(programs())
    mapping = data.draw(mappings(len(program.dims)))
    same(
        limited(mapping.of(program), data.draw(st.integers(0, 6)), data.draw(st.sampled_from((None, 2, 5)))),
        values,
        *data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4))),
    )


def test_less_than_half_of_the_signals_do_and_none_is_superfluous() -> None:
    plenty, few = (native(c, SIZES, 4, 4) for c in (mapped("matmul", "wide"), limited(mapped("matmul", "wide"), 6)))
    assert (few[0], verify_concrete.verify(few[1], machine_file.load("wide"))) == (0, ())
    made, full = concrete_file.decode(few[1]), concrete_file.decode(plenty[1])
    assert (made.rows, made.columns) == (full.rows, full.columns)
    assert (len(made.controller.signals), len(full.controller.signals)) == (6, 14)


STEPS = [(i, k) for k in range(4) for i in range(5)]


@st.composite
def branches(draw: st.DrawFn) -> list[dict[int, Domain]]:
    """Each step leaves each kernel for one successor or does not meet it."""
    found: list[dict[int, Domain]] = []
    for _ in range(draw(st.integers(1, 12))):
        successor = draw(st.lists(st.integers(0, draw(st.integers(2, 5))), min_size=len(STEPS), max_size=len(STEPS)))
        points = {
            w: tuple(ConvexSet(p, p) for p, x in zip(STEPS, successor, strict=True) if x == w)
            for w in sorted(set(successor))
            if w
        }
        found += [points] if len(points) > 1 else []
    return found


@given(branches(), st.integers(0, 12))
@settings(max_examples=40, deadline=None)
def test_every_step_finds_its_successor(drawn: list[dict[int, Domain]], signals: int) -> None:
    limits = limited(mapped("fir", "wide"), signals).limits
    shared = share(drawn, limits) if drawn else None
    if shared is None:
        return
    domains, found = shared
    assert len(domains) <= signals
    for edges, branching in zip(drawn, found, strict=True):
        assert len(branching.signals) <= limits.branch_flags
        for successor, domain in edges.items():
            for s in domain:
                code = sum(scan_sets.contains(domains[n], s.lower) << i for i, n in enumerate(branching.signals))
                assert branching.targets[code] == successor


def test_a_function_of_two_signals_needs_no_third() -> None:
    box = {i: ConvexSet((i, 0), (i, 3)) for i in range(4)}
    pairs: list[Mapping[int, Domain]] = [
        {0: (box[0], box[1]), 1: (box[2], box[3])},
        {0: (box[0], box[2]), 1: (box[1], box[3])},
        {0: (box[0], box[3]), 1: (box[1], box[2])},
        {w: (s,) for w, s in box.items()},
    ]
    shared = share(pairs, mapped("fir", "wide").limits)
    assert shared is not None
    assert len(shared[0]) == 2
    assert {b.signals for b in shared[1]} <= {(0,), (1,), (0, 1)}


def test_codes_to_spare_leave_signals_free() -> None:
    """Three successors leave one code of two signals to the second in frequency: where that is taken, one of both
    signals serves another branch."""
    box = {i: ConvexSet((i, 0), (i, 0)) for i in range(10)}
    three = {0: (box[9],), 1: tuple(box[i] for i in range(4, 9)), 2: (box[0], box[1], box[2], box[3])}
    shared = share([three, {0: (box[0], box[2]), 1: (box[1], box[3])}], mapped("fir", "wide").limits)
    assert shared is not None
    assert len(shared[0]) == 2


@pytest.mark.parametrize(("boxes", "cells"), [([(0, 3)], 1), ([(0, 3), (2, 5)], 3)])
def test_cells_are_counted(boxes: list[tuple[int, int]], cells: int) -> None:
    assert count([ConvexSet((a,), (b,)) for a, b in boxes]) == cells
