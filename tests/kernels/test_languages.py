# SPDX-License-Identifier: Apache-2.0
"""Each kernel in Python and in C: Python executes the one, the processor the other, and both compute the same bits."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from tests.frontend.python.helpers import KERNELS, arguments, assert_same
from tests.kernels.sizes import PRIMES

from polyloom.frontend import c
from polyloom.frontend.python import load_kernel
from polyloom.frontend.source import Options
from polyloom.ir.nest import Nest, statements

ALWAYS = ("symm", "cholesky", "seidel2d", "fdtd2d", "covariance", "smith_waterman")
"""What every run of the tests compares: compiling all of the C files takes half a minute."""
pytestmark = pytest.mark.skipif(find_spec("ziglang") is None, reason="needs the extra polyloom[c]")


def signature(nest: Nest) -> list[tuple[str, str, str]]:
    """Arguments with their shapes; the parameters of C are in lower case."""
    return [(s.name, s.dtype, ", ".join(map(str, s.shape)).lower()) for s in nest.storage if s.role == "argument"]


@pytest.mark.parametrize(
    "name", [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.long) for name in PRIMES]
)
def test_python_equals_c(name: str) -> None:
    kernel = load_kernel(str(KERNELS / f"{name}.py"))
    nest, native = c.load(str(KERNELS / f"{name}.c"), Options())
    assert signature(nest) == signature(kernel.nest)
    assert [len(s.loops) for s in statements(nest)] == [len(s.loops) for s in statements(kernel.nest)]
    inputs = arguments(kernel.nest, PRIMES[name])
    lower = {name.lower(): value for name, value in PRIMES[name].items()}
    assert_same(kernel.reference(PRIMES[name], inputs), native(lower, inputs))
