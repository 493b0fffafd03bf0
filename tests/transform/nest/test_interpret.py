# SPDX-License-Identifier: Apache-2.0
"""The interpreter of nests against Python itself, and the interpreters' errors."""

from __future__ import annotations

from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.transform.nest.kernels import KERNELS, Kernel
from tests.transform.nest.programs import programs
from tests.transform.nest.test_dataflow import inputs_of
from tests.transform.nest.text import nest

from polyloom.diagnostics import PolyloomError
from polyloom.ir import nest_interpret, recurrence_interpret
from polyloom.ir.nest import Apply, Assign, Index, Nest
from polyloom.ir.nest_interpret import interpret
from polyloom.ir.operations import DIVISIONS
from polyloom.ir.pla import Constant, Reference
from polyloom.sets import Affine, Condition
from polyloom.transform.dataflow import analyse, flow

KERNEL_CASES = [
    pytest.param(kernel, sizes, id=f"{name}-{n}")
    for name, kernel in KERNELS.items()
    for n, sizes in enumerate(kernel.sizes)
]


def _select(condition: object, a: int, b: int) -> int:
    return a if condition else b


def check_python(source: Nest, body: str, sizes: dict[str, int]) -> None:
    """Unbounded integers, wrapped at the end: sums and products do not mind."""
    inputs = {name: value % 9 - 4 for name, value in inputs_of(source, sizes).items()}
    names: dict[str, Any] = {
        s.name: np.zeros([e.evaluate(sizes) for e in s.shape], object) if s.shape else 0 for s in source.storage
    }
    names |= sizes | {name: value.astype(object) if value.shape else int(value) for name, value in inputs.items()}
    names["select"] = _select
    exec(body, names)
    for name, found in interpret(source, sizes, inputs).items():
        expected = [(int(v) + (1 << 31)) % (1 << 32) - (1 << 31) for v in names[name].flat]
        assert found.ravel().tolist() == expected, name


@pytest.mark.parametrize(("kernel", "sizes"), KERNEL_CASES)
def test_kernels_do_what_python_does(kernel: Kernel, sizes: dict[str, int]) -> None:
    source = kernel.nest()
    check_python(source, kernel.body, sizes)


@given(programs())
@settings(max_examples=20)
def test_random_nests_do_what_python_does(source: Nest) -> None:
    span = source.body[0].span
    assert span is not None
    for size in (4, 1):
        check_python(source, span.source.text, {"N": size})


def test_inputs_are_not_changed_and_missing_outputs_begin_with_zeros() -> None:
    source = nest("A[N]; B[N]; const c", "for i in range(1, N):\n    A[i] = A[i] + c\n    B[i] = A[i - 1]")
    given_a = np.arange(3, dtype=np.int32)
    found = interpret(source, {"N": 3}, {"A": given_a, "c": np.int32(5)})
    assert {name: array.tolist() for name, array in found.items()} == {"A": [0, 6, 7], "B": [0, 0, 6]}
    assert given_a.tolist() == [0, 1, 2]


def test_a_loop_as_data_wraps() -> None:
    source = nest("A[N]", "for i in range(N):\n    A[i] = 0", dtype="i8")
    value = Index(Affine.from_terms({"i": 50}, 100), "i8")
    wrapping = replace(
        source, body=(replace(source.body[0], body=(Assign("S1", Reference("A", (Affine.symbol("i"),)), value),)),)
    )
    assert interpret(wrapping, {"N": 4}, {})["A"].tolist() == [100, -106, -56, -6]


def test_single_precision_rounds_every_operation() -> None:
    source = nest("A[N]; r[1]", "for i in range(N):\n    r[0] = r[0] + A[i] * A[i]", dtype="f32")
    values = np.linspace(0.1, 7, 100, dtype=np.float32)
    total = np.float32(0)
    for value in values:
        total = np.float32(total + np.float32(value * value))
    assert interpret(source, {"N": 100}, {"A": values})["r"][0] == total


@pytest.mark.parametrize("operation", DIVISIONS)
@pytest.mark.parametrize("interpreter", ["nest", "equations"])
def test_division_by_zero_names_the_iteration(operation: str, interpreter: str) -> None:
    source = nest("A[N]; B[N]", f"for i in range(N):\n    B[i] = {operation}(12, A[i])")
    values = np.array([3, 1, 0, 2], np.int32)
    with pytest.raises(PolyloomError, match=r"PL0233.*S1(\[2\])? divides by zero") as caught:
        if interpreter == "nest":
            interpret(source, {"N": 4}, {"A": values})
        else:
            recurrence_interpret.interpret(analyse(source), {"N": 4}, {"A": values})
    span = caught.value.diagnostics[0].span
    assert span is not None and span.line == 2


@pytest.mark.parametrize(
    ("parameters", "inputs", "code"),
    [
        ({}, {"A": np.zeros(3, np.int32)}, "PL0230"),
        ({"N": 3}, {}, "PL0231"),
        ({"N": 3}, {"A": np.zeros(4, np.int32)}, "PL0232"),
        ({"N": 3}, {"A": np.zeros(3, np.int64)}, "PL0232"),
        ({"N": 3}, {"A": np.zeros(3, np.int32), "C": 1}, "PL0231"),
    ],
)
def test_wrong_arguments_are_refused(parameters: dict[str, int], inputs: dict[str, Any], code: str) -> None:
    source = nest("A[N]; B[N]", "for i in range(N):\n    B[i] = A[i]")
    for call in (
        lambda: interpret(source, parameters, inputs),
        lambda: recurrence_interpret.interpret(flow(source), parameters, inputs),
    ):
        with pytest.raises(PolyloomError) as caught:
            call()
        assert caught.value.diagnostics[0].code == code


@pytest.mark.parametrize("count", [0, 2])
def test_the_equations_interpreter_distrusts_pieces(count: int) -> None:
    system = flow(nest("A[N]; B[N]", "for i in range(N):\n    B[i] = A[i] + 1"))
    (equation,) = system.equations
    (read,) = equation.reads
    changed = replace(equation, reads=(read * count,))
    with pytest.raises(PolyloomError, match=rf"PL0222.*S1\[0\] has reads with \[{count}\] origins"):
        recurrence_interpret.interpret(replace(system, equations=(changed,)), {"N": 1}, {"A": np.zeros(1, np.int32)})


def test_the_equations_interpreter_distrusts_domains_and_circles() -> None:
    system = flow(nest("A[N]", "for i in range(1, N):\n    A[i] = A[i - 1] + 1"))
    (equation,) = system.equations
    beyond = replace(equation, statement=replace(equation.statement, domain=Condition(())))
    with pytest.raises(PolyloomError, match=r"PL0222.*S1\[\d\] is outside its domain"):
        recurrence_interpret.interpret(replace(system, equations=(beyond,)), {"N": 4}, {})
    own = replace(equation.reads[0][0], origin=replace(equation.reads[0][0].origin, index=(Affine.symbol("i"),)))
    circle = replace(equation, reads=((own, *equation.reads[0][1:]),))
    with pytest.raises(PolyloomError, match=r"PL0222.*S1\[\d\] needs itself"):
        recurrence_interpret.interpret(replace(system, equations=(circle,)), {"N": 4}, {})
    with pytest.raises(PolyloomError, match=r"PL0222.*two final writers"):
        recurrence_interpret.interpret(replace(system, finals=system.finals * 2), {"N": 4}, {})


def test_twenty_thousand_iterations_take_about_a_second() -> None:
    source = KERNELS["gemm"].nest()
    sizes = {"N": 20, "M": 25, "K": 40}
    start = process_time()
    nest_interpret.interpret(source, sizes, inputs_of(source, sizes))
    assert process_time() - start < 10


def test_selections_and_comparisons() -> None:
    value = Apply(
        "select",
        "f32",
        (
            Apply("lt", "f32", (Reference("A", (Affine.symbol("i"),)), Constant(0.5, "f32"))),
            Constant(2.0, "f32"),
            Constant(3.0, "f32"),
        ),
    )
    source = nest("A[N]", "for i in range(N):\n    A[i] = 0", dtype="f32")
    chosen = replace(
        source, body=(replace(source.body[0], body=(Assign("S1", Reference("A", (Affine.symbol("i"),)), value),)),)
    )
    assert interpret(chosen, {"N": 3}, {"A": np.array([0.25, 0.5, np.nan], np.float32)})["A"].tolist() == [
        2.0,
        3.0,
        3.0,
    ]
