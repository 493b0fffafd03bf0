# SPDX-License-Identifier: Apache-2.0
"""Plans of several phases written by hand, each with what it computes in NumPy: the oracle needs no equations.

Values are integers, so that every order of a sum gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from polyloom.frontend.pla import parse
from polyloom.ir.pla import Array, Program
from polyloom.ir.plan import Phase, Plan

Arrays = Mapping[str, Any]

_PRODUCT = """parameter N
input A[N, N]: i32
input start[N]: i32
input x[N]: i32
output y[N]: i32
for 0 <= i < N and 0 <= j < N do
  v[i, j] = x[j] if i = 0
  v[i, j] = v[i - 1, j] if i > 0
  p[i, j] = A[i, j] * v[i, j]
  s[i, j] = start[i] + p[i, j] if j = 0
  s[i, j] = s[i, j - 1] + p[i, j] if j > 0
  y[i] = s[i, j] if j = N - 1
"""
_SQUARE = """parameter N
input from[N]: i32
output to[N]: i32
for 1 <= i < N do
  v[i] = from[i]
  to[i] = v[i] * v[i]
"""
_SCALE = """parameter N
input factor: i32
input from[N]: i32
output to[N]: i32
for 0 <= i < N do
  f[i] = factor[] if i = 0
  f[i] = f[i - 1] if i > 0
  to[i] = from[i] * f[i]
"""


@dataclass(frozen=True, slots=True)
class Case:
    """`expected` maps all inputs to all outputs."""

    plan: Plan
    expected: Callable[[Arrays], Arrays]


def program(text: str, name: str) -> Program:
    return parse(text, f"{name}.pla")


def plan(name: str, arrays: Mapping[str, Array], inputs: str, outputs: str, intermediates: str, *phases: Phase) -> Plan:
    """Arrays by name; the three lists are separated by spaces."""
    groups = [
        tuple(Array(n, arrays[n].dtype, arrays[n].shape) for n in group.split())
        for group in (inputs, outputs, intermediates)
    ]
    return Plan(name, ("N",), phases[0].program.assumptions, groups[0], groups[1], groups[2], phases)


PRODUCT = program(_PRODUCT, "product")
TRANSPOSED = program(_PRODUCT.replace("A[i, j] *", "A[j, i] *"), "transposed")
SQUARE = program(_SQUARE, "square")
SCALE = program(_SCALE, "scale")
_MATRIX, _VECTOR = PRODUCT.inputs[0], PRODUCT.inputs[1]
_NUMBER = SCALE.inputs[0]

MVT = Case(
    plan(
        "mvt",
        {"A": _MATRIX, "x1": _VECTOR, "x2": _VECTOR, "y1": _VECTOR, "y2": _VECTOR},
        "x1 x2 y1 y2 A",
        "x1 x2",
        "",
        Phase(PRODUCT, (("A", "A"), ("start", "x1"), ("x", "y1")), (("y", "x1"),)),
        Phase(TRANSPOSED, (("A", "A"), ("start", "x2"), ("x", "y2")), (("y", "x2"),)),
    ),
    lambda a: {"x1": a["x1"] + a["A"] @ a["y1"], "x2": a["x2"] + a["A"].T @ a["y2"]},
)
"""x1 += A y1, x2 += A' y2: the second phase reads the same matrix along its columns."""

ATAX = Case(
    plan(
        "atax",
        {"A": _MATRIX, "x": _VECTOR, "zero": _VECTOR, "y": _VECTOR, "tmp": _VECTOR},
        "A x zero",
        "y",
        "tmp",
        Phase(PRODUCT, (("A", "A"), ("start", "zero"), ("x", "x")), (("y", "tmp"),)),
        Phase(
            TRANSPOSED,
            (("A", "A"), ("start", "zero"), ("x", "tmp")),
            (("y", "y"),),
            (("v", "tmp[j] is needed by every i"),),
        ),
    ),
    lambda a: {"y": a["zero"] + a["A"].T @ (a["zero"] + a["A"] @ a["x"])},
)
"""y = A'(A x): an array passes from phase to phase."""


def _partly(a: Arrays) -> Arrays:
    x = a["x"].copy()
    x[1:] **= 2
    x *= a["factor"]
    x[1:] **= 2
    return {"x": x}


PARTLY = Case(
    plan(
        "partly",
        {"x": _VECTOR, "factor": _NUMBER},
        "factor x",
        "x",
        "",
        Phase(SQUARE, (("from", "x"),), (("to", "x"),)),
        Phase(SCALE, (("factor", "factor"), ("from", "x")), (("to", "x"),)),
        Phase(SQUARE, (("from", "x"),), (("to", "x"),)),
    ),
    _partly,
)
"""Every phase overwrites its own input; the first and the last leave x[0] as it is."""

UNTOUCHED = Case(
    plan("untouched", {"y": _VECTOR, "x": _VECTOR}, "x", "y", "", Phase(SQUARE, (("from", "x"),), (("to", "y"),))),
    lambda a: {"y": np.concatenate((a["x"][:1] * 0, a["x"][1:] ** 2))},
)
"""One phase whose arrays have other names than its program's; y[0] is 0, as nothing writes it."""

CASES = {c.plan.name: c for c in (MVT, ATAX, PARTLY, UNTOUCHED)}
