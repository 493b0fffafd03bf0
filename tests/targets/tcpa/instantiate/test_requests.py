# SPDX-License-Identifier: Apache-2.0
"""A request that the library takes as it is gives what one gives whose checks are made in Python first: the same bytes,
or the same error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyloom as pl
from polyloom.diagnostics import PolyloomError, input_error
from polyloom.ir import arguments
from polyloom.targets.tcpa.run import instantiation, program
from polyloom.targets.tcpa.run.phases import plan_execution
from polyloom.targets.tcpa.words import concrete_file, symbolic_file
from polyloom.targets.tcpa.words.concrete import MadeOf
from polyloom.targets.tcpa.words.phases import phase_file, stages
from polyloom.targets.tcpa.words.request import check_parameters, check_region, signature

EXAMPLES = Path(__file__).parents[4] / "examples"
INTEGERS = st.integers(-2, 40) | st.sampled_from((1 << 31, 1 << 70, True, 2.0, np.int64(9)))
SIDES = st.integers(-1, 5) | st.sampled_from((65535, 65536, 1 << 40))
CANDIDATES = st.none() | st.integers(-1, 9)


def checked_first(data: bytes, values: Mapping[str, Any], region: tuple[int, int], candidate: int | None) -> bytes:
    symbolic = symbolic_file.decode(data)
    if candidate is not None and candidate not in range(len(symbolic.candidates)):
        help = f"the file stores candidates 0 to {len(symbolic.candidates) - 1}"
        raise input_error("PL0815", f"there is no candidate {candidate!r}", help=help)
    known = check_parameters(signature(symbolic), values)
    check_region(symbolic, *region)
    made = instantiation.call_library(data, known, *region, candidate)
    instantiation.checked_file(symbolic, made)
    return concrete_file.append_origin(made.file, MadeOf(made.candidate, tuple(known), data))


def in_phases(data: bytes, values: Mapping[str, Any], region: tuple[int, int], candidate: int | None) -> bytes:
    phased = phase_file.decode(phase_file.SYMBOLIC, data)
    known = arguments.check_parameters(phased, values)
    made = checked_first(phased.stages[0].data, known, region, candidate)
    return phase_file.fill_template(phase_file.make_template(phased), known, [made])


@cache
def compiled(name: str) -> bytes:
    return pl.compile(EXAMPLES / name, on="tcpa:wide").data


def outcome(make: Callable[..., bytes], *request: Any) -> object:
    try:
        return make(*request)
    except PolyloomError as error:
        return [(d.code, d.message, d.help, d.exit_code) for d in error.diagnostics]


@settings(max_examples=20)
@given(st.dictionaries(st.sampled_from("NMKX"), INTEGERS), st.tuples(SIDES, SIDES), CANDIDATES)
@pytest.mark.parametrize("complete", [True, False])
def test_of_equations(complete: bool, values: dict[str, Any], region: tuple[int, int], candidate: int | None) -> None:
    request = ({"N": 8, "M": 6, "K": 5, **values} if complete else values, region, candidate)
    data = compiled("matmul.pla")
    assert not stages.has_phases(data)
    assert outcome(program.instantiate, data, *request) == outcome(checked_first, data, *request)


@settings(max_examples=25)
@given(st.fixed_dictionaries({"N": INTEGERS, "M": INTEGERS}), st.tuples(SIDES, SIDES), CANDIDATES)
def test_of_a_function(values: dict[str, Any], region: tuple[int, int], candidate: int | None) -> None:
    data = compiled("kernels/syrk.py")
    assert stages.open_phases(data).is_alone
    assert outcome(plan_execution.instantiate, data, values, region, candidate) == outcome(
        in_phases, data, values, region, candidate
    )
