# SPDX-License-Identifier: Apache-2.0
"""C++ and Python spellings of a kernel are one kernel: equal results, and as many words."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from polyloom.ir.ssa import Function
from polyloom.targets.tensix.source.cpp.source import load_functions
from polyloom.targets.tensix.source.language.file import load_kernel
from polyloom.targets.tensix.source.lower.compile import lower
from polyloom.targets.tensix.source.oracle.interpret import State, interpret

pytest.importorskip("ziglang", reason="C needs the extra `c`")

HERE = Path(__file__).parent
CPP, PYTHON = HERE / "spellings.h", HERE / "spellings.py"
NAMES = re.findall(r"^void (\w+)\(", CPP.read_text(), re.MULTILINE)


@cache
def in_cpp() -> dict[str, Function]:
    return dict(zip(NAMES, load_functions(str(CPP), tuple(NAMES)).functions, strict=True))


def in_python(name: str) -> Function:
    return load_kernel(str(PYTHON), name).trace("wormhole")


def dst(function: Function) -> NDArray[Any]:
    state = State("wormhole", 1, "fp32")
    random = np.random.default_rng(11)
    state.dst.bits[0] = random.integers(0, 1 << 16, state.dst.bits[0].shape, dtype=np.uint16)
    interpret(function, (), state)
    assert state.dst.known.all()
    return state.dst.bits


def words(function: Function) -> int:
    return sum(i.called == "tensix.word" for b in lower(function).function.blocks for i in b.instructions)


def test_there_are_twenty() -> None:
    assert len(NAMES) == 20


@pytest.mark.parametrize("name", NAMES)
def test_results_are_equal(name: str) -> None:
    assert np.array_equal(dst(in_cpp()[name]), dst(in_python(name)))


@pytest.mark.parametrize("name", NAMES)
def test_word_counts_are_equal(name: str) -> None:
    assert words(in_cpp()[name]) == words(in_python(name))
