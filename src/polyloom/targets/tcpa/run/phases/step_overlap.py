# SPDX-License-Identifier: Apache-2.0
"""Whole time of a run: configurations, transfers to and from memory, and the array (docs/targets/tcpa.md, Whole time).

DMA executes one transfer after another: what a step needs, before it, and what leaves the banks, after it. With two
halves of each bank (double buffering), those for the next step and of the previous one run beside a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Slot:
    """Step of a run, in cycles: the configuration before it, its transfers, and `array`, with exchanges of banks."""

    configuration: int
    load: int
    array: int
    store: int


@dataclass(frozen=True, slots=True)
class WholeTime:
    """Whole time in cycles: `fill` are the loads of the first step, `drain` the stores of the last one, `dma` all
    others, `wait` the cycles in which the array waits for these."""

    configuration: int = 0
    fill: int = 0
    array: int = 0
    dma: int = 0
    wait: int = 0
    drain: int = 0

    @property
    def total(self) -> int:
        return self.configuration + self.fill + self.array + self.wait + self.drain

    def as_dict(self) -> dict[str, int]:
        return {**asdict(self), "total": self.total}


def overlap_steps(slots: Sequence[Slot], halves: int) -> WholeTime:
    """Whole time of steps: T = T_config + T_fill + sum of max(T_array, T_dma) + T_drain, where step by step the stores
    of the previous step and the loads of the next one are beside the array; one after the other with one half.
    """
    if not slots:
        return WholeTime()
    # A step and the transfers beside it begin together: both wait for the step before and for all earlier transfers,
    # which are in one queue. So each step takes the longer of both, and no transfer of one step hides behind another.
    loads = (*(slot.load for slot in slots[1:]), 0)
    stores = (0, *(slot.store for slot in slots[:-1]))
    beside = [load + store for load, store in zip(loads, stores, strict=True)]
    hidden = [min(own, slot.array) if halves > 1 else 0 for own, slot in zip(beside, slots, strict=True)]
    return WholeTime(
        configuration=sum(slot.configuration for slot in slots),
        fill=slots[0].load,
        array=sum(slot.array for slot in slots),
        dma=sum(beside),
        wait=sum(beside) - sum(hidden),
        drain=slots[-1].store,
    )
