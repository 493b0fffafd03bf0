# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench minion`: short products on as many minions as pay. Of 1,024 minions, the compiler lets as many take
part as it predicts to be fastest; beside it the best of all counts that were tried, each with all of its minions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from polyloom.cli.bench.minion_tables.sources import compile_source, run_random

TRIED: Final = (8, 16, 32, 64, 128, 256, 512, 1024)
_CHIP: Final = TRIED[-1]
SIZES: Final = (64, 96, 128, 192, 256)
ELEMENTS: Final = ("f32", "f16", "i8")
_SUMS: Final = {"f32": ("f32", ""), "f16": ("f32", "to_f32"), "i8": ("i32", "to_i32")}
"""The type of the sum, and what makes a factor one of it."""
_MOST: Final = 1.05
"""Asked: cycles by those of the best count that was tried."""


def source(element: str) -> str:
    """A product's equations."""
    result, convert = _SUMS[element]
    term = f"{convert}(A[i, k]) * {convert}(B[k, j])" if convert else "A[i, k] * B[k, j]"
    return (
        f"parameter N >= 0, M >= 0, K >= 0\ninput A[N, K]: {element}, B[K, M]: {element}\noutput C[N, M]: {result}\n\n"
        f"for 0 <= i < N, 0 <= j < M, 0 <= k < K do\n"
        f"  c[i, j, k] = {term} if k = 0\n  c[i, j, k] = c[i, j, k-1] + {term} if k >= 1\n"
        "  C[i, j] = c[i, j, k] if k = K - 1\n"
    )


def rows() -> Iterator[dict[str, object]]:
    """From DRAM to DRAM."""
    for element in ELEMENTS:
        for size in SIZES:
            yield from short_rows(element, size, TRIED)


def short_rows(element: str, size: int, tried: tuple[int, ...]) -> list[dict[str, object]]:
    """The chosen count and what it takes, the best one that was tried, and their ratio."""
    cycles, predicted, used = measure(element, size, _CHIP, every=False)
    found = {count: measure(element, size, count, every=True)[0] for count in tried}
    best = min(found, key=lambda count: found[count])
    what = f"{element} {size} x {size} x {size}, DRAM to DRAM"
    off = round(100 * (predicted / cycles - 1), 1)
    return [
        {"what": f"{what}, {used} minions, chosen", "model": cycles, "off": off, "unit": "cycles"},
        {"what": f"{what}, {best} minions, best of {len(tried)}", "model": found[best], "unit": "cycles"},
        {"what": f"{what}, chosen by best", "asked": _MOST, "model": round(cycles / found[best], 3), "unit": "ratio"},
    ]


def measure(element: str, size: int, minions: int, *, every: bool) -> tuple[int, int, int]:
    """Cycles, those that were predicted, and how many minions take part; `every`: all of them."""
    sizes = dict.fromkeys("NMK", size)
    made = run_random(compile_source(source(element), "product.pla", minions, sizes, all_minions=every), sizes)
    assert made.cycles is not None, "it runs in time"
    return made.cycles, int(str(made.facts["predicted_cycles"])), int(str(made.facts["minions_used"]))
