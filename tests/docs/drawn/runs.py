# SPDX-License-Identifier: Apache-2.0
"""Runs in space and time, as the page of a run has them: what was busy when."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polyloom as pl
from polyloom.report import activity
from polyloom.targets.activity import Activity, Group

_EXAMPLES: Final = Path(__file__).parents[3] / "examples"
_LARGEST: Final = 14_000
"""Bytes."""


def gemm() -> str:
    compiled = pl.compile(_EXAMPLES / "kernels" / "gemm.py", on="tcpa:4x4")
    return _drawn(compiled.instantiate(NI=20, NJ=25, NK=30, pes=(4, 4)).run().activity)


def minion_products() -> str:
    """Two minions: their engines, and the issue slots of both harts."""
    return _drawn(_by_lane(pl.compile(_EXAMPLES / "matmul.pla", on="minion:2").run(N=64, M=64, K=64).activity))


def minion_loops() -> str:
    return _drawn(pl.compile(_EXAMPLES / "kernels" / "jacobi2d.py", on="minion:8").run(TSTEPS=4, N=34).activity)


def tensix_loops() -> str:
    """The units of a tile during a product."""
    return _drawn(_by_lane(pl.compile(_EXAMPLES / "matmul.pla", on="tensix").run(N=96, M=96, K=96).activity, "units"))


def tensix_tile() -> str:
    """Units, cores and threads during an element-wise program."""
    return _drawn(_by_lane(pl.compile(_EXAMPLES / "axpy.pla", on="tensix").run(N=5000).activity))


def _by_lane(found: Activity | None, only: str = "") -> Activity:
    """Each lane as a row of its own; those of the group `only` where it is given."""
    assert found is not None
    lanes = [(group.name, lane) for group in found.groups for lane in group.lanes]
    kept = [n for n, (group, _) in enumerate(lanes) if not only or group == only]
    several = not only and len(found.groups) > 1
    groups = tuple(_alone(*lanes[n], several) for n in kept)
    bits = b"".join(found.rows[n].tobytes() for n in kept)
    return Activity(groups, found.cycles, bits, found.step, found.holds)


def _alone(group: str, lane: str, several: bool) -> Group:
    known = group.split()[-1] if group.split()[-1].isdecimal() else ""
    return Group(f"{lane} {known}".strip() if several else lane, (lane,))


def _drawn(found: Activity | None) -> str:
    return activity.picture(found, largest=_LARGEST, alone=True) + "\n"
