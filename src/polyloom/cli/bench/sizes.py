# SPDX-License-Identifier: Apache-2.0
"""Processor classes by region, and the layout of the paper's Table 2: concrete configurations as multiples of the
symbolic one.

Sizes are bytes of files without their names sections, which are for listings; what the paper counted is not known. `one
candidate` is the symbolic file that stores only the measured mapping.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from polyloom.cli.bench.regions import (
    EXTENTS,
    REGIONS,
    TRIANGULAR,
    candidate,
    instance,
    loop,
    measured_regions,
    region_columns,
)
from polyloom.targets.tcpa.words import concrete_file, symbolic_file
from polyloom.targets.tcpa.words.symbolic import Symbolic

PUBLISHED: Final[Mapping[str, tuple[float, ...]]] = {
    "bits": (0.77, 4.46, 8.20),
    "fir": (1.17, 3.86, 5.85, 5.14, 7.18, 21.36),
    "matmul": (1.00, 3.65, 6.48, 4.88, 15.12, 193.73),
    "conv": (1.05, 3.73, 6.53, 5.83, 16.25, 299.41),
}
"""The paper's Table 2."""
_OF_LU: Final = ((1, 1), (4, 4))
"""Its classes grow with the region, and on 8x8 its control signals exceed what a file has numbers for."""


def classes() -> Iterator[dict[str, object]]:
    """Processor classes by region, for perfect and for imperfect tilings."""
    yield from (_classes(kernel, perfect=perfect) for kernel in (*EXTENTS, *TRIANGULAR) for perfect in (True, False))


def _classes(kernel: str, *, perfect: bool) -> dict[str, object]:
    chosen = _OF_LU if kernel == "lu" else measured_regions(kernel)
    made = {region: concrete_file.decode(instance(kernel, region, perfect=perfect)) for region in chosen}
    intervals = sorted({c.initiation_interval for c in made.values()})
    counts = region_columns({region: len(c.classes) for region, c in made.items()})
    return {
        "kernel": kernel,
        "tiling": "perfect" if perfect else "imperfect",
        "pi": " ".join(map(str, intervals)),
        **counts,
    }


def sizes() -> Iterator[dict[str, object]]:
    """Bytes of the symbolic file, and concrete bytes as multiples of it, by region, beside the paper's multiples."""
    for kernel in EXTENTS:
        yield _sizes(kernel)
        yield _published_row(kernel)


def _sizes(kernel: str) -> dict[str, object]:
    data, decoded = loop(kernel).data, loop(kernel).symbolic
    symbolic = symbolic_file.size_without_names(data)
    concrete = {
        region: concrete_file.size_without_names(instance(kernel, region)) for region in measured_regions(kernel)
    }
    return {
        "kernel": kernel,
        "candidates": len(decoded.candidates),
        "symbolic bytes": symbolic,
        "one candidate": symbolic_file.size_without_names(
            symbolic_file.encode(_single_candidate(decoded, candidate(kernel)))
        ),
        "1x1 bytes": concrete[1, 1],
        **region_columns({region: round(size / symbolic, 2) for region, size in concrete.items()}),
    }


def _published_row(kernel: str) -> dict[str, object]:
    unknown: list[str] = ["candidates", "symbolic bytes", "one candidate", "1x1 bytes"]
    return {
        "kernel": f"{kernel}, paper",
        **dict.fromkeys(unknown),
        **region_columns(dict(zip(REGIONS, PUBLISHED[kernel], strict=False))),
    }


def _single_candidate(symbolic: Symbolic, number: int) -> Symbolic:
    """The configuration with one candidate alone."""
    schedule = symbolic.candidates[number].schedule
    # The one schedule that is left has number 0.
    only = replace(symbolic.candidates[number], schedule=0)
    return replace(
        symbolic,
        candidates=(only,),
        schedules=(symbolic.schedules[schedule],),
        bottlenecks=(symbolic.bottlenecks[schedule],),
    )
