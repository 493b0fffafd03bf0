# SPDX-License-Identifier: Apache-2.0
"""`x.bit_count()` and `__builtin_popcount` on every machine: what Python counts, or a refusal by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import polyloom as pl
from polyloom.diagnostics import PolyloomError

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

KERNEL = """import numpy as np
import polyloom as pl

n = pl.size("n")


@pl.kernel
def counts(x: pl.i32[n], h: pl.u16[n], y: pl.i32[n], z: pl.u8[n]) -> None:
    for i in range(n):
        y[i] = x[i].bit_count()
        z[i] = np.bitwise_count(h[i])
"""
FUNCTION = """void counts(int n, const unsigned x[n], const unsigned short h[n], int y[n], unsigned char z[n]) {
  for (int i = 0; i < n; i++) {
    y[i] = __builtin_popcount(x[i]);
    z[i] = __builtin_popcountll(h[i]);
  }
}
"""
X = np.array([0, 1, -1, 2**31 - 1, -(2**31), 0x55555, -12345, 77], np.int32)
H = np.array([0, 1, 65535, 32768, 21845, 257, 4095, 9], np.uint16)
REFUSING = ("minion", "tensix")


@pytest.mark.parametrize("target", ["tcpa", "riscv:rv64gc", "belt", "minion", "tensix"])
@pytest.mark.parametrize("language", ["py", "c"])
def test_bits_are_counted(language: str, target: str, tmp_path: Path) -> None:
    if language == "c" or target not in ("tcpa", *REFUSING):
        pytest.importorskip("ziglang", reason="C needs the extra `c`")
    path = tmp_path / f"f.{language}"
    path.write_text(KERNEL if language == "py" else FUNCTION, encoding="utf-8")
    # INT32 in Dst of a tile is sign and magnitude: it has no -2**31 (docs/targets/tensix-loops.md).
    given = np.maximum(X, -(2**31) + 1) if target == "tensix" else X
    x = given if language == "py" else given.view(np.uint32)
    try:
        compiled = pl.compile(str(path), on=target)
        found = compiled.run(n=8, x=x, h=H, y=np.zeros(8, np.int32), z=np.zeros(8, np.uint8)).outputs
    except PolyloomError as error:
        assert target in REFUSING and all(d.help is not None for d in error.diagnostics), error
        return
    assert found["y"].tolist() == [abs(int(v)).bit_count() for v in x]
    assert found["z"].tolist() == [int(v).bit_count() for v in H]
