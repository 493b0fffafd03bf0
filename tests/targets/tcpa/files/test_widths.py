# SPDX-License-Identifier: Apache-2.0
"""Width of words in symbolic configurations: files of machines of 64 bits are as they were, and both readers refuse a
file whose values are wider than its machine's words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla import parse
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.compile import compile_program
from polyloom.targets.tcpa.machine import Machine
from polyloom.targets.tcpa.run import instantiation, model
from polyloom.targets.tcpa.words import symbolic_file
from polyloom.targets.tcpa.words.symbolic import Symbolic

SCALED = "parameter N >= 1\ninput x[N]: {0}\noutput y[N]: {0}\nfor 0 <= i < N do\n  S1: y[i] = x[i] + x[i]\n"
WIDENED = (
    "parameter N >= 1\ninput x[N]: i32\noutput y[N]: i32\n"
    "for 0 <= i < N do\n  S1: a[i] = to_f64(x[i])\n  S2: y[i] = to_i32(a[i])\n"
)


def narrowed(text: str) -> tuple[Symbolic, bytes]:
    """The file of a program for `wide`, and what it would be with words of 32 bits."""
    symbolic = compile_program(parse(text, "program.pla"), machine_file.load("wide"))
    return symbolic, symbolic_file.encode(replace(symbolic, limits=replace(symbolic.limits, word_bits=32)))


def test_width_takes_one_byte_where_it_is_not_64_bits() -> None:
    symbolic, narrow = narrowed(SCALED.format("i32"))
    assert symbolic_file.decode(narrow).limits.word_bits == 32
    assert symbolic_file.decode(symbolic_file.encode(symbolic)).limits.word_bits == 64
    # The same words are made of it.
    made = [instantiation.instantiate(d, symbolic, (8,), 2, 2) for d in (symbolic_file.encode(symbolic), narrow)]
    assert made[0] == made[1]


@pytest.mark.parametrize("text", [SCALED.format("f64"), WIDENED], ids=["array", "operation"])
def test_wide_values_are_refused_by_both_readers(text: str) -> None:
    symbolic, narrow = narrowed(text)
    with pytest.raises(PolyloomError, match=r"PL0705.*values of f64, but words have 32 bits"):
        symbolic_file.decode(narrow)
    with pytest.raises(PolyloomError, match="PL0705"):
        instantiation.instantiate(narrow, symbolic, (8,), 2, 2)


def test_model_refuses_arrays_of_types_that_a_machine_lacks() -> None:
    symbolic = compile_program(parse(SCALED.format("i32"), "program.pla"), machine_file.load("wide"))
    data = instantiation.instantiate(symbolic_file.encode(symbolic), symbolic, (8,), 2, 2)
    wide = machine_file.load("wide")
    model.run(data, wide, {"x": np.arange(8, dtype=np.int32)})
    # The hash is that of the file's machine: only the check of types is left.
    known = machine_file.fingerprint(wide)

    def own_fingerprint(_: Machine) -> int:
        return known

    lacking = replace(wide, types=("i8", "f32"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_file, "fingerprint", own_fingerprint)
        with pytest.raises(PolyloomError, match=r"PL0603.*holds i32, which the machine wide has not"):
            model.run(data, lacking, {"x": np.arange(8, dtype=np.int32)})
