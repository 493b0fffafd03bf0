# SPDX-License-Identifier: Apache-2.0
"""When operands drop and what is visible, rule by rule of docs/targets/belt.md: each program shows one rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tests.targets.belt.run.programs import WORD, bundle, do, file, immediate, program

from polyloom.targets.belt import machine as machines
from polyloom.targets.belt.run import model
from polyloom.targets.belt.run.model import Argument, Run
from polyloom.targets.belt.words.program import NONE, Bundle, Issue, Routine
from polyloom.targets.belt.words.semantics import NaR

QUIET = Bundle((), 0)


def con(literal: int) -> Issue:
    return do("con", width="w", literal=literal)


def run(
    bundles: Sequence[Bundle],
    arguments: Sequence[Argument] = (7,),
    results: int = 1,
    phasing: bool = True,
    others: Sequence[Routine] = (),
    loops: tuple[tuple[int, int], ...] = (),
) -> Run:
    types = (WORD,) * len(arguments), (WORD,) * results
    main = Routine("main", tuple(bundles), loops, *types)
    return model.run(file(program(machines.member("silver", phasing), main, *others)), arguments, trace=True)


def numbers(found: Run) -> list[object]:
    return [lanes[0] for lanes in found.results]


def test_phases_see_each_other_in_one_bundle() -> None:
    """con, then add, then pick, then retn: everything in bundle 0."""
    bundles = [bundle(con(5), do("add", 0, 1), do("pick", 0, 1, 2), do("retn", 0), drops=3)]
    found = run(bundles)
    assert numbers(found) == [7]  # 12 is even: the second arm, which is b2
    assert found.cycles == 1


def test_without_phasing_a_bundle_reads_what_was_there_before() -> None:
    bundles = [bundle(con(5), immediate("add", 0, value=1), drops=2), bundle(do("retn", 0, 1, 2))]
    assert numbers(run(bundles, results=3, phasing=False)) == [5, 8, 7]  # equal latencies: E0 drops before F0


def test_the_longest_latency_drops_nearest_the_front() -> None:
    bundles = [
        bundle(do("mul", 0, 0, width="w")),
        QUIET,
        bundle(immediate("add", 0, value=1), immediate("sub", 0, value=1), drops=3),
        bundle(do("retn", 0, 1, 2)),
    ]
    assert numbers(run(bundles, results=3)) == [49, 6, 8]  # mul, then the higher slot, then the lower


def test_a_load_sees_the_store_before_its_last_bundle() -> None:
    """Issued before the store, it drops behind it: bundle 1's store is visible from bundle 2 on."""
    for delay, expected in ((3, 9), (4, 9)):
        array = np.array([1], np.int32)
        bundles = [
            bundle(do("load", 0, width="w", delay=delay)),
            bundle(con(9), do("store", 1, 0, width="w"), drops=1),
            bundle(drops=int(delay == 3)),
            bundle(drops=int(delay == 4)),
            bundle(do("retn", 0)),
        ]
        assert numbers(run(bundles, [array])) == [expected]


def test_a_store_is_not_seen_in_its_own_bundle() -> None:
    array = np.array([1], np.int32)
    bundles = [
        bundle(do("load", 0, width="w", delay=3)),
        QUIET,
        bundle(con(9), do("store", 2, 1, width="w"), drops=2),
        bundle(do("retn", 0)),
    ]
    assert numbers(run(bundles, [array])) == [1]
    assert array.tolist() == [9]


def test_stores_of_a_bundle_act_in_the_order_of_slots() -> None:
    array = np.array([1], np.int32)
    bundles = [
        bundle(con(8), con(9), drops=2),
        bundle(do("store", 2, 1, width="w"), do("store", 2, 0, width="w"), do("retn")),
    ]
    run(bundles, [array], results=0)
    assert array.tolist() == [9]


def test_the_first_transfer_that_happens_wins_and_its_bundle_is_done() -> None:
    array = np.array([1], np.int32)
    bundles = [
        bundle(con(1), con(0), drops=2),
        bundle(
            do("brtr", 0, target=0),
            do("brtr", 1, 1, target=3),
            do("store", 2, 1, width="w"),
            do("br", 0, target=2),
        ),
        bundle(con(50), do("retn", 0), drops=1),
        bundle(do("retn", 0)),
    ]
    slots = [i.slot.number for i in bundles[1].issues]
    assert slots == sorted(slots)
    assert numbers(run(bundles, [array])) == [1]
    assert array.tolist() == [1]


def test_frames_rotate() -> None:
    """What this pass spills at 0, the next one finds at 4; before, there is None."""
    scratch = do("scratchf", offset=12, frame=4, frames=2)
    bundles = [
        bundle(scratch, do("spill", 0, width="w")),
        QUIET,
        Bundle(bundle(do("fill", width="w", offset=4), drops=1).issues, 1, rotate=True),
        bundle(do("fill", width="w", offset=0), drops=1),
        bundle(do("retn", 1, 0)),
    ]
    assert numbers(run(bundles, results=2)) == [7, None]


def test_scratch_that_does_not_rotate_stays() -> None:
    grown = do("scratchf", offset=12, frame=4, frames=2)
    bundles = [
        bundle(do("scratchf", offset=4), do("spillx", 0, width="w")),
        bundle(grown),
        Bundle(bundle(do("fillx", width="w"), drops=1).issues, 1, rotate=True),
        bundle(do("retn", 0)),
    ]
    assert numbers(run(bundles)) == [7]


def test_leave_puts_results_on_the_belt_that_inner_left_and_results_in_flight_come() -> None:
    """The multiplication before the loop drops behind it; the one in the loop is discarded."""
    bundles = [
        bundle(do("mul", 0, 0, width="w"), do("inner", 0, NONE, target=1)),
        bundle(immediate("add", 0, value=1), do("mul", 0, 0, width="w"), do("leave", 0, target=2), drops=1),
        QUIET,
        Bundle((), 1),
        bundle(do("retn", 0, 1, 2)),
    ]
    found = run(bundles, results=3)
    assert numbers(found) == [49, 8, 7]


def test_what_nobody_issued_is_none_in_front() -> None:
    """The loop's first pass: the multiplication of the pass before is missing, and lies before the addition."""
    bundles = [
        bundle(do("inner", 0, target=1)),
        bundle(do("mul", 0, 0, width="w"), immediate("add", 0, value=1), do("leave", 0, 1, target=2), drops=2),
        bundle(do("retn", 0, 1)),
    ]
    assert numbers(run(bundles, results=2, loops=((1, 1),))) == [None, 8]


def other(*bundles: Bundle) -> Routine:
    return Routine("other", bundles, (), (WORD, WORD), (WORD, WORD))


def test_a_call_has_its_own_belt_and_its_callers_time_stands_still() -> None:
    callee = other(bundle(do("sub", 0, 1), drops=1), QUIET, QUIET, bundle(do("retn", 0, 2)))
    bundles = [
        bundle(do("mul", 1, 1, width="w"), con(10), do("call", 0, 1, callee="other"), drops=3),
        QUIET,
        Bundle((), 1),
        bundle(do("retn", 0, 1, 2, 3)),
    ]
    found = run(bundles, results=4, others=[callee])
    assert numbers(found) == [49, 3, 7, 10]
    assert (found.cycles, found.depth) == (8, 2)


@pytest.mark.parametrize(("predicate", "expected"), [(0, [None, None]), (1, [7, 7]), (NONE, [None, None])])
def test_a_call_with_a_predicate(predicate: int, expected: list[object]) -> None:
    callee = other(bundle(do("retn", 0, 1)))
    head = bundle(do("conform", 0, NONE)) if predicate == NONE else bundle(con(predicate), drops=1)
    at, argument = (1, 0) if predicate == NONE else (0, 1)
    bundles = [head, bundle(do("calltr", at, argument, argument, callee="other"), drops=2), bundle(do("retn", 0, 1))]
    assert numbers(run(bundles, results=2, others=[callee])) == expected


def test_vectors_by_lane() -> None:
    """A load beyond the last element gives NaR there alone; lanes of a store that are None are not done."""
    array = np.array([1, 2, 3], np.int32)
    bundles = [
        bundle(do("load", 1, width="w", lanes=4, delay=3), con(3), do("remaining", 0, lanes=4), drops=3),
        QUIET,
        Bundle((), 1),
        bundle(immediate("xor", 2, value=1), immediate("add", 0, value=10), do("pick", 1, 0), drops=3),
        bundle(do("store", 7, 0, width="w"), do("retn", 0)),
    ]
    found = run(bundles, [array])
    assert array.tolist() == [11, 12, 13]
    assert found.results == ((11, 12, 13, None),)
    assert isinstance(next(e for e in found.events if e.op == "add").value[3], NaR)


def test_a_trace_tells_bundle_slot_operation_and_value() -> None:
    found = run([bundle(con(5), do("add", 0, 1), do("retn", 0), drops=2)])
    assert [(e.cycle, e.bundle, e.slot, e.op, e.value) for e in found.events] == [
        (1, 0, "F0", "con", (5,)),
        (1, 0, "E0", "add", (12,)),
    ]
