# SPDX-License-Identifier: Apache-2.0
"""Nests raised to programs of whole arrays: what is recognized, and that the bits stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Golden
from tests.frontend.mlir.helpers import arguments, assert_equal
from tests.frontend.python.helpers import assert_same
from tests.transform.arrays.random_programs import random_arrays, random_program

from polyloom.frontend.mlir import load_mlir
from polyloom.ir.arrays.interpret import interpret
from polyloom.ir.arrays.text import print_arrays
from polyloom.ir.operations import ElementType
from polyloom.transform.arrays import lower_arrays
from polyloom.transform.arrays.raising import raise_arrays

FUNCTIONS = Path(__file__).with_name("structured.mlir")
NAMES = ("dense", "convolution", "softmax", "accumulation", "padded", "dot", "statistics")


@pytest.mark.parametrize("name", NAMES)
def test_structured_operations_are_whole_arrays(name: str, golden: Golden) -> None:
    found = load_mlir(str(FUNCTIONS), name)
    assert found.program is not None
    golden(f"raising/{name}", print_arrays(found.program))
    # The nest of the arrays, and the arrays themselves, against the operations' own meaning.
    outputs = assert_equal(found.nest, found.reference, {})
    assert_same(outputs, interpret(found.program, {}, arguments(found.nest, {}, 1)))


@pytest.mark.parametrize("name", ["loops", "recurrence"])
def test_other_loops_stay_loops(name: str) -> None:
    assert load_mlir(str(FUNCTIONS), name).program is None


@pytest.mark.parametrize("dtype", ["f32", "i32"])
def test_random_nests_are_raised_with_the_same_bits(dtype: ElementType) -> None:
    raised = 0
    for seed in range(40):
        program = random_program(seed, dtype)
        found = raise_arrays(lower_arrays(program))
        if found is None:
            continue
        raised += 1
        parameters = {"N": 5, "M": 4}
        arrays = random_arrays(program, parameters, seed)
        assert_same(interpret(program, parameters, arrays), interpret(found, parameters, arrays))
    assert raised >= 3
