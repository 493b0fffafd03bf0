# SPDX-License-Identifier: Apache-2.0
"""Core descriptions: an instruction set and the costs of an in-order core, as TOML (docs/targets/riscv.md, Time).

Every number of the shipped one is chosen, which its file says: it stands for no machine that exists.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from polyloom.machine.members import Members
from polyloom.riscv.names import Isa, parse_isa
from polyloom.riscv.timing.core import FLOAT_DIVIDE, Core
from polyloom.riscv.timing.instruction_class import CLASSES

MEMBERS: Final = Members(Path(__file__).with_name("machines"), "PL0901", "RISC-V core")
_KEYS: Final = ("name", "based_on", "isa", "source", "latency", "taken")
_LATENCIES: Final = (*CLASSES, FLOAT_DIVIDE)
_TAKEN: Final = ("branch", "jump")
_MOST: Final = 255
"""A latency is a byte of the model's table."""


@dataclass(frozen=True, slots=True)
class CoreFile:
    """Core as its file has it; `source` says where its numbers are from."""

    name: str
    isa: Isa
    source: str
    core: Core


def load(name_or_path: str) -> CoreFile:
    """Core of a member or of a file. Errors: PL0901, and PL0300 to PL0306 for what a file says."""
    text, name = MEMBERS.find(name_or_path)
    table = MEMBERS.table(text, name, _KEYS)
    latency, taken = table.table("latency"), table.table("taken")
    latency.reject_unknown(_LATENCIES)
    taken.reject_unknown(_TAKEN)
    costs = {kind: latency.integer(kind, 1, _MOST) for kind in _LATENCIES}
    lost = {kind: taken.integer(kind, 0, _MOST) for kind in _TAKEN}
    return CoreFile(table.text("name"), parse_isa(table.text("isa")), table.text("source"), Core(costs, lost))


def resolve(found: CoreFile) -> str:
    """Resolved description, in TOML, which reads back to an equal core."""
    rows = [f'name = "{found.name}"', f'isa = "{found.isa}"', f'source = "{found.source}"']
    rows += ["", "[latency]", *(f"{kind} = {cycles}" for kind, cycles in found.core.latency.items())]
    rows += ["", "[taken]", *(f"{kind} = {cycles}" for kind, cycles in found.core.taken.items())]
    return "\n".join([*rows, ""])
