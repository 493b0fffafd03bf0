# SPDX-License-Identifier: Apache-2.0
"""Choice between the two forms of a nest that has both: stages, whose arrays are tiles, and phases of vector code,
whose arrays lie in L1 once and without masks, where L1 does not hold the stages (multiversioning by sizes).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from polyloom.analysis.dataflow import Unlike
from polyloom.diagnostics import PolyloomError
from polyloom.ir.signature import Signature
from polyloom.passes import Watch
from polyloom.targets.subject import Oracle
from polyloom.targets.tensix.map.loops.compile import Content, check_room, compile_stages
from polyloom.targets.tensix.map.phases import compile as phases


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The forms of one nest."""

    stages: Content
    phases: phases.Content


def compile_alternatives(
    content: Alternatives, signature: Signature, values: Mapping[str, int], watch: Watch | None
) -> bytes:
    """Compiler of the form that L1 has room for; where it has for neither, the errors are those of stages (PL1233)."""
    lack = lack_of_room(content.stages, {name: values[name] for name in signature.parameters})
    if lack is None:
        return compile_stages(content.stages, signature, values, watch)
    try:
        # The reason goes into the file, since the run may be another process.
        return phases.compile_phases(content.phases, signature, values, watch, lack.diagnostics[0].message)
    except (PolyloomError, Unlike):
        # What phases lack says nothing about how the program would run on the matrix unit.
        raise lack from None


def lack_of_room(content: Content, values: Mapping[str, int]) -> PolyloomError | None:
    """Error of stages for which L1 has no room; None where it has."""
    # Oracles ask, too, and know values alone: the choice must not depend on anything else.
    try:
        check_room(content, values)
    except PolyloomError as error:
        return error
    return None


def combine_oracles(content: Content, stages: Sequence[Oracle], vectors: Sequence[Oracle]) -> tuple[Oracle, ...]:
    """Oracles of the form that runs at given sizes, of those of both."""
    return tuple(
        replace(first, outputs=partial(_evaluate_choice, content, first.outputs, second.outputs))
        if first.bounds is None
        else replace(
            first,
            outputs=partial(_evaluate_choice, content, first.outputs, second.outputs),
            bounds=partial(_evaluate_choice, content, first.bounds, second.bounds or first.bounds),
        )
        for first, second in zip(stages, vectors, strict=True)
    )


def _evaluate_choice(
    content: Content,
    stages: Callable[..., Any],
    vectors: Callable[..., Any],
    values: Mapping[str, int],
    *rest: Any,
) -> Any:
    return (stages if lack_of_room(content, values) is None else vectors)(values, *rest)
