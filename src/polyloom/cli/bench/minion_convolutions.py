# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench minion`: what compiled convolutions reach, and how much faster they are than the same loops with
packed SIMD, where `--fp strict` keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from polyloom import api, temporary
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.target import TARGET
from polyloom.targets.target import Job

_MINIONS: Final = 32
_SOURCE: Final = """
import polyloom as pl

H, W, C, M = pl.sizes("H W C M")


@pl.kernel
def conv(x: pl.f32[H, W, C], k: pl.f32[3, 3, C, M], y: pl.f32[H, W, M]) -> None:
    for h in range(H):
        for w in range(W):
            for m in range(M):
                y[h, w, m] = 0.0
                for r in range(3):
                    for s in range(3):
                        if h + r >= 1 and h + r <= H and w + s >= 1 and w + s <= W:
                            for c in range(C):
                                y[h, w, m] += x[h + r - 1, w + s - 1, c] * k[r, s, c, m]
"""


def rows() -> Iterator[dict[str, object]]:
    """A padded convolution on one shire, from DRAM to DRAM."""
    what = f"f32 convolution 3 x 3, padded, {_MINIONS} minions"
    used = _run(56, 64, "contract").facts["utilization"]
    yield {"what": f"{what}, 56 x 56 x 64 to 64", "model": round(used, 3), "unit": "utilization"}
    tensor, loops = (_run(14, 32, fp).cycles for fp in ("contract", "strict"))
    yield {"what": f"{what}, 14 x 14 x 32 to 32", "model": round(loops / tensor, 1), "unit": "times as fast as loops"}


def _run(pixels: int, channels: int, fp: str) -> Any:
    sizes = {"H": pixels, "W": pixels, "C": channels, "M": channels}
    with temporary.temporary_folder() as folder:
        path = folder / "conv.py"
        path.write_text(_SOURCE, encoding="utf-8")
        instance = api.compile(f"{path}:conv", on=f"minion:{_MINIONS}", fp=fp).prepare_instance(sizes)
    random = np.random.default_rng(1)
    shapes = {"x": (pixels, pixels, channels), "k": (3, 3, channels, channels)}
    arrays = {name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    return TARGET.run(instance.data, Job(arrays, None, Options()))
