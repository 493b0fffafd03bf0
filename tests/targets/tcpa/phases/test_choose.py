# SPDX-License-Identifier: Apache-2.0
"""Candidates of phases chosen together: transfers count, and what the user chose stays."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import polyloom as pl
from polyloom.targets.tcpa.run import program
from polyloom.targets.tcpa.run.phases import plan_execution as phases
from polyloom.targets.tcpa.words import program_file
from polyloom.targets.tcpa.words.phases import stages

KERNEL = Path(__file__).parents[4] / "examples" / "kernels" / "atax.py"
SIZES, REGION = {"M": 38, "N": 42}, (4, 4)


def test_phases_lay_arrays_out_alike_where_transfers_cost_more() -> None:
    compiled = pl.compile(KERNEL, on="tcpa:wide")

    def total(data: bytes) -> int:
        return sum(map(program.predict_cycles, stages.phase_files(data))) + sum(phases.transfers(data))

    found = total(compiled.instantiate(SIZES, pes=REGION).data)
    files = stages.phase_files(compiled.data)
    numbers = product(*(range(program_file.candidates(file)) for file in files))
    every = [compiled.instantiate(SIZES, pes=REGION, candidate=dict(enumerate(chosen, 1))).data for chosen in numbers]
    assert found == min(map(total, every))
    alone = [program.predict_cycles(program.instantiate(file, SIZES, REGION, None)) for file in files]
    shortest = [data for data in every if [program.predict_cycles(file) for file in stages.phase_files(data)] == alone]
    assert found < min(map(total, shortest))
