# SPDX-License-Identifier: Apache-2.0
"""Random kernels in C++: what runs on the model is what the interpreter says, without hazards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.targets.tensix.sfpi.headers.generate import kernel

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Function
from polyloom.targets.tensix.kernel import compile_kernel, read_note
from polyloom.targets.tensix.kernel_form import Kernel
from polyloom.targets.tensix.options import Options
from polyloom.targets.tensix.run import kernel_run
from polyloom.targets.tensix.run.reference import BITS, Reference
from polyloom.targets.tensix.source.cpp.source import load_functions

pytest.importorskip("ziglang", reason="C needs the extra `c`")

EDGES = (0, 0x80000000, 1, 0x7F800000, 0xFF800000, 0x7FC00000, 0x3F800000, 0x00800000, 0x7FFFFFFF, 0xFFFFFFFF)
MANY_VALUES = "PL1280"


def functions(seeds: range, folder: Path, count: int) -> dict[int, Function]:
    """The kernels of the seeds, read at once."""
    path = folder / "random.h"
    texts = [kernel(seed, f"kernel_{seed}", count) for seed in seeds]
    path.write_text('#include "sfpi.h"\nusing namespace sfpi;\n' + "".join(texts))
    found = load_functions(str(path), tuple(f"kernel_{seed}" for seed in seeds)).functions
    return dict(zip(seeds, found, strict=True))


def differs(seed: int, function: Function) -> bool | None:
    """None where the kernel needs more registers than there are."""
    random = np.random.default_rng(seed)
    tile = random.integers(0, 1 << 32, (64, 16), dtype=np.uint32)
    tile[:12] = random.normal(0, 3, (12, 16)).astype(np.float32).view(np.uint32)
    tile[12:20] = random.integers(-300, 300, (8, 16)).astype(np.int32).view(np.uint32)
    tile[::4, : len(EDGES)] = EDGES
    inputs = {"dst:fp32": tile, "n": np.asarray(seed % 4)}
    try:
        data = compile_kernel(Kernel(function), "random", "wormhole", Options(dest=32, per="tile"))
    except PolyloomError as error:
        if error.code == MANY_VALUES:
            return None
        raise
    found = kernel_run.run(data, read_note(data), inputs, hazards="error").tile.dst
    reference = Reference(function, None, "wormhole", 32, "tile")
    expected = reference.outputs({}, inputs)[BITS]
    assert reference.known is not None
    return not np.array_equal(found[reference.known], expected[reference.known])


def check(seeds: range, folder: Path, count: int) -> None:
    results = {seed: differs(seed, function) for seed, function in functions(seeds, folder, count).items()}
    assert [seed for seed, wrong in results.items() if wrong] == []
    assert sum(wrong is False for wrong in results.values()) > len(seeds) // 3


@pytest.mark.parametrize("count", [1, 3, 6])
def test_random_kernels(count: int, tmp_path: Path) -> None:
    check(range(100 * count, 100 * count + 5), tmp_path, count)


def test_a_value_of_dst_is_loaded_in_all_lanes_before_others_are_read(tmp_path: Path) -> None:
    """Seed 1164 needs so many registers that it is loaded a second time."""
    check(range(1164, 1165), tmp_path, 8)


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 2000, 50))
def test_many_random_kernels(first: int, tmp_path: Path) -> None:
    check(range(first, first + 50), tmp_path, 1 + first // 50 % 8)


def test_a_generated_kernel_is_the_same_every_time() -> None:
    assert kernel(7, "f") == kernel(7, "f") != kernel(8, "f")
