# SPDX-License-Identifier: Apache-2.0
"""C functions in SSA form: what clang compiles natively and what the interpreter does with them at -O0 and -O1 is the
same."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Golden
from tests.transform.ssa.native import arguments, call, same

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.c.llvm import load_ssa
from polyloom.frontend.source import Options
from polyloom.ir.ssa import Function
from polyloom.ir.ssa_interpret import interpret
from polyloom.ir.ssa_read import read
from polyloom.ir.ssa_text import print_ssa
from polyloom.ir.ssa_verify import verify
from polyloom.transform.ssa.construct import construct
from polyloom.transform.ssa.destruct import destruct

pytest.importorskip("ziglang", reason="C needs the extra `c`")

PROGRAMS = Path(__file__).with_name("programs.c")
NAMES = re.findall(r"^(?!static|struct)\w[\w ]*?(\w+)\(.*\{", PROGRAMS.read_text(encoding="utf-8"), re.MULTILINE)


@cache
def load(name: str, level: int) -> Function:
    return load_ssa(str(PROGRAMS), Options(function=name), level)


@pytest.mark.parametrize("name", NAMES)
def test_means_what_the_c_means(name: str) -> None:
    first = load(name, 0)
    constructed = verify(construct(first))
    for function in (first, constructed, destruct(constructed), verify(load(name, 1))):
        _check(name, function)


def _check(name: str, function: Function) -> None:
    assert read(print_ssa(function, places=True)) == function
    assert print_ssa(read(print_ssa(function))) == print_ssa(function)
    random = np.random.default_rng(len(name))
    for _ in range(3 if name == "globals" else 6):
        given = arguments(function, random)
        ours, theirs = ([a.copy() if isinstance(a, np.ndarray) else a for a in given] for _ in range(2))
        if name == "globals":  # its static variable lives on
            assert interpret(function, ours, 20000) == 2 * (5 + (1, -2, 3, 40)[int(str(given[0])) & 3])
            continue
        expected = call(PROGRAMS, function, theirs)
        assert same(interpret(function, ours, 20000), expected), (given, expected)
        assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True) if isinstance(a, np.ndarray))


def test_a_static_function_is_kept() -> None:
    assert interpret(load("hidden", 1), [7]) == 50


@pytest.mark.parametrize(("depth", "stay"), [(3, False), (9, True)])
def test_functions_stay_calls_where_they_would_grow(depth: int, stay: bool, tmp_path: Path) -> None:
    """Each calls the one before four times: 64 copies are made, 262144 are not."""
    lines = ["int f0(int x) { return x < 0 ? 1 : 2; }"]
    lines += [
        f"int f{k}(int x) {{ return f{k - 1}(x) + f{k - 1}(x - {k}) - f{k - 1}(-x) * f{k - 1}({k} - x); }}"
        for k in range(1, depth + 1)
    ]
    path = tmp_path / "growth.c"
    path.write_text("\n".join(lines), encoding="utf-8")
    function = load_ssa(str(path), Options(function=f"f{depth}"), 0)
    assert len(function.others) == (depth if stay else 0)
    assert sum(len(block.instructions) for member in function.program for block in member.blocks) < 5000


def test_what_is_refused_is_named(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PROGRAMS.parent)
    names = re.findall(
        r"^(?!typedef|static)\w[\w ]*?(\w+)\(.*\{", Path("refused.c").read_text(encoding="utf-8"), re.MULTILINE
    )
    texts: list[str] = []
    for name in names:
        with pytest.raises(PolyloomError) as caught:
            load_ssa("refused.c", Options(function=name), 0)
        assert caught.value.exit_code == 1
        texts.append(f"{name}\n{caught.value}")
    golden("refused", "\n\n".join(texts))
