# SPDX-License-Identifier: Apache-2.0
"""From whole-array programs to nests, on this page.

Program -> Program   view_sources.py: views of sums as views of arrays
Program -> Program   common_values.py: what two locals hold is computed once
Program -> Program   fusion.py: element-wise producers into their consumers
Program -> Program   stacks.py: one store per place of a short axis
Program -> Nest      lower.py: a loop per axis, hoisting what would be computed again (hoist.py, conflicts.py,
                     elements.py); loop_order.py: accumulations as one nest
"""

from __future__ import annotations

from typing import Final

from polyloom.ir.arrays import verify
from polyloom.ir.arrays.program import Program
from polyloom.ir.arrays.text import print_arrays
from polyloom.ir.nest import Nest
from polyloom.ir.nest_verify import verify as verify_nest
from polyloom.passes import Form, Pass, Watch, run_passes
from polyloom.transform.arrays.common_values import merge_common_values
from polyloom.transform.arrays.fusion import fuse_producers
from polyloom.transform.arrays.lower import lower_program
from polyloom.transform.arrays.stacks import split_stacks
from polyloom.transform.arrays.view_sources import store_view_sources

ARRAYS: Final = Form(print_arrays, verify.verify)
_NEST: Final = Form(str, verify_nest)


def lower_arrays(program: Program, watch: Watch | None = None) -> Nest:
    """The nest that a whole-array program is, with the same bits for all data."""
    passes = (
        Pass("arrays", lambda program: program, ARRAYS),
        Pass("views", store_view_sources, ARRAYS),
        Pass("common", merge_common_values, ARRAYS),
        Pass("fusion", fuse_producers, ARRAYS),
        Pass("stacks", split_stacks, ARRAYS),
        Pass("nests", lower_program, _NEST),
    )
    nest: Nest = run_passes(program, passes, watch)
    return nest
