# SPDX-License-Identifier: Apache-2.0
"""Printer of plans: arrays, then phases in the order in which they run, those of a loop of steps under its head.

    plan floyd_warshall
    parameter N
    input path[N, N]: i32
    output path[N, N]: i32

    for k = 0 .. N - 1
      phase 1 where path_in is path, path is path
        parameter N, k, ...

A phase is a program of the equation language, further to the right. One of a block says where its windows begin and
what its parameters are: `phase 1 where A is A at [i, k] with n = min(32, N - i)`.
`frontend.pla.plan` reads plans back, without spans and reasons, and with simplified conditions.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyloom.ir.pla import Program
from polyloom.ir.pla_names import quote_name, spell_names
from polyloom.ir.pla_text import print_array, print_parameters, print_program
from polyloom.ir.plan import Phase, Plan
from polyloom.ir.steps import Tree, as_loop, print_extreme, print_head

MARGIN = "  "


def print_plan(plan: Plan) -> str:
    """The whole text, ending in a newline."""
    # A program without equations prints the plan's head: names and shapes are spelled by the same rules.
    outline = spell_names(
        Program(
            plan.name,
            plan.parameters,
            plan.assumptions,
            (),
            plan.assumptions,
            (*plan.inputs, *plan.outputs, *plan.intermediates),
            (),
            (),
            (),
        )
    )
    arrays = [print_array(a) for a in outline.inputs]
    kinds = ["input"] * len(plan.inputs) + ["output"] * len(plan.outputs) + ["between"] * len(plan.intermediates)
    lines = [f"plan {plan.name}", *print_parameters(outline)]
    lines += [f"{kind} {array}" for kind, array in zip(kinds, arrays, strict=True)]
    lines += [f"scalar {quote_name(p.name)}: {p.dtype} = {p.value}" for p in plan.parametric]
    return "\n".join([*lines, "", *_print_nodes(plan.body, "", iter(range(1, len(plan.phases) + 1))), ""])


def _print_binding(phase: Phase, inner: str, outer: str) -> str:
    """`A is B`, or `A is B at [i, k]` for a window."""
    origin = dict(phase.windows).get(inner)
    window = "" if origin is None else f" at [{', '.join(map(str, origin))}]"
    return f"{quote_name(inner)} is {quote_name(outer)}{window}"


def _print_arguments(phase: Phase) -> str:
    """` with n = min(32, N - i)` for each parameter of a phase that has its own."""
    values = [
        f"{quote_name(name)} = {print_extreme('min', bounds)}"
        for name, bounds in zip(phase.program.parameters, phase.arguments, strict=bool(phase.arguments))
    ]
    return f" with {', '.join(values)}" if values else ""


def _print_nodes(tree: Tree[Phase], margin: str, numbers: Iterator[int]) -> Iterator[str]:
    for node in tree:
        if (loop := as_loop(node)) is not None:
            yield f"{margin}for {print_head(loop)}"
            yield from _print_nodes(loop.body, margin + MARGIN, numbers)
        elif isinstance(node, Phase):
            pairs = ", ".join(_print_binding(node, *pair) for pair in (*node.inputs, *node.outputs))
            yield f"{margin}phase {next(numbers)} where {pairs}{_print_arguments(node)}"
            # Blank lines would end nothing, but they would not show where a phase ends either.
            text = (line for line in print_program(node.program).splitlines() if line)
            yield from (f"{margin}{MARGIN}{line}" for line in text)
