# SPDX-License-Identifier: Apache-2.0
"""Arrays that share memory: refused by name, or computed in place as the compiled function does."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden
from tests.frontend.c.helpers import HERE

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.frontend import c
from polyloom.frontend.source import Options
from polyloom.transform.writers import runs_in_place

pytest.importorskip("ziglang", reason="C needs the extra `c`")

PROGRAM = HERE / "in_place.c"
SIZE = 7
IN_PLACE = {"scaled": True, "ahead": True, "behind": False, "twice": False, "turned": True}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    made: Path = tmp_path_factory.mktemp("in_place") / "in_place.so"
    subprocess.run(["gcc", "-O1", "-fwrapv", "-shared", "-fPIC", "-o", str(made), str(PROGRAM)], check=True)
    return ctypes.CDLL(str(made))


@pytest.mark.parametrize("name", IN_PLACE)
def test_only_what_equals_the_function_runs_in_place(name: str, library: ctypes.CDLL) -> None:
    nest, _ = c.load(str(PROGRAM), Options(function=name))
    assert runs_in_place(nest, "y", "x") == IN_PLACE[name]
    kernel = pl.compile(str(PROGRAM), "tcpa:2x2", function=name)
    values = np.arange(SIZE, dtype=np.int32) * 3 - 5
    expected, found = values.copy(), values.copy()
    library[name](SIZE, ctypes.c_void_p(expected.ctypes.data), ctypes.c_void_p(expected.ctypes.data))
    if IN_PLACE[name]:
        result = kernel.run(n=SIZE, x=found, y=found)
        np.testing.assert_array_equal(result.outputs["y"], expected)
    else:
        with pytest.raises(PolyloomError) as caught:
            kernel.run(n=SIZE, x=found, y=found)
        assert caught.value.code == "PL0234"
        np.testing.assert_array_equal(found, values)


def test_overlaps_are_refused_by_name(golden: Golden) -> None:
    kernel = pl.compile(str(PROGRAM), "tcpa:2x2", function="behind")
    memory = np.zeros(2 * SIZE, np.int32)
    shifted = {"x": memory[1 : SIZE + 1], "y": memory[:SIZE]}
    same = {"x": memory[:SIZE], "y": memory[:SIZE]}
    texts = list[str]()
    for given in (shifted, same):
        with pytest.raises(PolyloomError) as caught:
            kernel.run(n=SIZE, x=given["x"], y=given["y"])
        texts.append(str(caught.value))
    golden("overlaps", "\n\n".join(texts))
    # Views that interleave share no element.
    kernel.run(n=SIZE, x=memory[::2], y=memory[1::2])
