# SPDX-License-Identifier: Apache-2.0
"""The Tensix tile of Tenstorrent's Wormhole: one instruction table, and what follows from it."""

from typing import Final

from polyloom.targets.entry import Entry

ENTRY: Final = Entry(
    "tensix",
    "polyloom.targets.tensix.target:TARGET",
    "tensix:wormhole",
    "polyloom.targets.tensix.options:Options",
    verbs={
        "sweep": (
            "every value of a format through a vector kernel, against a reference",
            "polyloom.cli.tensix.sweep",
        ),
        "llk": ("a low-level kernel of three threads in C++ on a tile", "polyloom.cli.tensix.llk"),
        "float": ("a number in the formats of vector kernels", "polyloom.cli.tensix.float"),
    },
    bench={"tensix": "polyloom.cli.bench.tensix:rows", "sfpi": "polyloom.cli.bench.sfpi:rows"},
    codes="polyloom.targets.tensix.codes:CODES",
    names={
        "tensix": "polyloom.targets.tensix.python",
        **{name: f"polyloom.targets.tensix.source.language.values:{name}" for name in ("vfloat", "vint", "vuint")},
        **{
            name: f"polyloom.targets.tensix.source.language.conditions:{name}"
            for name in ("v_if", "v_elseif", "v_else", "v_block", "v_and")
        },
    },
)
