# SPDX-License-Identifier: Apache-2.0
"""Loops over vectors give what the scalar loops give, from arrays that end behind the data; others say why not."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.in_turns import in_turns
from tests.targets.belt.map.select.comparing import check
from tests.transform.ssa.vector_loops import draw, given

from polyloom.diagnostics import PolyloomError, Source
from polyloom.frontend.c.llvm import load_functions
from polyloom.frontend.source import Options as Reading
from polyloom.ir.ssa import Function
from polyloom.targets.belt.machine import member
from polyloom.targets.belt.map.import_ssa import Options, import_function, import_with_facts
from polyloom.targets.belt.source.ir import Loop, Module

pytest.importorskip("ziglang", reason="C needs the extra `c`")

PATH = Path(__file__).with_name("loops.c")
TEXT = PATH.read_text(encoding="utf-8")
NAMES = tuple(re.findall(r"^(?!static|typedef)\w[\w ]*?\**(\w+)\([^;]*\{", TEXT, re.MULTILINE))
SCALAR = {
    "upto2": "recurrence of %s",
    "shift3": "has distance 3",
    "even": "stride",
    "prefix": "has distance 1",
}
"""On silver, with a part of the reason."""
TYPES = {"char": "u1", "u8": "u1", "short": "i2", "i64": "i8", "float": "f4"}


@cache
def functions() -> dict[str, Function]:
    found = load_functions(Source(str(PATH), TEXT), NAMES, Reading(), 1, "riscv32-unknown-elf")
    return {function.name: function for function in found}


def arguments(function: Function, random: Random) -> list[Any]:
    n = random.randrange(40)
    head = re.search(rf"\b{function.name}\(([^)]*)\)", TEXT)
    assert head is not None
    return [
        _array(function.name, p.name, text, n, random) if "*" in text else _scalar(p.name, n, random)
        for p, text in zip(function.parameters, head[1].split(","), strict=True)
    ]


def _scalar(name: str, n: int, random: Random) -> int:
    return n if name in ("n", "m") else random.randrange(-9, 9)


def _array(function: str, name: str, text: str, n: int, random: Random) -> npt.NDArray[Any]:
    dtype = next((t for word, t in TYPES.items() if word in text), "i4")
    if "char" in text:
        return np.array([*(random.randrange(1, 9) for _ in range(n)), 0], dtype)
    size = {"matrix": n * n, "gather": 16 if name == "x" else n}.get(function, n + 12 * ("shift" in function))
    low = 0 if name == "k" or dtype == "u1" else -9
    return np.array([random.randrange(low, 90 if low == 0 else 9) for _ in range(size)], dtype)


@pytest.mark.parametrize(
    ("name", "machine"), [*((name, "silver") for name in NAMES), *in_turns(NAMES, ["gold", "tin", "hex4"], 3)]
)
def test_gives_what_the_scalar_loop_gives(name: str, machine: str) -> None:
    function, random = functions()[name], Random(len(name))
    module, found = import_with_facts(function, member(machine), Options(vectorize="try", reassociate=True))
    if machine == "silver":
        assert [v.reason for v in found if SCALAR.get(name, "?") in v.reason or v.reason] or name not in SCALAR
        assert all((v.lanes > 1) == (name not in SCALAR) for v in found), found
    for _ in range(5):
        try:
            check(function, module, arguments(function, random))
        except PolyloomError as error:
            assert error.code == "PL0972", error  # what is undefined in C


def _lanes(module: Module) -> set[int]:
    loops = [b for f in module.functions for b in f.blocks if isinstance(b, Loop)]
    return {r.type.lanes for loop in loops for op in loop.ops for r in op.results}


def test_lanes_are_those_of_the_widest_element() -> None:
    by_name = {name: Options(vectorize="always") for name in ("dot", "length", "wide")}
    found = {n: max(_lanes(import_function(functions()[n], member("silver"), o))) for n, o in by_name.items()}
    assert found == {"dot": 8, "length": 32, "wide": 4}


@pytest.mark.parametrize("name", [*SCALAR, "fsum"])
def test_refusals_name_what_stands_against_it(name: str, golden: Callable[[str, str], None]) -> None:
    with pytest.raises(PolyloomError) as refused:
        import_function(functions()[name], member("silver"), Options(vectorize="always"))
    (diagnostic,) = refused.value.diagnostics
    golden(name, f"{diagnostic.code}: {diagnostic.message}\nhelp: {diagnostic.help}\n")


def test_few_expected_iterations_stay_scalar() -> None:
    options = Options(vectorize="try", expect={"n": 5})
    _, found = import_with_facts(functions()["dot"], member("silver"), options)
    assert [(v.lanes, v.reason) for v in found] == [(1, "5 iterations are expected, fewer than 8 lanes")]


def test_drawn_loops() -> None:
    """On the belt, with what `tests/transform/ssa/test_vectorize.py` compares in SSA form."""
    vectors = 0
    for seed in range(40):
        function, machine = draw(Random(seed), (8, 14, 30)[seed % 3]), ("silver", "gold", "tin", "copper")[seed % 4]
        module, (how,) = import_with_facts(function, member(machine), Options(vectorize="try", reassociate=True))
        vectors += how.lanes > 1
        for n in (0, 1, 8, 9, 33):
            check(function, module, given(n, Random(seed)))
    assert vectors >= 20
