# SPDX-License-Identifier: Apache-2.0
"""The Tensix tile of Tenstorrent's Wormhole: one instruction table, and what follows from it."""

from typing import Final

from polyloom.targets.entry import Entry

ENTRY: Final = Entry(
    "tensix",
    "polyloom.targets.tensix.target:TARGET",
    bench={"tensix": "polyloom.cli.bench.tensix:rows"},
    codes="polyloom.targets.tensix.codes:CODES",
    names={"tensix": "polyloom.targets.tensix.python"},
)
