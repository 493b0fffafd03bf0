# SPDX-License-Identifier: Apache-2.0
"""Twenty kernels in C++ and in Python: equal words of the tile, and with them equal results."""

from pathlib import Path

import pytest

from polyloom.ir.ssa import Function
from polyloom.targets.tensix.source.cpp import source
from polyloom.targets.tensix.source.language.file import load_kernel
from polyloom.targets.tensix.source.lower import compile as passes

HERE = Path(__file__).parent
EXAMPLES = Path(__file__).parents[5] / "examples" / "sfpi"
OF_EXAMPLES = {
    "absolute": "abs", "is_zero": "compare_zero", "at_most_zero": "compare_zero", "leaky_relu": "leaky_relu",
    "limited": "clamp", "limited_by_order": "clamp", "repeated": "replay", "sign": "sign", "sigmoid_table": "sigmoid",
    "tanh_table": "tanh",
}  # fmt: skip
OWN = (
    "reciprocal", "exponential", "silly", "nested", "block", "bits", "compare", "square", "fields", "order",
)  # fmt: skip


def words(function: Function) -> list[int | None]:
    return [note.bits for note in passes.lower(function).notes]


@pytest.mark.parametrize("name", OF_EXAMPLES)
def test_examples(name: str) -> None:
    cplusplus = source.load_kernel(str(EXAMPLES / f"{OF_EXAMPLES[name]}.h"), f"{name}<8>").function
    assert words(load_kernel(str(EXAMPLES / "kernels.py"), name).trace()) == words(cplusplus)


@pytest.mark.parametrize("name", OWN)
def test_own(name: str) -> None:
    cplusplus = source.load_kernel(str(HERE / "twins.h"), f"twin_{name}").function
    assert words(load_kernel(str(HERE / "functions.py"), f"twin_{name}").trace()) == words(cplusplus)
