# SPDX-License-Identifier: Apache-2.0
"""NumPy as an oracle of runs: how far each result is from what NumPy makes of the function, beside a derived bound; a
wrong reading and a wrong lowering are noticed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.frontend.python.arrays import constructs
from tests.frontend.python.arrays.test_constructs import SIZES

import polyloom as pl
from polyloom.cli.entry import main
from polyloom.frontend.python import kernel as kernels
from polyloom.frontend.python.arrays.signature import ArrayFunction
from polyloom.frontend.python.kernel import Kernel
from polyloom.ir.arrays.program import Program
from polyloom.ir.arrays.read import read_arrays
from polyloom.ir.arrays.text import print_arrays
from polyloom.ir.nest import Nest
from polyloom.transform import arrays as lowering

CENTRED = """import numpy as np
import polyloom as pl

N, M = pl.sizes("N M")


@pl.kernel
def centred(data: pl.f32[N, M], total: pl.f32[1]):
    total[0] = np.sum(data)
    return data - data.mean(axis=0)
"""
SIZED = ["N=40", "M=8"]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("k.py").write_text(CENTRED, encoding="utf-8")
    return "k.py"


def test_a_run_prints_how_far_numpy_is(path: str, golden: Callable[..., None], capsys: Any) -> None:
    assert main(["run", path, *SIZED, "--on", "riscv:rv64gc"]) == 0
    lines = capsys.readouterr().out.split("\n")
    golden("numpy", "\n".join([lines[0], *(line for line in lines if " by NumPy " in line), ""]))


def test_json_has_it_for_each_result(path: str, capsys: Any) -> None:
    assert main(["run", path, *SIZED, "--on", "riscv:rv64gc", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    found = next(each for each in data["comparisons"] if each["with"] == "numpy")
    assert data["verdict"] == "equal bits" and found["outputs"].keys() == {"total", "result"}
    assert all(0 <= each["error"] <= each["bound"] < 0.1 for each in found["outputs"].values())
    assert any(each["error"] > 0 for each in found["outputs"].values())


def subtract_never(program: Program) -> Program:
    return read_arrays(print_arrays(program).replace("apply.sub", "apply.add"))


def test_a_wrong_reading_is_noticed(
    path: str, monkeypatch: pytest.MonkeyPatch, golden: Callable[..., None], capsys: Any
) -> None:
    read = kernels.read_arrays

    def misread(*given: Any) -> ArrayFunction:
        found = read(*given)
        return replace(found, program=subtract_never(found.program))

    monkeypatch.setattr(kernels, "read_arrays", misread)
    assert main(["run", path, *SIZED, "--on", "riscv:rv64gc"]) == 4
    printed = capsys.readouterr()
    golden("numpy-misread", f"{printed.out.split(chr(10))[0]}\n{printed.err}")


def test_a_wrong_lowering_is_noticed(path: str, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    lower = lowering.lower_program

    def misplaced(program: Program) -> Nest:
        return lower(subtract_never(program))

    monkeypatch.setattr(lowering, "lower_program", misplaced)
    assert main(["run", path, *SIZED, "--on", "riscv:rv64gc", "--json"]) == 4
    data = json.loads(capsys.readouterr().out)
    assert {each["with"] for each in data["comparisons"] if each["verdict"] == "differs"} == {"source", "numpy"}


@pytest.mark.parametrize(
    ("name", "on"), [("outer_product", "minion"), ("outer_product", "tensix"), ("matrix_vector", "tcpa:unit:1x2")]
)
def test_machines_that_round_otherwise_have_a_bound(name: str, on: str) -> None:
    kernel: Kernel = getattr(constructs, name)
    sizes = {p: SIZES[0][p] for p in kernel.arrays.program.parameters}
    result = pl.compile(kernel, on=on).run(sizes)
    assert result.outcome.comparisons[-1].name == "numpy" and result.verified
    for error, bound in (result.outcome.comparisons[-1].outputs or {}).values():
        assert bound is not None and error <= bound < (0.1 if on == "tensix" else 1e-4)
