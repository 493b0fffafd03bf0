# SPDX-License-Identifier: Apache-2.0
"""Every kernel of examples/kernels: called as the Python function that it is, it computes what its nest means, bit for
bit."""

from __future__ import annotations

import numpy as np
import pytest
from tests.frontend.python.helpers import KERNELS, arguments, assert_same, meaning
from tests.kernels.sizes import MINI, PRIMES

from polyloom.frontend.python import load_kernel

CASES = [(name, sizes[name]) for sizes in (MINI, PRIMES) for name in MINI]


def test_every_kernel_has_sizes() -> None:
    assert {path.stem for path in KERNELS.glob("*.py")} == MINI.keys() == PRIMES.keys()


@pytest.mark.parametrize(
    ("name", "parameters"), CASES, ids=lambda case: case if isinstance(case, str) else "-".join(map(str, case.values()))
)
def test_function_equals_nest(name: str, parameters: dict[str, int]) -> None:
    kernel = load_kernel(str(KERNELS / f"{name}.py"))
    assert set(kernel.nest.parameters) == set(parameters)
    inputs = arguments(kernel.nest, parameters)
    before = {name: array.copy() for name, array in inputs.items()}
    expected = meaning(kernel.nest, parameters, inputs)
    assert_same(expected, kernel.reference(parameters, inputs))
    assert_same(before, inputs)
    scalars = {s.name for s in kernel.nest.storage if not s.shape}
    kernel(**{name: value[()] if name in scalars else value for name, value in inputs.items()}, **parameters)
    assert_same(expected, {name: inputs[name] for name in expected})
    assert all(np.isfinite(array).all() for array in expected.values())
