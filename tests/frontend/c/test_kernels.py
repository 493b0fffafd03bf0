# SPDX-License-Identifier: Apache-2.0
"""Every kernel of examples/kernels in C is the nest that it is in Python, and computes natively what the nest means,
bit for bit."""

from __future__ import annotations

import pytest
from tests.frontend.c.helpers import KERNELS, loops, renamed
from tests.frontend.python.helpers import arguments, assert_same, meaning
from tests.kernels.sizes import MINI, PRIMES

from polyloom.frontend import c, python
from polyloom.frontend.source import Options
from polyloom.ir.nest import Nest

pytest.importorskip("ziglang", reason="C needs the extra `c`")


def comparable(nest: Nest) -> Nest:
    names = {p: p.lower() for p in nest.parameters} | {name: f"loop{n}" for n, name in enumerate(loops(nest.body))}
    return renamed(nest, names, nest.name.removeprefix("kernel_"))


def load(name: str, *defines: str) -> tuple[Nest, c.Reference]:
    return c.load(str(KERNELS / f"{name}.c"), Options(defines=defines))


def test_every_kernel_is_there_in_both_languages() -> None:
    assert {path.stem for path in KERNELS.glob("*.c")} == {path.stem for path in KERNELS.glob("*.py")}


@pytest.mark.parametrize("name", MINI)
def test_c_says_what_python_says(name: str) -> None:
    nest, reference = load(name)
    if name not in (
        "heat3d",
        "seidel2d",
    ):  # these count time from 1 and have one sum where the others count from 0 and have two
        assert comparable(nest) == comparable(python.load(str(KERNELS / f"{name}.py"), Options())[0])
    parameters = {p: PRIMES[name][p.upper()] for p in nest.parameters}
    inputs = arguments(nest, parameters)
    before = {key: array.copy() for key, array in inputs.items()}
    assert_same(meaning(nest, parameters, inputs), reference(parameters, inputs))
    assert_same(before, inputs)


def test_constant_extents_bound_the_parameters() -> None:
    nest, reference = load("gemm", "CONSTANT_EXTENTS", "NI=9", "NJ=8", "NK=7")
    assert str(nest.assumptions) == " and ".join(
        f"-{n} + {extent} >= 0 and {n} >= 0" for n, extent in (("ni", 9), ("nj", 8), ("nk", 7))
    )
    parameters = {"ni": 5, "nj": 8, "nk": 3}
    inputs = arguments(nest, parameters)
    assert inputs["A"].shape == (9, 7)
    assert_same(meaning(nest, parameters, inputs), reference(parameters, inputs))


@pytest.mark.parametrize("name", ["gemm", "trisolv", "jacobi2d"])
def test_integers_are_another_type_of_the_same_kernel(name: str) -> None:
    nest, reference = load(name, "DATA_TYPE_IS_INT")
    parameters = dict.fromkeys(nest.parameters, 6)
    inputs = {key: array + 1 for key, array in arguments(nest, parameters).items()}
    assert {s.dtype for s in nest.storage} == {"i32"}
    assert_same(meaning(nest, parameters, inputs), reference(parameters, inputs))


def test_double_precision_is_that_of_the_declaration() -> None:
    nest, _ = load("gemm", "DATA_TYPE_IS_DOUBLE")
    assert {s.dtype for s in nest.storage} == {"f64"}
