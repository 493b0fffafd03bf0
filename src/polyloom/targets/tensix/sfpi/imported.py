# SPDX-License-Identifier: Apache-2.0
"""What an imported kernel becomes before passes see it: four results where C has one and its parts, parameters that are
floats as their bits; and what a kernel may not contain.

A vector in memory, a call that was not inlined and arithmetic of scalar floats are errors at their places.
"""

from __future__ import annotations


from polyloom.targets.tensix.sfpi.operations import MASK, VECTOR
def finished(function: Function) -> Function:
    return function

def in_memory(f):
    return any(i.operation in ("load","store") and (any(r.type in (VECTOR, MASK) for r in i.results) or (i.operands[0].type in (VECTOR,MASK))) for b in f.blocks for i in b.instructions)

def refused(f, source):
    pass
