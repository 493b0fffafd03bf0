# SPDX-License-Identifier: Apache-2.0
"""Tightly coupled processor arrays: symbolic mapping, instantiation, and a cycle-accurate model of the words."""

from typing import Final

from polyloom.targets.entry import Entry

ENTRY: Final = Entry(
    "tcpa",
    "polyloom.targets.tcpa.target:TARGET",
    "tcpa:8x8",
    "polyloom.targets.tcpa.options:Options",
    verbs={
        "device": ("where the library for firmware is", "polyloom.cli.tcpa.device"),
        "rtl": ("write a machine as Verilog", "polyloom.cli.tcpa.rtl"),
        "cosim": ("run a concrete configuration on the Verilog and on the model", "polyloom.cli.tcpa.cosim"),
    },
    bench={
        name: f"polyloom.cli.bench.{function}"
        for name, function in {
            "examples": "examples:rows",
            "generic": "generic:rows",
            "classes": "sizes:classes",
            "sizes": "sizes:sizes",
            "instantiation": "instantiation:rows",
            "scaling": "region_scaling:rows",
            "model": "model:rows",
            "compile": "compilation:rows",
            "polybench": "polybench:rows",
            "members": "members:rows",
            "corpus": "corpus:rows",
            "report": "report:rows",
        }.items()
    }
    | {
        "rtl": "polyloom.cli.tcpa.rtl_figures:rows",
        "cosim": "polyloom.cli.tcpa.cosim_figures:rows",
        "clock": "polyloom.cli.tcpa.clock_figures:rows",
        "whole_time": "polyloom.cli.tcpa.time_figures:rows",
        "energy": "polyloom.cli.tcpa.energy_figures:rows",
    },
)
