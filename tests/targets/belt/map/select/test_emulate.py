# SPDX-License-Identifier: Apache-2.0
"""The routines that stand for floating point and division are exact: equal to the host's, bit for bit but for NaNs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, Final

import numpy as np
import pytest
from tests.transform.ssa.native import call

from polyloom.diagnostics import Source
from polyloom.frontend.c.llvm import load_functions
from polyloom.frontend.source import Options
from polyloom.ir.ssa import NOWHERE, Function
from polyloom.ir.ssa_text import print_ssa
from polyloom.targets.belt.map.select import emulate
from polyloom.targets.belt.map.select.emulate import EMULATED
from polyloom.targets.forms.relocation import relocate

pytest.importorskip("ziglang", reason="C needs the extra `c`")

SOURCE: Final = emulate.ROUTINES.with_suffix(".c")
WRITTEN: Final = "emulated_"
"""How the names of routines begin in C."""
HEADER: Final = """# SPDX-License-Identifier: Apache-2.0
# The routines of emulated.c in SSA form; made by `pytest tests/targets/belt/front/test_emulate.py --update-golden`.
"""
DRAWS: Final = 400
FLOATS: Final[dict[int, Any]] = {32: np.float32, 64: np.float64}


def _routines() -> dict[str, Function]:
    return {f.name.removeprefix(EMULATED): f for f in emulate.routines()}


def compiled() -> str:
    """The text of all routines, as clang compiles them."""
    text = SOURCE.read_text(encoding="utf-8")
    found = [
        line.split("(")[0].split()[-1]
        for line in text.splitlines()
        if line[:4] in ("u32 ", "u64 ") and WRITTEN in line.split("(")[0]
    ]
    made = load_functions(Source(str(SOURCE), text), found, Options(), 1, "riscv32-unknown-elf")
    functions = {f.name: f for each in made for f in map(_renamed, each.program)}
    first, *others = [replace(f, others=(), data=()) for f in functions.values()]
    return HEADER + print_ssa(replace(first, others=tuple(others)))


def _renamed(function: Function) -> Function:
    """Without places, which would be in a file that is not the user's, and with names that no user can write."""
    blocks = [
        replace(
            block,
            instructions=tuple(replace(i, callee=i.callee.replace(WRITTEN, EMULATED)) for i in block.instructions),
        )
        for block in relocate(function, lambda _: NOWHERE).blocks
    ]
    name = function.name.replace(WRITTEN, EMULATED)
    return replace(function, name=name, blocks=tuple(blocks), place=NOWHERE)


def test_the_routines_are_those_of_the_c_file(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--update-golden"):
        emulate.ROUTINES.write_text(compiled(), encoding="utf-8")
        emulate.routines.cache_clear()
    assert emulate.ROUTINES.read_text(encoding="utf-8") == compiled(), "run this file with --update-golden"


def _run(name: str, *given: int) -> int:
    function = _routines()[name]
    written = replace(function, name=function.name.replace(EMULATED, WRITTEN))
    found = call(SOURCE, written, list(given))
    assert isinstance(found, int)
    assert function.result is not None
    return found % (1 << function.result.bits)


def _bits(width: int, random: Random) -> int:
    tiny = np.finfo(FLOATS[width]).tiny
    kind = random.random()
    if kind < 0.2:
        special = (0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, float(tiny), 5e-324, 1.5)
        return _of(random.choice(special), width)
    if kind < 0.5:
        return random.getrandbits(width)
    return _of(random.choice((random.uniform(-4, 4), float(random.randrange(-99, 99)))), width)


def _of(number: float, width: int) -> int:
    with np.errstate(all="ignore"):
        return int.from_bytes(FLOATS[width](number).tobytes(), "little")


def _number(bits: int, width: int) -> Any:
    return np.frombuffer(bits.to_bytes(width // 8, "little"), FLOATS[width])[0]


def _equal(found: int, wanted: Any, width: int) -> bool:
    return found == _of(wanted, width) or bool(np.isnan(wanted) and np.isnan(_number(found, width)))


BINARY: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}
RELATIONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "eq": lambda a, b: a == b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "uno": lambda a, b: bool(np.isnan(a) or np.isnan(b)),
}


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("name", BINARY)
def test_arithmetic(name: str, width: int) -> None:
    random = Random(name)
    with np.errstate(all="ignore"):
        for _ in range(DRAWS):
            a = _bits(width, random)
            b = a ^ random.choice((0, 1, 2, 1 << (width - 1))) if random.random() < 0.2 else _bits(width, random)
            wanted = BINARY[name](_number(a, width), _number(b, width))
            assert _equal(_run(f"f{width}_{name}", a, b), wanted, width), (hex(a), hex(b))


@pytest.mark.parametrize("width", [32, 64])
def test_roots_and_comparisons(width: int) -> None:
    random = Random(width)
    with np.errstate(all="ignore"):
        for _ in range(DRAWS):
            a, b = _bits(width, random), _bits(width, random)
            x, y = _number(a, width), _number(b, width)
            assert _equal(_run(f"f{width}_sqrt", a), np.sqrt(x), width), hex(a)
            for name, relation in RELATIONS.items():
                assert _run(f"f{width}_{name}", a, b) == int(bool(relation(x, y))), (name, hex(a), hex(b))


@pytest.mark.parametrize("width", [32, 64])
def test_conversions(width: int) -> None:
    random = Random(width)
    other = 96 - width
    with np.errstate(all="ignore"):
        for _ in range(DRAWS):
            bits = _bits(width, random)
            x = _number(bits, width)
            assert _equal(_run(f"f{width}_f{other}", bits), FLOATS[other](x), other)
            n = random.getrandbits(64) >> random.randrange(64)
            signed = n - (1 << 64) if n >> 63 else n
            assert _run(f"i64_f{width}", n) == _of(float(FLOATS[width](np.int64(signed))), width)
            assert _run(f"u64_f{width}", n) == _of(float(FLOATS[width](np.uint64(n))), width)
            if abs(x) < 2**62:
                assert _run(f"f{width}_i64", bits) == int(x) % (1 << 64)


@pytest.mark.parametrize("width", [32, 64])
def test_division(width: int) -> None:
    random = Random(width)
    for _ in range(DRAWS):
        a, b = (random.getrandbits(width) >> random.randrange(width) for _ in range(2))
        b = b or 1
        x, y = (n - (1 << width) if n >> (width - 1) else n for n in (a, b))
        quotient = abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)
        assert _run(f"udiv{width}", a, b) == a // b
        assert _run(f"urem{width}", a, b) == a % b
        assert _run(f"sdiv{width}", a, b) == quotient % (1 << width)
        assert _run(f"srem{width}", a, b) == (x - quotient * y) % (1 << width)
