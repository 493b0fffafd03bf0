# SPDX-License-Identifier: Apache-2.0
"""Time prediction of a configuration that is not kept: it is instantiated, its words are followed, and that is all.

One phase takes what the model's own reader of the words predicts (native/tcpa/predict.cpp, whose oracle is
`predict.py`). Several phases, and steps, need their transfers besides, for which the file is made whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from polyloom._native import tcpa as native
from polyloom.ir.arguments import has_plain_values
from polyloom.targets.prediction import Prediction
from polyloom.targets.tcpa.layouts import Layout
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.options import Choice
from polyloom.targets.tcpa.run import program
from polyloom.targets.tcpa.run.phases import plan_execution
from polyloom.targets.tcpa.run.phases.memory_traffic import measure_time
from polyloom.targets.tcpa.run.phases.step_sequence import run
from polyloom.targets.tcpa.words.phases.stages import has_phases, open_phases

_BYTES: Final = 1 << 32
"""What a reader of the library's own words may take."""


def predict(
    data: bytes,
    values: Mapping[str, int],
    region: tuple[int, int],
    candidate: Choice[int],
    layouts: Mapping[str, Layout] | None = None,
    closed: int = 0,
    machine: Machine | None = None,
) -> Prediction:
    """Predicted cycles of a run; on a machine with limits of memory and configuration, its whole time. Arguments and
    errors are those of `plan_execution.instantiate`.
    """
    elements = region[0] * region[1]
    if machine is not None and machine.has_whole_time:
        concrete = plan_execution.instantiate(data, values, region, candidate, layouts, closed)
        found = _predict_file(concrete, elements)
        parts = measure_time(run(concrete), machine).as_dict()
        return replace(found, facts={**found.facts, **{f"time_{name}": cycles for name, cycles in parts.items()}})
    stage = _single_stage(data, values, candidate) if not layouts and not closed else None
    # A single file has no transfers, so the bytes of a file of phases around it need not be made.
    if stage is not None:
        assert not isinstance(candidate, Mapping)
        return _predict_words(program.instantiate(stage, values, region, candidate), elements)
    return _predict_file(plan_execution.instantiate(data, values, region, candidate, layouts, closed), elements)


def predict_whole_time(
    data: bytes, values: Mapping[str, int], region: tuple[int, int], machine: Machine, closed: int = 0
) -> int:
    """Whole time alone, without the transfers that cycles count. Errors: those of `plan_execution.instantiate`."""
    concrete = plan_execution.instantiate(data, values, region, None, None, closed)
    return measure_time(run(concrete), machine).total


def _predict_file(concrete: bytes, elements: int) -> Prediction:
    if not has_phases(concrete):
        return _predict_words(concrete, elements)
    found = run(concrete)
    told = {id(own): _read(own.data) for own in found.configurations}
    predicted = {own: config.predict() for own, config in told.items()}
    cycles = sum(predicted[id(step)][0] for step in found.steps) + sum(found.transfers)
    used = max((c.rows for c in told.values()), default=0), max((c.columns for c in told.values()), default=0)
    facts = {"used": f"{used[0]}x{used[1]}", "phases": len(found.phased.stages), "steps": len(found.steps)}
    return Prediction(cycles, all(exact for _, exact in predicted.values()), elements, facts)


def _single_stage(data: bytes, values: Mapping[str, int], candidate: Choice[int]) -> bytes | None:
    """The file of the only phase, where that can be asked as it is."""
    if isinstance(candidate, Mapping):
        return None
    if not has_phases(data):
        return data
    found = open_phases(data)
    return found.phased.stages[0].data if found.is_alone and has_plain_values(found.phased.parameters, values) else None


def _predict_words(file: bytes, elements: int) -> Prediction:
    config = _read(file)
    cycles, exact = config.predict()
    facts = {"used": f"{config.rows}x{config.columns}", "initiation_interval": config.initiation_interval}
    return Prediction(cycles, exact, elements, facts)


def _read(file: bytes) -> native.Config:
    return native.Config(file, _BYTES)
