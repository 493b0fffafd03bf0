# SPDX-License-Identifier: Apache-2.0
"""Events of a run are operations of the program: each has one node, one iteration, and the value that is there; arrows
lead from each value to its readers."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden
from tests.frontend.python.helpers import KERNELS
from tests.kernels.sizes import PRIMES

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.report.trace import perfetto
from polyloom.run.instance import Instance, Result
from polyloom.targets.tcpa.words import concrete_file, event_resolution
from polyloom.targets.trace import Deferred, Span, Trace

CASES = {"fir": (2, 2), "trisolv": (2, 2), "lcs": (2, 3), "seidel2d": (1, 3), "durbin": (2, 2)}


def traced(name: str) -> Result:
    compiled = pl.compile(str(KERNELS / f"{name}.py"), on="tcpa")
    values = {p: PRIMES[name][p.upper()] for p in compiled.parameters}
    return compiled.instantiate(values, pes=CASES[name]).run(trace=True)


@pytest.mark.parametrize("name", list(CASES))
def test_every_event_is_one_operation_in_one_iteration(name: str) -> None:
    result = traced(name)
    assert len(result.trace.spans) == result.execution.operations
    seen = set[tuple[int, str, str]]()
    for span in result.trace.spans:
        told = dict(span.arguments)
        assert span.operation is not None
        operation = result.views[span.phase].operations[span.operation]
        assert operation.provenance is not None
        assert told["operation"] == operation.name
        assert told["source"] == f"{operation.provenance.file}:{operation.provenance.line}"
        assert told["statement"] == operation.provenance.statement
        assert span.lane == operation.unit
        seen.add((span.phase, operation.name, told["iteration"]))
    # Single assignment: no operation has an iteration twice.
    assert len(seen) == len(result.trace.spans)


def test_values_are_those_of_the_result() -> None:
    """An operation that writes y[i] has the value that y[i] has in the end."""
    result = traced("fir")
    (view,) = result.views
    writes = {n for n, o in enumerate(view.operations) if o.text.endswith("-> y[i]")}
    told = [dict(span.arguments) for span in result.trace.spans if span.operation in writes]
    found = {int(t["iteration"].split()[0].removeprefix("i=")): np.float32(t["value"]) for t in told}
    assert [found[i] for i in range(len(result.outputs["y"]))] == list(result.outputs["y"])


def test_arrows_lead_from_a_value_to_its_reader() -> None:
    """Each is ready where it is read: a move that is read along has the value of what it moves."""
    result = traced("lcs")
    at = {(s.group, s.lane, s.start): s for s in result.trace.spans}
    arrows = result.trace.arrows
    assert len(arrows) > len(result.trace.spans)
    moved = 0
    for arrow in arrows:
        source, target = at[(*arrow.source, arrow.start)], at[(*arrow.target, arrow.end)]
        assert source.start + source.cycles <= target.start
        assert dict(source.arguments)["operation"] == arrow.name
        if target.name.startswith("move "):
            assert dict(target.arguments)["value"] == dict(source.arguments)["value"]
            moved += 1
    assert moved


def test_perfetto_has_arguments_and_flows(golden: Golden) -> None:
    result = traced("fir")
    events = json.loads(perfetto(result.trace))["traceEvents"]
    kinds = Counter(event["ph"] for event in events)
    assert kinds["X"] == len(result.trace.spans)
    assert kinds["s"] == kinds["f"] == len(result.trace.arrows)
    flow = next(event for event in events if event["ph"] == "s")
    ends = [event for event in events if event["ph"] in "sf" and event["id"] == flow["id"]]
    spans = [event for event in events if event["ph"] == "X"]
    golden("fir", "\n".join(json.dumps(event, indent=1) for event in (*spans[:3], *ends)))


def test_trace_needs_nothing_but_the_concrete_file(tmp_path: Path) -> None:
    made = pl.compile(str(KERNELS / "fir.py"), on="tcpa").instantiate(PRIMES["fir"], pes=(2, 2))
    made.save(tmp_path / "fir.plcc")
    loaded = pl.load(tmp_path / "fir.plcc")
    assert isinstance(loaded, Instance)
    result, again = made.run(trace=True, seed=1), loaded.run(trace=True, fill="random", seed=1)
    assert [s.operation for s in again.trace.spans] == [s.operation for s in result.trace.spans]
    assert again.views[0].operations == result.views[0].operations


def test_configuration_of_another_file_is_refused() -> None:
    made = pl.compile(str(KERNELS / "fir.py"), on="tcpa").instantiate(PRIMES["fir"], pes=(2, 2))
    other = pl.compile(str(KERNELS / "trisolv.py"), on="tcpa")
    concrete = concrete_file.decode(made.data)
    assert concrete.made_of is not None
    wrong = replace(concrete, made_of=replace(concrete.made_of, symbolic=other.data, values=(17,)))
    with pytest.raises(PolyloomError, match="was not made from this symbolic one"):
        _ = Instance(made.target, concrete_file.encode(wrong)).listing


def test_deferred_items_are_made_once_and_pickled() -> None:
    made: list[int] = []

    def make() -> list[Span]:
        made.append(1)
        return [Span("a", "b", "c", 0, 1)]

    spans = Deferred(make, 1)
    assert len(spans) == 1
    assert not made
    assert spans[0] == Span("a", "b", "c", 0, 1)
    assert list(spans) == list(spans)
    assert made == [1]
    assert pickle.loads(pickle.dumps(Trace(spans))) == Trace(tuple(spans))
    assert Trace(spans) != Trace()


def test_words_without_an_interval_were_made_from_nothing() -> None:
    """A damaged file was an internal error: a division by zero."""
    compiled = pl.compile(str(KERNELS / "fir.py"), on="tcpa")
    concrete = concrete_file.decode(compiled.instantiate(dict.fromkeys(compiled.parameters, 4), pes=(1, 1)).data)
    assert event_resolution.find_origin(concrete) is not None
    with pytest.raises(PolyloomError, match="PL0705"):
        event_resolution.find_origin(replace(concrete, initiation_interval=0))
