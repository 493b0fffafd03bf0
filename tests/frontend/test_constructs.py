# SPDX-License-Identifier: Apache-2.0
"""Every construct of loops in both languages: what one accepts the other does, and both become the same nest, but for
the rules of a language in `OWN`, which docs/c.md shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
import pytest
from tests.frontend.python.helpers import Arrays, arguments, assert_same, meaning

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.frontend import c
from polyloom.frontend.c import clang
from polyloom.frontend.python import load_kernel
from polyloom.frontend.source import Options
from polyloom.ir.nest import Nest
from polyloom.ir.nest_c import print_c

pytest.importorskip("ziglang", reason="C needs the extra `c`")

PAGE = Path(__file__).parents[2] / "docs" / "c.md"
C_HEAD = (
    "void {name}(int n, int m, float A[n][m], float x[n], int b[n], unsigned int u[n], unsigned char c[n], "
    "float alpha, int delta, int k) {{"
)
PYTHON_HEAD = """import numpy as np
import polyloom as pl

n, m = pl.sizes("n m")
GAIN = 3


def twice(v):
    return v + v


@pl.kernel
def f(
    A: pl.f32[n, m], x: pl.f32[n], b: pl.i32[n], u: pl.u32[n], c: pl.u8[n], alpha: pl.f32, delta: pl.i32, k: int
) -> None:
"""
C_FILE = """
enum { GAIN = 3 };
static int twice(int v) { return v + v; }
struct pair { int re, im; };
"""


@dataclass(frozen=True)
class Row:
    """A construct in C and in Python; where the nests are written in two ways, `because` says why."""

    c: str
    python: str
    because: str = ""


ROWS = {
    "for": Row("for (int i = 0; i < n; i++) x[i] = alpha;", "for i in range(n):\n    x[i] = alpha"),
    "for, from": Row("for (int i = 1; i < n; i++) x[i] = x[i - 1];", "for i in range(1, n):\n    x[i] = x[i - 1]"),
    "for, downwards": Row("for (int i = n - 1; i >= 0; i--) b[i] = i;", "for i in range(n - 1, -1, -1):\n    b[i] = i"),
    "for, by two": Row("for (int i = 0; i < n; i += 2) x[i] = 0;", "for i in range(0, n, 2):\n    x[i] = 0.0"),
    "for, by minus three": Row(
        "for (int i = n - 1; i > 0; i -= 3) b[i] = 1;", "for i in range(n - 1, 0, -3):\n    b[i] = 1"
    ),
    "nested for": Row(
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] *= alpha;",
        "for i in range(n):\n    for j in range(m):\n        A[i, j] *= alpha",
    ),
    "bounds are extremes": Row(
        "for (int i = (k > 1 ? k : 1); i < (n < m ? n : m); i++) b[i] = 2;",
        "for i in range(max(k, 1), min(n, m)):\n    b[i] = 2",
    ),
    "while": Row(
        "int i = 0; while (i < n) { b[i] = 1; i += 1; }",
        "i = 0\nwhile i < n:\n    b[i] = 1\n    i += 1",
        "C's counter is a variable, too, which could be read as data",
    ),
    "continue": Row(
        "for (int i = 0; i < n; i++) { if (i == k) continue; b[i] = 5; }",
        "for i in range(n):\n    if i == k:\n        continue\n    b[i] = 5",
    ),
    "continue on data": Row(
        "for (int i = 0; i < n; i++) { if (b[i] > 0) continue; b[i] = 5; }",
        "for i in range(n):\n    if b[i] > 0:\n        continue\n    b[i] = 5",
    ),
    "early return": Row("if (n < m) return; b[0] = 1;", "if n < m:\n    return\nb[0] = 1"),
    "affine if": Row(
        "for (int i = 0; i < n; i++) if (i == 0 || i == n - 1) x[i] = 0; else x[i] = 1;",
        "for i in range(n):\n    if i == 0 or i == n - 1:\n        x[i] = 0.0\n    else:\n        x[i] = 1.0",
    ),
    "if of data": Row(
        "for (int i = 0; i < n; i++) if (x[i] > alpha) x[i] = alpha;",
        "for i in range(n):\n    if x[i] > alpha:\n        x[i] = alpha",
    ),
    "mixed test": Row(
        "for (int i = 0; i < n; i++) if (x[i] > alpha && i > 0) x[i] = x[i - 1];",
        "for i in range(n):\n    if x[i] > alpha and i > 0:\n        x[i] = x[i - 1]",
    ),
    "conditional value": Row(
        "for (int i = 0; i < n; i++) x[i] = i > 0 ? x[i - 1] : alpha;",
        "for i in range(n):\n    x[i] = x[i - 1] if i > 0 else alpha",
    ),
    "conditional value, mixed test": Row(
        "for (int i = 0; i < n; i++) x[i] = (i > 0 && b[i] > 0) ? x[i - 1] : alpha;",
        "for i in range(n):\n    x[i] = x[i - 1] if i > 0 and b[i] > 0 else alpha",
    ),
    "not": Row(
        "for (int i = 0; i < n; i++) if (!(b[i] == delta)) b[i] = 0;",
        "for i in range(n):\n    if not b[i] == delta:\n        b[i] = 0",
    ),
    "assignment to several": Row("b[0] = b[1] = 7;", "b[0] = b[1] = 7", "C assigns from right to left"),
    "operators with assignment": Row(
        "for (int i = 0; i < n; i++) { b[i] += delta; b[i] -= 1; b[i] *= 3; b[i] |= 8; b[i] <<= 1; }",
        "for i in range(n):\n    b[i] += delta\n    b[i] -= 1\n    b[i] *= 3\n    b[i] |= 8\n    b[i] <<= 1",
    ),
    "bits": Row(
        "for (int i = 0; i < n; i++) u[i] = ~u[i] & (u[i] >> 1 ^ 5 | u[0] << 2);",
        "for i in range(n):\n    u[i] = ~u[i] & (u[i] >> 1 ^ 5 | u[0] << 2)",
    ),
    "bit count": Row(
        "for (int i = 0; i < n; i++) b[i] = __builtin_popcount(u[i]);",
        "for i in range(n):\n    b[i] = u[i].bit_count()",
    ),
    "bit count, narrow": Row(
        "for (int i = 0; i < n; i++) c[i] = __builtin_popcountll(c[i]);",
        "for i in range(n):\n    c[i] = np.bitwise_count(c[i])",
        "C widens the operand, Python counts the bits of a byte",
    ),
    "quotient, unsigned": Row(
        "for (int i = 0; i < n; i++) u[i] = u[i] / 3 + u[i] % 5;",
        "for i in range(n):\n    u[i] = u[i] // 3 + u[i] % 5",
        "C divides, Python divides and rounds down: of numbers without a sign the same",
    ),
    "minimum": Row(
        "for (int i = 0; i < n; i++) b[i] = b[i] < delta ? b[i] : delta;",
        "for i in range(n):\n    b[i] = min(b[i], delta)",
    ),
    "conditional minimum": Row(
        "for (int i = 0; i < n; i++) b[i] = b[i] < delta ? b[i] : delta;",
        "for i in range(n):\n    b[i] = b[i] if b[i] < delta else delta",
    ),
    "scalar functions": Row(
        "for (int i = 0; i < n; i++) x[i] = __builtin_sqrtf(__builtin_fabsf(x[i]));",
        "for i in range(n):\n    x[i] = pl.sqrt(abs(x[i]))",
    ),
    "library function": Row(
        "for (int i = 0; i < n; i++) x[i] = __builtin_expf(x[i]);", "for i in range(n):\n    x[i] = pl.exp(x[i])"
    ),
    "conversion": Row(
        "for (int i = 0; i < n; i++) x[i] = (float)c[i] * alpha;", "for i in range(n):\n    x[i] = pl.f32(c[i]) * alpha"
    ),
    "index as data": Row("for (int i = 0; i < n; i++) b[i] = i + k;", "for i in range(n):\n    b[i] = i + k"),
    "index is a remainder": Row(
        "for (int i = 0; i < n; i++) x[i] = x[(i + 1) % n];", "for i in range(n):\n    x[i] = x[(i + 1) % n]"
    ),
    "index is a quotient": Row(
        "for (int i = 0; i < 2 * n; i++) x[i / 2] = alpha;", "for i in range(2 * n):\n    x[i // 2] = alpha"
    ),
    "index by powers": Row(
        "for (int i = 0; i < 2 * n; i++) x[i >> 1] = alpha;", "for i in range(2 * n):\n    x[i >> 1] = alpha"
    ),
    "index is a minimum": Row(
        "for (int i = 0; i < n; i++) b[i] = b[i < k ? i : k];",
        "for i in range(n):\n    b[i] = b[min(i, k)]",
        "the two conditions are written the other way round",
    ),
    "named index": Row(
        "for (int i = 0; i < n - 1; i++) { int at = i + 1; b[at] = b[i]; }",
        "for i in range(n - 1):\n    at = i + 1\n    b[at] = b[i]",
    ),
    "counter": Row(
        "int at = 0; for (int i = 0; i < n; i += 2) { b[at] = 1; at += 2; }",
        "at = 0\nfor i in range(0, n, 2):\n    b[at] = 1\n    at += 2",
    ),
    "local scalar": Row(
        "float sum = 0; for (int i = 0; i < n; i++) sum += x[i]; x[0] = sum;",
        "sum = 0.0\nfor i in range(n):\n    sum += x[i]\nx[0] = sum",
    ),
    "private scalar": Row(
        "for (int i = 0; i < n; i++) if (b[i] > 0) { int v = 2 * b[i]; b[i] = v + v; }",
        "for i in range(n):\n    if b[i] > 0:\n        v = 2 * b[i]\n        b[i] = v + v",
    ),
    "assigned argument": Row(
        "for (int i = 0; i < n; i++) { alpha = alpha * 0.5f; x[i] = alpha; }",
        "for i in range(n):\n    alpha = alpha * 0.5\n    x[i] = alpha",
    ),
    "assertion": Row("__builtin_assume(n >= 2); b[0] = b[1];", "assert n >= 2\nb[0] = b[1]"),
    "call of an own function": Row(
        "b[0] = twice(b[1]);", "b[0] = twice(b[1])", "integers of a kernel of whole arrays are sizes, at least 0"
    ),
    "call with an expression": Row(
        "for (int i = 0; i < n; i++) b[i] = twice(b[i] - 3) + twice(2);",
        "for i in range(n):\n    b[i] = twice(b[i] - 3) + twice(2)",
        "C holds what is called in variables; Python's constants are folded",
    ),
    "local array": Row(
        "int t[8]; for (int i = 0; i < 8; i++) t[i] = i * i; for (int i = 0; i < 8; i++) b[0] += t[i];",
        "t = np.empty(8, np.int32)\nfor i in range(8):\n    t[i] = i * i\nfor i in range(8):\n    b[0] += t[i]",
        "an array is made by a call in Python",
    ),
    "constant of the file": Row("b[0] = GAIN * b[1];", "b[0] = GAIN * b[1]"),
}
"""By construct."""


@dataclass(frozen=True)
class Own:
    """A rule of one language; the other refuses the construct, or means another thing by it."""

    c: str | None
    python: str | None
    reason: str


OWN = {
    "pointers": Own("float *p = x; *p++ = 1;", None, "Python has no pointers"),
    "structures": Own("struct pair p = {1, 2}; b[0] = p.re + p.im;", None, "values of Python kernels are scalars"),
    "initialized local arrays": Own("int t[4] = {1, 2, 3, 4}; b[0] = t[1];", None, "Python writes `np.array`"),
    "breaks": Own(
        None,
        "for i in range(n):\n    if b[i] > 3:\n        break\n    b[i] += 1",
        "in C a flag does it; on RISC-V and the belt machine C has it, too",
    ),
    "variable behind its loop": Own(
        "int i; for (i = 0; i < n; i++) x[i] = 0; b[0] = i;",
        "for i in range(n):\n    x[i] = 0.0\nb[0] = i",
        "in C it is the first value that fails the test; in Python the last one, if there is one",
    ),
    "comma": Own("int i; for (i = 0, b[0] = 1; i < n; i++) x[i] = 0;", None, "in Python a comma makes tuples"),
    "chained comparison": Own(None, "b[0] = 1 if 0 < b[1] < 5 else 0", "C compares the truth of the first one"),
    "power": Own(None, "b[0] = b[1] ** 3", "C has no operator for it"),
    "reversed range": Own(None, "for i in reversed(range(n)):\n    b[i] = 0", "C writes a loop downwards"),
}
"""What one language refuses."""
MEANINGS = {
    "quotient below 0": Own(
        "b[0] = b[1] / 2;", "b[0] = b[1] // 2", "C rounds towards zero (C17 6.5.5), Python rounds down"
    ),
    "remainder below 0": Own(
        "b[0] = b[1] % 3;", "b[0] = b[1] % 3", "in C it has the sign of the dividend, in Python that of the divisor"
    ),
    "bit count below 0": Own(
        "b[0] = __builtin_popcount(b[1]);", "b[0] = b[1].bit_count()", "C counts the bits of 2^32 + x, Python of |x|"
    ),
    "narrow sums": Own(
        "b[0] = c[0] + c[1];", "b[0] = c[0] + c[1]", "C computes in `int` (C17 6.3.1.1), Python in the operands' type"
    ),
}
"""What both accept and mean differently."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file of all C functions; clang reads it once."""
    made = tmp_path_factory.mktemp("constructs")
    every = [*ROWS.items(), *OWN.items(), *MEANINGS.items()]
    bodies = [C_HEAD.format(name=_named(name)) + f"\n  {row.c}\n}}\n" for name, row in every if row.c is not None]
    (made / "f.c").write_text(C_FILE + "\n".join(bodies), encoding="utf-8")
    with clang.cached_trees():
        yield made


def _named(construct: str) -> str:
    return "f_" + "".join(character if character.isalnum() else "_" for character in construct)


def _of_c(name: str, folder: Path) -> Nest:
    return c.load(str(folder / "f.c"), Options(function=_named(name)))[0]


def _of_python(text: str, folder: Path) -> Nest:
    path = folder / "f.py"
    path.write_text(PYTHON_HEAD + indent(text, "    ") + "\n", encoding="utf-8")
    return load_kernel(str(path)).nest


@pytest.mark.parametrize("name", ROWS)
def test_construct(name: str, folder: Path) -> None:
    """Both languages give one nest, or two of the same meaning."""
    row = ROWS[name]
    first, second = _of_c(name, folder), _of_python(row.python, folder)
    same = _body(first) == _body(second)
    assert same == (not row.because), f"{_body(first)}\n{_body(second)}"
    sizes = {"n": 6, "m": 4, "k": 2}
    given = arguments(first, {p: sizes[p] for p in first.parameters})
    given["x"], given["b"] = given["x"] - 1.5, given["b"] * 9 - 11
    found = [_meaning(nest, sizes, given) for nest in (first, second)]
    assert_same({key: found[0][key] for key in found[1]}, found[1])


def _run(path: Path, on: str) -> None:
    """The machine has what its oracles have, the function itself among them."""
    options: dict[str, Any] = {"pes": (1, 2)} if on.startswith("tcpa") else {}
    assert pl.compile(str(path), on=on).run({"n": 6, "m": 4, "k": 2}, **options).verified


def _run_both(name: str, folder: Path, on: str) -> None:
    _run(Path(f"{folder / 'f.c'}:{_named(name)}"), on)
    _of_python(ROWS[name].python, folder)
    _run(folder / "f.py", on)


@pytest.mark.parametrize("on", ["riscv:rv64gc", "tcpa:unit"])
@pytest.mark.parametrize("name", ["call of an own function", "private scalar"])
def test_both_languages_run(name: str, on: str, folder: Path) -> None:
    _run_both(name, folder, on)


@pytest.mark.long
@pytest.mark.parametrize("on", ["riscv:rv64gc", "belt:gold", "tcpa:unit"])
@pytest.mark.parametrize("name", ROWS)
def test_all_constructs_run_in_both_languages(name: str, on: str, folder: Path) -> None:
    _run_both(name, folder, on)


def _meaning(nest: Nest, sizes: dict[str, int], given: Arrays) -> Arrays:
    arguments = [s.name for s in nest.storage if s.role == "argument"]
    inputs = {name: given[name] if name in given else np.asarray(sizes[name], np.int32) for name in arguments}
    return dict(meaning(nest, {p: sizes[p] for p in nest.parameters}, inputs))


def _body(nest: Nest) -> str:
    text = print_c(nest)
    return text[text.index("void ") :].partition("{")[2]


@pytest.mark.parametrize("name", OWN)
def test_a_rule_of_one_language(name: str, folder: Path) -> None:
    own, accepted = OWN[name], list[bool]()
    for text, read in (
        (own.c, lambda: _of_c(name, folder)),
        (own.python, lambda: _of_python(own.python or "", folder)),
    ):
        try:
            accepted.append(text is not None and bool(read()))
        except PolyloomError:
            accepted.append(False)
    assert sum(accepted) == 1


@pytest.mark.parametrize("name", MEANINGS)
def test_a_meaning_of_one_language(name: str, folder: Path) -> None:
    first, second = _of_c(name, folder), _of_python(MEANINGS[name].python or "", folder)
    sizes = {"n": 6, "m": 4, "k": 2}
    given = arguments(first, {p: sizes[p] for p in first.parameters})
    given["b"], given["c"] = given["b"] * 0 - 7, given["c"] * 0 + 200
    a, b = (_meaning(nest, sizes, given) for nest in (first, second))
    assert a["b"][0] != b["b"][0]


def table() -> str:
    """The rules of one language, as docs/c.md shows them."""
    rows = ["| construct | C | Python | rule |", "|---|---|---|---|"]
    for name, own in {**OWN, **MEANINGS}.items():
        texts = [
            f"`{text.replace(chr(10), ' ').replace('|', chr(92) + '|')}`" if text else ""
            for text in (own.c, own.python)
        ]
        rows.append(
            f"| {name} | {texts[0]} | {' '.join(texts[1].split())} | {own.reason.replace('|', chr(92) + '|')} |"
        )
    return "\n".join(rows)


def test_the_page_shows_the_rules() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")
