# SPDX-License-Identifier: Apache-2.0
"""What `assert` and `__builtin_assume` at a C function's head say of parameters is checked before a run, on RISC-V and
on the belt machine, of sources and of the files that were made of them."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from tests.in_turns import in_turns

from polyloom.cli import main
from polyloom.frontend.c.clang import cached_trees
from polyloom.frontend.c.prototype import read_prototype
from polyloom.frontend.source import Options

pytest.importorskip("ziglang", reason="C needs the extra `c`")

PLACES = ("riscv:rv64gc", "belt:silver")
SPELLINGS = {
    "assert": "assert(n >= 1); assert(n < 100);",
    "assume": "__builtin_assume(n >= 1 && n < 100);",
    "both": "__builtin_assume(n < 100); int k = n; assert((n >= 1)); (void)k;",
    "macro": "CHECKED(n)",
}
GREATEST = """#include <assert.h>
#define CHECKED(n) assert(n >= 1); assert(n <= 99);
int greatest(int n, const int x[n]) {{
  {}
  int best = x[0];
  for (int i = 1; i < n; i++) best = x[i] > best ? x[i] : best;
  return best;
}}
"""
REFUSED = {
    "of data": "int f(int n, const int x[n]) { assert(x[0] > 3); return x[0]; }",
    "behind the head": "int f(int n, int x[n]) { x[0] = 3; assert(n >= 1); return x[0]; }",
    "behind an effect": "int f(int n) { int k = n++; assert(n >= 1); return k; }",
    "in a loop": "int f(int n) { int s = 0; for (int i = 0; i < n; i++) { assert(i < 7); s += i; } return s; }",
    "in a callee": "static int g(int n) { assert(n >= 1); return n; } int f(int n) { return g(n); }",
    "not affine": "int f(int n) { assert(n * n >= 1); return n; }",
    "of floats": "float f(float n) { assert(n >= 1); return n; }",
    "beside another in a macro": (
        "#define BOTH(n, x) assert(n >= 1); assert(x[0] > 3);\nint f(int n, const int x[n]) { BOTH(n, x) return x[0]; }"
    ),
    "with a call in a macro": (
        "#define BOTH(n) assert(n >= 1); g(n);\nstatic int g(int n) {\n assert(n >= 2); return n; }\n"
        "int f(int n) { BOTH(n) return n; }"
    ),
}


@pytest.mark.parametrize(("spelling", "place"), in_turns(tuple(SPELLINGS), PLACES, 2))
def test_they_are_checked_before_a_run(
    spelling: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "greatest.c"
    source.write_text(GREATEST.format(SPELLINGS[spelling]), encoding="utf-8")
    for n in (0, -1, 100):
        assert main(["run", str(source), "--on", place, f"n={n}"]) == 1
        assert f"PL0230]: n = {n} is outside the domain of `greatest`" in capsys.readouterr().err
    for n in (1, 99):
        assert main(["run", str(source), "--on", place, f"n={n}"]) == 0
        assert "equal bits" in capsys.readouterr().out


@pytest.mark.parametrize("place", PLACES)
def test_files_have_them(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, made = tmp_path / "greatest.c", tmp_path / ("f.elf" if place.startswith("riscv") else "f.belt")
    source.write_text(GREATEST.format(SPELLINGS["assert"]), encoding="utf-8")
    assert main(["compile", str(source), "--on", place, "-o", str(made)]) == 0
    assert main(["verify", str(made)]) == 0
    np.save(tmp_path / "x.npy", np.arange(9, dtype=np.int32))
    assert main(["simulate", str(made), "n=9", "--in", f"x={tmp_path / 'x.npy'}"]) == 0
    capsys.readouterr()
    assert main(["simulate", str(made), "n=0"]) == 1
    assert "PL0230]: n = 0 is outside the domain of `greatest`\nhelp: the parameters must satisfy 1 <= n <= 99" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("place", PLACES)
def test_those_of_python_kernels(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "greatest.py"
    source.write_text(
        "import polyloom as pl\nint_ = pl.size('int')\n\n\n@pl.kernel\ndef greatest(x: pl.i32[int_], y: pl.i32[1]):\n"
        "    assert int_ >= 2\n    y[0] = max(x[0], x[1])\n",
        encoding="utf-8",
    )
    assert main(["run", str(source), "--on", place, "int=2"]) == 0
    capsys.readouterr()
    assert main(["run", str(source), "--on", place, "int=1"]) == 1
    assert "PL0230]: int = 1 is outside the domain of `greatest`" in capsys.readouterr().err


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("why", REFUSED)
def test_other_assertions_are_refused(why: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "f.c"
    source.write_text(f"#include <assert.h>\n{REFUSED[why]}\n", encoding="utf-8")
    assert main(["run", f"{source}:f", "--on", place, "n=3"]) == 1
    error = capsys.readouterr().err
    assert "PL0975]: this `assert` is not supported in SSA form" in error
    assert "help: assert what integer parameters satisfy, at the head of the function" in error


def test_they_hold_where_c_says_so(tmp_path: Path) -> None:
    """Random conditions of three parameters, beside Python's meaning of their text."""
    rng = random.Random(30)
    conditions = [_condition(rng, 3) for _ in range(24)]
    functions = [
        f"int f{k}(int a, long b, short c) {{ {'assert' if k % 2 else '__builtin_assume'}({text}); return a; }}"
        for k, text in enumerate(conditions)
    ]
    source = tmp_path / "conditions.c"
    source.write_text("\n".join(["#include <assert.h>", *functions]), encoding="utf-8")
    both = set[bool]()
    with cached_trees():
        for k, text in enumerate(conditions):
            found = read_prototype(str(source), Options(function=f"f{k}"), "riscv64-unknown-elf", 8).assumptions
            python = text.replace("&&", " and ").replace("||", " or ").replace("!(", " not (")
            for _ in range(20):
                values = {name: rng.randint(-6, 6) for name in "abc"}
                both.add(bool(eval(python, {}, values)))
                assert found.contains(values) == bool(eval(python, {}, values)), (text, values)
    assert both == {True, False}


def _condition(rng: random.Random, depth: int) -> str:
    if depth and rng.random() < 0.5:
        parts = [_condition(rng, depth - 1) for _ in range(2)]
        return f"!({parts[0]})" if rng.random() < 0.3 else f"({parts[0]} {rng.choice(('&&', '||'))} {parts[1]})"
    sides = [f"{rng.choice('abc')} * {rng.randint(-2, 2)} + {rng.randint(-4, 4)}", rng.choice("abc")]
    return f"({sides[0]} {rng.choice(('<', '<=', '>', '>=', '==', '!='))} {sides[1]})"


def test_a_note_with_a_product_is_none() -> None:
    """A stranger's file says what it likes."""
    from polyloom.ir.signature_json import as_json, from_json

    made = {
        "name": "f",
        "sizes": ["n"],
        "arguments": [{"name": "n", "type": "<i4", "output": False}],
        "assumptions": [["n - 1", "-n + 9"], []],
    }
    assert as_json(from_json(made)) == made
    for wrong in ([["n*n"]], [["m"]], [["n"], 3], 4):
        with pytest.raises((ValueError, TypeError)):
            from_json({**made, "assumptions": wrong})
