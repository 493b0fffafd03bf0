# SPDX-License-Identifier: Apache-2.0
"""How many of the 45 everyday constructs each machine runs, with equal bits."""

from __future__ import annotations

from typing import Any

import pytest
from tests.frontend.python.arrays.constructs import EVERYDAY
from tests.frontend.python.arrays.test_constructs import KERNELS, SIZES

import polyloom as pl
from polyloom.diagnostics import PolyloomError

COUNTS: dict[str, tuple[int, dict[str, Any]]] = {
    "riscv:rv64gc": (45, {}),
    "belt:gold": (45, {}),
    "tcpa:unit": (44, {"pes": (2, 2)}),
    "minion": (43, {}),
    "tensix": (30, {}),
}
"""By machine: the number, which only grows, and what a run is given."""


def runs(name: str, on: str, options: dict[str, Any]) -> bool:
    kernel = KERNELS[name]
    parameters = {p: SIZES[0][p] for p in kernel.arrays.program.parameters}
    try:
        return bool(pl.compile(kernel, on=on).run(parameters, **options).verified)
    except PolyloomError as error:
        assert error.diagnostics[0].help is not None, error
        return False


@pytest.mark.long
@pytest.mark.parametrize("on", COUNTS)
def test_machines_run_so_many(on: str) -> None:
    count, options = COUNTS[on]
    assert sum(runs(name, on, options) for name in EVERYDAY) >= count
