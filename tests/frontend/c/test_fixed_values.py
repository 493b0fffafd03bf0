# SPDX-License-Identifier: Apache-2.0
"""Arguments that have one value, `--set NAME=VALUE`: steps and strides, on the array and on processors."""

from __future__ import annotations

import json

import pytest
from tests.frontend.c.helpers import HERE

from polyloom import api
from polyloom.cli.entry import main
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options

pytest.importorskip("ziglang", reason="C needs the extra `c`")

FILE = HERE / "fixed_values.c"
CASES = {
    "decimate": (
        ("S->coefficients=S->taps", "x=S->factor*n+S->taps", "y=n"),
        ("S->factor=3", "S->taps=4"),
        {"n": 5},
    ),
    "spread": (("x=n", "y=stride*n"), ("stride=3",), {"n": 4}),
    "step": ((), ("by=2",), {"n": 7}),
}


@pytest.mark.parametrize("on", ["tcpa", "belt", "riscv:rv64gc"])
@pytest.mark.parametrize("name", CASES)
def test_steps_and_strides(name: str, on: str) -> None:
    shapes, values, sizes = CASES[name]
    compiled = api.compile(FILE, on, options=Options(name, shapes=shapes, values=values))
    assert compiled.run(sizes, fill="random").verified


def test_other_values_are_refused() -> None:
    compiled = api.compile(FILE, "tcpa", options=Options("step", values=("by=2",)))
    assert compiled.run(n=5, by=2, fill="random").verified
    with pytest.raises(PolyloomError, match=r"PL0230.*n = 5, by = 3 is outside the domain"):
        compiled.run(n=5, by=3, fill="random")


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", f"{FILE}:decimate", "--set", "S->factor=2", "S->taps=3", "n=4", "--json"]
    shapes = [word for shape in CASES["decimate"][0] for word in ("--shape", shape)]
    assert main([*words, *shapes]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"] == {"S_factor": 2, "S_taps": 3, "n": 4}


def test_python_has_no_such_option() -> None:
    with pytest.raises(PolyloomError, match=r"PL0801.*--set means nothing"):
        api.compile(HERE.parent / "python" / "plain.py", "tcpa", options=Options("f", values=("n=2",)))
