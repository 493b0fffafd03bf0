# SPDX-License-Identifier: Apache-2.0
"""What is refused of a nest, in which words; what is accepted has subscripts inside their arrays."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.transform.nest.kernels import KERNELS
from tests.transform.nest.programs import programs
from tests.transform.nest.text import nest

from polyloom.analysis.nest_check import check
from polyloom.diagnostics import PolyloomError
from polyloom.ir.nest import Apply, Assign, Expression, Loop, Nest, accesses, statements
from polyloom.ir.nest_verify import verify
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine
from polyloom.transform.dataflow import analyse

REFUSED: dict[str, tuple[str, str, str]] = {
    "subscript_too_large": ("A[N]", "for i in range(N):\n    A[i + 1] = 0", ""),
    "subscript_negative": (
        "A[N, N]",
        "for i in range(N):\n    for j in range(i):\n        A[i, j] = A[i, j - 1] + 1",
        "N >= 3",
    ),
    "subscript_at_the_end": ("A[16]", "for i in range(N):\n    A[i] = 0", ""),
    "subscript_few": ("x[N + M, M]", "for i in range(N):\n    x[i + 1, 0] = x[1, 0]", "N >= 1"),
    "subscript_constant": ("r[0]", "r[0] = 1", ""),
    "negative_extent": ("A[N - 1]", "for i in range(N - 1):\n    A[i] = 0", ""),
    "no_parameter_values": ("A[N]", "for i in range(N):\n    A[i] = 0", "N < 0"),
    "nothing_computed": ("A[N]; local t", "for i in range(N):\n    t = A[i]", ""),
    "undefined_scalar": ("A[N]; r[1]; local s", "for i in range(N):\n    s = s + A[i]\nr[0] = 1", ""),
    "undefined_at_first": ("A[N]; local s", "for i in range(N):\n    if i >= 2:\n        s = i\n    A[i] = s", ""),
    "undefined_element": (
        "A[N]; local t[N, N]",
        "for i in range(N):\n    for j in range(i):\n        t[i, j] = A[j]\n    A[i] = t[i, i]",
        "",
    ),
    "stride": ("A[2 * N]; B[N]", "for i in range(N):\n    A[2 * i] = i\nfor j in range(N):\n    B[j] = A[j]", ""),
    "stride_by_two_loops": (
        "A[3 * N]; B[3 * N]",
        "for i in range(N):\n    for j in range(2):\n        A[2 * i + j] = i\nfor k in range(N):\n    B[k] = A[k]",
        "",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusal(name: str, golden: Golden) -> None:
    declarations, body, assume = REFUSED[name]
    source = nest(declarations, body, assume)
    with pytest.raises(PolyloomError) as caught:
        check(source)
        analyse(source)
    golden(name, str(caught.value))


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_accepted(name: str) -> None:
    check(KERNELS[name].nest())


@given(programs(), st.integers(-1, 1))
@settings(max_examples=30)
def test_subscripts_agree_with_enumeration(source: Nest, more: int) -> None:
    changed = replace(source, storage=tuple(replace(s, shape=tuple(e + more for e in s.shape)) for s in source.storage))
    inside = all(_inside(changed, n) for n in range(5))
    try:
        check(changed)
        assert inside
    except PolyloomError as error:
        assert {d.code for d in error.diagnostics} <= {"PL0240", "PL0242"}
        assert not inside or error.diagnostics[0].code == "PL0242"


def _inside(source: Nest, size: int) -> bool:
    for statement in statements(source):
        for point in _points(statement.loops, size):
            if statement.domain.contains(point):
                for reference in (statement.assign.target, *accesses(statement.assign.value)):
                    shape = [e.evaluate(point) for e in source[reference.name].shape]
                    if not all(0 <= a.evaluate(point) < e for a, e in zip(reference.index, shape, strict=True)):
                        return False
    return True


def _points(loops: tuple[str, ...], size: int) -> list[dict[str, int]]:
    points = [{"N": size}]
    for loop in loops:
        points = [p | {loop: v} for p in points for v in range(size + 1)]
    return points


ZERO = Constant(0, "i32")
ELEMENT = Reference("A", (Affine.symbol("i"),))
GOOD = nest("A[N]; const c", "for i in range(N):\n    A[i] = A[i] + c")


def body(*assigns: Assign) -> Nest:
    return replace(GOOD, body=(replace(GOOD.body[0], body=assigns),))


def assign(value: Expression, target: Reference = ELEMENT) -> Assign:
    return Assign("S1", target, value)


MALFORMED: dict[str, tuple[Nest, str]] = {
    "label twice": (body(assign(ZERO), assign(ZERO)), "PL0202"),
    "loop named like an array": (replace(GOOD, body=(Loop("A", (Affine(),), (Affine(),), ()),)), "PL0202"),
    "loop twice": (replace(GOOD, body=GOOD.body + GOOD.body), "PL0202"),
    "unknown symbol in a subscript": (body(assign(ZERO, Reference("A", (Affine.symbol("k"),)))), "PL0204"),
    "bound by an inner loop": (replace(GOOD, body=(Loop("i", (Affine.symbol("i"),), (Affine(),), ()),)), "PL0204"),
    "no bound": (replace(GOOD, body=(Loop("i", (), (Affine(),), ()),)), "PL0215"),
    "unknown array": (body(assign(Reference("B"))), "PL0204"),
    "missing subscript": (body(assign(Reference("A"))), "PL0210"),
    "unknown operation": (body(assign(Apply("mac", "i32", (ZERO, ZERO)))), "PL0211"),
    "missing operand": (body(assign(Apply("add", "i32", (ZERO,)))), "PL0210"),
    "operation without this type": (body(assign(Apply("and", "f32", (ZERO, ZERO)))), "PL0208"),
    "operand of another type": (body(assign(Apply("add", "i32", (ZERO, Constant(0, "i8"))))), "PL0208"),
    "condition of another type": (body(assign(Apply("select", "i32", (Constant(0, "i8"), ZERO, ZERO)))), "PL0208"),
    "value of another type": (body(assign(Constant(0, "i16"))), "PL0208"),
    "constant out of range": (body(assign(Constant(1 << 31, "i32"))), "PL0207"),
    "assignment to a value": (body(assign(ZERO, Reference("c"))), "PL0241"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_rule(name: str) -> None:
    source, code = MALFORMED[name]
    with pytest.raises(PolyloomError) as caught:
        verify(source)
    assert caught.value.diagnostics[0].code == code
