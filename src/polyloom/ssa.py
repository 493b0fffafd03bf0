# SPDX-License-Identifier: Apache-2.0
"""Static single assignment form: dominators (`pl.ssa.dominators(n, edges)`), functions of blocks, C functions as such.

`load("dot.c", Options())` is a C function with its variables as values, `interpret(function, arguments)` runs it,
`print_ssa` and `read` are its text, `verify` its rules, `destruct` leaves SSA form; `Externals` is a table of a
machine's functions. docs/ssa.md shows them.
"""

from polyloom.analysis.dominators import (
    MAX_FRONTIER,
    DominatorTree,
    Frontiers,
    dominance_frontiers,
    dominator_tree,
    dominators,
    iterated_frontier,
    post_dominators,
    reversed_edges,
)
from polyloom.analysis.liveness import Liveness, liveness
from polyloom.analysis.loops import Loop, LoopForest, loop_forest, natural_loops
from polyloom.frontend import nest_ssa
from polyloom.frontend import ssa as load
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function, Place, flow_edges
from polyloom.ir.ssa_externals import External, Externals
from polyloom.ir.ssa_interpret import evaluate, interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_types import Type
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.dce import dce
from polyloom.transform.ssa.destruct import destruct, sequential, split_critical_edges
from polyloom.transform.ssa.function_editing import merge_blocks
from polyloom.transform.ssa.if_convert import Cost, if_convert

__all__ = [
    "MAX_FRONTIER",
    "Cost",
    "DominatorTree",
    "External",
    "Externals",
    "Frontiers",
    "Function",
    "Liveness",
    "Loop",
    "LoopForest",
    "Options",
    "Place",
    "Type",
    "construct",
    "dce",
    "destruct",
    "dominance_frontiers",
    "dominator_tree",
    "dominators",
    "evaluate",
    "flow_edges",
    "if_convert",
    "interpret",
    "iterated_frontier",
    "liveness",
    "load",
    "loop_forest",
    "merge_blocks",
    "natural_loops",
    "nest_ssa",
    "post_dominators",
    "print_ssa",
    "read",
    "reversed_edges",
    "sequential",
    "split_critical_edges",
    "verify",
]
