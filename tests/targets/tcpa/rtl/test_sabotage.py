# SPDX-License-Identifier: Apache-2.0
"""A changed line of Verilog is noticed: by Verilator, by a difference from the model, or by a run that does not end."""

from __future__ import annotations

from pathlib import Path
from random import Random
from subprocess import CalledProcessError

import pytest
from tests.targets.tcpa.rtl.conftest import tiny_circuit
from tests.targets.tcpa.rtl.floats.floats_bench import build_bench, equals_golden
from tests.targets.tcpa.rtl.floats.golden_floats import E4M3
from tests.targets.tcpa.rtl.mutations import Mutation, mutations
from tests.targets.tcpa.rtl.random_programs import random_program
from tests.targets.tcpa.rtl.test_cosimulation import changed_programs

from polyloom import temporary
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa import cosimulation
from polyloom.targets.tcpa.rtl.simulator import Simulator, build_simulator
from polyloom.targets.tcpa.rtl.verilog_files import verilog_files

SAMPLE = 40
ENOUGH = 0.95


def _is_noticed(mutation: Mutation) -> bool:
    with temporary.temporary_folder() as folder:
        if mutation.file.startswith("float_"):
            return _is_noticed_alone(mutation, folder)
        try:
            built = build_simulator(tiny_circuit(), folder, 0, replaced={mutation.file: mutation.text})
        except PolyloomError:
            return True
        return any(_differs(built, seed) for seed in range(30))


def _is_noticed_alone(mutation: Mutation, folder: Path) -> bool:
    """Modules of floats are compared with exact arithmetic in one small format."""
    try:
        bench = build_bench(folder, E4M3, replaced={mutation.file: mutation.text})
    except CalledProcessError:
        return True
    return not equals_golden(bench, E4M3)


def _differs(simulator: Simulator, seed: int) -> bool:
    data, inputs = random_program(simulator.circuit.machine, seed)
    for changed in (data, *changed_programs(data, seed, 3)):
        try:
            if cosimulation.compare_runs(simulator, changed, inputs).difference is not None:
                return True
        except PolyloomError as error:
            # A run that does not end; the others are refused before they run.
            if error.diagnostics[0].code == "PL0661":
                return True
    return False


def test_every_module_has_mutations() -> None:
    found = list(mutations(verilog_files(tiny_circuit())))
    files = {"alu.v", "bank.v", "controller.v", "divider.v", "fifo.v", "float_fma.v", "unit.v", "wrapper.v"}
    assert {m.file for m in found} >= files
    assert len(found) > 150


@pytest.mark.long
def test_changed_lines_are_noticed() -> None:
    """A sample of all mutations; each one takes a build."""
    chosen = Random(1).sample(list(mutations(verilog_files(tiny_circuit()))), SAMPLE)
    unnoticed = [f"{m.file}:{m.line}: {m.shown}" for m in chosen if not _is_noticed(m)]
    assert len(unnoticed) <= (1 - ENOUGH) * SAMPLE, unnoticed
