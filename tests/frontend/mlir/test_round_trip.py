# SPDX-License-Identifier: Apache-2.0
"""Kernels printed as MLIR, which xDSL reads back as an equal nest (`polyloom show --as mlir`)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.frontend.c.helpers import KERNELS, canonical
from tests.frontend.mlir.helpers import read

from polyloom import frontend
from polyloom.frontend.source import Options
from polyloom.ir.nest_mlir import print_mlir

NAMES = sorted(path.stem for path in KERNELS.glob("*.py"))


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_is_printed_as_mlir_that_reads_back(name: str, tmp_path: Path) -> None:
    nest = frontend.python_nest(str(KERNELS / f"{name}.py"), Options())[0]
    again, _ = read(tmp_path, print_mlir(nest), nest.name)
    assert canonical(again) == canonical(nest)
