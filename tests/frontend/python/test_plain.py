# SPDX-License-Identifier: Apache-2.0
"""Every kernel of plain.py, executed by Python and as a nest: what has several spellings means what Python says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.frontend.python.helpers import arguments, assert_same, meaning

from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.frontend.python import load_kernel

PROGRAMS = Path(__file__).with_name("plain.py")
KERNELS = re.findall(r"^def (\w+)\(", PROGRAMS.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_equals_its_nest(name: str) -> None:
    kernel = load_kernel(str(PROGRAMS), name)
    nest = check_with_least_sizes(kernel.nest)
    for sizes in ((4, 3), (5, 2), (1, 1), (0, 4)):
        parameters = dict(zip(nest.parameters, sizes, strict=False))
        if nest.assumptions.contains(parameters):
            inputs = {n: values - 2 for n, values in arguments(nest, parameters, sizes[0]).items()}
            assert_same(meaning(nest, parameters, inputs), kernel.reference(parameters, inputs))
