# SPDX-License-Identifier: Apache-2.0
"""Oracles of loops: the tile's own arithmetic, bit for bit, and the program, within bounds (PL1235), from which `run
--json` tells how far results are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from polyloom.frontend.source import Arrays, Reference
from polyloom.targets.forms.numpy_oracle import numpy_oracles
from polyloom.targets.subject import ErrorBounds, Oracle
from polyloom.targets.tensix.map.loops.functions import LARGEST_ANGLE
from polyloom.targets.tensix.map.oracle.bound import ulp_distance
from polyloom.targets.tensix.words.arrays.formats import Result

_Outputs = Callable[[Mapping[str, int], Arrays], Arrays]


def loop_oracles(
    reference: Reference, program: Oracle, arithmetic: _Outputs, bounds: ErrorBounds, result: Result, help: str
) -> tuple[Oracle, ...]:
    """Both oracles, and NumPy for kernels of whole arrays; `program` interprets it, `result` is the format of the
    outputs, in which ulps are counted.
    """
    near, figures = partial(_known_bounds, bounds), partial(_error_figures, result)
    judged = replace(program, bounds=near, figures=figures, code="PL1235", help=help)
    return Oracle("arithmetic", "the tile's arithmetic", arithmetic), judged, *numpy_oracles(reference, judged)


def bound_help(functions: Collection[str], *, has_products: bool) -> str:
    """Help where an error is above its bound, with what functions do not take."""
    help = "choose a format or a fidelity that holds these values, or leave them out: --format tf32 --fidelity 4"
    if not has_products:
        help = "choose a format that holds these values, or leave them out: --format tf32 goes through FP32"
    if {"sin", "cos"} & {*functions}:
        return f"{help}; sin and cos take angles below {LARGEST_ANGLE:.0f}"
    return help


def _known_bounds(bounds: ErrorBounds, values: Mapping[str, int], inputs: Arrays, expected: Arrays) -> Arrays:
    """Bounds as the comparison takes them: a NaN becomes 0 (results are the same there), infinity becomes NaN (they may
    be anything).
    """
    found = bounds(values, inputs, expected)
    return {name: np.where(np.isnan(by), 0.0, np.where(np.isinf(by), np.nan, by)) for name, by in found.items()}


def _error_figures(result: Result, expected: Arrays, got: Arrays) -> dict[str, Any]:
    with np.errstate(all="ignore"):
        errors = [_absolute_error(want, got[n]) for n, want in expected.items()]
    error = max(float(each.max(initial=0.0)) for each in errors)
    ulp = max(int(ulp_distance(want, got[n], result).max(initial=0)) for n, want in expected.items())
    return {"max_error": error if np.isfinite(error) else str(error), "max_ulp": ulp}


def _absolute_error(want: Any, got: Any) -> Any:
    """Absolute error; equal infinities and two NaNs have none."""
    alike = (want == got) | (np.isnan(want) & np.isnan(got))
    return np.where(alike, 0.0, np.abs(got.astype(np.float64) - want.astype(np.float64)))
