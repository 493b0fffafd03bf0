# SPDX-License-Identifier: Apache-2.0
"""What the tests of MLIR share: a text as a nest, and its meaning in two ways."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from polyloom.analysis.nest_check import check_with_least_sizes
from polyloom.frontend.mlir import load
from polyloom.frontend.source import Arrays, Options, Reference
from polyloom.ir.nest import Nest
from polyloom.ir.nest_interpret import interpret
from polyloom.ir.numbers import NUMPY


def read(folder: Path, text: str, name: str | None = None, *, indirect: bool = False) -> tuple[Nest, Reference]:
    """The checked nest of a text, and what its operations compute."""
    path = folder / "x.mlir"
    path.write_text(text)
    nest, reference = load(str(path), Options(function=name), indirect=indirect)
    return check_with_least_sizes(nest), reference


def arguments(nest: Nest, sizes: Mapping[str, int], seed: int) -> dict[str, Any]:
    """Small values for every argument: integers, also as floats, so that sums are exact in any order."""
    generator = np.random.default_rng(seed)
    found = dict[str, Any]()
    for s in nest.storage:
        if s.role == "argument":
            shape = tuple(e.evaluate(sizes) for e in s.shape)
            low = 0 if NUMPY[s.dtype].kind in "ub" else -9
            found[s.name] = generator.integers(low, 2 if s.dtype == "bool" else 10, shape).astype(NUMPY[s.dtype])
            if NUMPY[s.dtype].kind == "f":
                found[s.name] = (found[s.name] / NUMPY[s.dtype].type(8)).astype(NUMPY[s.dtype])
    return found


def both(nest: Nest, reference: Reference, sizes: Mapping[str, int], inputs: Arrays) -> tuple[Arrays, Arrays]:
    """Outputs of the nest by its interpreter, and those of the operations."""
    return interpret(nest, dict(sizes), inputs), reference(sizes, inputs)


def assert_equal(nest: Nest, reference: Reference, sizes: Mapping[str, int], seed: int = 1) -> Arrays:
    """The nest means what the operations compute, bit for bit; gives the outputs."""
    found, expected = both(nest, reference, sizes, arguments(nest, sizes, seed))
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name, strict=True)
    return expected
