# SPDX-License-Identifier: Apache-2.0
"""What the source does under a condition may be computed anyway, but neither faults nor shows."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.targets.belt.map.select.comparing import check

from polyloom.diagnostics import Source
from polyloom.frontend.c.llvm import load_functions
from polyloom.frontend.source import Options as Reading
from polyloom.ir.ssa import Function
from polyloom.targets.belt.machine import member
from polyloom.targets.belt.map.import_ssa import Options, import_function

pytest.importorskip("ziglang", reason="C needs the extra `c`")

PATH = Path(__file__).with_name("unsafe.c")
NAMES = ("nested", "either", "leaving", "divided", "chosen")


@cache
def functions() -> dict[str, Function]:
    source = Source(str(PATH), PATH.read_text(encoding="utf-8"))
    return {f.name: f for f in load_functions(source, NAMES, Reading(), 1, "riscv32-unknown-elf")}


def _arguments(n: int, random: np.random.Generator) -> list[Any]:
    k = random.integers(0, n, n).astype("i4")
    k[random.random(n) < 0.5] = -(10**6)
    return [n, k, random.integers(-1, 7, n).astype("i4"), np.zeros(n, "i4")]


@pytest.mark.parametrize("vectorize", ["never", "try"])
@pytest.mark.parametrize("machine", ["silver", "tin"])
@pytest.mark.parametrize("name", NAMES)
def test_gives_what_the_source_gives(name: str, machine: str, vectorize: Any) -> None:
    function, random = functions()[name], np.random.default_rng(len(name))
    module = import_function(function, member(machine), Options(vectorize=vectorize))
    for n in (1, 2, 5, 9, 20, 20, 20, 20):
        check(function, module, _arguments(n, random))
