# SPDX-License-Identifier: Apache-2.0
"""Opening of a session over a program that is ready to run, and the prints of a whole run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from polyloom.diagnostics import PolyloomError
from polyloom.stepping.history import Source
from polyloom.stepping.prints import Printed, follow_prints, order_prints
from polyloom.stepping.reference import make_reference, run_loops, source_loops
from polyloom.stepping.session import LIMIT, Session
from polyloom.targets.stepper import Stepper
from polyloom.targets.subject import Subject
from polyloom.targets.target import Job

_POSITIONS: Final = 300_000
"""Positions of a run that is stepped for its prints; a longer one has prints without cycles."""
Open = Callable[[bytes, Any], Stepper]
"""The stepper of a target: of a file and a job."""


@dataclass(frozen=True, slots=True)
class Prints:
    """Prints of a run by cycle. `notice` says what is missing."""

    rows: tuple[Printed, ...] = ()
    notice: str = ""


def open_session(opened: Open, data: bytes, job: Job, subject: Subject | None, limit: int = LIMIT) -> Session:
    """Session of a file; its snapshots and its history take at most `limit` bytes."""
    source = Source() if subject is None else read_stores(subject, job)
    # Copies: machines change arrays in place, and the reference has seen what the program sees.
    copies = {name: np.array(array, copy=True) for name, array in job.inputs.items()}
    return Session(opened(data, replace(job, inputs=copies)), source, limit)


def read_stores(subject: Subject, job: Job) -> Source:
    """What the source stores and prints for the inputs of a job."""
    reference = make_reference(subject, job.values, job.inputs)
    if subject.observed is None:
        return Source(reference)
    loops = source_loops(subject.observed.nest, job.values, job.inputs)
    try:
        is_exact = reference is not None and reference.is_complete
        # Machines that round in another way have values of their own; the loops tell in which order they come.
        stores = reference if is_exact else run_loops(subject.observed.without, job.values, job.inputs, True)[0]
        assert stores is not None
        return Source(reference, follow_prints(stores, subject.observed, loops.sizes, loops.inputs, not is_exact))
    except (MemoryError, IndexError, PolyloomError):
        return Source(reference)  # too many values or prints, or an index outside of its array


def run_prints(opened: Open | None, data: bytes, job: Job, subject: Subject) -> Prints:
    """Prints of a whole run, which is stepped for them."""
    if subject.observed is None:
        return Prints()
    if opened is None:
        return Prints(notice="this machine does not step")
    session = open_session(opened, data, replace(job, trace=False, account=False, progress=None), subject)
    if session.source.timeline is None:
        return Prints(notice="the run stores or prints too much, or a print reads outside of its array")
    found = list[Printed]()
    while not session.is_at_end and session.position < _POSITIONS:
        found += [printed for entry in session.step() for printed in entry.prints]
    notice = "" if session.is_at_end else f"cycles behind position {_POSITIONS} are not known"
    return Prints(tuple(order_prints([*found, *session.remaining_prints])), notice)
