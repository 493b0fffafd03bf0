# SPDX-License-Identifier: Apache-2.0
"""Slot assignment of a modulo schedule: each operation takes one slot of its class in its row, those that act in the
order they act (docs/targets/belt.md, In detail).

In a bundle calls, stores and leaves act in the order of their slots, which must be: the oldest iteration first (the
highest stage), then the order of the program.
"""

from __future__ import annotations

from collections.abc import Sequence

from polyloom.modulo.problem import Schedule
from polyloom.targets.belt.machine import Slot
from polyloom.targets.belt.map.schedule.graph import CALLS, LEAVES, Graph
from polyloom.targets.belt.map.schedule.positions import Placed
from polyloom.targets.belt.map.schedule.problem import Setting


def assign_slots(graph: Graph, setting: Setting, schedule: Schedule) -> Placed:
    """Placed nodes of a schedule with their slots; the last operation, the loop's beginning, is left out."""
    count = len(graph.nodes)
    found: list[Slot] = [Slot("E", 0)] * count
    taken: dict[tuple[int, int], int] = {}
    for n in range(count):
        (use,) = setting.problem.operations[n].choices[schedule.choice[n]].uses
        key = (use.resource, schedule.start[n] % schedule.interval)
        # The solver has counted: a row never has more uses of a class than slots, so the next one is free.
        found[n] = setting.resources[use.resource][taken.get(key, 0)]
        taken[key] = taken.get(key, 0) + 1
    order_acts(graph, schedule.interval, schedule.start, found)
    return Placed(schedule.interval, schedule.start[:count], schedule.latency[:count], tuple(found))


def order_acts(graph: Graph, interval: int, start: Sequence[int], slots: list[Slot]) -> None:
    """Exchange the slots of stores, of leaves and of calls that share a row."""
    rows: dict[tuple[int, str], list[int]] = {}
    for n, node in enumerate(graph.nodes):
        kind = "leave" if node.name in LEAVES else "call" if node.name in CALLS else node.name
        if kind in ("store", "leave", "call") or kind.startswith("br"):
            kind = "br" if kind.startswith("br") else kind
            rows.setdefault((start[n] % interval, kind), []).append(n)
    for members in rows.values():
        # A higher stage is an older iteration, whose stores and exits come first in the program's time.
        members.sort(key=lambda n: (-(start[n] // interval), graph.nodes[n].index))
        # Only slots of the same kind of operation change hands, so every operation stays in a slot of its unit.
        mine = sorted((slots[n] for n in members), key=lambda slot: slot.order)
        for n, slot in zip(members, mine, strict=True):
            slots[n] = slot
