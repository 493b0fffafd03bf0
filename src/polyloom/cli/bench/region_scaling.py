# SPDX-License-Identifier: Apache-2.0
"""How instantiation and verification grow with the region, on `ideal` with equal tiles: promises of the project, and
what is measured.

Program instantiation must not depend on the number of elements. What is written must, so its added time is compared
with a `memcpy` of the added bytes, with the file's checksum and without. This is promised of loops over boxes; two
triangular nests are held to the same limits. Verification looks at what is alike once, so that it takes seconds where
running every element would take minutes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from statistics import median
from struct import unpack_from
from typing import Final

from polyloom._native import instantiate as native
from polyloom.cli.bench.instantiation import seconds
from polyloom.cli.bench.regions import (
    EXTENTS,
    LARGE,
    Region,
    bounds,
    candidate,
    instance,
    loop,
    measured_regions,
    title,
)
from polyloom.cli.bench.timing import median_cpu_seconds
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.run.verify import verify_concrete
from polyloom.targets.tcpa.words import concrete_file

_SMALL: Final = (4, 4)
_MIDDLE: Final = (32, 32)
_LARGE: Final = LARGE[-1]
_RUNS: Final = 15
_TABLE: Final = 32
"""Where a file's section table begins."""
COUNTED: Final = {"own": True, "file": False}
GROWTH: Final = 1.15
COPIES: Final = {"with checksum": 8.0, "without checksum": 4.0}
_TRIANGULAR: Final = ("trisolv", "syrk")
_VERIFIED: Final = ((16, 16), (256, 256), _LARGE)
_VERIFICATIONS: Final = 3
_SECONDS: Final = 10.0
"""What the verification of the largest region may take."""


def rows() -> Iterator[dict[str, object]]:
    kernels = [kernel for kernel in EXTENTS if len(EXTENTS[kernel]) > 1]
    yield from map(_growth, kernels)
    yield from (row for kernel in kernels for row in _copy_rows(kernel))
    yield from (row for kernel in _TRIANGULAR for row in _copy_rows(kernel, ", triangular"))
    yield from (row for kernel in EXTENTS for row in _bytes(kernel))
    yield from (_verification_row(kernel, region) for kernel in (*kernels, *_TRIANGULAR) for region in _VERIFIED)


def _row(kernel: str, what: str, measured: float, limit: float | None) -> dict[str, object]:
    met = None if limit is None else measured <= limit
    return {"kernel": kernel, "measured": what, "value": measured, "limit": limit, "met": met}


def _verification_row(kernel: str, region: Region) -> dict[str, object]:
    """CPU seconds of `polyloom verify` without the start of Python. A right file has no finding."""
    data, machine = instance(kernel, region), machine_file.load("ideal")
    if verify_concrete.verify(data, machine):
        raise AssertionError(f"{kernel} on {title(region)} does not hold")
    seconds = median_cpu_seconds(lambda: verify_concrete.verify(data, machine), _VERIFICATIONS)
    return _row(kernel, f"CPU seconds to verify, {title(region)}", seconds, _SECONDS if region == _LARGE else None)


def _growth(kernel: str) -> dict[str, object]:
    # Class by class: the number of elements must not appear in the time.
    small, large = (seconds(kernel, region, perfect=True) for region in (_SMALL, _LARGE))
    return _row(kernel, f"program instantiation, {title(_LARGE)} over {title(_SMALL)}", large / small, GROWTH)


def _copy_rows(kernel: str, kind: str = "") -> list[dict[str, object]]:
    """The time that more elements add, over that of a memcpy of the added bytes."""
    (middle, _, before), (large, copied, after) = (_library_seconds(kernel, region) for region in (_MIDDLE, _LARGE))
    # The memcpy of the whole file, by the share of the added bytes.
    copy = copied * (after - before) / after
    what = f"{title(_MIDDLE)} to {title(_LARGE)} over memcpy"
    return [
        _row(kernel, f"{what}, {name}{kind}", (large[name] - middle[name]) / copy, limit)
        for name, limit in COPIES.items()
    ]


def _library_seconds(kernel: str, region: Region) -> tuple[dict[str, float], float, int]:
    """Seconds of a whole configuration, of a memcpy of its bytes, and how many these are."""
    values = bounds(kernel, region)
    ordered = [values[name] for name in loop(kernel).symbolic.parameters]
    _, runs, size = native.seconds(loop(kernel).data, ordered, *region, candidate(kernel), 0, _RUNS)
    whole = {
        "with checksum": median(p + e for p, e, _, _ in runs),
        "without checksum": median(p + e - s for p, e, s, _ in runs),
    }
    return whole, median(copy for *_, copy in runs), size


def _bytes(kernel: str) -> list[dict[str, object]]:
    """For each count the pair of regions that comes nearest to the limit."""
    return [
        _nearest(kernel, what, [(pair, *bytes_an_element(kernel, *pair, own=own)) for pair in pairs(kernel)])
        for what, own in COUNTED.items()
    ]


def _nearest(kernel: str, what: str, found: list[tuple[tuple[Region, Region], float, float]]) -> dict[str, object]:
    (small, large), measured, limit = max(found, key=lambda f: f[1] / f[2])
    return _row(kernel, f"bytes per element, {what}, {title(small)} to {title(large)}", measured, limit)


def pairs(kernel: str) -> list[tuple[Region, Region]]:
    """Regions of one kind, in which the same classes occur."""
    return [(a, b) for a, b in pairwise(measured_regions(kernel)) if (a[0] == b[0]) == (a[0] == 1) and a != (1, 1)]


def bytes_an_element(
    kernel: str, small: Region, large: Region, *, own: bool, perfect: bool = True
) -> tuple[float, float]:
    """What one more element adds, and what it may add: 24, and 16 per loop dimension for every access mapping that it
    takes part in.

    `own`: to the sections that have one entry per element; else to the file.
    """
    before, after = (instance(kernel, region, perfect=perfect) for region in (small, large))
    old, new = concrete_file.decode(before), concrete_file.decode(after)
    elements = new.rows * new.columns - old.rows * old.columns
    added = _element_bytes(after) - _element_bytes(before) if own else len(after) - len(before)
    return added / elements, 24 + 16 * len(new.extents) * (len(new.generators) - len(old.generators)) / elements


def _element_bytes(data: bytes) -> int:
    """Bytes of the maps, the domains and the generators."""
    ends = unpack_from(f"<{concrete_file.KIND.sections}I", data, _TABLE)
    return ends[5] - ends[2]
