# SPDX-License-Identifier: Apache-2.0
"""A changed line of Verilog is noticed: by Verilator, by a difference from the model, or by a run that does not end."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.targets.tcpa.rtl.conftest import FLOATS, TINY, tiny_circuit
from tests.targets.tcpa.rtl.mutant_equivalence import is_equivalent
from tests.targets.tcpa.rtl.mutation_table import build_benches, is_noticed_alone, sample, verdicts
from tests.targets.tcpa.rtl.mutations import Mutation, mutations

from polyloom.targets.tcpa.rtl.verilog_files import verilog_files

SAMPLE = 20
ENOUGH = 0.95


def test_every_module_has_mutations() -> None:
    found = list(mutations(verilog_files(tiny_circuit())))
    files = {"alu.v", "bank.v", "controller.v", "divider.v", "fifo.v", "float_fma.v", "unit.v", "wrapper.v"}
    assert {m.file for m in found} >= files
    assert len(found) > 150


EQUIVALENT = (
    ("element.v", "read_twice = 1;", "any number of units may read a general register"),
    ("element.v", "fault = 1;", "the lowest bit is always assigned after it"),
    ("element.v", "results = 1;", "a result counts where a lane writes it"),
    ("alu.v", "wire signed [WORD-1:0] word = ~a;", "no unit has an operation that takes it"),
)
"""Changed lines that mean the same: the reason."""


@pytest.mark.long
@pytest.mark.parametrize(("file", "shown", "reason"), EQUIVALENT)
def test_equivalent_mutants_are_the_same_circuit(file: str, shown: str, reason: str) -> None:
    _skip_without_yosys()
    assert is_equivalent(tiny_circuit(), _mutation(file, shown)), reason


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("pacer.v", "assign pulse = on || left == 0;"),
        # Of the two forms, that of simulators.
        ("element.v", "assign result = ~results;"),
    ],
)
def test_another_circuit_is_no_equivalent_mutant(file: str, shown: str) -> None:
    _skip_without_yosys()
    assert not is_equivalent(tiny_circuit(), _mutation(file, shown))


@pytest.mark.long
@pytest.mark.parametrize("path", [TINY, FLOATS], ids=lambda p: p.stem)
def test_unknown_values_do_not_count(path: Path) -> None:
    """Where the text says x, any value will do (IEEE 1364-2001, 3.1): Verilator takes zeros, and ones do as well."""
    (bench,) = build_benches([path])
    texts = verilog_files(bench.circuit)
    ones = {name: text.replace("'bx;", "~0;") for name, text in texts.items()}
    assert ones != texts
    assert not is_noticed_alone(bench, ones)


def _mutation(file: str, shown: str) -> Mutation:
    """The one that changes a line to this. A line that changes takes its reason along."""
    return next(m for m in mutations(verilog_files(tiny_circuit())) if (m.file, m.shown) == (file, shown))


def _skip_without_yosys() -> None:
    if shutil.which("yosys") is None:
        pytest.skip("yosys is not installed")


@pytest.mark.long
def test_changed_lines_are_noticed() -> None:
    """A sample of all mutations. `make mutations MUTATIONS=0` tries all."""
    found = verdicts(sample(SAMPLE, 1), build_benches())
    left = [m for m, is_noticed in found if not is_noticed and not is_equivalent(tiny_circuit(), m)]
    assert len(left) <= (1 - ENOUGH) * SAMPLE, [f"{m.file}:{m.line}: {m.shown}" for m in left]
