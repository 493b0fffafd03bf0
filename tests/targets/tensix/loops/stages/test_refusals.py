# SPDX-License-Identifier: Apache-2.0
"""What stages do not take is refused by what it lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.targets.tensix.loops.stages import kernels

import polyloom as pl
from polyloom.diagnostics import PolyloomError

ROOT = Path(__file__).parents[5]
PARTS = (
    "spread_result", "squares", "row_sums", "three_factors", "two_loops", "padded", "padded_powers", "triangle",
    "border", "divided", "chained",
)  # fmt: skip
OTHERS = ("cholesky", "conv2d", "covariance", "fir", "floyd_warshall", "jacobi2d", "symm", "syr2k", "syrk", "trmm")


def refused(kernel: Any, golden: Golden, name: str, **options: Any) -> PolyloomError:
    with pytest.raises(PolyloomError) as error:
        pl.compile(kernel, on="tensix", **options)
    golden(name, str(error.value).replace(f"{ROOT}/", ""))
    return error.value


@pytest.mark.parametrize("name", PARTS)
def test_kernels(name: str, golden: Golden) -> None:
    refused(getattr(kernels, name), golden, f"refused-{name}")


@pytest.mark.parametrize("name", OTHERS)
def test_kernels_of_examples(name: str, golden: Golden) -> None:
    error = refused(ROOT / "examples" / "kernels" / f"{name}.c", golden, f"example-{name}")
    assert error.code in ("PL1230", "PL1231")


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (kernels.layers, {"dest": 16}),
        (kernels.layers, {"format": "i8"}),
        (kernels.quantised, {"fidelity": 2}),
        (kernels.two, {"fidelity": 2}),
    ],
)
def test_formats_that_do_not_fit(kernel: Any, options: dict[str, Any], golden: Golden) -> None:
    error = refused(kernel, golden, f"unfit-{kernel.nest.name}-{'-'.join(map(str, options.values()))}", **options)
    assert error.code == "PL1232"


def test_no_elements(golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        pl.compile(kernels.layers, on="tensix").run(N=4, M=3, K=0, L=2)
    assert error.value.code == "PL1237"
    golden("no-elements", str(error.value))


def test_arrays_beyond_l1(golden: Golden) -> None:
    with pytest.raises(PolyloomError) as error:
        pl.compile(kernels.layers, on="tensix").run(N=300, M=300, K=300, L=300)
    assert (error.value.code, error.value.exit_code) == ("PL1233", 3)
    golden("beyond-l1", str(error.value))


def test_an_error_above_the_bound_is_exit_4(golden: Golden) -> None:
    x, w, b = np.full((2, 3), 3e5, np.float32), np.ones((3, 2), np.float32), np.zeros(2, np.float32)
    with pytest.raises(PolyloomError) as error:
        pl.compile(kernels.layer, on="tensix", format="fp16").run(N=2, M=2, K=3, x=x, W=w, b=b)  # pyright: ignore[reportArgumentType]: an option of the target
    assert (error.value.code, error.value.exit_code) == ("PL1235", 4)
    golden("above-bound", str(error.value))
