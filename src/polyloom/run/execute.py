# SPDX-License-Identifier: Apache-2.0
"""Execution and verification of a run: program and oracles compute the outputs; a difference is an error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from polyloom.diagnostics import Diagnostic, PolyloomError
from polyloom.frontend.source import Arrays
from polyloom.ir.arguments import read_only_arrays
from polyloom.recursion import with_deep_stack
from polyloom.run.compare import compare, flatten_fields
from polyloom.run.verdict import Compared
from polyloom.targets.subject import Progress, Subject, silent
from polyloom.targets.target import Execution, Job, Target


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a run. `comparisons`: with the oracles that gave outputs; without a subject there are none. `facts`
    are what oracles tell."""

    execution: Execution
    seconds: float
    comparisons: tuple[Compared, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def compared_with(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.comparisons)

    @property
    def differences(self) -> tuple[Diagnostic, ...]:
        return tuple(each.difference for each in self.comparisons if each.difference is not None)

    @property
    def verified(self) -> bool | None:
        """Whether no oracle disagrees; None where there was nothing to compare with."""
        return not self.differences if self.comparisons else None


def execute(
    target: Target, data: bytes, job: Job, subject: Subject | None = None, values: Mapping[str, int] | None = None
) -> Outcome:
    """Execute a program on the inputs, which nobody can write to, and compare it with the oracles of its subject for
    these values of the parameters. An error of the run becomes the one that the subject explains it by."""
    tell = job.progress or silent
    tell("running", 0.0)
    inputs = read_only_arrays(job.inputs)
    own = replace(job, inputs=inputs, progress=_scale_progress(job.progress, subject))
    # Arrays that are no plain memory were copied before: the time is that of the run alone.
    start = perf_counter()
    try:
        execution = target.run(data, own)
    except PolyloomError as error:
        if subject is None or subject.explain is None or values is None:
            raise
        raise subject.explain(error, values, inputs) from None
    seconds = perf_counter() - start
    execution = replace(execution, outputs=_unshared_outputs(execution.outputs, inputs))
    if subject is None or values is None:
        return Outcome(execution, seconds)
    found = list(compare_oracles(subject, values, inputs, execution.outputs, tell))
    facts = {key: value for _, told in found for key, value in told.items()}
    return Outcome(execution, seconds, tuple(compared for compared, _ in found), facts)


def compare_oracles(
    subject: Subject, values: Mapping[str, int], inputs: Arrays, got: Arrays, tell: Progress
) -> Iterator[tuple[Compared, Mapping[str, Any]]]:
    """Comparisons with the oracles that give outputs, and what each tells of them."""
    count, inputs = len(subject.oracles), read_only_arrays(inputs)
    for number, oracle in enumerate(subject.oracles, 1):
        tell(f"comparing with {oracle.what}", number / (count + 1))
        # Oracles interpret expressions of any depth.
        expected = with_deep_stack(oracle.outputs)(values, inputs)
        if expected is not None:
            # An array that only an oracle names is assigned to in loops that never run: it has to be as it was.
            held = {n: inputs.get(n, np.zeros_like(array)) for n, array in expected.items() if n not in got}
            allowed = None if oracle.bounds is None else oracle.bounds(values, inputs, flatten_fields(expected))
            found = compare(expected, {**held, **got}, oracle, allowed)
            yield found, oracle.figures(expected, got) if oracle.figures else {}


def _unshared_outputs(outputs: Arrays, inputs: Arrays) -> Arrays:
    """Outputs that share no memory with inputs: what a program leaves as it is may be the caller's array."""
    given = list(inputs.values())
    return {n: a.copy() if any(np.may_share_memory(a, b) for b in given) else a for n, a in outputs.items()}


def _scale_progress(progress: Progress | None, subject: Subject | None) -> Progress | None:
    """Progress of the run as the first part of the whole; each oracle has another one."""
    count = 1 + (len(subject.oracles) if subject is not None else 0)
    return None if progress is None else lambda step, fraction: progress(step, fraction / count)
