# SPDX-License-Identifier: Apache-2.0
"""Transfer cost: cycles to rearrange arrays between banks before a phase starts (docs/targets/tcpa.md, Phases).

An element is held by the banks that touched it in the latest phase that touched it at all. A later phase that reads it
in another bank receives it from the lowest-numbered holder. Banks work in parallel; each sends and receives one word
per cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import prod

import numpy as np
import numpy.typing as npt

from polyloom.targets.tcpa.run.bank_accesses import Accesses
from polyloom.targets.tcpa.words.phases.stages import NamedStage

Numbers = npt.NDArray[np.int64]
Touched = tuple[dict[str, Accesses], dict[str, Accesses]]
"""What a phase reads and what it writes, by array."""
Outside = Callable[[str, str, Numbers], Numbers]
"""An array's name in the phase and outside, and numbers of its elements: their numbers outside."""
_NOTHING = np.zeros(0, np.int64)


def touched_elements(stage: NamedStage, accesses: Mapping[str, Accesses], outside: Outside | None = None) -> Touched:
    """What a phase touches, by the names of arrays outside of it; `accesses` are by those inside."""

    def pairs(bound: tuple[tuple[str, str], ...]) -> dict[str, Accesses]:
        found = ((inner, outer, *accesses[inner]) for inner, outer in bound)
        return _merge_names(
            (outer, (banks, elements if outside is None else outside(inner, outer, elements)))
            for inner, outer, banks, elements in found
        )

    return pairs(stage.inputs), pairs(stage.outputs)


def _merge_names(named: Iterable[tuple[str, Accesses]]) -> dict[str, Accesses]:
    """A phase may know one array by several names."""
    merged: dict[str, Accesses] = {}
    for name, (banks, elements) in named:
        others = merged.get(name, (banks[:0], elements[:0]))
        merged[name] = np.concatenate((others[0], banks)), np.concatenate((others[1], elements))
    return merged


def transfer_cycles(phases: Iterable[Touched], shapes: Mapping[str, tuple[int, ...]]) -> Iterator[int]:
    """Transfer cycles before the start of each phase; 0 for the first one, whose arrays are loaded like any input.
    Arrays have these shapes.
    """
    holders: dict[str, _Holders] = {}
    for reads, writes in phases:
        moved = [holders[name].moved_words(wanted) for name, wanted in reads.items() if name in holders]
        yield _busiest_bank([sent for sent, _ in moved], [received for _, received in moved])
        for touched in (reads, writes):
            for name, pairs in touched.items():
                if name not in holders:
                    holders[name] = _Holders(prod(shapes[name]))
                holders[name].hold(pairs)


class _Holders:
    """Holders of each element of an array: the banks that touched it last, the lowest one first, -1 for none. Mutable;
    a step costs what it touches, however large the array is.
    """

    def __init__(self, elements: int) -> None:
        self.banks = np.full((1, elements), -1, np.int64)

    def moved_words(self, wanted: Accesses) -> tuple[Numbers, Numbers]:
        """The banks that send and those that receive, one word per entry; what nobody holds is loaded before the
        start.
        """
        banks, needed = _sort_pairs(wanted)
        held = self.banks[:, needed]
        missing = (held[0] >= 0) & ~(held == banks).any(axis=0)
        return held[0][missing], banks[missing]

    def hold(self, touched: Accesses) -> None:
        """Other banks' copies are stale once a phase has touched the element."""
        banks, elements = _sort_pairs(touched)
        # The place of each pair among those of its element, which follow one another.
        starts = np.flatnonzero(np.diff(elements, prepend=-1))
        rank = np.arange(len(elements)) - np.repeat(starts, np.diff(starts, append=len(elements)))
        more = int(rank.max(initial=0)) + 1 - len(self.banks)
        if more > 0:
            self.banks = np.pad(self.banks, ((0, more), (0, 0)), constant_values=-1)
        self.banks[:, elements] = -1
        self.banks[rank, elements] = banks


def _sort_pairs(pairs: Accesses) -> Accesses:
    """Each pair once, by element, then bank."""
    banks, elements = pairs
    radix = 1 + banks.max(initial=0)
    found = np.unique(elements * radix + banks)
    return found % radix, found // radix


def _busiest_bank(sent: list[Numbers], received: list[Numbers]) -> int:
    """Bottleneck bank: the most words that one bank sends or receives, over all arrays."""
    # Sending and receiving are separate ports, so that the larger of the two maxima binds, not their sum.
    return max(
        int(np.unique(np.concatenate([_NOTHING, *banks]), return_counts=True)[1].max(initial=0))
        for banks in (sent, received)
    )
