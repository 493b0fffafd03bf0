# SPDX-License-Identifier: Apache-2.0
"""A changed line of Verilog is noticed: by Verilator, by a difference from the model, or by a run that does not end."""

from __future__ import annotations

import pytest
from tests.targets.tcpa.rtl.conftest import tiny_circuit
from tests.targets.tcpa.rtl.mutation_table import EQUIVALENT, checked_trials, sample, verdicts
from tests.targets.tcpa.rtl.mutations import mutations

from polyloom.targets.tcpa.rtl.verilog_files import verilog_files

SAMPLE = 20
ENOUGH = 0.95


def test_every_module_has_mutations() -> None:
    found = list(mutations(verilog_files(tiny_circuit())))
    files = {"alu.v", "bank.v", "controller.v", "divider.v", "fifo.v", "float_fma.v", "unit.v", "wrapper.v"}
    assert {m.file for m in found} >= files
    assert len(found) > 150


def test_equivalent_mutations_are_mutations() -> None:
    """A line that changes takes its reason along."""
    assert set(EQUIVALENT) <= {(m.file, m.shown) for m in mutations(verilog_files(tiny_circuit()))}


@pytest.mark.long
def test_changed_lines_are_noticed() -> None:
    """A sample of all mutations. `make mutations MUTATIONS=0` tries all."""
    found = verdicts(sample(SAMPLE, 1), checked_trials())
    unnoticed = [f"{m.file}:{m.line}: {m.shown}" for m, is_noticed in found if not is_noticed]
    unknown = [m for m in unnoticed if m.split(": ", 1)[1] not in {shown for _, shown in EQUIVALENT}]
    assert len(unknown) <= (1 - ENOUGH) * SAMPLE, unnoticed
