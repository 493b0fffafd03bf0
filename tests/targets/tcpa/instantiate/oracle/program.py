# SPDX-License-Identifier: Apache-2.0
"""Functional-unit programs from annotated control flow graphs (paper section 6.3, Algorithm 4).

The kernels are laid out in the order of their first step. The last instruction of each branches: `halt` without a
successor, `next` or `goto` with one, else an `if` on the control signals of its code.
"""

from __future__ import annotations

from dataclasses import replace

from tests.targets.tcpa.instantiate.oracle.kernels import Graph
from tests.targets.tcpa.instantiate.oracle.sharing import Branching

from polyloom.diagnostics import infeasible
from polyloom.targets.tcpa.words.isa import Branch, Goto, Halt, If, Instruction, Next


def generate(graph: Graph, branchings: dict[int, Branching], words: int | None) -> tuple[Instruction, ...]:
    """The program of a unit; PL0516 if it is longer than `words`."""
    interval = len(graph.kernels[0])
    program: list[Instruction] = []
    for v, kernel in enumerate(graph.kernels):
        branch = _branch(v, list(graph.edges[v]), branchings.get(v), interval)
        program += [*kernel[:-1], replace(kernel[-1], branch=branch)]
    if words is not None and len(program) > words:
        message = (
            f"unit {graph.unit} needs {len(program)} instructions ({len(graph.kernels)} kernel classes of {interval}), "
            f"the machine has {words}"
        )
        raise infeasible("PL0516", message, help=f"use a machine with instruction_words = {len(program)}")
    return tuple(program)


def _branch(v: int, successors: list[int], branching: Branching | None, interval: int) -> Branch:
    if not successors:
        return Halt()
    if branching is None:
        return Next() if successors[0] == v + 1 else Goto(successors[0] * interval)
    by_code = {code: w * interval for code, w in branching.targets.items()}
    default = by_code[min(by_code)]
    return If(branching.signals, tuple(by_code.get(code, default) for code in range(1 << len(branching.signals))))
