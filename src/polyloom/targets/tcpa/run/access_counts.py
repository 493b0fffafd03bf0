# SPDX-License-Identifier: Apache-2.0
"""Access counts of a run: fetches, reads and writes of registers, FIFOs and banks, hops, operations by type
(docs/targets/tcpa.md, Energy), and the shares of energy that follow from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from polyloom._native import tcpa
from polyloom.targets.tcpa.machine import ACCESSES, Energy
from polyloom.targets.tcpa.words.isa import decode_opcode

Counts = Mapping[str, int]
"""By name: those of `ACCESSES`, and operations such as `add i32`."""
OPERATIONS: Final = "operation"


def name_counts(result: tcpa.Result) -> dict[str, int]:
    """Counts of a native result by name; operations that did not occur are left out."""
    *accesses, operations = result.counts
    issued = {" ".join(decode_opcode(opcode)): count for opcode, count in enumerate(operations) if count}
    return {**dict(zip(ACCESSES, accesses, strict=True)), **issued}


def sum_counts(counts: Sequence[Counts]) -> dict[str, int]:
    """Counts of several runs together."""
    total = Counter[str]()
    for own in counts:
        total.update(own)
    return {name: total[name] for name in (*ACCESSES, *sorted(total.keys() - set(ACCESSES)))}


def energy_shares(energy: Energy, counts: Counts) -> dict[str, float]:
    """Shares of the energy E = sum of n * e, by what takes it; all 0 where nothing does."""
    parts = {name: counts.get(name, 0) * energy.accesses[name] for name in ACCESSES}
    operations = (n * energy.operation_energy(name) for name, n in counts.items() if name not in ACCESSES)
    # All operations together: a share of each would hide how little the arithmetic takes beside its operands.
    parts[OPERATIONS] = sum(operations)
    total = sum(parts.values())
    return {name: part / total if total else 0.0 for name, part in parts.items()}
