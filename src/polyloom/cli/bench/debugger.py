# SPDX-License-Identifier: Apache-2.0
"""Debugger on a matrix product, gemm of 4 x 4 x 4, on each machine: the longest and the mean step, a step back from the
end, going back to the middle, and the bytes of snapshots, with their greatest sum of 256 MB.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Final

from polyloom.cli.examples import folder
from polyloom.debugger.entry_point import debug
from polyloom.stepping.session import Session

MACHINES: Final = ("tcpa:2x2", "riscv", "belt", "minion:1", "tensix")
_SIZE: Final = {"NI": 4, "NJ": 4, "NK": 4}


def rows() -> Iterator[dict[str, object]]:
    """A row per machine."""
    for on in MACHINES:
        session = debug(str(folder() / "kernels" / "gemm.py"), _SIZE, on=on).session
        steps = list(_time_steps(session))
        end = session.position
        yield {
            "machine": on,
            "positions": end,
            "events": session.events,
            "step, ms": f"{1000 * sum(steps) / len(steps):.2f}",
            "longest step, ms": f"{1000 * max(steps):.1f}",
            "back by one, ms": f"{1000 * _time_seek(session, end - 1):.1f}",
            "back to the middle, ms": f"{1000 * _time_seek(session, end // 2):.1f}",
            "snapshots, KB": f"{session.snapshot_bytes / 1000:.0f}",
        }


def _time_steps(session: Session) -> Iterator[float]:
    # Single steps: the longest one includes a snapshot.
    while not session.is_at_end:
        start = perf_counter()
        session.step()
        yield perf_counter() - start


def _time_seek(session: Session, position: int) -> float:
    start = perf_counter()
    session.seek(position)
    return perf_counter() - start
