# SPDX-License-Identifier: Apache-2.0
"""Structures as arguments of whole runs: from the command line's names, from mappings, and from `ctypes`."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.frontend.python.helpers import ROOT

import polyloom as pl
from polyloom import api
from polyloom.cli.entry import main
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options

pytest.importorskip("ziglang", reason="C needs the extra `c`")

FILTER = ROOT / "examples" / "c" / "filter.c"
SHAPES = ("S->state=S->taps+n-1", "S.coefficients=S_taps", "in=n", "out=n")
TAPS, N = 3, 5


class Stage(ctypes.Structure):
    _fields_ = [("gain", ctypes.c_float)]


class Filter(ctypes.Structure):
    _fields_ = [
        ("taps", ctypes.c_uint),
        ("state", ctypes.POINTER(ctypes.c_float)),
        ("coefficients", ctypes.POINTER(ctypes.c_float)),
        ("output", Stage),
        ("runs", ctypes.c_int),
    ]


def compiled(on: str) -> api.Compiled:
    return api.compile(FILTER, on, options=Options("filter_run", shapes=SHAPES))


def expected(x: Any, h: Any, state: Any) -> Any:
    whole = np.concatenate([state[: TAPS - 1], x])
    return np.array([2.0 * (whole[i : i + TAPS] * h).sum() for i in range(N)], np.float32)


@pytest.mark.parametrize("on", ["tcpa", "riscv", "belt"])
def test_mapping_and_structure(on: str) -> None:
    x, h = np.arange(N, dtype=np.float32), np.array([1, 2, 4], np.float32)
    state = np.ones(TAPS + N - 1, np.float32)
    mapping = {"taps": TAPS, "state": state, "coefficients": h, "output": {"gain": 2.0}, "runs": 6, "unused": 1}
    program = compiled(on)
    first = program.run({"in": x}, n=N, S=mapping, out=np.zeros(N, np.float32))
    assert np.array_equal(first.outputs["out"], expected(x, h, state))
    assert first.outputs["S_runs"] == 7
    pointer = ctypes.POINTER(ctypes.c_float)
    S = Filter(TAPS, state.ctypes.data_as(pointer), h.ctypes.data_as(pointer), Stage(2.0), 6)
    second = program.run({"in": x}, n=N, S=S, out=np.zeros(N, np.float32))
    assert np.array_equal(second.outputs["out"], first.outputs["out"])
    assert np.array_equal(second.outputs["S_state"], first.outputs["S_state"])


def test_null_pointers_are_refused() -> None:
    with pytest.raises(PolyloomError, match=r"PL0232.*the pointer `S_state` is null"):
        compiled("tcpa").run({"in": np.zeros(N, np.float32)}, n=N, S=Filter(TAPS))


LINES = """struct fir {
  const float *coeffs;
  float gain;
};
void scale(struct fir *S, int n, float x[n], float y[n]) {
  for (int i = 0; i < n; i++)
    y[i] = S->gain * x[i] * S->coeffs[0];
  S->gain = 2;
}
"""


def test_instructions_have_the_lines_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.c").write_text(LINES, encoding="utf-8")
    assert main(["compile", "s.c", "--on", "riscv:rv64gc", "--shape", "S->coeffs=1", "-o", "s.elf"]) == 0
    assert main(["show", "s.elf"]) == 0
    lines = [int(number) for number in re.findall(r"s\.c:(\d+)", capsys.readouterr().out)]
    assert {6, 7} <= {*lines} <= {5, 6, 7, 8, 9}


def test_builtin_functions_need_no_header(tmp_path: Path) -> None:
    path = tmp_path / "e.c"
    path.write_text("void f(int n, float x[n]) { for (int i = 0; i < n; i++) x[i] = __builtin_expf(x[i]); }\n")
    assert pl.compile(str(path)).run({"n": 3}, pes=(1, 1)).verified


@pytest.mark.parametrize("on", ["riscv", "belt"])
def test_unused_structures_beside_variables_are_no_arguments(on: str, tmp_path: Path) -> None:
    path = tmp_path / "unused.c"
    path.write_text(
        "struct args { int *p; float f; };\nint v[8], w[8];\n"
        "void k(struct args *s) { for (int i = 0; i < 8; i++) v[i] += w[i]; }\n"
    )
    assert api.compile(path, on, options=Options("k")).run(fill="random").verified
