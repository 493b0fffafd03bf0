# SPDX-License-Identifier: Apache-2.0
"""Transfer cost: cycles to rearrange arrays between banks before a phase starts (docs/targets/tcpa.md, Phases).

An element is held by the banks that touched it in the latest phase that touched it at all. A later phase that reads it
in another bank receives it from the lowest-numbered holder. Banks work in parallel; each sends and receives one word
per cycle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from polyloom.targets.tcpa.run.bank_accesses import Accesses
from polyloom.targets.tcpa.words.phases.stages import NamedStage

Numbers = npt.NDArray[np.int64]
Touched = tuple[dict[str, Accesses], dict[str, Accesses]]
"""What a phase reads and what it writes, by array."""
_NOTHING = np.zeros(0, np.int64)


def touched_elements(stage: NamedStage, accesses: Mapping[str, Accesses]) -> Touched:
    """What a phase touches, by the names of arrays outside of it; `accesses` are by those inside."""
    return _merge_names((outer, accesses[inner]) for inner, outer in stage.inputs), _merge_names(
        (outer, accesses[inner]) for inner, outer in stage.outputs
    )


def _merge_names(named: Iterable[tuple[str, Accesses]]) -> dict[str, Accesses]:
    """A phase may know one array by several names."""
    merged: dict[str, Accesses] = {}
    for name, (banks, elements) in named:
        others = merged.get(name, (banks[:0], elements[:0]))
        merged[name] = np.concatenate((others[0], banks)), np.concatenate((others[1], elements))
    return merged


def transfer_cycles(phases: Iterable[Touched]) -> Iterator[int]:
    """Transfer cycles before the start of each phase; 0 for the first one, whose arrays are loaded like any input."""
    holders: dict[str, Accesses] = {}
    for reads, writes in phases:
        moved = [_moved_words(holders[name], wanted) for name, wanted in reads.items() if name in holders]
        yield _busiest_bank([sent for sent, _ in moved], [received for _, received in moved])
        for touched in (reads, writes):
            holders |= {
                name: _latest_holders(holders.get(name, (_NOTHING, _NOTHING)), pairs) for name, pairs in touched.items()
            }


def _moved_words(held: Accesses, wanted: Accesses) -> tuple[Numbers, Numbers]:
    """The banks that send and those that receive, one word per entry; what nobody holds is loaded before the start."""
    (holders, elements), (banks, needed) = _sort_pairs(held), _sort_pairs(wanted)
    missing = ~_contained_pairs(banks, needed, holders, elements) & np.isin(needed, elements)
    # Pairs are sorted by element, then bank: the first one is the lowest-numbered holder.
    first = np.searchsorted(elements, needed[missing])
    return holders[first], banks[missing]


def _sort_pairs(pairs: Accesses) -> Accesses:
    """Each pair once, by element, then bank."""
    banks, elements = pairs
    radix = 1 + banks.max(initial=0)
    found = np.unique(elements * radix + banks)
    return found % radix, found // radix


def _contained_pairs(
    banks: Numbers, elements: Numbers, of_banks: Numbers, of_elements: Numbers
) -> npt.NDArray[np.bool_]:
    """Which pairs occur among the others, as numbers in mixed radix."""
    # Pairs as single numbers, because NumPy's set operations take one dimension.
    radix = 1 + max(banks.max(initial=0), of_banks.max(initial=0))
    return np.isin(elements * radix + banks, of_elements * radix + of_banks)


def _busiest_bank(sent: list[Numbers], received: list[Numbers]) -> int:
    """Bottleneck bank: the most words that one bank sends or receives, over all arrays."""
    # Sending and receiving are separate ports, so that the larger of the two maxima binds, not their sum.
    return max(
        int(np.unique(np.concatenate([_NOTHING, *banks]), return_counts=True)[1].max(initial=0))
        for banks in (sent, received)
    )


def _latest_holders(held: Accesses, touched: Accesses) -> Accesses:
    """The holders after a phase: elements that it touched are held where it touched them."""
    # Other banks' copies are stale once a phase has touched the element.
    kept = ~np.isin(held[1], touched[1])
    return np.concatenate((held[0][kept], touched[0])), np.concatenate((held[1][kept], touched[1]))
