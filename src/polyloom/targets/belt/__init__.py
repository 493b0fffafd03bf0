# SPDX-License-Identifier: Apache-2.0
"""Belt machine target: a specializer from functions in SSA form to bundles, and a model that reads only words."""

from typing import Final

from polyloom.targets.entry import Entry

ENTRY: Final = Entry(
    "belt",
    "polyloom.targets.belt.target:TARGET",
    "belt:silver",
    "polyloom.targets.belt.options:Options",
    bench={"belt": "polyloom.cli.bench.belt:rows", "hexagon": "polyloom.cli.bench.hexagon:rows"},
    codes="polyloom.targets.belt.codes:CODES",
)
