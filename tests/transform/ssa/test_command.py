# SPDX-License-Identifier: Apache-2.0
"""`polyloom show FILE.c --ssa LEVEL`, and the functions that `polyloom bench ssa` measures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from polyloom import ssa
from polyloom.cli import main
from polyloom.cli.bench import graphs
from polyloom.cli.bench.ssa import FAMILIES, generate, measure
from polyloom.diagnostics import PolyloomError

PROGRAMS = Path(__file__).with_name("programs.c")


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    assert main(["show", str(PROGRAMS), "--function", "dot", "--ssa", "0"]) == 0
    function = ssa.verify(ssa.read(capsys.readouterr().out))
    a = np.arange(16, dtype=np.int32)
    assert ssa.interpret(function, [5, a, a]) == 30
    assert main(["show", f"{PROGRAMS}:dot", "--ssa", "1", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["function"] == "dot"
    assert [(loop["inside"], loop["irreducible"]) for loop in shown["loops"]] == [(None, False)]
    assert main(["show", f"{PROGRAMS}:jumps", "--ssa", "0"]) == 0
    assert "# irreducible loop " in capsys.readouterr().out
    assert main(["show", "kernel.pla", "--ssa", "1"]) == 2


@pytest.mark.parametrize("family", FAMILIES)
def test_measured_functions_are_well_formed(family: str) -> None:
    row = measure(family, 60, variables=5)
    assert row["blocks"] == 60
    assert row["instructions"] == 59 * 3 + 2 * 5
    function = ssa.verify(generate(FAMILIES[family](59), 59, 5))
    assert _outcome(ssa.construct(function)) == _outcome(function)


@pytest.mark.parametrize("family", graphs.FAMILIES)
def test_hard_graphs(family: str) -> None:
    function = ssa.verify(generate(graphs.FAMILIES[family](59), 59, 5))
    assert _outcome(ssa.verify(ssa.construct(function))) == _outcome(function)


def _outcome(function: ssa.Function) -> object:
    """A result, or that there is none; where the steps end is not the same after construction."""
    try:
        return ssa.interpret(function, [3], 3000)
    except PolyloomError as error:
        return error.diagnostics[0].code
