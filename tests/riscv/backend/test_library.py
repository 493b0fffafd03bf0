# SPDX-License-Identifier: Apache-2.0
"""Kernels of C's library on RISC-V give the bits of `ir.library`; what a file defines itself stays its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.riscv.backend.running import run

from polyloom.frontend.source import Options
from polyloom.ir.library import SINGLE, evaluate, program

pytest.importorskip("ziglang", reason="C needs the extra `c`")

VALUES = np.array([-np.inf, -200.0, -1.5, -0.0, 0.0, 1e-40, 0.3, 1.0, 7.25, 90.0, 1e9, np.inf, np.nan], np.float32)
ON_ALL = """#include <math.h>
void f(int n, float y[n], const float x[n]) {{ for (int i = 0; i < n; i++) y[i] = {call}(x[i]); }}
"""


def outcome(folder: Path, text: str, on: str) -> tuple[np.ndarray, bool | None]:
    path = folder / "f.c"
    path.write_text(text, encoding="utf-8")
    result = run(str(path), on, Options(function="f"), {"n": str(len(VALUES))}, {"x": VALUES}, 1)
    return result.outputs["y"], result.verified


@pytest.mark.parametrize(("name", "on"), [*((n, "riscv:rv64gc") for n in SINGLE), ("exp", "riscv:rv32gc")])
def test_kernels(name: str, on: str, tmp_path: Path) -> None:
    found, verified = outcome(tmp_path, ON_ALL.format(call=f"{name}f"), on)
    assert verified
    with np.errstate(all="ignore"):
        assert np.array_equal(found, evaluate(program(name, "f32"), VALUES), equal_nan=True)


def test_a_function_of_the_file_is_its_own(tmp_path: Path) -> None:
    own = "static float expf(float x) { return x + 1; }\n" + ON_ALL.format(call="expf").partition("\n")[2]
    found, verified = outcome(tmp_path, own, "riscv:rv64gc")
    assert verified
    assert np.array_equal(found, VALUES + np.float32(1), equal_nan=True)
