# SPDX-License-Identifier: Apache-2.0
"""Events of a run are operations of the program: each has one node, one iteration, and the value that the interpreter
has there; arrows lead from each value to its readers."""

from __future__ import annotations

import json
import pickle
from collections import Counter

import numpy as np
import pytest
from tests.conftest import Golden
from tests.python.helpers import KERNELS

import polyloom as pl
from polyloom.report.trace import perfetto
from polyloom.run.instance import Result
from polyloom.targets.tcpa.resolve import affine
from polyloom.targets.trace import Deferred, Span, Trace

CASES = {
    "fir": ({"N": 12, "T": 3}, (2, 2)),
    "trisolv": ({"N": 9}, (2, 2)),
    "lcs": ({"N": 7, "M": 9}, (2, 3)),
    "jacobi1d": ({"N": 11, "T": 4}, (2, 2)),
    "seidel2d": ({"N": 6, "T": 3}, (1, 3)),
}


def traced(name: str) -> Result:
    values, region = CASES[name]
    compiled = pl.compile(str(KERNELS / f"{name}.py"), on="tcpa")
    known = {n: v for n, v in values.items() if n in compiled.signature.parameters}
    return compiled.instantiate(known, pes=region).run(trace=True)


@pytest.mark.parametrize("name", list(CASES))
def test_every_event_is_one_operation_in_one_iteration(name: str) -> None:
    result = traced(name)
    assert len(result.trace.spans) == result.execution.operations
    seen: set[tuple[int, int | None, str]] = set()
    for span in result.trace.spans:
        told = dict(span.arguments)
        operation = result.views[span.phase].operations[span.operation or 0]
        assert told["operation"] == operation.name
        assert operation.provenance is not None
        assert told["source"] == f"{operation.provenance.file}:{operation.provenance.line}"
        assert told["statement"] == operation.provenance.statement
        assert span.lane == operation.unit
        seen.add((span.phase, span.operation, told["iteration"]))
    assert len(seen) == len(result.trace.spans)
