# SPDX-License-Identifier: Apache-2.0
"""Accumulations over several loops: constant distances afterwards, the same results, and what is left alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.transform.nest.kernels import KERNELS
from tests.transform.nest.test_dataflow import check_meaning
from tests.transform.nest.text import nest

from polyloom.ir import nest_interpret, recurrence_interpret
from polyloom.ir.nest import Apply, Assign, Expression, Loop, Nest
from polyloom.ir.operations import ElementType
from polyloom.ir.pla import Reference
from polyloom.ir.recurrence import Produced, System
from polyloom.sets import Affine
from polyloom.transform.accumulation import ASSOCIATIVE
from polyloom.transform.dataflow import analyse

NESTED = {"total": 1, "greatest": 1, "mttkrp": 1, "three_loops_down": 2, "row_maximum": 0}
"""Equations that are added; the last one's distances are constant as they are."""
SUM = "for i in range(N):\n    for j in range(M):\n        r[0] = r[0] + A[i, j]"


def varying(system: System) -> list[str]:
    """Equations that read themselves at a distance that is not constant."""
    return [
        e.name
        for e in system.equations
        for read in e.reads
        for p in read
        if isinstance(p.origin, Produced) and p.origin.statement == e.name
        if not all((a - Affine.symbol(loop)).is_constant for a, loop in zip(p.origin.index, e.loops, strict=True))
    ]


@pytest.mark.parametrize("name", NESTED)
def test_distances_become_constant(name: str) -> None:
    system = analyse(KERNELS[name].nest(name))
    assert varying(system) == []
    assert len(system.reasons) == NESTED[name]
    assert {n for n, _ in system.reasons} <= {e.name for e in system.equations}


@pytest.mark.parametrize("name", ["prefix_sums", "rows_with_gaps"])
def test_what_must_stay(name: str) -> None:
    """Other values than the last one are used, or a row has gaps."""
    system = analyse(KERNELS[name].nest(name))
    assert varying(system) and not system.reasons


def test_single_precision_keeps_its_order_unless_allowed() -> None:
    source = nest("A[N, M]; r[1]", SUM, dtype="f32")
    assert varying(analyse(source))
    system = analyse(source, reassociate=True)
    assert not varying(system)
    sizes, inputs = (
        {"N": 3, "M": 4},
        {"A": np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4), "r": np.ones(1, np.float32)},
    )
    exact, found = (
        i.interpret(s, sizes, inputs)["r"] for i, s in ((nest_interpret, source), (recurrence_interpret, system))
    )
    np.testing.assert_allclose(found, exact, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32"])
@pytest.mark.parametrize("operation", ASSOCIATIVE)
def test_every_operation_of_integers(operation: str, dtype: ElementType) -> None:
    value = Apply(
        operation, dtype, (Reference("A", (Affine.symbol("i"), Affine.symbol("j"))), Reference("r", (Affine(),)))
    )
    source = with_value(nest("A[N, M]; r[1]", SUM, dtype=dtype), value)
    system = analyse(source)
    assert not varying(system)
    check_meaning(source, system, {"N": 3, "M": 2})


def with_value(source: Nest, value: Expression) -> Nest:
    """`source`, a statement in two loops, with another value."""
    outer = source.body[0]
    assert isinstance(outer, Loop)
    inner = outer.body[0]
    assert isinstance(inner, Loop) and isinstance(inner.body[0], Assign)
    return replace(source, body=(replace(outer, body=(replace(inner, body=(replace(inner.body[0], value=value),)),)),))


LOOPS = st.sampled_from(["range({})", "range(1, {})", "range({} - 1, -1, -1)"])
TERM = st.sampled_from(["A[i, j]", "A[i, j] * i", "7 - A[i, j]", "j"])
OPERATION = st.sampled_from(["{} + {}", "{} - {}", "({} + {}) - i", "3 - j + ({} - {})", "max({}, {})", "{} * {}"])


@given(
    LOOPS,
    LOOPS | st.sampled_from(["range(i, N)", "range(i + 1)", "range(max(0, i - 1), min(N, i + 2))"]),
    TERM,
    OPERATION,
    st.booleans(),
)
@settings(max_examples=40)
def test_random_accumulations(outer: str, inner: str, term: str, operation: str, local: bool) -> None:
    place = "s" if local else "r[0]"
    lines = [
        f"for i in {outer.format('N')}:",
        f"    for j in {inner.format('N')}:",
        f"        {place} = {operation.format(place, term)}",
    ]
    source = nest("A[N, N]; r[1]; local s", "\n".join(["s = 4", *lines, "r[0] = r[0] + s"]))
    system = analyse(source)
    for size in (4, 1, 0):
        check_meaning(source, system, {"N": size})
