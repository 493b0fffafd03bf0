# SPDX-License-Identifier: Apache-2.0
"""Figures of `run --json` that every compiled program has: how busy the machine was, and its bottleneck (roofline
model; Williams, Waterman and Patterson 2009).

Each bound is how long the run would take if one resource alone counted, all of its kind evenly loaded: what tensor
units multiply, what minions issue, lines at the shires' ports, over the mesh to a shire, and from DRAM, messages
between minions. The greatest names `bottleneck`. Rates: docs/targets/minion.md, "Time".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from polyloom.targets.minion.machine import MINIONS_PER_SHIRE
from polyloom.targets.minion.run.model import Outcome
from polyloom.targets.minion.words.note import Note
from polyloom.targets.target import Json

SHIRE_RATE: Final = 128
"""Bytes per cycle of a shire's four banks."""
MESH_RATE: Final = 50
"""Bytes per cycle over the mesh to a shire."""
DRAM_RATE: Final = 127
"""Bytes per cycle from DRAM, whole chip."""
MESSAGE_RATE: Final = 32 / 2.3
"""Bytes per cycle between two minions: a register takes 2.3."""
_OPERATIONS: Final = ("tensor_load", "tensor_load_l2", "tensor_fma", "tensor_quant", "tensor_store", "tensor_reduce")


def figures(note: Note, outcome: Outcome, cycles: int | None) -> dict[str, Json]:
    """Figures of a run; `cycles`, utilizations and `bottleneck` are None without time."""
    counters = outcome.counters
    loop = counters.get("fma_loop_cycles", 0) if cycles else 0
    return {
        "minions": note.minions,
        "instructions": outcome.instructions,
        "utilization": _utilization(note, cycles),
        "loop_utilization": _utilization(note, loop),
        "bound_by": bottleneck(note, outcome) if cycles else None,
        "tensor_operations": {name: counters.get(name, 0) for name in _OPERATIONS},
        "waits": counters.get("waits", 0),
        "bytes": {
            "shire": counters.get("bytes_shire", 0),
            "l3": counters.get("bytes_l3", 0),
            "dram": counters.get("bytes_dram", 0),
            "messages": counters.get("message_bytes", 0),
        },
        "split_k": 1,
        "broadcast": False,
        # Facts of the compiler come last: a split product replaces the defaults above.
        **note.facts,
    }


def _utilization(note: Note, cycles: int | None) -> float | None:
    """Utilization: useful multiply-adds divided by those that all minions could have done. Padding is not useful."""
    if not cycles or not note.peak:
        return None
    return note.macs / (note.peak * note.minions * cycles)


def bottleneck(note: Note, outcome: Outcome) -> str:
    """Bottleneck: the resource that alone would take longest."""
    bounds = resource_bounds(note, outcome.counters, outcome.instructions)
    return max(bounds, key=lambda name: bounds[name])


def resource_bounds(note: Note, counters: Mapping[str, int], instructions: int) -> dict[str, float]:
    """Lower bounds of a run in cycles, by resource."""
    shires = -(-note.minions // MINIONS_PER_SHIRE)

    def rate(name: str, per_cycle: float) -> float:
        return counters.get(name, 0) / per_cycle

    # A transfer takes both sides, so that at most half as many as there are minions run at once.
    pairs = max(note.minions // 2, 1)
    return {
        "tensor": note.macs / (note.peak * note.minions) if note.peak else 0.0,
        "issue": instructions / note.minions,
        "shire": rate("bytes_shire", SHIRE_RATE * shires),
        "mesh": rate("bytes_l3", MESH_RATE * shires),
        "dram": rate("bytes_dram", DRAM_RATE),
        "rendezvous": rate("message_bytes", MESSAGE_RATE * pairs),
    }
