# SPDX-License-Identifier: Apache-2.0
"""The fast sets agree with isl: every operation on random unions of boxes and half-spaces, too wide to be enumerated.

isl decides Presburger formulas exactly and shares no code with `digits`. `test_digits` compares with enumeration, on
small sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import combinations, product

import islpy as isl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.targets.tcpa.instantiate import samples
from tests.targets.tcpa.instantiate.naive import symbolic
from tests.targets.tcpa.instantiate.oracle import cells, stepping
from tests.targets.tcpa.instantiate.oracle.concretize import Tiles, space_bounds, tiling

from polyloom.targets.tcpa.run import scan_sets
from polyloom.targets.tcpa.words.concrete import ConvexSet, Domain, HalfSpace
from polyloom.targets.tcpa.words.request import check_parameters, signature

Raw = tuple[tuple[int, ...], tuple[int, ...], tuple[HalfSpace, ...]]


def linear(coefficients: Sequence[int], constant: int) -> str:
    return " + ".join([*(f"{a} * x{g}" for g, a in enumerate(coefficients) if a), str(constant)])


def isl_set(lower: Sequence[int], upper: Sequence[int], spaces: Iterable[HalfSpace]) -> isl.Set:
    """The constraints as they stand."""
    names = ", ".join(f"x{g}" for g in range(len(lower)))
    bounds = [f"{a} <= x{g} <= {b}" for g, (a, b) in enumerate(zip(lower, upper, strict=True))]
    return isl.Set(
        "{ ["
        + names
        + "] : "
        + " and ".join([*bounds, *(f"{linear(h.coefficients, h.constant)} >= 0" for h in spaces)])
        + " }"
    )


def union_of(domain: Iterable[ConvexSet], dimensions: int) -> isl.Set:
    nothing = isl.Set("{ [" + ", ".join(f"x{g}" for g in range(dimensions)) + "] : false }")
    return reduce(isl.Set.union, (isl_set(s.lower, s.upper, s.half_spaces) for s in domain), nothing)


def disjoint(domain: Sequence[ConvexSet]) -> bool:
    return all(union_of([a], len(a.lower)).is_disjoint(union_of([b], len(b.lower))) for a, b in combinations(domain, 2))


def bound(points: isl.Set, g: int, *, low: bool) -> int:
    value = points.dim_min_val(g) if low else points.dim_max_val(g)
    return int(value.to_python())


extents_of_a_scan = st.lists(st.integers(1, 3000), min_size=1, max_size=4).map(tuple)


@st.composite
def raw_sets(draw: st.DrawFn, extents: tuple[int, ...], spaces: int = 3) -> Raw:
    bounds = [sorted((draw(st.integers(0, e - 1)), draw(st.integers(0, e - 1)))) for e in extents]
    vectors = st.tuples(*(st.integers(-4, 4) for _ in extents))
    middle = [sum(b) // 2 for b in bounds]
    half: list[HalfSpace] = []
    for a, slack in draw(st.lists(st.tuples(vectors, st.integers(-40, 40)), max_size=spaces)):
        half.append(HalfSpace(a, slack - sum(x * m for x, m in zip(a, middle, strict=True))))  # cuts near the middle
    return tuple(a for a, _ in bounds), tuple(b for _, b in bounds), tuple(half)


@st.composite
def domains(draw: st.DrawFn, extents: tuple[int, ...], spaces: int = 1, most: int = 3) -> Domain:
    drawn = draw(st.lists(raw_sets(extents, spaces), min_size=1, max_size=most))
    return tuple(s for raw in drawn if (s := scan_sets.convex_set(*raw)) is not None)


@given(st.data())
@settings(max_examples=200)
def test_normal_form_emptiness_and_extrema(data: st.DataObject) -> None:
    raw = data.draw(extents_of_a_scan.flatmap(raw_sets))
    wanted, found = isl_set(*raw), scan_sets.convex_set(*raw)
    assert (found is None) == wanted.is_empty()
    if found is not None:
        assert isl_set(found.lower, found.upper, found.half_spaces).is_equal(wanted)
        assert found.lower == tuple(bound(wanted, g, low=True) for g in range(len(raw[0])))
        assert found.upper == tuple(bound(wanted, g, low=False) for g in range(len(raw[0])))
        assert scan_sets.convex_set(found.lower, found.upper, found.half_spaces) == found
        for h in found.half_spaces:
            assert not isl_set(found.lower, found.upper, [x for x in found.half_spaces if x != h]).is_equal(wanted), (
                "an implied half-space was kept"
            )


@given(st.data())
@settings(max_examples=100)
def test_intersection_complement_and_meeting(data: st.DataObject) -> None:
    extents = data.draw(extents_of_a_scan)
    a, b = data.draw(domains(extents)), data.draw(domains(extents))
    n = len(extents)
    common = union_of(a, n).intersect(union_of(b, n))
    assert union_of((s for x in a for y in b if (s := scan_sets.intersect(x, y)) is not None), n).is_equal(common)
    assert scan_sets.intersects(a, b) == (not common.is_empty())
    for s in a:
        for h in s.half_spaces:
            box = isl_set(s.lower, s.upper, ())
            assert isl_set(s.lower, s.upper, [stepping.negated(h)]).is_equal(
                box.subtract(isl_set(s.lower, s.upper, [h]))
            )


@given(st.data())
@settings(max_examples=100)
def test_union_and_hull(data: st.DataObject) -> None:
    extents = data.draw(extents_of_a_scan)
    domain = data.draw(domains(extents))
    assume(domain)
    n, wanted, found = len(extents), union_of(domain, len(extents)), cells.union(domain)
    assert union_of(found, n).is_equal(wanted)
    assert disjoint(found)
    hull = stepping.hull(found)
    assert hull.lower == tuple(bound(wanted, g, low=True) for g in range(n))
    assert hull.upper == tuple(bound(wanted, g, low=False) for g in range(n))


@given(st.data())
@settings(max_examples=60)
def test_partition(data: st.DataObject) -> None:
    extents = data.draw(st.lists(st.integers(1, 3000), min_size=1, max_size=3).map(tuple))
    families = data.draw(st.lists(domains(extents, most=2), min_size=1, max_size=4))
    n = len(extents)
    parts = cells.partition(families)
    assert disjoint([s for part in parts.values() for s in part.sets])
    for f, family in enumerate(families):
        assert union_of((s for key, part in parts.items() if key >> f & 1 for s in part.sets), n).is_equal(
            union_of(family, n)
        )


def moved(domain: Domain, steps: int, extents: tuple[int, ...]) -> isl.Set:
    """The digits of step(x) + steps, by the definition of a scan: the outermost digit has no upper bound."""
    weights = [1]
    for extent in extents[:-1]:
        weights.append(weights[-1] * extent)
    x, y = (", ".join(f"{v}{g}" for g in range(len(extents))) for v in "xy")
    step_of = {v: " + ".join(f"{w} * {v}{g}" for g, w in enumerate(weights)) for v in "xy"}
    digit = " and ".join([*(f"0 <= y{g} < {e}" for g, e in enumerate(extents[:-1])), f"y{len(extents) - 1} >= 0"])
    succ = isl.Map("{ [" + x + "] -> [" + y + "] : " + f"{step_of['y']} = {step_of['x']} + {steps} and {digit}" + " }")
    return union_of(domain, len(extents)).apply(succ)


@given(st.data())
@settings(max_examples=100)
def test_shift_along_the_scan(data: st.DataObject) -> None:
    extents = data.draw(st.lists(st.integers(1, 60), min_size=1, max_size=3).map(tuple))
    domain = data.draw(domains(extents, most=2))
    steps = data.draw(st.integers(-90, 5000))
    found = list(stepping.shift(domain, steps, extents))
    assert union_of(found, len(extents)).is_equal(moved(domain, steps, extents))
    one = list(stepping.shift(domain[:1], steps, extents))
    assert disjoint(one)


@given(st.data())
@settings(max_examples=100)
def test_order_of_the_scan(data: st.DataObject) -> None:
    extents = data.draw(extents_of_a_scan)
    last = tuple(data.draw(st.integers(0, e - 1)) for e in extents)
    top = tuple(e - 1 for e in extents)
    zero = (0,) * len(extents)
    later = " or ".join(
        "(" + " and ".join([f"x{g} > {last[g]}", *(f"x{h} = {last[h]}" for h in range(g + 1, len(last)))]) + ")"
        for g in range(len(last))
    )
    names = ", ".join(f"x{g}" for g in range(len(extents)))
    bounds = " and ".join(f"0 <= x{g} <= {t}" for g, t in enumerate(top))
    wanted = isl.Set("{ [" + names + "] : " + bounds + " and (" + later + ") }")
    assert union_of(scan_sets.list_successors(last, zero, top), len(extents)).is_equal(wanted)
    assert scan_sets.mixed_radix_digits(scan_sets.linearize_digits(last, extents), extents) == last


@given(st.data())
@settings(max_examples=100)
def test_counting_and_membership(data: st.DataObject) -> None:
    extents = data.draw(st.lists(st.integers(1, 12), min_size=1, max_size=3).map(tuple))
    domain = data.draw(domains(extents))
    wanted = union_of(domain, len(extents))
    steps = stepping.steps_in(domain, extents)
    assert len(steps) == int(wanted.count_val().to_python())
    assert all(scan_sets.contains(domain, scan_sets.mixed_radix_digits(int(s), extents)) for s in steps)
    point = tuple(data.draw(st.integers(0, e - 1)) for e in extents)
    assert scan_sets.contains(domain, point) == (not wanted.intersect(isl_set(point, point, ())).is_empty())


def test_isl_is_asked() -> None:
    """The comparison can fail."""
    with pytest.raises(AssertionError):
        assert union_of((ConvexSet((0,), (4,)),), 1).is_equal(moved((ConvexSet((0,), (4,)),), 1, (9,)))


def digits_in(tiles: Tiles, condition: int, element: tuple[int, int]) -> isl.Set:
    """The digits of a tile's iterations in a condition, by the definition I = lower + P K + J (upper - P K - J,
    reflected)."""
    t = tiles.tiling
    place = [0] * len(t.sizes)
    for m, k in ((t.candidate.rows, element[0]), (t.candidate.columns, element[1])):
        if m is not None:
            place[m] = k
    box = isl_set((0,) * len(t.extents), tuple(p - 1 for p in t.extents), ())
    index: list[tuple[int, int]] = []  # I_m = first + sign * J_m
    for low, high, p, k, down in zip(t.lower, t.upper, t.sizes, place, t.candidate.reflected, strict=True):
        index.append((high - p * k, -1) if down else (low + p * k, 1))
    found = union_of((), len(t.extents))
    for conjunction in t.symbolic.conditions[condition]:
        piece = box
        for row in (t.symbolic.constraints[c] for c in conjunction):
            constant = (
                row.constant
                + sum(a * v for a, v in zip(row.params, t.values, strict=True))
                + sum(a * i for a, (i, _) in zip(row.dims, index, strict=True))
            )
            text = linear([row.dims[m] * index[m][1] for m in t.candidate.order], constant)
            names = ", ".join(f"x{g}" for g in range(len(t.extents)))
            piece = piece.intersect(isl.Set("{ [" + names + "] : " + text + " >= 0 }"))
        found = found.union(piece)
    return found


@given(st.data())
@settings(max_examples=20)
def test_conditions_of_tiles(data: st.DataObject) -> None:
    """Concretization: every condition in every tile of the region, grouped or not."""
    program, order = data.draw(
        st.sampled_from(
            [(samples.FIR, (1, 0)), (samples.TRIANGLE, (0, 1)), (samples.JACOBI, (1, 0)), (samples.MATMUL, (2, 0, 1))]
        )
    )
    reflected = tuple(data.draw(st.booleans()) for _ in order) if program is samples.MATMUL else None
    mapped = symbolic(program, rows=0, columns=1, order=order, reflected=reflected)
    values = check_parameters(signature(mapped), {name: data.draw(st.integers(1, 300)) for name in program.params})
    bounds = space_bounds(mapped, values)
    assert bounds is not None
    rows, columns = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    tiles = Tiles(tiling(mapped, 0, values, bounds, (rows, columns), None))
    for condition in range(len(mapped.conditions)):
        for element in product(range(rows), range(columns)):
            found = tiles.condition(condition, int(tiles.group[element]))
            assert union_of(found, len(order)).is_equal(digits_in(tiles, condition, element))
