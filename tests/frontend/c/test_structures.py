# SPDX-License-Identifier: Apache-2.0
"""Structures as arguments of whole runs: from the command line's names, from mappings, and from `ctypes`."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from tests.frontend.python.helpers import ROOT

from polyloom import api
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
