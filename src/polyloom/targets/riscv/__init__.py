# SPDX-License-Identifier: Apache-2.0
"""RISC-V as a target: an instruction table, assembler and interpreter over it, and sequences for selects
(docs/targets/riscv.md).
"""

from typing import Final

from polyloom.targets.entry import Entry

ENTRY: Final = Entry(
    "riscv",
    "polyloom.targets.riscv.target:TARGET",
    "riscv:rv64gc",
    "polyloom.targets.riscv.options:Options",
    verbs={
        "select": ("find the shortest RISC-V instructions for a conditional value", "polyloom.cli.riscv.select"),
        "litmus": ("judge litmus tests by the RISC-V memory model", "polyloom.cli.riscv.litmus"),
    },
    bench={"litmus": "polyloom.cli.bench.litmus:rows", "riscv": "polyloom.cli.bench.riscv:rows"},
)
