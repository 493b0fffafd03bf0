# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench minion`: small networks on one shire, and on as many of 1,024 minions as are predicted to be fastest.
Where shires own rows, arrays between phases stay in their scratchpads, and barriers are each shire's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from polyloom.cli.bench.minion_tables.sources import compile_source, run_random

_LAYER: Final = """    for i in range(N):
        for j in range(K):
            {to}[i, j] = {bias}[j]
            for k in range(K):
                {to}[i, j] += {left}[i, k] * {right}[k, j]
            {to}[i, j] = max({to}[i, j], 0.0)
"""
_ARRAYS: Final = ", ".join(
    [
        "X: pl.f32[N, K]",
        *(f"{name}: pl.f32[K, K]" for name in "UVW"),
        *(f"{name}: pl.f32[K]" for name in "abc"),
        *(f"{name}: pl.f32[N, K]" for name in "STY"),
    ]
)
SOURCE: Final = f"""
import polyloom as pl

N, K = pl.sizes("N K")


@pl.kernel
def layers({_ARRAYS}) -> None:
{_LAYER.format(to="S", bias="a", left="X", right="U")}\
{_LAYER.format(to="T", bias="b", left="S", right="V")}\
{_LAYER.format(to="Y", bias="c", left="T", right="W")}

@pl.kernel
def attention(
    Q: pl.f32[N, K], L: pl.f32[N, K], V: pl.f32[N, K], S: pl.f32[N, N], O: pl.f32[N, K]
) -> None:
    for i in range(N):
        for j in range(N):
            S[i, j] = 0.0
            for k in range(K):
                S[i, j] += Q[i, k] * L[j, k]
    for i in range(N):
        for j in range(N):
            S[i, j] = max(S[i, j] * 0.125, 0.0)
    for i in range(N):
        for j in range(K):
            O[i, j] = 0.0
            for k in range(N):
                O[i, j] += S[i, k] * V[k, j]
"""
NETWORKS: Final = {"layers": "three layers with bias and relu", "attention": "attention head with relu"}
CASES: Final = (
    ("layers", 64, 32),
    ("layers", 64, 1024),
    ("layers", 1024, 1024),
    ("attention", 64, 32),
    ("attention", 64, 1024),
)
"""Networks, their rows, and minions that they may use."""


def rows() -> Iterator[dict[str, object]]:
    """From DRAM to DRAM."""
    for name, size, minions in CASES:
        made = run_network(name, size, minions)
        facts = made.facts
        places = sorted({str(where) for _, where, _ in facts["intermediates"]})
        text = (
            f"f32 {NETWORKS[name]}, {size} x 64, {facts['minions_used']} of {minions} minions, between phases in "
            f"{' and '.join(places)}, predicted {facts['predicted_cycles']}"
        )
        off = round(100 * (int(facts["predicted_cycles"]) / made.cycles - 1), 1)
        yield {"what": text, "model": made.cycles, "off": off, "unit": "cycles"}


def run_network(name: str, size: int, minions: int) -> Any:
    """One run on random arrays, whose results are not compared: tests do that."""
    sizes = {"N": size, "K": 64}
    return run_random(compile_source(SOURCE, f"network.py:{name}", minions, sizes), sizes)
