# SPDX-License-Identifier: Apache-2.0
"""Kernels in the spelling of the SFPI page run, and the model gives what the interpreter gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from polyloom.targets.tensix.kernel import compile_kernel, read_note
from polyloom.targets.tensix.kernel_form import Kernel
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.run import kernel_run
from polyloom.targets.tensix.run.reference import BITS, Reference
from polyloom.targets.tensix.source.cpp.source import load_kernel
from polyloom.targets.tensix.source.verify import verify

pytest.importorskip("ziglang", reason="C needs the extra `c`")

KERNELS = str(Path(__file__).with_name("page.h"))
RUNS: tuple[tuple[str, dict[str, int]], ...] = (
    ("zero", {"e": 1}),
    ("zero", {"e": 0}),
    ("narrow", {"n": 3}),
    ("narrow", {"n": 9}),
    ("consts", {}),
    ("rt", {"f": 0x40490FDB}),
    ("lambda", {}),
    ("cond2", {}),
    ("ret", {"n": 5}),
    ("undef", {}),
    ("uns", {}),
)


def ran(function: str, arguments: dict[str, int]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Dst afterwards on the model and by the interpreter, and where it is known."""
    forms = load_kernel(KERNELS, function)
    data = compile_kernel(Kernel(forms.function), function, "wormhole", Options(dest=32))
    tile = np.random.default_rng(3).uniform(-4, 4, (32, 32)).astype(np.float32)
    inputs = {"dst:fp32": tile, **{name: np.asarray(value) for name, value in arguments.items()}}
    found = kernel_run.run(data, read_note(data), inputs, hazards="error").tile.dst
    reference = Reference(forms.function, None, "wormhole", 32, "face")
    expected = reference.outputs({}, inputs)[BITS]
    assert reference.known is not None
    return found, expected, reference.known


@pytest.mark.parametrize(("function", "arguments"), RUNS)
def test_the_model_gives_what_the_interpreter_gives(function: str, arguments: dict[str, int]) -> None:
    found, expected, known = ran(function, arguments)
    assert np.array_equal(found[known], expected[known])
    assert known.mean() > 0.9


def test_text_is_printed_once_for_all_lanes() -> None:
    forms = load_kernel(KERNELS, "print")
    data = compile_kernel(Kernel(forms.function), "print", "wormhole", Options(dest=32, per="tile"))
    outcome = kernel_run.run(data, read_note(data), {"n": np.asarray(-7)})
    assert outcome.text == "a < b\na >= b-7\n"


def test_lanes_without_a_value_are_warned_of_at_the_declaration() -> None:
    (found,) = verify(load_kernel(KERNELS, "undef").function, "wormhole")
    assert found.code == "PL1243"
    lines = Path(KERNELS).read_text().split("\n")
    places = [found.span.line] if found.span else []
    assert any("vFloat a;" in lines[line - 1] for line in places)
