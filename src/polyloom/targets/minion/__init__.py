# SPDX-License-Identifier: Apache-2.0
"""The ET-SoC-1 Minion, its tensor coprocessor, and up to a thousand of them."""

from typing import Final

from polyloom.targets.entry import Entry

ENTRY: Final = Entry(
    "minion",
    "polyloom.targets.minion.target:TARGET",
    "minion:32",
    "polyloom.targets.minion.options:Options",
    verbs={"cc": ("bare-metal C for minions", "polyloom.cli.minion.cc")},
    codes="polyloom.targets.minion.codes:CODES",
    bench={"minion": "polyloom.cli.bench.minion:rows"},
)
