# SPDX-License-Identifier: Apache-2.0
"""Figures of `run --json` that every compiled program has: how busy the machine was, and its resources (roofline
model; Williams, Waterman and Patterson 2009).

Each bound is how long the run would take if one resource alone counted, all of its kind evenly loaded: what tensor
units multiply, what minions issue, lines at the shires' ports, over the mesh to a shire, and from DRAM, messages
between minions. `busy` names the greatest. Rates: docs/targets/minion.md, "Time".
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
_RESOURCES: Final = {
    "tensor": "tensor units",
    "issue": "issue",
    "shire": "banks of a shire",
    "mesh": "the mesh",
    "dram": "DRAM",
    "rendezvous": "messages",
}
_WORTH: Final = 0.1
_LEAST: Final = 0.01
"""Shares of the cycles from which on a resource, or time without work, is named."""
_OPERATIONS: Final = ("tensor_load", "tensor_load_l2", "tensor_fma", "tensor_quant", "tensor_store", "tensor_reduce")


def figures(note: Note, outcome: Outcome, cycles: int | None) -> dict[str, Json]:
    """Figures of a run; `cycles`, utilizations and `busy` are None without time."""
    counters = outcome.counters
    loop = counters.get("fma_loop_cycles", 0) if cycles else 0
    return {
        "minions": note.minions,
        "instructions": outcome.instructions,
        "utilization": _utilization(note, cycles),
        "loop_utilization": _utilization(note, loop),
        "busy": busy_resources(note, outcome) if cycles else None,
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


def busy_resources(note: Note, outcome: Outcome) -> str:
    """Busy resources as a sentence with figures: the one that alone would take longest, the others that are busy, and
    what time passes without work, as shares of the run's cycles.
    """
    cycles, counters = outcome.cycles or 1, outcome.counters
    bounds = resource_bounds(note, counters, outcome.instructions)
    # Of banks, the port from the mesh and DRAM, what serves most is counted, and not an average.
    most = {"shire": counters.get("busy_bank", 0), "mesh": counters.get("busy_mesh", 0)}
    busy = {name: max(bound, most.get(name, 0)) / cycles for name, bound in bounds.items()}
    busy["tensor"] = max(busy["tensor"], counters.get("fma_cycles", 0) / (note.minions * cycles))
    first, *rest = sorted(busy, key=lambda name: -busy[name])
    said = [f"{_RESOURCES[first]} {_percent(busy[first])} busy"]
    said += [f"{_RESOURCES[name]} {_percent(busy[name])}" for name in rest if busy[name] >= _WORTH]
    idle = _idle_shares(counters, cycles, note.minions)
    return "; ".join([", ".join(said), *(f"{what} {_percent(share)}" for what, share in idle if share >= _LEAST)])


def _idle_shares(counters: Mapping[str, int], cycles: int, minions: int) -> list[tuple[str, float]]:
    """Time without work, as shares of the cycles: until every minion has begun its first multiplication, behind the
    last one's end, and while harts and tensor units wait.
    """
    ended, harts = counters.get("fma_ended", 0), 2 * minions * cycles
    return [
        ("fill", counters.get("fma_begun", 0) / cycles),
        ("drain", 1 - ended / cycles if ended else 0.0),
        ("waits for credits", counters.get("stall_credit", 0) / harts),
        ("waits for operands of TenB", 2 * counters.get("tenb_waits", 0) / harts),
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


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
