# SPDX-License-Identifier: Apache-2.0
"""What the compiler writes has no hazards, and each of its waits and cache operations is there for a reason: without
it, one is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.targets.minion.hazards.compiled import WAIT, guards, outcome, without

from polyloom.cli import main
from polyloom.cli.examples import folder

PROGRAMS = {
    "matmul.pla": ("N=20 M=20 K=40", 2),
    "kernels/jacobi2d.py": ("TSTEPS=2 N=20", 2),
    "kernels/covariance.py": ("M=20 N=20", 2),
    # What two statements write is evicted behind the second one; blocks of two works begin a row apart.
    # As one nest: between phases, whole arrays decide what is evicted.
    "kernels/gemver.py": ("N=40 --fp strict", 4),
    "kernels/fdtd2d.py": ("TMAX=2 NX=40 NY=20", 4),
    # No hart touches what another one has written: nothing is evicted.
    "kernels/doitgen.py": ("NQ=3 NR=3 NP=40", 2),
    # A product, and vector code that reads its result: nobody reads what that leaves in caches.
    "layer.py": ("N=20 K=16 M=20", 2),
}
LAYER = """import polyloom as pl

N, K, M = pl.sizes("N K M")


@pl.kernel
def layer(a: pl.f32[N, K], b: pl.f32[K, M], c: pl.f32[N, M], d: pl.f32[N, M]) -> None:
    for i in range(N):
        for j in range(M):
            c[i, j] = 0.0
            for k in range(K):
                c[i, j] += a[i, k] * b[k, j]
    for i in range(N):
        for j in range(M):
            d[i, j] = c[N - 1 - i, j] + 1.0
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_guard_is_needed(name: str, tmp_path: Path) -> None:
    values, minions = PROGRAMS[name]
    path, source = tmp_path / "k.elf", folder() / name
    if not source.exists():
        source = tmp_path / name
        source.write_text(LAYER)
    words = ["compile", str(source), *values.split(), "--on", f"minion:{minions}", "-o", str(path)]
    assert main(words) == 0
    data = path.read_bytes()
    whole = outcome(data, minions)
    assert (whole.stop, [*whole.findings]) == ("passed", [])
    places = [*guards(data)]
    assert any(csr == WAIT for _, csr in places) or name == "kernels/doitgen.py"
    silent = [hex(at) for at, _ in places if not outcome(without(data, at), minions).findings]
    assert silent == []
