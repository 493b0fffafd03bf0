# SPDX-License-Identifier: Apache-2.0
"""Rewrites for units that stand idle, for wavefronts that wait and for values with many readers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from tests.transform.test_unroll_and_jam import PRODUCT

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla import parse
from polyloom.ir.interpret import interpret
from polyloom.modulo.guards.bounds import recurrence_minimum, resource_minimum
from polyloom.sets.bounds import enclosing_bounds
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.compile import compile_program
from polyloom.targets.tcpa.map.allocate import list_scan_orders
from polyloom.targets.tcpa.map.dependence_graph import build_graph, count_destinations
from polyloom.targets.tcpa.map.rewrites.busiest_iteration import busiest_iteration
from polyloom.targets.tcpa.map.rewrites.direct_reads import read_directly
from polyloom.targets.tcpa.map.rewrites.fanout import split_fanout
from polyloom.targets.tcpa.map.rewrites.streams import count_streams
from polyloom.targets.tcpa.map.rewrites.strength_reduction import reduce_divisions
from polyloom.targets.tcpa.map.rewrites.unroll_choice import unroll_where_idle
from polyloom.targets.tcpa.map.schedule import build_problem, safe_distance
from polyloom.targets.tcpa.run import program as configured
from polyloom.targets.tcpa.words import symbolic_file
from polyloom.transform.pla.unroll_and_jam import unroll_and_jam

WIDE = machine_file.load("wide")
QUOTIENTS = """parameter N >= 1
input x[N, 64]: f32, g[64]: f32, t[N]: f32
output y[N, 64]: f32
for 0 <= i < N and 0 <= j < 64 do
  u[i, j] = t[i] if j = 0
  u[i, j] = u[i, j - 1] if j >= 1
  v[i, j] = g[j] if i = 0
  v[i, j] = v[i - 1, j] if i >= 1
  q[i, j] = x[i, j] / u[i, j]
  y[i, j] = q[i, j] * v[i, j]
"""
BAND = """parameter N >= 1, M >= 1, K >= 1
input a[N, K]: f32, b[M, K]: f32
output y[N, M]: f32
for 0 <= i < N and 0 <= j < M and 0 <= k < K and i - j <= 1 and j - i <= 2 do
  u[i, j, k] = a[i, k] if j = 0 or i - j = 1
  u[i, j, k] = u[i, j - 1, k] if j >= 1 and i <= j
  v[i, j, k] = b[j, k] if i = 0 or j - i = 2
  v[i, j, k] = v[i - 1, j, k] if i >= 1 and j - i <= 1
  s[i, j, k] = u[i, j, k] * v[i, j, k] if k = 0
  s[i, j, k] = madd(u[i, j, k], v[i, j, k], s[i, j, k - 1]) if k >= 1
  y[i, j] = s[i, j, k] if k = K - 1
"""
POLYNOMIAL = """parameter N >= 1
input x[N]: f32
output y[N]: f32
for 0 <= i < N do
  z[i] = x[i] + 1.0
  a[i] = z[i] * z[i]
  b[i] = a[i] + z[i]
  c[i] = b[i] * z[i]
  d[i] = c[i] + z[i]
  e[i] = d[i] * z[i]
  y[i] = e[i] + z[i]
"""


def test_two_products_of_an_element_are_one_iteration() -> None:
    program = parse(PRODUCT, "product.pla")
    made = unroll_where_idle(program, WIDE)
    # The residual's addition is shifted: with both sums in one iteration it would need two more adders.
    assert len(made.equations) == 16
    compiled = compile_program(program, WIDE, candidates=2)
    assert min(s.initiation_interval for s in compiled.schedules) == 1
    data = symbolic_file.encode(compiled)
    sizes, random = {"N": 5, "M": 6, "K": 7}, np.random.default_rng(1)
    shapes = {"a": (5, 7), "b": (7, 6), "x": (5, 6)}
    arrays = {n: random.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    ran = configured.simulate(configured.instantiate(data, sizes, (2, 2), None), None, arrays, False, None)
    assert ran.outputs["y"].tobytes() == interpret(program, sizes, arrays)["y"].tobytes()


@pytest.mark.parametrize("machine", ["mid", "unit"])
def test_a_machine_without_idle_units_gets_the_program_as_it_is(machine: str) -> None:
    program = parse(PRODUCT, "product.pla")
    assert unroll_where_idle(program, machine_file.load(machine)) is program


@pytest.mark.parametrize("dimension", ["i", "j", "k"])
def test_single_iterations_bound_the_interval(dimension: str) -> None:
    """Two sums of two rows or columns want four adders in the last iteration, of which there are two."""
    made = unroll_and_jam(parse(PRODUCT, "product.pla"), dimension, 2)
    problem = build_problem(build_graph(made), WIDE, safe_distance)
    assert busiest_iteration(made, WIDE, 9) == resource_minimum(problem).value == 2


def test_streams_are_not_doubled() -> None:
    text = PRODUCT.replace("u[i, j, k] = a[i, k] if j = 0\n", "u[i, j, k] = a[i, k]\n")
    text = text.replace("  u[i, j, k] = u[i, j - 1, k] if j >= 1\n", "")
    program = parse(text, "streams.pla")
    assert count_streams(program, {"a"}) == 1
    assert unroll_where_idle(program, WIDE) is program


def test_copies_keep_a_scan_order() -> None:
    """A value that comes from the right below: two rows in one would have to run left to right and back."""
    text = PRODUCT.replace("if i = 0", "if i = 0 or j = M - 1")
    text = text.replace("v[i - 1, j, k] if i >= 1", "v[i - 1, j + 1, k] if i >= 1 and j < M - 1")
    program = parse(text, "skewed.pla")
    made = unroll_where_idle(program, WIDE)
    assert list_scan_orders(build_graph(made))
    with pytest.raises(PolyloomError, match="PL0402"):
        list_scan_orders(build_graph(unroll_and_jam(program, "i", 2)))


def test_extents_stay_quotients() -> None:
    made = unroll_where_idle(parse(BAND, "band.pla"), WIDE)
    for dimension in made.dimensions:
        enclosing_bounds(made.space, made.dimensions, made.parameters, made.assumptions, dimension)
    compile_program(parse(BAND, "band.pla"), WIDE, candidates=1)


@pytest.mark.parametrize(("extent", "unrolled"), [(2, False), (6, False), (8, True)])
def test_short_dimensions_keep_their_elements(extent: int, unrolled: bool) -> None:
    text = PRODUCT.replace("i < N", f"i < {extent}").replace("j < M", f"j < {extent}").replace("k < K", "k < 4")
    text = text.replace("[N, M]", f"[{extent}, {extent}]").replace("[N, K]", f"[{extent}, 4]")
    text = text.replace("[K, M]", f"[4, {extent}]").replace("k = K - 1", "k = 3")
    program = parse(text, "product.pla")
    assert (unroll_where_idle(program, WIDE) is not program) == unrolled


def test_of_two_chains_one_is_read_directly() -> None:
    program = parse(QUOTIENTS, "quotients.pla")
    made = read_directly(program, WIDE)
    assert len(made.equations) == len(program.equations) - 1
    assert read_directly(program, machine_file.load("mid")) is program
    sizes, random = {"N": 3}, np.random.default_rng(2)
    arrays = {n: random.standard_normal(s).astype(np.float32) for n, s in (("x", (3, 64)), ("g", 64), ("t", 3))}
    assert interpret(made, sizes, arrays)["y"].tobytes() == interpret(program, sizes, arrays)["y"].tobytes()


def test_late_readers_of_a_value_have_a_copy() -> None:
    graph = build_graph(parse(POLYNOMIAL, "polynomial.pla"))
    made = split_fanout(graph, WIDE)
    assert count_destinations(graph, "z", separate=True) == 7
    assert [v.name for v in made.program.variables][-1] == "z.late"
    before, after = (recurrence_minimum(build_problem(g, WIDE, safe_distance)).value for g in (graph, made))
    assert after == 1 < before


def test_late_readers_of_a_copy_have_one_of_their_own() -> None:
    names = [f"s{n}" for n in range(3 * WIDE.destinations)]
    chain = "".join(f"  {b}[i] = {a}[i] {'+*'[n % 2]} z[i]\n" for n, (a, b) in enumerate(pairwise(names)))
    head = "parameter N >= 1\ninput x[N]: f32\noutput y[N]: f32\nfor 0 <= i < N do\n"
    ends = f"  z[i] = x[i] + 1.0\n  s0[i] = z[i] * z[i]\n{chain}  y[i] = {names[-1]}[i] + 1.0\n"
    made = split_fanout(build_graph(parse(head + ends, "chain.pla")), WIDE)
    counts = {v.name: count_destinations(made, v.name, separate=True) for v in made.program.variables}
    assert max(counts.values()) <= WIDE.destinations
    assert {"z.late", "z.late.late"} < set(counts)


@pytest.mark.parametrize(("divisor", "operation"), [("4.0", "mul"), ("-0.5", "mul"), ("3.0", "div"), ("0.0", "div")])
def test_division_by_a_power_of_two_is_a_product(divisor: str, operation: str) -> None:
    text = f"parameter N >= 1\ninput x[N]: f32\noutput y[N]: f32\nfor 0 <= i < N do\n  y[i] = x[i] / {divisor}\n"
    program = parse(text, "quotient.pla")
    made = reduce_divisions(program, WIDE)
    assert made.equations[0].operation == operation
    least = np.float32(1e-45)
    x = np.array([1.5, -0.0, np.inf, 3 * least, 7 * least, 3.4e38], np.float32)
    with np.errstate(all="ignore"):
        found = [interpret(p, {"N": len(x)}, {"x": x})["y"].tobytes() for p in (program, made)]
    assert found[0] == found[1]
