# SPDX-License-Identifier: Apache-2.0
"""From a sequential loop nest to piecewise linear algorithms, in three steps on this page.

Nest -> System       dataflow.py (reduction.py, forward.py, prune.py): which instance wrote what every read reads
System -> spaces     phases.py, embed.py: statements that share a space, and their places in it; crossing.py: what passes between spaces
spaces -> Plan       carry.py, share.py, count.py: every value at a constant distance; assemble.py, program.py: one operation an equation
"""

from __future__ import annotations

from polyloom.ir.nest import Nest
from polyloom.ir.plan import Plan
from polyloom.ir.recurrence import System
from polyloom.transform.dataflow import analyse
from polyloom.transform.phases import held, make_plan


def plan(nest: Nest, reassociate: bool = False) -> tuple[System, Plan]:
    """The dataflow of a checked nest and the plan made from it; raises PL026x for what cannot be made uniform."""
    system = analyse(nest, reassociate)
    return system, make_plan(nest, system)


def only_written(nest: Nest) -> frozenset[str]:
    """The arguments of a checked nest whose elements at entry show nowhere, whatever the parameters. Raises what `analyse` does."""
    system = analyse(nest)
    return frozenset(s.name for s in nest.storage if s.role == "argument") - held(system)
