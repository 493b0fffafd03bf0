# SPDX-License-Identifier: Apache-2.0
"""Loops of Python kernels: copies that tracing made are loops again, and the results are the interpreter's."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any, Final, cast

import numpy as np
import pytest
from tests.targets.tensix.sfpi.passes.bench import agree, plain, run, words_of
from tests.targets.tensix.sfpi.spelled import spelled

import polyloom as pl
from polyloom.diagnostics import INFEASIBLE, PolyloomError
from polyloom.targets.tensix.source.allocate.words import Word
from polyloom.targets.tensix.source.cpp.source import load_functions
from polyloom.targets.tensix.source.language.file import load_kernel
from polyloom.targets.tensix.source.lower.compile import Options, lower

LOOPS = str(Path(__file__).parent / "loops.py")
ROLLED = Options(roll=True)


def words(name: str, options: Options = ROLLED, count: int = 8) -> int:
    """Words of a kernel with so many iterations, its first constant."""
    kernel = load_kernel(LOOPS, name)
    function = kernel.traced("wormhole", {kernel.constants[0]: count}).function
    return sum(isinstance(line, Word) for lines in lower(function, options).listing.lines for line in lines)


@pytest.mark.parametrize("name", ["softmax", "fibonacci", "before_last", "different", "guarded"])
def test_loops(name: str) -> None:
    kernel = load_kernel(LOOPS, name)
    agree(run(kernel.trace(), plain(2), [0x3F19999A] * len(kernel.runtime), options=ROLLED))


@pytest.mark.parametrize("name", ["softmax", "fibonacci", "guarded"])
def test_words_do_not_grow_with_iterations(name: str) -> None:
    assert words(name) == words(name, count=12) < words(name, Options())


def test_different_iterations_stay() -> None:
    assert words("different") == words("different", Options())


SPELLED: Final = {"softmax": 7, "fibonacci": 9, "before_last": 9, "guarded": 9, "chain": 8}
"""Kernels that loops.h has in C++, with as many iterations."""


def test_rolled_loops_are_as_short_as_in_cpp() -> None:
    """Words that run are at most 1.1 times those of C++, and so are words of the program; values that iterations hand
    on crosswise cost a copy of the body, where C++ has moves, which run in each iteration.
    """
    pytest.importorskip("ziglang", reason="C++ needs the extra `c`")
    found = load_functions(LOOPS.replace(".py", ".h"), tuple(SPELLED))
    options = Options(roll=True, without=frozenset({"replay"}))
    for (name, count), cpp in zip(SPELLED.items(), found.functions, strict=True):
        kernel = load_kernel(LOOPS, name)
        python = kernel.traced("wormhole", {kernel.constants[0]: count}).function
        ours, theirs = lower(python, options), lower(cpp, options)
        arguments = [0x3F000000] * len(kernel.runtime)
        runs = [len(words_of(each.function, arguments)) for each in (ours, theirs)]
        assert runs[0] <= 1.1 * runs[1], name
        sizes = [sum(isinstance(w, Word) for lines in each.listing.lines for w in lines) for each in (ours, theirs)]
        assert sizes[0] <= 1.1 * sizes[1] or (runs[0] <= 0.8 * runs[1] and sizes[0] <= sizes[1] + 2), name


def test_programs_are_rolled() -> None:
    compiled = pl.compile(LOOPS, on="tensix", function="softmax(rows=5)", dest=32, per="tile")
    inputs: dict[str, Any] = {"dst:fp32": np.linspace(-1, 1, 1024, dtype=np.float32).reshape(32, 32)}
    result = compiled.run(**inputs)
    # The words of the driver are counted, too.
    assert result.verified and cast("int", result.data["words"]) <= words("softmax", count=5) + 3


@pytest.mark.parametrize("count", [2, 4, 8])
def test_recording_takes_fewer_cycles_or_is_left_out(count: int) -> None:
    inputs: dict[str, Any] = {"dst:bf16": np.linspace(-1, 1, 1024, dtype=np.float32).reshape(32, 32)}
    cycles = [
        cast("int", pl.compile(LOOPS, on="tensix", function=f"chain(n={count})", without=without).run(**inputs).cycles)
        for without in ((), ("replay",))
    ]
    assert cycles[0] < cycles[1] or (cycles[0] == cycles[1] and count == 2)


@pytest.mark.parametrize("seed", range(4))
def test_random_bodies(seed: int, tmp_path: Path) -> None:
    """A random body three times: what an iteration computes is what the next one begins with."""
    lines = spelled(Random(seed))[1].rstrip().split("\n")
    first = lines.index("def f(dst):") + 6
    body = [f"    {line}" for line in lines[first:-5]]
    path = tmp_path / "k.py"
    path.write_text("\n".join([*lines[:first], "    for _ in range(3):", *body, *lines[-5:], ""]))
    function = load_kernel(str(path), "f").trace()
    try:
        agree(run(function, plain(seed), options=ROLLED))
    except PolyloomError as error:
        assert error.exit_code == INFEASIBLE, error
