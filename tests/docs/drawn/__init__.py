# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/: each is drawn from what the program does today, as SVG that is readable in light and dark.

`PICTURES` names them; tests/docs/test_pictures.py compares the files, and `--update-golden` draws them again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tests.docs.drawn import classes, graph, machines, order, overlap, runs, space, table, vector

PICTURES: Final[Mapping[str, Callable[[], str]]] = {
    "belt": overlap.belt,
    "classes": classes.draw,
    "dominators": graph.draw,
    "gemm": runs.gemm,
    "litmus": order.draw,
    "minion": machines.minion,
    "minion-loops": runs.minion_loops,
    "minion-products": runs.minion_products,
    "riscv": table.riscv,
    "schedule": overlap.schedule,
    "tcpa": machines.tcpa,
    "tensix": machines.tensix,
    "tensix-fidelity": vector.fidelity,
    "tensix-kernels": vector.error,
    "tensix-lanes": vector.lanes,
    "tensix-loops": runs.tensix_loops,
    "tensix-python": vector.condition,
    "tensix-tile": runs.tensix_tile,
    "trisolv": space.draw,
    "utilization": table.utilization,
}
"""By the name of the file in docs/pictures, without `.svg`."""
