# SPDX-License-Identifier: Apache-2.0
"""One file of each kind that Polyloom writes, compiled from small kernels in the current folder, with the words that
simulate it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from polyloom import npy
from polyloom.cli import main

PYTHON: Final = """import polyloom as pl
N = pl.size("N")
@pl.kernel
def k(A: pl.f32[N, N], x: pl.f32[N], y: pl.f32[N], z: pl.f32[N]) -> None:
    for i in range(N):
        y[i] = 0.0
        for j in range(N):
            y[i] += A[i, j] * x[j]
    for i in range(N):
        z[i] = 0.0
        for j in range(N):
            z[i] += A[j, i] * y[j]
"""
ONE: Final = """import polyloom as pl
N = pl.size("N")
@pl.kernel
def k(A: pl.f32[N, N], B: pl.f32[N, N], C: pl.f32[N, N]) -> None:
    for i in range(N):
        for j in range(N):
            C[i, j] = 0.0
            for l in range(N):
                C[i, j] += A[i, l] * B[l, j]
"""
STEPS: Final = """import polyloom as pl
N = pl.size("N")
@pl.kernel
def k(p: pl.i32[N, N]) -> None:
    for k in range(N):
        for i in range(N):
            for j in range(N):
                p[i, j] = min(p[i, j], p[i, k] + p[k, j])
"""
C: Final = "int k(int n, int a[n]) {\n  int s = 0;\n  for (int i = 0; i < n; i++) s += a[i];\n  return s;\n}\n"
VECTOR: Final = """#include "sfpi.h"
void k() {
    sfpi::vFloat x = sfpi::dst_reg[0];
    sfpi::dst_reg[0] = sfpi::abs(x);
}
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """The name of the file, the words that compile `source`, which is of `text`, and those that simulate it."""

    file: str
    source: str
    text: str
    compiled: str
    simulated: str = ""

    def make(self, source: str | None = None) -> None:
        """In the current folder; `source` is another path of the source."""
        path = source or self.source
        Path(path).write_text(self.text, encoding="utf-8")
        words = [*self.compiled.format(path).split(), "-o", self.file]
        assert main(["compile", *words]) == 0, words

    @property
    def words(self) -> list[str]:
        return ["simulate", self.file, *self.simulated.split()]


_ALL: Final = (
    Kind("one.plsc", "one.py", ONE, "{} --on tcpa:unit"),
    Kind("phases.plsc", "two.py", PYTHON, "{} --on tcpa:unit"),
    Kind("steps.plsc", "steps.py", STEPS, "{} --on tcpa:unit"),
    Kind("sum.belt", "sum.c", C, "{} --on belt:silver", "--in a=a.npy n=4"),
    Kind("sum.elf", "sum.c", C, "{} --on riscv", "--in a=a.npy n=4"),
    Kind("minion.elf", "one.py", ONE, "{} N=4 --on minion:2", "--in A=f.npy --in B=f.npy"),
    Kind("tile.elf", "one.py", ONE, "{} N=4 --on tensix:wormhole", "--in A=f.npy --in B=f.npy"),
    Kind("stages.elf", "two.py", PYTHON, "{} N=4 --on tensix:wormhole", "--in A=f.npy --in x=x.npy"),
    Kind("vector.elf", "abs.h", VECTOR, "{} --function k --on tensix:wormhole", "--in dst:bf16=dst.npy"),
)
KINDS: Final = {kind.file: kind for kind in _ALL}
_INSTANTIATED: Final = {
    "one.plcc": ("one.plsc", "--in A=f.npy --in B=f.npy"),
    "phases.plcc": ("phases.plsc", "--in A=f.npy --in x=x.npy"),
    "steps.plcc": ("steps.plsc", "--in p=p.npy"),
}
FILES: Final = (*KINDS, *_INSTANTIATED)
"""Of all kinds."""


def make_arrays() -> None:
    """What they run on."""
    arrays = {
        "a": np.arange(4, dtype=np.int32),
        "p": np.arange(16, dtype=np.int32).reshape(4, 4),
        "x": np.ones(4, np.float32),
        "f": np.ones((4, 4), np.float32),
        "dst": np.ones((32, 32), np.float32),
    }
    for name, array in arrays.items():
        Path(f"{name}.npy").write_bytes(npy.encode(array))


def make(file: str, source: str | None = None) -> Kind:
    """One of `FILES`, in the current folder, of a source at the path `source`, with its arrays."""
    make_arrays()
    if file in KINDS:
        KINDS[file].make(source)
        return KINDS[file]
    symbolic, words = _INSTANTIATED[file]
    made = make(symbolic, source)
    assert main(["instantiate", symbolic, "N=4", "--pes", "2x2", "-o", file]) == 0
    return Kind(file, made.source, made.text, made.compiled, words)


def symbolic_of(file: str) -> str:
    """The file that `file` is instantiated from, or itself."""
    return _INSTANTIATED[file][0] if file in _INSTANTIATED else file


def is_simulated(file: str) -> bool:
    return not file.endswith(".plsc")
