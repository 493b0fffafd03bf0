# SPDX-License-Identifier: Apache-2.0
"""The layouts of the paper's Tables 1 and 2: processor classes, and sizes of concrete configurations over the symbolic one's.

Sizes leave out the names sections, which are for listings. `one candidate` is the symbolic file that stores only the first.
"""

from __future__ import annotations

from dataclasses import replace

from polyloom import api
from polyloom.cli import examples
from polyloom.cli.bench.regions import KERNELS, REGIONS, bounds, title
from polyloom.targets.tcpa import concrete_file, symbolic_file


def classes() -> list[dict[str, object]]:
    """Processor classes by region, for perfect and for imperfect tilings."""
    return [_classes(kernel, perfect=perfect) for kernel in KERNELS for perfect in (True, False)]


def _classes(kernel: str, *, perfect: bool) -> dict[str, object]:
    compiled = _compiled(kernel)
    instances = {title(region): compiled.instantiate(bounds(kernel, region, perfect=perfect), pes=region) for region in REGIONS}
    decoded = {name: concrete_file.decode(instance.data) for name, instance in instances.items()}
    intervals = sorted({c.initiation_interval for c in decoded.values()})
    return {
        "kernel": kernel,
        "tiling": "perfect" if perfect else "imperfect",
        "pi": intervals[0] if len(intervals) == 1 else " ".join(map(str, intervals)),
        **{name: len(c.classes) for name, c in decoded.items()},
    }


def sizes() -> list[dict[str, object]]:
    """Bytes of the symbolic file, and concrete bytes as multiples of it, by region."""
    return [_sizes(kernel) for kernel in KERNELS]


def _sizes(kernel: str) -> dict[str, object]:
    compiled = _compiled(kernel)
    symbolic = symbolic_file.size_without_names(compiled.data)
    decoded = symbolic_file.decode(compiled.data)
    first = replace(decoded, candidates=decoded.candidates[:1], schedules=decoded.schedules[:1], bottlenecks=decoded.bottlenecks[:1])
    single = symbolic_file.size_without_names(symbolic_file.encode(first)) if decoded.candidates[0].schedule == 0 else None
    concrete = {title(r): compiled.instantiate(bounds(kernel, r), pes=r).data for r in REGIONS}
    return {
        "kernel": kernel,
        "candidates": len(decoded.candidates),
        "symbolic bytes": symbolic,
        "one candidate": single,
        "1x1 bytes": concrete_file.size_without_names(concrete["1x1"]),
        **{name: round(concrete_file.size_without_names(data) / symbolic, 2) for name, data in concrete.items()},
    }


def _compiled(kernel: str) -> api.Compiled:
    return api.compile(examples.path(kernel), on="tcpa:paper" if kernel == "bits" else "tcpa:wide")
