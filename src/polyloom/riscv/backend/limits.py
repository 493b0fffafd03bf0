# SPDX-License-Identifier: Apache-2.0
"""Size limit of a function. Allocation and its checker keep, by block, the place of every value that is live there, so
that time and memory grow with the live values summed over all blocks, which this counts before either begins.
"""

from __future__ import annotations

from typing import Final

from polyloom.diagnostics import infeasible
from polyloom.riscv.backend.code import Code
from polyloom.riscv.backend.live import live_out_sets

LIVE: Final = 1_500_000
"""Values that are live behind a block, summed over the blocks: half a minute."""


def check_size(code: Code) -> None:
    """Refuses code whose live-out sets are too large together. Errors: PL0933."""
    # Live-out sets are what the allocator and the checker hold per block: their sum bounds time and memory of both.
    live = sum(len(values) for values in live_out_sets(code))
    if live <= LIVE:
        return
    blocks = len(code.blocks)
    message = (
        f"`{code.name}` has {blocks} basic blocks, behind which {live // blocks} values on average are still needed"
    )
    help = "split the function: loops that share no values can stand in functions of their own"
    raise infeasible("PL0933", message, help=help)
