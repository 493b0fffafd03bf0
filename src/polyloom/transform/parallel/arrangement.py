# SPDX-License-Identifier: Apache-2.0
"""Arrangement of loops for parallel execution: the passes on one page, from a nest without parameters to one whose
loops are parallel where its dependences can be made to allow it (Allen and Kennedy 2001, chapters 5 and 6).

- `expand-arrays`: arrays of their own for temporaries of iterations.
- `reductions`: partial results of workers and lanes; the second time for those that were parts of other loops.
- `distribute`, `interchange`: loops that carry dependences are split, and interchanged with parallel ones inside.
- `outermost`: of perfectly nested parallel loops, the one that most workers can share comes first.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from polyloom.ir.nest import Nest
from polyloom.passes import Pass, Watch, run_passes
from polyloom.transform.dataflow import NEST
from polyloom.transform.parallel.array_expansion import expand_arrays
from polyloom.transform.parallel.loop_distribution import distribute_loops
from polyloom.transform.parallel.loop_interchange import interchange_loops
from polyloom.transform.parallel.machine import Machine
from polyloom.transform.parallel.parallel_reductions import parallelize_reductions
from polyloom.transform.parallel.restructuring.outermost_loop import move_outermost


def arrangement_passes(machine: Machine, *, reassociate: bool) -> tuple[Pass[Any, Any], ...]:
    """Passes of the arrangement; `reassociate` allows sums of floats in another order, hence with another rounding."""
    reduce = partial(parallelize_reductions, machine=machine, reassociate=reassociate)
    # Expansion goes first, because a temporary's dependences would hide that a loop only reduces, or could be split.
    return (
        Pass("expand-arrays", expand_arrays, NEST),
        Pass("reductions", reduce, NEST),
        Pass("distribute", distribute_loops, NEST),
        Pass("interchange", interchange_loops, NEST),
        Pass("inner-reductions", reduce, NEST),
        Pass("outermost", partial(move_outermost, machine=machine), NEST),
    )


def arrange_loops(nest: Nest, machine: Machine, *, reassociate: bool = False, watch: Watch | None = None) -> Nest:
    """Nest without parameters in the order of the code: the result of all passes."""
    made: Nest = run_passes(nest, arrangement_passes(machine, reassociate=reassociate), watch)
    return made
