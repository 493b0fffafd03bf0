# SPDX-License-Identifier: Apache-2.0
"""Reference outputs of large nests: the bits of the equations, without a Python step per operation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import polyloom as pl
from polyloom import frontend
from polyloom.ir.plan_interpret import interpret
from polyloom.targets.tensix.map.oracle import nest_outputs

KERNELS = Path(__file__).parents[5] / "examples" / "kernels"


@pytest.mark.parametrize(
    ("kernel", "values"),
    [("gemm", {"NI": 7, "NJ": 5, "NK": 9}), ("gemver", {"N": 9}), ("doitgen", {"NQ": 3, "NR": 4, "NP": 5})],
)
def test_large_nests_have_the_bits_of_their_equations(
    kernel: str, values: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = frontend.load(str(KERNELS / f"{kernel}.py"))
    rng = np.random.default_rng(7)
    given = {
        a.name: rng.standard_normal(tuple(n.evaluate(values) for n in a.shape)).astype(np.float32)
        for a in source.plan.inputs
    }
    expected = interpret(source.plan, values, given)
    monkeypatch.setattr(nest_outputs, "_SMALL", 0)
    found = nest_outputs.nest_outputs(source, values, given)
    assert {name: array.tobytes() for name, array in found.items()} == {
        name: array.tobytes() for name, array in expected.items()
    }


def test_a_product_with_alpha_and_beta_is_not_interpreted_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("a Python step per product")

    monkeypatch.setattr(nest_outputs, "interpret", refuse)
    result = pl.compile(KERNELS / "gemm.py", on="tensix").run({"NI": 96, "NJ": 96, "NK": 96})
    assert result.verified
