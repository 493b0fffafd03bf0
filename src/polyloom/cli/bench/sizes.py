# SPDX-License-Identifier: Apache-2.0
"""The layouts of the paper's Tables 1 and 2: processor classes, and sizes of concrete configurations over the symbolic one's.

Sizes leave out the names sections, which are for listings. `one candidate` is the symbolic file that stores only the measured one.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom.cli.bench.regions import EXTENTS, by_region, candidate, compiled, instance, regions
from polyloom.targets.tcpa import concrete_file, symbolic_file
from polyloom.targets.tcpa.symbolic import Symbolic


def classes() -> list[dict[str, object]]:
    """Processor classes by region, for perfect and for imperfect tilings."""
    return [_classes(kernel, perfect=perfect) for kernel in EXTENTS for perfect in (True, False)]


def _classes(kernel: str, *, perfect: bool) -> dict[str, object]:
    made = {region: concrete_file.decode(instance(kernel, region, perfect=perfect).data) for region in regions(kernel)}
    intervals = sorted({c.initiation_interval for c in made.values()})
    counts = by_region({region: len(c.classes) for region, c in made.items()})
    return {"kernel": kernel, "tiling": "perfect" if perfect else "imperfect", "pi": " ".join(map(str, intervals)), **counts}


def sizes() -> list[dict[str, object]]:
    """Bytes of the symbolic file, and concrete bytes as multiples of it, by region."""
    return [_sizes(kernel) for kernel in EXTENTS]


def _sizes(kernel: str) -> dict[str, object]:
    data = compiled(kernel).data
    symbolic = symbolic_file.size_without_names(data)
    decoded = symbolic_file.decode(data)
    concrete = {region: concrete_file.size_without_names(instance(kernel, region).data) for region in regions(kernel)}
    return {
        "kernel": kernel,
        "candidates": len(decoded.candidates),
        "symbolic bytes": symbolic,
        "one candidate": symbolic_file.size_without_names(symbolic_file.encode(_single(decoded, candidate(kernel)))),
        "1x1 bytes": concrete[1, 1],
        **by_region({region: round(size / symbolic, 2) for region, size in concrete.items()}),
    }


def _single(symbolic: Symbolic, number: int) -> Symbolic:
    """The configuration with one candidate alone."""
    schedule = symbolic.candidates[number].schedule
    only = replace(symbolic.candidates[number], schedule=0)
    return replace(symbolic, candidates=(only,), schedules=(symbolic.schedules[schedule],), bottlenecks=(symbolic.bottlenecks[schedule],))
