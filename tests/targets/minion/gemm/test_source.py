# SPDX-License-Identifier: Apache-2.0
"""Products and convolutions of functions are also compared with the function itself: floats within twice the bound of
their errors, integers exactly; unless it has much to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.targets.minion.convolution.kernels import Kernel

import polyloom as pl
from polyloom.run.compare import compare

EXAMPLES = Path(__file__).parents[4] / "examples" / "kernels"
MM3 = {"NI": 9, "NJ": 17, "NK": 20, "NL": 10, "NM": 5}


@pytest.mark.parametrize("fp", ["contract", "reassociate"])
def test_products_of_floats(fp: str) -> None:
    arguments: dict[str, Any] = MM3
    result = pl.compile(str(EXAMPLES / "mm3.py"), on="minion:2", fp=fp).run(**arguments)
    assert result.outcome.compared_with == ("arithmetic", "source")


@pytest.mark.parametrize("element", ["f32", "i8"])
def test_convolutions(element: str, tmp_path: Path) -> None:
    path = Kernel(element=element).path(tmp_path)
    result = pl.compile(path, on="minion:2").run(H=3, W=5, C=7, M=4)
    assert result.outcome.compared_with == ("arithmetic", "source")


def test_a_function_with_much_to_do_is_not_executed() -> None:
    result = pl.compile(str(EXAMPLES / "mm3.py"), on="minion:8").run(NI=50, NJ=50, NK=50, NL=50, NM=50)
    assert result.outcome.compared_with == ("arithmetic",)


def test_a_result_that_is_too_far_off_is_found(golden: Golden) -> None:
    subject = pl.compile(str(EXAMPLES / "mm3.py"), on="minion:1").subject
    assert subject is not None
    own = subject.oracles[1]
    assert own.bounds is not None
    inputs = {name: np.ones((3, 3), np.float32) for name in "ABCD"}
    expected = own.outputs(dict.fromkeys(MM3, 3), inputs)
    assert expected is not None
    allowed = own.bounds(dict.fromkeys(MM3, 3), inputs, expected)
    assert compare(expected, expected, own, allowed).difference is None
    found = compare(expected, {**expected, "G": np.full((3, 3), 40.5, np.float32)}, own, allowed).difference
    assert found is not None
    golden("source", f"{found.code}: {found.message}\n")
