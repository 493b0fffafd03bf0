# SPDX-License-Identifier: Apache-2.0
"""Form of loops whose plan is cut into blocks where `--block` or the source's own loops of steps ask for it
(loop tiling: Wolfe 1987).

Where floats may be reassociated, the association follows from the blocks, so that other blocks round otherwise: the
equations that results are compared with, bit for bit, are then those of the plan in blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError
from polyloom.frontend.source import Source
from polyloom.ir.nest import loop_nodes
from polyloom.ir.plan import Plan
from polyloom.recursion import with_deep_stack
from polyloom.targets.forms import loops
from polyloom.targets.subject import Form, Subject, Written
from polyloom.targets.tcpa.options import Options, block_sizes
from polyloom.transform.blocks import plan_blocks
from polyloom.transform.blocks.tiled_loops import read_tiled_loops


def has_steps(subject: Subject) -> bool:
    """Whether the user made steps of a loop (`pl.steps`)."""
    source = cast("Source | None", subject.source)
    return source is not None and source.nest is not None and any(loop.stepped for loop in loop_nodes(source.nest.body))


def with_plan(subject: Subject, plan: Plan) -> Subject:
    """Subject of another plan of its source, with the oracle that interprets it where it may round otherwise."""
    source = cast(Source, subject.source)
    # Exact plans have the bits of the source's own, whose outputs exploration keeps for all blocks.
    if source.exact:
        return replace(subject, content=plan)
    own = loops.equations_oracle(source, plan)
    _, *others = subject.oracles
    return replace(subject, content=plan, oracles=(own, *others))


def _plan_in_blocks(source: Source, sizes: Mapping[str, int]) -> Plan:
    """Plan of the source's nest in blocks. Errors: PL0824 where there are no loops, and those of `plan_blocks`."""
    if source.nest is None:
        message = "equations have no loops to cut into blocks"
        raise PolyloomError(
            Diagnostic("PL0824", message, USAGE, help="leave --block out, or give a Python or C function")
        )
    nest, own = read_tiled_loops(source.nest)
    return with_deep_stack(plan_blocks)(nest, source.plan, {**own, **sizes}, not source.exact)


def _load(written: Written, place: Any, options: Options) -> Subject:
    subject = loops.PLAN.load(written, place, options)
    if options.block is None and not has_steps(subject):
        return subject
    return with_plan(subject, _plan_in_blocks(cast(Source, subject.source), block_sizes(options.block or {})))


FORM: Final = Form(loops.PLAN.name, loops.PLAN.title, loops.PLAN.accepts, _load)
"""Loops or equations, in the blocks that were asked for."""
