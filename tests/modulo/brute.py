# SPDX-License-Identifier: Apache-2.0
"""Tiny modulo-scheduling problems: how to draw them, and their answers by enumeration.

A schedule is judged by unrolling it: iterations are laid side by side in time, and every cycle of every resource is
looked at. No interval is taken modulo anything.
"""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st

from polyloom.modulo.problem import Capacity, Choice, Dependence, Hold, Operation, Problem, Resource, Schedule, Use


@st.composite
def choices(draw: st.DrawFn, resources: int) -> Choice:
    use = st.builds(Use, st.integers(0, resources - 1), st.sampled_from((1, 1, 1, 2, 3, 5, 0)))
    latency = draw(st.integers(0, 3))
    most = latency + draw(st.integers(0, 3)) if draw(st.integers(0, 4)) == 0 else None
    return Choice(tuple(draw(st.lists(use, max_size=2))), latency, most)


@st.composite
def problems(draw: st.DrawFn, most: int = 3) -> Problem:
    resources = tuple(Resource(f"r{n}", draw(st.sampled_from((1, 1, 2, None)))) for n in range(draw(st.integers(1, 2))))
    operations = tuple(
        Operation(f"n{v}", tuple(draw(st.lists(choices(len(resources)), min_size=1, max_size=2))))
        for v in range(draw(st.integers(1, most)))
    )
    node = st.integers(0, len(operations) - 1)
    dependence = st.builds(
        Dependence,
        node,
        node,
        st.sampled_from((0, 0, 1, 1, 2)),
        st.sampled_from((0, 0, 0, 1, -1, -3)),
        st.sampled_from((None, None, None, 0, 2)),
        st.sampled_from((False, False, False, True)),
    )
    hold = st.builds(Hold, node, st.sampled_from((None, None, 1, 4)))
    capacity = st.builds(
        Capacity, st.just("stations"), st.integers(1, 4), st.lists(hold, min_size=1, max_size=2).map(tuple)
    )
    dependences = draw(st.lists(dependence, max_size=len(operations) + 1))
    return Problem(operations, resources, tuple(dependences), tuple(draw(st.lists(capacity, max_size=1))))


def is_valid(problem: Problem, schedule: Schedule) -> bool:
    return _keeps_dependences(problem, schedule, len(problem.operations)) and _keeps_limits(problem, schedule)


def _keeps_dependences(problem: Problem, schedule: Schedule, count: int) -> bool:
    """Of the first `count` operations: iteration `distance` of the sink follows iteration 0 of the source."""
    for d in problem.dependences:
        if max(d.source, d.sink) >= count:
            continue
        ready = schedule.start[d.source] + d.delay + (schedule.latency[d.source] if d.latency is None else d.latency)
        waits = schedule.start[d.sink] + schedule.interval * d.distance
        if (waits + schedule.latency[d.sink] if d.to_result else waits) < ready:
            return False
    return True


def _keeps_limits(problem: Problem, schedule: Schedule) -> bool:
    busy = [
        [(u.resource, u.busy) for u in problem.operations[v].choices[k].uses] for v, k in enumerate(schedule.choice)
    ]
    longest = max(
        [
            1,
            *schedule.latency,
            *(b for uses in busy for _, b in uses),
            *(h.busy or 0 for c in problem.capacities for h in c.holds),
        ]
    )
    last = max(schedule.start) + longest
    # In these cycles every iteration that can be under way is.
    window = range(last, last + schedule.interval)
    iterations = range(last // schedule.interval + 2)
    for cycle in window:
        held = [
            r
            for v, uses in enumerate(busy)
            for i in iterations
            for r, b in uses
            if 0 <= cycle - schedule.start[v] - i * schedule.interval < b
        ]
        if any(
            resource.limit is not None and held.count(r) > resource.limit
            for r, resource in enumerate(problem.resources)
        ):
            return False
    for capacity in problem.capacities:
        cycles = [(h.operation, schedule.latency[h.operation] if h.busy is None else h.busy) for h in capacity.holds]
        places = sum(
            max(sum(0 <= c - schedule.start[v] - i * schedule.interval < b for i in iterations) for c in window)
            for v, b in cycles
        )
        if places > capacity.limit:
            return False
    return True


def schedules(problem: Problem, interval: int, horizon: int) -> Iterator[Schedule]:
    """Every valid schedule with starts below `horizon`, by extending partial ones."""
    partial = [Schedule(interval, (), (), ())]
    for count, operation in enumerate(problem.operations, 1):
        ways = [
            (t, k, x)
            for t in range(horizon)
            for k, c in enumerate(operation.choices)
            for x in range(c.latency, c.longest + 1)
        ]
        grown = (
            Schedule(interval, (*s.start, t), (*s.choice, k), (*s.latency, x)) for s in partial for t, k, x in ways
        )
        partial = [s for s in grown if _keeps_dependences(problem, s, count)]
    yield from (s for s in partial if _keeps_limits(problem, s))
