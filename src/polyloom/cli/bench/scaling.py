# SPDX-License-Identifier: Apache-2.0
"""How instantiation grows with the region, on `ideal` with equal tiles: promises of the project, and what is measured.

Program instantiation must not depend on the number of elements. What is written must, so its added time is compared with a `memcpy`
of the added bytes, with the file's checksum and without. Bytes an element are those of the sections that have an entry an element:
maps, domains and generators.
"""

from __future__ import annotations

from statistics import median
from struct import unpack_from
from typing import Final

from polyloom import _core
from polyloom.cli.bench.instantiation import seconds
from polyloom.cli.bench.regions import EXTENTS, LARGE, Region, bounds, candidate, instance, loop, regions, title
from polyloom.targets.tcpa import concrete_file

_SMALL: Final = (4, 4)
_MIDDLE: Final = (32, 32)
_LARGE: Final = LARGE[-1]
_RUNS: Final = 15
_TABLE: Final = 32
"""Where a file's section table begins."""
GROWTH: Final = 1.15
COPIES: Final = {"with checksum": 8.0, "without checksum": 4.0}


def rows() -> list[dict[str, object]]:
    kernels = [kernel for kernel in EXTENTS if len(EXTENTS[kernel]) > 1]
    return [*(_growth(kernel) for kernel in kernels), *(row for kernel in kernels for row in _copies(kernel)), *map(_bytes, EXTENTS)]


def _row(kernel: str, what: str, measured: float, limit: float) -> dict[str, object]:
    return {"kernel": kernel, "measured": what, "value": measured, "limit": limit, "met": measured <= limit}


def _growth(kernel: str) -> dict[str, object]:
    small, large = (seconds(kernel, region, perfect=True) for region in (_SMALL, _LARGE))
    return _row(kernel, f"program instantiation, {title(_LARGE)} over {title(_SMALL)}", large / small, GROWTH)


def _copies(kernel: str) -> list[dict[str, object]]:
    """The time added from 32x32 to 1024x1024 elements over that of a memcpy of the added bytes."""
    (middle, _, before), (large, copied, after) = (_whole(kernel, region) for region in (_MIDDLE, _LARGE))
    copy = copied * (after - before) / after
    what = f"{title(_MIDDLE)} to {title(_LARGE)} over memcpy"
    return [_row(kernel, f"{what}, {name}", (large[name] - middle[name]) / copy, limit) for name, limit in COPIES.items()]


def _whole(kernel: str, region: Region) -> tuple[dict[str, float], float, int]:
    """Seconds of a whole configuration, of a memcpy of its bytes, and how many these are."""
    values = bounds(kernel, region)
    ordered = [values[name] for name in loop(kernel).symbolic.parameters]
    _, runs, size = _core.instantiation_seconds(loop(kernel).data, ordered, *region, candidate(kernel), 0, _RUNS)
    whole = {"with checksum": median(p + e for p, e, _, _ in runs), "without checksum": median(p + e - s for p, e, s, _ in runs)}
    return whole, median(copy for *_, copy in runs), size


def _bytes(kernel: str) -> dict[str, object]:
    """The region of the paper that comes nearest to the limit."""
    found = [(region, *bytes_an_element(kernel, region)) for region in regions(kernel)]
    region, measured, limit = max(found, key=lambda f: f[1] / f[2])
    return _row(kernel, f"bytes an element, {title(region)}", measured, limit)


def bytes_an_element(kernel: str, region: Region, *, perfect: bool = True) -> tuple[float, float]:
    """Of a concrete file, and at most: 24, and 16 a loop dimension for every access mapping that an element takes part in."""
    data = instance(kernel, region, perfect=perfect)
    made = concrete_file.decode(data)
    ends = unpack_from(f"<{concrete_file.KIND.sections}I", data, _TABLE)
    elements = made.rows * made.columns
    return (ends[5] - ends[2]) / elements, 24 + 16 * len(made.extents) * len(made.generators) / elements
