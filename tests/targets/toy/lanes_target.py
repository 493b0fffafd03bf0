# SPDX-License-Identifier: Apache-2.0
"""A target of the tests that gets vector loops by asking for them: it takes a nest, and `transform.parallel` arranges
its loops and says which of them are vectors; the member is how many lanes a vector has.

Its file is the arranged nest; NumPy computes the lanes, and cycles are those of the costs."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from polyloom.analysis.loop_dependences import LoopDependences
from polyloom.analysis.loop_ranges import loop_ranges
from polyloom.ir.nest import Nest
from polyloom.ir.nest_c import print_c
from polyloom.ir.signature import Signature
from polyloom.targets.entry import Entry
from polyloom.targets.forms import loops
from polyloom.targets.subject import Progress, Subject
from polyloom.targets.target import Execution, Job, Kind, Target
from polyloom.transform.parallel.arrangement import arrange_loops
from polyloom.transform.parallel.lane_interpreter import interpret_lanes
from polyloom.transform.parallel.machine import Machine
from polyloom.transform.parallel.specialization import specialize
from polyloom.transform.parallel.vectorization import VectorLoops

MAGIC = b"LANE"
KIND = Kind(".lanes", "program of lanes")


@dataclass(frozen=True, slots=True)
class Options:
    """None."""


@dataclass(frozen=True, slots=True)
class Code:
    nest: Nest
    signature: Signature
    vectors: tuple[str, ...]
    cycles: int


def compile(subject: Subject, lanes: int, values: Mapping[str, int], options: Any, progress: Progress | None) -> bytes:
    machine = Machine(lanes=lanes)
    nest = arrange_loops(specialize(subject.content, values), machine, watch=subject.watch)
    choice = VectorLoops(LoopDependences(nest), loop_ranges(nest.body), machine).choose(nest.body, ())
    code = Code(nest, subject.signature, tuple(sorted(choice.loops)), round(choice.cost))
    return MAGIC + pickle.dumps(code)


def read(data: bytes) -> Code:
    return pickle.loads(data[len(MAGIC) :])


def run(data: bytes, job: Job) -> Execution:
    code = read(data)
    found = interpret_lanes(code.nest, {name: job.inputs[name] for name in job.inputs})
    outputs = {a.name: found[a.name] for a in code.signature.outputs}
    return Execution(outputs, code.cycles, code.cycles, {"vectors": list(code.vectors)})


TARGET = Target(
    name="lanes", title="a machine of lanes", kinds=(KIND,), place=lambda text: int(text or "4"), options=Options,
    signature=lambda data: read(data).signature, takes=(loops.NEST,), per_size=True, compile=compile, run=run,
    owns=lambda data: KIND if data.startswith(MAGIC) else None, show=lambda data, _: print_c(read(data).nest),
)  # fmt: skip
ENTRY = Entry("lanes", "lanes_target:TARGET", "lanes:8")
