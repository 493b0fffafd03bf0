# SPDX-License-Identifier: Apache-2.0
"""Names of the user's that the compiler once took for its own, each on the array with the user's data, from a saved
file, and as machine code."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tests.frontend.python.helpers import Arrays

import polyloom as pl
from polyloom import api
from polyloom.cli.entry import main
from polyloom.frontend.pla import parse
from polyloom.frontend.python import load_kernel
from polyloom.ir.pla import Program

with_c = pytest.mark.skipif(find_spec("ziglang") is None, reason="C needs the extra `c`")
X, Y = np.array([1, 2, 3, 4, 5], np.float32), np.array([0.5, 1, 2, 4, 8], np.float32)

PARAMETER = (
    "@pl.kernel\ndef f(x: pl.f32[N], i: int):\n    assert i < N\n    x[i] = x[i] + 1.0\n",
    "void f(int N, float x[N], int i) { __builtin_assume(i < N); x[i] = x[i] + 1.0f; }",
    {"N": 5, "i": 2},
    {"x": X},
    {"x": np.array([1, 2, 4, 4, 5], np.float32)},
)
SIZE = (
    "@pl.kernel\ndef f(x: pl.f32[i + 1]):\n    x[0] = x[0] + 1.0\n    x[i] = x[i] * 2.0\n",
    "void f(int i, float x[i + 1]) { x[0] = x[0] + 1.0f; x[i] = x[i] * 2.0f; }",
    {"i": 4},
    {"x": X},
    {"x": np.array([2, 2, 3, 4, 10], np.float32)},
)
ENTRY = (
    "@pl.kernel\ndef f(x: pl.f32[N], x_in: pl.f32[N]):\n    for k in range(N):\n        x[k] = x[k] + x_in[k]\n",
    "void f(int N, float x[N], float x_in[N]) { for (int k = 0; k < N; k++) x[k] = x[k] + x_in[k]; }",
    {"N": 5},
    {"x": X, "x_in": Y},
    {"x": X + Y},
)
BETWEEN = (
    "@pl.kernel\ndef f(x: pl.f32[N], x_kept: pl.f32[N], y: pl.f32[N]):\n"
    "    for k in range(N):\n        x[k] = x[k] + x_kept[k]\n    for k in range(N):\n        y[k] = x[N - 1 - k] + "
    "x_kept[k]\n"
    "    for k in range(N):\n        x[k] = y[N - 1 - k] + x_kept[N - 1 - k]\n",
    "void f(int N, float x[N], float x_kept[N], float y[N]) {\n"
    "  for (int k = 0; k < N; k++) x[k] = x[k] + x_kept[k];\n  for (int k = 0; k < N; k++) y[k] = x[N - 1 - k] + "
    "x_kept[k];\n"
    "  for (int k = 0; k < N; k++) x[k] = y[N - 1 - k] + x_kept[N - 1 - k];\n}",
    {"N": 5},
    {"x": X, "x_kept": Y},
    {"y": (X + Y)[::-1] + Y, "x": ((X + Y)[::-1] + Y)[::-1] + Y[::-1]},
)
Case = tuple[str, str, dict[str, int], Arrays, Arrays]
"""The text in Python and in C, sizes, inputs, and outputs."""
CASES: dict[str, Case] = {"parameter": PARAMETER, "size": SIZE, "entry": ENTRY, "between": BETWEEN}
HEADER = 'import polyloom as pl\n\nN, i = pl.sizes("N i")\n\n\n'


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(HEADER + text if name.endswith(".py") else text, encoding="utf-8")
    return path


@with_c
@pytest.mark.parametrize("language", ["py", "c"])
@pytest.mark.parametrize("case", CASES)
def test_a_name_is_not_taken_for_the_compilers(
    case: str, language: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python, c, sizes, inputs, want = CASES[case]
    path = written(tmp_path, f"f.{language}", python if language == "py" else c)
    compiled = pl.compile(path)
    given = (
        {a.name: inputs.get(a.name, np.zeros(5, np.float32)) for a in compiled.source.plan.inputs}
        if compiled.source
        else {}
    )
    compiled.save(tmp_path / "f.plsc")
    again = api.load(tmp_path / "f.plsc")
    assert isinstance(again, api.Compiled)
    for instance in (compiled.instantiate(sizes), again.instantiate(sizes)):
        outputs = instance.run(given).outputs
        assert all(np.array_equal(outputs[name], array) for name, array in want.items())
    words = [f"{name}={value}" for name, value in sizes.items()]
    for name, array in inputs.items():
        np.save(tmp_path / f"{name}.npy", array)
    files = [word for name in inputs for word in ("--in", f"{name}={tmp_path / name}.npy")]
    assert main(["run", str(path), *words, *files, "--on", "riscv:rv64gc", "--json", *_results(want, tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["verified"]
    if case != "between":  # `y` is made up there, and is no result of it
        assert all(np.array_equal(np.load(tmp_path / f"{name}.out.npy"), array) for name, array in want.items())
    assert main(["verify", str(tmp_path / "f.plsc")]) == 0


def _results(want: Arrays, folder: Path) -> list[str]:
    return [word for name in want for word in ("--out", f"{name}={folder / name}.out.npy")]


FUNCTIONS = {
    "a loop with the name of a size": (
        "M = pl.size('k')\n@pl.kernel\ndef f(x: pl.i32[M]):\n    for k in range(M):\n        x[k] = x[k] + (k - M)\n",
        {"x": np.array([1, 2, 3], np.int32)},
        [-2, 0, 2],
    ),
    "an affine name with the name of a size": (
        "M = pl.size('k')\n@pl.kernel\ndef f(x: pl.i32[M]):\n    for k in range(M):\n        t = k - M\n        x[k] "
        "= x[k] + t\n",
        {"x": np.array([1, 2, 3], np.int32)},
        [-2, 0, 2],
    ),
    "a variable with the name of a size": (
        "M = pl.size('k')\n@pl.kernel\ndef f(x: pl.i32[M]):\n    for j in range(M):\n        k = x[j] * 2\n        k "
        "= k + 1\n        x[j] = k\n",
        {"x": np.array([1, 2, 3], np.int32)},
        [3, 5, 7],
    ),
    "functions of Python under other names": (
        "from builtins import range as r, max as most\n@pl.kernel\n"
        "def f(x: pl.i32[N], range: pl.i32[N], __min: pl.i32[N], max: pl.i32[N]):\n"
        "    for k in r(most(0, 0), N):\n        x[k] = range[k] + min(max[k], __min[k])\n",
        {
            "x": np.zeros(3, np.int32),
            "range": np.array([1, 2, 3], np.int32),
            "__min": np.array([5, 6, 7], np.int32),
            "max": np.array([9, 5, 9], np.int32),
        },
        [6, 7, 10],
    ),
    "words of isl": (
        "@pl.kernel\ndef f(x: pl.i32[N], exists: pl.i32[N]):\n"
        "    for mod in range(N):\n        for floor in range(mod):\n            x[mod] = x[mod] + exists[floor]\n",
        {"x": np.zeros(3, np.int32), "exists": np.array([1, 2, 3], np.int32)},
        [0, 1, 3],
    ),
}


@pytest.mark.parametrize("what", FUNCTIONS)
def test_python_means_what_it_says(what: str, tmp_path: Path) -> None:
    text, inputs, want = FUNCTIONS[what]
    kernel = load_kernel(str(written(tmp_path, "f.py", text)))
    arrays = {name: array.copy() for name, array in inputs.items()}
    kernel(**arrays)
    assert arrays["x"].tolist() == want
    compiled = pl.compile(kernel)
    given = {a.name: inputs[a.name] for a in compiled.source.plan.inputs} if compiled.source else {}
    assert compiled.instantiate(dict.fromkeys(compiled.parameters, 3)).run(given).outputs["x"].tolist() == want


def test_arguments_of_the_interface_are_names_too(tmp_path: Path) -> None:
    text = (
        "@pl.kernel\ndef f(self: pl.i32[N], seed: pl.i32[N], trace: pl.i32[N], pes: int, candidate: pl.i32):\n    "
        "for k in range(pes, N):\n"
    )
    kernel = load_kernel(str(written(tmp_path, "f.py", f"{text}        self[k] = seed[k] + trace[k] * candidate\n")))
    arrays = {name: np.arange(3, dtype=np.int32) for name in ("self", "seed", "trace")}
    instance = pl.compile(kernel).instantiate({"N": 3, "pes": 1})
    assert instance.run({**arrays, "candidate": 2}).outputs["self"].tolist() == [0, 3, 6]
    kernel(**arrays, pes=1, candidate=2)
    assert arrays["self"].tolist() == [0, 3, 6]


@with_c
@pytest.mark.parametrize("name", ["exit", "memset", "double", "größe", "_Bool"])
def test_a_kernel_may_be_called_what_a_function_of_c_cannot(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        f"@pl.kernel\ndef {name}(int: pl.f32[N], α: pl.f32[N]):\n    for switch in range(N):\n        int[switch] "
        "= α[switch]\n"
    )
    assert main(["run", str(written(tmp_path, "f.py", text)), "N=3", "--on", "riscv:rv64gc", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kernel"], list(found["outputs"]), found["verified"]) == (name, ["int"], True)


OWN = """#define a 3
#define b 4
static int abs(int x) { int y = x * x; return y; }
static float polyloom_add_f32(float x, float y) { return x - y; }
"""


@with_c
def test_a_files_own_function_is_no_operation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(
        tmp_path, "f.c", f"{OWN}void f(int n, int x[n]) {{ for (int i = 0; i < n; i++) x[i] = abs(x[i]); }}\n"
    )
    assert main(["compile", str(path), "-o", str(tmp_path / "f.plsc")]) == 1
    assert "the file's own function `abs` cannot be called here" in capsys.readouterr().err


@with_c
def test_names_of_c_may_be_words_of_python_and_of_ours(tmp_path: Path) -> None:
    text = "void f(int in, int lambda, float x[in], float y[in + lambda]) {\n"
    path = written(
        tmp_path,
        "f.c",
        f"{OWN}{text}  for (int i = 0; i < in; i++) y[i + lambda] = polyloom_add_f32(x[i], 1.0f);\n}}\n",
    )
    instance = pl.compile(path).instantiate({"in": 3, "lambda": 1})
    assert instance.run(x=X[:3], y=Y[:4]).outputs["y"].tolist() == [0.5, 0, 1, 2]


@with_c
def test_an_extent_is_that_of_its_place(tmp_path: Path) -> None:
    inner = (
        "int n = m; float t[n]; for (int k = 0; k < n; k++) t[k] = x[k]; for (int k = 0; k < n; k++) x[k] = t[k] "
        "+ 1.0f;"
    )
    path = written(tmp_path, "f.c", f"void f(int n, int m, float x[m]) {{ __builtin_assume(m > n); {{ {inner} }} }}\n")
    assert pl.compile(path).instantiate({"n": 1, "m": 3}).run(x=X[:3]).outputs["x"].tolist() == [2, 3, 4]


def test_names_in_backquotes() -> None:
    text = "parameter `do`\ninput max[`do`]: i32\n"
    with pytest.raises(pl.PolyloomError, match="`max` is reserved"):
        parse(text + "output y[`do`]: i32\nfor 0 <= `i` < `do` do y[i] = max[i]\n")
    program = parse(
        text.replace("max", "`max`")
        + "output `α`[`do`]: i32\nfor 0 <= `true` < `do` do `α`[`true`] = max(`max`[`true`], 3)\n"
    )
    assert isinstance(program, Program)
    got = pl.compile(program).instantiate({"do": 3}).run({"max": np.array([1, 5, 2], np.int32)}).outputs["α"]
    assert got.tolist() == [3, 5, 3]
