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
from polyloom.analysis.dataflow import Unlike
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.targets.forms.loops import load_source
from polyloom.targets.tensix.map.loops.form import FORMS, cut_content
from polyloom.targets.tensix.options import Options

ROOT = Path(__file__).parents[5]
PARTS = (
    "spread_result", "row_sums", "three_factors", "two_loops", "padded", "padded_powers",
)  # fmt: skip
OTHERS = ("conv2d", "fir", "floyd_warshall", "jacobi2d")


def refused(kernel: Any, golden: Golden, name: str, **options: Any) -> PolyloomError:
    with pytest.raises(PolyloomError) as error:
        pl.compile(kernel, on="tensix", **options)
    golden(name, str(error.value).replace(f"{ROOT}/", ""))
    return error.value


def no_stages(kernel: Any, golden: Golden, name: str) -> None:
    with pytest.raises(Unlike) as lack:
        cut_content(load_source(kernel), Options(), None)
    error = input_error("PL1230", lack.value.message, span=lack.value.span, help=FORMS)
    golden(name, str(error).replace(f"{ROOT}/", ""))


@pytest.mark.parametrize("name", PARTS)
def test_kernels(name: str, golden: Golden) -> None:
    no_stages(getattr(kernels, name), golden, f"refused-{name}")


def test_integers_of_32_bits_are_no_factors(golden: Golden) -> None:
    assert refused(kernels.chained, golden, "refused-chained").code == "PL1232"


@pytest.mark.parametrize("name", OTHERS)
def test_kernels_of_examples(name: str, golden: Golden) -> None:
    no_stages(ROOT / "examples" / "kernels" / f"{name}.py", golden, f"example-{name}")


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
        pl.compile(kernels.layers, on="tensix").run(N=2000, M=300, K=300, L=2000)
    assert (error.value.code, error.value.exit_code) == ("PL1233", 3)
    # The stage at which most bytes are live, and what they are: not the total alone.
    golden("beyond-l1", str(error.value).replace(f"{ROOT}/", ""))


def test_an_error_above_the_bound_is_exit_4(golden: Golden) -> None:
    x, w, b = np.full((2, 3), 3e5, np.float32), np.ones((3, 2), np.float32), np.zeros(2, np.float32)
    with pytest.raises(PolyloomError) as error:
        pl.compile(kernels.layer, on="tensix", format="fp16").run(N=2, M=2, K=3, x=x, W=w, b=b)  # pyright: ignore[reportArgumentType]: an option of the target
    assert (error.value.code, error.value.exit_code) == ("PL1235", 4)
    golden("above-bound", str(error.value))
